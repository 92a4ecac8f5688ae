/* One texel at a time: for every stride, dilation and group, if nothing faster applies. */
#include "algorithm/block_weights.h"

/* Each output texel fetches its weights and inputs separately. */
static double product_cost(const tsr_plan *plan) {
    enum { SLOWER = 4 };
    return SLOWER * (plan->device.software ? TSR_PRODUCT : TSR_GPU_TEXTURE_PRODUCT);
}

static bool estimate(const tsr_plan *plan, const tsr_problem *p, tsr_estimate *e) {
    enum { LIVE = 1 + 1 + 4 }; /* sum, input, weights */
    *e = (tsr_estimate){.cost = tsr_problem_products(plan, p) * product_cost(plan),
                        .live_texels = LIVE,
                        .passes = 2};
    return true;
}

static tsr_pass *lower_depthwise(tsr_plan *plan, const tsr_problem *p, int output) {
    const tsr_window *w = &p->conv.window;
    tsr_conv_weights weights = tsr_pack_conv_weights(plan, &p->conv, 1, (int)w->kernel[1], true);
    tsr_pass *pass =
        TSR_PASS(plan, output, conv_depthwise, .X = TSR_TENSOR(p->input),
                 .S = tsr_scales_arg(&p->conv), .ZEROS = TSR_INT(tsr_zeros_of_texels(&p->conv)),
                 .window_y = tsr_window_args(w, 0), .window_x = tsr_window_args(w, 1));
    return tsr_pass_conv_weights(plan, pass, &weights);
}

static tsr_pass *lower_conv(tsr_plan *plan, const tsr_problem *p, int output) {
    const tsr_window *w = &p->conv.window;
    tsr_conv_weights weights = tsr_pack_conv_weights(plan, &p->conv, 1, (int)w->kernel[1], false);
    tsr_pass *pass =
        TSR_PASS(plan, output, conv_any, .X = TSR_TENSOR(p->input), TSR_SCALE_FIELDS(&p->conv),
                 .SHARED = TSR_INT(tsr_shares_texels(&p->conv)), .window_y = tsr_window_args(w, 0),
                 .window_x = tsr_window_args(w, 1), .channels = tsr_conv_channels(&weights));
    pass = tsr_pass_conv_weights(plan, pass, &weights);
    tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 3,
                   (int64_t[]){weights.tiles, w->kernel[0], w->kernel[1]});
    return pass;
}

static tsr_pass *lower_transposed(tsr_plan *plan, const tsr_problem *p, int output) {
    const tsr_window *w = &p->conv.window;
    int64_t step[2];
    tsr_phase_steps(w, step);
    tsr_conv_weights weights = tsr_pack_conv_weights(plan, &p->conv, 1, (int)w->kernel[1], false);
    tsr_pass *pass = TSR_PASS(
        plan, output, conv_transpose_any, .X = TSR_TENSOR(p->input), TSR_SCALE_FIELDS(&p->conv),
        .SHARED = TSR_INT(tsr_shares_texels(&p->conv)), .window_y = tsr_window_args(w, 0),
        .window_x = tsr_window_args(w, 1), .step_y = TSR_INT(step[0]), .step_x = TSR_INT(step[1]),
        .channels = tsr_conv_channels(&weights));
    pass = tsr_pass_conv_weights(plan, pass, &weights);
    tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 3,
                   (int64_t[]){weights.tiles, (w->kernel[0] - 1) / step[0] + 1,
                               (w->kernel[1] - 1) / step[1] + 1});
    return pass;
}

static tsr_pass *lower(tsr_plan *plan, const tsr_problem *p) {
    int output = tsr_problem_output(plan, p, 1);
    if (p->kind == TSR_CONV_TRANSPOSE)
        return lower_transposed(plan, p, output);
    bool depthwise = plan->device.language == TSR_WGSL && tsr_is_depthwise(&p->conv);
    return depthwise ? lower_depthwise(plan, p, output) : lower_conv(plan, p, output);
}

static tsr_pass *lower_matmul(tsr_plan *plan, const tsr_problem *p) {
    int output = tsr_problem_output(plan, p, 1);
    tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 1, &p->inner);
    return TSR_PASS(plan, output, matmul, .A = TSR_TENSOR(p->input), .B = TSR_TENSOR(p->right),
                    .RANK = TSR_INT(p->rank), .inner = TSR_INT(p->inner));
}

const tsr_algorithm tsr_conv_any = {
    .name = "conv_any",
    .languages = TSR_GLSL | TSR_WGSL,
    .kinds = TSR_CONV | TSR_CONV_TRANSPOSE,
    .allowed_by = TSR_ALLOW_ANY,
    .estimate = estimate,
    .lower = lower,
};

const tsr_algorithm tsr_matmul_any = {
    .name = "matmul_any",
    .languages = TSR_GLSL | TSR_WGSL,
    .kinds = TSR_MATMUL,
    .allowed_by = TSR_ALLOW_ANY,
    .estimate = estimate,
    .lower = lower_matmul,
};
