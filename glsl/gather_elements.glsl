// Each element from the place along AXIS (0 N, 1 C, 2 H, 3 W) that the index I names; negative ones count from the end.
//   SHARED 1: I has one column for all
float element(int n, int c, int y, int x) {
    ivec4 p = ivec4(n, c, y, x);
    int index = int(I_at(n, c, y, SHARED == 1 ? 0 : x));
    p[AXIS] = index < 0 ? index + ivec4(u.X_N, u.X_C, u.X_H, u.X_W)[AXIS] : index;
    p[AXIS] = clamp(p[AXIS], 0, ivec4(u.X_N, u.X_C, u.X_H, u.X_W)[AXIS] - 1);
    return X_at(p.x, p.y, p.z, p.w);
}
#include element
