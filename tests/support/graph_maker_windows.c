/* Makers of random nodes: convolutions and pools. */
#include "support/graph_maker_parts.h"

#include <string.h>

/* Of a kernel over the spatial axes of an image. */
typedef struct window {
    int rank;
    int64_t kernel[3], stride[3], dilation[3], pads[6];
    const char *auto_pad;
} window;

static int64_t extent_of(const window *w, int axis) {
    return (w->kernel[axis] - 1) * w->dilation[axis] + 1;
}

/* weights: that have the kernel's size; NULL: none have it yet. */
static window draw_window(node_maker *m, const tsr_shape *image, int most_kernel,
                          const tsr_shape *weights) {
    static const char *const auto_pads[] = {"SAME_UPPER", "SAME_LOWER", "VALID"};
    window w = {.rank = image->rank - 2};
    if (one_in(m, 5))
        w.auto_pad = DRAW_ONE_OF(m, auto_pads);
    for (int i = 0; i < w.rank; i++) {
        int64_t size = image->dim[i + 2];
        w.kernel[i] = weights ? weights->dim[i + 2] : draw(m, 1, most_kernel);
        w.stride[i] = one_in(m, 2) ? 1 : draw(m, 1, 3);
        w.dilation[i] = one_in(m, 4) ? draw(m, 2, 3) : 1;
        if (extent_of(&w, i) > size && !weights)
            w.kernel[i] = draw(m, 1, (int)(size < most_kernel ? size : most_kernel));
        if (extent_of(&w, i) > size)
            w.dilation[i] = 1;
        w.pads[i] = draw(m, 0, (int)w.kernel[i] - 1);
        w.pads[i + w.rank] = draw(m, 0, (int)w.kernel[i] - 1);
    }
    return w;
}

static void add_kernel(node_maker *m, const window *w) {
    add_ints_attribute(m, "kernel_shape", w->kernel, w->rank);
    add_ints_attribute(m, "strides", w->stride, w->rank);
    add_ints_attribute(m, "dilations", w->dilation, w->rank);
}

static void add_window(node_maker *m, const window *w) {
    add_kernel(m, w);
    if (w->auto_pad)
        text_add(&m->text, " auto_pad=%s", w->auto_pad);
    else if (!one_in(m, 3))
        add_ints_attribute(m, "pads", w->pads, 2 * w->rank);
}

static int draw_group(node_maker *m, int64_t channels) {
    int group = one_in(m, 2) ? 1 : one_in(m, 2) ? (int)channels : draw(m, 1, (int)channels);
    return channels % group ? 1 : group;
}

/* Can a value be the weights of a convolution of x? Then its group. */
static bool fits_as_weights(node_maker *m, int x, int value, bool transposed, int *group) {
    const tsr_shape *image = shape_of(m, x), *weights = shape_of(m, value);
    if (!is_image(&m->values[value]) || weights->rank != image->rank ||
        image->dim[1] % weights->dim[1] || (transposed && weights->dim[0] != image->dim[1]))
        return false;
    const int64_t groups =
        transposed ? draw_group(m, image->dim[1]) : image->dim[1] / weights->dim[1];
    bool fits = weights->dim[0] % groups == 0;
    for (int i = 2; i < image->rank; i++)
        fits &= weights->dim[i] <= image->dim[i];
    if (fits)
        *group = (int)groups;
    return fits;
}

/* Sometimes a value of the graph, maybe x itself; -1: constants. */
static int pick_weights(node_maker *m, int x, bool transposed, int *group) {
    if (!one_in(m, 4))
        return -1;
    for (int i = 0; i < TRIES; i++) {
        int value = draw(m, 0, m->value_count - 1);
        if (fits_as_weights(m, x, value, transposed, group))
            return value;
    }
    return -1;
}

/* " x weights [bias] -> y" with the weights' first axes given; weights: a value, or -1. */
static void add_filter(node_maker *m, int weights, int64_t first, int64_t second, const window *w,
                       int64_t outputs) {
    int64_t dims[5] = {first, second};
    memcpy(dims + 2, w->kernel, sizeof w->kernel);
    if (weights >= 0)
        text_add(&m->text, " $%d", weights);
    else
        add_weights(m, first * second > 16 ? 'q' : 'w', w->rank + 2, dims);
    if (one_in(m, 2))
        add_weights(m, 'w', 1, &outputs);
    add_outputs(m, 1);
}

