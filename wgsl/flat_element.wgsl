// Element i of input X in row-major order.
fn flat_element(i: i32) -> f32 {
    let row = i / u.X_W;
    let plane = row / u.X_H;
    let image = plane / u.X_C;
    return X_at(image, plane - image * u.X_C, row - plane * u.X_H, i - row * u.X_W);
}
