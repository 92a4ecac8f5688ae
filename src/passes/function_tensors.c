/* Function operators that make tensors or repeat and cut them. */
#include "passes/functions.h"

#include "base/error.h"
#include "graph/rules.h"

#include <math.h>

static const tsr_value *input(const tsr_builder *b, int i) {
    return tsr_node_in(b->graph, b->node, i);
}

static void give(tsr_builder *b, int constant) {
    TSR_BUILD(b, TSR_OP_Identity, constant);
}

void tsr_build_size(tsr_builder *b) {
    const int64_t count = tsr_shape_count(&input(b, 0)->shape);
    give(b, tsr_build_reshape(b, tsr_build_ints(b, 1, &count), &(tsr_shape){0}));
}

/* A zero, of type float, without the attribute. */
void tsr_build_constant_of_shape(tsr_builder *b) {
    int fill = b->node->input_count > 1 ? b->node->inputs[1] : TSR_NONE;
    if (fill == TSR_NONE) {
        float *zero = TSR_NEW(b->graph->arena, 1, float);
        fill = zero ? tsr_add_constant(b->graph, b->node->name, "zero", TSR_DTYPE_F32,
                                       &(tsr_shape){0}, zero)
                    : TSR_NONE;
        if (fill == TSR_NONE)
            tsr_build_fail(b, tsr_out_of_memory(b->graph));
    } else if (tsr_shape_count(&b->graph->values[fill].shape) != 1) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute \"value\" has the shape %s",
                                   tsr_shape_text(&b->graph->values[fill].shape)));
    }
    int scalar = tsr_build_reshape(b, fill, &(tsr_shape){0});
    TSR_BUILD(b, TSR_OP_Expand, scalar, b->node->inputs[0]);
}

/* ---- Range ---- */

static double number(const tsr_value *v) {
    return tsr_dtype_is_float(v->dtype) ? *(const tsr_unaligned_float *)v->data
                                        : (double)*(const int64_t *)v->data;
}

static uint64_t integer(const tsr_value *v) {
    const int64_t *data = v->data;
    return (uint64_t)*data;
}

/* How many numbers a range has; negative or NaN if that cannot be told. Differences of integers
 * are unsigned, in which they are exact however far apart the integers lie. */
static double range_length(const tsr_builder *b) {
    const tsr_value *start = input(b, 0), *end = input(b, 1), *delta = input(b, 2);
    double distance = number(end) - number(start), step = number(delta);
    if (!isfinite(number(start)) || !isfinite(step) || step == 0)
        return -1;
    if (tsr_dtype_is_float(start->dtype))
        return distance / step > 0 ? ceil(distance / step) : 0;
    const int64_t first = (int64_t)integer(start), limit = (int64_t)integer(end);
    if (step > 0 ? first >= limit : first <= limit)
        return 0;
    const uint64_t apart = integer(end) - integer(start), stride = integer(delta);
    return step > 0 ? (double)((apart - 1) / stride) + 1
                    : (double)((0 - apart - 1) / (0 - stride)) + 1;
}

static tsr_status check_range(const tsr_builder *b) {
    TSR_TRY(tsr_require_same_type(b->graph, b->node, 3));
    for (int i = 0; i < 3; i++) {
        TSR_TRY(tsr_require_scalar(input(b, i)));
        if (!input(b, i)->data)
            return tsr_fail_until_run("input %d ('%s') is known only at run time; if it comes from "
                                      "inputs, fix those in tsr_session_desc.fixed",
                                      i, input(b, i)->name);
    }
    if (input(b, 0)->dtype == TSR_DTYPE_BOOL)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "it is not defined for bool");
    return TSR_OK;
}

void tsr_build_range(tsr_builder *b) {
    tsr_status status = check_range(b);
    if (status != TSR_OK) {
        tsr_build_fail(b, status);
        return;
    }
    tsr_dtype dtype = input(b, 0)->dtype;
    const double count = range_length(b);
    if (!(count >= 0 && count <= TSR_MAX_DIM)) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL,
                                   "its start, limit and delta give more than 2^31 - 1 elements, "
                                   "or no number of them"));
        return;
    }
    const tsr_shape shape = {1, {(int64_t)count}};
    bool is_float = tsr_dtype_is_float(dtype);
    void *elements = tsr_build_elements(b, shape.dim[0], tsr_stored_size(dtype));
    if (!elements)
        return;
    for (int64_t i = 0; i < shape.dim[0]; i++)
        if (is_float)
            ((float *)elements)[i] = (float)(number(input(b, 0)) + (double)i * number(input(b, 2)));
        else
            ((int64_t *)elements)[i] =
                (int64_t)(integer(input(b, 0)) + (uint64_t)i * integer(input(b, 2)));
    give(b, tsr_add_constant(b->graph, b->node->name, "range", dtype, &shape, elements));
}

