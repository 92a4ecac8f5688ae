/* Which way convolutions and matrix products are computed. */
#include "algorithm/algorithm.h"

enum { BUSY_FRAGMENTS = 16384 }; /* for the fragment units of a large GPU */
/* Of outputs: what is read from a block costs nothing however few pixels it serves. */
enum { BLOCK_PLANES = 4 };

static const tsr_gpu_kernels glsl_direct = {
    .name = "direct",
    .convolution = tsr_conv_direct,
    .conv_transpose = tsr_conv_transpose_direct,
    .matmul = tsr_matmul_any,
};
static const tsr_gpu_kernels glsl_shared = {
    .name = "shared",
    .convolution = tsr_conv_direct,
    .conv_transpose = tsr_conv_transpose_direct,
    .matmul = tsr_matmul_any,
    .busy_fragments = BUSY_FRAGMENTS,
};
static const tsr_gpu_kernels glsl_blocks = {
    .name = "blocks",
    .convolution = tsr_conv_blocks,
    .conv_transpose = tsr_conv_transpose_blocks,
    .matmul = tsr_matmul_any,
    .planes = BLOCK_PLANES,
    .busy_fragments = BUSY_FRAGMENTS,
};

static const tsr_gpu_kernels wgsl_plain = {
    .name = "plain",
    .convolution = tsr_conv_any,
    .conv_transpose = tsr_conv_transpose_any,
    .matmul = tsr_matmul_any,
};
static const tsr_gpu_kernels wgsl_direct = {
    .name = "direct",
    .convolution = tsr_conv_gemm,
    .conv_transpose = tsr_conv_transpose_gemm,
    .matmul = tsr_matmul_gemm,
};
static const tsr_gpu_kernels wgsl_shared = {
    .name = "shared",
    .convolution = tsr_conv_gemm,
    .conv_transpose = tsr_conv_transpose_gemm,
    .matmul = tsr_matmul_gemm,
    .workgroups = true,
};

const tsr_gpu_kernels *const *tsr_kernels_of(tsr_language language) {
    static const tsr_gpu_kernels *const glsl[] = {&glsl_direct, &glsl_shared, &glsl_blocks, NULL};
    static const tsr_gpu_kernels *const wgsl[] = {&wgsl_plain, &wgsl_direct, &wgsl_shared, NULL};
    return language == TSR_GLSL ? glsl : wgsl;
}

const tsr_gpu_kernels *tsr_kernels_chosen(tsr_language language, tsr_kernel_choice choice) {
    if (language == TSR_GLSL)
        return choice == TSR_KERNELS_BLOCKS   ? &glsl_blocks
               : choice == TSR_KERNELS_SHARED ? &glsl_shared
                                              : &glsl_direct;
    return choice == TSR_KERNELS_PLAIN    ? &wgsl_plain
           : choice == TSR_KERNELS_DIRECT ? &wgsl_direct
                                          : &wgsl_shared;
}
