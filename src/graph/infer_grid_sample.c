/* GridSample: parameters and shape rule. */
#include "graph/rules.h"

#include "base/error.h"

tsr_status tsr_node_grid_sample(const tsr_node *node, tsr_grid_sample *sample) {
    static const char *const modes[] = {"linear", "nearest", "cubic"};
    static const int taps[] = {2, 1, 4};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    int mode, padding;
    TSR_TRY(tsr_read_choice(node, "mode", modes, 3, &mode));
    TSR_TRY(tsr_read_choice(node, "padding_mode", paddings, 3, &padding));
    sample->taps = taps[mode];
    sample->padding = padding;
    sample->align_corners = tsr_attr_int(node, "align_corners", 0) != 0;
    return TSR_OK;
}

tsr_status tsr_infer_grid_sample(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0), *grid = tsr_node_in(graph, node, 1);
    tsr_grid_sample sample;
    TSR_TRY(tsr_node_grid_sample(node, &sample));
    TSR_TRY(tsr_require_float(graph, node, 1));
    if (!tsr_dtype_is_float(grid->dtype))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "the grid is of type %s",
                        tsr_dtype_name(grid->dtype));
    if (x->shape.rank == 5)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "3 spatial axes are not supported, only 2");
    TSR_TRY(tsr_require_rank(x, 4, 4));
    TSR_TRY(tsr_require_rank(grid, 4, 4));
    const int64_t *in = x->shape.dim, *points = grid->shape.dim;
    if (points[0] != in[0] || points[3] != 2)
        return tsr_fail(TSR_ERROR_SHAPE,
                        "the grid has to have as many images and 2 coordinates a pixel");
    if (in[2] == 0 || in[3] == 0)
        return tsr_fail(TSR_ERROR_SHAPE, "the input has no pixels");
    const tsr_shape shape = {4, {in[0], in[1], points[1], points[2]}};
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}
