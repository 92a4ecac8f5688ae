/* A random graph, built node by node: the cpu backend computes each value, and how far another
 * backend may be off is estimated by moving the inputs of each node by what they may be off. */
#ifndef TESTS_SUPPORT_FUZZ_GRAPH_H
#define TESTS_SUPPORT_FUZZ_GRAPH_H

#include "support/graph_maker.h"

typedef struct fuzz_graph {
    uint32_t seed; /* of initializers and inputs */
    bool half;     /* tensors have 16 bits on a GPU */
    graph_value values[GRAPH_MOST_VALUES];
    int value_count;
    char *nodes[GRAPH_MOST_NODES]; /* as node_maker writes them */
    tsr_op ops[GRAPH_MOST_NODES];
    int node_count;
} fuzz_graph;

/* Nodes of a graph; what other nodes write are inputs then. */
typedef struct node_set {
    bool has[GRAPH_MOST_NODES];
} node_set;

/* Where a graph runs. */
typedef struct graph_run {
    tsr_device *device;
    tsr_precision precision;
    uint32_t mixed; /* in 16 bits: the seed of which values have 32 nevertheless; 0: none */
    bool allow_cpu_fallback;
    bool converted; /* what tsr_model_write() makes of it runs */
    int tune_ms;
} graph_run;

void fuzz_graph_free(fuzz_graph *graph);
/* An input with elements of its own, from scale * (center - 1) to scale * (center + 1). */
void fuzz_graph_add_input(fuzz_graph *graph, tsr_dtype dtype, tsr_shape shape, float scale,
                          float center);

typedef enum node_result {
    NODE_ADDED,
    NODE_UNFIT,   /* its values would be too large, or depend too much on rounding */
    NODE_REFUSED, /* by the cpu backend: tsr_last_error() */
} node_result;
/* The node of that text, as node_maker writes it. cpu: a device. */
node_result fuzz_graph_add_node(fuzz_graph *graph, tsr_device *cpu, tsr_op op, const char *text,
                                random_source *random);

/* The nodes of the set as an onnx_case(). */
void fuzz_graph_text(const fuzz_graph *graph, const node_set *set, case_text *text);

/* Runs the nodes of the set, poisoned, and compares what no other node of it reads, and some of the
 * rest, with the values. TSR_OK with an empty `difference`, or the text of one. On failure:
 * tsr_last_error(). */
tsr_status fuzz_graph_compare(const fuzz_graph *graph, const node_set *set, const graph_run *run,
                              char difference[256]);

#endif
