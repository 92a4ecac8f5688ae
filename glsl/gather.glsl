// Moves elements along axes: Transpose, Slice, Split and Pad. Each input axis is fed by one output axis:
// input[a] = output[feeds[a]] * steps[a] + starts[a].
//   WHOLE 1: channels stay together in their texels (starts[1] counts tiles then)
//   PAD   0: always inside; 1: `value` beside the input; 2: reflect; 3: edge
uniform ivec4 feeds, steps, starts;
uniform vec4 value; // x

#if PAD == 2
int inside(int i, int size) { // pads are smaller than the axis
    i = abs(i);
    return min(i, 2 * (size - 1) - i);
}
#else
int inside(int i, int size) { return clamp(i, 0, size - 1); }
#endif

vec4 pick(ivec4 p) {
    ivec4 i = ivec4(p[feeds.x], p[feeds.y], p[feeds.z], p[feeds.w]) * steps + starts, size = A_size;
#if WHOLE
    size.y = A_grid.x;
#endif
    ivec4 at = ivec4(inside(i.x, size.x), inside(i.y, size.y), inside(i.z, size.z), inside(i.w, size.w));
#if WHOLE
    vec4 v = A_fetch(at.x * A_grid.x + at.y, at.z, at.w);
#else
    vec4 v = vec4(A_at(at.x, at.y, at.z, at.w));
#endif
#if PAD == 1
    if (at != i)
        v = value.xxxx;
#endif
    return v;
}

#if WHOLE
vec4 kernel(int n, int t, int y, int x) { return pick(ivec4(n, t, y, x)); }
#else
#define KERNEL_ELEMENT
float element(int n, int c, int y, int x) { return pick(ivec4(n, c, y, x)).x; }
#endif
