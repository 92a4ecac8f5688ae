/* Transpose. A view of a tensor is read as the tensor lies, where each axis of this is some of the
 * view's: as the heads that Reshape makes of the last axis are for attention. */
#include "lower/lower.h"

#include "base/error.h"

/* For each axis of a view: the tensor's axis that it is part of, and its step there. */
typedef struct view_axes {
    int axis[4];
    int64_t step[4];
} view_axes;

/* False if the tensor's axes are not products of the view's. Both hold elements in row-major order.
 */
static bool find_axes(const tsr_layout *l, const tsr_shape *view, view_axes *axes) {
    const int sizes[4] = {l->n, l->c, l->h, l->w};
    int a = TSR_AXIS_W;
    int64_t step = 1;
    for (int i = view->rank - 1; i >= 0; i--) {
        while (a > TSR_AXIS_N && step == sizes[a]) {
            a--;
            step = 1;
        }
        axes->axis[i] = a;
        axes->step[i] = step;
        step *= view->dim[i];
        if (sizes[a] % step != 0)
            return false;
    }
    return true;
}

/* steps: by axis of the tensor, of the output. Are channels those of the tensor, and nothing else?
 */
static bool keeps_channels(int steps[4][4]) {
    bool keeps = true;
    for (int i = 0; i < 4; i++)
        keeps = keeps && steps[TSR_AXIS_C][i] == (i == TSR_AXIS_C) &&
                (i == TSR_AXIS_C || steps[i][TSR_AXIS_C] == 0);
    return keeps;
}

/* False if the input's tensor does not lie so that one pass can read it. */
static bool read_as_is(tsr_plan *plan, const tsr_node *node, int input, const int *out_axis) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    view_axes axes = {0}; /* GCC 12 takes it for unset in a release build */
    int steps[4][4] = {{0}};
    if (!find_axes(tsr_plan_layout(plan, input), shape, &axes))
        return false;
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] > 1)
            steps[axes.axis[i]][tsr_usual_axis(shape->rank, out_axis[i])] = (int)axes.step[i];
    int output = tsr_plan_output(plan, node, 0);
    TSR_PASS(plan, output, transpose_view, .X = TSR_TENSOR(input),
             .WHOLE = TSR_INT(keeps_channels(steps)), .to_n = tsr_axes_args(steps[TSR_AXIS_N]),
             .to_c = tsr_axes_args(steps[TSR_AXIS_C]), .to_h = tsr_axes_args(steps[TSR_AXIS_H]),
             .to_w = tsr_axes_args(steps[TSR_AXIS_W]));
    return true;
}

tsr_status tsr_lower_transpose(tsr_plan *plan, const tsr_node *node) {
    const tsr_value *in = tsr_node_in(plan->graph, node, 0);
    const int rank = in->shape.rank, input = tsr_plan_value_as_is(plan, node->inputs[0]);
    const tsr_shape usual = tsr_layout_fold(&in->shape, tsr_layout_channel_axis(rank));
    int64_t perm[TSR_MAX_RANK];
    tsr_strided_copy copy = tsr_identity_copy(rank);
    TSR_TRY(tsr_require_four_axes(in));
    TSR_TRY(plan->status);
    tsr_node_perm(node, rank, perm);
    for (int i = 0; i < rank; i++)
        copy.source_axis[perm[i]] = i;
    if (!tsr_plan_is_seen_as(plan, input, &usual) &&
        read_as_is(plan, node, input, copy.source_axis))
        return plan->status;
    tsr_lower_strided_copy(plan, tsr_plan_value(plan, node->inputs[0]),
                           tsr_plan_output(plan, node, 0), &copy);
    return plan->status;
}
