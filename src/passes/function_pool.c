/* Function operators over windows: pools of powers, what a pool undoes, columns to an image. */
#include "passes/functions.h"

#include "base/error.h"
#include "graph/rules.h"

#include <string.h>

static const tsr_value *input(const tsr_builder *b, int i) {
    return tsr_node_in(b->graph, b->node, i);
}

/* |x|^p */
static int power(tsr_builder *b, int64_t p) {
    int x = b->node->inputs[0];
    int magnitude = TSR_BUILD(b, TSR_OP_Max, x, TSR_BUILD(b, TSR_OP_Neg, x));
    return p == 1 ? magnitude : TSR_BUILD(b, TSR_OP_Pow, magnitude, tsr_build_number(b, (float)p));
}

static int root(tsr_builder *b, int sum, int64_t p) {
    return p == 1 ? sum : TSR_BUILD(b, TSR_OP_Pow, sum, tsr_build_number(b, 1.0f / (float)p));
}

static int64_t read_p(tsr_builder *b) {
    const int64_t p = tsr_attr_int(b->node, "p", 2);
    tsr_build_fail(b, tsr_require_float(b->graph, b->node, 1));
    tsr_build_fail(b, tsr_require_rank(input(b, 0), 3, TSR_MAX_RANK));
    if (b->status == TSR_OK && p < 1)
        tsr_build_fail(b,
                       tsr_fail(TSR_ERROR_INVALID_MODEL, "attribute \"p\" is %lld", (long long)p));
    return p;
}

/* (sum |x|^p)^(1/p) over an image. */
void tsr_build_global_lp_pool(tsr_builder *b) {
    const int64_t p = read_p(b);
    int64_t axes[TSR_MAX_RANK];
    if (b->status != TSR_OK)
        return;
    int rank = input(b, 0)->shape.rank, x = b->node->inputs[0];
    for (int i = 2; i < rank; i++)
        axes[i - 2] = i;
    int over = tsr_build_ints(b, rank - 2, axes);
    if (p <= 2)
        TSR_BUILD(b, p == 1 ? TSR_OP_ReduceL1 : TSR_OP_ReduceL2, x, over);
    else
        root(b, TSR_BUILD(b, TSR_OP_ReduceSum, power(b, p), over), p);
}

/* The attributes of a pool whose windows, placed by auto_pad and ceil_mode, pads place as well. */
static int place_windows(tsr_builder *b, tsr_attr attrs[4], double *size) {
    tsr_window window;
    tsr_node pool = *b->node;
    int64_t lists[3][TSR_WINDOW_AXES], pads[2 * TSR_WINDOW_AXES];
    pool.op = TSR_OP_AveragePool;
    *size = 1;
    tsr_build_fail(b, tsr_node_window(b->graph, &pool, &window));
    if (b->status != TSR_OK)
        return 0;
    int rank = window.spatial_rank;
    for (int i = 0; i < rank; i++) {
        int axis = tsr_window_axis(&window, i);
        int64_t last =
                    (window.out[axis] - 1) * window.stride[axis] + tsr_window_extent(&window, axis),
                behind = last - window.in[axis] - window.pad_begin[axis];
        lists[0][i] = window.kernel[axis];
        lists[1][i] = window.stride[axis];
        lists[2][i] = window.dilation[axis];
        pads[i] = window.pad_begin[axis];
        pads[rank + i] = behind > 0 ? behind : 0;
        *size *= (double)window.kernel[axis];
    }
    attrs[0] = tsr_build_ints_attr(b, "kernel_shape", rank, lists[0]);
    attrs[1] = tsr_build_ints_attr(b, "strides", rank, lists[1]);
    attrs[2] = tsr_build_ints_attr(b, "dilations", rank, lists[2]);
    attrs[3] = tsr_build_ints_attr(b, "pads", 2 * rank, pads);
    return 4;
}

/* The same over windows: means of them, in which padding counts, times their size. */
void tsr_build_lp_pool(tsr_builder *b) {
    const int64_t p = read_p(b);
    tsr_attr attrs[5];
    double size = 1;
    if (b->status != TSR_OK)
        return;
    int count = place_windows(b, attrs, &size);
    attrs[count++] = tsr_int_attr("count_include_pad", 1);
    int powers = power(b, p);
    int means = tsr_build_with(b, TSR_OP_AveragePool, 1, &powers, count, attrs);
    root(b, TSR_BUILD(b, TSR_OP_Mul, means, tsr_build_number(b, (float)size)), p);
}

