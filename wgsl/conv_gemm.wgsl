// Convolution as an implicit GEMM: the im2col matrix, output pixels by input channels of every tap, is never stored. An
// entry of the batch is a group of channels; step (ky * kernel width + kx) * tiles + i is tile i of the group at that tap.
//   input_tiles, output_tiles    of a group
//   outside                      with BYTES: four integers that stand for 0, outside the image
//   table                        row step * 4 + channel of an entry of the batch, see gemm: a texel for each output tile
#include gemm
#include weight_scale

struct Pixel {
    origin: i32, // the group's first texel
    start: vec2i, // where the window begins: x, y
}

fn prepare(batch: i32, pixel: i32) -> Pixel {
    let line = tsr_quotient(pixel, u.O_W);
    let n = tsr_quotient(line, u.O_H);
    let start = vec2i(pixel - line * u.O_W, line - n * u.O_H) * vec2i(u.window_x.stride, u.window_y.stride) -
                vec2i(u.window_x.pad, u.window_y.pad);
    return Pixel((n * u.X_tiles + batch * u.input_tiles) * u.X_H * u.X_W, start);
}

// Columns and rows from the window's first pixel, and the tile's first texel from the group's.
fn place(step: i32) -> vec3i {
    let tap = tsr_quotient(step, u.input_tiles);
    let ky = tsr_quotient(tap, u.window_x.kernel);
    return vec3i((tap - ky * u.window_x.kernel) * u.window_x.dilation, ky * u.window_y.dilation,
                 (step - tap * u.input_tiles) * u.X_H * u.X_W);
}

alias Packed = TableTexel;

fn right(batch: i32, row: i32, tile: i32) -> Packed { return table_packed(weight_at(batch, row, tile)); }

fn is_outside(p: vec2i) -> bool { return any(p < vec2i()) || any(p >= u.X_size.wz); }

#if BYTES
// Integers without a sign become those with one, less 128.
fn left(pixel: Pixel, at: vec3i) -> u32 {
    let p = pixel.start + at.xy;
    if (is_outside(p)) {
        return bitcast<u32>(u.outside);
    }
#if X_TEXEL == 2
    return X_data[pixel.origin + at.z + p.y * u.X_W + p.x] ^ 0x80808080;
#else
    return bitcast<u32>(X_data[pixel.origin + at.z + p.y * u.X_W + p.x]);
#endif
}

fn unpack(packed: Packed, batch: i32, row: i32, tile: i32) -> u32 { return bitcast<u32>(packed); }
#else
fn left(pixel: Pixel, at: vec3i) -> vec4f {
    let p = pixel.start + at.xy;
    if (is_outside(p)) {
        return vec4f();
    }
    return X_load(pixel.origin + at.z + p.y * u.X_W + p.x);
}

fn unpack(packed: Packed, batch: i32, row: i32, tile: i32) -> vec4f {
    var w = table_unpack(packed);
#if SCALES || ZEROS
    let step = row >> 2;
    let tap = tsr_quotient(step, u.input_tiles);
    let ky = tsr_quotient(tap, u.window_x.kernel);
    let channel = 4 * (step - tap * u.input_tiles) + (row & 3);
    let block = weight_block(channel, ky, tap - ky * u.window_x.kernel);
    let t = batch * u.output_tiles + tile;
#endif
#include scaled_weight
    return w;
}
#endif

fn keep(batch: i32, partial: i32, pixel: i32, tile: i32, v: vec4f) {
    let line = tsr_quotient(pixel, u.O_W);
    let n = tsr_quotient(line, u.O_H);
    store(partial * u.gemm.images + n, batch * u.output_tiles + tile, line - n * u.O_H, pixel - line * u.O_W, v);
}
