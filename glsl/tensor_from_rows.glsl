// As tensor_from_array, where rows are multiples of four elements, and so are the pixels of a fragment: a texel of the array
// has one channel of four pixels.
#include words
vec4 pixels(int n, int c, int y, int x, int group) {
    int i = ((n * u.O_C + min(c, u.O_C - 1)) * u.O_H + y) * u.O_W + x;
    vec4 v = words4(min((i >> 2) + group, u.last));
#if ELEMENT == 3
    return vec4(greaterThan(v, vec4(0.0)));
#elif ELEMENT == 2
    return floor(v * 255.0 + 0.5);
#else
    return v;
#endif
}
void kernel_row(int n, int t, int y, int x) {
    vec4 a, b, c, d;
#for g PLANES/4
    a = pixels(n, 4 * t, y, x, $g);
    b = pixels(n, 4 * t + 1, y, x, $g);
    c = pixels(n, 4 * t + 2, y, x, $g);
    d = pixels(n, 4 * t + 3, y, x, $g);
    v${4 * g} = vec4(a.x, b.x, c.x, d.x);
    v${4 * g + 1} = vec4(a.y, b.y, c.y, d.y);
    v${4 * g + 2} = vec4(a.z, b.z, c.z, d.z);
    v${4 * g + 3} = vec4(a.w, b.w, c.w, d.w);
#endfor
}
