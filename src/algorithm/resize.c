/* Resize by lookup tables. */
#include "algorithm/resize.h"

#include "base/divide.h"

/* Is the axis unchanged? */
bool tsr_resize_keeps_axis(const tsr_resize *r, int axis, int64_t in) {
    bool kept = r->out[axis] == in && (in == 1 || !tsr_resize_is_filtered(r, axis));
    for (int64_t i = 0; i < in && kept; i++)
        kept = in == 1 ? !tsr_resize_is_outside(r, axis, in, i)
                       : tsr_resize_coordinate(r, axis, in, i) == (float)i;
    return kept;
}

/* Of an element of the output along an axis. More where one does would let infinities in, which are
 * NaN times a weight of zero. */
int tsr_resize_count_taps(const tsr_resize *r, int axis, int64_t in) {
    if (axis == TSR_NONE || r->mode == TSR_NEAREST || tsr_resize_keeps_axis(r, axis, in))
        return 1;
    return r->mode == TSR_LINEAR ? 2 : TSR_RESIZE_TAPS;
}

static tsr_resize_taps taps_at(const tsr_resize_table *t, int line, int64_t i) {
    const tsr_resize *r = &t->resize;
    int axis = t->axis[line];
    if (t->taps[line] > 1)
        return tsr_resize_taps_at(r, axis, t->in[line], i);
    int64_t index = axis == TSR_NONE ? i : tsr_resize_nearest_index(r, axis, t->in[line], i);
    return (tsr_resize_taps){.count = 1, .index = {index}, .weight = {1}};
}

static bool is_outside(const tsr_resize_table *t, int line, int64_t i) {
    int axis = t->axis[line];
    return axis != TSR_NONE && tsr_resize_is_outside(&t->resize, axis, t->in[line], i);
}

static bool has_outside(const tsr_resize_table *t) {
    bool outside = false;
    for (int line = 0; line < 2; line++)
        for (int64_t i = 0; i < t->out[line] && !outside; i++)
            outside = is_outside(t, line, i);
    return outside;
}

/* Two lines of the table: of which input columns, or rows, each one of the output is made, and with
 * which weights. A first index below 0: outside. */
static void fill_taps(const tsr_resize_table *t, int line, float *texels) {
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
    const tsr_resize_table *t = data;
    (void)first, (void)count;
    for (int line = 0; line < 2; line++)
        fill_taps(t, line, texels + (int64_t)2 * line * t->width * 4);
}

/* ---- fragments that share a row of input ----------------------------------------------------- */

/* The columns that pixels first to first + t->pixels - 1 read. */
static void find_columns(const tsr_resize_table *t, int64_t first, int64_t *begin, int64_t *end) {
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
static int64_t widest_row(const tsr_resize_table *t) {
    int64_t widest = 0, begin, end;
    for (int64_t i = 0; i < t->out[0]; i += t->pixels) {
        find_columns(t, i, &begin, &end);
        widest = end - begin > widest ? end - begin : widest;
    }
    return widest;
}

static int texels_a_column(const tsr_resize_table *t) {
    return (int)tsr_divide_up(t->pixels, 4);
}

static void fill_row_table(const void *data, int64_t unit, int64_t count, float *texels) {
    const tsr_resize_table *t = data;
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

/* Of fragments whose pixels share columns; false if they do not, or their table fits no texture. */
static bool make_row(const tsr_plan *plan, const tsr_problem *p, tsr_resize_table *t) {
    *t = *p->resize;
    if (t->taps[0] == 1 || has_outside(t))
        return false;
    t->pixels = tsr_plan_layout(plan, p->output)->planes;
    int64_t row = widest_row(t);
    int64_t width = tsr_divide_up(t->out[0], t->pixels) * row * texels_a_column(t);
    width = width > t->out[1] ? width : t->out[1];
    t->row = (int)row;
    t->width = (int)width;
    return width <= plan->limits.max_texture_size;
}

/* Texels that a fragment fetches of the input; of a row each has a weight for every pixel. */
static bool estimate_row(const tsr_plan *plan, const tsr_problem *p, tsr_estimate *e) {
    enum { WITH_WEIGHTS = 2, LIVE = 2 }; /* lines, weights; sums, texels, places of a row */
    tsr_resize_table t;
    if (!make_row(plan, p, &t))
        return false;
    *e = (tsr_estimate){.cost = (double)WITH_WEIGHTS * t.row * t.taps[1],
                        .live_texels = LIVE + 2 * t.row + t.row / 2};
    return true;
}

static bool estimate_any(const tsr_plan *plan, const tsr_problem *p, tsr_estimate *e) {
    const tsr_resize_table *t = p->resize;
    enum { LIVE = 4 }; /* sum, texel, indices, weights */
    *e = (tsr_estimate){.cost = (double)tsr_plan_layout(plan, p->output)->planes * t->taps[0] *
                                t->taps[1],
                        .live_texels = LIVE};
    return true;
}

/* ---- the algorithms -------------------------------------------------------------------------- */

static void set_table(tsr_plan *plan, tsr_pass *pass, const tsr_resize_table *t,
                      tsr_pack_fn *pack) {
    const tsr_table lookup = {
        .pack = pack, .units = 1, .width = t->width, .height = TSR_RESIZE_LINES};
    tsr_pass_table(plan, pass, &lookup, t, sizeof *t);
}

static tsr_pass *lower_row(tsr_plan *plan, const tsr_problem *p) {
    tsr_resize_table t;
    make_row(plan, p, &t);
    tsr_pass *pass = TSR_PASS(plan, p->output, resize_row, .X = TSR_TENSOR(p->input),
                              .ROW_TAPS = TSR_INT(t.taps[1]), .ROW = TSR_INT(t.row));
    set_table(plan, pass, &t, fill_row_table);
    return pass;
}

static tsr_pass *lower_any(tsr_plan *plan, const tsr_problem *p) {
    const tsr_resize_table *t = p->resize;
    tsr_pass *pass = TSR_PASS(plan, p->output, resize, .X = TSR_TENSOR(p->input),
                              .COLUMN_TAPS = TSR_INT(t->taps[0]), .ROW_TAPS = TSR_INT(t->taps[1]),
                              .OUTSIDE = TSR_INT(has_outside(t)),
                              .value = TSR_FLOAT(t->resize.extrapolation_value));
    set_table(plan, pass, t, fill_table);
    return pass;
}

const tsr_algorithm tsr_resize_row = {
    .name = "resize_row",
    .languages = TSR_GLSL,
    .kinds = TSR_RESIZE,
    .allowed_by = TSR_ALLOW_ANY,
    .estimate = estimate_row,
    .lower = lower_row,
};

const tsr_algorithm tsr_resize_any = {
    .name = "resize_any",
    .languages = TSR_GLSL | TSR_WGSL,
    .kinds = TSR_RESIZE,
    .allowed_by = TSR_ALLOW_ANY,
    .estimate = estimate_any,
    .lower = lower_any,
};
