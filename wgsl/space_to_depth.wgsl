// Blocks of pixels into channels, the block first.
//   u.block    x: size
#include element
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
    let part = c / u.A_size.y;
    let row = part / u.block.x;
    return A_at(n, c - part * u.A_size.y, y * u.block.x + row, x * u.block.x + part - row * u.block.x);
}
