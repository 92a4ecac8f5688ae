#include "api/check_elements.h"

#include "base/dtype.h"
#include "base/error.h"

#include <math.h>

/* ---- arrays ---------------------------------------------------------------------------------- */

static tsr_status check_form(const tsr_value *value, tsr_dtype dtype, bool channels_last) {
    if ((unsigned)dtype >= TSR_DTYPE_COUNT)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tensor '%s': there is no element type %d",
                        value->name, (int)dtype);
    if (channels_last && value->shape.rank < 2)
        return tsr_fail(TSR_ERROR_SHAPE, "tensor '%s' %s has no channels to be last", value->name,
                        tsr_shape_text(&value->shape));
    return TSR_OK;
}

static tsr_status check_count(const tsr_value *value, const void *data, size_t count) {
    size_t expected = (size_t)tsr_shape_count(&value->shape);
    if (count != expected)
        return tsr_fail(TSR_ERROR_SHAPE, "tensor '%s' %s has %zu elements, not %zu", value->name,
                        tsr_shape_text(&value->shape), expected, count);
    if (!data && count > 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tensor '%s' %s: data is NULL", value->name,
                        tsr_shape_text(&value->shape));
    return TSR_OK;
}

static tsr_status check_array(const tsr_value *value, const tsr_array *a) {
    TSR_TRY(check_form(value, a->dtype, a->channels_last));
    TSR_TRY(check_count(value, a->data, a->count));
    if ((uintptr_t)a->data % tsr_dtype_size(a->dtype))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tensor '%s' %s: data %p is not aligned for elements of %zu bytes",
                        value->name, tsr_shape_text(&value->shape), a->data,
                        tsr_dtype_size(a->dtype));
    return TSR_OK;
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* WebGPU's largest minStorageBufferOffsetAlignment. */
enum { OFFSET_ALIGNMENT = 256 };

static uint64_t round_up(uint64_t bytes, uint64_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

static tsr_status check_buffer(const tsr_value *value, bool output, tsr_buffer *b) {
    TSR_TRY(check_form(value, b->dtype, b->channels_last));
    if (b->dtype != TSR_DTYPE_F32 && b->dtype != TSR_DTYPE_F16 && b->dtype != TSR_DTYPE_U8 &&
        b->dtype != TSR_DTYPE_BOOL)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "tensor '%s': buffers hold float32, float16, uint8 and bool, not %s",
                        value->name, tsr_dtype_name(b->dtype));
    TSR_TRY(check_count(value, "", b->count));
    if (!b->buffer)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tensor '%s': buffer is NULL", value->name);
    if (b->offset % OFFSET_ALIGNMENT)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tensor '%s': offset %llu of its buffer is no multiple of %d", value->name,
                        (unsigned long long)b->offset, OFFSET_ALIGNMENT);
    /* What an invocation accesses: a word, or writes: four floats. */
    uint64_t needed = round_up((uint64_t)b->count * tsr_dtype_size(b->dtype),
                               output && b->dtype == TSR_DTYPE_F32 ? 16 : 4);
    if (b->bytes < needed)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tensor '%s' %s needs %llu bytes of a buffer in %s, not %llu", value->name,
                        tsr_shape_text(&value->shape), (unsigned long long)needed,
                        tsr_dtype_name(b->dtype), (unsigned long long)b->bytes);
    b->bytes = needed;
    return TSR_OK;
}

/* ---- pixels ---------------------------------------------------------------------------------- */

static tsr_status check_pixel_format(const tsr_value *value, const tsr_pixels *p) {
    if ((unsigned)p->format > TSR_PIXELS_GRAY8)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tensor '%s' %s: there is no pixel format %d",
                        value->name, tsr_shape_text(&value->shape), (int)p->format);
    if ((unsigned)p->filter > TSR_FILTER_NEAREST)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tensor '%s' %s: there is no pixel filter %d",
                        value->name, tsr_shape_text(&value->shape), (int)p->filter);
    for (int i = 0; i < 4; i++)
        if (!isfinite(p->mean[i]) || !isfinite(p->scale[i]))
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                            "tensor '%s' %s: %s of channel %d is not finite", value->name,
                            tsr_shape_text(&value->shape), isfinite(p->mean[i]) ? "scale" : "mean",
                            i);
    return TSR_OK;
}

/* The largest picture: products of sizes of pictures and tensors stay below 2^31 in kernels. */
enum { MAX_PICTURE_SIDE = 16384 };

