/* DeformConv: what each tap of each window reads, as an image in which windows do not overlap, and
 * a convolution of that image. */
#include "passes/functions.h"

#include "base/error.h"
#include "graph/rules.h"

typedef struct deform {
    tsr_window window;
    int64_t batch, groups, group_channels; /* groups: of offsets */
    int64_t rows, columns;                 /* of the image of taps */
} deform;

static const tsr_value *input(const tsr_builder *b, int i) {
    return tsr_node_in(b->graph, b->node, i);
}

static tsr_status check_taps(const tsr_value *value, const deform *d, int64_t each) {
    const int64_t *out = d->window.out, *kernel = d->window.kernel;
    if (kernel[TSR_ROWS] * kernel[TSR_COLUMNS] > TSR_MAX_DIM / each / d->groups)
        return tsr_fail(TSR_ERROR_SHAPE, "too many offsets");
    const tsr_shape wanted = {4,
                              {d->batch, d->groups * kernel[TSR_ROWS] * kernel[TSR_COLUMNS] * each,
                               out[TSR_ROWS], out[TSR_COLUMNS]}};
    return !value || tsr_shape_equal(&value->shape, &wanted)
               ? TSR_OK
               : tsr_fail(TSR_ERROR_SHAPE, "'%s' of shape %s instead of %s", value->name,
                          tsr_shape_text(&value->shape), tsr_shape_text(&wanted));
}

static tsr_status read_deform(const tsr_builder *b, deform *d) {
    const tsr_value *x = input(b, 0);
    int inputs[] = {b->node->inputs[0], b->node->inputs[1],
                    b->node->input_count > 3 ? b->node->inputs[3] : TSR_NONE};
    tsr_node conv = *b->node;
    conv.op = TSR_OP_Conv;
    conv.inputs = inputs;
    conv.input_count = inputs[2] == TSR_NONE ? 2 : 3;
    for (int i = 0; i < b->node->input_count; i++)
        if (input(b, i) && input(b, i)->dtype != x->dtype)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "input %d is of type %s, input 0 of type %s",
                            i, tsr_dtype_name(input(b, i)->dtype), tsr_dtype_name(x->dtype));
    if (x->shape.rank != 4)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "%d axes: of images only", x->shape.rank);
    TSR_TRY(tsr_node_window(b->graph, &conv, &d->window));
    d->batch = x->shape.dim[0];
    d->groups = tsr_attr_int(b->node, "offset_group", 1);
    if (d->groups < 1 || d->groups > TSR_MAX_DIM / 2 || x->shape.dim[1] % d->groups != 0)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%lld groups of offsets for %lld channels",
                        (long long)d->groups, (long long)x->shape.dim[1]);
    d->group_channels = x->shape.dim[1] / d->groups;
    d->rows = d->window.out[TSR_ROWS] * d->window.kernel[TSR_ROWS];
    d->columns = d->window.out[TSR_COLUMNS] * d->window.kernel[TSR_COLUMNS];
    TSR_TRY(check_taps(input(b, 2), d, 2));
    return check_taps(input(b, 4), d, 1);
}

/* Channels of a group of a value; all of them where there is one group. */
static int slice_group(tsr_builder *b, const deform *d, int value, int64_t group, int64_t count) {
    if (d->groups == 1)
        return value;
    return tsr_build_slice(b, value, 1, group * count, (group + 1) * count);
}

/* [batch, taps * each, rows, columns] as [batch, rows of taps, columns of taps, each]. */
static int spread_taps(tsr_builder *b, const deform *d, int value, int64_t each) {
    static const int64_t order[] = {0, 4, 1, 5, 2, 3};
    const int64_t *out = d->window.out, *kernel = d->window.kernel;
    const tsr_shape parts = {6,
                             {d->batch, kernel[TSR_ROWS], kernel[TSR_COLUMNS], each, out[TSR_ROWS],
                              out[TSR_COLUMNS]}},
                    image = {4, {d->batch, d->rows, d->columns, each}};
    int seen = tsr_build_reshape(b, value, &parts);
    const tsr_attr perm = tsr_build_ints_attr(b, "perm", 6, order);
    return tsr_build_reshape(b, tsr_build_with(b, TSR_OP_Transpose, 1, &seen, 1, &perm), &image);
}

