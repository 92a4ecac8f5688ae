#include "support/gradient_nodes.h"

#include <string.h>

/* A case that is drawn: a node of the operator that reads x. */
typedef struct drawing {
    random_source *random;
    case_text *text;
    const char *op;
    int opset, rank, dims[TSR_MAX_RANK]; /* of x */
} drawing;

typedef void draw_fn(drawing *d);

static int draw(drawing *d, int low, int high) {
    return random_int(d->random, low, high);
}

static bool one_in(drawing *d, int odds) {
    return random_one_in(d->random, odds);
}

static void draw_shape(drawing *d, int least_rank, int most_rank) {
    d->rank = draw(d, least_rank, most_rank);
    for (int i = 0; i < d->rank; i++)
        d->dims[i] = draw(d, 1, d->rank > 3 ? 3 : 5);
}

static const char *shape(const drawing *d) {
    return text_list(d->dims, d->rank);
}

/* An axis of x, counted from the end or not. */
static int draw_axis(drawing *d) {
    return draw(d, -d->rank, d->rank - 1);
}

static int positive(const drawing *d, int axis) {
    return axis < 0 ? axis + d->rank : axis;
}

/* "Op x[...]" */
static void begin(drawing *d) {
    text_add(d->text, "%s x[%s]", d->op, shape(d));
}

/* "Reshape i(indices) s(dims) -> r; ", the indices being into an axis of `size` elements, or into
 * axes of these sizes in turn. */
static void add_indices(drawing *d, int rank, const int *dims, int size_count, const int *sizes) {
    int count = 1;
    for (int i = 0; i < rank; i++)
        count *= dims[i];
    text_add(d->text, "Reshape i(");
    for (int i = 0; i < count; i++) {
        int size = sizes[i % size_count];
        text_add(d->text, "%s%d", i ? "," : "", draw(d, -size, size - 1));
    }
    text_add(d->text, ") s(%s) -> r; ", text_list(dims, rank));
}

static const char *draw_reduction(drawing *d) {
    static const char *const names[] = {"none", "add", "mul", "max", "min"};
    return names[draw(d, 0, 4)];
}

/* ---- by axes ---- */

/* Before opset 13 all axes from one on are one. */
static void draw_softmax(drawing *d) {
    draw_shape(d, 1, 4);
    d->opset = 11;
    begin(d);
    text_add(d->text, " -> y axis=%d", draw_axis(d));
}

static void draw_cumulative(drawing *d) {
    draw_shape(d, 1, 4);
    d->opset = 26;
    begin(d);
    text_add(d->text, " a(%d) -> y exclusive=%d reverse=%d", draw_axis(d), draw(d, 0, 1),
             draw(d, 0, 1));
}

static void draw_top_k(drawing *d) {
    draw_shape(d, 1, 4);
    int axis = draw_axis(d);
    begin(d);
    text_add(d->text, " k(%d) -> y i axis=%d largest=%d", draw(d, 1, d->dims[positive(d, axis)]),
             axis, draw(d, 0, 1));
}

static void draw_split(drawing *d) {
    draw_shape(d, 1, 4);
    int axis = draw_axis(d);
    d->dims[positive(d, axis)] += 2;
    begin(d);
    text_add(d->text, " -> a b axis=%d num_outputs=2; Sin %s -> y", axis, one_in(d, 2) ? "a" : "b");
}

static void draw_layer_normalization(drawing *d) {
    draw_shape(d, 1, 4);
    int axes = draw(d, 1, d->rank);
    d->dims[d->rank - 1]++; /* no variance of one element */
    const int *seen = d->dims + d->rank - axes;
    begin(d);
    text_add(d->text, " w[%s]", text_list(seen, axes));
    if (one_in(d, 2))
        text_add(d->text, " wb[%s]", text_list(seen, axes));
    text_add(d->text, " -> y m s axis=%d epsilon=0.1", one_in(d, 2) ? -axes : d->rank - axes);
    if (one_in(d, 3))
        text_add(d->text, "; Mul m s -> z");
    else if (one_in(d, 2))
        text_add(d->text, "; Sin %s -> z", one_in(d, 2) ? "m" : "s");
}

/* ---- shapes ---- */

/* More axes, and some of one element that become more. */
static void draw_expand(drawing *d) {
    int to[TSR_MAX_RANK], more = draw(d, 0, 2);
    draw_shape(d, 0, 3);
    for (int i = 0; i < more + d->rank; i++)
        to[i] = i < more || d->dims[i - more] == 1 ? draw(d, 1, 3)
                                                   : (one_in(d, 3) ? 1 : d->dims[i - more]);
    begin(d);
    text_add(d->text, " e(%s) -> y", text_list(to, more + d->rank));
}

