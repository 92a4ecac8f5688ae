// Blocks of pixels into channels, the block first.
float element(int n, int c, int y, int x) {
    int part = c / u.X_C, row = part / u.blocksize;
    return X_at(n, c - part * u.X_C, y * u.blocksize + row, x * u.blocksize + part - row * u.blocksize);
}
#include element
