/* Resize: parameters, shape rule and coordinates, which are computed in float as ONNX Runtime
 * does. */
#include "graph/rules.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>

enum { STRETCH, NOT_LARGER, NOT_SMALLER };

static const char *const transforms[] = {
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
    "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
static const char *const modes[] = {"nearest", "linear", "cubic"};
static const char *const nearest_modes[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                            "ceil"};
static const char *const policies[] = {"stretch", "not_larger", "not_smaller"};

/* The axes to which roi, scales and sizes refer. */
typedef struct axis_list {
    int count, axis[TSR_MAX_RANK];
} axis_list;

static tsr_status read_axes_attr(const tsr_node *node, int rank, axis_list *axes) {
    int count;
    const int64_t *given = tsr_attr_ints(node, "axes", &count);
    if (given) {
        axes->count = count;
        return tsr_read_axes(given, count, rank, axes->axis);
    }
    axes->count = rank;
    for (int i = 0; i < rank; i++)
        axes->axis[i] = i;
    return TSR_OK;
}

/* An empty input counts as absent: opset 11 writes absent ones so. */
static const tsr_value *optional_input(const tsr_graph *graph, const tsr_node *node, int i) {
    const tsr_value *value = tsr_node_in(graph, node, i);
    return value && tsr_shape_count(&value->shape) > 0 ? value : NULL;
}

/* `count` finite numbers from a constant. */
static tsr_status read_floats(const tsr_value *value, int count, const float **data) {
    if (!tsr_dtype_is_float(value->dtype))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "'%s' is of type %s", value->name,
                        tsr_dtype_name(value->dtype));
    if (value->shape.rank != 1 || value->shape.dim[0] != count)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "'%s' of shape %s has to have %d elements",
                        value->name, tsr_shape_text(&value->shape), count);
    if (!value->data)
        return tsr_fail_until_run("'%s' is known only at run time", value->name);
    *data = value->data;
    for (int i = 0; i < count; i++)
        if (!isfinite((*data)[i]))
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "'%s' has an element that is not finite",
                            value->name);
    return TSR_OK;
}

static tsr_status read_modes(const tsr_node *node, tsr_resize *resize) {
    int transform, mode, nearest;
    TSR_TRY(tsr_read_choice(node, "coordinate_transformation_mode", transforms, 7, &transform));
    TSR_TRY(tsr_read_choice(node, "mode", modes, 3, &mode));
    TSR_TRY(tsr_read_choice(node, "nearest_mode", nearest_modes, 4, &nearest));
    resize->transform = transform;
    resize->mode = mode;
    resize->nearest = nearest;
    resize->cubic_coeff_a = tsr_attr_float(node, "cubic_coeff_a", -0.75f);
    resize->extrapolation_value = tsr_attr_float(node, "extrapolation_value", 0);
    resize->exclude_outside = tsr_attr_int(node, "exclude_outside", 0) != 0;
    resize->antialias = tsr_attr_int(node, "antialias", 0) != 0;
    return TSR_OK;
}

static tsr_status read_roi(const tsr_graph *graph, const tsr_node *node, const axis_list *axes,
                           tsr_resize *resize) {
    if (resize->transform != TSR_TF_CROP_AND_RESIZE)
        return TSR_OK;
    const tsr_value *value = optional_input(graph, node, 1);
    if (!value)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "tf_crop_and_resize needs the input roi");
    const float *roi;
    TSR_TRY(read_floats(value, 2 * axes->count, &roi)); /* all starts, then all ends */
    for (int i = 0; i < axes->count; i++) {
        resize->roi_start[axes->axis[i]] = roi[i];
        resize->roi_end[axes->axis[i]] = roi[axes->count + i];
    }
    return TSR_OK;
}

static tsr_status apply_scales(const tsr_value *value, const tsr_shape *in, const axis_list *axes,
                               tsr_resize *resize) {
    const float *scales;
    TSR_TRY(read_floats(value, axes->count, &scales));
    for (int i = 0; i < axes->count; i++) {
        int axis = axes->axis[i];
        float length = (float)in->dim[axis] * scales[i];
        if (scales[i] <= 0)
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "the scale of axis %d is not positive", axis);
        if (length > (float)TSR_MAX_DIM)
            return tsr_fail(TSR_ERROR_SHAPE, "the scale of axis %d is too large", axis);
        resize->scale[axis] = scales[i];
        resize->length[axis] = length;
        resize->out[axis] = (int64_t)length;
    }
    return TSR_OK;
}

/* Uses the smallest or the largest scale for all axes. */
static tsr_status keep_aspect_ratio(int policy, const tsr_shape *in, const axis_list *axes,
                                    tsr_resize *resize) {
    float common = policy == NOT_LARGER ? INFINITY : 0;
    for (int i = 0; i < axes->count; i++) {
        float scale = resize->scale[axes->axis[i]];
        common = policy == NOT_LARGER ? fminf(common, scale) : fmaxf(common, scale);
    }
    for (int i = 0; i < axes->count; i++) {
        int axis = axes->axis[i];
        float length = common * (float)in->dim[axis];
        if (length > (float)TSR_MAX_DIM)
            return tsr_fail(TSR_ERROR_SHAPE, "axis %d would become too large", axis);
        resize->scale[axis] = common;
        resize->length[axis] = length;
        resize->out[axis] = (int64_t)roundf(length);
    }
    return TSR_OK;
}

