/* Graph -> graph. tsr_prepare() is for every backend, tsr_optimize() for GPU backends only:
 * errors of its rewriting show against the CPU backend. */
#ifndef TSR_PASSES_PASSES_H
#define TSR_PASSES_PASSES_H

#include "graph/graph.h"

/* The optimizer's passes: passes.def. */
typedef enum tsr_optimizer_pass {
#define TSR_OPTIMIZER_PASS(name, kind, text) TSR_OPTIMIZER_##name,
#include "passes/passes.def"
    TSR_OPTIMIZER_COUNT
} tsr_optimizer_pass;

typedef struct tsr_optimizer_pass_info {
    const char *name;
    bool required;
    tsr_status (*run)(tsr_graph *graph); /* NULL: it is not run by tsr_optimize() */
} tsr_optimizer_pass_info;
extern const tsr_optimizer_pass_info tsr_optimizer_passes[TSR_OPTIMIZER_COUNT];
/* What each pass does: an array of its own, which the linker leaves out of a page's modules. */
extern const char *const tsr_optimizer_texts[TSR_OPTIMIZER_COUNT];

/* Which passes run, and what they did. */
typedef struct tsr_optimizer {
    bool on[TSR_OPTIMIZER_COUNT];
    int nodes_before[TSR_OPTIMIZER_COUNT], nodes_after[TSR_OPTIMIZER_COUNT]; /* -1: did not run */
} tsr_optimizer;

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

/* The same for a session. Without fold_constants, floats are computed only where something needs
 * them to be constant. */
tsr_status tsr_prepare_for(tsr_graph *graph, tsr_eval_fn eval, tsr_optimizer *optimizer,
                           tsr_late_nodes *late);

/* The same for a graph that is written to a file: function operators stay as they are, but for
 * calls of the model's functions, and nodes of constants whose results would make the file large,
 * as weights in fewer bits that become floats. */
tsr_status tsr_prepare_to_export(tsr_graph *graph, tsr_eval_fn eval, tsr_late_nodes *late);

/* What makes a graph small whose nodes remain operators of ONNX of that opset: nodes of constants
 * are folded and, if all shapes of inputs are known, shapes inferred and passes of the optimizer
 * run. keep_nodes: they are not. */
tsr_status tsr_export(tsr_graph *graph, tsr_eval_fn eval, int opset, bool keep_nodes);

/* Computes a graph whose inputs are constants: all outputs are, then. */
tsr_status tsr_evaluate(tsr_graph *graph, tsr_eval_fn eval);

/* list: tsr_session_desc.optimizer_passes. TSR_ERROR_INVALID_ARGUMENT where a name is unknown. */
tsr_status tsr_optimizer_make(const char *list, tsr_optimizer *optimizer);

/* Runs the passes that are on. The values of graph->outputs are kept. */
tsr_status tsr_optimize(tsr_graph *graph, tsr_optimizer *optimizer);

tsr_status tsr_pass_decompose(tsr_graph *graph);
tsr_status tsr_pass_recognize_shuffle(tsr_graph *graph);
tsr_status tsr_pass_recognize_attention(tsr_graph *graph);
tsr_status tsr_pass_transposes(tsr_graph *graph);
tsr_status tsr_pass_split_transpose(tsr_graph *graph);
tsr_status tsr_pass_bypass(tsr_graph *graph);
tsr_status tsr_pass_cse(tsr_graph *graph);
tsr_status tsr_pass_recognize_layer_norm(tsr_graph *graph);
tsr_status tsr_pass_recognize_gelu(tsr_graph *graph);
tsr_status tsr_pass_recognize_swish(tsr_graph *graph);
tsr_status tsr_pass_pad_into_window(tsr_graph *graph);
tsr_status tsr_pass_fold_batch_norm(tsr_graph *graph);
tsr_status tsr_pass_fold_batch_norm_next(tsr_graph *graph);
tsr_status tsr_pass_rewrite_batch_norm(tsr_graph *graph);
tsr_status tsr_pass_before_views(tsr_graph *graph);
tsr_status tsr_pass_fuse_before(tsr_graph *graph);
tsr_status tsr_pass_fuse_posts(tsr_graph *graph);
/* Removes nodes that no graph output depends on. */
tsr_status tsr_pass_remove_dead(tsr_graph *graph);

#endif
