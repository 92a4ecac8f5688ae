// Blocks of pixels to channels; the position in the block varies slowest.
float element(int n, int c, int y, int x) {
    int position = tsr_quotient(c, u.X_C), row = tsr_quotient(position, u.blocksize);
    return X_at(n, c - position * u.X_C, y * u.blocksize + row, x * u.blocksize + position - row * u.blocksize);
}
#include element
