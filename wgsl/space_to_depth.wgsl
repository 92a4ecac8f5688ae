// Blocks of pixels to channels; the position in the block varies slowest.
#include element
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
    let position = c / u.X_C;
    let row = position / u.blocksize;
    return X_at(n, c - position * u.X_C, y * u.blocksize + row, x * u.blocksize + position - row * u.blocksize);
}
