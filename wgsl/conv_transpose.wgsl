// Transposed convolution by phases as a product of matrices: output pixels a stride apart meet the same taps, every
// stride-th of the kernel. A part is a phase (of rows, then of columns), its pixels a grid of u.phases; step
// (j * taps of a row + i) * tiles + t is tile t at the phase's j-th row and i-th column of taps. No tap falls on an
// inserted zero.
//   u.window_y, u.window_x   kernel, stride, unused, pad
//   u.phases                 rows, columns of a phase's grid; taps of its rows, of its columns
//   u.channels               input tiles
//   table                    row (part * steps + step) * 4 + channel: a texel for each output tile; zero, no such tap
#include product

struct Pixel {
    origin: i32, // the image's first texel
    first: vec2i, // the input pixel that meets the phase's first tap: x, y
    taps: vec2i, // that the phase has
}

fn strides() -> vec2i { return vec2i(u.window_x.y, u.window_y.y); }

// Output pixel x, y of a phase, and its image.
fn output_pixel(part: i32, pixel: i32) -> vec3i {
    let line = pixel / u.phases.y;
    let n = line / u.phases.x;
    let phase_y = part / u.window_x.y;
    let phase = vec2i(part - phase_y * u.window_x.y, phase_y);
    return vec3i(vec2i(pixel - line * u.phases.y, line - n * u.phases.x) * strides() + phase, n);
}

fn prepare(part: i32, pixel: i32) -> Pixel {
    let o = output_pixel(part, pixel);
    let padded = o.xy + vec2i(u.window_x.w, u.window_y.w);
    let first = padded / strides();
    let tap = padded - first * strides();
    let taps = (vec2i(u.window_x.x, u.window_y.x) - tap + strides() - 1) / strides();
    return Pixel(o.z * u.A_grid.x * u.A_size.z * u.A_size.w, first, taps);
}

// Column and row among the phase's taps, and the tile's first texel from the image's.
fn place(step: i32) -> vec3i {
    let tap = step / u.channels.x;
    let j = tap / u.phases.w;
    return vec3i(tap - j * u.phases.w, j, (step - tap * u.channels.x) * u.A_size.z * u.A_size.w);
}

fn left(pixel: Pixel, at: vec3i) -> vec4f {
    let p = pixel.first - at.xy;
    if (any(p < vec2i()) || any(p >= u.A_size.wz) || any(at.xy >= pixel.taps)) {
        return vec4f();
    }
    return A_load(pixel.origin + at.z + p.y * u.A_size.w + p.x);
}

fn right(part: i32, row: i32, tile: i32) -> vec4f {
    return table[(part * u.product.y * 4 + row) * u.product.z + tile];
}

fn keep(part: i32, slice: i32, pixel: i32, tile: i32, v: vec4f) {
    let o = output_pixel(part, pixel);
    if (o.x < u.O_size.w && o.y < u.O_size.z) {
        store(slice * u.blocks.w + o.z, tile, o.y, o.x, v);
    }
}
