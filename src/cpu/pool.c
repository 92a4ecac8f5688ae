#include "cpu/call.h"

#include "base/error.h"

#include <math.h>

/* The image plane under one window. */
typedef struct plane {
    const tsr_window *window;
    const float *x;
    int64_t origin[2]; /* of the window, negative in the padding */
} plane;

static int64_t tap_at(const plane *p, int axis, int64_t tap) {
    return p->origin[axis] + tap * p->window->dilation[axis];
}

static bool is_inside(const plane *p, int64_t y, int64_t x) {
    return y >= 0 && y < p->window->in[0] && x >= 0 && x < p->window->in[1];
}

/* A window rounded up by ceil_mode may reach beyond the padding: such taps never count. */
static bool is_padding(const plane *p, int axis, int64_t at) {
    return at < p->window->in[axis] + p->window->pad_end[axis];
}

/* The largest element's value and position (y, x); a NaN is largest. */
static float max_under(const plane *p, int64_t position[2]) {
    float best = -INFINITY;
    bool found = false;
    position[0] = position[1] = 0;
    for (int64_t ky = 0; ky < p->window->kernel[0]; ky++) {
        for (int64_t kx = 0; kx < p->window->kernel[1]; kx++) {
            int64_t y = tap_at(p, 0, ky), x = tap_at(p, 1, kx);
            if (!is_inside(p, y, x))
                continue;
            float value = p->x[y * p->window->in[1] + x];
            if (!found || value > best || (isnan(value) && !isnan(best))) {
                found = true;
                best = value;
                position[0] = y;
                position[1] = x;
            }
        }
    }
    return best;
}

static float average_under(const plane *p) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t ky = 0; ky < p->window->kernel[0]; ky++) {
        for (int64_t kx = 0; kx < p->window->kernel[1]; kx++) {
            int64_t y = tap_at(p, 0, ky), x = tap_at(p, 1, kx);
            if (is_inside(p, y, x))
                sum += p->x[y * p->window->in[1] + x];
            else if (!p->window->count_include_pad || !is_padding(p, 0, y) || !is_padding(p, 1, x))
                continue;
            count++;
        }
    }
    return count ? (float)(sum / (double)count) : 0;
}

static void place(plane *p, int64_t oy, int64_t ox) {
    p->origin[0] = oy * p->window->stride[0] - p->window->pad_begin[0];
    p->origin[1] = ox * p->window->stride[1] - p->window->pad_begin[1];
}

/* Indices count through the whole input; storage_order 1 numbers each plane by columns. */
tsr_status tsr_cpu_max_pool(const tsr_cpu_call *call) {
    tsr_window w;
    TSR_TRY(tsr_node_window(call->graph, call->node, &w));
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    bool by_columns = tsr_attr_int(call->node, "storage_order", 0) != 0;
    float *y = tsr_call_out(call, 0);
    int64_t *indices = tsr_call_out(call, 1), in_plane = w.in[0] * w.in[1];
    for (int64_t i = 0; i < shape->dim[0] * shape->dim[1]; i++) {
        plane p = {.window = &w, .x = (const float *)tsr_call_in(call, 0) + i * in_plane};
        for (int64_t oy = 0; oy < w.out[0]; oy++) {
            for (int64_t ox = 0; ox < w.out[1]; ox++) {
                int64_t at[2];
                place(&p, oy, ox);
                *y++ = max_under(&p, at);
                if (indices)
                    *indices++ = i * in_plane +
                                 (by_columns ? at[1] * w.in[0] + at[0] : at[0] * w.in[1] + at[1]);
            }
        }
    }
    return TSR_OK;
}

tsr_status tsr_cpu_average_pool(const tsr_cpu_call *call) {
    tsr_window w;
    TSR_TRY(tsr_node_window(call->graph, call->node, &w));
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    float *y = tsr_call_out(call, 0);
    for (int64_t i = 0; i < shape->dim[0] * shape->dim[1]; i++) {
        plane p = {.window = &w, .x = (const float *)tsr_call_in(call, 0) + i * w.in[0] * w.in[1]};
        for (int64_t oy = 0; oy < w.out[0]; oy++) {
            for (int64_t ox = 0; ox < w.out[1]; ox++) {
                place(&p, oy, ox);
                *y++ = average_under(&p);
            }
        }
    }
    return TSR_OK;
}

tsr_status tsr_cpu_global_average_pool(const tsr_cpu_call *call) {
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    int64_t planes = shape->dim[0] * shape->dim[1], size = tsr_cpu_span(shape, 2, shape->rank);
    const float *x = tsr_call_in(call, 0);
    float *y = tsr_call_out(call, 0);
    for (int64_t i = 0; i < planes; i++) {
        double sum = 0;
        for (int64_t k = 0; k < size; k++)
            sum += x[i * size + k];
        y[i] = (float)(sum / (double)size);
    }
    return TSR_OK;
}
