#include "lower/lower.h"

#include "base/error.h"

#include <limits.h>

/* Of a table. */
enum { LINES = 4 };

/* The tables of glsl/resize.glsl and glsl/resize_row.glsl. */
typedef struct resize_table {
    tsr_resize resize;
    int width;
    int axis[2]; /* of columns, of rows; TSR_NONE: size 1 */
    int64_t in[2], out[2];
    int taps[2];     /* that each element of the output is made of */
    int pixels, row; /* of a fragment: adjacent ones, columns that they read */
} resize_table;

/* Is the axis as long as before, each element where it was? */
static bool keeps_axis(const tsr_resize *r, int axis, int64_t in) {
    bool kept = r->out[axis] == in;
    for (int64_t i = 0; i < in && kept; i++)
        kept = in == 1 ? !tsr_resize_is_outside(r, axis, in, i)
                       : tsr_resize_coordinate(r, axis, in, i) == (float)i;
    return kept;
}

/* Of an element of the output along an axis. More where one does would let infinities in, which are
 * NaN times a weight of zero. */
static int count_taps(const tsr_resize *r, int axis, int64_t in) {
    if (axis == TSR_NONE || r->mode == TSR_NEAREST || keeps_axis(r, axis, in))
        return 1;
    return r->mode == TSR_LINEAR ? 2 : TSR_RESIZE_TAPS;
}

static tsr_resize_taps taps_at(const resize_table *t, int line, int64_t i) {
    const tsr_resize *r = &t->resize;
    int axis = t->axis[line];
    if (t->taps[line] > 1)
        return tsr_resize_taps_at(r, axis, t->in[line], i);
    int64_t index = axis == TSR_NONE ? 0 : tsr_resize_nearest_index(r, axis, t->in[line], i);
    return (tsr_resize_taps){.count = 1, .index = {index}, .weight = {1}};
}

static bool is_outside(const resize_table *t, int line, int64_t i) {
    int axis = t->axis[line];
    return axis != TSR_NONE && tsr_resize_is_outside(&t->resize, axis, t->in[line], i);
}

static bool has_outside(const resize_table *t) {
    bool outside = false;
    for (int line = 0; line < 2; line++)
        for (int64_t i = 0; i < t->out[line] && !outside; i++)
            outside = is_outside(t, line, i);
    return outside;
}

/* Two lines of the table: of which input columns, or rows, each one of the output is made, and with
 * which weights. A first index below 0: outside. */
static void fill_taps(const resize_table *t, int line, float *texels) {
    for (int64_t i = 0; i < t->out[line]; i++) {
        float *indices = texels + i * 4, *weights = indices + (int64_t)t->width * 4;
        const tsr_resize_taps taps = taps_at(t, line, i);
        for (int k = 0; k < taps.count; k++) {
            indices[k] = (float)taps.index[k];
            weights[k] = (float)taps.weight[k];
        }
        if (is_outside(t, line, i))
            indices[0] = -1;
    }
}

/* The table is one unit: first and count say nothing. */
static void fill_table(const void *data, int64_t first, int64_t count, float *texels) {
    const resize_table *t = data;
    (void)first, (void)count;
    for (int line = 0; line < 2; line++)
        fill_taps(t, line, texels + (int64_t)2 * line * t->width * 4);
}

/* ---- pixels that share what they read -------------------------------------------------------- */

/* The columns that pixels first to first + t->pixels - 1 read. */
static void find_columns(const resize_table *t, int64_t first, int64_t *begin, int64_t *end) {
    *begin = INT64_MAX, *end = 0;
    for (int64_t i = first; i < first + t->pixels && i < t->out[0]; i++) {
        const tsr_resize_taps taps = taps_at(t, 0, i);
        for (int k = 0; k < taps.count; k++) {
            *begin = taps.index[k] < *begin ? taps.index[k] : *begin;
            *end = taps.index[k] >= *end ? taps.index[k] + 1 : *end;
        }
    }
}

