/* GridSample: one pass. */
#include "lower/lower.h"

#include "base/error.h"

/* The places of an image's points, as its kernel reads them: those of columns in the channels,
 * those of rows and columns as an image, those of volumes with rows and columns in one axis. */
static int see_grid(tsr_plan *plan, const tsr_node *node, int axes) {
    const int64_t *dim = tsr_node_in(plan->graph, node, 1)->shape.dim;
    const tsr_shape columns = {4, {dim[0], dim[1], 1, 1}},
                    volume = {4, {dim[0], dim[1], dim[2] * dim[3], axes}};
    if (axes == 2)
        return tsr_plan_value(plan, node->inputs[1]);
    return tsr_lower_seen(plan, node->inputs[1], axes == 1 ? &columns : &volume);
}

tsr_status tsr_lower_grid_sample(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *in = &tsr_node_in(plan->graph, node, 0)->shape,
                    *out = &tsr_node_out(plan->graph, node, 0)->shape;
    tsr_grid_sample sample;
    TSR_TRY(tsr_node_grid_sample(plan->graph, node, &sample));
    int input = tsr_plan_value(plan, node->inputs[0]), grid = see_grid(plan, node, sample.axes),
        output = tsr_plan_output(plan, node, 0);
    TSR_PASS(plan, output, grid_sample, .X = TSR_TENSOR(input), .grid = TSR_TENSOR(grid),
             .TAPS = TSR_INT(sample.taps), .PADDING = TSR_INT(sample.padding),
             .ALIGN_CORNERS = TSR_INT(sample.align_corners), .AXES = TSR_INT(sample.axes),
             .depth = TSR_INT(sample.axes > 2 ? in->dim[in->rank - 3] : 1),
             .height = TSR_INT(sample.axes > 1 ? in->dim[in->rank - 2] : 1),
             .out_height = TSR_INT(sample.axes > 1 ? out->dim[out->rank - 2] : 1));
    return plan->status;
}
