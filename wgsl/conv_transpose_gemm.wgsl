// Transposed convolution by phases as an implicit GEMM: output pixels a stride apart have the same taps, every stride-th of
// the kernel. An entry of the batch is a phase (of rows, then of columns), its pixels a grid of rows by columns, its taps those
// of the phase. No tap is multiplied by an inserted zero.
//   rows, columns     of a phase's grid
//   taps_x            of a phase's row
//   table             row step * 4 + channel of an entry of the batch, see gemm: a texel for each output tile; zero where the
//                     phase has no such tap
#include gemm
#include conv_taps
#include conv_left
#include weight_scale

struct Pixel {
    origin: i32, // the image's first texel
    first: vec2i, // the input pixel of the phase's first tap: x, y
    taps: vec2i, // of the phase
}

fn strides() -> vec2i { return vec2i(u.window_x.stride, u.window_y.stride); }

// Output pixel x, y of a phase, and its image.
fn output_pixel(batch: i32, pixel: i32) -> vec3i {
    let line = tsr_quotient(pixel, u.columns);
    let n = tsr_quotient(line, u.rows);
    let phase_y = tsr_quotient(batch, u.window_x.stride);
    let phase = vec2i(batch - phase_y * u.window_x.stride, phase_y);
    return vec3i(vec2i(pixel - line * u.columns, line - n * u.rows) * strides() + phase, n);
}

fn prepare(batch: i32, pixel: i32) -> Pixel {
    let o = output_pixel(batch, pixel);
    let padded = o.xy + vec2i(u.window_x.pad, u.window_y.pad);
    let first = padded / strides();
    let tap = padded - first * strides();
    let taps = (vec2i(u.window_x.kernel, u.window_y.kernel) - tap + strides() - 1) / strides();
    return Pixel(o.z * u.X_tiles * u.X_H * u.X_W, first, taps);
}

fn texel(pixel: Pixel, tap: vec2i) -> i32 {
    let p = pixel.first - tap;
    let outside = any(p < vec2i()) || any(p >= u.X_size.wz) || any(tap >= pixel.taps);
    return select(pixel.origin + p.y * u.X_W + p.x, -1, outside);
}

alias Packed = TableTexel;

fn right(batch: i32, row: i32, tile: i32) -> Packed { return table_packed(weight_at(batch, row, tile)); }

fn unpack(packed: Packed, batch: i32, row: i32, tile: i32) -> vec4f {
    var w = table_unpack(packed);
#if SCALES || ZEROS
    let block = weight_block(row % (4 * u.input_tiles), 0, 0); // all taps share it
    let t = tile;
#endif
#include scaled_weight
    return w;
}

fn keep(batch: i32, partial: i32, pixel: i32, tile: i32, v: vec4f) {
    let o = output_pixel(batch, pixel);
    if (o.x < u.O_W && o.y < u.O_H) {
        store(partial * u.gemm.images + o.z, tile, o.y, o.x, v);
    }
}
