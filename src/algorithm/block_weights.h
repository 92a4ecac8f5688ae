/* Weights as integers of 4 or 8 bits with a scale for each block of those that an output channel
 * sums up, and the zero points of integers of 8 or 4 bits. Kernels subtract zero points and
 * multiply by the scales as they read weights. */
#ifndef TSR_ALGORITHM_BLOCK_WEIGHTS_H
#define TSR_ALGORITHM_BLOCK_WEIGHTS_H

#include "algorithm/algorithm.h"

/* The weight between output channel o and its group's input channel i at a tap, counted row by row,
 * is an integer times steps[o * count + ((i * by_input + tap * by_tap) >> log2)]. With its
 * zero_points[] added the integer has that many bits and a sign. */
struct tsr_weight_blocks {
    int bits;
    int64_t by_input, by_tap;
    int log2;
    int64_t count;              /* of an output channel */
    float *steps, *zero_points; /* NULL: 0 */
};

/* Can weights have blocks: do kernels read four input channels of one group at a time? */
bool tsr_may_have_blocks(const tsr_convolution *conv);
/* Blocks in which the weights are such integers of so many bits already: those of ONNX's block_size
 * 32, 64 and 128 among them. */
bool tsr_find_blocks(tsr_arena *arena, const tsr_convolution *conv, int bits,
                     tsr_weight_blocks *blocks);
/* Blocks of about 128 weights, to which they are rounded, of 4 bits; false if some are infinite. */
bool tsr_choose_blocks(tsr_arena *arena, const tsr_convolution *conv, tsr_weight_blocks *blocks);
/* Gives the convolution these, and a tensor of their scales. */
void tsr_use_blocks(tsr_plan *plan, tsr_convolution *conv, const tsr_weight_blocks *blocks);

/* What integers from least to most, 0 among them, need added to have so many bits and a sign. */
int tsr_zero_point(int least, int most, int bits);
/* The integer of a weight, without zero point; output: counted through all groups, input: of its
 * group. */
float tsr_block_integer(const tsr_convolution *conv, int64_t output, int64_t input, size_t tap);
/* Do all taps of a channel share a scale? Then kernels need not know the tap. */
bool tsr_blocks_hold_taps(const tsr_convolution *conv);

/* Gives kernels a tensor of this many numbers for each output channel. */
void tsr_set_scales(tsr_plan *plan, tsr_convolution *conv, const float *numbers, int64_t columns);
/* Adds the zero points that kernels subtract from what they read of a tap, which may be one after
 * the kernel's last, to texels i * stride of four input channels by four output channels. */
void tsr_add_zero_points(const tsr_convolution *conv, int64_t output, int64_t input, int64_t tap,
                         int64_t stride, float *texels);

/* What kernels with packed weights read scales and zero points with: glsl/weight_scale.glsl. */
tsr_tensor_arg tsr_scales_arg(const tsr_convolution *conv);
int tsr_scales_of_texels(const tsr_convolution *conv);
int tsr_zeros_of_texels(const tsr_convolution *conv);
tsr_args_blocks tsr_blocks_args(const tsr_convolution *conv);
#define TSR_SCALE_FIELDS(conv)                                                                     \
    .S = tsr_scales_arg(conv), .SCALES = TSR_INT(tsr_scales_of_texels(conv)),                      \
    .ZEROS = TSR_INT(tsr_zeros_of_texels(conv)), .blocks = tsr_blocks_args(conv)

#endif
