// An implicit GEMM: a product of two matrices, pixels by channels, summed over steps of four channels each (of a tap, for a convolution),
// in one of two forms. A kernel that includes this file defines
//     struct Pixel                                       what left() has to know of a pixel
//     fn prepare(batch: i32, pixel: i32) -> Pixel         of any number; those after the last are never read
//     fn place(step: i32) -> vec3i                       a step's coordinates
//     fn left(pixel: Pixel, at: vec3i) -> vec4f          the pixel's four channels there, zero beside the image
//     fn right(batch: i32, row: i32, tile: i32) -> vec4f  four output channels for input channel row % 4 of step row / 4
//     fn keep(batch: i32, partial: i32, pixel: i32, tile: i32, v: vec4f)     stores what was computed
#if SHARED
#include gemm_workgroup
#else
#include gemm_registers
#endif
