/* RoiAlign: one pass. */
#include "lower/lower.h"

#include "base/error.h"

tsr_status tsr_lower_roi_align(tsr_plan *plan, const tsr_node *node) {
    tsr_roi_align roi;
    TSR_TRY(tsr_node_roi_align(node, &roi));
    const int64_t regions = tsr_node_out(plan->graph, node, 0)->shape.dim[0];
    int input = tsr_plan_value(plan, node->inputs[0]),
        rois = tsr_lower_seen(plan, node->inputs[1], &(tsr_shape){4, {regions, 4, 1, 1}}),
        images = tsr_lower_seen(plan, node->inputs[2], &(tsr_shape){4, {regions, 1, 1, 1}}),
        output = tsr_plan_output(plan, node, 0);
    TSR_PASS(plan, output, roi_align, .X = TSR_TENSOR(input), .rois = TSR_TENSOR(rois),
             .images = TSR_TENSOR(images), .SAMPLES = TSR_INT(roi.samples),
             .LARGEST = TSR_INT(roi.largest), .HALF_PIXEL = TSR_INT(roi.half_pixel),
             .rows = TSR_INT(roi.rows), .columns = TSR_INT(roi.columns),
             .scale = TSR_FLOAT(roi.scale));
    return plan->status;
}
