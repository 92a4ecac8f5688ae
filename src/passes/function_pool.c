/* Function operators over windows: pools of powers, what a pool undoes, columns to an image. */
#include "passes/functions.h"

#include "base/error.h"
#include "graph/rules.h"

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

/* Elements at their places in an image of zeros, of the size that a pool of this kind had; a larger
 * output_shape adds rows and columns. */
void tsr_build_max_unpool(tsr_builder *b) {
    const tsr_shape shape = input(b, 0)->shape;
    const int spatial = shape.rank - 2;
    int count[3];
    const int64_t *kernel = tsr_attr_ints(b->node, "kernel_shape", &count[0]),
                  *strides = tsr_attr_ints(b->node, "strides", &count[1]),
                  *pads = tsr_attr_ints(b->node, "pads", &count[2]), *given = NULL;
    int64_t given_count = 0;
    tsr_build_fail(b, tsr_require_rank(input(b, 0), 3, TSR_MAX_RANK));
    if (b->status == TSR_OK && (count[0] != spatial || (strides && count[1] != spatial) ||
                                (pads && count[2] != 2 * spatial)))
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL,
                                   "kernel_shape, strides or pads do not fit %s",
                                   tsr_shape_text(&shape)));
    if (b->status == TSR_OK && !tsr_shape_equal(&input(b, 1)->shape, &shape))
        tsr_build_fail(b, tsr_fail(TSR_ERROR_SHAPE, "indices of shape %s",
                                   tsr_shape_text(&input(b, 1)->shape)));
    if (b->status == TSR_OK && input(b, 2))
        tsr_build_fail(b, tsr_node_const_ints(b->graph, b->node, 2, &given, &given_count));
    tsr_shape whole = shape;
    int64_t more[2 * TSR_MAX_RANK] = {0};
    for (int i = 0; b->status == TSR_OK && i < spatial; i++) {
        whole.dim[2 + i] = (shape.dim[2 + i] - 1) * (strides ? strides[i] : 1) + kernel[i] -
                           (pads ? pads[i] + pads[spatial + i] : 0);
        bool fits = !given || (given_count == shape.rank && given[2 + i] >= whole.dim[2 + i] &&
                               given[2 + i] <= TSR_MAX_DIM);
        if (!fits || whole.dim[2 + i] < 1 || whole.dim[2 + i] > TSR_MAX_DIM)
            tsr_build_fail(b, tsr_fail(TSR_ERROR_SHAPE,
                                       "output_shape, or a size of %lld along axis %d",
                                       (long long)whole.dim[2 + i], 2 + i));
        more[shape.rank + 2 + i] = given ? given[2 + i] - whole.dim[2 + i] : 0;
    }
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

static int64_t int_or(const int64_t *list, int i, int64_t usual) {
    return list ? list[i] : usual;
}

/* A transposed convolution whose weights put each element of a block at its place. */
void tsr_build_col2im(tsr_builder *b) {
    const tsr_shape shape = input(b, 0)->shape;
    const int64_t *image = NULL, *block = NULL;
    int64_t axes = 0, block_axes = 0;
    int count[3];
    const int64_t *dilations = tsr_attr_ints(b->node, "dilations", &count[0]),
                  *strides = tsr_attr_ints(b->node, "strides", &count[1]),
                  *pads = tsr_attr_ints(b->node, "pads", &count[2]);
    tsr_build_fail(b, tsr_require_float(b->graph, b->node, 1));
    tsr_build_fail(b, tsr_require_rank(input(b, 0), 3, 3));
    if (b->status == TSR_OK)
        tsr_build_fail(b, tsr_node_const_ints(b->graph, b->node, 1, &image, &axes));
    if (b->status == TSR_OK)
        tsr_build_fail(b, tsr_node_const_ints(b->graph, b->node, 2, &block, &block_axes));
    if (b->status == TSR_OK &&
        (axes < 1 || axes > 3 || block_axes != axes || (dilations && count[0] != axes) ||
         (strides && count[1] != axes) || (pads && count[2] != 2 * axes)))
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL,
                                   "image_shape, block_shape, dilations, pads or strides differ in "
                                   "length, or have more than 3 axes"));
    if (b->status != TSR_OK)
        return;
    int64_t elements = 1, blocks = 1, extra[3];
    tsr_shape weights = {.rank = (int)axes + 2, .dim = {0, 1}}, columns = {.rank = (int)axes + 2},
              whole = {.rank = (int)axes + 2};
    for (int i = 0; i < axes && b->status == TSR_OK; i++) {
        const int64_t step = int_or(strides, i, 1), gap = int_or(dilations, i, 1),
                      padding = int_or(pads, i, 0) + int_or(pads, i + (int)axes, 0);
        if (block[i] < 1 || block[i] > TSR_MAX_DIM / elements || image[i] < 1 ||
            image[i] > TSR_MAX_DIM || step < 1 || step > TSR_MAX_DIM || gap < 1 ||
            gap > TSR_MAX_DIM || padding < -TSR_MAX_DIM || padding > TSR_MAX_DIM) {
            tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "a size along axis %d", i));
            return;
        }
        const int64_t room = image[i] + padding - gap * (block[i] - 1) - 1;
        columns.dim[2 + i] = room < 0 ? 0 : room / step + 1;
        extra[i] = room < 0 ? 0 : room % step;
        elements *= block[i];
        blocks *= columns.dim[2 + i];
        weights.dim[2 + i] = block[i];
        whole.dim[2 + i] = image[i];
    }
    if (shape.dim[1] % elements || shape.dim[2] != blocks || blocks == 0) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_SHAPE, "%s is not %lld blocks of %lld elements",
                                   tsr_shape_text(&shape), (long long)blocks, (long long)elements));
        return;
    }
    whole.dim[0] = shape.dim[0];
    whole.dim[1] = shape.dim[1] / elements;
    columns.dim[0] = whole.dim[0] * whole.dim[1];
    columns.dim[1] = weights.dim[0] = elements;
    float *places = tsr_build_elements(b, elements * elements, sizeof *places);
    if (!places)
        return;
    for (int64_t i = 0; i < elements; i++)
        places[i * elements + i] = 1;
    const int inputs[] = {
        tsr_build_reshape(b, b->node->inputs[0], &columns),
        tsr_add_constant(b->graph, b->node->name, "places", input(b, 0)->dtype, &weights, places)};
    tsr_attr attrs[4] = {tsr_build_ints_attr(b, "output_padding", (int)axes, extra)};
    int attr_count = 1;
    static const char *const names[] = {"dilations", "pads", "strides"};
    for (int i = 0; i < 3; i++)
        if (tsr_node_attr(b->node, names[i]))
            attrs[attr_count++] = *tsr_node_attr(b->node, names[i]);
    int made = tsr_build_with(b, TSR_OP_ConvTranspose, 2, inputs, attr_count, attrs);
    tsr_build_reshape(b, made, &whole);
}
