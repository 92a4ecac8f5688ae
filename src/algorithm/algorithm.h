/* Ways to compute convolutions and matrix products, and their packed weights. A way appends passes
 * to a plan and never sees GL or WebGPU; src/algorithm/choose.c says which one a node has. */
#ifndef TSR_ALGORITHM_ALGORITHM_H
#define TSR_ALGORITHM_ALGORITHM_H

#include "graph/infer.h"
#include "plan/plan.h"

/* A convolution with constant weights. Window and group as in tsr_window; weights of output channel
 * o, input channel i of group g begin at weights[g * stride_group + o * stride_output + i *
 * stride_input], their kernel row-major. */
typedef struct tsr_convolution {
    tsr_window window;
    const tsr_unaligned_float *weights;
    float factor;        /* of all weights */
    const double *scale; /* of those of each output channel; NULL: 1 */
    int group_outputs, group_inputs;
    size_t stride_group, stride_output, stride_input;
} tsr_convolution;

/* What the weights of an output channel, counted through all groups, are to be multiplied by. */
double tsr_weight_scale(const tsr_convolution *conv, int output);
/* The most input tiles that the channels of one output tile read, over all output tiles. */
int tsr_tiles_per_output(const tsr_convolution *conv);
/* One channel in and out of each of several groups? */
bool tsr_is_depthwise(const tsr_convolution *conv);

/* Packs n blocks of `block` texels into a table, 2^blocks_log2 blocks a row. */
typedef struct tsr_table_size {
    int width, height; /* texels */
    int blocks_log2;
} tsr_table_size;
tsr_table_size tsr_table_blocks(tsr_plan *plan, int block, int64_t count);

/* Packed weights as a table of blocks ((t * tiles + i) * kernel height + ky) * chunks + chunk for
 * output tile t and its i-th input tile; a block holds the 4x4 channels of `taps` taps of a kernel
 * row, by tap and input channel, 4 texels a tap, or, depthwise, one texel a tap. */
typedef struct tsr_conv_weights {
    tsr_convolution conv;
    bool depthwise;
    int tiles;        /* input tiles that an output tile reads */
    int taps, chunks; /* of a kernel row */
    tsr_table_size size;
} tsr_conv_weights;

tsr_conv_weights tsr_pack_conv_weights(tsr_plan *plan, const tsr_convolution *conv, int taps,
                                       int chunks, bool depthwise);
tsr_args_channels tsr_conv_channels(const tsr_conv_weights *weights);
void tsr_pass_conv_weights(tsr_plan *plan, tsr_pass *pass, const tsr_conv_weights *weights);

/* Split-K: a long sum is cut into partial sums, so that more of the device works on it. Where a
 * pass with `count` of them writes to: to `output`, or to a tensor of count times the images. */
int tsr_split_output(tsr_plan *plan, int output, int64_t count);
/* Adds the partial sums of such a pass up; the pass that writes `output`. */
tsr_pass *tsr_split_sum(tsr_plan *plan, tsr_pass *pass, int output, int64_t count);

/* The arguments of a sliding window's axis, 0 (rows) or 1 (columns). */
tsr_args_window tsr_window_args(const tsr_window *window, int axis);
/* The arguments of one number for each axis of a layout. */
tsr_args_axes tsr_axes_args(const int values[4]);

/* Which of the kernel's elements meets a phase of a transposed convolution, pixel (y, x) mod
 * stride, as its index-th of rows and of columns; false if the phase has no such tap. */
bool tsr_phase_tap(const tsr_window *window, const int64_t phase[2], const int64_t index[2],
                   size_t *element);
/* Taps between two that meet the same phase of a transposed convolution: of rows, of columns; as
 * a loop steps: a step as long as the kernel ends it. */
void tsr_phase_steps(const tsr_window *window, int64_t steps[2]);

/* What each GPU backend does in its own way, or in several ways of which one is chosen for each
 * node. The pass returned writes the result, so that post-ops can be appended to it. */
struct tsr_gpu_kernels {
    const char *name; /* among those of the language */
    tsr_pass *(*convolution)(tsr_plan *plan, const tsr_convolution *conv, int input, int output);
    /* Makes the tensor of the node's output itself: its layout may follow the stride. */
    tsr_pass *(*conv_transpose)(tsr_plan *plan, const tsr_convolution *conv, int input,
                                const tsr_node *node);
    /* Tensors of `rank` axes, leading ones broadcast; inner: length of the sums. */
    tsr_pass *(*matmul)(tsr_plan *plan, int a, int b, int rank, int64_t inner, int output);
    /* Workgroups can reduce a block together: a reduction takes one pass instead of a pyramid. */
    bool workgroups;
    int planes;         /* that its outputs have: other tensors may share their storages; 0: any */
    int busy_fragments; /* long sums are split until a pass has as many; 0: never */
};

/* Those of a language, ended by NULL, and the one that a caller asks for (not AUTO). */
const tsr_gpu_kernels *const *tsr_kernels_of(tsr_language language);
const tsr_gpu_kernels *tsr_kernels_chosen(tsr_language language, tsr_kernel_choice choice);

/* ---- the ways -------------------------------------------------------------------------------- */

/* Direct, in fragments; weights in a texture. */
tsr_pass *tsr_conv_direct(tsr_plan *plan, const tsr_convolution *conv, int input, int output);
tsr_pass *tsr_conv_transpose_direct(tsr_plan *plan, const tsr_convolution *conv, int input,
                                    const tsr_node *node);
/* Direct, weights in uniform blocks, or by im2col or Winograd, what costs least; else as above. */
tsr_pass *tsr_conv_blocks(tsr_plan *plan, const tsr_convolution *conv, int input, int output);
tsr_pass *tsr_conv_transpose_blocks(tsr_plan *plan, const tsr_convolution *conv, int input,
                                    const tsr_node *node);
/* Implicit GEMM in compute shaders; a texel at a time where channels do not fill texels. */
tsr_pass *tsr_conv_gemm(tsr_plan *plan, const tsr_convolution *conv, int input, int output);
tsr_pass *tsr_conv_transpose_gemm(tsr_plan *plan, const tsr_convolution *conv, int input,
                                  const tsr_node *node);
tsr_pass *tsr_matmul_gemm(tsr_plan *plan, int a, int b, int rank, int64_t inner, int output);
/* A texel at a time, for every stride, dilation and group. */
tsr_pass *tsr_conv_any(tsr_plan *plan, const tsr_convolution *conv, int input, int output);
tsr_pass *tsr_conv_transpose_any(tsr_plan *plan, const tsr_convolution *conv, int input,
                                 const tsr_node *node);
tsr_pass *tsr_matmul_any(tsr_plan *plan, int a, int b, int rank, int64_t inner, int output);

/* Partial sums over so many input tiles that a pass of so many fragments needs to keep the device
 * busy, none of them short; may be 0. */
int64_t tsr_busy_partials(const tsr_plan *plan, int64_t fragments, int64_t tiles);

/* Of programs in plain text, to keep them short: taps of a kernel row, columns of a fragment. */
enum { TSR_MAX_TAPS = 8, TSR_MAX_ROW = 64 };

#endif
