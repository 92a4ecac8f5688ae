/* Operators of two broadcast inputs, and of any number of them. */
#include "cpu/call.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

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
static float mod_float(float a, float b) {
    return fmodf(a, b);
}
static float pow_float(float a, float b) {
    return (float)pow(a, b);
}
static float prelu_float(float x, float slope) {
    return x < 0 ? slope * x : x;
}
/* NaN if one of them is. */
static float max_float(float a, float b) {
    return isnan(a) || a > b ? a : b;
}
static float min_float(float a, float b) {
    return isnan(a) || a < b ? a : b;
}

#define COMPARISON(name, op)                                                                       \
    static float name##_float(float a, float b) {                                                  \
        return a op b;                                                                             \
    }                                                                                              \
    static bool name##_int(int64_t a, int64_t b, int64_t *out) {                                   \
        *out = a op b;                                                                             \
        return true;                                                                               \
    }
COMPARISON(equal, ==)
COMPARISON(greater, >)
COMPARISON(greater_or_equal, >=)
COMPARISON(less, <)
COMPARISON(less_or_equal, <=)

/* Integers wrap around; false where the result is undefined. */
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
    *out = b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b; /* INT64_MIN / -1 traps */
    return true;
}

/* As C's remainder, which has the sign of a; 0 if b is -1, by which INT64_MIN traps. */
static bool fmod_int(int64_t a, int64_t b, int64_t *out) {
    if (b == 0)
        return false;
    *out = b == -1 ? 0 : a % b;
    return true;
}

/* As Python's, which has the sign of b. */
static bool mod_int(int64_t a, int64_t b, int64_t *out) {
    if (!fmod_int(a, b, out))
        return false;
    *out += *out != 0 && (*out < 0) != (b < 0) ? b : 0;
    return true;
}

static bool div_unsigned(int64_t a, int64_t b, int64_t *out) {
    if (b == 0)
        return false;
    *out = (int64_t)((uint64_t)a / (uint64_t)b);
    return true;
}

static bool mod_unsigned(int64_t a, int64_t b, int64_t *out) {
    if (b == 0)
        return false;
    *out = (int64_t)((uint64_t)a % (uint64_t)b);
    return true;
}

/* PRelu of what is not negative. */
static bool first_int(int64_t a, int64_t b, int64_t *out) {
    (void)b;
    *out = a;
    return true;
}

static bool prelu_int(int64_t x, int64_t slope, int64_t *out) {
    *out = x;
    return x >= 0 || mul_int(slope, x, out);
}

static bool max_int(int64_t a, int64_t b, int64_t *out) {
    *out = a > b ? a : b;
    return true;
}

static bool min_int(int64_t a, int64_t b, int64_t *out) {
    *out = a < b ? a : b;
    return true;
}

#define BITWISE(name, op)                                                                          \
    static bool name##_int(int64_t a, int64_t b, int64_t *out) {                                   \
        *out = a op b;                                                                             \
        return true;                                                                               \
    }
BITWISE(and, &)
BITWISE(or, |)
BITWISE(xor, ^)
BITWISE(bitwise_and, &)
BITWISE(bitwise_or, |)
BITWISE(bitwise_xor, ^)

static bool bit_shift_int(int64_t a, int64_t b, int64_t *out) {
    *out = b >= 0 && b < 64 ? (int64_t)((uint64_t)a << b) : 0;
    return true;
}

static bool shift_right_int(int64_t a, int64_t b, int64_t *out) {
    *out = b >= 0 && b < 64 ? (int64_t)((uint64_t)a >> b) : 0;
    return true;
}

typedef float binary_fn(float a, float b);
typedef bool binary_int_fn(int64_t a, int64_t b, int64_t *out);

/* Those that a kind of operators lacks: LOGIC and BITS of floats, POWER of integers. */
#define FLOAT_ARITHMETIC(stem) stem##_float
#define FLOAT_POWER(stem) stem##_float
#define FLOAT_COMPARISON(stem) stem##_float
#define FLOAT_EQUALITY(stem) stem##_float
#define FLOAT_LOGIC(stem) NULL
#define FLOAT_BITS(stem) NULL
#define INT_ARITHMETIC(stem) stem##_int
#define INT_POWER(stem) NULL
#define INT_COMPARISON(stem) stem##_int
#define INT_EQUALITY(stem) stem##_int
#define INT_LOGIC(stem) stem##_int
#define INT_BITS(stem) stem##_int

static binary_fn *const float_table[TSR_OP_COUNT] = {
#define TSR_BINARY(Name, stem, kind) [TSR_OP_##Name] = FLOAT_##kind(stem),
#define TSR_NARY(Name, stem, types) [TSR_OP_##Name] = stem##_float,
#include "graph/ops.def"
};

