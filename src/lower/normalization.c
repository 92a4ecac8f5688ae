/* InstanceNormalization. BatchNormalization is folded or rewritten by src/passes. */
#include "lower/reduction.h"

/* One workgroup takes the last ones: others are idle then, but a pass more would cost more. */
static int64_t choose_texels(const tsr_plan *plan, const tsr_layout *l, const tsr_reduction *r) {
    enum { LAST_TEXELS = 1024 };
    int64_t texels = tsr_reduction_texels(plan, l, r);
    bool last = r->workgroups && (int64_t)l->h * l->w <= LAST_TEXELS;
    return last && texels < LAST_TEXELS ? LAST_TEXELS : texels;
}

/* Mean and variance over rows and columns, 32 bits: a tensor of two columns. */
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
        int result = tsr_reduction_pairs(plan, &step);
        const tsr_args_extent block =
                                  tsr_extent_args(step.block[TSR_AXIS_H], step.block[TSR_AXIS_W]),
                              pixel = tsr_extent_args(rows, columns),
                              size = tsr_extent_args(image.h, image.w),
                              source_size = tsr_extent_args(blocks.h, blocks.w);
        const tsr_int_arg pairs = TSR_INT(source != p->input);
        const tsr_float_arg factor =
            TSR_FLOAT(step.last ? 1 / ((float)image.h * (float)image.w) : 1);
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
    int input = tsr_plan_value(plan, node->inputs[0]);
    int moments = tsr_lower_reduction(plan, node, input, reduce_moments)->output,
        output = tsr_plan_output(plan, node, 0);
    tsr_pass *pass =
        TSR_PASS(plan, output, normalize, .X = TSR_TENSOR(input), .moments = TSR_TENSOR(moments),
                 .epsilon = TSR_FLOAT(tsr_attr_float(node, "epsilon", 1e-5f)));
    tsr_lower_per_channel(plan, pass, TSR_OP_Mul, node, 1);
    tsr_lower_per_channel(plan, pass, TSR_OP_Add, node, 2);
    return plan->status;
}
