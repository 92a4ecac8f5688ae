/* GridSample: parameters and shape rule. */
#include "graph/rules.h"

#include "base/error.h"

tsr_status tsr_node_grid_sample(const tsr_graph *graph, const tsr_node *node,
                                tsr_grid_sample *sample) {
    static const char *const modes[] = {"linear", "nearest", "cubic"};
    static const int taps[] = {2, 1, 4};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    int mode, padding;
    TSR_TRY(tsr_read_choice(node, "mode", modes, 3, &mode));
    TSR_TRY(tsr_read_choice(node, "padding_mode", paddings, 3, &padding));
    sample->axes = tsr_node_in(graph, node, 0)->shape.rank - 2;
    sample->taps = taps[mode];
    sample->padding = padding;
    sample->align_corners = tsr_attr_int(node, "align_corners", 0) != 0;
    return TSR_OK;
}

tsr_status tsr_infer_grid_sample(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0), *grid = tsr_node_in(graph, node, 1);
    tsr_grid_sample sample;
    TSR_TRY(tsr_node_grid_sample(graph, node, &sample));
    TSR_TRY(tsr_require_float(graph, node, 1));
    if (!tsr_dtype_is_float(grid->dtype))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "the grid is of type %s",
                        tsr_dtype_name(grid->dtype));
    TSR_TRY(tsr_require_rank(x, 3, TSR_MAX_SAMPLE_AXES + 2));
    TSR_TRY(tsr_require_rank(grid, x->shape.rank, x->shape.rank));
    const int64_t *in = x->shape.dim, *points = grid->shape.dim;
    if (points[0] != in[0] || points[sample.axes + 1] != sample.axes)
        return tsr_fail(TSR_ERROR_SHAPE,
                        "the grid has to have as many images and %d coordinates a pixel",
                        sample.axes);
    tsr_shape shape = {.rank = x->shape.rank, .dim = {in[0], in[1]}};
    for (int i = 0; i < sample.axes; i++) {
        if (in[2 + i] == 0)
            return tsr_fail(TSR_ERROR_SHAPE, "the input has no pixels");
        shape.dim[2 + i] = points[1 + i];
    }
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}
