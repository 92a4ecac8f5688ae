/* Graph -> graph. tsr_prepare() is for every backend, tsr_optimize() for GPU backends only:
 * errors of its rewriting show against the CPU backend. */
#ifndef TSR_PASSES_PASSES_H
#define TSR_PASSES_PASSES_H

#include "graph/graph.h"

/* Evaluates a node whose inputs are all known; outputs are allocated. src/cpu's tsr_cpu_eval. */
typedef tsr_status (*tsr_eval_fn)(const tsr_graph *graph, const tsr_node *node, void **data);

/* Nodes of which shapes or what has to be constant are known only when elements are, and all nodes
 * that read their results; in topological order, in the graph's arena. */
typedef struct tsr_late_nodes {
    int node_count, input_count, output_count;
    tsr_node *nodes;
    int *inputs;   /* values that they read, and others compute; not constant */
    int *outputs;  /* of the graph, before it was prepared */
    bool *is_late; /* by value, of those before the graph was prepared: computed by these nodes */
} tsr_late_nodes;

/* Replaces function operators (TSR_FUNCTION of ops.def), infers every shape in topological order,
 * evaluates nodes whose inputs are all constant, removes nodes that no output needs. All input
 * shapes must be known. late: NULL refuses late nodes; else they are taken out, and the graph's
 * outputs are those it still computes, and late->inputs. */
tsr_status tsr_prepare(tsr_graph *graph, tsr_eval_fn eval, tsr_late_nodes *late);

/* Computes a graph whose inputs are constants: all outputs are, then. */
tsr_status tsr_evaluate(tsr_graph *graph, tsr_eval_fn eval);

/* Rewrites operators that GPUs have no kernel for; splits Transposes of more than four axes;
 * removes nodes that do nothing; folds BatchNormalization into the convolution before it or
 * rewrites it as Mul and Add; fuses cheap operators into what reads them; fuses post-ops. The
 * values of graph->outputs are kept. */
tsr_status tsr_optimize(tsr_graph *graph);

/* The passes of tsr_optimize, in its order (for tests). */
tsr_status tsr_pass_decompose(tsr_graph *graph);
tsr_status tsr_pass_split_transpose(tsr_graph *graph);
tsr_status tsr_pass_bypass(tsr_graph *graph);
tsr_status tsr_pass_fold_batch_norm(tsr_graph *graph);
tsr_status tsr_pass_fuse_before(tsr_graph *graph);
tsr_status tsr_pass_fuse_posts(tsr_graph *graph);
/* Removes nodes that no graph output depends on. */
tsr_status tsr_pass_remove_dead(tsr_graph *graph);

#endif
