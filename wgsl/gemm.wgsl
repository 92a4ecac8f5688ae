// A batched implicit GEMM of pixels by output channels, summed over steps of four input channels (for a convolution, of one
// tap), in one of four forms. The including kernel defines
//     struct Pixel                                        what left() needs to know of a pixel
//     fn prepare(batch: i32, pixel: i32) -> Pixel         of one that there is
//     fn place(step: i32) -> vec3i                        a step's tap, and its number among those of the tap
//     fn advance(at: vec3i, count: i32) -> vec3i          the place `count` steps after `at`
//     fn texel(pixel: Pixel, tap: vec2i) -> i32           what the tap's first step reads; -1: the tap is outside the image
//     fn stride() -> i32                                  texels from one step of a tap to the next
//     fn left(texel: i32) -> vec4f                        its four channels; zero for -1
//     alias Packed                                        four weights as they are stored, for
//     fn right(batch: i32, row: i32, tile: i32) -> Packed     input channel row % 4 of step row / 4: four output channels
//     fn unpack(packed: Packed, batch: i32, row: i32, tile: i32) -> vec4f
//     fn keep(batch: i32, partial: i32, pixel: i32, tile: i32, v: vec4f)     stores a result
// With BYTES 1 texels are words of four integers of 8 bits: left() gives the pixel's four channels, right() and unpack() those
// of the input step for output channel row % 4, and sums are integers.
// With ONE_TAP 1 the steps of a tap are a multiple of STEPS: those that are read at a time are of one tap.
// With FORM 3 left() gives four numbers of 16 bits as they are stored, and weights have 16 bits.
#if BYTES
alias Left = u32;
alias Weights = u32;
alias Sum = vec4i;
#elif FORM == 3
alias Left = vec2u;
#else
alias Left = vec4f;
alias Weights = vec4f;
alias Sum = vec4f;
#endif

// The texel of packed weights for a row, as of right(), and a tile. In the sliced form those of a tile lie together.
fn weight_at(batch: i32, row: i32, tile: i32) -> i32 {
#if FORM == 2
    return (batch * u.gemm.tiles + tile) * u.gemm.steps * 4 + row;
#else
    return (batch * u.gemm.steps * 4 + row) * u.gemm.tiles + tile;
#endif
}

// The texel of a place, given that of its tap.
fn texel_of(tap: i32, at: vec3i) -> i32 { return select(tap + at.z * stride(), -1, tap < 0); }

#if FORM == 0
#include gemm_registers
#elif FORM == 1
#include gemm_workgroup
#elif FORM == 2
#include gemm_sliced_k
#else
#include gemm_subgroup_matrix
#endif
