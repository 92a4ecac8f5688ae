// Blocks of pixels into channels, the block first.
#include element
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
    let part = c / u.X_C;
    let row = part / u.blocksize;
    return X_at(n, c - part * u.X_C, y * u.blocksize + row, x * u.blocksize + part - row * u.blocksize);
}
