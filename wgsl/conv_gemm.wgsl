// Convolution as an implicit GEMM: the im2col matrix, output pixels by input channels of every tap, is never stored. An
// entry of the batch is a group of channels.
//   input_tiles, output_tiles    of a group
//   taps_x                       of the kernel's row
//   outside                      with BYTES: four integers that stand for 0, outside the image
//   table                        row step * 4 + channel of an entry of the batch, see gemm: a texel for each output tile
#include gemm
#include conv_taps
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

fn texel(pixel: Pixel, tap: vec2i) -> i32 {
    let p = pixel.start + tap * vec2i(u.window_x.dilation, u.window_y.dilation);
    return select(pixel.origin + p.y * u.X_W + p.x, -1, any(p < vec2i()) || any(p >= u.X_size.wz));
}

alias Packed = TableTexel;

fn right(batch: i32, row: i32, tile: i32) -> Packed { return table_packed(weight_at(batch, row, tile)); }

#if BYTES
// Integers without a sign become those with one, less 128.
fn left(texel: i32) -> u32 {
    if (texel < 0) {
        return bitcast<u32>(u.outside);
    }
#if X_TEXEL == 2
    return X_data[texel] ^ 0x80808080;
#else
    return bitcast<u32>(X_data[texel]);
#endif
}

fn unpack(packed: Packed, batch: i32, row: i32, tile: i32) -> u32 { return bitcast<u32>(packed); }
#else
#include conv_left

fn unpack(packed: Packed, batch: i32, row: i32, tile: i32) -> vec4f {
    var w = table_unpack(packed);
#if SCALES || ZEROS
    let at = place(row >> 2);
    let block = weight_block(4 * at.z + (row & 3), at.y, at.x);
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
