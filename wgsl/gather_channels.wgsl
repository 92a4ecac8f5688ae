// Channels by the indices I, one for each channel of the result. Negative ones count from the end; those outside are
// moved inside.
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
    let size = u.X_size[1];
    let index = i32(I_at(0, c, 0, 0));
    return X_at(n, clamp(select(index, index + size, index < 0), 0, size - 1), y, x);
}
#include element