/* ---- Tile, EyeLike, OneHot ---- */

/* Each axis that is repeated in its turn, seen between what is before and after it. */
void tsr_build_tile(tsr_builder *b) {
    const int64_t *repeats;
    int64_t count;
    tsr_status status = tsr_node_const_ints(b->graph, b->node, 1, &repeats, &count);
    tsr_shape shape = input(b, 0)->shape;
    if (status == TSR_OK && count != shape.rank)
        status = tsr_fail(TSR_ERROR_SHAPE, "%lld repeats of %s", (long long)count,
                          tsr_shape_text(&shape));
    if (status != TSR_OK) {
        tsr_build_fail(b, status);
        return;
    }
    int value = b->node->inputs[0];
    for (int i = 0; i < shape.rank && b->status == TSR_OK; i++) {
        if (repeats[i] == 1)
            continue;
        if (repeats[i] < 0 || repeats[i] > TSR_MAX_DIM / (shape.dim[i] ? shape.dim[i] : 1)) {
            tsr_build_fail(b, tsr_fail(TSR_ERROR_SHAPE, "%lld repeats of axis %d of %s",
                                       (long long)repeats[i], i, tsr_shape_text(&shape)));
            return;
        }
        const tsr_shape seen = {3,
                                {tsr_dim_product(&shape, 0, i), 1,
                                 tsr_dim_product(&shape, i, shape.rank)}},
                        wide = {3, {seen.dim[0], repeats[i], seen.dim[2]}};
        value = tsr_build_reshape(b, value, &seen);
        value = TSR_BUILD(b, TSR_OP_Expand, value, tsr_build_ints(b, 3, wide.dim));
        shape.dim[i] *= repeats[i];
        value = tsr_build_reshape(b, value, &shape);
    }
    give(b, value);
}

/* Where the column's number is the row's plus k. */
void tsr_build_eye_like(tsr_builder *b) {
    const tsr_value *x = input(b, 0);
    tsr_status status = tsr_require_rank(x, 2, 2);
    if (status != TSR_OK) {
        tsr_build_fail(b, status);
        return;
    }
    const int64_t k = tsr_attr_int(b->node, "k", 0);
    const tsr_attr to =
        tsr_int_attr("to", tsr_attr_int(b->node, "dtype", tsr_dtype_to_onnx(x->dtype)));
    int rows = tsr_build_indices(b, TSR_DTYPE_I64, x->shape.dim[0], 0, 2),
        columns = tsr_build_indices(b, TSR_DTYPE_I64, input(b, 0)->shape.dim[1], 1, 2);
    int shifted = TSR_BUILD(b, TSR_OP_Add, rows, tsr_build_ints(b, 1, &k));
    int line = TSR_BUILD(b, TSR_OP_Equal, shifted, columns);
    tsr_build_with(b, TSR_OP_Cast, 1, &line, 1, &to);
}

