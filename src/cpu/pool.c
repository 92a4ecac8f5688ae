#include "cpu/call.h"

#include "base/allocator.h"
#include "base/error.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* One window on an image plane. */
typedef struct plane {
    const tsr_window *window;
    const float *x;
    int64_t origin[TSR_WINDOW_AXES]; /* of the window; negative in the padding */
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

static float element_at(const plane *p, const int64_t at[TSR_WINDOW_AXES]) {
    const int64_t *in = p->window->in;
    return p->x[(at[TSR_DEPTH] * in[TSR_ROWS] + at[TSR_ROWS]) * in[TSR_COLUMNS] + at[TSR_COLUMNS]];
}

/* Visits the elements under the window in row-major order; false after the last. */
typedef struct walk {
    const plane *p;
    taps on[TSR_WINDOW_AXES];
    int64_t tap[TSR_WINDOW_AXES], at[TSR_WINDOW_AXES];
} walk;

static bool begin_walk(walk *w, const plane *p) {
    bool any = true;
    w->p = p;
    for (int i = 0; i < TSR_WINDOW_AXES; i++) {
        w->on[i] = taps_on_image(p, i);
        w->tap[i] = w->on[i].first;
        w->at[i] = tap_at(p, i, w->tap[i]);
        any = any && w->on[i].end > w->on[i].first;
    }
    return any;
}

static bool next_tap(walk *w) {
    static const int order[] = {TSR_COLUMNS, TSR_ROWS, TSR_DEPTH};
    for (int i = 0; i < TSR_WINDOW_AXES; i++) {
        int axis = order[i];
        bool carry = ++w->tap[axis] == w->on[axis].end;
        if (carry)
            w->tap[axis] = w->on[axis].first;
        w->at[axis] = tap_at(w->p, axis, w->tap[axis]);
        if (!carry)
            return true;
    }
    return false;
}

/* The largest element and its position. NaN is larger than any number; of several NaN the last one
 * counts. */
static float max_under(const plane *p, int64_t position[TSR_WINDOW_AXES]) {
    float best = -FLT_MAX; /* of no elements */
    bool found = false;
    walk w;
    memset(position, 0, TSR_WINDOW_AXES * sizeof *position);
    for (bool more = begin_walk(&w, p); more; more = next_tap(&w)) {
        float value = element_at(p, w.at);
        if (!found || value > best || isnan(value)) {
            found = true;
            best = value;
            memcpy(position, w.at, sizeof w.at);
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
    double sum = 0, count = 1;
    walk w;
    for (int i = 0; i < TSR_WINDOW_AXES; i++)
        count *= (double)counted_taps(p, i);
    for (bool more = begin_walk(&w, p); more; more = next_tap(&w))
        sum += element_at(p, w.at);
    return count > 0 ? (float)(sum / count) : 0;
}

/* The windows of a channel's output elements, in row-major order. */
static void place(plane *p, int64_t index) {
    const tsr_window *w = p->window;
    const int64_t at[] = {
        [TSR_ROWS] = index / w->out[TSR_COLUMNS] % w->out[TSR_ROWS],
        [TSR_COLUMNS] = index % w->out[TSR_COLUMNS],
        [TSR_DEPTH] = index / w->out[TSR_COLUMNS] / w->out[TSR_ROWS],
    };
    for (int i = 0; i < TSR_WINDOW_AXES; i++)
        p->origin[i] = at[i] * w->stride[i] - w->pad_begin[i];
}

static int64_t volume(const int64_t size[TSR_WINDOW_AXES]) {
    return size[TSR_DEPTH] * size[TSR_ROWS] * size[TSR_COLUMNS];
}

/* Of an element of a channel; by_columns: the first axis varies fastest, not the last. */
static int64_t index_of(const tsr_window *w, const int64_t at[TSR_WINDOW_AXES], bool by_columns) {
    const int64_t *in = w->in;
    return by_columns
               ? at[TSR_DEPTH] + in[TSR_DEPTH] * (at[TSR_ROWS] + in[TSR_ROWS] * at[TSR_COLUMNS])
               : (at[TSR_DEPTH] * in[TSR_ROWS] + at[TSR_ROWS]) * in[TSR_COLUMNS] + at[TSR_COLUMNS];
}

/* Indices are offsets in the whole input; with storage_order 1 each plane is column-major. */
tsr_status tsr_cpu_max_pool(const tsr_cpu_call *call) {
    tsr_window w;
    TSR_TRY(tsr_node_window(call->graph, call->node, &w));
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    bool by_columns = tsr_attr_int(call->node, "storage_order", 0) != 0;
    float *y = tsr_call_out(call, 0);
    int64_t *indices = tsr_call_out(call, 1), in_plane = volume(w.in), at[TSR_WINDOW_AXES];
    for (int64_t i = 0; i < shape->dim[0] * shape->dim[1]; i++) {
        plane p = {.window = &w, .x = (const float *)tsr_call_in(call, 0) + i * in_plane};
        for (int64_t o = 0; o < volume(w.out); o++) {
            place(&p, o);
            *y++ = max_under(&p, at);
            if (indices)
                *indices++ = i * in_plane + index_of(&w, at, by_columns);
        }
    }
    return TSR_OK;
}

/* What a window has no maximum for, since it has no elements, goes nowhere. */
static void add_gradients(plane *p, const float *dy, double *sums) {
    int64_t at[TSR_WINDOW_AXES];
    for (int64_t o = 0; o < volume(p->window->out); o++) {
        place(p, o);
        if (!begin_walk(&(walk){0}, p))
            continue;
        max_under(p, at);
        sums[index_of(p->window, at, false)] += dy[o];
    }
}

tsr_status tsr_cpu_max_pool_grad(const tsr_cpu_call *call) {
    tsr_window w;
    TSR_TRY(tsr_node_window(call->graph, call->node, &w));
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    const float *x = tsr_call_in(call, 0), *dy = tsr_call_in(call, 1);
    int64_t in_plane = volume(w.in), out_plane = volume(w.out);
    double *sums = tsr_cpu_scratch(in_plane, sizeof *sums);
    if (!sums)
        return TSR_ERROR_OUT_OF_MEMORY;
    for (int64_t i = 0; i < shape->dim[0] * shape->dim[1]; i++) {
        plane p = {.window = &w, .x = x + i * in_plane};
        memset(sums, 0, (size_t)in_plane * sizeof *sums);
        add_gradients(&p, dy + i * out_plane, sums);
        tsr_call_store_sums(call, i * in_plane, in_plane, sums);
    }
    tsr_free(sums);
    return TSR_OK;
}

tsr_status tsr_cpu_average_pool(const tsr_cpu_call *call) {
    tsr_window w;
    TSR_TRY(tsr_node_window(call->graph, call->node, &w));
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    float *y = tsr_call_out(call, 0);
    for (int64_t i = 0; i < shape->dim[0] * shape->dim[1]; i++) {
        plane p = {.window = &w, .x = (const float *)tsr_call_in(call, 0) + i * volume(w.in)};
        for (int64_t o = 0; o < volume(w.out); o++) {
            place(&p, o);
            *y++ = average_under(&p);
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

tsr_status tsr_cpu_global_max_pool(const tsr_cpu_call *call) {
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    int64_t planes = shape->dim[0] * shape->dim[1], size = tsr_dim_product(shape, 2, shape->rank);
    const float *x = tsr_call_in(call, 0);
    float *y = tsr_call_out(call, 0);
    for (int64_t i = 0; i < planes; i++) {
        y[i] = -INFINITY;
        for (int64_t k = 0; k < size; k++) {
            float value = x[i * size + k];
            y[i] = value > y[i] || isnan(value) ? value : y[i];
        }
    }
    return TSR_OK;
}
