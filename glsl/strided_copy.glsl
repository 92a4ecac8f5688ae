// Copies elements along axes: Transpose, Slice, Split and Pad. Each axis a of the input is indexed by one of the output:
// input[a] = output[FROM_a] * steps[a] + starts[a].
//   FROM_N, FROM_C, FROM_H, FROM_W    0 N, 1 C, 2 H, 3 W
//   WHOLE 1   copies whole texels (starts.c is in tiles)
//   PAD       0: always inside; 1: `value` outside the input; 2: reflect; 3: edge
int inside(int i, int size) {
#if PAD == 2
    i = abs(i); // pads are smaller than the axis
    return min(i, 2 * (size - 1) - i);
#else
    return clamp(i, 0, size - 1);
#endif
}

vec4 pick(ivec4 p) {
    ivec4 from = ivec4(p[FROM_N], p[FROM_C], p[FROM_H], p[FROM_W]);
    ivec4 i = from * u.steps + u.starts, size = u.X_size;
#if WHOLE
    size.y = u.X_tiles;
#endif
    ivec4 at = ivec4(inside(i.x, size.x), inside(i.y, size.y), inside(i.z, size.z), inside(i.w, size.w));
#if WHOLE
    vec4 v = X_fetch(at.x * u.X_tiles + at.y, at.z, at.w);
#else
    vec4 v = vec4(X_at(at.x, at.y, at.z, at.w));
#endif
#if PAD == 1
    if (at != i)
        v = vec4(u.value);
#endif
    return v;
}

#if WHOLE
vec4 kernel(int n, int t, int y, int x) { return pick(ivec4(n, t, y, x)); }
#else
float element(int n, int c, int y, int x) { return pick(ivec4(n, c, y, x)).x; }
#include element
#endif