static binary_int_fn *const int_table[TSR_OP_COUNT] = {
#define TSR_BINARY(Name, stem, kind) [TSR_OP_##Name] = INT_##kind(stem),
#define TSR_NARY(Name, stem, types) [TSR_OP_##Name] = stem##_int,
#include "graph/ops.def"
};

/* Those of uint64 that differ by more than the order of its numbers. */
static binary_int_fn *const unsigned_table[TSR_OP_NAMES] = {
    [TSR_OP_Div] = div_unsigned,
    [TSR_OP_Mod] = mod_unsigned,
    [TSR_OP_PRelu] = first_int,
};

static bool is_by_order(tsr_op op) {
    return op == TSR_OP_Max || op == TSR_OP_Min || op == TSR_OP_Less || op == TSR_OP_LessOrEqual ||
           op == TSR_OP_Greater || op == TSR_OP_GreaterOrEqual;
}

static binary_int_fn *int_function(const tsr_node *node, tsr_dtype dtype) {
    if (dtype == TSR_DTYPE_U64 && unsigned_table[node->op])
        return unsigned_table[node->op];
    if (node->op == TSR_OP_Mod && tsr_attr_int(node, "fmod", 0))
        return fmod_int;
    if (node->op == TSR_OP_BitShift && tsr_shifts_right(node))
        return shift_right_int;
    return int_table[node->op];
}

/* Two operands and the result, as the CPU stores elements. */
typedef struct operands {
    const void *a, *b;
    const tsr_shape *a_shape, *b_shape, *shape;
    tsr_dtype of, dtype; /* of both, of the result */
} operands;

void tsr_cpu_apply_binary(tsr_op op, const float *a, const tsr_shape *a_shape, const float *b,
                          const tsr_shape *b_shape, float *out, const tsr_shape *shape) {
    binary_fn *fn = float_table[op];
    int64_t count = tsr_shape_count(shape);
    tsr_broadcast_iterator it;
    tsr_broadcast_begin(&it, shape, a_shape, b_shape);
    for (int64_t i = 0; i < count; i++) {
        out[i] = fn(a[it.offset[0]], b[it.offset[1]]);
        tsr_broadcast_next(&it);
    }
}

static tsr_status apply_int(const tsr_node *node, const operands *o, int64_t *out) {
    binary_int_fn *fn = int_function(node, o->of);
    tsr_dtype order = is_by_order(node->op) ? o->of : TSR_DTYPE_I64,
              result = o->dtype == TSR_DTYPE_BOOL ? TSR_DTYPE_I64 : order;
    const int64_t *a = o->a, *b = o->b;
    int64_t count = tsr_shape_count(o->shape);
    tsr_broadcast_iterator it;
    tsr_broadcast_begin(&it, o->shape, o->a_shape, o->b_shape);
    for (int64_t i = 0; i < count; i++) {
        if (!fn(tsr_dtype_order(order, a[it.offset[0]]), tsr_dtype_order(order, b[it.offset[1]]),
                &out[i]))
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "integer division by zero");
        out[i] = tsr_dtype_wrap(o->dtype, tsr_dtype_order(result, out[i]));
        tsr_broadcast_next(&it);
    }
    return TSR_OK;
}

static void compare_floats(binary_fn *fn, const operands *o, int64_t *out) {
    const float *a = o->a, *b = o->b;
    int64_t count = tsr_shape_count(o->shape);
    tsr_broadcast_iterator it;
    tsr_broadcast_begin(&it, o->shape, o->a_shape, o->b_shape);
    for (int64_t i = 0; i < count; i++) {
        out[i] = fn(a[it.offset[0]], b[it.offset[1]]) != 0;
        tsr_broadcast_next(&it);
    }
}

/* Base and exponent may be of different types; the result is of the base's. */
static tsr_status raise(const tsr_cpu_call *call, const operands *o) {
    tsr_dtype by_type = tsr_node_in(call->graph, call->node, 1)->dtype;
    bool float_base = tsr_dtype_is_float(o->dtype), float_exponent = tsr_dtype_is_float(by_type);
    int64_t count = tsr_shape_count(o->shape);
    tsr_broadcast_iterator it;
    tsr_broadcast_begin(&it, o->shape, o->a_shape, o->b_shape);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = it.offset[0], by = it.offset[1];
        double base = float_base ? ((const float *)o->a)[at]
                                 : tsr_dtype_number(o->of, ((const int64_t *)o->a)[at]);
        double exponent = float_exponent ? ((const float *)o->b)[by]
                                         : tsr_dtype_number(by_type, ((const int64_t *)o->b)[by]);
        float power = (float)pow(base, exponent);
        if (float_base)
            ((float *)tsr_call_out(call, 0))[i] = power;
        else
            ((int64_t *)tsr_call_out(call, 0))[i] = tsr_dtype_int_of_float(o->dtype, power);
        tsr_broadcast_next(&it);
    }
    return TSR_OK;
}

