#include "base/elements.h"

#include "base/allocator.h"
#include "base/dtype.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

tsr_elements tsr_elements_of_floats(const float *data, size_t count) {
    return (tsr_elements){.array = {.data = (void *)data, .count = count, .dtype = TSR_DTYPE_F32}};
}

bool tsr_elements_same_form(const tsr_elements *a, const tsr_elements *b) {
    if (a->is_pixels != b->is_pixels)
        return false;
    if (!a->is_pixels)
        return a->array.dtype == b->array.dtype && a->array.channels_last == b->array.channels_last;
    const tsr_pixels *p = &a->pixels, *q = &b->pixels;
    return p->width == q->width && p->height == q->height && p->format == q->format &&
           p->filter == q->filter && p->channels_last == q->channels_last && p->bgr == q->bgr &&
           p->image == q->image && !memcmp(p->mean, q->mean, sizeof p->mean) &&
           !memcmp(p->scale, q->scale, sizeof p->scale);
}

size_t tsr_elements_dense_bytes(const tsr_elements *e) {
    return e->is_pixels ? (size_t)e->pixels.width * (size_t)e->pixels.height *
                              (size_t)tsr_pixel_bytes(e->pixels.format)
                        : e->array.count * tsr_dtype_size(e->array.dtype);
}

void tsr_elements_copy_dense(const void *dense, const tsr_elements *to) {
    if (!to->is_pixels) {
        memcpy(to->array.data, dense, tsr_elements_dense_bytes(to));
        return;
    }
    const tsr_pixels *p = &to->pixels;
    size_t row = (size_t)p->width * (size_t)tsr_pixel_bytes(p->format);
    for (int y = 0; y < p->height; y++)
        memcpy((char *)p->data + (size_t)y * (size_t)p->stride,
               (const char *)dense + (size_t)y * row, row);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

double tsr_array_element(const tsr_array *a, size_t i) {
    const char *at = (const char *)a->data + i * tsr_dtype_size(a->dtype);
    float number;
    int64_t integer;
    if (a->dtype == TSR_DTYPE_F64) /* not rounded */
        return ((const double *)a->data)[i];
    if (tsr_dtype_is_float(a->dtype)) {
        tsr_dtype_load(a->dtype, at, 1, &number);
        return (double)number;
    }
    tsr_dtype_load(a->dtype, at, 1, &integer);
    return tsr_dtype_number(a->dtype, integer);
}

/* Integers are rounded and limited; NaN becomes 0. */
static void store(const tsr_array *a, size_t i, float value) {
    char *at = (char *)a->data + i * tsr_dtype_size(a->dtype);
    if (tsr_dtype_is_float(a->dtype)) {
        tsr_dtype_store(a->dtype, &value, 1, at);
        return;
    }
    float rounded = a->dtype == TSR_DTYPE_BOOL ? value : (float)floor((double)value + 0.5);
    int64_t integer = tsr_dtype_int_of_float(a->dtype, rounded);
    tsr_dtype_store(a->dtype, &integer, 1, at);
}

/* Where element i of the tensor [N, C, pixels] is in an array [N, pixels, C]. */
static size_t last_index(size_t i, size_t channels, size_t pixels) {
    size_t pixel = i % pixels, plane = i / pixels;
    return (plane / channels * pixels + pixel) * channels + plane % channels;
}

static void each_element(const tsr_array *a, const tsr_shape *shape, float *floats,
                         bool to_floats) {
    size_t channels = a->channels_last ? (size_t)shape->dim[1] : 1, pixels = 1;
    for (int i = 2; i < shape->rank; i++)
        pixels *= (size_t)shape->dim[i];
    for (size_t i = 0; i < a->count; i++) {
        size_t at = a->channels_last ? last_index(i, channels, pixels) : i;
        if (to_floats)
            floats[i] = (float)tsr_array_element(a, at);
        else
            store(a, at, floats[i]);
    }
}

static bool is_plain(const tsr_elements *e) {
    return !e->is_pixels && e->array.dtype == TSR_DTYPE_F32 && !e->array.channels_last;
}

void tsr_elements_to_floats(const tsr_elements *from, const tsr_shape *shape, float *floats) {
    if (from->is_pixels)
        tsr_pixels_to_floats(&from->pixels, shape, floats);
    else if (!is_plain(from))
        each_element(&from->array, shape, floats, true);
    else if (from->array.count)
        memcpy(floats, from->array.data, from->array.count * sizeof *floats);
}

void tsr_elements_from_floats(const float *floats, const tsr_shape *shape, const tsr_elements *to) {
    if (to->is_pixels)
        tsr_pixels_from_floats(floats, shape, &to->pixels);
    else if (!is_plain(to))
        each_element(&to->array, shape, (float *)floats, false);
    else if (to->array.count)
        memcpy(to->array.data, floats, to->array.count * sizeof *floats);
}

tsr_status tsr_elements_from_integers(tsr_dtype dtype, const int64_t *ints, const tsr_shape *shape,
                                      const tsr_elements *to) {
    size_t count = (size_t)tsr_shape_count(shape);
    if (!to->is_pixels && to->array.dtype == dtype && !to->array.channels_last) {
        tsr_dtype_store(dtype, ints, count, to->array.data);
        return TSR_OK;
    }
    float *floats = tsr_malloc(count * sizeof *floats + 1);
    if (!floats)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to read %zu integers", count);
    for (size_t i = 0; i < count; i++)
        floats[i] = (float)tsr_dtype_number(dtype, ints[i]);
    tsr_elements_from_floats(floats, shape, to);
    tsr_free(floats);
    return TSR_OK;
}
