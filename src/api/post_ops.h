/* A chain of post-ops, as an array. */
#ifndef TSR_API_POST_OPS_H
#define TSR_API_POST_OPS_H

#include "graph/graph.h"
#include "tessera_primitive.h"

struct tsr_post_ops {
    int count;
    tsr_post_op list[TSR_MAX_POST_OPS];
    tsr_op ops[TSR_MAX_POST_OPS];
    char *names; /* what node and tensor of the list point to; NULL: they are NULL */
};

_Static_assert((int)TSR_MAX_POST_OPS == TSR_MAX_POSTS, "as many as a node can have");

/* A new chain of that of a node; NULL, with a message, when out of memory. */
tsr_post_ops *tsr_post_ops_of_node(const tsr_graph *graph, const tsr_node *node);

/* The unary operator of this name that post-ops have, and its parameters with ONNX's defaults for
 * NaN; fails for others. */
tsr_status tsr_find_eltwise(const char *name, const float given[2], tsr_op *op, float param[2]);
/* The operator of two inputs. */
tsr_status tsr_find_binary(const char *name, tsr_op *op);
/* Has a tensor of this shape elements, as many as can be counted? */
tsr_status tsr_check_tensor_shape(const tsr_shape *shape);

#endif
