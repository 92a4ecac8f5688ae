/* A texel at a time: for every stride, dilation and group, where nothing faster applies. */
#include "algorithm/algorithm.h"

tsr_pass *tsr_conv_any(tsr_plan *plan, const tsr_convolution *conv, int input, int output) {
    const tsr_window *w = &conv->window;
    if (plan->language == TSR_WGSL && tsr_is_depthwise(conv)) {
        tsr_conv_weights weights = tsr_pack_conv_weights(plan, conv, 1, (int)w->kernel[1], true);
        tsr_pass *pass =
            TSR_PASS(plan, output, conv_depthwise, .X = TSR_TENSOR(input),
                     .window_y = tsr_window_args(w, 0), .window_x = tsr_window_args(w, 1));
        tsr_pass_conv_weights(plan, pass, &weights);
        return pass;
    }
    tsr_conv_weights weights = tsr_pack_conv_weights(plan, conv, 1, (int)w->kernel[1], false);
    tsr_pass *pass =
        TSR_PASS(plan, output, conv_any, .X = TSR_TENSOR(input), .window_y = tsr_window_args(w, 0),
                 .window_x = tsr_window_args(w, 1), .channels = tsr_conv_channels(&weights));
    tsr_pass_conv_weights(plan, pass, &weights);
    tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 3,
                   (int64_t[]){weights.tiles, w->kernel[0], w->kernel[1]});
    return pass;
}

tsr_pass *tsr_conv_transpose_any(tsr_plan *plan, const tsr_convolution *conv, int input,
                                 const tsr_node *node) {
    const tsr_window *w = &conv->window;
    int output = tsr_plan_output(plan, node, 0);
    int64_t step[2];
    tsr_phase_steps(w, step);
    tsr_conv_weights weights = tsr_pack_conv_weights(plan, conv, 1, (int)w->kernel[1], false);
    tsr_pass *pass = TSR_PASS(plan, output, conv_transpose_any, .X = TSR_TENSOR(input),
                              .window_y = tsr_window_args(w, 0), .window_x = tsr_window_args(w, 1),
                              .step_y = TSR_INT(step[0]), .step_x = TSR_INT(step[1]),
                              .channels = tsr_conv_channels(&weights));
    tsr_pass_conv_weights(plan, pass, &weights);
    tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 3,
                   (int64_t[]){weights.tiles, (w->kernel[0] - 1) / step[0] + 1,
                               (w->kernel[1] - 1) / step[1] + 1});
    return pass;
}

tsr_pass *tsr_matmul_any(tsr_plan *plan, int a, int b, int rank, int64_t inner, int output) {
    tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 1, &inner);
    return TSR_PASS(plan, output, matmul, .A = TSR_TENSOR(a), .B = TSR_TENSOR(b),
                    .RANK = TSR_INT(rank), .inner = TSR_INT(inner));
}
