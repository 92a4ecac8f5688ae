/* Reductions over any axes: those at the end as an image, in a pyramid of passes, others as the
 * channels between what is before and after them. */
#include "lower/reduction.h"

#include "base/divide.h"

/* ---- images ---------------------------------------------------------------------------------- */

static tsr_pass *add_step(tsr_plan *plan, const tsr_reduction_step *step, const tsr_reducer *r,
                          int source, int result, float scale, bool first) {
    const tsr_args_extent block = tsr_extent_args(step->block[TSR_AXIS_H], step->block[TSR_AXIS_W]);
    const tsr_float_arg factor = TSR_FLOAT(scale);
    const tsr_int_arg combine = TSR_INT(r->combine),
                      map = TSR_INT(first ? r->map : TSR_REDUCE_ITSELF);
    if (!step->by_groups)
        return TSR_PASS(plan, result, reduce, .X = TSR_TENSOR(source), .COMBINE = combine,
                        .MAP = map, .region = block, .factor = factor);
    tsr_pass *pass = TSR_PASS(plan, result, reduce_group, .X = TSR_TENSOR(source),
                              .COMBINE = combine, .MAP = map, .region = block, .factor = factor);
    tsr_reduction_groups(pass, step);
    return pass;
}

static tsr_pass *reduce_image(tsr_plan *plan, const tsr_problem *p, bool workgroups) {
    const tsr_reducer *reducer = p->reducer;
    const tsr_layout image = *tsr_plan_layout(plan, p->input);
    const tsr_reduction r = tsr_over_image(workgroups);
    tsr_reduction_step step = {.last = false};
    tsr_pass *pass = NULL;
    bool sums = reducer->combine == TSR_REDUCE_SUM;
    float part =
        reducer->mean ? 1 / ((float)image.h * (float)image.w) : 1; /* that is still to do */
    for (int source = p->input; !step.last && plan->status == TSR_OK; source = pass->output) {
        const tsr_layout *l = tsr_plan_layout(plan, source);
        step = tsr_reduction_next(l, &r, tsr_reduction_texels(plan, l, &r));
        int result = !step.last                    ? tsr_reduction_result(plan, &step.shape)
                     : reducer->output == TSR_NONE ? tsr_plan_output(plan, p->node, 0)
                                                   : reducer->output;
        float scale = step.last ? part : sums ? tsr_reduction_scale(plan, &step) : 1;
        part /= scale;
        pass = add_step(plan, &step, reducer, source, result, scale, source == p->input);
    }
    return pass ? pass : tsr_plan_pass_of(plan, TSR_PASS_DRAW, 0);
}

tsr_pass *tsr_lower_reduced_image(tsr_plan *plan, const tsr_node *node, int input,
                                  const tsr_reducer *reducer) {
    const tsr_problem problem = {.kind = TSR_REDUCTION,
                                 .node = node,
                                 .input = input,
                                 .output = TSR_NONE,
                                 .reduce = reduce_image,
                                 .reducer = reducer};
    return tsr_lower_problem(plan, &problem);
}

/* ---- any axes -------------------------------------------------------------------------------- */

static const struct {
    tsr_reducer reducer;
    tsr_op last; /* of the result, unless it is the reduction itself */
} reducers[TSR_OP_NAMES] = {
    [TSR_OP_ReduceSum] = {{.combine = TSR_REDUCE_SUM}, TSR_OP_ReduceSum},
    [TSR_OP_ReduceMean] = {{.combine = TSR_REDUCE_SUM, .mean = true}, TSR_OP_ReduceMean},
    [TSR_OP_ReduceMax] = {{.combine = TSR_REDUCE_LARGEST}, TSR_OP_ReduceMax},
    [TSR_OP_ReduceMin] = {{.combine = TSR_REDUCE_LEAST}, TSR_OP_ReduceMin},
    [TSR_OP_ReduceProd] = {{.combine = TSR_REDUCE_PRODUCT}, TSR_OP_ReduceProd},
    [TSR_OP_ReduceL1] = {{.map = TSR_REDUCE_MAGNITUDE}, TSR_OP_ReduceL1},
    [TSR_OP_ReduceL2] = {{.map = TSR_REDUCE_SQUARE}, TSR_OP_Sqrt},
    [TSR_OP_ReduceSumSquare] = {{.map = TSR_REDUCE_SQUARE}, TSR_OP_ReduceSumSquare},
    [TSR_OP_ReduceLogSum] = {{.combine = TSR_REDUCE_SUM}, TSR_OP_Log},
};

