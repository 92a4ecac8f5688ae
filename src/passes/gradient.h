/* Reverse-mode differentiation: nodes that compute gradients, appended to a graph. */
#ifndef TSR_PASSES_GRADIENT_H
#define TSR_PASSES_GRADIENT_H

#include "passes/build.h"

/* Of a float of one element with respect to others, which are no constants. */
typedef struct tsr_gradient_request {
    int loss, wrt_count;
    const int *wrt;
    int held_count; /* values that count as constants, even if they depend on wrt */
    const int *held;
} tsr_gradient_request;

/* Appends the nodes that compute gradients to a prepared graph (tsr_prepare()) that is not
 * optimized. gradients[i] is a value of type and shape of wrt[i]: computed, or a constant; the
 * graph's outputs stay as they are.
 *
 * Fails where the loss does not depend on wrt[i] by floats, and where it does by a node that cannot
 * be differentiated; then the graph's nodes are as before. At kinks, slopes are PyTorch's: 0 of
 * Relu and Abs at 0; what has several largest elements shares among them. */
tsr_status tsr_add_gradients(tsr_graph *graph, tsr_eval_fn eval,
                             const tsr_gradient_request *request, int *gradients);

/* The same for the nodes of a list of tsr_prepare(), all of which are the graph's; after a failure,
 * whose message does not name the file, there may be more of them. Folded ones stay, dropped. */
tsr_status tsr_append_gradients(tsr_node_list *list, const tsr_gradient_request *request,
                                int *gradients);

typedef enum tsr_gradient_kind {
    TSR_GRADIENT_UNDECIDED, /* no line of gradients.def: it is not in prepared graphs */
    TSR_GRADIENT_RULE,
    TSR_GRADIENT_NO_SLOPE, /* its results do not change with its inputs, almost everywhere */
    TSR_GRADIENT_REFUSED,
} tsr_gradient_kind;
tsr_gradient_kind tsr_gradient_kind_of(tsr_op op);

#endif
