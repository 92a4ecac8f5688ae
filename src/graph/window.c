/* Sliding windows: kernel, stride, dilation and padding of convolutions and pools. */
#include "graph/rules.h"

#include "base/error.h"

#include <inttypes.h>

enum { NOTSET, VALID, SAME_UPPER, SAME_LOWER };

static const char *const auto_pad_names[] = {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"};

static bool is_pool(const tsr_node *node) {
    return node->op == TSR_OP_MaxPool || node->op == TSR_OP_AveragePool ||
           node->op == TSR_OP_MaxPoolGrad;
}

int tsr_window_axis(const tsr_window *window, int i) {
    return window->spatial_rank == TSR_WINDOW_AXES ? (i + TSR_DEPTH) % TSR_WINDOW_AXES
                                                   : 2 - window->spatial_rank + i;
}

/* An integer for each spatial axis of the model, stored by the window's. */
static tsr_status read_axes(const tsr_node *node, const char *name, const tsr_window *window,
                            int64_t min, int64_t result[TSR_WINDOW_AXES], bool *found) {
    int64_t given[TSR_WINDOW_AXES];
    TSR_TRY(tsr_read_ints(node, name, window->spatial_rank, min, given, found));
    for (int i = 0; i < window->spatial_rank && *found; i++)
        result[tsr_window_axis(window, i)] = given[i];
    return TSR_OK;
}

/* ---- kernel, channels ---- */

static tsr_status read_kernel_shape(const tsr_node *node, tsr_window *window) {
    bool found;
    TSR_TRY(read_axes(node, "kernel_shape", window, 1, window->kernel, &found));
    return found ? TSR_OK : tsr_fail(TSR_ERROR_INVALID_MODEL, "it has no kernel_shape");
}

/* Weights are [Cout, Cin/group, ...] of Conv, [Cin, Cout/group, ...] of ConvTranspose. */
static tsr_status check_channels(const tsr_graph *graph, const tsr_node *node,
                                 const tsr_window *window) {
    const tsr_value *x = tsr_node_in(graph, node, 0), *w = tsr_node_in(graph, node, 1);
    bool transposed = node->op == TSR_OP_ConvTranspose;
    int64_t group = window->group, in_channels = x->shape.dim[1];
    if (w->shape.dim[0] % group != 0 || in_channels % group != 0)
        return tsr_fail(TSR_ERROR_SHAPE,
                        "%" PRId64 " groups divide neither %" PRId64
                        " channels nor weights of shape %s",
                        group, in_channels, tsr_shape_text(&w->shape));
    if (in_channels != (transposed ? w->shape.dim[0] : w->shape.dim[1] * group))
        return tsr_fail(TSR_ERROR_SHAPE,
                        "weights of shape %s do not fit %" PRId64 " channels in %" PRId64 " groups",
                        tsr_shape_text(&w->shape), in_channels, group);
    int64_t out_channels = transposed ? w->shape.dim[1] * group : w->shape.dim[0];
    return tsr_require_vector(tsr_node_in(graph, node, 2), out_channels);
}

static tsr_status read_group(const tsr_node *node, tsr_window *window) {
    window->group = tsr_attr_int(node, "group", 1);
    if (window->group < 1 || window->group > TSR_MAX_DIM)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "group is %" PRId64, window->group);
    return TSR_OK;
}

static tsr_status read_weights(const tsr_graph *graph, const tsr_node *node, tsr_window *window) {
    const tsr_value *w = tsr_node_in(graph, node, 1);
    int rank = window->spatial_rank;
    TSR_TRY(tsr_require_rank(w, rank + 2, rank + 2));
    int64_t declared[TSR_WINDOW_AXES];
    bool found;
    TSR_TRY(tsr_read_ints(node, "kernel_shape", rank, 1, declared, &found));
    for (int i = 0; i < rank; i++) {
        int64_t size = w->shape.dim[2 + i];
        if (size < 1 || (found && declared[i] != size))
            return tsr_fail(TSR_ERROR_SHAPE, "weights of shape %s do not fit the kernel",
                            tsr_shape_text(&w->shape));
        window->kernel[tsr_window_axis(window, i)] = size;
    }
    TSR_TRY(read_group(node, window));
    return check_channels(graph, node, window);
}

