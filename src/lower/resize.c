/* Resize: rows and columns of images in one pass, a filtered axis in a pass of its own. Further
 * axes are resized one at a time, seen as the rows of images. */
#include "algorithm/resize.h"
#include "lower/lower.h"

#include "base/divide.h"
#include "base/error.h"

#include <limits.h>

enum { COLUMNS, ROWS, LINES };

/* The tensor of a value, seen as images. */
typedef struct view {
    int tensor;
    tsr_shape shape; /* [images, channels, rows, columns] */
    int axis[LINES]; /* of the node's input; TSR_NONE: not to be resized */
} view;

static int64_t *line_size(view *v, int line) {
    return &v->shape.dim[line == ROWS ? 2 : 3];
}

static tsr_status check_exact(const tsr_shape *shape) {
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] > TSR_EXACT_FLOATS)
            return tsr_fail(TSR_ERROR_UNSUPPORTED,
                            "Resize of axis %d of %s: its indices are not exact in "
                            "floats",
                            i, tsr_shape_text(shape));
    return TSR_OK;
}

/* Fails if a table of this width and height exceeds the device's limits. */
static tsr_status check_table(const tsr_layout_limits *limits, int64_t width, int64_t height) {
    uint64_t texels = limits->max_buffer_bytes / 16;
    int64_t longest = limits->max_buffer_bytes
                          ? (int64_t)(texels < INT_MAX ? texels : INT_MAX) / height
                          : limits->max_texture_size;
    if (!limits->max_buffer_bytes && height > limits->max_texture_size)
        longest = 0;
    if (width <= longest)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_LIMIT,
                    "Resize to %lld rows or columns by a table of %lld lines, the device allows "
                    "%lld columns",
                    (long long)width, (long long)height, (long long)longest);
}

/* The extrapolation value as an element of the type. */
static float fill_of(const tsr_plan *plan, const tsr_node *node, const tsr_resize *r) {
    tsr_dtype dtype = tsr_node_in(plan->graph, node, 0)->dtype;
    return tsr_dtype_is_float(dtype) ? r->extrapolation_value
                                     : (float)tsr_dtype_int_of_float(dtype, r->extrapolation_value);
}

/* ---- a filtered axis ---- */

/* The table of glsl/resize_filter.glsl. */
typedef struct filter_table {
    tsr_resize resize;
    int axis;
    int64_t in, out, length; /* length: of a kernel */
} filter_table;

static void fill_filter_table(const void *data, int64_t unit, int64_t count, float *texels) {
    const filter_table *t = data;
    (void)unit, (void)count;
    for (int64_t i = 0; i < t->out; i++) {
        const tsr_resize_filter filter = tsr_resize_filter_at(&t->resize, t->axis, t->in, i);
        int64_t index, first = tsr_min(filter.first < 0 ? 0 : filter.first, t->in - t->length);
        bool outside = tsr_resize_is_outside(&t->resize, t->axis, t->in, i);
        texels[i * 4] = outside ? -1 : (float)first;
        for (int64_t k = 0; k < filter.count; k++) {
            double weight = tsr_resize_filter_tap(&t->resize, &filter, k, &index);
            int64_t at = index - first;
            texels[((1 + at / 4) * t->out + i) * 4 + at % 4] += (float)weight;
        }
    }
}

static bool is_outside_somewhere(const filter_table *t) {
    bool outside = false;
    for (int64_t i = 0; i < t->out && !outside; i++)
        outside = tsr_resize_is_outside(&t->resize, t->axis, t->in, i);
    return outside;
}

static void filter_line(tsr_plan *plan, const tsr_resize *r, float fill, view *v, int line) {
    int axis = v->axis[line], source = v->tensor;
    int64_t *size = line_size(v, line);
    const filter_table table = {*r, axis, *size, r->out[axis],
                                tsr_resize_filter_length(r, axis, *size)};
    int64_t rows = tsr_divide_up(table.length, 4);
    v->axis[line] = TSR_NONE;
    *size = table.out;
    tsr_plan_fail(plan, check_table(&plan->limits, table.out, 1 + rows));
    if (plan->status != TSR_OK)
        return;
    v->tensor = tsr_plan_tensor_computed(plan, &v->shape, source);
    tsr_pass *pass = TSR_PASS(plan, v->tensor, resize_filter, .X = TSR_TENSOR(source),
                              .AXIS = TSR_INT(line == ROWS ? TSR_AXIS_H : TSR_AXIS_W),
                              .OUTSIDE = TSR_INT(is_outside_somewhere(&table)),
                              .rows = TSR_INT(rows), .value = TSR_FLOAT(fill));
    const tsr_table lookup = {
        .pack = fill_filter_table, .units = 1, .width = (int)table.out, .height = (int)(1 + rows)};
    tsr_pass_table(plan, pass, &lookup, &table, sizeof table);
    if (plan->status == TSR_OK)
        tsr_plan_loops(plan, tsr_plan_layout(plan, v->tensor)->planes, 1, &rows);
}

/* ---- rows and columns ---- */

