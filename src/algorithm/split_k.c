/* Split-K, and arguments that many kernels have in common. */
#include "algorithm/algorithm.h"

int tsr_split_output(tsr_plan *plan, int output, int64_t count) {
    const tsr_layout l = *tsr_plan_layout(plan, output);
    const tsr_shape shape = {4, {count * l.n, l.c, l.h, l.w}};
    return count == 1
               ? output
               : tsr_plan_tensor_make(plan, &shape,
                                      (tsr_layout_hint){l.planes, l.pixel_stride, TSR_TEXEL_F32});
}

tsr_pass *tsr_split_sum(tsr_plan *plan, tsr_pass *pass, int output, int64_t count) {
    return count == 1 ? pass
                      : TSR_PASS(plan, output, split_k_sum, .X = TSR_TENSOR(pass->output),
                                 .partials = TSR_INT(count));
}

uint64_t tsr_split_bytes(const tsr_plan *plan, const tsr_layout *output, int64_t count) {
    tsr_layout whole = *output;
    whole.format = plan->limits.half_only ? TSR_TEXEL_F16 : TSR_TEXEL_F32;
    return count > 1 ? (uint64_t)count * tsr_layout_bytes(&whole) : 0;
}

int64_t tsr_busy_partials(const tsr_plan *plan, int64_t fragments, int64_t tiles) {
    enum { LEAST_TILES = 4 };
    int64_t busy = plan->device.busy_fragments / fragments, most = tiles / LEAST_TILES;
    return busy < most ? busy : most;
}

tsr_args_window tsr_window_args(const tsr_window *w, int axis) {
    return (tsr_args_window){TSR_INT(w->kernel[axis]), TSR_INT(w->stride[axis]),
                             TSR_INT(w->dilation[axis]), TSR_INT(w->pad_begin[axis])};
}

tsr_args_axes tsr_axes_args(const int values[4]) {
    return (tsr_args_axes){TSR_INT(values[0]), TSR_INT(values[1]), TSR_INT(values[2]),
                           TSR_INT(values[3])};
}