static tsr_status apply_sizes(const tsr_graph *graph, const tsr_node *node, const tsr_shape *in,
                              const axis_list *axes, tsr_resize *resize) {
    const int64_t *sizes;
    int64_t count;
    int policy;
    TSR_TRY(tsr_read_choice(node, "keep_aspect_ratio_policy", policies, 3, &policy));
    TSR_TRY(tsr_node_const_ints(graph, node, 3, &sizes, &count));
    if (count != axes->count)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "sizes has %" PRId64 " elements instead of %d",
                        count, axes->count);
    for (int i = 0; i < axes->count; i++) {
        int axis = axes->axis[i];
        bool empty = in->dim[axis] == 0;
        if (sizes[i] < 0 || sizes[i] > TSR_MAX_DIM || (sizes[i] == 0 && !empty))
            return tsr_fail(TSR_ERROR_INVALID_MODEL, "the size of axis %d is %" PRId64, axis,
                            sizes[i]);
        if (empty && sizes[i] != 0)
            return tsr_fail(TSR_ERROR_SHAPE, "axis %d is empty and cannot be scaled to %" PRId64,
                            axis, sizes[i]);
        resize->scale[axis] = empty ? 1 : (float)sizes[i] / (float)in->dim[axis];
        resize->length[axis] = (float)sizes[i];
        resize->out[axis] = sizes[i];
    }
    return policy == STRETCH ? TSR_OK : keep_aspect_ratio(policy, in, axes, resize);
}

tsr_status tsr_node_resize(const tsr_graph *graph, const tsr_node *node, tsr_resize *resize) {
    const tsr_shape *in = &tsr_node_in(graph, node, 0)->shape;
    const tsr_value *scales = optional_input(graph, node, 2);
    const tsr_value *sizes = optional_input(graph, node, 3);
    axis_list axes;
    *resize = (tsr_resize){.cubic_coeff_a = 0};
    TSR_TRY(read_modes(node, resize));
    TSR_TRY(read_axes_attr(node, in->rank, &axes));
    for (int axis = 0; axis < in->rank; axis++) {
        resize->out[axis] = in->dim[axis];
        resize->length[axis] = (float)in->dim[axis];
        resize->scale[axis] = resize->roi_end[axis] = 1;
    }
    TSR_TRY(read_roi(graph, node, &axes, resize));
    if ((scales != NULL) == (sizes != NULL))
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "one of scales and sizes has to be given");
    return scales ? apply_scales(scales, in, &axes, resize)
                  : apply_sizes(graph, node, in, &axes, resize);
}

tsr_status tsr_infer_resize(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, 0);
    tsr_resize resize;
    TSR_TRY(tsr_node_resize(graph, node, &resize));
    if (resize.mode != TSR_NEAREST)
        TSR_TRY(tsr_require_float(graph, node, 1));
    tsr_shape shape = tsr_shape_make(x->shape.rank, resize.out);
    return tsr_set_output(graph, node, 0, x->dtype, &shape);
}

/* ---- coordinates ---- */

float tsr_resize_coordinate(const tsr_resize *resize, int axis, int64_t in, int64_t i) {
    float x = (float)i, scale = resize->scale[axis], last = (float)(in - 1);
    float out = (float)resize->out[axis], length = resize->length[axis];
    float start = resize->roi_start[axis], end = resize->roi_end[axis];
    if (resize->transform == TSR_TF_CROP_AND_RESIZE)
        return out > 1 ? start * last + x * (end - start) * last / (out - 1)
                       : 0.5f * (start + end) * last;
    if (scale == 1) /* exact: no rounding by the formulas below */
        return x;
    switch (resize->transform) {
    case TSR_HALF_PIXEL_SYMMETRIC:
        return (float)in / 2 * (1 - out / length) + (x + 0.5f) / scale - 0.5f;
    case TSR_PYTORCH_HALF_PIXEL:
        return out > 1 ? (x + 0.5f) / scale - 0.5f : 0;
    case TSR_ALIGN_CORNERS:
        return out > 1 ? x * last / (length - 1) : 0;
    case TSR_ASYMMETRIC:
        return x / scale;
    case TSR_TF_HALF_PIXEL_FOR_NN:
        return (x + 0.5f) / scale;
    default:
        return (x + 0.5f) / scale - 0.5f;
    }
}

