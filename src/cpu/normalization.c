/* Normalizations of [batch, channels, ...]: what follows the channels is one run of elements. */
#include "cpu/call.h"

#include <math.h>

static void normalize(const float *x, int64_t count, double mean, double variance, double epsilon,
                      double scale, double shift, float *out) {
    double factor = scale / sqrt(variance + epsilon);
    for (int64_t i = 0; i < count; i++)
        out[i] = (float)((x[i] - mean) * factor + shift);
}

tsr_status tsr_cpu_batch_normalization(const tsr_cpu_call *call) {
    const float *x = tsr_call_in(call, 0), *scale = tsr_call_in(call, 1);
    const float *shift = tsr_call_in(call, 2);
    const float *mean = tsr_call_in(call, 3), *variance = tsr_call_in(call, 4);
    float *y = tsr_call_out(call, 0);
    double epsilon = tsr_attr_float(call->node, "epsilon", 1e-5f);
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    int64_t runs = shape->dim[0] * shape->dim[1], length = tsr_cpu_span(shape, 2, shape->rank);
    for (int64_t i = 0; i < runs; i++) {
        int64_t c = i % shape->dim[1];
        normalize(x + i * length, length, mean[c], variance[c], epsilon, scale[c], shift[c],
                  y + i * length);
    }
    return TSR_OK;
}

static void measure(const float *x, int64_t count, double *mean, double *variance) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i];
    *mean = sum / (double)count;
    for (int64_t i = 0; i < count; i++)
        squares += (x[i] - *mean) * (x[i] - *mean);
    *variance = squares / (double)count;
}

tsr_status tsr_cpu_instance_normalization(const tsr_cpu_call *call) {
    const float *x = tsr_call_in(call, 0), *scale = tsr_call_in(call, 1);
    const float *shift = tsr_call_in(call, 2);
    float *y = tsr_call_out(call, 0);
    double epsilon = tsr_attr_float(call->node, "epsilon", 1e-5f);
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    int64_t runs = shape->dim[0] * shape->dim[1], length = tsr_cpu_span(shape, 2, shape->rank);
    for (int64_t i = 0; i < runs; i++) {
        int64_t c = i % shape->dim[1];
        double mean, variance;
        measure(x + i * length, length, &mean, &variance);
        normalize(x + i * length, length, mean, variance, epsilon, scale[c], shift[c],
                  y + i * length);
    }
    return TSR_OK;
}
