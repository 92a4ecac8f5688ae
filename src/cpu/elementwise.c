/* Element by element operators. NaN stays NaN. */
#include "cpu/call.h"

#include "base/error.h"

#include <float.h>
#include <math.h>

/* ---- unary operators and Clip ---- */

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

/* x * tanh(softplus(x)) */
static float mish_float(float x, const float param[2]) {
    (void)param;
    return (float)(x * tanh(log1p(exp(x))));
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

static float celu_float(float x, const float param[2]) {
    return (float)(x < 0 ? param[0] * expm1(x / param[0]) : x);
}

/* param: alpha, gamma */
static float selu_float(float x, const float param[2]) {
    return (float)(param[1] * (x < 0 ? param[0] * expm1(x) : x));
}

/* param: whether by tanh() */
static float gelu_float(float x, const float param[2]) {
    double inner = param[0] != 0 ? tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))
                                 : erf(x * 0.7071067811865476); /* sqrt(2 / pi), sqrt(1 / 2) */
    return (float)(0.5 * x * (1 + inner));
}

static float swish_float(float x, const float param[2]) {
    return (float)(x * (1 / (1 + exp(-(double)param[0] * x))));
}

static float softplus_float(float x, const float param[2]) {
    (void)param;
    return (float)((x < 0 ? 0 : x) + log1p(exp(-fabs((double)x))));
}

static float softsign_float(float x, const float param[2]) {
    (void)param;
    return x / (1 + fabsf(x));
}

static float thresholded_relu_float(float x, const float param[2]) {
    return x <= param[0] ? 0 : x;
}

/* param: lambd, bias */
static float shrink_float(float x, const float param[2]) {
    return x < -param[0] ? x + param[1] : x > param[0] ? x - param[1] : isnan(x) ? x : 0;
}

static float abs_float(float x, const float param[2]) {
    (void)param;
    return fabsf(x);
}

static float sign_float(float x, const float param[2]) {
    (void)param;
    return x > 0 ? 1 : x < 0 ? -1 : x;
}

static float reciprocal_float(float x, const float param[2]) {
    (void)param;
    return 1 / x;
}

/* Halves to even. */
static float round_float(float x, const float param[2]) {
    (void)param;
    return nearbyintf(x);
}

/* Those that C's library has under the same name. */
#define OF_LIBRARY(name)                                                                           \
    static float name##_float(float x, const float param[2]) {                                     \
        (void)param;                                                                               \
        return (float)name(x);                                                                     \
    }
OF_LIBRARY(sqrt)
OF_LIBRARY(log)
OF_LIBRARY(erf)
OF_LIBRARY(ceil)
OF_LIBRARY(floor)
OF_LIBRARY(sin)
OF_LIBRARY(cos)
OF_LIBRARY(tan)
OF_LIBRARY(asin)
OF_LIBRARY(acos)
OF_LIBRARY(atan)
OF_LIBRARY(sinh)
OF_LIBRARY(cosh)
OF_LIBRARY(asinh)
OF_LIBRARY(acosh)
OF_LIBRARY(atanh)

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

static int64_t abs_int(int64_t x) {
    return x < 0 ? neg_int(x) : x;
}

static int64_t sign_int(int64_t x) {
    return (x > 0) - (x < 0);
}

static int64_t same_int(int64_t x) {
    return x;
}

static int64_t is_not_zero(int64_t x) {
    return x != 0;
}

typedef float unary_fn(float x, const float param[2]);
typedef int64_t unary_int_fn(int64_t x);

static unary_fn *const unary_table[TSR_OP_COUNT] = {
#define TSR_UNARY(Name, stem, types) [TSR_OP_##Name] = stem##_float,
#include "graph/ops.def"
    [TSR_OP_Clip] = clip_float,
};

#define INT_FLOATS(stem) NULL
#define INT_NUMBERS(stem) stem##_int
static unary_int_fn *const unary_int_table[TSR_OP_COUNT] = {
#define TSR_UNARY(Name, stem, types) [TSR_OP_##Name] = INT_##types(stem),
#include "graph/ops.def"
};

void tsr_cpu_apply_unary(tsr_op op, const float param[2], const float *x, int64_t count,
                         float *out) {
    unary_fn *fn = unary_table[op];
    for (int64_t i = 0; i < count; i++)
        out[i] = fn(x[i], param);
}

