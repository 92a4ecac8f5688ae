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

fn place(step: i32) -> vec3i { return vec3i(step, 0, 0); }

fn left(pixel: Pixel, at: vec3i) -> vec4f {
#if RANK == 2
    return A_load(pixel.first + at.x);
#else
    return B_load(pixel.first + at.x * u.B_W);
#endif
}

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
