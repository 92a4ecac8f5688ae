/* InstanceNormalization, LayerNormalization. BatchNormalization is folded or rewritten by
 * src/passes. */
#include "lower/reduction.h"

/* One workgroup takes the last ones: others are idle then, but a pass more would cost more. */
static int64_t choose_texels(const tsr_plan *plan, const tsr_layout *l, const tsr_reduction *r) {
    enum { LAST_TEXELS = 1024 };
    int64_t texels = tsr_reduction_texels(plan, l, r);
    bool last = r->workgroups && (int64_t)l->h * l->w <= LAST_TEXELS;
    return last && texels < LAST_TEXELS ? LAST_TEXELS : texels;
}

/* Of a step that is not the last: for the sum of squares over as many pixels of the image for one
 * of the source. */
static float moments_scale(const tsr_plan *plan, const tsr_reduction_step *step, int64_t pixels) {
    return plan->limits.half_only ? tsr_reduction_scale(plan, step) / (float)pixels : 1;
}

/* Mean and variance over rows and columns: a tensor of two or four columns, see glsl/moments.glsl.
 */
static tsr_pass *reduce_moments(tsr_plan *plan, const tsr_problem *p, bool workgroups) {
    const tsr_reduction r = tsr_over_image(workgroups);
    const tsr_layout image = *tsr_plan_layout(plan, p->input);
    tsr_layout blocks = image; /* of the source, a pair of columns being one */
    int source = p->input;
    tsr_pass *pass = NULL;
    int64_t rows = 1, columns = 1; /* of the image, that one of them is */
    tsr_reduction_step step = {.last = false};
    while (!step.last && plan->status == TSR_OK) {
        step = tsr_reduction_next(&blocks, &r, choose_texels(plan, &blocks, &r));
        int result = tsr_reduction_columns(plan, &step, plan->limits.half_only ? 4 : 2);
        const tsr_args_extent block =
                                  tsr_extent_args(step.block[TSR_AXIS_H], step.block[TSR_AXIS_W]),
                              pixel = tsr_extent_args(rows, columns),
                              size = tsr_extent_args(image.h, image.w),
                              source_size = tsr_extent_args(blocks.h, blocks.w);
        const tsr_int_arg pairs = TSR_INT(source != p->input);
        const tsr_float_arg factor =
            TSR_FLOAT(step.last ? 1 / ((float)image.h * (float)image.w)
                                : moments_scale(plan, &step, rows * columns));
        pass = step.by_groups ? TSR_PASS(plan, result, moments_group, .X = TSR_TENSOR(source),
                                         .PAIRS = pairs, .region = block, .pixel = pixel,
                                         .image = size, .source = source_size, .factor = factor)
                              : TSR_PASS(plan, result, moments, .X = TSR_TENSOR(source),
                                         .PAIRS = pairs, .region = block, .pixel = pixel,
                                         .image = size, .source = source_size, .factor = factor);
        tsr_reduction_groups(pass, &step);
        source = result;
        rows *= step.block[TSR_AXIS_H];
        columns *= step.block[TSR_AXIS_W];
        tsr_reduction_take(&step, &blocks);
    }
    return pass ? pass : tsr_plan_pass_of(plan, TSR_PASS_DRAW, 0);
}

/* y = scale * (x - mean) / sqrt(variance + epsilon) + bias, mean and variance over one channel of
 * one image. */
tsr_status tsr_lower_instance_normalization(tsr_plan *plan, const tsr_node *node) {
    int input = tsr_plan_value(plan, node->inputs[0]), scale = tsr_lower_channels(plan, node, 1),
        bias = tsr_lower_channels(plan, node, 2);
    int moments = tsr_lower_reduction(plan, node, input, reduce_moments)->output,
        output = tsr_plan_output(plan, node, 0);
    tsr_pass *pass =
        TSR_PASS(plan, output, normalize, .X = TSR_TENSOR(input), .moments = TSR_TENSOR(moments),
                 .epsilon = TSR_FLOAT(tsr_attr_float(node, "epsilon", 1e-5f)));
    tsr_lower_per_channel(plan, pass, TSR_OP_Mul, scale);
    tsr_lower_per_channel(plan, pass, TSR_OP_Add, bias);
    return plan->status;
}

/* ---- LayerNormalization ---------------------------------------------------------------------- */

/* Longer ones are seen as images, which a pyramid of passes reduces. */
enum { MOST_CHANNELS = 4096 };