/* Adjacent axes that are reduced, or none of a tensor of rank 0. */
typedef struct run {
    int64_t outer, length, inner;
    int first, end; /* axes */
} run;

enum { SHORT = 256 }; /* for one loop of a fragment */

/* Where a run that ends at `end` has to begin: the images and the short channels of a layout are
 * runs of their own, as no element has to be moved for them. */
static int first_of_part(const tsr_shape *shape, int end) {
    int channel = tsr_layout_channel_axis(shape->rank);
    if (tsr_dim_product(shape, end, shape->rank) > 1)
        return 0;
    if (end > channel + 1)
        return channel + 1;
    return end == channel + 1 && shape->dim[channel] <= SHORT ? channel : 0;
}

/* The last run of reduced axes before `end`; false if there is none. */
static bool find_run(const tsr_shape *shape, const bool reduced[TSR_MAX_RANK], int end, run *r) {
    while (end > 0 && !(reduced[end - 1] && shape->dim[end - 1] != 1))
        end--;
    int first = end, least = first_of_part(shape, end);
    while (first > least && (reduced[first - 1] || shape->dim[first - 1] == 1))
        first--;
    *r = (run){tsr_dim_product(shape, 0, first), tsr_dim_product(shape, first, end),
               tsr_dim_product(shape, end, shape->rank), first, end};
    return end > 0;
}

/* Rows and columns for the elements of a run: its last axis, all before. */
static tsr_shape image_of(const tsr_shape *shape, const run *r) {
    int64_t columns = shape->dim[r->end - 1];
    return (tsr_shape){4, {1, r->outer, r->length / columns, columns}};
}

static bool is_image(const tsr_shape *shape, const run *r) {
    return r->first == tsr_layout_channel_axis(shape->rank) + 1;
}

static int reduce_image_run(tsr_plan *plan, const tsr_node *node, int tensor,
                            const tsr_shape *shape, const run *r, tsr_reducer reducer) {
    const tsr_shape image = is_image(shape, r)
                                ? tsr_layout_fold(shape, tsr_layout_channel_axis(shape->rank))
                                : image_of(shape, r),
                    pixels = {4, {image.dim[0], image.dim[1], 1, 1}};
    int input = tsr_plan_reshape(plan, tensor, &image);
    reducer.output = tsr_plan_tensor_new(plan, &pixels, true);
    tsr_lower_reduced_image(plan, node, input, &reducer);
    return reducer.output;
}

static int reduce_channels(tsr_plan *plan, int tensor, const tsr_shape *shape, const run *r,
                           tsr_reducer reducer) {
    int channel = tsr_layout_channel_axis(shape->rank);
    bool is_channel = r->first == channel && r->end == channel + 1;
    tsr_shape seen = {4, {r->outer, r->length, 1, r->inner}};
    if (is_channel)
        seen = tsr_layout_fold(shape, channel);
    const tsr_shape one = {4, {seen.dim[0], 1, seen.dim[2], seen.dim[3]}};
    int input = tsr_plan_reshape(plan, tensor, &seen),
        output = tsr_plan_tensor_new(plan, &one, true);
    TSR_PASS(plan, output, reduce_channels, .X = TSR_TENSOR(input),
             .COMBINE = TSR_INT(reducer.combine), .MAP = TSR_INT(reducer.map),
             .factor = TSR_FLOAT(reducer.mean ? 1 / (float)r->length : 1));
    tsr_plan_loops(plan, 1, 1, (int64_t[]){tsr_divide_up(r->length, 4)});
    return output;
}

