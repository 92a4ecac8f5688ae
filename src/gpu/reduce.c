/* Pools, means, normalizations and softmax. */
#include "gpu/lower.h"

#include "base/error.h"

enum { SUM, MAXIMUM };
enum { PLAIN, SQUARED_DIFFERENCE, EXP_DIFFERENCE };
enum { PYRAMID = 16 }; /* rows and columns that one fragment of a pyramid adds up */
enum { GROUP_SIDE = 64, GROUP_TEXELS = 256 }; /* that a workgroup adds up: at most, at least */

/* What one element of the output is made of. */
typedef struct reduction {
    int operation, map;
    int minus;    /* tensor of the map, TSR_NONE for PLAIN */
    int block[4]; /* of N, C (0: its own, else all), H, W */
    float factor;
} reduction;

/* Enough texels for a workgroup to share. */
static bool shared_by_workgroup(const tsr_plan *plan, const reduction *r, int source) {
    int64_t texels = (int64_t)r->block[0] * r->block[2] * r->block[3];
    if (r->block[1])
        texels *= tsr_plan_layout(plan, source)->tiles;
    return plan->kernels->workgroups && texels >= GROUP_TEXELS;
}

static void lower_reduction(tsr_plan *plan, int source, const reduction *r, int output) {
    bool shared = shared_by_workgroup(plan, r, source);
    tsr_pass *pass = tsr_plan_pass(plan, shared ? "reduce_group" : "reduce", output);
    const tsr_layout *l = tsr_plan_layout(plan, output);
    tsr_pass_source(plan, pass, source);
    if (r->map != PLAIN)
        tsr_pass_source(plan, pass, r->minus);
    tsr_pass_define(pass, "OPERATION", r->operation);
    tsr_pass_define(pass, "MAP", r->map);
    tsr_pass_define(pass, "CHANNELS", r->block[1] != 0);
    tsr_pass_define(pass, "BLOCKS", r->block[0] > 1 || r->block[2] > 1 || r->block[3] > 1);
    tsr_pass_ints(pass, "block", r->block[0], 0, r->block[2], r->block[3]);
    tsr_pass_floats(pass, "factor", r->factor, 0, 0, 0);
    if (shared)
        tsr_pass_groups(pass, (int64_t)l->n * l->tiles * l->h * l->w);
}

int tsr_lower_mean(tsr_plan *plan, int tensor, int minus, int output) {
    const tsr_layout l = *tsr_plan_layout(plan, tensor);
    int h = l.h, w = l.w;
    int side = plan->kernels->workgroups ? GROUP_SIDE : PYRAMID;
    for (bool first = true; first || h > 1 || w > 1; first = false) {
        int block_h = h < side ? h : side, block_w = w < side ? w : side;
        h = (h + block_h - 1) / block_h;
        w = (w + block_w - 1) / block_w;
        bool last = h == 1 && w == 1;
        int result = last && output != TSR_NONE
                         ? output
                         : tsr_plan_tensor_new(plan, &(tsr_shape){4, {l.n, l.c, h, w}}, true);
        const reduction step = {
            .operation = SUM,
            .map = first && minus != TSR_NONE ? SQUARED_DIFFERENCE : PLAIN,
            .minus = minus,
            .block = {1, 0, block_h, block_w},
            .factor = last ? 1.0f / ((float)l.h * (float)l.w) : 1.0f,
        };
        lower_reduction(plan, tensor, &step, result);
        tensor = result;
    }
    return tensor;
}

tsr_status tsr_lower_global_average_pool(tsr_plan *plan, const tsr_node *node) {
    int input = tsr_plan_value(plan, node->inputs[0]);
    tsr_lower_mean(plan, input, TSR_NONE, tsr_plan_output(plan, node, 0));
    return plan->status;
}

/* y = scale * (x - mean) / sqrt(variance + epsilon) + bias, mean and variance over one channel of
 * one image. */
tsr_status tsr_lower_instance_normalization(tsr_plan *plan, const tsr_node *node) {
    int input = tsr_plan_value(plan, node->inputs[0]);
    int mean = tsr_lower_mean(plan, input, TSR_NONE, TSR_NONE),
        variance = tsr_lower_mean(plan, input, mean, TSR_NONE);
    tsr_pass *pass = tsr_plan_pass(plan, "normalize", tsr_plan_output(plan, node, 0));
    tsr_pass_source(plan, pass, input);
    tsr_pass_source(plan, pass, mean);
    tsr_pass_source(plan, pass, variance);
    tsr_pass_floats(pass, "epsilon", tsr_attr_float(node, "epsilon", 1e-5f), 0, 0, 0);
    tsr_lower_per_channel(plan, pass, TSR_OP_Mul, node, 1);
    tsr_lower_per_channel(plan, pass, TSR_OP_Add, node, 2);
    return plan->status;
}

/* src/passes/fold_batch_norm.c leaves none. */
tsr_status tsr_lower_batch_normalization(tsr_plan *plan, const tsr_node *node) {
    (void)plan;
    return tsr_fail(TSR_UNSUPPORTED, "'%s' was neither folded nor rewritten", node->name);
}