/* Scale and bias as post-ops, seen with the shape of what they are broadcast to. */
typedef struct scaling {
    int factor, summand; /* tensors; TSR_NONE: no bias */
} scaling;

static scaling find_scaling(tsr_plan *plan, const tsr_node *node, const tsr_shape *shape) {
    return (scaling){tsr_lower_seen(plan, node->inputs[1], shape),
                     tsr_node_in(plan->graph, node, 2)
                         ? tsr_lower_seen(plan, node->inputs[2], shape)
                         : TSR_NONE};
}

static void add_scaling(tsr_plan *plan, tsr_pass *pass, const scaling *s) {
    tsr_pass_post_binary(plan, pass, TSR_OP_Mul, s->factor, false);
    if (s->summand != TSR_NONE)
        tsr_pass_post_binary(plan, pass, TSR_OP_Add, s->summand, false);
}

/* Output i, one element for each run: a channel of the moments. */
static void give_moment(tsr_plan *plan, const tsr_node *node, int i, int moments, int channel) {
    if (!tsr_node_out(plan->graph, node, i))
        return;
    tsr_strided_copy copy = tsr_identity_copy(4);
    copy.start[1] = channel;
    const tsr_shape shape = {4, {tsr_plan_layout(plan, moments)->n, 1, 1, 1}};
    int one = tsr_plan_tensor_new(plan, &shape, true);
    tsr_lower_strided_copy(plan, moments, one, &copy);
    tsr_lower_reshaped(plan, node, i, one);
}

/* Each run as the channels of an image of one pixel. */
static void normalize_channels(tsr_plan *plan, const tsr_node *node, int64_t runs, int64_t length) {
    const tsr_shape shape = {2, {runs, length}},
                    pairs = {2, {runs, plan->limits.half_only ? 3 : 2}},
                    channels = {4, {1, length, 1, 1}};
    int input = tsr_lower_seen(plan, node->inputs[0], &shape);
    int moments = tsr_plan_tensor_new(plan, &pairs, true);
    TSR_PASS(plan, moments, layer_moments, .X = TSR_TENSOR(input),
             .epsilon = TSR_FLOAT(tsr_attr_float(node, "epsilon", 1e-5f)));
    tsr_plan_loops(plan, 2, 1, (int64_t[]){tsr_plan_layout(plan, input)->tiles});
    give_moment(plan, node, 1, moments, 0);
    give_moment(plan, node, 2, moments, 1);
    scaling s = find_scaling(plan, node, &channels);
    int output = tsr_lower_output(plan, node, &shape);
    add_scaling(plan,
                TSR_PASS(plan, output, layer_normalize, .X = TSR_TENSOR(input),
                         .moments = TSR_TENSOR(moments)),
                &s);
    tsr_lower_finish(plan, node, output);
}

/* Each run as a channel's image. */
static void normalize_images(tsr_plan *plan, const tsr_node *node, int64_t runs, int64_t length) {
    const tsr_shape *x = &tsr_node_in(plan->graph, node, 0)->shape;
    int64_t columns = x->dim[x->rank - 1], rows = length / columns;
    const tsr_shape shape = {4, {1, runs, rows, columns}}, image = {4, {1, 1, rows, columns}};
    int input = tsr_lower_seen(plan, node->inputs[0], &shape);
    scaling s = find_scaling(plan, node, &image);
    int moments = tsr_lower_reduction(plan, node, input, reduce_moments)->output,
        output = tsr_lower_output(plan, node, &shape);
    tsr_pass *pass =
        TSR_PASS(plan, output, normalize, .X = TSR_TENSOR(input), .moments = TSR_TENSOR(moments),
                 .epsilon = TSR_FLOAT(tsr_attr_float(node, "epsilon", 1e-5f)));
    add_scaling(plan, pass, &s);
    tsr_lower_finish(plan, node, output);
}

/* y = scale * (x - mean) / sqrt(variance + epsilon) + bias over the axes from `axis` on. */
tsr_status tsr_lower_layer_normalization(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *x = &tsr_node_in(plan->graph, node, 0)->shape;
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", -1), x->rank, &axis));
    int64_t runs = tsr_dim_product(x, 0, axis), length = tsr_dim_product(x, axis, x->rank);
    bool moments = tsr_node_out(plan->graph, node, 1) || tsr_node_out(plan->graph, node, 2);
    if (length > MOST_CHANNELS && !moments)
        normalize_images(plan, node, runs, length);
    else
        normalize_channels(plan, node, runs, length);
    return plan->status;
}
