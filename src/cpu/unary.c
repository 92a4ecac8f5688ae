/* Operators of one element: unary ones and Clip. NaN stays NaN. */
#include "cpu/call.h"

#include <float.h>
#include <math.h>

static double clamp(double x, double low, double high) {
    double raised = x < low ? low : x;
    return raised > high ? high : raised;
}

float tsr_cpu_relu(float x, const float param[2]) {
    (void)param;
    return x < 0 ? 0 : x;
}

float tsr_cpu_leaky_relu(float x, const float param[2]) {
    return x < 0 ? param[0] * x : x;
}

float tsr_cpu_sigmoid(float x, const float param[2]) {
    (void)param;
    return (float)(1 / (1 + exp(-(double)x)));
}

float tsr_cpu_tanh(float x, const float param[2]) {
    (void)param;
    return (float)tanh(x);
}

float tsr_cpu_hard_sigmoid(float x, const float param[2]) {
    return (float)clamp((double)param[0] * x + param[1], 0, 1);
}

float tsr_cpu_hard_swish(float x, const float param[2]) {
    (void)param;
    return (float)(x * clamp(x / 6.0 + 0.5, 0, 1));
}

float tsr_cpu_exp(float x, const float param[2]) {
    (void)param;
    return (float)exp(x);
}

float tsr_cpu_neg(float x, const float param[2]) {
    (void)param;
    return -x;
}

float tsr_cpu_elu(float x, const float param[2]) {
    return x < 0 ? (float)(param[0] * expm1(x)) : x;
}

typedef float unary_fn(float x, const float param[2]);

static unary_fn *const unary_table[TSR_OP_COUNT] = {
#define TSR_OP(Name, stem, min_in, max_in, min_out, max_out, parameters)
#define TSR_UNARY(Name, stem) [TSR_OP_##Name] = tsr_cpu_##stem,
#define TSR_BINARY(Name, stem)
#include "graph/ops.def"
};

void tsr_cpu_apply_unary(tsr_op op, const float param[2], const float *x, int64_t count,
                         float *out) {
    unary_fn *fn = unary_table[op];
    for (int64_t i = 0; i < count; i++)
        out[i] = fn(x[i], param);
}

/* Relu and Neg are the unary operators that ONNX defines for integers too. */
static void unary_int(tsr_op op, tsr_dtype dtype, const int64_t *x, int64_t count, int64_t *out) {
    for (int64_t i = 0; i < count; i++)
        out[i] = op == TSR_OP_Relu ? (x[i] < 0 ? 0 : x[i])
                                   : tsr_cpu_wrap(dtype, (int64_t)(0 - (uint64_t)x[i]));
}

tsr_status tsr_cpu_unary(const tsr_cpu_call *call) {
    tsr_op op = call->node->op;
    tsr_dtype dtype = tsr_node_in(call->graph, call->node, 0)->dtype;
    int64_t count = tsr_shape_count(tsr_call_out_shape(call, 0));
    float param[2];
    tsr_unary_params(call->node, param);
    if (tsr_dtype_is_float(dtype))
        tsr_cpu_apply_unary(op, param, tsr_call_in(call, 0), count, tsr_call_out(call, 0));
    else
        unary_int(op, dtype, tsr_call_in(call, 0), count, tsr_call_out(call, 0));
    return TSR_OK;
}

/* ---- Clip ---- */

void tsr_cpu_apply_clip(float low, float high, const float *x, int64_t count, float *out) {
    for (int64_t i = 0; i < count; i++)
        out[i] = (float)clamp(x[i], low, high);
}

static void clip_int(const int64_t *low, const int64_t *high, const int64_t *x, int64_t count,
                     int64_t *out) {
    for (int64_t i = 0; i < count; i++) {
        int64_t raised = low && x[i] < *low ? *low : x[i];
        out[i] = high && raised > *high ? *high : raised;
    }
}

tsr_status tsr_cpu_clip(const tsr_cpu_call *call) {
    const void *x = tsr_call_in(call, 0), *low = tsr_call_in(call, 1), *high = tsr_call_in(call, 2);
    int64_t count = tsr_shape_count(tsr_call_out_shape(call, 0));
    if (tsr_dtype_is_float(tsr_node_in(call->graph, call->node, 0)->dtype))
        tsr_cpu_apply_clip(low ? *(const float *)low : -FLT_MAX,
                           high ? *(const float *)high : FLT_MAX, x, count, tsr_call_out(call, 0));
    else
        clip_int(low, high, x, count, tsr_call_out(call, 0));
    return TSR_OK;
}
