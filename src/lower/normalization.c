/* InstanceNormalization. BatchNormalization is folded or rewritten by src/passes. */
#include "lower/reduction.h"

/* One workgroup takes the last ones: others are idle then, but a pass more would cost more. */
static int64_t choose_texels(const tsr_plan *plan, const tsr_layout *l) {
    enum { LAST_TEXELS = 1024 };
    int64_t texels = tsr_reduction_texels(plan, l, &tsr_over_image);
    bool last = plan->device.workgroups && (int64_t)l->h * l->w <= LAST_TEXELS;
    return last && texels < LAST_TEXELS ? LAST_TEXELS : texels;
}

/* Mean and variance over rows and columns, 32 bits: a tensor of two columns. */
static int lower_moments(tsr_plan *plan, int input) {
    const tsr_layout image = *tsr_plan_layout(plan, input);
    tsr_layout blocks = image; /* of the source, a pair of columns being one */
    int source = input;
    int64_t rows = 1, columns = 1; /* of the image, that one of them is */
    tsr_reduction_step step = {.last = false};
    while (!step.last && plan->status == TSR_OK) {
        step = tsr_reduction_next(plan, &blocks, &tsr_over_image, choose_texels(plan, &blocks));
        int result = tsr_reduction_pairs(plan, &step);
        const tsr_args_extent block =
                                  tsr_extent_args(step.block[TSR_AXIS_H], step.block[TSR_AXIS_W]),
                              pixel = tsr_extent_args(rows, columns),
                              size = tsr_extent_args(image.h, image.w),
                              source_size = tsr_extent_args(blocks.h, blocks.w);
        const tsr_int_arg pairs = TSR_INT(source != input);
        const tsr_float_arg factor =
            TSR_FLOAT(step.last ? 1 / ((float)image.h * (float)image.w) : 1);
        tsr_pass *pass = step.by_groups
                             ? TSR_PASS(plan, result, moments_group, .X = TSR_TENSOR(source),
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
    return source;
}

/* y = scale * (x - mean) / sqrt(variance + epsilon) + bias, mean and variance over one channel of
 * one image. */
tsr_status tsr_lower_instance_normalization(tsr_plan *plan, const tsr_node *node) {
    int input = tsr_plan_value(plan, node->inputs[0]), moments = lower_moments(plan, input),
        output = tsr_plan_output(plan, node, 0);
    tsr_pass *pass =
        TSR_PASS(plan, output, normalize, .X = TSR_TENSOR(input), .moments = TSR_TENSOR(moments),
                 .epsilon = TSR_FLOAT(tsr_attr_float(node, "epsilon", 1e-5f)));
    tsr_lower_per_channel(plan, pass, TSR_OP_Mul, node, 1);
    tsr_lower_per_channel(plan, pass, TSR_OP_Add, node, 2);
    return plan->status;
}