/* The most columns that a fragment reads. */
static int64_t widest_row(const resize_table *t) {
    int64_t widest = 0, begin, end;
    for (int64_t i = 0; i < t->out[0]; i += t->pixels) {
        find_columns(t, i, &begin, &end);
        widest = end - begin > widest ? end - begin : widest;
    }
    return widest;
}

static int texels_a_column(const resize_table *t) {
    return (t->pixels + 3) / 4;
}

static void fill_row_table(const void *data, int64_t unit, int64_t count, float *texels) {
    const resize_table *t = data;
    (void)unit, (void)count;
    float *weights = texels, *firsts = texels + (int64_t)t->width * 4;
    int64_t begin, end;
    for (int64_t i = 0; i < t->out[0]; i++) {
        int64_t fragment = i / t->pixels, pixel = i % t->pixels;
        find_columns(t, i - pixel, &begin, &end);
        firsts[fragment * 4] = (float)begin;
        const tsr_resize_taps taps = taps_at(t, 0, i);
        for (int k = 0; k < taps.count; k++) {
            int64_t column = fragment * t->row + taps.index[k] - begin;
            weights[column * texels_a_column(t) * 4 + pixel] += (float)taps.weight[k];
        }
    }
    fill_taps(t, 1, texels + (int64_t)2 * t->width * 4);
}

/* Do pixels that share columns read half as much or less, and does their table fit a texture? */
static bool shares_columns(const tsr_plan *plan, resize_table *t, int output) {
    if (plan->device.language == TSR_WGSL || t->taps[0] == 1 || has_outside(t))
        return false;
    t->pixels = tsr_plan_layout(plan, output)->planes;
    int64_t row = widest_row(t);
    int64_t width = (t->out[0] + t->pixels - 1) / t->pixels * row * texels_a_column(t);
    width = width > t->out[1] ? width : t->out[1];
    if (2 * row > (int64_t)t->taps[0] * t->pixels || width > plan->limits.max_texture_size)
        return false;
    t->row = (int)row;
    t->width = (int)width;
    return true;
}

/* ---- lowering -------------------------------------------------------------------------------- */

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

/* The columns that a table of LINES rows may have. */
static int64_t longest_line(const tsr_layout_limits *limits) {
    uint64_t texels = limits->max_buffer_bytes / (LINES * 16);
    if (!limits->max_buffer_bytes)
        return limits->max_texture_size;
    return texels < INT_MAX / LINES ? (int64_t)texels : INT_MAX / LINES;
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
    for (int line = 0; line < 2; line++)
        table.taps[line] = count_taps(&table.resize, table.axis[line], table.in[line]);
    int64_t width = table.out[0] > table.out[1] ? table.out[0] : table.out[1];
    int64_t limit = longest_line(&plan->limits);
    if (width > limit)
        return tsr_fail(TSR_LIMIT, "Resize to %lld rows or columns, the device allows %lld",
                        (long long)width, (long long)limit);
    table.width = (int)width;
    int input = tsr_plan_value(plan, node->inputs[0]), output = tsr_plan_output(plan, node, 0);
    bool shares = shares_columns(plan, &table, output);
    tsr_pass *pass =
        shares ? TSR_PASS(plan, output, resize_row, .X = TSR_TENSOR(input),
                          .ROW_TAPS = TSR_INT(table.taps[1]), .ROW = TSR_INT(table.row))
               : TSR_PASS(plan, output, resize, .X = TSR_TENSOR(input),
                          .COLUMN_TAPS = TSR_INT(table.taps[0]), .ROW_TAPS = TSR_INT(table.taps[1]),
                          .OUTSIDE = TSR_INT(has_outside(&table)),
                          .value = TSR_FLOAT(table.resize.extrapolation_value));
    const tsr_table lookup = {.pack = shares ? fill_row_table : fill_table,
                              .units = 1,
                              .width = table.width,
                              .height = LINES};
    tsr_pass_table(plan, pass, &lookup, &table, sizeof table);
    return plan->status;
}
