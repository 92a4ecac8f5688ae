// One step to the mean of an image: each invocation adds up a block of the input, row by row.
//   u.block     rows, columns of one
//   u.factor    x: of the sum
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let begin = vec2i(y, x) * u.block.xy;
    let end = min(begin + u.block.xy, u.A_size.zw);
    var total = vec4f();
    for (var iy = begin.x; iy < end.x; iy++) {
        let row = ((n * u.A_grid.x + t) * u.A_size.z + iy) * u.A_size.w;
        var sum = vec4f();
        for (var i = row + begin.y; i < row + end.y; i++) {
            sum += A_load(i);
        }
        total += sum;
    }
    return total * u.factor.x;
}
