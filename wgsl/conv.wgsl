// Convolution as a product of matrices that are never written down: output pixels by input channels of every tap, times
// weights. A part is a group of channels; step (ky * kernel width + kx) * tiles + i is tile i of the group at that tap.
//   u.window_y, u.window_x   kernel, stride, dilation, pad
//   u.channels               input tiles, output tiles of a group
//   table                    row (part * steps + step) * 4 + channel: a texel for each output tile of the group
#include product

struct Pixel {
    origin: i32, // the group's first texel
    start: vec2i, // where the window begins: x, y
}

fn prepare(part: i32, pixel: i32) -> Pixel {
    let line = pixel / u.O_size.w;
    let n = line / u.O_size.z;
    let start = vec2i(pixel - line * u.O_size.w, line - n * u.O_size.z) * vec2i(u.window_x.y, u.window_y.y) -
                vec2i(u.window_x.w, u.window_y.w);
    return Pixel((n * u.A_grid.x + part * u.channels.x) * u.A_size.z * u.A_size.w, start);
}

// Columns and rows from the window's first pixel, and the tile's first texel from the group's.
fn place(step: i32) -> vec3i {
    let tap = step / u.channels.x;
    let ky = tap / u.window_x.x;
    return vec3i((tap - ky * u.window_x.x) * u.window_x.z, ky * u.window_y.z,
                 (step - tap * u.channels.x) * u.A_size.z * u.A_size.w);
}

fn left(pixel: Pixel, at: vec3i) -> vec4f {
    let p = pixel.start + at.xy;
    if (any(p < vec2i()) || any(p >= u.A_size.wz)) {
        return vec4f();
    }
    return A_load(pixel.origin + at.z + p.y * u.A_size.w + p.x);
}

fn right(part: i32, row: i32, tile: i32) -> vec4f {
    return table[(part * u.product.y * 4 + row) * u.product.z + tile];
}

fn keep(part: i32, slice: i32, pixel: i32, tile: i32, v: vec4f) {
    let line = pixel / u.O_size.w;
    let n = line / u.O_size.z;
    store(slice * u.blocks.w + n, part * u.channels.y + tile, line - n * u.O_size.z, pixel - line * u.O_size.w, v);
}
