#include "cpu/call.h"

#include "base/error.h"

#include <float.h>
#include <math.h>

/* One window on an image plane. */
typedef struct plane {
    const tsr_window *window;
    const float *x;
    int64_t origin[2]; /* of the window, (y, x); negative in the padding */
} plane;

/* Kernel taps of an axis: first to end - 1. */
typedef struct taps {
    int64_t first, end;
} taps;

/* The taps at positions from to to - 1. Not a loop over all taps: a window may be far larger
 * than the image. */
static taps taps_within(const plane *p, int axis, int64_t from, int64_t to) {
    int64_t origin = p->origin[axis], step = p->window->dilation[axis];
    int64_t first = origin >= from ? 0 : (from - origin - 1) / step + 1;
    int64_t end = origin >= to ? 0 : (to - origin - 1) / step + 1;
    end = end < p->window->kernel[axis] ? end : p->window->kernel[axis];
    return (taps){first, end > first ? end : first};
}

static taps taps_on_image(const plane *p, int axis) {
    return taps_within(p, axis, 0, p->window->in[axis]);
}

static int64_t tap_at(const plane *p, int axis, int64_t tap) {
    return p->origin[axis] + tap * p->window->dilation[axis];
}

/* The largest element and its position (y, x). NaN is larger than any number; of several NaN the
 * last one counts. */
static float max_under(const plane *p, int64_t position[2]) {
    taps rows = taps_on_image(p, 0), columns = taps_on_image(p, 1);
    float best = -FLT_MAX; /* of no elements */
    bool found = false;
    position[0] = position[1] = 0;
    for (int64_t ky = rows.first; ky < rows.end; ky++) {
        for (int64_t kx = columns.first; kx < columns.end; kx++) {
            int64_t y = tap_at(p, 0, ky), x = tap_at(p, 1, kx);
            float value = p->x[y * p->window->in[1] + x];
            if (!found || value > best || isnan(value)) {
                found = true;
                best = value;
                position[0] = y;
                position[1] = x;
            }
        }
    }
    return best;
}

/* The number of taps of an axis that an average divides by. With ceil_mode a window may extend
 * beyond the padding: taps there never count. */
static int64_t counted_taps(const plane *p, int axis) {
    const tsr_window *w = p->window;
    taps counted = w->count_include_pad
                       ? taps_within(p, axis, -w->pad_begin[axis], w->in[axis] + w->pad_end[axis])
                       : taps_on_image(p, axis);
    return counted.end - counted.first;
}

static float average_under(const plane *p) {
    taps rows = taps_on_image(p, 0), columns = taps_on_image(p, 1);
    double sum = 0, count = (double)counted_taps(p, 0) * (double)counted_taps(p, 1);
    for (int64_t ky = rows.first; ky < rows.end; ky++)
        for (int64_t kx = columns.first; kx < columns.end; kx++)
            sum += p->x[tap_at(p, 0, ky) * p->window->in[1] + tap_at(p, 1, kx)];
    return count > 0 ? (float)(sum / count) : 0;
}

static void place(plane *p, int64_t oy, int64_t ox) {
    p->origin[0] = oy * p->window->stride[0] - p->window->pad_begin[0];
    p->origin[1] = ox * p->window->stride[1] - p->window->pad_begin[1];
}

/* Indices are offsets in the whole input; with storage_order 1 each plane is column-major. */
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
    int64_t planes = shape->dim[0] * shape->dim[1], size = tsr_dim_product(shape, 2, shape->rank);
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