static void draw_depth_to_space(drawing *d) {
    int block = draw(d, 2, 3);
    draw_shape(d, 4, 4);
    d->dims[1] *= block * block;
    begin(d);
    text_add(d->text, " -> y blocksize=%d mode=%s", block, one_in(d, 2) ? "DCR" : "CRD");
}

static void draw_space_to_depth(drawing *d) {
    int block = draw(d, 2, 3);
    draw_shape(d, 4, 4);
    d->dims[2] *= block;
    d->dims[3] *= block;
    begin(d);
    text_add(d->text, " -> y blocksize=%d", block);
}

/* ---- several tensors ---- */

/* Batches of either operand are broadcast; vectors. */
static void draw_matmul(drawing *d) {
    int other[TSR_MAX_RANK], rank;
    draw_shape(d, 1, 4);
    rank = draw(d, 1, 4);
    for (int i = 0; i < rank; i++) /* from the end */
        other[rank - 1 - i] = i == 0        ? draw(d, 1, 5)
                              : i < d->rank ? d->dims[d->rank - 1 - i]
                                            : draw(d, 1, 3);
    other[rank == 1 ? 0 : rank - 2] = d->dims[d->rank - 1];
    for (int i = 0; i < rank - 2; i++)
        other[i] = one_in(d, 3) ? 1 : other[i];
    for (int i = 0; i < d->rank - 2; i++)
        d->dims[i] = one_in(d, 3) ? 1 : d->dims[i];
    begin(d);
    text_add(d->text, " z[%s] -> y", text_list(other, rank));
}

/* A condition, two tensors: each has its last axes, some of one element. */
static void draw_where(drawing *d) {
    const char *const names[] = {"c:bool", "x", "z"};
    int whole[TSR_MAX_RANK], rank = draw(d, 1, 4);
    for (int i = 0; i < rank; i++)
        whole[i] = draw(d, 1, 4);
    text_add(d->text, "%s", d->op);
    for (int k = 0; k < 3; k++) {
        d->rank = draw(d, 0, rank);
        for (int i = 0; i < d->rank; i++)
            d->dims[i] = one_in(d, 3) ? 1 : whole[rank - d->rank + i];
        text_add(d->text, " %s[%s]", names[k], shape(d));
    }
    text_add(d->text, " -> y");
}

/* Bounds that are computed, the lower one above the other at times. */
static void draw_clip(drawing *d) {
    draw_shape(d, 0, 4);
    begin(d);
    text_add(d->text, one_in(d, 4) ? " _" : " l[]");
    if (!one_in(d, 4))
        text_add(d->text, " h[]");
    text_add(d->text, " -> y");
}

/* Of axes that are named, with a value that is computed. */
static void draw_pad(drawing *d) {
    static const char *const modes[] = {"constant", "constant", "edge", "reflect"};
    int pads[2 * TSR_MAX_RANK], axes[TSR_MAX_RANK], count = 0;
    draw_shape(d, 1, 4);
    for (int i = 0; i < d->rank; i++)
        if (one_in(d, 2))
            axes[count++] = one_in(d, 2) ? i : i - d->rank;
    if (count == 0)
        axes[count++] = 0;
    for (int i = 0; i < count; i++) {
        int last = d->dims[positive(d, axes[i])] - 1;
        pads[i] = draw(d, -(last / 2), last - last / 2);
        pads[i + count] = draw(d, -(last / 2), last - last / 2);
    }
    begin(d);
    text_add(d->text, " p(%s)", text_list(pads, 2 * count));
    text_add(d->text, " w[] a(%s) -> y mode=%s", text_list(axes, count), modes[draw(d, 0, 3)]);
}

/* ---- indices ---- */

static void draw_gather(drawing *d) {
    draw_shape(d, 1, 4);
    int axis = draw_axis(d), rank = draw(d, 0, 2);
    add_indices(d, rank, (int[]){draw(d, 1, 3), draw(d, 1, 3)}, 1, &d->dims[positive(d, axis)]);
    begin(d);
    text_add(d->text, " r -> y axis=%d", axis);
}

/* Indices as many as there are elements, or fewer of each axis but one. */
static int add_element_indices(drawing *d, int *dims) {
    draw_shape(d, 1, 4);
    int axis = draw_axis(d);
    for (int i = 0; i < d->rank; i++)
        dims[i] = draw(d, 1, d->dims[i]);
    dims[positive(d, axis)] = draw(d, 1, 4);
    add_indices(d, d->rank, dims, 1, &d->dims[positive(d, axis)]);
    begin(d);
    text_add(d->text, " r");
    return axis;
}

