/* Resize. Linear and cubic are separable: one axis after the other, in double. */
#include "cpu/call.h"

#include "base/allocator.h"
#include "base/error.h"

#include <string.h>

static tsr_status resize_nearest(const tsr_cpu_call *call, const tsr_resize *resize) {
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    tsr_dtype dtype = tsr_node_in(call->graph, call->node, 0)->dtype;
    int64_t stride[TSR_MAX_RANK];
    tsr_cpu_strides(shape, stride);
    tsr_remap remap;
    TSR_TRY(tsr_remap_create(&remap, tsr_call_out_shape(call, 0)));
    for (int axis = 0; axis < remap.rank; axis++) {
        for (int64_t i = 0; i < remap.count[axis]; i++) {
            int64_t index = tsr_resize_nearest_index(resize, axis, shape->dim[axis], i);
            remap.offset[axis][i] = index < 0 ? -1 : index * stride[axis];
        }
    }
    bool is_float = tsr_dtype_is_float(dtype);
    int64_t fill_int = is_float ? 0 : tsr_dtype_int_of_float(dtype, resize->extrapolation_value);
    const void *fill =
        is_float ? (const void *)&resize->extrapolation_value : (const void *)&fill_int;
    tsr_remap_run(&remap, call, fill);
    return TSR_OK;
}

/* x [outer, in, inner] -> y [outer, out, inner], y zeroed. */
typedef struct lines {
    int64_t outer, in, out, inner;
    const double *x;
    double *y;
} lines;

/* Lines i of y += weight * lines `index` of x. */
static void add_lines(const lines *l, int64_t i, double weight, int64_t index) {
    for (int64_t o = 0; o < l->outer; o++) {
        double *to = l->y + (o * l->out + i) * l->inner;
        const double *from = l->x + (o * l->in + index) * l->inner;
        for (int64_t j = 0; j < l->inner; j++)
            to[j] += weight * from[j];
    }
}

static void interpolate_lines(const tsr_resize *resize, int axis, const lines *l, int64_t i) {
    tsr_resize_taps t = tsr_resize_taps_at(resize, axis, l->in, i);
    for (int k = 0; k < t.count; k++)
        add_lines(l, i, t.weight[k], t.index[k]);
}

static void filter_lines(const tsr_resize *resize, int axis, const lines *l, int64_t i) {
    tsr_resize_filter filter = tsr_resize_filter_at(resize, axis, l->in, i);
    for (int64_t k = 0; k < filter.count; k++) {
        int64_t index;
        double weight = tsr_resize_filter_tap(resize, &filter, k, &index);
        if (weight != 0) /* times infinity is NaN */
            add_lines(l, i, weight, index);
    }
}

static void resize_axis(const tsr_resize *resize, int axis, const lines *l) {
    bool filtered = tsr_resize_is_filtered(resize, axis);
    for (int64_t i = 0; i < l->out; i++)
        (filtered ? filter_lines : interpolate_lines)(resize, axis, l, i);
}

/* Does the axis keep its elements? */
static bool is_untouched(const tsr_resize *resize, int axis, int64_t in) {
    bool same = in == resize->out[axis] && !tsr_resize_is_filtered(resize, axis);
    for (int64_t i = 0; same && i < in; i++)
        same = tsr_resize_coordinate(resize, axis, in, i) == (float)i;
    return same;
}

/* tf_crop_and_resize: positions outside the input along any axis become the extrapolation value. */
static tsr_status extrapolate(const tsr_cpu_call *call, const tsr_resize *resize) {
    const tsr_shape *in = tsr_call_in_shape(call, 0), *out = tsr_call_out_shape(call, 0);
    int64_t stride[TSR_MAX_RANK];
    tsr_cpu_strides(out, stride);
    float *y = tsr_call_out(call, 0);
    int64_t count = tsr_shape_count(out);
    for (int axis = 0; axis < out->rank; axis++) {
        for (int64_t i = 0; i < count; i++) {
            int64_t index = i / stride[axis] % out->dim[axis];
            if (tsr_resize_is_outside(resize, axis, in->dim[axis], index))
                y[i] = resize->extrapolation_value;
        }
    }
    return TSR_OK;
}

static tsr_status resize_smoothly(const tsr_cpu_call *call, const tsr_resize *resize) {
    tsr_shape shape = *tsr_call_in_shape(call, 0);
    int64_t count = tsr_shape_count(&shape);
    double *x = tsr_cpu_scratch(count, sizeof *x);
    if (!x)
        return TSR_ERROR_OUT_OF_MEMORY;
    for (int64_t i = 0; i < count; i++)
        x[i] = ((const float *)tsr_call_in(call, 0))[i];
    for (int axis = 0; axis < shape.rank; axis++) {
        int64_t in = shape.dim[axis];
        if (is_untouched(resize, axis, in))
            continue;
        shape.dim[axis] = resize->out[axis];
        count = tsr_shape_count(&shape);
        double *y = tsr_cpu_scratch(count, sizeof *y);
        if (!y) {
            tsr_free(x);
            return TSR_ERROR_OUT_OF_MEMORY;
        }
        memset(y, 0, (size_t)count * sizeof *y);
        const lines l = {.outer = tsr_dim_product(&shape, 0, axis),
                         .in = in,
                         .out = shape.dim[axis],
                         .inner = tsr_dim_product(&shape, axis + 1, shape.rank),
                         .x = x,
                         .y = y};
        resize_axis(resize, axis, &l);
        tsr_free(x);
        x = y;
    }
    for (int64_t i = 0; i < count; i++)
        ((float *)tsr_call_out(call, 0))[i] = (float)x[i];
    tsr_free(x);
    return resize->transform == TSR_TF_CROP_AND_RESIZE ? extrapolate(call, resize) : TSR_OK;
}

tsr_status tsr_cpu_resize(const tsr_cpu_call *call) {
    tsr_resize resize;
    TSR_TRY(tsr_node_resize(call->graph, call->node, &resize));
    const tsr_value *x = tsr_node_in(call->graph, call->node, 0);
    if (resize.mode == TSR_NEAREST)
        return resize_nearest(call, &resize);
    if (!tsr_dtype_is_float(x->dtype))
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "elements of type %s can only be resized by nearest",
                        tsr_dtype_name(x->dtype));
    return resize_smoothly(call, &resize);
}
