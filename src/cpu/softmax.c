#include "cpu/call.h"

#include "base/error.h"

#include <math.h>

/* count elements with a stride of step. */
static void softmax(const float *x, int64_t count, int64_t step, bool logs, float *out) {
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < count; i++)
        largest = fmax(largest, x[i * step]);
    for (int64_t i = 0; i < count; i++)
        sum += exp(x[i * step] - largest);
    for (int64_t i = 0; i < count; i++)
        out[i * step] =
            (float)(logs ? x[i * step] - largest - log(sum) : exp(x[i * step] - largest) / sum);
}

/* Over one axis, or with coerce_2d (opset 12 and below) over all axes from `axis` on. */
static tsr_status compute(const tsr_cpu_call *call, bool logs) {
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    bool coerce = tsr_attr_int(call->node, "coerce_2d", 0) != 0;
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(call->node, "axis", -1), shape->rank, &axis));
    int end = coerce ? shape->rank : axis + 1;
    int64_t outer = tsr_dim_product(shape, 0, axis), count = tsr_dim_product(shape, axis, end);
    int64_t inner = tsr_dim_product(shape, end, shape->rank);
    const float *x = tsr_call_in(call, 0);
    float *y = tsr_call_out(call, 0);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++)
            softmax(x + o * count * inner + i, count, inner, logs, y + o * count * inner + i);
    return TSR_OK;
}

tsr_status tsr_cpu_softmax(const tsr_cpu_call *call) {
    return compute(call, false);
}

tsr_status tsr_cpu_log_softmax(const tsr_cpu_call *call) {
    return compute(call, true);
}
