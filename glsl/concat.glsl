// Up to four tensors behind each other along AXIS (0 N, 1 C, 2 H, 3 W).
//   WHOLE 1: channels stay together in their texels (begins counts tiles then, if AXIS is 1)
uniform ivec4 begins; // where the second, third and fourth begin along AXIS

#if WHOLE
#define READ(S_fetch, S_at, S_grid, p) S_fetch(p.x * S_grid.x + p.y, p.z, p.w)
#else
#define READ(S_fetch, S_at, S_grid, p) vec4(S_at(p.x, p.y, p.z, p.w))
#endif

vec4 pick(ivec4 p) {
    int i = p[AXIS];
#if SOURCES > 3
    if (i >= begins.z) {
        p[AXIS] = i - begins.z;
        return READ(D_fetch, D_at, D_grid, p);
    }
#endif
#if SOURCES > 2
    if (i >= begins.y) {
        p[AXIS] = i - begins.y;
        return READ(C_fetch, C_at, C_grid, p);
    }
#endif
#if SOURCES > 1
    if (i >= begins.x) {
        p[AXIS] = i - begins.x;
        return READ(B_fetch, B_at, B_grid, p);
    }
#endif
    return READ(A_fetch, A_at, A_grid, p);
}

#if WHOLE
vec4 kernel(int n, int t, int y, int x) { return pick(ivec4(n, t, y, x)); }
#else
#define KERNEL_ELEMENT
float element(int n, int c, int y, int x) { return pick(ivec4(n, c, y, x)).x; }
#endif