static void resample(tsr_plan *plan, const tsr_node *node, const tsr_resize *r, view *v,
                     int output) {
    tsr_resize_table table = {.resize = *r};
    table.resize.extrapolation_value = fill_of(plan, node, r);
    for (int line = 0; line < LINES; line++) {
        int64_t *size = line_size(v, line);
        table.axis[line] = v->axis[line];
        table.in[line] = *size;
        table.taps[line] = tsr_resize_count_taps(r, v->axis[line], *size);
        if (v->axis[line] != TSR_NONE)
            *size = r->out[v->axis[line]];
        table.out[line] = *size;
    }
    int64_t width = table.out[0] > table.out[1] ? table.out[0] : table.out[1];
    table.width = (int)width;
    tsr_plan_fail(plan, check_table(&plan->limits, width, TSR_RESIZE_LINES));
    if (plan->status != TSR_OK)
        return;
    if (!output)
        output = tsr_plan_tensor_computed(plan, &v->shape, v->tensor);
    const tsr_problem problem = {
        .kind = TSR_RESIZE, .node = node, .input = v->tensor, .output = output, .resize = &table};
    if (plan->status == TSR_OK)
        tsr_lower_problem(plan, &problem);
    v->tensor = output;
}

static void resize_view(tsr_plan *plan, const tsr_node *node, const tsr_resize *r, view *v) {
    for (int line = 0; line < LINES; line++)
        if (v->axis[line] != TSR_NONE &&
            tsr_resize_keeps_axis(r, v->axis[line], *line_size(v, line)))
            v->axis[line] = TSR_NONE;
    for (int line = 0; line < LINES; line++)
        if (v->axis[line] != TSR_NONE && tsr_resize_is_filtered(r, v->axis[line]))
            filter_line(plan, r, fill_of(plan, node, r), v, line);
    if (plan->status == TSR_OK && (v->axis[COLUMNS] != TSR_NONE || v->axis[ROWS] != TSR_NONE))
        resample(plan, node, r, v, 0);
}

/* Of any axes. */
static void resize_each(tsr_plan *plan, const tsr_node *node, const tsr_resize *r) {
    tsr_shape shape = tsr_node_in(plan->graph, node, 0)->shape;
    int last = shape.rank - 1, tensor = tsr_plan_value(plan, node->inputs[0]);
    for (int axis = 0; axis < last - 1 && plan->status == TSR_OK; axis++) {
        if (tsr_resize_keeps_axis(r, axis, shape.dim[axis]))
            continue;
        const tsr_shape around = tsr_around_axis(&shape, axis);
        view v = {.shape = {4, {1, around.dim[0], around.dim[1], around.dim[2]}},
                  .axis = {TSR_NONE, axis}};
        v.tensor = tsr_plan_reshape(plan, tensor, &v.shape);
        resize_view(plan, node, r, &v);
        tensor = v.tensor;
        shape.dim[axis] = r->out[axis];
    }
    int before = last > 0 ? last - 1 : 0;
    view v = {.shape = {4,
                        {1, tsr_dim_product(&shape, 0, before), last > 0 ? shape.dim[last - 1] : 1,
                         shape.dim[last]}},
              .axis = {last, last > 0 ? last - 1 : TSR_NONE}};
    v.tensor = plan->status == TSR_OK ? tsr_plan_reshape(plan, tensor, &v.shape) : 0;
    if (plan->status == TSR_OK)
        resize_view(plan, node, r, &v);
    if (plan->status == TSR_OK)
        tsr_lower_reshaped(plan, node, 0, v.tensor);
}

/* ---- */

/* Of the value as it is stored; its images and channels stay. */
static view see_images(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    view v = {.tensor = tsr_plan_value(plan, node->inputs[0]),
              .shape = {4, {1, 1, 1, 1}},
              .axis = {TSR_NONE, TSR_NONE}};
    for (int i = 0; i < shape->rank; i++) {
        int axis = tsr_usual_axis(shape->rank, i);
        v.shape.dim[axis] = shape->dim[i];
        if (i >= 2)
            v.axis[axis == TSR_AXIS_W ? COLUMNS : ROWS] = i;
    }
    return v;
}

static bool is_of_images(const tsr_resize *r, const tsr_shape *shape) {
    bool is = shape->rank <= 4;
    for (int i = 0; i < shape->rank && i < 2; i++)
        is = is && tsr_resize_keeps_axis(r, i, shape->dim[i]);
    return is;
}

static bool filters(const tsr_resize *r, const tsr_shape *shape) {
    bool any = false;
    for (int i = 0; i < shape->rank; i++)
        any = any || (tsr_resize_is_filtered(r, i) && !tsr_resize_keeps_axis(r, i, shape->dim[i]));
    return any;
}

tsr_status tsr_lower_resize(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    tsr_resize r;
    TSR_TRY(tsr_node_resize(plan->graph, node, &r));
    TSR_TRY(check_exact(shape));
    if (!is_of_images(&r, shape)) {
        resize_each(plan, node, &r);
        return plan->status;
    }
    view v = see_images(plan, node);
    if (!filters(&r, shape)) {
        resample(plan, node, &r, &v, tsr_plan_output(plan, node, 0));
        return plan->status;
    }
    resize_view(plan, node, &r, &v);
    if (plan->status == TSR_OK)
        tsr_lower_reshaped(plan, node, 0, v.tensor);
    return plan->status;
}
