// Blocks of pixels into channels, the block first.
uniform ivec4 block; // x: size
#define KERNEL_ELEMENT
float element(int n, int c, int y, int x) {
    int part = c / A_size.y, row = part / block.x;
    return A_at(n, c - part * A_size.y, y * block.x + row, x * block.x + part - row * block.x);
}