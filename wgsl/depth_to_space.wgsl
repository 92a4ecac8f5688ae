// Channels into blocks of pixels.
//   DCR        1: the block comes first in the channels (depth-column-row), 0: last
//   u.block    x: size
#include element
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
    let source = vec2i(x, y) / u.block.x;
    let inner = vec2i(x, y) - source * u.block.x;
    let part = inner.y * u.block.x + inner.x;
#if DCR
    return A_at(n, c + part * u.O_size.y, source.y, source.x);
#else
    return A_at(n, c * u.block.x * u.block.x + part, source.y, source.x);
#endif
}
