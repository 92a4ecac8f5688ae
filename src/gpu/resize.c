#include "gpu/lower.h"

#include "base/error.h"

#include <limits.h>

enum { ROWS = 4 };

/* glsl/resize.glsl's table: of which input columns each output column is made (row 0), with which
 * weights (row 1); the same for rows (rows 2 and 3). */
typedef struct resize_table {
    tsr_resize resize;
    int width;
    int axis[2]; /* of columns, of rows; TSR_NONE: size 1 */
    int64_t in[2], out[2];
} resize_table;

/* A first index below 0: outside. */
static void fill_texels(const resize_table *t, int line, int64_t i, float *indices,
                        float *weights) {
    const tsr_resize *r = &t->resize;
    int axis = t->axis[line];
    int64_t in = t->in[line];
    weights[0] = 1;
    if (axis == TSR_NONE)
        return;
    if (r->mode == TSR_NEAREST) {
        indices[0] = (float)tsr_resize_nearest_index(r, axis, in, i);
        return;
    }
    tsr_resize_taps taps = tsr_resize_taps_at(r, axis, in, i);
    for (int k = 0; k < taps.count; k++) {
        indices[k] = (float)taps.index[k];
        weights[k] = (float)taps.weight[k];
    }
    if (tsr_resize_is_outside(r, axis, in, i))
        indices[0] = -1;
}

static void fill_table(const void *data, float *texels) {
    const resize_table *t = data;
    for (int line = 0; line < 2; line++) {
        float *indices = texels + (int64_t)2 * line * t->width * 4,
              *weights = indices + (int64_t)t->width * 4;
        for (int64_t i = 0; i < t->out[line]; i++)
            fill_texels(t, line, i, indices + i * 4, weights + i * 4);
    }
}

/* Is the axis as long as before, each element where it was? */
static bool keeps_axis(const tsr_resize *r, int axis, int64_t in) {
    bool kept = r->out[axis] == in;
    for (int64_t i = 0; i < in && kept; i++)
        kept = in == 1 ? !tsr_resize_is_outside(r, axis, in, i)
                       : tsr_resize_coordinate(r, axis, in, i) == (float)i;
    return kept;
}

static tsr_status check(const tsr_resize *r, const tsr_shape *shape) {
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] > TSR_EXACT_FLOATS)
            return tsr_fail(TSR_UNSUPPORTED,
                            "Resize of axis %d of %s: its indices are not exact in "
                            "floats",
                            i, tsr_shape_text(shape));
    for (int i = 0; i < shape->rank && i < 2; i++)
        if (!keeps_axis(r, i, shape->dim[i]))
            return tsr_fail(TSR_UNSUPPORTED, "Resize of axis %d (images or channels) of %s", i,
                            tsr_shape_text(shape));
    return TSR_OK;
}

/* The columns that a table of ROWS rows may have. */
static int64_t longest_line(const tsr_layout_limits *limits) {
    uint64_t texels = limits->max_buffer_bytes / (ROWS * 16);
    if (!limits->max_buffer_bytes)
        return limits->max_texture_size;
    return texels < INT_MAX / ROWS ? (int64_t)texels : INT_MAX / ROWS;
}

tsr_status tsr_lower_resize(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    resize_table table = {.axis = {TSR_NONE, TSR_NONE}, .in = {1, 1}, .out = {1, 1}};
    TSR_TRY(tsr_node_resize(plan->graph, node, &table.resize));
    TSR_TRY(check(&table.resize, shape));
    for (int i = 2; i < shape->rank && i < 4; i++) {
        int line = tsr_layout_axes(shape->rank)[i] == TSR_AXIS_W ? 0 : 1;
        table.axis[line] = i;
        table.in[line] = shape->dim[i];
        table.out[line] = table.resize.out[i];
    }
    int64_t width = table.out[0] > table.out[1] ? table.out[0] : table.out[1];
    int64_t limit = longest_line(&plan->limits);
    if (width > limit)
        return tsr_fail(TSR_LIMIT, "Resize to %lld rows or columns, the device allows %lld",
                        (long long)width, (long long)limit);
    table.width = (int)width;
    int input = tsr_plan_value(plan, node->inputs[0]);
    tsr_pass *pass = tsr_plan_pass(plan, "resize", tsr_plan_output(plan, node, 0));
    tsr_pass_source(plan, pass, input);
    tsr_pass_define(pass, "TAPS",
                    table.resize.mode == TSR_NEAREST  ? 1
                    : table.resize.mode == TSR_LINEAR ? 2
                                                      : 4);
    tsr_pass_floats(pass, "value", table.resize.extrapolation_value, 0, 0, 0);
    tsr_pass_table(plan, pass, fill_table, &table, sizeof table);
    pass->table_w = table.width;
    pass->table_h = ROWS;
    return plan->status;
}