/* Where a tap without an offset reads, along an axis of the image of taps. */
static double place_of(const deform *d, int axis, int64_t at) {
    const tsr_window *w = &d->window;
    return (double)(at / w->kernel[axis] * w->stride[axis] - w->pad_begin[axis] +
                    at % w->kernel[axis] * w->dilation[axis]);
}

/* Pixel p of `size` is at (2 p + 1) / size - 1 for GridSample. */
static int build_places(tsr_builder *b, const deform *d) {
    const tsr_shape shape = {3, {d->rows, d->columns, 2}};
    float *places = tsr_build_elements(b, tsr_shape_count(&shape), sizeof *places);
    for (int64_t i = 0; places && i < d->rows * d->columns; i++) {
        double x = place_of(d, TSR_COLUMNS, i % d->columns),
               y = place_of(d, TSR_ROWS, i / d->columns);
        places[2 * i] = (float)((2 * x + 1) / (double)d->window.in[TSR_COLUMNS] - 1);
        places[2 * i + 1] = (float)((2 * y + 1) / (double)d->window.in[TSR_ROWS] - 1);
    }
    return places ? tsr_build_floats(b, &shape, places) : TSR_NONE;
}

/* Offsets have rows before columns. */
static int build_grid(tsr_builder *b, const deform *d, int places, int64_t group) {
    static const int64_t swapped[] = {1, 0};
    const int64_t taps = d->window.kernel[TSR_ROWS] * d->window.kernel[TSR_COLUMNS];
    const float scale[] = {2 / (float)d->window.in[TSR_COLUMNS], 2 / (float)d->window.in[TSR_ROWS]};
    const tsr_attr last = tsr_int_attr("axis", 3);
    int offsets = spread_taps(b, d, slice_group(b, d, b->node->inputs[2], group, 2 * taps), 2);
    const int inputs[] = {offsets, tsr_build_ints(b, 2, swapped)};
    int moved = TSR_BUILD(b, TSR_OP_Mul, tsr_build_with(b, TSR_OP_Gather, 2, inputs, 1, &last),
                          tsr_build_floats(b, &(tsr_shape){1, {2}}, scale));
    return TSR_BUILD(b, TSR_OP_Add, moved, places);
}

static int build_taps(tsr_builder *b, const deform *d, int places, int64_t group) {
    const int64_t taps = d->window.kernel[TSR_ROWS] * d->window.kernel[TSR_COLUMNS];
    const int inputs[] = {slice_group(b, d, b->node->inputs[0], group, d->group_channels),
                          build_grid(b, d, places, group)};
    int sampled = tsr_build_with(b, TSR_OP_GridSample, 2, inputs, 0, NULL);
    if (!input(b, 4))
        return sampled;
    const tsr_shape image = {4, {d->batch, 1, d->rows, d->columns}};
    int mask = spread_taps(b, d, slice_group(b, d, b->node->inputs[4], group, taps), 1);
    return TSR_BUILD(b, TSR_OP_Mul, sampled, tsr_build_reshape(b, mask, &image));
}

void tsr_build_deform_conv(tsr_builder *b) {
    enum { MAX_GROUPS = 64 };
    deform d;
    int parts[MAX_GROUPS];
    tsr_build_fail(b, read_deform(b, &d));
    if (b->status == TSR_OK && d.groups > MAX_GROUPS)
        tsr_build_fail(
            b, tsr_fail(TSR_ERROR_UNSUPPORTED, "more than %d groups of offsets", MAX_GROUPS));
    if (b->status != TSR_OK)
        return;
    int places = build_places(b, &d);
    for (int64_t g = 0; g < d.groups; g++)
        parts[g] = build_taps(b, &d, places, g);
    const tsr_attr axis = tsr_int_attr("axis", 1);
    int taps =
        d.groups == 1 ? parts[0] : tsr_build_with(b, TSR_OP_Concat, (int)d.groups, parts, 1, &axis);
    const int64_t steps[] = {d.window.kernel[TSR_ROWS], d.window.kernel[TSR_COLUMNS]};
    const tsr_attr attrs[] = {tsr_build_ints_attr(b, "strides", 2, steps),
                              tsr_int_attr("group", d.window.group)};
    const int inputs[] = {taps, b->node->inputs[1], input(b, 3) ? b->node->inputs[3] : TSR_NONE};
    tsr_build_with(b, TSR_OP_Conv, inputs[2] == TSR_NONE ? 2 : 3, inputs, 2, attrs);
}
