/* Resize. */
#include "algorithm/resize.h"
#include "lower/lower.h"

#include "base/error.h"

#include <limits.h>

static tsr_status check(const tsr_resize *r, const tsr_shape *shape) {
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] > TSR_EXACT_FLOATS)
            return tsr_fail(TSR_ERROR_UNSUPPORTED,
                            "Resize of axis %d of %s: its indices are not exact in "
                            "floats",
                            i, tsr_shape_text(shape));
    for (int i = 0; i < shape->rank && i < 2; i++)
        if (!tsr_resize_keeps_axis(r, i, shape->dim[i]))
            return tsr_fail(TSR_ERROR_UNSUPPORTED, "Resize of axis %d (images or channels) of %s",
                            i, tsr_shape_text(shape));
    return TSR_OK;
}

/* The columns that a table of TSR_RESIZE_LINES rows may have. */
static int64_t longest_line(const tsr_layout_limits *limits) {
    uint64_t texels = limits->max_buffer_bytes / (TSR_RESIZE_LINES * 16);
    if (!limits->max_buffer_bytes)
        return limits->max_texture_size;
    return texels < INT_MAX / TSR_RESIZE_LINES ? (int64_t)texels : INT_MAX / TSR_RESIZE_LINES;
}

tsr_status tsr_lower_resize(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    tsr_resize_table table = {.axis = {TSR_NONE, TSR_NONE}, .in = {1, 1}, .out = {1, 1}};
    TSR_TRY(tsr_require_four_axes(tsr_node_in(plan->graph, node, 0)));
    TSR_TRY(tsr_node_resize(plan->graph, node, &table.resize));
    TSR_TRY(check(&table.resize, shape));
    for (int i = 2; i < shape->rank && i < 4; i++) {
        int line = tsr_usual_axis(shape->rank, i) == TSR_AXIS_W ? 0 : 1;
        table.axis[line] = i;
        table.in[line] = shape->dim[i];
        table.out[line] = table.resize.out[i];
    }
    for (int line = 0; line < 2; line++)
        table.taps[line] = tsr_resize_count_taps(&table.resize, table.axis[line], table.in[line]);
    int64_t width = table.out[0] > table.out[1] ? table.out[0] : table.out[1];
    int64_t limit = longest_line(&plan->limits);
    if (width > limit)
        return tsr_fail(TSR_ERROR_LIMIT, "Resize to %lld rows or columns, the device allows %lld",
                        (long long)width, (long long)limit);
    table.width = (int)width;
    int input = tsr_plan_value(plan, node->inputs[0]), output = tsr_plan_output(plan, node, 0);
    const tsr_problem problem = {
        .kind = TSR_RESIZE, .node = node, .input = input, .output = output, .resize = &table};
    tsr_lower_problem(plan, &problem);
    return plan->status;
}
