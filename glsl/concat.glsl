// Concatenates up to four tensors along AXIS (0 N, 1 C, 2 H, 3 W).
//   WHOLE 1            copies whole texels (if AXIS is 1, begins are in tiles)
//   begin_b, c, d      where the second, third and fourth begin along AXIS
#for s INPUTS
vec4 $S_slice(ivec4 p, int begin) {
    p[AXIS] -= begin;
#if WHOLE
    return $S_fetch(p.x * u.$S_tiles + p.y, p.z, p.w);
#else
    return vec4($S_at(p.x, p.y, p.z, p.w));
#endif
}
#endfor

vec4 pick(ivec4 p) {
#if INPUTS > 3
    if (p[AXIS] >= u.begin_d)
        return D_slice(p, u.begin_d);
#endif
#if INPUTS > 2
    if (p[AXIS] >= u.begin_c)
        return C_slice(p, u.begin_c);
#endif
#if INPUTS > 1
    if (p[AXIS] >= u.begin_b)
        return B_slice(p, u.begin_b);
#endif
    return A_slice(p, 0);
}

#if WHOLE
vec4 kernel(int n, int t, int y, int x) { return pick(ivec4(n, t, y, x)); }
#else
float element(int n, int c, int y, int x) { return pick(ivec4(n, c, y, x)).x; }
#include element
#endif