/* Indices may count from the end: each is compared with both numbers of a class. */
void tsr_build_one_hot(tsr_builder *b) {
    const tsr_value *indices = input(b, 0), *depth = input(b, 1), *values = input(b, 2);
    tsr_status status = tsr_require_scalar(depth);
    tsr_shape seen = indices->shape;
    int axis = 0;
    if (status == TSR_OK && !depth->data)
        status = tsr_fail_until_run("depth ('%s') is known only at run time; if it comes from "
                                    "inputs, fix those in tsr_session_desc.fixed",
                                    depth->name);
    if (status == TSR_OK)
        status = tsr_require_vector(values, 2);
    if (status == TSR_OK)
        status = tsr_require_rank(indices, 0, TSR_MAX_RANK - 1);
    if (status == TSR_OK)
        status = tsr_normalize_axis(tsr_attr_int(b->node, "axis", -1), seen.rank + 1, &axis);
    double classes = status == TSR_OK ? number(depth) : 0;
    if (status == TSR_OK && !(classes >= 1 && classes <= TSR_MAX_DIM))
        status = tsr_fail(TSR_ERROR_SHAPE, "a depth that is no number of classes");
    if (status != TSR_OK) {
        tsr_build_fail(b, status);
        return;
    }
    for (int i = seen.rank++; i > axis; i--)
        seen.dim[i] = seen.dim[i - 1];
    seen.dim[axis] = 1;
    const int64_t count = (int64_t)classes, bounds[] = {0, 1, 2};
    int chosen = tsr_build_reshape(b, b->node->inputs[0], &seen),
        numbers = tsr_build_indices(b, TSR_DTYPE_I64, count, axis, seen.rank);
    int from_end = TSR_BUILD(b, TSR_OP_Sub, numbers, tsr_build_ints(b, 1, &count));
    int is_class =
            TSR_BUILD(b, TSR_OP_Equal, chosen, tsr_build_cast_like(b, numbers, b->node->inputs[0])),
        is_from_end = TSR_BUILD(b, TSR_OP_Equal, chosen,
                                tsr_build_cast_like(b, from_end, b->node->inputs[0]));
    int zero = tsr_build_ints(b, 1, bounds), one = tsr_build_ints(b, 1, bounds + 1),
        two = tsr_build_ints(b, 1, bounds + 2);
    int off = TSR_BUILD(b, TSR_OP_Slice, b->node->inputs[2], zero, one),
        on = TSR_BUILD(b, TSR_OP_Slice, b->node->inputs[2], one, two);
    TSR_BUILD(b, TSR_OP_Where, TSR_BUILD(b, TSR_OP_Or, is_class, is_from_end), on, off);
}

/* ---- CenterCropPad ---- */

/* Negative pads crop. */
void tsr_build_center_crop_pad(tsr_builder *b) {
    const tsr_attr *given = tsr_node_attr(b->node, "axes");
    const tsr_shape *shape = &input(b, 0)->shape;
    const int64_t *sizes;
    int64_t count, pads[2 * TSR_MAX_RANK] = {0};
    int axes[TSR_MAX_RANK];
    tsr_status status = tsr_node_const_ints(b->graph, b->node, 1, &sizes, &count);
    if (status == TSR_OK && given)
        status = tsr_read_axes(given->ints, given->count, shape->rank, axes);
    for (int i = 0; !given && i < shape->rank; i++)
        axes[i] = i;
    if (status == TSR_OK && count != (given ? given->count : shape->rank))
        status = tsr_fail(TSR_ERROR_SHAPE, "%lld sizes for %d axes", (long long)count,
                          given ? given->count : shape->rank);
    for (int64_t i = 0; status == TSR_OK && i < count; i++) {
        if (sizes[i] < 0 || sizes[i] > TSR_MAX_DIM) {
            status = tsr_fail(TSR_ERROR_SHAPE, "a size of %lld", (long long)sizes[i]);
            break;
        }
        const int64_t more = sizes[i] - shape->dim[axes[i]];
        pads[axes[i]] = more / 2;
        pads[shape->rank + axes[i]] = more - pads[axes[i]];
    }
    if (status != TSR_OK)
        tsr_build_fail(b, status);
    TSR_BUILD(b, TSR_OP_Pad, b->node->inputs[0], tsr_build_ints(b, 2 * shape->rank, pads));
}

/* ---- ReverseSequence ---- */

/* The first elements along an axis, as many as a sequence is long, in reverse: by indices computed
 * in floats, which a GPU holds exactly. */