static void apply_unary_int(tsr_op op, tsr_dtype dtype, const int64_t *x, int64_t count,
                            int64_t *out) {
    unary_int_fn *fn = unary_int_table[op];
    if (dtype == TSR_DTYPE_U64 && op == TSR_OP_Sign)
        fn = is_not_zero;
    else if (dtype == TSR_DTYPE_U64 && op != TSR_OP_Neg)
        fn = same_int; /* it has no negative numbers */
    for (int64_t i = 0; i < count; i++)
        out[i] = tsr_dtype_wrap(dtype, fn(x[i]));
}

tsr_status tsr_cpu_unary(const tsr_cpu_call *call) {
    tsr_op op = call->node->op;
    tsr_dtype dtype = tsr_node_in(call->graph, call->node, 0)->dtype;
    int64_t count = tsr_shape_count(tsr_call_out_shape(call, 0));
    float param[2];
    tsr_op_params(call->node, param);
    if (tsr_dtype_is_float(dtype))
        tsr_cpu_apply_unary(op, param, tsr_call_in(call, 0), count, tsr_call_out(call, 0));
    else
        apply_unary_int(op, dtype, tsr_call_in(call, 0), count, tsr_call_out(call, 0));
    return TSR_OK;
}

static void clip_int(tsr_dtype dtype, const int64_t *low, const int64_t *high, const int64_t *x,
                     int64_t count, int64_t *out) {
    const int64_t least = low ? tsr_dtype_order(dtype, *low) : INT64_MIN,
                  most = high ? tsr_dtype_order(dtype, *high) : INT64_MAX;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = tsr_dtype_order(dtype, x[i]), raised = at < least ? least : at;
        out[i] = tsr_dtype_order(dtype, raised > most ? most : raised);
    }
}

tsr_status tsr_cpu_clip(const tsr_cpu_call *call) {
    const void *x = tsr_call_in(call, 0), *low = tsr_call_in(call, 1), *high = tsr_call_in(call, 2);
    int64_t count = tsr_shape_count(tsr_call_out_shape(call, 0));
    tsr_dtype dtype = tsr_node_in(call->graph, call->node, 0)->dtype;
    if (tsr_dtype_is_float(dtype)) {
        const float param[2] = {low ? *(const float *)low : -FLT_MAX,
                                high ? *(const float *)high : FLT_MAX};
        tsr_cpu_apply_unary(TSR_OP_Clip, param, x, count, tsr_call_out(call, 0));
    } else {
        clip_int(dtype, low, high, x, count, tsr_call_out(call, 0));
    }
    return TSR_OK;
}

/* ---- from and to integers and bool ---- */

tsr_status tsr_cpu_not(const tsr_cpu_call *call) {
    const int64_t *x = tsr_call_in(call, 0);
    int64_t *out = tsr_call_out(call, 0), count = tsr_shape_count(tsr_call_out_shape(call, 0));
    for (int64_t i = 0; i < count; i++)
        out[i] = !x[i];
    return TSR_OK;
}

tsr_status tsr_cpu_bitwise_not(const tsr_cpu_call *call) {
    const int64_t *x = tsr_call_in(call, 0);
    tsr_dtype dtype = tsr_node_out(call->graph, call->node, 0)->dtype;
    int64_t *out = tsr_call_out(call, 0), count = tsr_shape_count(tsr_call_out_shape(call, 0));
    for (int64_t i = 0; i < count; i++)
        out[i] = tsr_dtype_wrap(dtype, ~x[i]);
    return TSR_OK;
}

tsr_status tsr_cpu_is_inf(const tsr_cpu_call *call) {
    const float *x = tsr_call_in(call, 0);
    int64_t *out = tsr_call_out(call, 0), count = tsr_shape_count(tsr_call_out_shape(call, 0));
    bool positive = tsr_attr_int(call->node, "detect_positive", 1),
         negative = tsr_attr_int(call->node, "detect_negative", 1);
    for (int64_t i = 0; i < count; i++)
        out[i] = isinf(x[i]) && (x[i] > 0 ? positive : negative);
    return TSR_OK;
}

tsr_status tsr_cpu_is_nan(const tsr_cpu_call *call) {
    const float *x = tsr_call_in(call, 0);
    int64_t *out = tsr_call_out(call, 0), count = tsr_shape_count(tsr_call_out_shape(call, 0));
    for (int64_t i = 0; i < count; i++)
        out[i] = isnan(x[i]);
    return TSR_OK;
}
