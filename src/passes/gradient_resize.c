/* The gradient of Resize: along each axis the transpose of the matrix that interpolates. */
#include "passes/gradient_rules.h"

#include "base/error.h"
#include "graph/infer.h"

/* Adds what output index i takes of each element of an axis. matrix: [in, out], zeroed. */
static void fill_column(const tsr_resize *resize, int axis, int64_t in, int64_t i, float *matrix) {
    int64_t out = resize->out[axis], index;
    if (resize->mode == TSR_NEAREST) {
        index = tsr_resize_nearest_index(resize, axis, in, i);
        if (index >= 0)
            matrix[index * out + i] = 1;
        return;
    }
    if (resize->transform == TSR_TF_CROP_AND_RESIZE && tsr_resize_is_outside(resize, axis, in, i))
        return;
    if (tsr_resize_is_filtered(resize, axis)) {
        tsr_resize_filter filter = tsr_resize_filter_at(resize, axis, in, i);
        for (int64_t k = 0; k < filter.count; k++) {
            float weight = (float)tsr_resize_filter_tap(resize, &filter, k, &index);
            matrix[index * out + i] += weight;
        }
        return;
    }
    tsr_resize_taps taps = tsr_resize_taps_at(resize, axis, in, i);
    for (int k = 0; k < taps.count; k++)
        matrix[taps.index[k] * out + i] += (float)taps.weight[k];
}

static bool keeps_axis(const tsr_resize *resize, int axis, int64_t in) {
    bool same = in == resize->out[axis] && !tsr_resize_is_filtered(resize, axis);
    for (int64_t i = 0; same && i < in; i++)
        same = resize->mode == TSR_NEAREST ? tsr_resize_nearest_index(resize, axis, in, i) == i
                                           : tsr_resize_coordinate(resize, axis, in, i) == (float)i;
    return same;
}

void tsr_gradient_resize(tsr_gradient_call *g) {
    tsr_resize resize;
    const tsr_shape shape = tsr_grad_shape(g, g->x);
    int value = g->dy;
    tsr_build_fail(&g->b, tsr_node_resize(g->b.graph, g->node, &resize));
    for (int axis = shape.rank - 1; axis >= 0 && g->b.status == TSR_OK; axis--) {
        int64_t in = shape.dim[axis], out = resize.out[axis];
        if (keeps_axis(&resize, axis, in))
            continue;
        float *matrix = tsr_build_elements(&g->b, in * out, sizeof *matrix);
        for (int64_t i = 0; matrix && i < out; i++)
            fill_column(&resize, axis, in, i, matrix);
        value = tsr_grad_apply_matrix(g, value, axis, in, matrix);
    }
    tsr_grad_give(g, 0, value);
}