/* MaxPool of bytes, as floats: they hold them exactly. */
void tsr_build_byte_max_pool(tsr_builder *b) {
    const tsr_node *node = b->node;
    int x = tsr_build_cast(b, node->inputs[0], TSR_DTYPE_F32);
    int most = tsr_build_with(b, TSR_OP_MaxPool, 1, &x, node->attr_count, node->attrs);
    tsr_node *made = b->status == TSR_OK ? &b->list->nodes[b->list->count - 1] : NULL;
    if (made && tsr_node_out(b->graph, node, 1)) {
        int *outputs = TSR_NEW(b->graph->arena, 2, int);
        if (!outputs) {
            tsr_build_fail(b, tsr_out_of_memory(b->graph));
            return;
        }
        outputs[0] = most;
        outputs[1] = node->outputs[1];
        made->outputs = outputs;
        made->output_count = 2;
    }
    tsr_build_cast_like(b, most, node->inputs[0]);
}

/* ---- MaxUnpool ---- */

/* The shape of the image that a pool of this kind had, and the pads at its end that make it as
 * large as output_shape. */
static tsr_status read_unpooled(const tsr_builder *b, tsr_shape *whole, int64_t *more) {
    const tsr_value *x = input(b, 0);
    int64_t kernel[TSR_MAX_RANK] = {0}, strides[TSR_MAX_RANK], pads[2 * TSR_MAX_RANK] = {0};
    const int64_t *given = NULL;
    int64_t count = 0;
    bool found;
    TSR_TRY(tsr_require_rank(x, 3, TSR_MAX_RANK));
    const int spatial = x->shape.rank - 2;
    for (int i = 0; i < spatial; i++)
        strides[i] = 1;
    TSR_TRY(tsr_read_ints(b->node, "strides", spatial, 1, strides, &found));
    TSR_TRY(tsr_read_ints(b->node, "pads", 2 * spatial, 0, pads, &found));
    TSR_TRY(tsr_read_ints(b->node, "kernel_shape", spatial, 1, kernel, &found));
    if (!tsr_shape_equal(&input(b, 1)->shape, &x->shape))
        return tsr_fail(TSR_ERROR_SHAPE, "indices of shape %s",
                        tsr_shape_text(&input(b, 1)->shape));
    if (input(b, 2))
        TSR_TRY(tsr_node_const_ints(b->graph, b->node, 2, &given, &count));
    if (given && count != x->shape.rank)
        return tsr_fail(TSR_ERROR_SHAPE, "output_shape of %lld axes", (long long)count);
    *whole = x->shape;
    for (int i = 0; i < spatial; i++) {
        const int axis = 2 + i;
        const int64_t size =
            (x->shape.dim[axis] - 1) * strides[i] + kernel[i] - pads[i] - pads[spatial + i];
        if (size < 1 || size > TSR_MAX_DIM)
            return tsr_fail(TSR_ERROR_SHAPE, "a size of %lld along axis %d", (long long)size, axis);
        if (given && (given[axis] < size || given[axis] > TSR_MAX_DIM))
            return tsr_fail(TSR_ERROR_SHAPE, "output_shape[%d] is %lld for a size of %lld", axis,
                            (long long)given[axis], (long long)size);
        whole->dim[axis] = size;
        more[x->shape.rank + axis] = given ? given[axis] - size : 0;
    }
    return TSR_OK;
}

/* Elements at their places in an image of zeros. */
void tsr_build_max_unpool(tsr_builder *b) {
    const tsr_shape shape = input(b, 0)->shape;
    tsr_shape whole;
    int64_t more[2 * TSR_MAX_RANK] = {0};
    tsr_build_fail(b, read_unpooled(b, &whole, more));
    if (b->status != TSR_OK)
        return;
    const int64_t all = tsr_shape_count(&whole);
    const tsr_shape list = {1, {tsr_shape_count(&shape)}};
    int zeros = TSR_BUILD(b, TSR_OP_Expand, tsr_build_number(b, 0), tsr_build_ints(b, 1, &all));
    int placed =
        TSR_BUILD(b, TSR_OP_ScatterElements, zeros, tsr_build_reshape(b, b->node->inputs[1], &list),
                  tsr_build_reshape(b, b->node->inputs[0], &list));
    int image = tsr_build_reshape(b, placed, &whole);
    TSR_BUILD(b, TSR_OP_Pad, image, tsr_build_ints(b, 2 * shape.rank, more));
}

/* ---- Col2Im ---- */

