/* Volumes, whose depths lie one below the other in a tensor's rows: as images of one depth each,
 * and back. */
#include "lower/lower.h"

tsr_window tsr_flat_window(const tsr_window *window) {
    tsr_window flat = *window;
    flat.spatial_rank = 2;
    flat.in[TSR_DEPTH] = flat.out[TSR_DEPTH] = 1;
    flat.kernel[TSR_DEPTH] = flat.stride[TSR_DEPTH] = flat.dilation[TSR_DEPTH] = 1;
    flat.pad_begin[TSR_DEPTH] = flat.pad_end[TSR_DEPTH] = 0;
    return flat;
}

static int gather_taps(tsr_plan *plan, int volume, const tsr_window *w, int64_t out_depth,
                       const tsr_args_window *window_z, int64_t taps) {
    const tsr_layout *l = tsr_plan_layout(plan, volume);
    const tsr_shape shape = {4,
                             {l->n * out_depth, l->c * taps, w->in[TSR_ROWS], w->in[TSR_COLUMNS]}};
    int images = tsr_plan_tensor_computed(plan, &shape, volume);
    TSR_PASS(plan, images, depth_taps, .X = TSR_TENSOR(volume), .WHOLE = TSR_INT(taps == 1),
             .window_z = *window_z, .depth = TSR_INT(w->in[TSR_DEPTH]),
             .out_depth = TSR_INT(out_depth));
    return images;
}

int tsr_lower_depth_images(tsr_plan *plan, int volume, const tsr_window *window) {
    const tsr_args_window one = {TSR_INT(1), TSR_INT(1), TSR_INT(1), TSR_INT(0)};
    return gather_taps(plan, volume, window, window->in[TSR_DEPTH], &one, 1);
}

int tsr_lower_depth_taps(tsr_plan *plan, int volume, const tsr_window *window) {
    const tsr_args_window along = tsr_window_args(window, TSR_DEPTH);
    return gather_taps(plan, volume, window, window->out[TSR_DEPTH], &along,
                       window->kernel[TSR_DEPTH]);
}