/* Maximum, or sum of exp(a - minus), over the axes from `axis` on to `end`, which keep size 1. */
static int reduce_axes(tsr_plan *plan, int source, const tsr_shape *shape, int axis, int end,
                       int operation, int minus) {
    tsr_shape reduced = *shape;
    reduction r = {.operation = operation,
                   .map = operation == SUM ? EXP_DIFFERENCE : PLAIN,
                   .minus = minus,
                   .block = {1, 0, 1, 1},
                   .factor = 1};
    for (int i = axis; i < end; i++) {
        r.block[tsr_layout_axes(shape->rank)[i]] = (int)shape->dim[i];
        reduced.dim[i] = 1;
    }
    int output = tsr_plan_tensor_new(plan, &reduced, true);
    lower_reduction(plan, source, &r, output);
    int tiles = r.block[TSR_AXIS_C] ? tsr_plan_layout(plan, source)->tiles : 1;
    tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 4,
                   (int64_t[]){r.block[0], tiles, r.block[2], r.block[3]});
    return output;
}

tsr_status tsr_lower_softmax(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", -1), shape->rank, &axis));
    int end = tsr_attr_int(node, "coerce_2d", 0) ? shape->rank : axis + 1;
    int input = tsr_plan_value(plan, node->inputs[0]);
    int maximum = reduce_axes(plan, input, shape, axis, end, MAXIMUM, TSR_NONE);
    int sum = reduce_axes(plan, input, shape, axis, end, SUM, maximum);
    tsr_pass *pass = tsr_plan_pass(plan, "softmax", tsr_plan_output(plan, node, 0));
    tsr_pass_source(plan, pass, input);
    tsr_pass_source(plan, pass, maximum);
    tsr_pass_source(plan, pass, sum);
    return plan->status;
}

enum { POOL_MAXIMUM, POOL_AVERAGE, POOL_INDEX };

static void lower_pool(tsr_plan *plan, const tsr_node *node, const tsr_window *w, int mode,
                       int output) {
    int input = tsr_plan_value(plan, node->inputs[0]);
    tsr_pass *pass = tsr_plan_pass(plan, "pool", output);
    bool padded = w->count_include_pad;
    tsr_pass_source(plan, pass, input);
    tsr_pass_define(pass, "MODE", mode);
    tsr_lower_window(pass, "window_y", w, 0);
    tsr_lower_window(pass, "window_x", w, 1);
    tsr_pass_ints(pass, "counted", padded ? (int)w->pad_begin[0] : 0,
                  padded ? (int)w->pad_begin[1] : 0, (int)(w->in[0] + (padded ? w->pad_end[0] : 0)),
                  (int)(w->in[1] + (padded ? w->pad_end[1] : 0)));
    int64_t rows = w->kernel[0] < w->in[0] ? w->kernel[0] : w->in[0],
            columns = w->kernel[1] < w->in[1] ? w->kernel[1] : w->in[1];
    tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 2, (int64_t[]){rows, columns});
    tsr_pass_ints(pass, "order", (int)tsr_attr_int(node, "storage_order", 0), 0, 0, 0);
}

/* One window, the image itself: a pyramid of sums is faster than one fragment, and of any size. */
static bool covers_image(const tsr_window *w) {
    bool covers = true;
    for (int i = 0; i < 2; i++)
        covers = covers && w->kernel[i] == w->in[i] && w->dilation[i] == 1 && w->out[i] == 1 &&
                 w->pad_begin[i] == 0 && w->pad_end[i] == 0;
    return covers;
}

tsr_status tsr_lower_average_pool(tsr_plan *plan, const tsr_node *node) {
    tsr_window w;
    TSR_TRY(tsr_node_window(plan->graph, node, &w));
    if (covers_image(&w))
        return tsr_lower_global_average_pool(plan, node);
    lower_pool(plan, node, &w, POOL_AVERAGE, tsr_plan_output(plan, node, 0));
    return plan->status;
}

tsr_status tsr_lower_max_pool(tsr_plan *plan, const tsr_node *node) {
    const tsr_value *indices = tsr_node_out(plan->graph, node, 1);
    tsr_window w;
    TSR_TRY(tsr_node_window(plan->graph, node, &w));
    if (indices && tsr_shape_count(&tsr_node_in(plan->graph, node, 0)->shape) > TSR_EXACT_FLOATS)
        return tsr_fail(TSR_UNSUPPORTED,
                        "Indices into more than 2^24 elements are not exact in floats");
    lower_pool(plan, node, &w, POOL_MAXIMUM, tsr_plan_output(plan, node, 0));
    if (indices) {
        int output =
            tsr_plan_tensor_new(plan, &indices->shape, true); /* 16 bits would round them */
        lower_pool(plan, node, &w, POOL_INDEX, output);
        if (output)
            plan->value_tensor[node->outputs[1]] = output;
    }
    return plan->status;
}
