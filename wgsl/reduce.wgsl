// A step to the mean of an image: each invocation adds up a region of rows and columns of the input,
// row by row.
//   factor   of the sum
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let region = vec2i(u.region.rows, u.region.columns);
    let begin = vec2i(y, x) * region;
    let end = min(begin + region, u.X_size.zw);
    var total = vec4f();
    for (var iy = begin.x; iy < end.x; iy++) {
        let row = ((n * u.X_tiles + t) * u.X_H + iy) * u.X_W;
        var sum = vec4f();
        for (var i = row + begin.y; i < row + end.y; i++) {
            sum += X_load(i);
        }
        total += sum;
    }
    return total * u.factor;
}
