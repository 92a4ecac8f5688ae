/* How each operator becomes passes: tsr_lower_<stem>, one a line of ops.def; shared by the GPU
 * backends but for tsr_gpu_kernels. */
#ifndef TSR_GPU_LOWER_H
#define TSR_GPU_LOWER_H

#include "graph/infer.h"
#include "plan/plan.h"

#define TSR_OP(Name, stem, ...) tsr_lower_fn tsr_lower_##stem;
#define TSR_UNARY(Name, stem, types)
#define TSR_BINARY(Name, stem)
#define TSR_VIEW(Name, stem, ...)
#define TSR_FOLDED(Name, stem, ...)
#include "graph/ops.def"
tsr_lower_fn tsr_lower_unary, tsr_lower_binary, tsr_lower_view;

extern tsr_lower_fn *const tsr_gpu_lower[TSR_OP_COUNT];

/* Shared by lowerings. */

enum { TSR_EXACT_FLOATS = 1 << 24 }; /* every integer up to here is a float */

/* The first element of a constant float input, or otherwise. */
float tsr_const_float(const tsr_graph *graph, const tsr_node *node, int input, float otherwise);
/* Lays `count` blocks of `block` texels out in the pass's table, 2^result blocks a row; sets
 * table_w and table_h. */
int tsr_table_blocks(tsr_plan *plan, tsr_pass *pass, int block, int64_t count);

/* A convolution with constant weights. Window and group as in tsr_window; weights of output channel
 * o, input channel i of group g begin at weights[g * stride_group + o * stride_output + i *
 * stride_input], their kernel row-major. */
typedef struct tsr_convolution {
    tsr_window window;
    const tsr_loose_float *weights;
    float factor;        /* of all weights */
    const double *scale; /* of those of each output channel; NULL: 1 */
    int group_outputs, group_inputs;
    size_t stride_group, stride_output, stride_input;
} tsr_convolution;

/* What the weights of an output channel, counted through all groups, are to be multiplied by. */
double tsr_weight_scale(const tsr_convolution *conv, int output);
/* The most input tiles that the channels of one output tile read, over all output tiles. */
int tsr_tiles_per_output(const tsr_convolution *conv);
/* Gives the pass its weights as a table of blocks ((t * tiles + i) * kernel height + ky) * chunks +
 * chunk for output tile t and its i-th input tile; a block holds the 4x4 channels of `taps` taps of
 * a kernel row, by tap and input channel, 4 texels a tap, or, depthwise, one texel a tap. Sets the
 * uniform `channels`: tiles, output and input channels of a group, log2 of blocks per row. */
void tsr_lower_weights(tsr_plan *plan, tsr_pass *pass, const tsr_convolution *conv, int taps,
                       int chunks, bool depthwise);

/* A long sum can be cut into slices, so that more of the device works on it. Where a pass with
 * `count` of them writes to: to `output`, or to a tensor of count times the images. */
int tsr_sliced_output(tsr_plan *plan, int output, int64_t count);
/* Adds up what such a pass has left; the pass that writes `output`. */
tsr_pass *tsr_add_slices(tsr_plan *plan, tsr_pass *pass, int output, int64_t count);

/* What each GPU backend does in its own way, or in several ways of which one is chosen for each
 * node. The pass returned writes the result, so that post-ops can be appended to it. */
struct tsr_gpu_kernels {
    const char *name; /* among those of the backend */
    tsr_pass *(*convolution)(tsr_plan *plan, const tsr_convolution *conv, int input, int output);
    /* Makes the tensor of the node's output itself: its layout may follow the stride. */
    tsr_pass *(*conv_transpose)(tsr_plan *plan, const tsr_convolution *conv, int input,
                                const tsr_node *node);
    /* Tensors of `rank` axes, leading ones broadcast; inner: length of the sums. */
    tsr_pass *(*matmul)(tsr_plan *plan, int a, int b, int rank, int64_t inner, int output);
    bool wgsl; /* kernels are in WGSL, not in GLSL */
    /* Workgroups can reduce a block together: a reduction takes one pass instead of a pyramid. */
    bool workgroups;
    int planes;         /* that its outputs have: other tensors may share their storages; 0: any */
    int busy_fragments; /* long sums are cut into slices until a pass has as many; 0: never */
};

/* Kernel, stride, dilation and leading pad of axis 0 (rows) or 1 (columns) as a uniform. */
void tsr_lower_window(tsr_pass *pass, const char *name, const tsr_window *window, int axis);

/* Which of the kernel's elements meets a phase of a transposed convolution, pixel (y, x) mod
 * stride, as its index-th of rows and of columns; false if the phase has no such tap. */
bool tsr_phase_tap(const tsr_window *window, const int64_t phase[2], const int64_t index[2],
                   size_t *element);

/* Taps between two that meet the same phase of a transposed convolution: of rows, of columns; as
 * the uniform `steps`, too. */
void tsr_lower_steps(tsr_pass *pass, const tsr_window *window, int64_t steps[2]);

/* A post-op with a constant input [C], seen as [1, C, 1, 1]: a bias or a scale. Nothing if it is
 * absent. */
void tsr_lower_per_channel(tsr_plan *plan, tsr_pass *pass, tsr_op op, const tsr_node *node,
                           int input);

/* A pass that moves elements: see glsl/gather.glsl. Axes are those of the tensors' shapes. */
typedef struct tsr_move {
    int rank_in, rank_out;
    int feeds[TSR_MAX_RANK]; /* by input axis: the output axis that feeds it, TSR_NONE for none */
    int64_t step[TSR_MAX_RANK], start[TSR_MAX_RANK];
    int pad; /* mode of glsl/gather.glsl */
    float value;
} tsr_move;
void tsr_lower_move(tsr_plan *plan, int source, int output, const tsr_move *move);

#endif
