// Channels into blocks of pixels. DCR 1: the block comes first in the channels (depth-column-row), 0: last.
uniform ivec4 block; // x: size

#define KERNEL_ELEMENT
float element(int n, int c, int y, int x) {
    ivec2 source = ivec2(x, y) / block.x, inner = ivec2(x, y) - source * block.x;
    int part = inner.y * block.x + inner.x;
#if DCR
    return A_at(n, c + part * O_size.y, source.y, source.x);
#else
    return A_at(n, c * block.x * block.x + part, source.y, source.x);
#endif
}
