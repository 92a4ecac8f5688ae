// Channels into blocks of pixels. DCR 1: the block comes first in the channels (depth-column-row), 0: last.
uniform ivec4 block; // x: size
vec4 kernel(int n, int t, int y, int x) {
    ivec2 source = ivec2(x, y) / block.x, inner = ivec2(x, y) - source * block.x;
    int part = inner.y * block.x + inner.x;
    ivec4 c = min(4 * t + ivec4(0, 1, 2, 3), O_size.y - 1);
#if DCR
    c += part * O_size.y;
#else
    c = c * block.x * block.x + part;
#endif
    return vec4(A_at(n, c.x, source.y, source.x), A_at(n, c.y, source.y, source.x), A_at(n, c.z, source.y, source.x),
                A_at(n, c.w, source.y, source.x));
}
