/* RoiAlign: parameters and shape rule. */
#include "graph/rules.h"

#include "base/error.h"

tsr_status tsr_node_roi_align(const tsr_node *node, tsr_roi_align *roi) {
    static const char *const modes[] = {"avg", "max"};
    static const char *const transformations[] = {"half_pixel", "output_half_pixel"};
    int mode, transformation;
    TSR_TRY(tsr_read_choice(node, "mode", modes, 2, &mode));
    TSR_TRY(tsr_read_choice(node, "coordinate_transformation_mode", transformations, 2,
                            &transformation));
    int64_t samples = tsr_attr_int(node, "sampling_ratio", 0),
            rows = tsr_attr_int(node, "output_height", 1),
            columns = tsr_attr_int(node, "output_width", 1);
    if (samples < 0 || samples > TSR_MAX_ROI_SAMPLES)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "attribute \"sampling_ratio\" is %lld, not 0 to %d",
                        (long long)samples, TSR_MAX_ROI_SAMPLES);
    if (rows < 1 || columns < 1 || rows > TSR_MAX_DIM || columns > TSR_MAX_DIM)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "an output of %lld x %lld", (long long)rows,
                        (long long)columns);
    *roi = (tsr_roi_align){.samples = (int)samples,
                           .largest = mode == 1,
                           .half_pixel = transformation == 0,
                           .rows = rows,
                           .columns = columns,
                           .scale = tsr_attr_float(node, "spatial_scale", 1)};
    return TSR_OK;
}

tsr_status tsr_infer_roi_align(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0), *rois = tsr_node_in(graph, node, 1),
                    *images = tsr_node_in(graph, node, 2);
    tsr_roi_align roi;
    TSR_TRY(tsr_node_roi_align(node, &roi));
    TSR_TRY(tsr_require_float(graph, node, 2));
    TSR_TRY(tsr_require_rank(x, 4, 4));
    TSR_TRY(tsr_require_rank(rois, 2, 2));
    TSR_TRY(tsr_require_vector(images, rois->shape.dim[0]));
    if (images->dtype != TSR_DTYPE_I64)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "numbers of images of type %s",
                        tsr_dtype_name(images->dtype));
    if (rois->shape.dim[1] != 4)
        return tsr_fail(TSR_ERROR_SHAPE, "regions of shape %s, not of 4 coordinates",
                        tsr_shape_text(&rois->shape));
    if (x->shape.dim[0] == 0 || x->shape.dim[2] == 0 || x->shape.dim[3] == 0)
        return tsr_fail(TSR_ERROR_SHAPE, "the input has no pixels");
    const tsr_shape shape = {4, {rois->shape.dim[0], x->shape.dim[1], roi.rows, roi.columns}};
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}