/* Lengths of the spatial axes of a Col2Im. */
typedef struct blocks {
    int axes;
    int64_t image[3], block[3], columns[3]; /* columns: how many blocks fit along an axis */
    int64_t extra[3];                       /* pixels behind the last block */
    int64_t elements, count;                /* of a block; blocks of an image */
} blocks;

static tsr_status read_blocks(const tsr_builder *b, blocks *read) {
    const int64_t *image, *block;
    int64_t axes, block_axes, steps[3] = {1, 1, 1}, gaps[3] = {1, 1, 1}, pads[6] = {0};
    bool found;
    TSR_TRY(tsr_require_float(b->graph, b->node, 1));
    TSR_TRY(tsr_require_rank(input(b, 0), 3, 3));
    TSR_TRY(tsr_node_const_ints(b->graph, b->node, 1, &image, &axes));
    TSR_TRY(tsr_node_const_ints(b->graph, b->node, 2, &block, &block_axes));
    if (axes < 1 || axes > 3 || block_axes != axes)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "image_shape and block_shape differ in length, or "
                                                 "have more than 3 axes");
    *read = (blocks){.axes = (int)axes, .elements = 1, .count = 1};
    TSR_TRY(tsr_read_ints(b->node, "strides", read->axes, 1, steps, &found));
    TSR_TRY(tsr_read_ints(b->node, "dilations", read->axes, 1, gaps, &found));
    TSR_TRY(tsr_read_ints(b->node, "pads", 2 * read->axes, 0, pads, &found));
    for (int i = 0; i < read->axes; i++) {
        if (block[i] < 1 || block[i] > TSR_MAX_DIM / read->elements || image[i] < 1 ||
            image[i] > TSR_MAX_DIM)
            return tsr_fail(TSR_ERROR_INVALID_MODEL,
                            "along axis %d image_shape is %lld, block_shape %lld", i,
                            (long long)image[i], (long long)block[i]);
        const int64_t room =
                          image[i] + pads[i] + pads[read->axes + i] - gaps[i] * (block[i] - 1) - 1,
                      columns = room < 0 ? 0 : room / steps[i] + 1;
        if (columns < 1 || columns > TSR_MAX_DIM / read->count)
            return tsr_fail(TSR_ERROR_SHAPE, "%lld blocks along axis %d", (long long)columns, i);
        read->image[i] = image[i];
        read->block[i] = block[i];
        read->columns[i] = columns;
        read->extra[i] = room % steps[i];
        read->elements *= block[i];
        read->count *= columns;
    }
    return TSR_OK;
}

/* A transposed convolution whose weights put each element of a block at its place. */
void tsr_build_col2im(tsr_builder *b) {
    const tsr_shape shape = input(b, 0)->shape;
    blocks read;
    tsr_build_fail(b, read_blocks(b, &read));
    if (b->status != TSR_OK)
        return;
    const int64_t elements = read.elements;
    if (shape.dim[1] % elements || shape.dim[2] != read.count) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_SHAPE, "%s is not %lld blocks of %lld elements",
                                   tsr_shape_text(&shape), (long long)read.count,
                                   (long long)elements));
        return;
    }
    tsr_shape weights = {.rank = read.axes + 2, .dim = {elements, 1}},
              columns = {.rank = read.axes + 2}, whole = {.rank = read.axes + 2};
    memcpy(weights.dim + 2, read.block, sizeof read.block);
    memcpy(columns.dim + 2, read.columns, sizeof read.columns);
    memcpy(whole.dim + 2, read.image, sizeof read.image);
    whole.dim[0] = shape.dim[0];
    whole.dim[1] = shape.dim[1] / elements;
    columns.dim[0] = whole.dim[0] * whole.dim[1];
    columns.dim[1] = elements;
    float *places = tsr_build_elements(b, elements * elements, sizeof *places);
    if (!places)
        return;
    for (int64_t i = 0; i < elements; i++)
        places[i * elements + i] = 1;
    const int inputs[] = {
        tsr_build_reshape(b, b->node->inputs[0], &columns),
        tsr_add_constant(b->graph, b->node->name, "places", input(b, 0)->dtype, &weights, places)};
    tsr_attr attrs[4] = {tsr_build_ints_attr(b, "output_padding", read.axes, read.extra)};
    int attr_count = 1;
    static const char *const names[] = {"dilations", "pads", "strides"};
    for (int i = 0; i < 3; i++)
        if (tsr_node_attr(b->node, names[i]))
            attrs[attr_count++] = *tsr_node_attr(b->node, names[i]);
    int made = tsr_build_with(b, TSR_OP_ConvTranspose, 2, inputs, attr_count, attrs);
    tsr_build_reshape(b, made, &whole);
}