tsr_status tsr_cpu_binary(const tsr_cpu_call *call) {
    const tsr_node *node = call->node;
    const operands o = {tsr_call_in(call, 0),
                        tsr_call_in(call, 1),
                        tsr_call_in_shape(call, 0),
                        tsr_call_in_shape(call, 1),
                        tsr_call_out_shape(call, 0),
                        tsr_node_in(call->graph, node, 0)->dtype,
                        tsr_node_out(call->graph, node, 0)->dtype};
    if (node->op == TSR_OP_Pow)
        return raise(call, &o);
    if (!tsr_dtype_is_float(tsr_node_in(call->graph, node, 0)->dtype))
        return apply_int(node, &o, tsr_call_out(call, 0));
    if (o.dtype == TSR_DTYPE_BOOL)
        compare_floats(float_table[node->op], &o, tsr_call_out(call, 0));
    else
        tsr_cpu_apply_binary(node->op, o.a, o.a_shape, o.b, o.b_shape, tsr_call_out(call, 0),
                             o.shape);
    return TSR_OK;
}

void tsr_cpu_apply_leaky_relu_grad(float alpha, const float *dy, const float *y, int64_t count,
                                   float *out) {
    for (int64_t i = 0; i < count; i++)
        out[i] = dy[i] * (y[i] > 0 ? 1 : alpha);
}

tsr_status tsr_cpu_leaky_relu_grad(const tsr_cpu_call *call) {
    float param[2];
    tsr_op_params(call->node, param);
    tsr_cpu_apply_leaky_relu_grad(param[0], tsr_call_in(call, 0), tsr_call_in(call, 1),
                                  tsr_shape_count(tsr_call_out_shape(call, 0)),
                                  tsr_call_out(call, 0));
    return TSR_OK;
}

/* ---- any number of inputs ---- */

/* Input 0, broadcast. */
static void begin_with(const tsr_cpu_call *call, size_t size) {
    const tsr_shape *shape = tsr_call_out_shape(call, 0), *first = tsr_call_in_shape(call, 0);
    const unsigned char *from = tsr_call_in(call, 0);
    unsigned char *out = tsr_call_out(call, 0);
    int64_t count = tsr_shape_count(shape);
    tsr_broadcast_iterator it;
    tsr_broadcast_begin(&it, shape, first, first);
    for (int64_t i = 0; i < count; i++) {
        memcpy(out + (size_t)i * size, from + (size_t)it.offset[0] * size, size);
        tsr_broadcast_next(&it);
    }
}

tsr_status tsr_cpu_nary(const tsr_cpu_call *call) {
    const tsr_node *node = call->node;
    const tsr_shape *shape = tsr_call_out_shape(call, 0);
    tsr_dtype dtype = tsr_node_out(call->graph, node, 0)->dtype;
    bool is_float = tsr_dtype_is_float(dtype);
    void *out = tsr_call_out(call, 0);
    begin_with(call, tsr_stored_size(dtype));
    for (int i = 1; i < node->input_count; i++) {
        const operands o = {
            out, tsr_call_in(call, i), shape, tsr_call_in_shape(call, i), shape, dtype, dtype};
        if (is_float)
            tsr_cpu_apply_binary(node->op, out, shape, o.b, o.b_shape, out, shape);
        else
            TSR_TRY(apply_int(node, &o, out));
    }
    float *floats = out;
    int64_t count = tsr_shape_count(shape);
    for (int64_t i = 0; node->op == TSR_OP_Mean && i < count; i++)
        floats[i] /= (float)node->input_count;
    return TSR_OK;
}

tsr_status tsr_cpu_where(const tsr_cpu_call *call) {
    const tsr_shape *shape = tsr_call_out_shape(call, 0), *condition = tsr_call_in_shape(call, 0);
    const unsigned char *from[2] = {tsr_call_in(call, 2), tsr_call_in(call, 1)};
    const int64_t *chosen = tsr_call_in(call, 0);
    unsigned char *out = tsr_call_out(call, 0);
    size_t size = tsr_stored_size(tsr_node_out(call->graph, call->node, 0)->dtype);
    int64_t count = tsr_shape_count(shape);
    tsr_broadcast_iterator of[2];
    for (int i = 0; i < 2; i++)
        tsr_broadcast_begin(&of[i], shape, tsr_call_in_shape(call, 2 - i), condition);
    for (int64_t i = 0; i < count; i++) {
        bool x = chosen[of[0].offset[1]] != 0;
        memcpy(out + (size_t)i * size, from[x] + (size_t)of[x].offset[0] * size, size);
        tsr_broadcast_next(&of[0]);
        tsr_broadcast_next(&of[1]);
    }
    return TSR_OK;
}
