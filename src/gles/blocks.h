/* Convolutions whose weights lie in uniform blocks, glsl/conv_block.glsl, or what their pixels see
 * of the input: src/gles/windows.h. */
#ifndef TSR_GLES_BLOCKS_H
#define TSR_GLES_BLOCKS_H

#include "gpu/lower.h"

/* As those of tsr_gpu_kernels. */
tsr_pass *tsr_block_convolution(tsr_plan *plan, const tsr_convolution *conv, int input, int output);
tsr_pass *tsr_block_transposed(tsr_plan *plan, const tsr_convolution *conv, int input,
                               const tsr_node *node);

#endif