void tsr_build_reverse_sequence(tsr_builder *b) {
    const tsr_shape shape = input(b, 0)->shape;
    const int64_t time = tsr_attr_int(b->node, "time_axis", 0),
                  batch = tsr_attr_int(b->node, "batch_axis", 1);
    tsr_build_fail(b, tsr_require_rank(input(b, 0), 2, TSR_MAX_RANK));
    if (b->status == TSR_OK && (time < 0 || time > 1 || batch != 1 - time))
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "time_axis %lld and batch_axis %lld",
                                   (long long)time, (long long)batch));
    if (b->status == TSR_OK)
        tsr_build_fail(b, tsr_require_vector(input(b, 1), shape.dim[batch]));
    if (b->status != TSR_OK)
        return;
    const tsr_attr axis = tsr_int_attr("axis", time);
    const tsr_shape of_batch = {3,
                                {batch == 0 ? shape.dim[0] : 1, batch == 1 ? shape.dim[1] : 1, 1}},
                    seen = {3,
                            {shape.dim[0], shape.dim[1], tsr_dim_product(&shape, 2, shape.rank)}};
    const int64_t one = 1;
    int steps = tsr_build_indices(b, TSR_DTYPE_I64, shape.dim[time], (int)time, 3),
        last = tsr_build_ints(b, 1, &one), lengths = b->node->inputs[1];
    steps = tsr_build_cast(b, steps, TSR_DTYPE_F32);
    last = tsr_build_cast(b, last, TSR_DTYPE_F32);
    lengths = tsr_build_cast(b, lengths, TSR_DTYPE_F32);
    lengths = tsr_build_reshape(b, lengths, &of_batch);
    int mirrored = TSR_BUILD(b, TSR_OP_Sub, TSR_BUILD(b, TSR_OP_Sub, lengths, last), steps);
    int chosen =
        TSR_BUILD(b, TSR_OP_Where, TSR_BUILD(b, TSR_OP_Less, steps, lengths), mirrored, steps);
    int indices = tsr_build_cast(b, chosen, TSR_DTYPE_I64);
    const int inputs[] = {tsr_build_reshape(b, b->node->inputs[0], &seen),
                          TSR_BUILD(b, TSR_OP_Expand, indices, tsr_build_ints(b, 3, seen.dim))};
    int reversed = tsr_build_with(b, TSR_OP_GatherElements, 2, inputs, 1, &axis);
    tsr_build_reshape(b, reversed, &shape);
}

/* ---- AffineGrid ---- */

/* Coordinates of pixels, -1 to 1 across the image or between the middles of its outermost pixels,
 * times a matrix of each image. */
void tsr_build_affine_grid(tsr_builder *b) {
    const tsr_shape theta = input(b, 0)->shape;
    const int64_t *size = NULL;
    int64_t count = 0;
    bool align = tsr_attr_int(b->node, "align_corners", 0) != 0;
    tsr_build_fail(b, tsr_require_float(b->graph, b->node, 1));
    tsr_build_fail(b, tsr_node_const_ints(b->graph, b->node, 1, &size, &count));
    const int axes = (int)count - 2;
    if (b->status == TSR_OK &&
        ((axes != 2 && axes != 3) || theta.rank != 3 || theta.dim[0] != size[0] ||
         theta.dim[1] != axes || theta.dim[2] != axes + 1))
        tsr_build_fail(b, tsr_fail(TSR_ERROR_SHAPE, "matrices %s for a size of %lld numbers",
                                   tsr_shape_text(&theta), (long long)count));
    if (b->status != TSR_OK)
        return;
    tsr_shape image = {.rank = axes}, grid = {.rank = axes + 2, .dim = {size[0]}};
    for (int i = 0; i < axes; i++) {
        if (size[2 + i] < 1 || size[2 + i] > TSR_MAX_DIM) {
            tsr_build_fail(b, tsr_fail(TSR_ERROR_SHAPE, "a size of %lld", (long long)size[2 + i]));
            return;
        }
        image.dim[i] = grid.dim[1 + i] = size[2 + i];
    }
    grid.dim[1 + axes] = axes;
    const int64_t pixels = tsr_shape_count(&image);
    float *points = NULL;
    if (pixels >= 0 && pixels <= TSR_MAX_DIM)
        points = tsr_build_elements(b, pixels * (axes + 1), sizeof *points);
    if (!points) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_SHAPE, "too many pixels"));
        return;
    }
    for (int64_t i = 0; i < pixels; i++) {
        int64_t rest = i;
        points[i * (axes + 1) + axes] = 1;
        for (int k = axes - 1; k >= 0; k--) { /* x first */
            double at = (double)(rest % image.dim[k]), n = (double)image.dim[k];
            points[i * (axes + 1) + axes - 1 - k] =
                (float)(align ? (n > 1 ? 2 * at / (n - 1) - 1 : -1) : (2 * at + 1) / n - 1);
            rest /= image.dim[k];
        }
    }
    static const int64_t order[] = {0, 2, 1};
    const tsr_attr perm = tsr_build_ints_attr(b, "perm", 3, order);
    int all = tsr_add_constant(b->graph, b->node->name, "points", input(b, 0)->dtype,
                               &(tsr_shape){3, {1, pixels, axes + 1}}, points);
    int matrices = tsr_build_with(b, TSR_OP_Transpose, 1, b->node->inputs, 1, &perm);
    tsr_build_reshape(b, TSR_BUILD(b, TSR_OP_MatMul, all, matrices), &grid);
}
