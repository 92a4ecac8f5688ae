/* Reductions: each element is added to the one of the result that it is reduced to. */
#include "cpu/call.h"

#include "base/allocator.h"

#include <math.h>

/* Of floats: the accumulator begins at `start`. */
typedef struct float_reducer {
    double start;
    double (*add)(double sum, double x);
    double (*finish)(double sum, double count); /* NULL: the sum */
} float_reducer;

static double add(double sum, double x) {
    return sum + x;
}
static double multiply(double sum, double x) {
    return sum * x;
}
static double larger(double sum, double x) {
    return isnan(x) || x > sum ? x : sum;
}
static double smaller(double sum, double x) {
    return isnan(x) || x < sum ? x : sum;
}
static double add_magnitude(double sum, double x) {
    return sum + fabs(x);
}
static double add_square(double sum, double x) {
    return sum + x * x;
}
static double divide(double sum, double count) {
    return sum / count;
}
static double root(double sum, double count) {
    (void)count;
    return sqrt(sum);
}
static double logarithm(double sum, double count) {
    (void)count;
    return log(sum);
}

static const float_reducer float_reducers[TSR_OP_NAMES] = {
    [TSR_OP_ReduceSum] = {0, add, NULL},
    [TSR_OP_ReduceMean] = {0, add, divide},
    [TSR_OP_ReduceMax] = {-INFINITY, larger, NULL},
    [TSR_OP_ReduceMin] = {INFINITY, smaller, NULL},
    [TSR_OP_ReduceProd] = {1, multiply, NULL},
    [TSR_OP_ReduceL1] = {0, add_magnitude, NULL},
    [TSR_OP_ReduceL2] = {0, add_square, root},
    [TSR_OP_ReduceSumSquare] = {0, add_square, NULL},
    [TSR_OP_ReduceLogSum] = {0, add, logarithm},
    [TSR_OP_ReduceLogSumExp] = {0, add, logarithm}, /* of the elements' exp() */
};

/* A walk over the input: offset[0] is that of the element of the result. */
static tsr_broadcast_iterator begin_walk(const tsr_cpu_call *call, tsr_shape *kept) {
    const tsr_shape *in = tsr_call_in_shape(call, 0);
    bool reduced[TSR_MAX_RANK];
    tsr_broadcast_iterator it;
    *kept = *in;
    if (tsr_node_reduced_axes(call->graph, call->node, reduced) == TSR_OK) /* checked before */
        for (int i = 0; i < in->rank; i++)
            kept->dim[i] = reduced[i] ? 1 : in->dim[i];
    tsr_broadcast_begin(&it, in, kept, kept);
    return it;
}

/* The largest finite elements, which are subtracted before exp(). */
static void find_largest(const tsr_cpu_call *call, double *largest, int64_t results) {
    const float *x = tsr_call_in(call, 0);
    int64_t count = tsr_shape_count(tsr_call_in_shape(call, 0));
    tsr_shape kept;
    tsr_broadcast_iterator it = begin_walk(call, &kept);
    for (int64_t i = 0; i < results; i++)
        largest[i] = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        if (isfinite(x[i]))
            largest[it.offset[0]] = fmax(largest[it.offset[0]], x[i]);
        tsr_broadcast_next(&it);
    }
    for (int64_t i = 0; i < results; i++)
        largest[i] = isfinite(largest[i]) ? largest[i] : 0;
}

static void reduce_floats(const tsr_cpu_call *call, double *sums, double *largest) {
    const float_reducer *r = &float_reducers[call->node->op];
    bool is_exp = call->node->op == TSR_OP_ReduceLogSumExp;
    const float *x = tsr_call_in(call, 0);
    float *out = tsr_call_out(call, 0);
    int64_t count = tsr_shape_count(tsr_call_in_shape(call, 0)),
            results = tsr_shape_count(tsr_call_out_shape(call, 0));
    tsr_shape kept;
    tsr_broadcast_iterator it = begin_walk(call, &kept);
    for (int64_t i = 0; i < results; i++)
        sums[i] = r->start;
    if (is_exp)
        find_largest(call, largest, results);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = it.offset[0];
        sums[at] = r->add(sums[at], is_exp ? exp(x[i] - largest[at]) : x[i]);
        tsr_broadcast_next(&it);
    }
    for (int64_t i = 0; i < results; i++)
        out[i] =
            (float)((r->finish ? r->finish(sums[i], (double)count / (double)results) : sums[i]) +
                    (is_exp ? largest[i] : 0));
}

/* ---- integers -------------------------------------------------------------------------------- */

typedef struct int_reducer {
    int64_t start;
    int64_t (*add)(int64_t sum, int64_t x);
} int_reducer;

/* Sums and products wrap around. */
static int64_t add_int(int64_t sum, int64_t x) {
    return (int64_t)((uint64_t)sum + (uint64_t)x);
}
static int64_t multiply_int(int64_t sum, int64_t x) {
    return (int64_t)((uint64_t)sum * (uint64_t)x);
}
static int64_t larger_int(int64_t sum, int64_t x) {
    return x > sum ? x : sum;
}
static int64_t smaller_int(int64_t sum, int64_t x) {
    return x < sum ? x : sum;
}
static int64_t add_magnitude_int(int64_t sum, int64_t x) {
    return add_int(sum, x < 0 ? (int64_t)(0 - (uint64_t)x) : x);
}
static int64_t add_square_int(int64_t sum, int64_t x) {
    return add_int(sum, multiply_int(x, x));
}

