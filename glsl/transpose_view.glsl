// Transpose of a view of X, each axis of which is a sum of the output's by steps.
//   WHOLE 1   channels are X's: copies whole texels
int along(ivec4 p, ivec4 steps) {
    ivec4 parts = p * steps;
    return parts.x + parts.y + (parts.z + parts.w);
}

#if WHOLE
vec4 kernel(int n, int t, int y, int x) {
    ivec4 p = ivec4(n, t, y, x);
    return X_fetch(along(p, u.to_n) * u.X_tiles + along(p, u.to_c), along(p, u.to_h), along(p, u.to_w));
}
#else
float element(int n, int c, int y, int x) {
    ivec4 p = ivec4(n, c, y, x);
    return X_at(along(p, u.to_n), along(p, u.to_c), along(p, u.to_h), along(p, u.to_w));
}
#include element
#endif
