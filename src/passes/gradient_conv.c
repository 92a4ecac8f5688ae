/* Gradients of Conv and ConvTranspose. */
#include "passes/gradient_window.h"

/* ---- windows ---- */

bool tsr_grad_read_window(tsr_gradient_call *g, tsr_window *window) {
    tsr_build_fail(&g->b, tsr_node_window(g->b.graph, g->node, window));
    return g->b.status == TSR_OK;
}

/* A list of a number for each spatial axis of the model, or of two: of the begins and the ends. */
static tsr_attr axes_attr(tsr_gradient_call *g, const tsr_window *window, const char *name,
                          const int64_t *numbers, const int64_t *ends) {
    int64_t list[2 * TSR_WINDOW_AXES];
    int rank = window->spatial_rank;
    for (int i = 0; i < rank; i++) {
        list[i] = numbers[tsr_window_axis(window, i)];
        if (ends)
            list[rank + i] = ends[tsr_window_axis(window, i)];
    }
    return tsr_build_ints_attr(&g->b, name, ends ? 2 * rank : rank, list);
}

int tsr_grad_window_attrs(tsr_gradient_call *g, const tsr_window *window,
                          tsr_attr attrs[TSR_GRAD_WINDOW_ATTRS]) {
    attrs[0] = axes_attr(g, window, "kernel_shape", window->kernel, NULL);
    attrs[1] = axes_attr(g, window, "strides", window->stride, NULL);
    attrs[2] = axes_attr(g, window, "pads", window->pad_begin, window->pad_end);
    attrs[3] = axes_attr(g, window, "dilations", window->dilation, NULL);
    return 4;
}

/* The end is padded, or cut, such that the result is as large as the window's input was: elements
 * that no window covers get a zero. */
int tsr_grad_slide_back(tsr_gradient_call *g, const tsr_window *window, int dy, int weights) {
    tsr_window back = *window;
    tsr_attr attrs[TSR_GRAD_WINDOW_ATTRS];
    const int inputs[] = {dy, weights};
    for (int axis = 0; axis < TSR_WINDOW_AXES; axis++) {
        int64_t covered = (window->out[axis] - 1) * window->stride[axis] +
                          tsr_window_extent(window, axis) - window->pad_begin[axis],
                beyond = covered - window->in[axis];
        back.pad_end[axis] = beyond > 0 ? beyond : 0;
        back.output_padding[axis] = beyond < 0 ? -beyond : 0;
    }
    int count = tsr_grad_window_attrs(g, &back, attrs);
    attrs[count++] = axes_attr(g, &back, "output_padding", back.output_padding, NULL);
    attrs[count++] = tsr_int_attr("group", window->group);
    return tsr_build_with(&g->b, TSR_OP_ConvTranspose, 2, inputs, count, attrs);
}

/* ---- what both have ---- */

/* Of a convolution of x by a window that gives y. */
static int build_weight_gradient(tsr_gradient_call *g, const tsr_window *window, int x, int y) {
    const int inputs[] = {x, y};
    tsr_attr attrs[TSR_GRAD_WINDOW_ATTRS];
    int count = tsr_grad_window_attrs(g, window, attrs);
    attrs[count++] = tsr_int_attr("group", window->group);
    return tsr_build_with(&g->b, TSR_OP_ConvWeightGrad, 2, inputs, count, attrs);
}

/* The sum over all but the channels. */
static void give_bias(tsr_gradient_call *g) {
    const tsr_shape shape = tsr_grad_shape(g, g->dy), bias = {1, {shape.dim[1]}};
    int64_t axes[TSR_MAX_RANK];
    if (!tsr_grad_wants(g, 2))
        return;
    for (int i = 0; i < shape.rank - 1; i++)
        axes[i] = i == 0 ? 0 : i + 1;
    int sum = tsr_grad_reduce(g, TSR_OP_ReduceSum, g->dy, shape.rank - 1, axes);
    tsr_grad_give(g, 2, tsr_grad_reshape(g, sum, &bias));
}

/* ---- the rules ---- */

void tsr_gradient_conv(tsr_gradient_call *g) {
    tsr_window window;
    if (!tsr_grad_read_window(g, &window))
        return;
    if (tsr_grad_wants(g, 0))
        tsr_grad_give(g, 0, tsr_grad_slide_back(g, &window, g->dy, g->node->inputs[1]));
    if (tsr_grad_wants(g, 1))
        tsr_grad_give(g, 1, build_weight_gradient(g, &window, g->x, g->dy));
    give_bias(g);
}

/* The window of the convolution that goes from the result back to the input. Where the result was
 * made longer by a stride or more, it has a part that no window covers: *dy is cut. */
static tsr_window turn(tsr_gradient_call *g, const tsr_window *window, int *dy) {
    tsr_window back = *window;
    for (int i = 0; i < window->spatial_rank; i++) {
        int axis = tsr_window_axis(window, i);
        int64_t longer = window->output_padding[axis], pad = window->pad_end[axis];
        back.in[axis] = window->out[axis];
        back.out[axis] = window->in[axis];
        if (longer < window->stride[axis])
            continue;
        back.pad_end[axis] = pad > longer ? pad - longer : 0;
        if (longer > pad)
            *dy = tsr_build_slice(&g->b, *dy, 2 + i, 0, window->out[axis] - (longer - pad));
    }
    return back;
}

void tsr_gradient_conv_transpose(tsr_gradient_call *g) {
    tsr_window window;
    int dy = g->dy;
    if (!tsr_grad_read_window(g, &window))
        return;
    const tsr_window back = turn(g, &window, &dy);
    if (tsr_grad_wants(g, 0)) {
        tsr_attr attrs[TSR_GRAD_WINDOW_ATTRS];
        const int inputs[] = {dy, g->node->inputs[1]};
        int count = tsr_grad_window_attrs(g, &back, attrs);
        attrs[count++] = tsr_int_attr("group", window.group);
        tsr_grad_give(g, 0, tsr_build_with(&g->b, TSR_OP_Conv, 2, inputs, count, attrs));
    }
    if (tsr_grad_wants(g, 1))
        tsr_grad_give(g, 1, build_weight_gradient(g, &back, dy, g->x));
    give_bias(g);
}