static const int_reducer int_reducers[TSR_OP_NAMES] = {
    [TSR_OP_ReduceSum] = {0, add_int},
    [TSR_OP_ReduceMean] = {0, add_int},
    [TSR_OP_ReduceMax] = {INT64_MIN, larger_int},
    [TSR_OP_ReduceMin] = {INT64_MAX, smaller_int},
    [TSR_OP_ReduceProd] = {1, multiply_int},
    [TSR_OP_ReduceL1] = {0, add_magnitude_int},
    [TSR_OP_ReduceL2] = {0, add_square_int},
    [TSR_OP_ReduceSumSquare] = {0, add_square_int},
    [TSR_OP_ReduceLogSum] = {0, add_int},
    [TSR_OP_ReduceLogSumExp] = {0, add_int},
};

/* What is no integer is rounded toward zero. */
static int64_t finish_int(tsr_op op, tsr_dtype dtype, int64_t sum, int64_t count) {
    if (op == TSR_OP_ReduceMean)
        return !count                   ? 0
               : dtype == TSR_DTYPE_U64 ? (int64_t)((uint64_t)sum / (uint64_t)count)
                                        : sum / count;
    if (op == TSR_OP_ReduceL2)
        return tsr_dtype_int_of_float(dtype, (float)sqrt((double)sum));
    if (op == TSR_OP_ReduceLogSum || op == TSR_OP_ReduceLogSumExp)
        return tsr_dtype_int_of_float(dtype, (float)log((double)sum));
    return tsr_dtype_wrap(dtype, sum);
}

static void reduce_ints(const tsr_cpu_call *call) {
    tsr_op op = call->node->op;
    const int_reducer *r = &int_reducers[op];
    const int64_t *x = tsr_call_in(call, 0);
    tsr_dtype dtype = tsr_node_out(call->graph, call->node, 0)->dtype;
    bool by_order = op == TSR_OP_ReduceMax || op == TSR_OP_ReduceMin;
    tsr_dtype order = by_order ? dtype : TSR_DTYPE_I64;
    int64_t *out = tsr_call_out(call, 0), count = tsr_shape_count(tsr_call_in_shape(call, 0)),
            results = tsr_shape_count(tsr_call_out_shape(call, 0));
    tsr_shape kept;
    tsr_broadcast_iterator it = begin_walk(call, &kept);
    for (int64_t i = 0; i < results; i++)
        out[i] = r->start;
    for (int64_t i = 0; i < count; i++) {
        int64_t by =
            op == TSR_OP_ReduceLogSumExp
                ? tsr_dtype_int_of_float(TSR_DTYPE_I64, (float)exp(tsr_dtype_number(dtype, x[i])))
                : tsr_dtype_order(order, x[i]);
        out[it.offset[0]] = r->add(out[it.offset[0]], by);
        tsr_broadcast_next(&it);
    }
    for (int64_t i = 0; i < results; i++)
        out[i] = finish_int(op, dtype, tsr_dtype_order(order, out[i]), count / results);
}

tsr_status tsr_cpu_reduce(const tsr_cpu_call *call) {
    if (!tsr_dtype_is_float(tsr_node_in(call->graph, call->node, 0)->dtype)) {
        reduce_ints(call);
        return TSR_OK;
    }
    int64_t results = tsr_shape_count(tsr_call_out_shape(call, 0));
    double *sums = tsr_cpu_scratch(results, 2 * sizeof *sums);
    if (!sums)
        return TSR_ERROR_OUT_OF_MEMORY;
    reduce_floats(call, sums, sums + results);
    tsr_free(sums);
    return TSR_OK;
}

/* ---- ArgMax, ArgMin -------------------------------------------------------------------------- */

/* Is a, of type double or integer, to be chosen before b? NaN is before all. */
static bool is_better(double a, double b, bool least, bool or_equal) {
    if (isnan(a) || isnan(b))
        return isnan(a) && (!isnan(b) || or_equal);
    return (least ? a < b : a > b) || (or_equal && a == b);
}

static double element(const tsr_cpu_call *call, int64_t i) {
    const float *floats = tsr_call_in(call, 0);
    const int64_t *ints = tsr_call_in(call, 0);
    tsr_dtype dtype = tsr_node_in(call->graph, call->node, 0)->dtype;
    return tsr_dtype_is_float(dtype) ? floats[i] : tsr_dtype_number(dtype, ints[i]);
}

static tsr_status find_index(const tsr_cpu_call *call, bool least) {
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    bool last = tsr_attr_int(call->node, "select_last_index", 0) != 0;
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(call->node, "axis", 0), shape->rank, &axis));
    int64_t outer = tsr_dim_product(shape, 0, axis), count = shape->dim[axis],
            inner = tsr_dim_product(shape, axis + 1, shape->rank), *out = tsr_call_out(call, 0);
    for (int64_t i = 0; i < outer * inner; i++) {
        int64_t first = i / inner * count * inner + i % inner, best = 0;
        for (int64_t k = 1; k < count; k++)
            if (is_better(element(call, first + k * inner), element(call, first + best * inner),
                          least, last))
                best = k;
        out[i] = best;
    }
    return TSR_OK;
}

tsr_status tsr_cpu_arg_max(const tsr_cpu_call *call) {
    return find_index(call, false);
}

tsr_status tsr_cpu_arg_min(const tsr_cpu_call *call) {
    return find_index(call, true);
}
