// The same elements in row-major order, with another shape.
#include element
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
    let i = ((n * u.O_C + c) * u.O_H + y) * u.O_W + x;
    let row = i / u.X_W;
    let plane = row / u.X_H;
    let image = plane / u.X_C;
    return X_at(image, plane - image * u.X_C, row - plane * u.X_H, i - row * u.X_W);
}
