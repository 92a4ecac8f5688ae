// One step of a reduction: each invocation takes a block of the input, row by row.
#include reduction

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let start = vec3i(n, y, x) * u.block.xzw;
    let end = min(start + u.block.xzw, u.A_size.xzw);
    let tiles = select(vec2i(t, t + 1), vec2i(0, u.A_grid.x), CHANNELS == 1);
    var total = vec4f(NEUTRAL);
    for (var image = start.x; image < end.x; image++) {
        for (var tile = tiles.x; tile < tiles.y; tile++) {
            for (var iy = start.y; iy < end.y; iy++) {
                var line = vec4f(NEUTRAL);
                for (var ix = start.z; ix < end.z; ix++) {
                    line = combine(line, mapped(image, tile, iy, ix));
                }
                total = add_tile(total, line, tile);
            }
        }
    }
    return finished(total);
}
