/* A primitive as a graph of one node with its post-ops. */
#ifndef TSR_API_PRIMITIVE_H
#define TSR_API_PRIMITIVE_H

#include "api/device_tensor.h"
#include "api/post_ops.h"

/* Values of the graph; TSR_NONE for those that it lacks. */
typedef struct tsr_primitive_graph {
    tsr_graph *graph;
    int source, other, destination;
    int before; /* the destination's elements from before, which sums read */
    int operands[TSR_MAX_POST_OPS];
} tsr_primitive_graph;

/* decompose: the backend needs tsr_optimize()d graphs. After a failure, too, the caller destroys
 * the graph. */
tsr_status tsr_primitive_graph_make(const tsr_primitive_desc *desc, bool decompose,
                                    tsr_primitive_graph *made);
/* The node that writes the destination. */
tsr_node *tsr_primitive_node(const tsr_primitive_graph *primitive);

#endif