int64_t tsr_resize_nearest_index(const tsr_resize *resize, int axis, int64_t in, int64_t i) {
    double x = tsr_resize_coordinate(resize, axis, in, i), last = (double)(in - 1);
    if (tsr_resize_is_outside(resize, axis, in, i))
        return -1;
    double below = floor(x), rest = x - below, nearest = below;
    switch (resize->nearest) {
    case TSR_ROUND_PREFER_FLOOR:
        nearest = rest > 0.5 ? below + 1 : below;
        break;
    case TSR_ROUND_PREFER_CEIL:
        nearest = rest >= 0.5 ? below + 1 : below;
        break;
    case TSR_FLOOR:
        break;
    case TSR_CEIL:
        nearest = ceil(x);
        break;
    }
    return (int64_t)fmin(fmax(nearest, 0), last);
}

/* ---- linear and cubic ---- */

bool tsr_resize_is_outside(const tsr_resize *resize, int axis, int64_t in, int64_t i) {
    float at = tsr_resize_coordinate(resize, axis, in, i);
    return resize->transform == TSR_TF_CROP_AND_RESIZE && !(at >= 0 && at <= (float)(in - 1));
}

static void linear_weights(double t, double weight[TSR_RESIZE_TAPS]) {
    weight[0] = 1 - t;
    weight[1] = t;
}

/* Keys' kernel with coefficient a at distances 1 + t, t, 1 - t and 2 - t. */
static void cubic_weights(double a, double t, double weight[TSR_RESIZE_TAPS]) {
    double s = 1 - t;
    weight[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
    weight[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
    weight[2] = ((a + 2) * s - (a + 3)) * s * s + 1;
    weight[3] = ((a * (s + 1) - 5 * a) * (s + 1) + 8 * a) * (s + 1) - 4 * a;
}

/* Taps outside the input read its edge or, with exclude_outside, get weight 0, and the others
 * are rescaled to a sum of 1. */
tsr_resize_taps tsr_resize_taps_at(const tsr_resize *resize, int axis, int64_t in, int64_t i) {
    bool cubic = resize->mode == TSR_CUBIC;
    tsr_resize_taps result = {.count = cubic ? 4 : 2};
    double at = tsr_resize_coordinate(resize, axis, in, i), floored = floor(at), sum = 0;
    if (cubic)
        cubic_weights(resize->cubic_coeff_a, at - floored, result.weight);
    else
        linear_weights(at - floored, result.weight);
    for (int k = 0; k < result.count; k++) {
        double index = floored + k - (cubic ? 1 : 0);
        result.index[k] = index < (double)in ? (index > 0 ? (int64_t)index : 0) : in - 1;
        if (resize->exclude_outside && (index < 0 || index >= (double)in))
            result.weight[k] = 0;
        sum += result.weight[k];
    }
    for (int k = 0; k < result.count && resize->exclude_outside; k++)
        result.weight[k] /= sum;
    return result;
}

/* ---- antialiased ---- */

bool tsr_resize_is_filtered(const tsr_resize *resize, int axis) {
    return resize->antialias && resize->mode != TSR_NEAREST && resize->scale[axis] < 1;
}

/* Of the kernel on either side of a position, in elements of the input. */
static double filter_radius(const tsr_resize *resize, int axis) {
    return (resize->mode == TSR_CUBIC ? 2 : 1) / (double)resize->scale[axis];
}

int64_t tsr_resize_filter_length(const tsr_resize *resize, int axis, int64_t in) {
    double length = 2 * ceil(filter_radius(resize, axis));
    return length < (double)in ? (int64_t)length : in;
}

static double filter_weight(const tsr_resize *resize, double distance) {
    double d = fabs(distance), a = resize->cubic_coeff_a;
    if (resize->mode == TSR_LINEAR)
        return d < 1 ? 1 - d : 0;
    if (d <= 1)
        return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

double tsr_resize_filter_tap(const tsr_resize *resize, const tsr_resize_filter *filter, int64_t k,
                             int64_t *index) {
    int64_t i = filter->first + k, in = filter->in;
    *index = i < 0 ? 0 : i < in ? i : in - 1;
    if (resize->exclude_outside && *index != i)
        return 0;
    return filter_weight(resize, ((double)i - filter->at) * filter->factor) / filter->sum;
}

/* Positions far beside the axis are as good as nearer ones: these have edges only around them. */
tsr_resize_filter tsr_resize_filter_at(const tsr_resize *resize, int axis, int64_t in, int64_t i) {
    double radius = filter_radius(resize, axis), beyond = radius + 1;
    double at = tsr_resize_coordinate(resize, axis, in, i), sum = 0;
    at = fmin(fmax(at, -beyond), (double)in + beyond);
    tsr_resize_filter filter = {.first = (int64_t)floor(at - radius) + 1,
                                .in = in,
                                .at = at,
                                .factor = resize->scale[axis],
                                .sum = 1};
    filter.count = (int64_t)ceil(at + radius) - filter.first;
    for (int64_t k = 0; k < filter.count; k++) {
        int64_t index;
        sum += tsr_resize_filter_tap(resize, &filter, k, &index);
    }
    filter.sum = sum;
    return filter;
}