/* Nothing is reduced. */
static int map_only(tsr_plan *plan, int tensor, const tsr_shape *shape,
                    const tsr_reducer *reducer) {
    const tsr_shape flat = {4, {1, tsr_dim_product(shape, 0, shape->rank), 1, 1}};
    int input = tsr_plan_reshape(plan, tensor, &flat),
        output = tsr_plan_tensor_new(plan, &flat, true);
    TSR_PASS(plan, output, reduce, .X = TSR_TENSOR(input), .COMBINE = TSR_INT(reducer->combine),
             .MAP = TSR_INT(reducer->map), .region = tsr_extent_args(1, 1), .factor = TSR_FLOAT(1));
    return output;
}

tsr_status tsr_lower_reduce(tsr_plan *plan, const tsr_node *node) {
    tsr_shape shape = tsr_node_in(plan->graph, node, 0)->shape;
    tsr_reducer reducer = reducers[node->op].reducer;
    tsr_op last = reducers[node->op].last;
    bool reduced[TSR_MAX_RANK];
    TSR_TRY(tsr_node_reduced_axes(plan->graph, node, reduced));
    int tensor = tsr_plan_value_as_is(plan, node->inputs[0]), runs = 0;
    run r;
    for (int end = shape.rank; plan->status == TSR_OK && find_run(&shape, reduced, end, &r);
         end = r.first, runs++) {
        bool image = r.inner == 1 && (r.length > SHORT || is_image(&shape, &r));
        tensor = image ? reduce_image_run(plan, node, tensor, &shape, &r, reducer)
                       : reduce_channels(plan, tensor, &shape, &r, reducer);
        for (int i = r.first; i < r.end; i++)
            shape.dim[i] = 1;
        reducer.map = TSR_REDUCE_ITSELF;
    }
    if (!runs)
        tensor = map_only(plan, tensor, &shape, &reducer);
    if (plan->status == TSR_OK && last != node->op)
        tsr_pass_post_unary(&plan->passes[plan->pass_count - 1], last, (const float[2]){0, 0});
    tsr_lower_reshaped(plan, node, 0, tensor);
    return plan->status;
}

/* ---- ArgMax, ArgMin -------------------------------------------------------------------------- */

static tsr_status lower_arg(tsr_plan *plan, const tsr_node *node, bool least) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", 0), shape->rank, &axis));
    const tsr_shape around = tsr_around_axis(shape, axis);
    const bool is_channel = shape->rank == 4 && axis == 1;
    tsr_shape seen = {4, {around.dim[0], around.dim[1], 1, around.dim[2]}};
    if (is_channel)
        seen = *shape;
    const tsr_shape one = {4, {seen.dim[0], 1, seen.dim[2], seen.dim[3]}};
    int input = tsr_lower_seen(plan, node->inputs[0], &seen),
        output = tsr_plan_tensor_new(plan, &one, true);
    TSR_PASS(plan, output, arg_channel, .X = TSR_TENSOR(input), .LEAST = TSR_INT(least),
             .LAST = TSR_INT(tsr_attr_int(node, "select_last_index", 0) != 0));
    tsr_plan_loops(plan, 1, 1, (int64_t[]){tsr_divide_up(seen.dim[1], 4)});
    tsr_lower_reshaped(plan, node, 0, output);
    return plan->status;
}

tsr_status tsr_lower_arg_max(tsr_plan *plan, const tsr_node *node) {
    return lower_arg(plan, node, false);
}

tsr_status tsr_lower_arg_min(tsr_plan *plan, const tsr_node *node) {
    return lower_arg(plan, node, true);
}
