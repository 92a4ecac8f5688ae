/* Small graphs that one pass of the optimizer is tried on. A test writes one at a time. */
#ifndef TESTS_SUPPORT_PASS_GRAPHS_H
#define TESTS_SUPPORT_PASS_GRAPHS_H

#include "support/graphs.h"

/* Of the graph that is being written. */
extern onnx_writer *writer;

/* Begins a graph with a float32 input "x". */
void begin(int rank, const int64_t *dims);
/* A node, named as its outputs are. */
Tsr__NodeProto *node(const char *op, const char *inputs, const char *outputs);
/* A constant whose elements are first, first + step, ... */
void constant(const char *name, int rank, const int64_t *dims, float first, float step);

/* A prepared graph, and a clone of it that a pass has rewritten. */
typedef struct pair {
    tsr_graph *before, *after;
} pair;

/* Ends the graph with a float32 output. */
pair apply(tsr_status (*pass)(tsr_graph *graph), const char *output);
void free_pair(pair p);

#endif
