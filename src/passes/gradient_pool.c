/* Gradients of pools. */
#include "passes/gradient_window.h"

#include "base/error.h"

#include <string.h>

/* To the first of the largest elements of each window. */
void tsr_gradient_max_pool(tsr_gradient_call *g) {
    tsr_window window;
    const int inputs[] = {g->x, g->dy};
    tsr_attr attrs[TSR_GRAD_WINDOW_ATTRS];
    if (!tsr_grad_read_window(g, &window))
        return;
    bool given = strcmp(tsr_attr_string(g->node, "auto_pad", "NOTSET"), "NOTSET") == 0;
    int count = tsr_grad_window_attrs(g, &window, attrs);
    attrs[count++] = tsr_int_attr("ceil_mode", given && window.ceil_mode);
    tsr_grad_give(g, 0, tsr_build_with(&g->b, TSR_OP_MaxPoolGrad, 2, inputs, count, attrs));
}

/* ---- AveragePool ---- */

/* Taps of a window that begins at `origin` which lie before `end`. */
static int64_t taps_before(const tsr_window *w, int axis, int64_t origin, int64_t end) {
    int64_t count = origin >= end ? 0 : (end - origin - 1) / w->dilation[axis] + 1;
    return count < w->kernel[axis] ? count : w->kernel[axis];
}

/* Taps of the window with index i that an average divides by: those on the input, or with
 * count_include_pad those on its padding, too; with ceil_mode there may be more, which never
 * count. */
static int64_t count_taps(const tsr_window *w, int axis, int64_t i) {
    int64_t origin = i * w->stride[axis] - w->pad_begin[axis],
            begin = w->count_include_pad ? -w->pad_begin[axis] : 0,
            end = w->in[axis] + (w->count_include_pad ? w->pad_end[axis] : 0);
    return taps_before(w, axis, origin, end) - taps_before(w, axis, origin, begin);
}

/* 1 / taps of each window as a constant [1, 1, out...]; TSR_NONE if all are *factor. */
static int build_factors(tsr_gradient_call *g, const tsr_window *w, float *factor) {
    tsr_shape shape = {.rank = 2 + w->spatial_rank, .dim = {1, 1}};
    bool same = true;
    for (int i = 0; i < w->spatial_rank; i++)
        shape.dim[2 + i] = w->out[tsr_window_axis(w, i)];
    int64_t count = tsr_shape_count(&shape);
    float *factors = tsr_build_elements(&g->b, count, sizeof *factors);
    if (!factors)
        return TSR_NONE;
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, taps = 1;
        for (int k = w->spatial_rank - 1; k >= 0; k--) {
            int axis = tsr_window_axis(w, k);
            taps *= count_taps(w, axis, rest % w->out[axis]);
            rest /= w->out[axis];
        }
        factors[i] = taps ? 1 / (float)taps : 0;
        same = same && factors[i] == factors[0];
    }
    *factor = same && count ? factors[0] : 1;
    return same ? TSR_NONE : tsr_build_floats(&g->b, &shape, factors);
}

/* Each channel by a window of ones of its own. */
void tsr_gradient_average_pool(tsr_gradient_call *g) {
    tsr_window window;
    float factor = 1;
    if (!tsr_grad_read_window(g, &window))
        return;
    int factors = build_factors(g, &window, &factor);
    tsr_shape shape = {.rank = 2 + window.spatial_rank, .dim = {tsr_grad_shape(g, g->x).dim[1], 1}};
    for (int i = 0; i < window.spatial_rank; i++)
        shape.dim[2 + i] = window.kernel[tsr_window_axis(&window, i)];
    int64_t count = tsr_shape_count(&shape);
    float *ones = tsr_build_elements(&g->b, count, sizeof *ones);
    if (!ones)
        return;
    for (int64_t i = 0; i < count; i++)
        ones[i] = factor;
    window.group = shape.dim[0];
    int dy = factors == TSR_NONE ? g->dy : TSR_GRAD(g, Mul, g->dy, factors);
    tsr_grad_give(g, 0, tsr_grad_slide_back(g, &window, dy, tsr_build_floats(&g->b, &shape, ones)));
}

/* ---- of whole images ---- */

void tsr_gradient_global_average_pool(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    float pixels = (float)tsr_dim_product(&shape, 2, shape.rank);
    tsr_grad_give(g, 0, tsr_grad_scale(g, g->dy, 1 / pixels));
}

/* The largest elements share. */
void tsr_gradient_global_max_pool(tsr_gradient_call *g) {
    static const int64_t spatial[TSR_MAX_RANK - 2] = {2, 3, 4, 5, 6, 7};
    tsr_grad_share(g, g->y, g->dy, tsr_grad_shape(g, g->x).rank - 2, spatial);
}
