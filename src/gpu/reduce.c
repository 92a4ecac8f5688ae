/* Means, normalizations and softmax. */
#include "gpu/lower.h"

#include "base/divide.h"
#include "base/error.h"

#include <string.h>

enum { SUM, MAXIMUM };
enum { PLAIN, SQUARED_DIFFERENCE, EXP_DIFFERENCE };
/* SIDE: of a block where rounding errors matter, as a sum of short sums has smaller ones.
 * FEW_FRAGMENTS: that a CPU's threads shall have, at least. */
enum { SIDE = 16, FEW_FRAGMENTS = 4096, BUSY_GROUPS = 1024 };
/* A workgroup is worth its barriers if its invocations have so much each, or else would be few. */
enum { SHARED_TEXELS = 256, FEW_TEXELS = 8, FEW_PIXELS = 4096 };

typedef struct reduction {
    int operation, map;
    int minus;    /* tensor of the map, TSR_NONE for PLAIN; size 1 along the axes */
    bool axis[4]; /* of N, C, H, W: those that keep size 1 */
    bool exact;   /* as sums that nearly cancel have to be */
    float factor;
} reduction;

/* One step of it. */
typedef struct reduction_step {
    int block[4]; /* images, tiles, rows, columns that one pixel of the result is made of */
    tsr_shape shape;
    bool last;
} reduction_step;

/* How many texels a fragment, or a workgroup, shall combine: few enough to keep the device busy. */
static int64_t choose_texels(const tsr_plan *plan, const tsr_layout *l) {
    bool groups = plan->kernels->workgroups;
    int64_t texels = (int64_t)l->n * l->tiles * l->h * l->w, least = groups ? 256 : 64,
            most = groups ? 4096 : 256, busy = groups ? BUSY_GROUPS : plan->kernels->busy_fragments;
    if (!busy || texels / busy > most)
        return most;
    return texels / busy > least ? texels / busy : least;
}

static reduction_step choose_step(const tsr_plan *plan, const tsr_layout *l, const reduction *r) {
    const int size[4] = {l->n, l->tiles, l->h, l->w};
    const int group[4] = {1, 1, 1, l->planes * l->spread}; /* glsl/reduce.glsl reads whole ones */
    int64_t texels = choose_texels(plan, l),
            most = r->exact && !plan->kernels->workgroups ? SIDE : texels;
    reduction_step step = {.shape = {4, {l->n, l->c, l->h, l->w}}, .last = true};
    for (int i = 3; i >= 0; i--) {
        int64_t wanted = ((texels < most ? texels : most) + group[i] - 1) / group[i] * group[i];
        step.block[i] = !r->axis[i] ? 1 : size[i] < wanted ? size[i] : (int)wanted;
        texels = texels > step.block[i] ? texels / step.block[i] : 1;
        if (!r->axis[i])
            continue;
        step.shape.dim[i] = tsr_divide_up(size[i], step.block[i]);
        step.last = step.last && step.shape.dim[i] == 1;
    }
    if (r->axis[TSR_AXIS_C] && !step.last)
        step.shape.dim[TSR_AXIS_C] *= 4; /* channels are added up within texels at last */
    return step;
}

/* Several planes where that leaves fragments enough. */
static int step_result(tsr_plan *plan, const tsr_shape *shape) {
    int64_t enough = plan->kernels->busy_fragments ? plan->kernels->busy_fragments : FEW_FRAGMENTS;
    int64_t pixels =
        shape->dim[0] * tsr_divide_up(shape->dim[1], 4) * shape->dim[2] * shape->dim[3];
    bool many = pixels >= enough * plan->limits.max_planes;
    return tsr_plan_tensor_make(plan, shape, (tsr_layout_wish){.planes = many ? 0 : 1});
}

/* Is it for a workgroup to make a pixel from so many texels? */
static bool for_workgroup(const tsr_plan *plan, int64_t texels, int64_t pixels) {
    return plan->kernels->workgroups &&
           (texels >= SHARED_TEXELS || (texels >= FEW_TEXELS && pixels < FEW_PIXELS));
}

static tsr_pass *step_pass(tsr_plan *plan, const reduction_step *step, int result) {
    const tsr_layout *l = tsr_plan_layout(plan, result);
    int64_t texels = 1, pixels = (int64_t)l->n * l->tiles * l->h * l->w;
    for (int i = 0; i < 4; i++)
        texels *= step->block[i];
    bool shared = for_workgroup(plan, texels, pixels);
    tsr_pass *pass = tsr_plan_pass(plan, shared ? "reduce_group" : "reduce", result);
    if (shared)
        tsr_pass_groups(pass, pixels);
    return pass;
}

/* In a pyramid of passes, which keeps the work of each fragment, and the rounding error, small.
 * output: the tensor to write, TSR_NONE to make one; the result is it. */
