/* Gemm and MatMul. */
#include "cpu/call.h"

#include "base/allocator.h"
#include "base/error.h"

/* A matrix: `row` and `column` are its strides, in elements. */
typedef struct matrix {
    const float *data;
    int64_t row, column;
} matrix;

/* sums[j] = sum over k of a[row, k] * b[k, j] */
static void multiply_row(matrix a, int64_t row, matrix b, int64_t depth, int64_t width,
                         double *sums) {
    for (int64_t j = 0; j < width; j++)
        sums[j] = 0;
    for (int64_t k = 0; k < depth; k++) {
        double factor = a.data[row * a.row + k * a.column];
        const float *b_row = b.data + k * b.row;
        for (int64_t j = 0; j < width; j++)
            sums[j] += factor * b_row[j * b.column];
    }
}

static matrix gemm_operand(const tsr_cpu_call *call, int input, const char *transpose_attr) {
    int64_t columns = tsr_call_in_shape(call, input)->dim[1];
    bool transposed = tsr_attr_int(call->node, transpose_attr, 0) != 0;
    return (matrix){tsr_call_in(call, input), transposed ? 1 : columns, transposed ? columns : 1};
}

/* The optional C, broadcast to [M, N]. */
static matrix gemm_addend(const tsr_cpu_call *call) {
    const tsr_shape *shape = tsr_call_in_shape(call, 2);
    if (!shape)
        return (matrix){NULL, 0, 0};
    tsr_broadcast_iterator it;
    tsr_broadcast_begin(&it, tsr_call_out_shape(call, 0), shape, shape);
    return (matrix){tsr_call_in(call, 2), it.stride[0][0], it.stride[0][1]};
}

tsr_status tsr_cpu_gemm(const tsr_cpu_call *call) {
    matrix a = gemm_operand(call, 0, "transA"), b = gemm_operand(call, 1, "transB");
    matrix c = gemm_addend(call);
    int64_t height = tsr_call_out_shape(call, 0)->dim[0],
            width = tsr_call_out_shape(call, 0)->dim[1];
    int64_t depth = tsr_call_in_shape(call, 0)->dim[tsr_attr_int(call->node, "transA", 0) ? 0 : 1];
    double alpha = tsr_attr_float(call->node, "alpha", 1),
           beta = tsr_attr_float(call->node, "beta", 1);
    double *sums = tsr_cpu_scratch(width, sizeof *sums);
    if (!sums)
        return TSR_ERROR_OUT_OF_MEMORY;
    float *out = tsr_call_out(call, 0);
    for (int64_t i = 0; i < height; i++) {
        multiply_row(a, i, b, depth, width, sums);
        for (int64_t j = 0; j < width; j++) {
            double addend = c.data ? beta * c.data[i * c.row + j * c.column] : 0;
            *out++ = (float)(alpha * sums[j] + addend);
        }
    }
    tsr_free(sums);
    return TSR_OK;
}

/* Batches broadcast as in numpy; a vector is one row on the left and one column on the right. */
tsr_status tsr_cpu_matmul(const tsr_cpu_call *call) {
    const tsr_shape *a_shape = tsr_call_in_shape(call, 0), *b_shape = tsr_call_in_shape(call, 1);
    int64_t height = a_shape->rank > 1 ? a_shape->dim[a_shape->rank - 2] : 1;
    int64_t width = b_shape->rank > 1 ? b_shape->dim[b_shape->rank - 1] : 1;
    int64_t depth = a_shape->dim[a_shape->rank - 1];
    tsr_shape a_batch = tsr_batch_shape(a_shape), b_batch = tsr_batch_shape(b_shape), batch;
    TSR_TRY(tsr_broadcast(&a_batch, &b_batch, &batch));
    double *sums = tsr_cpu_scratch(width, sizeof *sums);
    if (!sums)
        return TSR_ERROR_OUT_OF_MEMORY;
    const float *a_data = tsr_call_in(call, 0), *b_data = tsr_call_in(call, 1);
    int64_t row = 0;
    tsr_broadcast_iterator it;
    tsr_broadcast_begin(&it, &batch, &a_batch, &b_batch);
    do {
        matrix a = {a_data + it.offset[0] * height * depth, depth, 1};
        matrix b = {b_data + it.offset[1] * depth * width, width, 1};
        for (int64_t i = 0; i < height; i++, row++) {
            multiply_row(a, i, b, depth, width, sums);
            tsr_call_store_sums(call, row * width, width, sums);
        }
    } while (tsr_broadcast_next(&it));
    tsr_free(sums);
    return TSR_OK;
}
