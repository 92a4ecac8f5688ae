// One step of a reduction: each invocation takes a block of the input, row by row.
//   PIXELS   0: a block is one pixel, so that nothing but tiles is left to loop over
#include reduction

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let start = vec4i(n, t, y, x) * u.block;
    let end = min(start + u.block, vec4i(u.A_size.x, u.A_grid.x, u.A_size.zw));
    let b = subtracted(n, t, y, x);
    var total = vec4f(NEUTRAL);
    for (var tile = start.y; tile < end.y; tile++) {
#if PIXELS
        var sum = vec4f(NEUTRAL);
        for (var image = start.x; image < end.x; image++) {
            for (var iy = start.z; iy < end.z; iy++) {
                let row = ((image * u.A_grid.x + tile) * u.A_size.z + iy) * u.A_size.w;
                var line = vec4f(NEUTRAL);
                for (var i = row + start.w; i < row + end.w; i++) {
                    line = combine(line, mapped(A_load(i), b));
                }
                sum = combine(sum, line);
            }
        }
#else
        let sum = mapped(A_fetch(n * u.A_grid.x + tile, y, x), b);
#endif
        total = add_tile(total, sum, tile);
    }
    return finished(total);
}
