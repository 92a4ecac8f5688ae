/* Conv, ConvTranspose and ConvWeightGrad, 1-D to 3-D. They relate a dense grid (Conv: the output,
 * ConvTranspose: the input) to a strided one (the other): for each kernel tap, element i of the
 * dense grid belongs to element i * stride + tap * dilation - pad of the strided one. */
#include "cpu/call.h"

#include "base/allocator.h"
#include "base/error.h"

#include <string.h>

typedef struct axis_range {
    int64_t first, end; /* dense indices whose strided element is inside the tensor */
    int64_t offset;     /* strided index of dense index 0 */
} axis_range;

static axis_range tap_range(const tsr_window *window, int axis, int64_t tap, int64_t dense,
                            int64_t strided) {
    int64_t stride = window->stride[axis];
    int64_t offset = tap * window->dilation[axis] - window->pad_begin[axis];
    int64_t first = offset >= 0 ? 0 : (-offset - 1) / stride + 1;
    int64_t end = offset >= strided ? 0 : (strided - offset - 1) / stride + 1;
    return (axis_range){first, end < dense ? end : dense, offset};
}

/* One call: sizes in elements, tensors. */
typedef struct conv {
    tsr_window window;
    int64_t batch, in_channels, out_channels;
    int64_t in_image, out_image, in_plane, out_plane, taps; /* planes of all depths of images */
    bool transposed;
    const float *x, *w, *bias;
    const tsr_cpu_call *call; /* has the output */
} conv;

static tsr_status conv_begin(conv *c, const tsr_cpu_call *call) {
    TSR_TRY(tsr_node_window(call->graph, call->node, &c->window));
    c->batch = tsr_call_in_shape(call, 0)->dim[0];
    c->in_channels = tsr_call_in_shape(call, 0)->dim[1];
    c->out_channels = tsr_call_out_shape(call, 0)->dim[1];
    c->in_image = c->window.in[TSR_ROWS] * c->window.in[TSR_COLUMNS];
    c->out_image = c->window.out[TSR_ROWS] * c->window.out[TSR_COLUMNS];
    c->in_plane = c->in_image * c->window.in[TSR_DEPTH];
    c->out_plane = c->out_image * c->window.out[TSR_DEPTH];
    c->taps = c->window.kernel[0] * c->window.kernel[1] * c->window.kernel[TSR_DEPTH];
    c->transposed = call->node->op == TSR_OP_ConvTranspose;
    c->x = tsr_call_in(call, 0);
    c->w = tsr_call_in(call, 1);
    c->bias = tsr_call_in(call, 2);
    c->call = call;
    return TSR_OK;
}

/* Adds the products of an image of one input channel to the sums of one of an output channel. */
typedef void add_image_fn(const tsr_window *window, const float *x, const float *w, double *sums);

static void conv_add_image(const tsr_window *window, const float *x, const float *w, double *sums) {
    for (int64_t ky = 0; ky < window->kernel[0]; ky++) {
        axis_range ys = tap_range(window, 0, ky, window->out[0], window->in[0]);
        for (int64_t kx = 0; kx < window->kernel[1]; kx++) {
            axis_range xs = tap_range(window, 1, kx, window->out[1], window->in[1]);
            double weight = w[ky * window->kernel[1] + kx];
            for (int64_t oy = ys.first; oy < ys.end; oy++) {
                const float *in = x + (oy * window->stride[0] + ys.offset) * window->in[1];
                double *out = sums + oy * window->out[1];
                for (int64_t ox = xs.first; ox < xs.end; ox++)
                    out[ox] += weight * in[ox * window->stride[1] + xs.offset];
            }
        }
    }
}

static void conv_transpose_add_image(const tsr_window *window, const float *x, const float *w,
                                     double *sums) {
    for (int64_t ky = 0; ky < window->kernel[0]; ky++) {
        axis_range ys = tap_range(window, 0, ky, window->in[0], window->out[0]);
        for (int64_t kx = 0; kx < window->kernel[1]; kx++) {
            axis_range xs = tap_range(window, 1, kx, window->in[1], window->out[1]);
            double weight = w[ky * window->kernel[1] + kx];
            for (int64_t iy = ys.first; iy < ys.end; iy++) {
                const float *in = x + iy * window->in[1];
                double *out = sums + (iy * window->stride[0] + ys.offset) * window->out[1];
                for (int64_t ix = xs.first; ix < xs.end; ix++)
                    out[ix * window->stride[1] + xs.offset] += weight * in[ix];
            }
        }
    }
}

/* All depths of one channel. */
static void add_channel(const conv *c, add_image_fn *add_image, const float *x, const float *w,
                        double *sums) {
    const tsr_window *window = &c->window;
    int64_t area = window->kernel[TSR_ROWS] * window->kernel[TSR_COLUMNS];
    int64_t in = window->in[TSR_DEPTH], out = window->out[TSR_DEPTH];
    for (int64_t kd = 0; kd < window->kernel[TSR_DEPTH]; kd++) {
        axis_range depths =
            tap_range(window, TSR_DEPTH, kd, c->transposed ? in : out, c->transposed ? out : in);
        for (int64_t dense = depths.first; dense < depths.end; dense++) {
            int64_t strided = dense * window->stride[TSR_DEPTH] + depths.offset;
            add_image(window, x + (c->transposed ? dense : strided) * c->in_image, w + kd * area,
                      sums + (c->transposed ? strided : dense) * c->out_image);
        }
    }
}