static tsr_status read_kernel(const tsr_graph *graph, const tsr_node *node, tsr_window *window) {
    if (is_pool(node))
        return read_kernel_shape(node, window);
    if (node->op != TSR_OP_ConvWeightGrad)
        return read_weights(graph, node, window);
    TSR_TRY(read_kernel_shape(node, window));
    return read_group(node, window);
}

/* ---- placing the window ---- */

int64_t tsr_window_extent(const tsr_window *window, int axis) {
    return (window->kernel[axis] - 1) * window->dilation[axis] + 1;
}

/* Kernels compute positions in 32 bits, so windows and padded inputs are limited as dimensions
 * are. */
static tsr_status check_length(const char *what, int64_t length) {
    if (length > TSR_MAX_DIM)
        return tsr_fail(TSR_ERROR_SHAPE, "%s of %" PRId64 " pixels is too large", what, length);
    return TSR_OK;
}

static void share_padding(tsr_window *window, int axis, int64_t total, bool more_at_end) {
    window->pad_begin[axis] = more_at_end ? total / 2 : total - total / 2;
    window->pad_end[axis] = total - window->pad_begin[axis];
}

static tsr_status read_pads(const tsr_node *node, tsr_window *window) {
    int rank = window->spatial_rank;
    int64_t pads[2 * TSR_WINDOW_AXES]; /* all begins, then all ends */
    bool found;
    TSR_TRY(tsr_read_ints(node, "pads", 2 * rank, 0, pads, &found));
    for (int i = 0; i < rank && found; i++) {
        int axis = tsr_window_axis(window, i);
        window->pad_begin[axis] = pads[i];
        window->pad_end[axis] = pads[rank + i];
        if (is_pool(node) && (pads[i] >= tsr_window_extent(window, axis) ||
                              pads[rank + i] >= tsr_window_extent(window, axis)))
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "pads have to be smaller than the window");
    }
    return TSR_OK;
}

static tsr_status place_axis(tsr_window *window, int axis, int auto_pad) {
    int64_t in = window->in[axis], stride = window->stride[axis];
    if (auto_pad == SAME_UPPER || auto_pad == SAME_LOWER) {
        int64_t out = (in + stride - 1) / stride;
        int64_t total = (out - 1) * stride + tsr_window_extent(window, axis) - in;
        share_padding(window, axis, total > 0 ? total : 0, auto_pad == SAME_UPPER);
        window->out[axis] = out;
        return check_length("a padded input", in + (total > 0 ? total : 0));
    }
    bool ceil_mode = window->ceil_mode && auto_pad == NOTSET;
    int64_t before = in + window->pad_begin[axis];
    TSR_TRY(check_length("a padded input", before + window->pad_end[axis]));
    int64_t room = before + window->pad_end[axis] - tsr_window_extent(window, axis);
    if (ceil_mode)
        room += stride - 1;
    if (room < 0)
        return tsr_fail(TSR_ERROR_SHAPE,
                        "a window of %" PRId64 " is larger than the padded input of %" PRId64,
                        tsr_window_extent(window, axis), before + window->pad_end[axis]);
    int64_t out = room / stride + 1;
    if (ceil_mode && (out - 1) * stride >= before) /* the last window would start after the input */
        out--;
    window->out[axis] = out;
    return TSR_OK;
}

static tsr_status place_window(const tsr_node *node, tsr_window *window, int auto_pad) {
    if (auto_pad == NOTSET)
        TSR_TRY(read_pads(node, window));
    for (int i = 0; i < window->spatial_rank; i++)
        TSR_TRY(place_axis(window, tsr_window_axis(window, i), auto_pad));
    return TSR_OK;
}

