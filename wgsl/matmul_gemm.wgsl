// Product of two computed matrices as a GEMM, for ranks 2 and 3, with axes as in wgsl/matmul.wgsl. A step is a tile of four
// channels of one operand: of A at rank 2, of B at rank 3, where a pixel is a column.
//   RANK       2, 3
//   inner      length of the sums
#include gemm

struct Pixel {
    first: i32, // texel
}

fn prepare(batch: i32, pixel: i32) -> Pixel {
#if RANK == 2
    return Pixel(pixel * u.A_tiles);
#else
    return Pixel(min(batch, u.B_N - 1) * u.B_tiles * u.B_W + pixel);
#endif
}

// There is one tap.
fn place(step: i32) -> vec3i { return vec3i(0, 0, step); }

fn advance(at: vec3i, count: i32) -> vec3i { return at + vec3i(0, 0, count); }

fn texel(pixel: Pixel, tap: vec2i) -> i32 { return pixel.first; }

#if RANK == 2
fn stride() -> i32 { return 1; }

fn left(texel: i32) -> vec4f { return A_load(texel); }
#else
fn stride() -> i32 { return u.B_W; }

fn left(texel: i32) -> vec4f { return B_load(texel); }
#endif

alias Packed = vec4f;

fn right(batch: i32, row: i32, tile: i32) -> Packed {
    if (row >= u.inner) {
        return vec4f();
    }
#if RANK == 2
    return B_load(row * u.B_tiles + tile);
#else
    return A_load((min(batch, u.A_N - 1) * u.A_tiles + tile) * u.A_W + row);
#endif
}

fn unpack(packed: Packed, batch: i32, row: i32, tile: i32) -> vec4f { return packed; }

fn keep(batch: i32, partial: i32, pixel: i32, tile: i32, v: vec4f) {
#if RANK == 2
    store(partial * u.gemm.images + pixel, tile, 0, 0, v);
#else
    store(partial * u.gemm.images + batch, tile, 0, pixel, v);
#endif
}
