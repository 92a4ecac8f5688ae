#include "gles/kernels.h"

#include "base/error.h"

#include <math.h>

/* glsl/resize.glsl's table: for each output column (row 0) and row (row 1) of which input texels it is made. */
typedef struct resize_table {
    tsr_resize resize;
    int width;
    int axis[2];          /* of columns, of rows; TSR_NONE: size 1 */
    int64_t in[2], out[2];
} resize_table;

static void fill_texel(const resize_table *t, int line, int64_t i, float *texel) {
    const tsr_resize *r = &t->resize;
    int axis = t->axis[line];
    int64_t in = t->in[line];
    if (axis == TSR_NONE)
        return;
    if (r->mode == TSR_NEAREST) {
        int64_t index = tsr_resize_nearest_index(r, axis, in, i);
        texel[0] = index < 0 ? 0 : (float)index;
        texel[3] = index < 0;
        return;
    }
    float at = tsr_resize_coordinate(r, axis, in, i), low = floorf(at), last = (float)(in - 1);
    texel[0] = fminf(fmaxf(low, 0), last);
    texel[1] = fminf(fmaxf(low + 1, 0), last);
    texel[2] = at - low;
    texel[3] = r->transform == TSR_TF_CROP_AND_RESIZE && (at < 0 || at > last);
}

static void fill_table(const void *data, float *texels) {
    const resize_table *t = data;
    for (int line = 0; line < 2; line++)
        for (int64_t i = 0; i < t->out[line]; i++)
            fill_texel(t, line, i, texels + (line * t->width + i) * 4);
}

static tsr_status check(const tsr_resize *r, const tsr_shape *shape) {
    if (r->mode == TSR_CUBIC || r->antialias)
        return tsr_fail(TSR_UNSUPPORTED, "Resize with mode cubic or antialias");
    for (int i = 0; i < shape->rank && i < 2; i++)
        if (r->out[i] != shape->dim[i] || (r->transform == TSR_TF_CROP_AND_RESIZE &&
                                           (r->roi_start[i] != 0 || r->roi_end[i] != 1)))
            return tsr_fail(TSR_UNSUPPORTED, "Resize of axis %d (images or channels) of %s", i, tsr_shape_text(shape));
    return TSR_OK;
}

tsr_status tsr_gles_resize(tsr_plan *plan, const tsr_node *node) {
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
    if (width > plan->limits.max_texture_size)
        return tsr_fail(TSR_LIMIT, "Resize to %lld rows or columns, the device allows %d", (long long)width,
                        plan->limits.max_texture_size);
    table.width = (int)width;
    resize_table *data = TSR_NEW(plan->arena, 1, resize_table);
    if (!data)
        return tsr_fail(TSR_OUT_OF_MEMORY, "no memory for the plan");
    *data = table;
    int input = tsr_plan_value(plan, node->inputs[0]);
    tsr_pass *pass = tsr_plan_pass(plan, "resize", tsr_plan_output(plan, node, 0));
    tsr_pass_source(plan, pass, input);
    tsr_pass_define(pass, "LINEAR", table.resize.mode == TSR_LINEAR);
    tsr_pass_floats(pass, "value", table.resize.extrapolation_value, 0, 0, 0);
    pass->table = fill_table;
    pass->table_data = data;
    pass->table_w = table.width;
    pass->table_h = 2;
    return plan->status;
}
