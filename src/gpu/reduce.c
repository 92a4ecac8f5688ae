/* Means, normalizations and softmax. */
#include "gpu/lower.h"

#include "base/divide.h"
#include "base/error.h"

#include <string.h>

/* SIDE: of a block where rounding errors matter, as a sum of short sums has smaller ones. */
enum { SIDE = 16, BUSY_GROUPS = 1024 };
/* A workgroup is worth its barriers if its invocations have so much each, or else would be few. */
enum { SHARED_TEXELS = 256, FEW_TEXELS = 8, FEW_PIXELS = 4096 };

typedef struct reduction {
    bool axis[4]; /* of N, C, H, W: those that keep size 1 */
    bool exact;   /* as sums that nearly cancel have to be */
} reduction;

static const reduction over_image = {.axis = {[TSR_AXIS_H] = true, [TSR_AXIS_W] = true},
                                     .exact = true};

/* One step of it. */
typedef struct reduction_step {
    int block[4]; /* images, tiles, rows, columns that one pixel of the result is made of */
    tsr_shape shape;
    bool last;
} reduction_step;

/* How many texels a fragment, or a workgroup, shall combine: few enough to keep the device busy.
 * Of images, which take several steps anyway, fewer than of lines. */
static int64_t choose_texels(const tsr_plan *plan, const tsr_layout *l, const reduction *r) {
    bool groups = plan->kernels->workgroups;
    int64_t of_fragment = r->exact ? 32 : 64, least = groups ? 256 : of_fragment;
    int64_t texels = (int64_t)l->n * l->tiles * l->h * l->w, most = groups ? 4096 : 256,
            busy = groups ? BUSY_GROUPS : plan->kernels->busy_fragments;
    if (!busy || texels / busy > most)
        return most;
    return texels / busy > least ? texels / busy : least;
}

