// A step to the reduction of an image: each invocation combines a region of rows and columns of the input, row by row.
//   factor   of the result
#include combine

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let region = vec2i(u.region.rows, u.region.columns);
    let begin = vec2i(y, x) * region;
    let end = min(begin + region, u.X_size.zw);
    var total = nothing();
    for (var iy = begin.x; iy < end.x; iy++) {
        let row = ((n * u.X_tiles + t) * u.X_H + iy) * u.X_W;
        var sum = nothing();
        for (var i = row + begin.y; i < row + end.y; i++) {
            sum = combine(sum, mapped(X_load(i)));
        }
        total = combine(total, sum);
    }
    return total * u.factor;
}