bool make_conv(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int group = draw_group(m, shape->dim[1]), weights = pick_weights(m, x, false, &group);
    const tsr_shape *of_weights = weights < 0 ? NULL : shape_of(m, weights);
    const window w = draw_window(m, shape, 5, of_weights);
    int64_t outputs = of_weights ? of_weights->dim[0]
                                 : group * draw(m, 1,
                                                group == 1  ? 18
                                                : group < 4 ? 5
                                                            : 2);
    begin(m, "Conv", x);
    add_filter(m, weights, outputs, shape->dim[1] / group, &w, outputs);
    add_window(m, &w);
    text_add(&m->text, " group=%d", group);
    return true;
}

bool make_conv_transpose(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int group = draw_group(m, shape->dim[1]), weights = pick_weights(m, x, true, &group);
    const tsr_shape *of_weights = weights < 0 ? NULL : shape_of(m, weights);
    window w = draw_window(m, shape, 4, of_weights);
    int64_t each = of_weights ? of_weights->dim[1] : draw(m, 1, group == 1 ? 9 : 3), beyond[3];
    for (int i = 0; i < w.rank; i++) {
        w.pads[i] /= 2;
        w.pads[i + w.rank] /= 2;
        beyond[i] = draw(m, 0, (int)w.stride[i] - 1);
    }
    begin(m, "ConvTranspose", x);
    add_filter(m, weights, shape->dim[1], each, &w, each * group);
    add_window(m, &w);
    text_add(&m->text, " group=%d", group);
    if (!w.auto_pad && one_in(m, 2))
        add_ints_attribute(m, "output_padding", beyond, w.rank);
    else if (!w.auto_pad && one_in(m, 3)) {
        for (int i = 0; i < w.rank; i++) /* a little less than without pads */
            beyond[i] += (shape->dim[i + 2] - 1) * w.stride[i] + extent_of(&w, i) -
                         draw(m, 0, (int)w.kernel[i] - 1);
        add_ints_attribute(m, "output_shape", beyond, w.rank);
    }
    return true;
}

bool make_pool(node_maker *m, tsr_op op) {
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    const window w = draw_window(m, shape_of(m, x), 4, NULL);
    bool maximum = op == TSR_OP_MaxPool;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, maximum && one_in(m, 4) ? 2 : 1);
    add_window(m, &w);
    if (!w.auto_pad)
        text_add(&m->text, " ceil_mode=%d", draw(m, 0, 1));
    if (op == TSR_OP_LpPool)
        text_add(&m->text, " p=%d", draw(m, 1, 3));
    else
        text_add(&m->text, " %s=%d", maximum ? "storage_order" : "count_include_pad",
                 draw(m, 0, 1));
    return true;
}

bool make_global_pool(node_maker *m, tsr_op op) {
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    if (op == TSR_OP_GlobalLpPool)
        text_add(&m->text, " p=%d", draw(m, 1, 3));
    return true;
}

/* Pixels of a result along an axis of `size` pixels. */
static int64_t count_windows(const window *w, int axis, int64_t size, bool ceil_mode) {
    int64_t before = size + w->pads[axis], stride = w->stride[axis];
    int64_t room = before + w->pads[axis + w->rank] - extent_of(w, axis);
    int64_t count = (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
    return ceil_mode && (count - 1) * stride >= before ? count - 1 : count;
}

/* With a constant gradient of the result's shape. */
bool make_window_gradient(node_maker *m, tsr_op op) {
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    bool of_pool = op == TSR_OP_MaxPoolGrad, ceil_mode = of_pool && one_in(m, 2);
    window w = draw_window(m, shape, 4, NULL);
    int group = draw_group(m, shape->dim[1]);
    int64_t dims[5] = {shape->dim[0], of_pool ? shape->dim[1] : group * draw(m, 1, 6)};
    w.auto_pad = NULL;
    for (int i = 0; i < w.rank; i++)
        dims[i + 2] = count_windows(&w, i, shape->dim[i + 2], ceil_mode);
    begin(m, tsr_op_get_info(op)->name, x);
    add_weights(m, 'q', shape->rank, dims);
    add_outputs(m, 1);
    add_kernel(m, &w);
    add_ints_attribute(m, "pads", w.pads, 2 * w.rank);
    text_add(&m->text, " %s=%d", of_pool ? "ceil_mode" : "group", of_pool ? ceil_mode : group);
    return true;
}