/* texels: how many shall be combined. */
static reduction_step choose_step(const tsr_plan *plan, const tsr_layout *l, const reduction *r,
                                  int64_t texels) {
    const int size[4] = {l->n, l->tiles, l->h, l->w};
    const int group[4] = {1, 1, 1, l->planes * l->spread}; /* glsl kernels read whole ones */
    int64_t most = r->exact && !plan->kernels->workgroups ? SIDE : texels;
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

static int64_t count_texels(const tsr_shape *shape) {
    return shape->dim[0] * tsr_divide_up(shape->dim[1], 4) * shape->dim[2] * shape->dim[3];
}

/* One plane: a fragment combines texels enough for a single pixel. */
static int step_result(tsr_plan *plan, const tsr_shape *shape) {
    return tsr_plan_tensor_make(plan, shape, (tsr_layout_wish){.planes = 1});
}

/* Is it for a workgroup to make a pixel from so many texels? */
static bool for_workgroup(const tsr_plan *plan, int64_t texels, int64_t pixels) {
    return plan->kernels->workgroups &&
           (texels >= SHARED_TEXELS || (texels >= FEW_TEXELS && pixels < FEW_PIXELS));
}

/* kernels: the stem of that for fragments or invocations, and of that for workgroups. */
static tsr_pass *step_pass(tsr_plan *plan, const reduction_step *step, const char *const kernels[2],
                           int result) {
    int64_t texels = 1, results = count_texels(&step->shape);
    for (int i = 0; i < 4; i++)
        texels *= step->block[i];
    bool shared = for_workgroup(plan, texels, results);
    tsr_pass *pass = tsr_plan_pass(plan, kernels[shared], result);
    if (shared)
        tsr_pass_groups(pass, results);
    return pass;
}

/* In a pyramid of passes, which keeps the work of each fragment, and the rounding error, small. */
tsr_status tsr_lower_global_average_pool(tsr_plan *plan, const tsr_node *node) {
    int source = tsr_plan_value(plan, node->inputs[0]);
    const tsr_layout image = *tsr_plan_layout(plan, source);
    const float factor = 1.0f / ((float)image.h * (float)image.w);
    reduction_step step = {.last = false};
    while (!step.last) {
        const tsr_layout *l = tsr_plan_layout(plan, source);
        step = choose_step(plan, l, &over_image, choose_texels(plan, l, &over_image));
        int result = step.last ? tsr_plan_output(plan, node, 0) : step_result(plan, &step.shape);
        tsr_pass *pass = step_pass(plan, &step, (const char *[]){"reduce", "reduce_group"}, result);
        tsr_pass_source(plan, pass, source);
        tsr_pass_ints(pass, "block", step.block[TSR_AXIS_H], step.block[TSR_AXIS_W], 0, 0);
        tsr_pass_floats(pass, "factor", step.last ? factor : 1, 0, 0, 0);
        source = result;
    }
    return plan->status;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* The same of kernels that all have entry points of their own in wgsl. */
static tsr_pass *own_entry_pass(tsr_plan *plan, const reduction_step *step,
                                const char *const kernels[2], int result) {
    enum { INVOCATIONS = 64 }; /* of a workgroup where each takes a block */
    tsr_pass *pass = step_pass(plan, step, kernels, result);
    if (!pass->groups[0])
        tsr_pass_groups(pass, tsr_divide_up(count_texels(&step->shape), INVOCATIONS));
    return pass;
}

/* A step of a pyramid of which each block leaves two columns. kernels: as for step_pass. */
static tsr_pass *pairs_pass(tsr_plan *plan, const reduction_step *step,
                            const char *const kernels[2]) {
    tsr_shape pairs = step->shape;
    pairs.dim[TSR_AXIS_W] *= 2;
    int result = tsr_plan_tensor_make(plan, &pairs, (tsr_layout_wish){.planes = 2});
    return own_entry_pass(plan, step, kernels, result);
}

/* The layout of a step's blocks: the next one's source, a pair being one. */
static void take_step(const reduction_step *step, tsr_layout *blocks) {
    blocks->n = (int)step->shape.dim[TSR_AXIS_N];
    blocks->c = (int)step->shape.dim[TSR_AXIS_C];
    blocks->tiles = (int)tsr_divide_up(blocks->c, 4);
    blocks->h = (int)step->shape.dim[TSR_AXIS_H];
    blocks->w = (int)step->shape.dim[TSR_AXIS_W];
    blocks->planes = blocks->spread = 1;
}

/* One workgroup takes the last ones: others are idle then, but a pass more would cost more. */
static int64_t choose_moments_texels(const tsr_plan *plan, const tsr_layout *l) {
    enum { LAST_TEXELS = 1024 };
    int64_t texels = choose_texels(plan, l, &over_image);
    bool last = plan->kernels->workgroups && (int64_t)l->h * l->w <= LAST_TEXELS;
    return last && texels < LAST_TEXELS ? LAST_TEXELS : texels;
}

/* Mean and variance over rows and columns, 32 bits: a tensor of two columns. */
static int lower_moments(tsr_plan *plan, int input) {
    const tsr_layout image = *tsr_plan_layout(plan, input);
    tsr_layout blocks = image;                 /* of the source, a pair of columns being one */
    int source = input, rows = 1, columns = 1; /* of the image, that one of them is */
    reduction_step step = {.last = false};
    while (!step.last) {
        step = choose_step(plan, &blocks, &over_image, choose_moments_texels(plan, &blocks));
        tsr_pass *pass = pairs_pass(plan, &step, (const char *[]){"moments", "moments_group"});
        tsr_pass_source(plan, pass, source);
        tsr_pass_define(pass, "PAIRS", source != input);
        tsr_pass_ints(pass, "block", step.block[TSR_AXIS_H], step.block[TSR_AXIS_W], rows, columns);
        tsr_pass_ints(pass, "image", image.h, image.w, blocks.h, blocks.w);
        tsr_pass_floats(pass, "factor", step.last ? 1 / ((float)image.h * (float)image.w) : 1, 0, 0,
                        0);
        source = pass->output;
        rows *= step.block[TSR_AXIS_H];
        columns *= step.block[TSR_AXIS_W];
        take_step(&step, &blocks);
    }
    return source;
}

/* y = scale * (x - mean) / sqrt(variance + epsilon) + bias, mean and variance over one channel of
 * one image. */
tsr_status tsr_lower_instance_normalization(tsr_plan *plan, const tsr_node *node) {
    int input = tsr_plan_value(plan, node->inputs[0]), moments = lower_moments(plan, input);
    tsr_pass *pass = tsr_plan_pass(plan, "normalize", tsr_plan_output(plan, node, 0));
    tsr_pass_source(plan, pass, input);
    tsr_pass_source(plan, pass, moments);
    tsr_pass_floats(pass, "epsilon", tsr_attr_float(node, "epsilon", 1e-5f), 0, 0, 0);
    tsr_lower_per_channel(plan, pass, TSR_OP_Mul, node, 1);
    tsr_lower_per_channel(plan, pass, TSR_OP_Add, node, 2);
    return plan->status;
}

/* ---- softmax --------------------------------------------------------------------------------- */

/* What is subtracted from the input before exp, and the sum of that, 32 bits: glsl/softmax_sum.glsl
 * says how they lie. */
static int lower_softmax_sums(tsr_plan *plan, int input, const reduction *r) {
    const bool *axis = r->axis;
    const char *const kernels[] = {"softmax_sum", "softmax_sum_group"};
    tsr_layout blocks = *tsr_plan_layout(plan, input); /* of the source, a pair being one */
    int source = input;
    reduction_step step = {.last = false};
    while (!step.last) {
        step = choose_step(plan, &blocks, r, choose_texels(plan, &blocks, r));
        bool fold = axis[TSR_AXIS_C] && step.last;
        const tsr_shape *s = &step.shape, folded = {4, {s->dim[0], 2, s->dim[2], s->dim[3]}};
        tsr_pass *pass = fold ? own_entry_pass(plan, &step, kernels, step_result(plan, &folded))
                              : pairs_pass(plan, &step, kernels);
        tsr_pass_source(plan, pass, source);
        tsr_pass_define(pass, "PAIRS", source != input);
        bool padded = axis[TSR_AXIS_C] && source == input && blocks.c % 4 != 0;
        tsr_pass_define(pass, "PADDED", padded);
        tsr_pass_define(pass, "FOLD", fold);
        tsr_pass_define(pass, "PIXELS", axis[TSR_AXIS_N] || axis[TSR_AXIS_H] || axis[TSR_AXIS_W]);
        tsr_pass_define(pass, "COLUMNS", axis[TSR_AXIS_W]);
        tsr_pass_ints(pass, "block", step.block[0], step.block[1], step.block[2], step.block[3]);
        source = pass->output;
        take_step(&step, &blocks);
    }
    return source;
}

static tsr_status softmax_of_texels(tsr_plan *plan, const tsr_node *node, int input) {
    tsr_pass *pass = tsr_plan_pass(plan, "softmax_tile", tsr_plan_output(plan, node, 0));
    tsr_pass_source(plan, pass, input);
    return plan->status;
}

tsr_status tsr_lower_softmax(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    int first;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", -1), shape->rank, &first));
    int end = tsr_attr_int(node, "coerce_2d", 0) ? shape->rank : first + 1;
    int input = tsr_plan_value(plan, node->inputs[0]);
    reduction r = {.exact = false};
    for (int i = first; i < end; i++)
        r.axis[tsr_layout_axes(shape->rank)[i]] = true;
    bool others = r.axis[TSR_AXIS_N] || r.axis[TSR_AXIS_H] || r.axis[TSR_AXIS_W];
    if (r.axis[TSR_AXIS_C] && !others && tsr_plan_layout(plan, input)->tiles == 1)
        return softmax_of_texels(plan, node, input);
    int sums = lower_softmax_sums(plan, input, &r);
    tsr_pass *pass = tsr_plan_pass(plan, "softmax", tsr_plan_output(plan, node, 0));
    tsr_pass_source(plan, pass, input);
    tsr_pass_source(plan, pass, sums);
    tsr_pass_define(pass, "FOLD", r.axis[TSR_AXIS_C]);
    tsr_pass_define(pass, "COLUMNS", r.axis[TSR_AXIS_W]);
    return plan->status;
}