static void draw_gather_elements(drawing *d) {
    int dims[TSR_MAX_RANK], axis = add_element_indices(d, dims);
    text_add(d->text, " -> y axis=%d", axis);
}

static void draw_scatter_elements(drawing *d) {
    int dims[TSR_MAX_RANK], axis = add_element_indices(d, dims);
    text_add(d->text, " z[%s] -> y axis=%d", text_list(dims, d->rank), axis);
    text_add(d->text, " reduction=%s", draw_reduction(d));
}

/* Tuples [batches.., count, length] of indices of x, which follow batch_dims axes; returns their
 * length. */
static int add_tuples(drawing *d, int batch_dims, int count) {
    int dims[TSR_MAX_RANK], length = draw(d, 1, d->rank - batch_dims);
    memcpy(dims, d->dims, sizeof dims);
    dims[batch_dims] = count;
    dims[batch_dims + 1] = length;
    add_indices(d, batch_dims + 2, dims, length, d->dims + batch_dims);
    begin(d);
    text_add(d->text, " r");
    return length;
}

static void draw_gather_nd(drawing *d) {
    draw_shape(d, 2, 4);
    int batch_dims = draw(d, 1, d->rank - 1);
    add_tuples(d, batch_dims, draw(d, 1, 3));
    text_add(d->text, " -> y batch_dims=%d", batch_dims);
}

static void draw_scatter_nd(drawing *d) {
    draw_shape(d, 1, 4);
    int count = draw(d, 1, 4), updates[TSR_MAX_RANK] = {count}, length = add_tuples(d, 0, count);
    memcpy(updates + 1, d->dims + length, (size_t)(d->rank - length) * sizeof *updates);
    text_add(d->text, " z[%s] -> y", text_list(updates, 1 + d->rank - length));
    text_add(d->text, " reduction=%s", draw_reduction(d));
}

/* ---- regions ---- */

/* Constant ones, by which there is no gradient. */
static void draw_roi_align(drawing *d) {
    int regions = draw(d, 1, 3), images[3];
    draw_shape(d, 4, 4);
    for (int i = 0; i < regions; i++)
        images[i] = draw(d, 0, d->dims[0] - 1);
    begin(d);
    text_add(d->text, " p{%d,4} i(%s) -> y", regions, text_list(images, regions));
    text_add(d->text, " output_height=%d output_width=%d sampling_ratio=%d spatial_scale=%d.5",
             draw(d, 1, 3), draw(d, 1, 3), draw(d, 1, 3), draw(d, 0, 4));
    text_add(d->text, " coordinate_transformation_mode=%s",
             one_in(d, 2) ? "half_pixel" : "output_half_pixel");
}

/* ---- the table ---- */

static draw_fn *const table[TSR_OP_COUNT] = {
    [TSR_OP_Softmax] = draw_softmax,
    [TSR_OP_LogSoftmax] = draw_softmax,
    [TSR_OP_CumSum] = draw_cumulative,
    [TSR_OP_CumProd] = draw_cumulative,
    [TSR_OP_TopK] = draw_top_k,
    [TSR_OP_Split] = draw_split,
    [TSR_OP_LayerNormalization] = draw_layer_normalization,
    [TSR_OP_Expand] = draw_expand,
    [TSR_OP_DepthToSpace] = draw_depth_to_space,
    [TSR_OP_SpaceToDepth] = draw_space_to_depth,
    [TSR_OP_MatMul] = draw_matmul,
    [TSR_OP_Where] = draw_where,
    [TSR_OP_Clip] = draw_clip,
    [TSR_OP_Pad] = draw_pad,
    [TSR_OP_Gather] = draw_gather,
    [TSR_OP_GatherElements] = draw_gather_elements,
    [TSR_OP_ScatterElements] = draw_scatter_elements,
    [TSR_OP_GatherND] = draw_gather_nd,
    [TSR_OP_ScatterND] = draw_scatter_nd,
    [TSR_OP_RoiAlign] = draw_roi_align,
};

bool draw_gradient_node(tsr_op op, random_source *random, case_text *text, int *opset) {
    drawing d = {.random = random, .text = text, .op = tsr_op_get_info(op)->name, .opset = 22};
    if (!table[op])
        return false;
    *text->text = '\0';
    table[op](&d);
    *opset = d.opset;
    return true;
}