/* Afterwards, per axis: out = stride * (in - 1) + extent + output_padding - pad_begin - pad_end. */
static tsr_status place_transposed(const tsr_node *node, tsr_window *window, int auto_pad) {
    bool found, sized;
    TSR_TRY(read_axes(node, "output_padding", window, 0, window->output_padding, &found));
    TSR_TRY(read_axes(node, "output_shape", window, 1, window->out, &sized));
    if (auto_pad == NOTSET && !sized)
        TSR_TRY(read_pads(node, window));
    for (int i = 0; i < window->spatial_rank; i++) {
        int axis = tsr_window_axis(window, i);
        int64_t stride = window->stride[axis], in = window->in[axis];
        if (window->output_padding[axis] >= stride &&
            window->output_padding[axis] >= window->dilation[axis])
            return tsr_fail(TSR_ERROR_INVALID_MODEL,
                            "output_padding has to be smaller than stride or dilation");
        int64_t full =
            stride * (in - 1) + window->output_padding[axis] + tsr_window_extent(window, axis);
        TSR_TRY(check_length("a result before its crop", full));
        if (sized || auto_pad == SAME_UPPER || auto_pad == SAME_LOWER) {
            int64_t total = full - (sized ? window->out[axis] : stride * in);
            share_padding(window, axis, total > 0 ? total : 0, auto_pad == SAME_UPPER);
        }
        int64_t out = full - window->pad_begin[axis] - window->pad_end[axis];
        if (sized && out < window->out[axis]) {
            window->output_padding[axis] += window->out[axis] - out;
            out = window->out[axis];
        }
        if (out < 1)
            return tsr_fail(TSR_ERROR_SHAPE, "padding removes the whole result of %" PRId64, full);
        window->out[axis] = out;
    }
    return TSR_OK;
}

tsr_status tsr_node_window(const tsr_graph *graph, const tsr_node *node, tsr_window *window) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    int rank = x->shape.rank - 2;
    TSR_TRY(tsr_require_rank(x, 3, TSR_MAX_RANK));
    if (rank > TSR_WINDOW_AXES)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "%d spatial axes are not supported, only 1 to 3",
                        rank);
    *window = (tsr_window){.spatial_rank = rank,
                           .in = {1, 1, 1},
                           .out = {1, 1, 1},
                           .kernel = {1, 1, 1},
                           .stride = {1, 1, 1},
                           .dilation = {1, 1, 1},
                           .group = 1};
    for (int i = 0; i < rank; i++) {
        window->in[tsr_window_axis(window, i)] = x->shape.dim[2 + i];
        if (x->shape.dim[2 + i] == 0)
            return tsr_fail(TSR_ERROR_SHAPE, "the input has no pixels");
    }
    TSR_TRY(read_kernel(graph, node, window));
    bool found;
    TSR_TRY(read_axes(node, "strides", window, 1, window->stride, &found));
    TSR_TRY(read_axes(node, "dilations", window, 1, window->dilation, &found));
    for (int axis = 0; axis < TSR_WINDOW_AXES; axis++)
        TSR_TRY(check_length("a window", tsr_window_extent(window, axis)));
    window->ceil_mode = is_pool(node) && tsr_attr_int(node, "ceil_mode", 0) != 0;
    window->count_include_pad = tsr_attr_int(node, "count_include_pad", 0) != 0;
    int auto_pad;
    TSR_TRY(tsr_read_choice(node, "auto_pad", auto_pad_names, 4, &auto_pad));
    return node->op == TSR_OP_ConvTranspose ? place_transposed(node, window, auto_pad)
                                            : place_window(node, window, auto_pad);
}

tsr_shape tsr_window_result(const tsr_value *x, const tsr_window *window, int64_t channels) {
    tsr_shape shape = {.rank = x->shape.rank, .dim = {x->shape.dim[0], channels}};
    for (int i = 0; i < window->spatial_rank; i++)
        shape.dim[2 + i] = window->out[tsr_window_axis(window, i)];
    return shape;
}

tsr_status tsr_require_gradient(const tsr_graph *graph, const tsr_node *node,
                                const tsr_window *window, int64_t channels) {
    const tsr_shape *given = &tsr_node_in(graph, node, 1)->shape,
                    result = tsr_window_result(tsr_node_in(graph, node, 0), window, channels);
    return tsr_shape_equal(given, &result)
               ? TSR_OK
               : tsr_fail(TSR_ERROR_SHAPE, "the gradient's shape is %s; the result has %s",
                          tsr_shape_text(given), tsr_shape_text(&result));
}
