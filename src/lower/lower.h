/* How each operator becomes passes: tsr_lower_<stem>, one a line of ops.def, shared by the GPU
 * backends. */
#ifndef TSR_LOWER_LOWER_H
#define TSR_LOWER_LOWER_H

#include "algorithm/algorithm.h"

#define TSR_OP(Name, stem, ...) tsr_lower_fn tsr_lower_##stem;
#define TSR_UNARY(Name, stem, types)
#define TSR_BINARY(Name, stem, kind)
#define TSR_NARY(Name, stem, types)
#define TSR_REDUCE(Name, stem, types)
#define TSR_VIEW(Name, stem, ...)
#define TSR_FOLDED(Name, stem, ...)
#define TSR_FUNCTION(Name, ...)
#include "graph/ops.def"
tsr_lower_fn tsr_lower_unary, tsr_lower_binary, tsr_lower_reduce, tsr_lower_view;

extern tsr_lower_fn *const tsr_lowerings[TSR_OP_COUNT];

/* Shared by lowerings. */

/* The first element of a constant input, or the default value. */
float tsr_const_number(const tsr_graph *graph, const tsr_node *node, int input,
                       float default_value);

/* Which of N, C, H, W an axis is in the usual layout. */
int tsr_usual_axis(int rank, int axis);

/* The tensor of an input [C], seen as [1, C, 1, 1]: a bias or a scale; 0 if it is absent. May add a
 * pass. */
int tsr_lower_channels(tsr_plan *plan, const tsr_node *node, int input);
/* A post-op with it; nothing for 0. */
void tsr_lower_per_channel(tsr_plan *plan, tsr_pass *pass, tsr_op op, int channels);

/* A pass that copies elements: input[a] = output[source_axis[a]] * step[a] + start[a] for each axis
 * a of the input. Axes are those of the tensors' shapes. */
typedef struct tsr_strided_copy {
    int rank_in, rank_out;
    int source_axis[TSR_MAX_RANK]; /* by input axis; TSR_NONE: index 0 */
    int64_t step[TSR_MAX_RANK], start[TSR_MAX_RANK];
    int pad; /* mode of glsl/strided_copy.glsl */
    float value;
} tsr_strided_copy;
/* Every axis from itself. */
tsr_strided_copy tsr_identity_copy(int rank);
/* Fails, with the tensor's name, if it has more than four axes. */
tsr_status tsr_require_four_axes(const tsr_value *value);

void tsr_lower_strided_copy(tsr_plan *plan, int source, int output, const tsr_strided_copy *copy);

/* The tensor of a value seen with another shape. */
int tsr_lower_seen(tsr_plan *plan, int value, const tsr_shape *shape);
/* Where a result of this shape lands that is the node's output 0 but for its shape; after its pass,
 * finish makes it the output. */
int tsr_lower_output(tsr_plan *plan, const tsr_node *node, const tsr_shape *shape);
void tsr_lower_finish(tsr_plan *plan, const tsr_node *node, int output);

/* ---- volumes: src/lower/depth.c ---- */

/* The window of each depth: without its third axis. */
tsr_window tsr_flat_window(const tsr_window *window);
/* Images of a volume's depths: n * depth + d. */
int tsr_lower_depth_images(tsr_plan *plan, int volume, const tsr_window *window);
/* Images of the result's depths, whose channels are the depths under the window: c * kernel + tap.
 */
int tsr_lower_depth_taps(tsr_plan *plan, int volume, const tsr_window *window);

/* ---- more than four axes: src/lower/many_axes.c ---- */

/* [those before it, the axis, those after it] */
tsr_shape tsr_around_axis(const tsr_shape *shape, int axis);
/* The tensor's elements are output i of the node, in their order. */
void tsr_lower_reshaped(tsr_plan *plan, const tsr_node *node, int i, int tensor);
/* Output i is a copy of input 0, whose axes stay in their order; of any rank. */
void tsr_lower_axes_copy(tsr_plan *plan, const tsr_node *node, int i, const tsr_strided_copy *copy);
/* The same of a part of input 0, which may be read in place: src/lower/concat.c. */
void tsr_lower_part(tsr_plan *plan, const tsr_node *node, int i, const tsr_strided_copy *copy);

#endif