static int lower_reduction(tsr_plan *plan, int source, const reduction *r, int output) {
    reduction_step step = {.last = false};
    for (int map = r->map; !step.last; map = PLAIN) {
        step = choose_step(plan, tsr_plan_layout(plan, source), r);
        int result = step.last && output != TSR_NONE ? output : step_result(plan, &step.shape);
        tsr_pass *pass = step_pass(plan, &step, result);
        tsr_pass_source(plan, pass, source);
        if (map != PLAIN)
            tsr_pass_source(plan, pass, r->minus);
        tsr_pass_define(pass, "OPERATION", r->operation);
        tsr_pass_define(pass, "MAP", map);
        tsr_pass_define(pass, "TILES", r->axis[TSR_AXIS_C]);
        tsr_pass_define(pass, "FOLD", r->axis[TSR_AXIS_C] && step.last);
        tsr_pass_define(pass, "PIXELS",
                        r->axis[TSR_AXIS_N] || r->axis[TSR_AXIS_H] || r->axis[TSR_AXIS_W]);
        tsr_pass_define(pass, "COLUMNS", r->axis[TSR_AXIS_W]);
        tsr_pass_ints(pass, "block", step.block[0], step.block[1], step.block[2], step.block[3]);
        tsr_pass_floats(pass, "factor", step.last ? r->factor : 1, 0, 0, 0);
        source = result;
    }
    return source;
}

/* The mean over rows and columns in a pyramid of passes, 32 bits; of (a - minus)^2 if minus is a
 * tensor, not TSR_NONE. output: the tensor to write, TSR_NONE to make one. */
static int lower_mean(tsr_plan *plan, int tensor, int minus, int output) {
    const tsr_layout *l = tsr_plan_layout(plan, tensor);
    const reduction r = {.operation = SUM,
                         .map = minus == TSR_NONE ? PLAIN : SQUARED_DIFFERENCE,
                         .minus = minus,
                         .axis = {[TSR_AXIS_H] = true, [TSR_AXIS_W] = true},
                         .exact = true,
                         .factor = 1.0f / ((float)l->h * (float)l->w)};
    return lower_reduction(plan, tensor, &r, output);
}

tsr_status tsr_lower_global_average_pool(tsr_plan *plan, const tsr_node *node) {
    int input = tsr_plan_value(plan, node->inputs[0]);
    lower_mean(plan, input, TSR_NONE, tsr_plan_output(plan, node, 0));
    return plan->status;
}

/* y = scale * (x - mean) / sqrt(variance + epsilon) + bias, mean and variance over one channel of
 * one image. */
tsr_status tsr_lower_instance_normalization(tsr_plan *plan, const tsr_node *node) {
    int input = tsr_plan_value(plan, node->inputs[0]);
    int mean = lower_mean(plan, input, TSR_NONE, TSR_NONE),
        variance = lower_mean(plan, input, mean, TSR_NONE);
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

/* Over the channels alone, few enough for one fragment: it finds their maximum and their sum. */
static tsr_status softmax_of_channels(tsr_plan *plan, const tsr_node *node, int input) {
    const tsr_layout l = *tsr_plan_layout(plan, input);
    int both = step_result(plan, &(tsr_shape){4, {l.n, 2, l.h, l.w}});
    tsr_pass *pass = tsr_plan_pass(plan, "softmax_sum", both);
    tsr_pass_source(plan, pass, input);
    pass = tsr_plan_pass(plan, "softmax", tsr_plan_output(plan, node, 0));
    tsr_pass_define(pass, "BOTH", 1);
    tsr_pass_source(plan, pass, input);
    tsr_pass_source(plan, pass, both);
    return plan->status;
}

static tsr_status softmax_of_axes(tsr_plan *plan, const tsr_node *node, int input,
                                  const bool *axis) {
    reduction r = {.operation = MAXIMUM, .map = PLAIN, .minus = TSR_NONE, .factor = 1};
    memcpy(r.axis, axis, sizeof r.axis);
    int maximum = lower_reduction(plan, input, &r, TSR_NONE);
    r.operation = SUM;
    r.map = EXP_DIFFERENCE;
    r.minus = maximum;
    int sum = lower_reduction(plan, input, &r, TSR_NONE);
    tsr_pass *pass = tsr_plan_pass(plan, "softmax", tsr_plan_output(plan, node, 0));
    tsr_pass_define(pass, "BOTH", 0);
    tsr_pass_define(pass, "COLUMNS", r.axis[TSR_AXIS_W]);
    tsr_pass_source(plan, pass, input);
    tsr_pass_source(plan, pass, maximum);
    tsr_pass_source(plan, pass, sum);
    return plan->status;
}

tsr_status tsr_lower_softmax(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    int first;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", -1), shape->rank, &first));
    int end = tsr_attr_int(node, "coerce_2d", 0) ? shape->rank : first + 1;
    int input = tsr_plan_value(plan, node->inputs[0]);
    const tsr_layout *l = tsr_plan_layout(plan, input);
    bool axis[4] = {false}, channels = true;
    for (int i = first; i < end; i++)
        axis[tsr_layout_axes(shape->rank)[i]] = true;
    for (int i = 0; i < 4; i++)
        channels = channels && axis[i] == (i == TSR_AXIS_C);
    bool few = l->tiles <= choose_texels(plan, l) &&
               !for_workgroup(plan, l->tiles, (int64_t)l->n * l->h * l->w);
    return channels && few ? softmax_of_channels(plan, node, input)
                           : softmax_of_axes(plan, node, input, axis);
}