static tsr_status check_picture(const tsr_value *value, const tsr_pixels *p) {
    tsr_picture_shape s;
    if (!tsr_picture_shape_of(&value->shape, p->channels_last, &s))
        return tsr_fail(TSR_ERROR_SHAPE,
                        "tensor '%s' %s is no picture of 1, 3 or 4 channels, which are %s",
                        value->name, tsr_shape_text(&value->shape),
                        p->channels_last ? "its last axis" : "before its rows");
    if (p->width < 1 || p->height < 1 || p->width > MAX_PICTURE_SIDE ||
        p->height > MAX_PICTURE_SIDE || s.width > MAX_PICTURE_SIDE || s.height > MAX_PICTURE_SIDE)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tensor '%s' %s: a picture of %d x %d pixels; sides can be 1 to %d",
                        value->name, tsr_shape_text(&value->shape), p->width, p->height,
                        MAX_PICTURE_SIDE);
    if (p->image < 0 || p->image >= s.images)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tensor '%s' %s has no image %d", value->name,
                        tsr_shape_text(&value->shape), p->image);
    return TSR_OK;
}

static tsr_status check_rows(const tsr_value *value, const tsr_pixels *p) {
    int64_t row = (int64_t)p->width * tsr_pixel_bytes(p->format);
    if (p->stride < row || p->stride > INT32_MAX / p->height)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tensor '%s' %s: a stride of %lld bytes for %d rows of %lld bytes",
                        value->name, tsr_shape_text(&value->shape), (long long)p->stride, p->height,
                        (long long)row);
    uint64_t needed = (uint64_t)p->stride * (uint64_t)(p->height - 1) + (uint64_t)row;
    if (!p->data || p->bytes < needed)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tensor '%s' %s: %d x %d pixels need %llu bytes, there are %zu at %p",
                        value->name, tsr_shape_text(&value->shape), p->width, p->height,
                        (unsigned long long)needed, p->bytes, p->data);
    return TSR_OK;
}

/* Sets defaults, too. */
static tsr_status check_pixels(const tsr_value *value, tsr_pixels *p) {
    const float byte = 1.0f / 255;
    TSR_TRY(check_pixel_format(value, p));
    TSR_TRY(check_picture(value, p));
    if (p->stride == 0)
        p->stride = (int64_t)p->width * tsr_pixel_bytes(p->format);
    TSR_TRY(check_rows(value, p));
    bool none = true;
    for (int i = 0; i < 4; i++)
        none = none && p->scale[i] == 0;
    tsr_picture_shape s;
    tsr_picture_shape_of(&value->shape, p->channels_last, &s);
    for (int i = 0; i < 4; i++)
        p->scale[i] = none || (i >= s.channels && p->scale[i] == 0) ? byte : p->scale[i];
    for (int i = 0; i < s.channels; i++)
        if (p->scale[i] == 0)
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tensor '%s' %s: scale of channel %d is 0",
                            value->name, tsr_shape_text(&value->shape), i);
    return TSR_OK;
}

/* ---- integers -------------------------------------------------------------------------------- */

/* Floats, which integers are computed with, hold them exactly up to here. */
enum { MOST = 1 << 24 };

/* Does an element of this type have this value? */
static bool is_exact(tsr_dtype dtype, double x) {
    return x >= (double)tsr_dtype_low(dtype) && x <= (double)tsr_dtype_high(dtype) &&
           fabs(x) <= MOST && x == trunc(x);
}

static tsr_status refuse_element(const tsr_value *value, size_t i, double x) {
    const char *type = tsr_dtype_name(value->dtype);
    if (x == trunc(x) && fabs(x) <= MOST)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "input '%s' is %s: its element %zu cannot be %d", value->name, type, i,
                        (int)x);
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "input '%s' is %s: its element %zu is %s",
                    value->name, type, i, x == trunc(x) ? "beyond 2^24" : "no integer");
}

static tsr_status check_integers(const tsr_value *value, const tsr_elements *e) {
    if (e->is_pixels)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "input '%s' is %s: pixels become floats only; set an array", value->name,
                        tsr_dtype_name(value->dtype));
    for (size_t i = 0; i < e->array.count; i++) {
        double x = tsr_array_element(&e->array, i);
        if (!is_exact(value->dtype, x))
            return refuse_element(value, i, x);
    }
    return TSR_OK;
}

static tsr_status check(const tsr_value *value, tsr_elements *e) {
    return e->is_pixels ? check_pixels(value, &e->pixels) : check_array(value, &e->array);
}

tsr_status tsr_check_elements(const tsr_graph *graph, const tsr_value *value, tsr_elements *e) {
    return tsr_fail_context(check(value, e), "%s", graph->file);
}

tsr_status tsr_check_integers(const tsr_graph *graph, const tsr_value *value,
                              const tsr_elements *e) {
    return tsr_fail_context(check_integers(value, e), "%s", graph->file);
}

tsr_status tsr_check_buffer(const tsr_graph *graph, const tsr_value *value, bool output,
                            tsr_buffer *buffer) {
    return tsr_fail_context(check_buffer(value, output, buffer), "%s", graph->file);
}