/* All output channels of all images. w_in, w_out, w_group: strides of the weights, in elements,
 * of an input channel, an output channel and a group. */
static tsr_status conv_run(const conv *c, add_image_fn *add_image, int64_t w_in, int64_t w_out,
                           int64_t w_group) {
    int64_t group_in = c->in_channels / c->window.group;
    int64_t group_out = c->out_channels / c->window.group;
    double *sums = tsr_cpu_scratch(c->out_plane, sizeof *sums);
    if (!sums)
        return TSR_ERROR_OUT_OF_MEMORY;
    for (int64_t n = 0; n < c->batch; n++) {
        for (int64_t m = 0; m < c->out_channels; m++) {
            int64_t group = m / group_out;
            const float *x = c->x + (n * c->in_channels + group * group_in) * c->in_plane;
            const float *w = c->w + group * w_group + m % group_out * w_out;
            for (int64_t i = 0; i < c->out_plane; i++)
                sums[i] = c->bias ? c->bias[m] : 0;
            for (int64_t k = 0; k < group_in; k++)
                add_channel(c, add_image, x + k * c->in_plane, w + k * w_in, sums);
            tsr_call_store_sums(c->call, (n * c->out_channels + m) * c->out_plane, c->out_plane,
                                sums);
        }
    }
    tsr_free(sums);
    return TSR_OK;
}

/* Weights [M, C / group, kernel...]. */
tsr_status tsr_cpu_conv(const tsr_cpu_call *call) {
    conv c;
    TSR_TRY(conv_begin(&c, call));
    int64_t filter = c.in_channels / c.window.group * c.taps;
    return conv_run(&c, conv_add_image, c.taps, filter, c.out_channels / c.window.group * filter);
}

/* Weights [C, M / group, kernel...]. */
tsr_status tsr_cpu_conv_transpose(const tsr_cpu_call *call) {
    conv c;
    TSR_TRY(conv_begin(&c, call));
    int64_t filter = c.out_channels / c.window.group * c.taps;
    return conv_run(&c, conv_transpose_add_image, filter, c.taps,
                    c.in_channels / c.window.group * filter);
}

/* ---- the gradient of the weights ---- */

/* The sum of an image's products of a tap. */
static double sum_image(const tsr_window *window, const float *x, const float *dy, int64_t ky,
                        int64_t kx) {
    axis_range ys = tap_range(window, 0, ky, window->out[0], window->in[0]);
    axis_range xs = tap_range(window, 1, kx, window->out[1], window->in[1]);
    double sum = 0;
    for (int64_t oy = ys.first; oy < ys.end; oy++) {
        const float *in = x + (oy * window->stride[0] + ys.offset) * window->in[1];
        const float *out = dy + oy * window->out[1];
        for (int64_t ox = xs.first; ox < xs.end; ox++)
            sum += (double)out[ox] * in[ox * window->stride[1] + xs.offset];
    }
    return sum;
}

/* Adds a channel of the gradient times one of the input to the sums of all taps. */
static void add_taps(const conv *c, const float *x, const float *dy, double *sums) {
    const tsr_window *w = &c->window;
    for (int64_t kd = 0; kd < w->kernel[TSR_DEPTH]; kd++) {
        axis_range depths = tap_range(w, TSR_DEPTH, kd, w->out[TSR_DEPTH], w->in[TSR_DEPTH]);
        for (int64_t ky = 0; ky < w->kernel[TSR_ROWS]; ky++)
            for (int64_t kx = 0; kx < w->kernel[TSR_COLUMNS]; kx++, sums++)
                for (int64_t od = depths.first; od < depths.end; od++)
                    *sums +=
                        sum_image(w, x + (od * w->stride[TSR_DEPTH] + depths.offset) * c->in_image,
                                  dy + od * c->out_image, ky, kx);
    }
}

/* Input 1, where others have the weights, is the gradient of the result. */
tsr_status tsr_cpu_conv_weight_grad(const tsr_cpu_call *call) {
    conv c;
    TSR_TRY(conv_begin(&c, call));
    c.out_channels = tsr_call_in_shape(call, 1)->dim[1];
    int64_t group_in = c.in_channels / c.window.group;
    int64_t group_out = c.out_channels / c.window.group;
    double *sums = tsr_cpu_scratch(c.taps, sizeof *sums);
    if (!sums)
        return TSR_ERROR_OUT_OF_MEMORY;
    for (int64_t i = 0; i < c.out_channels * group_in; i++) {
        int64_t m = i / group_in, k = m / group_out * group_in + i % group_in;
        memset(sums, 0, (size_t)c.taps * sizeof *sums);
        for (int64_t n = 0; n < c.batch; n++)
            add_taps(&c, c.x + (n * c.in_channels + k) * c.in_plane,
                     c.w + (n * c.out_channels + m) * c.out_plane, sums);
        tsr_call_store_sums(call, i * c.taps, c.taps, sums);
    }
    tsr_free(sums);
    return TSR_OK;
}
