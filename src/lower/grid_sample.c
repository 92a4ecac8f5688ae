/* GridSample: one pass. */
#include "lower/lower.h"

#include "base/error.h"

tsr_status tsr_lower_grid_sample(tsr_plan *plan, const tsr_node *node) {
    tsr_grid_sample sample;
    TSR_TRY(tsr_node_grid_sample(node, &sample));
    int input = tsr_plan_value(plan, node->inputs[0]), grid = tsr_plan_value(plan, node->inputs[1]),
        output = tsr_plan_output(plan, node, 0);
    TSR_PASS(plan, output, grid_sample, .X = TSR_TENSOR(input), .grid = TSR_TENSOR(grid),
             .TAPS = TSR_INT(sample.taps), .PADDING = TSR_INT(sample.padding),
             .ALIGN_CORNERS = TSR_INT(sample.align_corners));
    return plan->status;
}
