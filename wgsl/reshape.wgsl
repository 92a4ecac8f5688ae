// The same elements in row-major order with other sizes.
#include element
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
    let i = ((n * u.O_size.y + c) * u.O_size.z + y) * u.O_size.w + x;
    let row = i / u.A_size.w;
    let plane = row / u.A_size.z;
    let image = plane / u.A_size.y;
    return A_at(image, plane - image * u.A_size.y, row - plane * u.A_size.z, i - row * u.A_size.w);
}
