/* Small graphs for tests: built with tools/onnx_writer.h, read back, run on the reference
 * operators. What goes wrong on the way fails the test. */
#ifndef TESTS_SUPPORT_GRAPHS_H
#define TESTS_SUPPORT_GRAPHS_H

#include "graph/graph.h"
#include "onnx_writer.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Two arguments: a rank and its dimensions. */
#define SHAPE(...)                                                                                 \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) {                       \
        __VA_ARGS__                                                                                \
    }
#define SCALAR 0, NULL
/* Elements for onnx_add_floats() and onnx_add_ints(). */
#define FLOATS(...)                                                                                \
    (float[]) {                                                                                    \
        __VA_ARGS__                                                                                \
    }
#define INTS(...)                                                                                  \
    (int64_t[]) {                                                                                  \
        __VA_ARGS__                                                                                \
    }

/* An output whose shape the file leaves open. */
void add_output(onnx_writer *writer, const char *name, tsr_dtype dtype);

/* The graph of what was written, as read; frees the writer. */
tsr_graph *read_graph(onnx_writer *writer);
/* The same, prepared for running. */
tsr_graph *prepare_graph(onnx_writer *writer);

/* The graph of onnx_case() text is read, but preparing it fails with these words in the error. */
void refuse_to_prepare(int opset, const char *text, const char *words);

const tsr_value *value_named(const tsr_graph *graph, const char *name);
/* The node that writes the value; fails if there is none. */
const tsr_node *producer_of(const tsr_graph *graph, const char *value);

/* The operators of its nodes, in their order, with their post-ops: "Conv+Relu Neg". At most size
 * bytes, with the NUL. */
void list_nodes(const tsr_graph *graph, char *text, size_t size);

void expect_shape(const tsr_value *value, int rank, const int64_t *dims);
void expect_floats(const float *actual, const float *expected, int64_t count, double tolerance);

/* Runs a prepared graph on pseudo-random inputs that depend on nothing but their index. Element
 * arrays of every value, constants included; free with free_run(). */
void **run_graph(const tsr_graph *graph);
void free_run(const tsr_graph *graph, void **elements);

/* Do two graphs give the same outputs, relative to the largest element? */
void expect_same_results(const tsr_graph *a, const tsr_graph *b, double tolerance);

#endif
