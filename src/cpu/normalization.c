/* Normalizations of [batch, channels, ...]: each image of each channel is a run of elements. */
#include "cpu/call.h"

#include <math.h>

/* Of one run, or of one channel (inputs 3 and 4 of BatchNormalization). */
typedef struct moments {
    double mean, variance;
} moments;

static moments measure(const float *x, int64_t count) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i];
    double mean = sum / (double)count;
    for (int64_t i = 0; i < count; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return (moments){mean, squares / (double)count};
}

/* means, variances: by channel; NULL: each run has its own. */
static tsr_status normalize(const tsr_cpu_call *call, const float *means, const float *variances) {
    const float *x = tsr_call_in(call, 0), *scale = tsr_call_in(call, 1);
    const float *shift = tsr_call_in(call, 2);
    float *y = tsr_call_out(call, 0);
    double epsilon = tsr_attr_float(call->node, "epsilon", 1e-5f);
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    int64_t runs = shape->dim[0] * shape->dim[1], length = tsr_dim_product(shape, 2, shape->rank);
    for (int64_t run = 0; run < runs; run++, x += length, y += length) {
        int64_t c = run % shape->dim[1];
        moments m = means ? (moments){means[c], variances[c]} : measure(x, length);
        double factor = scale[c] / sqrt(m.variance + epsilon);
        for (int64_t i = 0; i < length; i++)
            y[i] = (float)((x[i] - m.mean) * factor + shift[c]);
    }
    return TSR_OK;
}

tsr_status tsr_cpu_batch_normalization(const tsr_cpu_call *call) {
    return normalize(call, tsr_call_in(call, 3), tsr_call_in(call, 4));
}

tsr_status tsr_cpu_instance_normalization(const tsr_cpu_call *call) {
    return normalize(call, NULL, NULL);
}

/* Each run is the axes from `axis` on; outputs 1 and 2 have its mean and 1 / standard deviation. */
tsr_status tsr_cpu_layer_normalization(const tsr_cpu_call *call) {
    const float *x = tsr_call_in(call, 0), *scale = tsr_call_in(call, 1);
    const float *shift = tsr_call_in(call, 2);
    float *y = tsr_call_out(call, 0), *mean = tsr_call_out(call, 1),
          *inverse = tsr_call_out(call, 2);
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(call->node, "axis", -1), shape->rank, &axis));
    double epsilon = tsr_attr_float(call->node, "epsilon", 1e-5f);
    int64_t runs = tsr_dim_product(shape, 0, axis),
            length = tsr_dim_product(shape, axis, shape->rank);
    for (int64_t run = 0; run < runs; run++, x += length, y += length) {
        moments m = measure(x, length);
        double factor = 1 / sqrt(m.variance + epsilon);
        for (int64_t i = 0; i < length; i++)
            y[i] = (float)((x[i] - m.mean) * factor * scale[i] + (shift ? shift[i] : 0));
        if (mean)
            mean[run] = (float)m.mean;
        if (inverse)
            inverse[run] = (float)factor;
    }
    return TSR_OK;
}
