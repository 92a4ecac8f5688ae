/* Pools: sliding windows without weights. */
#include "algorithm/algorithm.h"

static tsr_args_counted counted(const tsr_window *w) {
    bool padded = w->count_include_pad;
    return (tsr_args_counted){TSR_INT(padded ? w->pad_begin[0] : 0),
                              TSR_INT(padded ? w->pad_begin[1] : 0),
                              TSR_INT(w->in[0] + (padded ? w->pad_end[0] : 0)),
                              TSR_INT(w->in[1] + (padded ? w->pad_end[1] : 0))};
}

/* Does every window have a tap inside the image? With dilation all taps may be outside. */
static bool meets_image(const tsr_window *w, int axis) {
    bool all = true;
    for (int64_t i = 0; i < w->out[axis] && all; i++) {
        int64_t start = i * w->stride[axis] - w->pad_begin[axis], dilation = w->dilation[axis];
        int64_t tap = start < 0 ? (dilation - 1 - start) / dilation : 0; /* first one inside */
        all = tap < w->kernel[axis] && start + tap * dilation < w->in[axis];
    }
    return all;
}

/* The columns that a fragment reads. */
static int64_t row_of(const tsr_window *w, const tsr_layout *output) {
    return (output->planes - 1) * w->stride[1] + (w->kernel[1] - 1) * w->dilation[1] + 1;
}

static double fetches(const tsr_layout *l, int64_t rows, int64_t columns) {
    return (double)l->n * l->tiles * l->h * l->w * (double)(rows * columns);
}

/* ---- fragments that share a row of input ----------------------------------------------------- */

static bool estimate_row(const tsr_plan *plan, const tsr_problem *p, tsr_estimate *e) {
    const tsr_window *w = &p->pool->window;
    const tsr_layout *l = tsr_plan_layout(plan, p->output);
    int64_t row = row_of(w, l);
    if (tsr_pool_counts(p->pool->mode) || w->kernel[1] > TSR_MAX_TAPS ||
        w->kernel[0] > TSR_MAX_ROW || row > TSR_MAX_ROW || !meets_image(w, 0) || !meets_image(w, 1))
        return false;
    *e = (tsr_estimate){.cost = fetches(l, w->kernel[0], row) / l->planes,
                        .live_texels = l->planes + (int)row};
    return true;
}

static tsr_pass *lower_row(tsr_plan *plan, const tsr_problem *p) {
    const tsr_window *w = &p->pool->window;
    const tsr_layout *l = tsr_plan_layout(plan, p->output);
    tsr_plan_loops(plan, 1, 1, &w->kernel[0]);
    return TSR_PASS(plan, p->output, pool_row, .X = TSR_TENSOR(p->input),
                    .MODE = TSR_INT(p->pool->mode), .TAPS = TSR_INT(w->kernel[1]),
                    .ROW = TSR_INT(row_of(w, l)), .STRIDE = TSR_INT(w->stride[1]),
                    .DILATION = TSR_INT(w->dilation[1]), .window_y = tsr_window_args(w, 0),
                    .counted = counted(w), .pad_x = TSR_INT(w->pad_begin[1]));
}

/* ---- one pixel at a time --------------------------------------------------------------------- */

static bool estimate_any(const tsr_plan *plan, const tsr_problem *p, tsr_estimate *e) {
    enum { SLOWER = 4, LIVE = 2 }; /* each fetch needs an address and a condition */
    const tsr_window *w = &p->pool->window;
    const tsr_layout *l = tsr_plan_layout(plan, p->output);
    *e = (tsr_estimate){.cost = SLOWER * fetches(l, w->kernel[0], w->kernel[1]),
                        .live_texels = LIVE};
    return true;
}

static tsr_pass *lower_any(tsr_plan *plan, const tsr_problem *p) {
    const tsr_window *w = &p->pool->window;
    bool dilated = w->dilation[0] > 1 || w->dilation[1] > 1;
    int64_t rows = w->kernel[0] < w->in[0] ? w->kernel[0] : w->in[0],
            columns = w->kernel[1] < w->in[1] ? w->kernel[1] : w->in[1];
    tsr_plan_loops(plan, tsr_plan_layout(plan, p->output)->planes, 2, (int64_t[]){rows, columns});
    return TSR_PASS(plan, p->output, pool, .X = TSR_TENSOR(p->input),
                    .MODE = TSR_INT(p->pool->mode), .DILATED = TSR_INT(dilated),
                    .window_y = tsr_window_args(w, 0), .window_x = tsr_window_args(w, 1),
                    .counted = counted(w), .column_major = TSR_INT(p->pool->column_major));
}

/* ---- the algorithms -------------------------------------------------------------------------- */

const tsr_algorithm tsr_pool_row = {
    .name = "pool_row",
    .languages = TSR_GLSL,
    .kinds = TSR_POOL,
    .allowed_by = TSR_ALLOW_ANY,
    .estimate = estimate_row,
    .lower = lower_row,
};

const tsr_algorithm tsr_pool_any = {
    .name = "pool_any",
    .languages = TSR_GLSL | TSR_WGSL,
    .kinds = TSR_POOL,
    .allowed_by = TSR_ALLOW_ANY,
    .estimate = estimate_any,
    .lower = lower_any,
};
