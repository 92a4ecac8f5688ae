/* Operators of two broadcast operands: Add, Sub, Mul, Div and PRelu. */
#include "cpu/call.h"

#include "base/error.h"

static float add_float(float a, float b) {
    return a + b;
}
static float sub_float(float a, float b) {
    return a - b;
}
static float mul_float(float a, float b) {
    return a * b;
}
static float div_float(float a, float b) {
    return a / b;
}
static float prelu_float(float x, float slope) {
    return x < 0 ? slope * x : x;
}

/* Integers wrap around; false where there is no result. */
static bool add_int(int64_t a, int64_t b, int64_t *out) {
    *out = (int64_t)((uint64_t)a + (uint64_t)b);
    return true;
}

static bool sub_int(int64_t a, int64_t b, int64_t *out) {
    *out = (int64_t)((uint64_t)a - (uint64_t)b);
    return true;
}

static bool mul_int(int64_t a, int64_t b, int64_t *out) {
    *out = (int64_t)((uint64_t)a * (uint64_t)b);
    return true;
}

static bool div_int(int64_t a, int64_t b, int64_t *out) {
    if (b == 0)
        return false;
    *out = b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b; /* INT64_MIN / -1 would trap */
    return true;
}

typedef float float_fn(float a, float b);
typedef bool int_fn(int64_t a, int64_t b, int64_t *out);

static float_fn *const float_table[TSR_OP_COUNT] = {
#define TSR_BINARY(Name, stem) [TSR_OP_##Name] = stem##_float,
#include "graph/ops.def"
    [TSR_OP_PRelu] = prelu_float,
};

static int_fn *const int_table[TSR_OP_COUNT] = {
#define TSR_BINARY(Name, stem) [TSR_OP_##Name] = stem##_int,
#include "graph/ops.def"
};

void tsr_cpu_apply_binary(tsr_op op, const float *a, const tsr_shape *a_shape, const float *b,
                          const tsr_shape *b_shape, float *out, const tsr_shape *shape) {
    float_fn *fn = float_table[op];
    int64_t count = tsr_shape_count(shape);
    tsr_walk walk;
    tsr_walk_start(&walk, shape, a_shape, b_shape);
    for (int64_t i = 0; i < count; i++) {
        out[i] = fn(a[walk.offset[0]], b[walk.offset[1]]);
        tsr_walk_next(&walk);
    }
}

static tsr_status apply_int(const tsr_cpu_call *call) {
    int_fn *fn = int_table[call->node->op];
    const int64_t *a = tsr_call_in(call, 0), *b = tsr_call_in(call, 1);
    int64_t *out = tsr_call_out(call, 0);
    const tsr_value *result = tsr_node_out(call->graph, call->node, 0);
    int64_t count = tsr_shape_count(&result->shape);
    tsr_walk walk;
    tsr_walk_start(&walk, &result->shape, tsr_call_in_shape(call, 0), tsr_call_in_shape(call, 1));
    for (int64_t i = 0; i < count; i++) {
        if (!fn(a[walk.offset[0]], b[walk.offset[1]], &out[i]))
            return tsr_fail(TSR_INVALID_ARGUMENT, "integer division by zero");
        out[i] = tsr_cpu_wrap(result->dtype, out[i]);
        tsr_walk_next(&walk);
    }
    return TSR_OK;
}

static void apply_float(const tsr_cpu_call *call) {
    tsr_cpu_apply_binary(call->node->op, tsr_call_in(call, 0), tsr_call_in_shape(call, 0),
                         tsr_call_in(call, 1), tsr_call_in_shape(call, 1), tsr_call_out(call, 0),
                         tsr_call_out_shape(call, 0));
}

tsr_status tsr_cpu_binary(const tsr_cpu_call *call) {
    if (!tsr_dtype_is_float(tsr_node_in(call->graph, call->node, 0)->dtype))
        return apply_int(call);
    apply_float(call);
    return TSR_OK;
}

tsr_status tsr_cpu_prelu(const tsr_cpu_call *call) {
    apply_float(call);
    return TSR_OK;
}
