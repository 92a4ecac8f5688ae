/* Operators of one element: unary ones and Clip. NaN stays NaN. */
#include "cpu/call.h"

#include <float.h>
#include <math.h>

static double clamp(double x, double low, double high) {
    double raised = x < low ? low : x;
    return raised > high ? high : raised;
}

static float relu_float(float x, const float param[2]) {
    (void)param;
    return x < 0 ? 0 : x;
}

static float leaky_relu_float(float x, const float param[2]) {
    return x < 0 ? param[0] * x : x;
}

static float sigmoid_float(float x, const float param[2]) {
    (void)param;
    return (float)(1 / (1 + exp(-(double)x)));
}

static float tanh_float(float x, const float param[2]) {
    (void)param;
    return (float)tanh(x);
}

static float hard_sigmoid_float(float x, const float param[2]) {
    return (float)clamp((double)param[0] * x + param[1], 0, 1);
}

static float hard_swish_float(float x, const float param[2]) {
    (void)param;
    return (float)(x * clamp(x / 6.0 + 0.5, 0, 1));
}

static float exp_float(float x, const float param[2]) {
    (void)param;
    return (float)exp(x);
}

static float neg_float(float x, const float param[2]) {
    (void)param;
    return -x;
}

static float elu_float(float x, const float param[2]) {
    return x < 0 ? (float)(param[0] * expm1(x)) : x;
}

/* param: low, high */
static float clip_float(float x, const float param[2]) {
    return (float)clamp(x, param[0], param[1]);
}

static int64_t relu_int(int64_t x) {
    return x < 0 ? 0 : x;
}

/* Wraps around. */
static int64_t neg_int(int64_t x) {
    return (int64_t)(0 - (uint64_t)x);
}

typedef float float_fn(float x, const float param[2]);
typedef int64_t int_fn(int64_t x);

static float_fn *const float_table[TSR_OP_COUNT] = {
#define TSR_UNARY(Name, stem, types) [TSR_OP_##Name] = stem##_float,
#include "graph/ops.def"
    [TSR_OP_Clip] = clip_float,
};

#define INT_FLOATS(stem) NULL
#define INT_NUMBERS(stem) stem##_int
static int_fn *const int_table[TSR_OP_COUNT] = {
#define TSR_UNARY(Name, stem, types) [TSR_OP_##Name] = INT_##types(stem),
#include "graph/ops.def"
};

void tsr_cpu_apply_unary(tsr_op op, const float param[2], const float *x, int64_t count,
                         float *out) {
    float_fn *fn = float_table[op];
    for (int64_t i = 0; i < count; i++)
        out[i] = fn(x[i], param);
}

static void apply_int(tsr_op op, tsr_dtype dtype, const int64_t *x, int64_t count, int64_t *out) {
    int_fn *fn = int_table[op];
    for (int64_t i = 0; i < count; i++)
        out[i] = tsr_cpu_wrap(dtype, fn(x[i]));
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
        apply_int(op, dtype, tsr_call_in(call, 0), count, tsr_call_out(call, 0));
    return TSR_OK;
}

/* ---- Clip ---- */

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
    if (tsr_dtype_is_float(tsr_node_in(call->graph, call->node, 0)->dtype)) {
        const float param[2] = {low ? *(const float *)low : -FLT_MAX,
                                high ? *(const float *)high : FLT_MAX};
        tsr_cpu_apply_unary(TSR_OP_Clip, param, x, count, tsr_call_out(call, 0));
    } else {
        clip_int(low, high, x, count, tsr_call_out(call, 0));
    }
    return TSR_OK;
}
