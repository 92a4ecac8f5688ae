// Product of two computed matrices in blocks, for ranks 2 and 3: where they lie is told in wgsl/matmul.wgsl. Four
// neighbouring channels of one side are the four terms of a step; at rank 3 these are B's, and a pixel is a column.
//   RANK       2, 3
//   u.inner    x: length of the sums
#include product

struct Pixel {
    first: i32, // texel
}

fn prepare(part: i32, pixel: i32) -> Pixel {
#if RANK == 2
    return Pixel(pixel * u.A_grid.x);
#else
    return Pixel(min(part, u.B_size.x - 1) * u.B_grid.x * u.B_size.w + pixel);
#endif
}

fn place(step: i32) -> vec3i { return vec3i(step, 0, 0); }

fn left(pixel: Pixel, at: vec3i) -> vec4f {
#if RANK == 2
    return A_load(pixel.first + at.x);
#else
    return B_load(pixel.first + at.x * u.B_size.w);
#endif
}

fn right(part: i32, row: i32, tile: i32) -> vec4f {
    if (row >= u.inner.x) {
        return vec4f();
    }
#if RANK == 2
    return B_load(row * u.B_grid.x + tile);
#else
    return A_load((min(part, u.A_size.x - 1) * u.A_grid.x + tile) * u.A_size.w + row);
#endif
}

fn keep(part: i32, slice: i32, pixel: i32, tile: i32, v: vec4f) {
#if RANK == 2
    store(slice * u.blocks.w + pixel, tile, 0, 0, v);
#else
    store(slice * u.blocks.w + part, tile, 0, pixel, v);
#endif
}
