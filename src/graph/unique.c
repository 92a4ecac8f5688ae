#include "graph/selection.h"

#include "base/allocator.h"
#include "base/error.h"

#include <math.h>

/* Slice s consists of `outer` runs of `inner` elements. */
typedef struct slices {
    const void *elements;
    bool is_float, is_unsigned;
    int64_t count, outer, inner;
} slices;

static slices cut(tsr_dtype dtype, const tsr_shape *shape, const void *elements, int axis) {
    slices s = {.elements = elements,
                .is_float = tsr_dtype_is_float(dtype),
                .is_unsigned = tsr_dtype_is_unsigned(dtype),
                .count = tsr_shape_count(shape),
                .outer = 1,
                .inner = 1};
    if (axis != TSR_NONE) {
        s.count = shape->dim[axis];
        s.outer = tsr_dim_product(shape, 0, axis);
        s.inner = tsr_dim_product(shape, axis + 1, shape->rank);
    }
    return s;
}

/* NaN is equal to itself and larger than numbers. */
static int compare_floats(float x, float y) {
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static int compare_ints(int64_t x, int64_t y, bool is_unsigned) {
    if (is_unsigned)
        return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
    return (x > y) - (x < y);
}

static int compare(const slices *s, int64_t a, int64_t b) {
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t i = 0; i < s->inner; i++) {
            int64_t x = (o * s->count + a) * s->inner + i, y = (o * s->count + b) * s->inner + i;
            int order = s->is_float
                            ? compare_floats(((const float *)s->elements)[x],
                                             ((const float *)s->elements)[y])
                            : compare_ints(((const int64_t *)s->elements)[x],
                                           ((const int64_t *)s->elements)[y], s->is_unsigned);
            if (order)
                return order;
        }
    return 0;
}

/* Merges order[low..middle) and order[middle..high), stably. */
static void merge(const slices *s, int64_t *order, int64_t *scratch, int64_t low, int64_t middle,
                  int64_t high) {
    int64_t left = low, right = middle;
    for (int64_t i = low; i < high; i++) {
        bool from_left =
            right == high || (left < middle && compare(s, order[left], order[right]) <= 0);
        scratch[i] = from_left ? order[left++] : order[right++];
    }
    for (int64_t i = low; i < high; i++)
        order[i] = scratch[i];
}

/* Stable: equal slices stay in their order. */
static void sort(const slices *s, int64_t *order, int64_t *scratch) {
    for (int64_t i = 0; i < s->count; i++)
        order[i] = i;
    for (int64_t width = 1; width < s->count; width *= 2)
        for (int64_t low = 0; low + width < s->count; low += 2 * width) {
            int64_t high = low + 2 * width;
            merge(s, order, scratch, low, low + width, high < s->count ? high : s->count);
        }
}

/* Of the groups of equal slices in the order, by the first slice of each. */
static void group(const slices *s, const int64_t *order, tsr_unique *unique) {
    for (int64_t i = 0; i < s->count; i++) {
        bool differs = i == 0 || compare(s, order[i - 1], order[i]) != 0;
        if (differs) {
            unique->first[unique->count] = order[i];
            unique->repeated[unique->count++] = 0;
        }
        unique->repeated[unique->count - 1]++;
        unique->inverse[order[i]] = unique->count - 1;
    }
}

/* By first occurrence instead of value: a slice that is the first of its kind is the next one.
 * places, scratch: an element for each slice. */
static void order_by_occurrence(const slices *s, tsr_unique *unique, int64_t *places,
                                int64_t *scratch) {
    int64_t next = 0;
    for (int64_t i = 0; i < s->count; i++)
        if (unique->first[unique->inverse[i]] == i)
            places[unique->inverse[i]] = next++;
    for (int64_t u = 0; u < unique->count; u++)
        scratch[places[u]] = unique->first[u];
    for (int64_t u = 0; u < unique->count; u++)
        unique->first[u] = scratch[u];
    for (int64_t u = 0; u < unique->count; u++)
        scratch[places[u]] = unique->repeated[u];
    for (int64_t u = 0; u < unique->count; u++)
        unique->repeated[u] = scratch[u];
    for (int64_t i = 0; i < s->count; i++)
        unique->inverse[i] = places[unique->inverse[i]];
}

tsr_status tsr_find_unique(tsr_dtype dtype, const tsr_shape *shape, const void *elements, int axis,
                           bool sorted, tsr_unique *unique) {
    enum { ARRAYS = 5 };
    slices s = cut(dtype, shape, elements, axis);
    int64_t *block = tsr_calloc((size_t)s.count * ARRAYS + 1, sizeof *block);
    *unique = (tsr_unique){.first = block};
    if (!block)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to sort %lld slices",
                        (long long)s.count);
    unique->repeated = block + s.count;
    unique->inverse = block + 2 * s.count;
    int64_t *order = block + 3 * s.count, *scratch = block + 4 * s.count;
    sort(&s, order, scratch);
    group(&s, order, unique);
    if (!sorted)
        order_by_occurrence(&s, unique, order, scratch);
    return TSR_OK;
}
