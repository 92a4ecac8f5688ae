/* Cases of the reference operators: a node whose inputs are all constants, which preparing its
 * graph evaluates. A test writes one at a time: begin(), constants, op(), expect(). */
#ifndef TESTS_SUPPORT_CPU_CASES_H
#define TESTS_SUPPORT_CPU_CASES_H

#include "support/graphs.h"

#include "cpu/cpu.h"
#include "passes/passes.h"

static onnx_writer *writer;

/* Elements for inputs. */
static const float ramp[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                             13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};

static inline void begin(int opset) {
    writer = onnx_writer_create(opset);
}

static inline void floats(const char *name, int rank, const int64_t *dims, const float *elements) {
    onnx_add_floats(writer, name, rank, dims, elements);
}

static inline void ints(const char *name, int rank, const int64_t *dims, const int64_t *elements) {
    onnx_add_ints(writer, name, rank, dims, elements);
}

static inline Tsr__NodeProto *op(const char *type, const char *inputs) {
    return onnx_add_node(writer, type, type, inputs, "y");
}

static inline void expect(int rank, const int64_t *dims, const float *expected) {
    add_output(writer, "y", TSR_DTYPE_F32);
    tsr_graph *graph = prepare_graph(writer);
    const tsr_value *y = value_named(graph, "y");
    expect_shape(y, rank, dims);
    assert_non_null(y->data);
    assert_true(tsr_dtype_is_float(y->dtype));
    expect_floats(y->data, expected, tsr_shape_count(&y->shape), 2e-6);
    tsr_graph_destroy(graph);
}

static inline void expect_ints(tsr_dtype dtype, int rank, const int64_t *dims,
                               const int64_t *expected) {
    add_output(writer, "y", dtype);
    tsr_graph *graph = prepare_graph(writer);
    const tsr_value *y = value_named(graph, "y");
    expect_shape(y, rank, dims);
    assert_int_equal(y->dtype, dtype);
    assert_memory_equal(y->data, expected, (size_t)tsr_shape_count(&y->shape) * sizeof(int64_t));
    tsr_graph_destroy(graph);
}

static inline void expect_failure(tsr_status status) {
    add_output(writer, "y", TSR_DTYPE_F32);
    tsr_graph *graph = read_graph(writer);
    assert_int_equal(tsr_prepare(graph, tsr_cpu_eval, NULL), status);
    assert_string_not_equal(tsr_last_error(), "");
    tsr_graph_destroy(graph);
}

#endif
