/* Shared by the shape rules (infer_*.c). */
#ifndef TSR_GRAPH_RULES_H
#define TSR_GRAPH_RULES_H

#include "graph/infer.h"

/* Limit of dimensions and of the attributes they are computed from, so that sums of products of
 * two of them fit in an int64_t. */
#define TSR_MAX_DIM ((int64_t)INT32_MAX)

/* Multiply-adds of a node with inputs 0 and 1 and output 0; 0 while a shape is unknown. */
typedef int64_t tsr_macs_fn(const tsr_graph *graph, const tsr_node *node);

#define TSR_MACS(Name, stem, ...) tsr_macs_fn tsr_macs_##stem;
#include "graph/ops.def"

/* Multiply-adds of one sum of `length` products for each element of a tensor; 0 while its shape
 * is unknown. */
int64_t tsr_count_macs(const tsr_value *sums, int64_t length);

/* Sets dtype and shape of output i, if it is present; fails if a dimension is negative or too
 * large. */
tsr_status tsr_set_output(tsr_graph *graph, const tsr_node *node, int i, tsr_dtype dtype,
                          const tsr_shape *shape);
/* Output 0 has the shape and dtype of input 0. */
tsr_status tsr_infer_same(tsr_graph *graph, const tsr_node *node);

/* The first count inputs, if present, are of one floating type. */
tsr_status tsr_require_float(const tsr_graph *graph, const tsr_node *node, int count);
/* The first count inputs, if present, are of one type. */
tsr_status tsr_require_same_type(const tsr_graph *graph, const tsr_node *node, int count);
tsr_status tsr_require_rank(const tsr_value *value, int min, int max);
/* The input, if present, has the shape [length]. */
tsr_status tsr_require_vector(const tsr_value *value, int64_t length);
/* The input, if present, has one element: shape [] or [1]. */
tsr_status tsr_require_scalar(const tsr_value *value);

/* The index of a string attribute's value among names; names[0] is the default. */
tsr_status tsr_read_choice(const tsr_node *node, const char *attr, const char *const *names,
                           int count, int *choice);
/* The `count` integers of an attribute, each from min to TSR_MAX_DIM; if the attribute is absent,
 * *found is false and result is as it was. */
tsr_status tsr_read_ints(const tsr_node *node, const char *name, int count, int64_t min,
                         int64_t *result, bool *found);
/* count distinct axes of a tensor of the given rank, made non-negative. */
tsr_status tsr_read_axes(const int64_t *axes, int64_t count, int rank, int result[TSR_MAX_RANK]);

/* Input 1, a gradient, has the shape of a window's result with `channels` channels. */
tsr_status tsr_require_gradient(const tsr_graph *graph, const tsr_node *node,
                                const tsr_window *window, int64_t channels);
/* The shape of x with `channels` channels and the output size of the window. */
tsr_shape tsr_window_result(const tsr_value *x, const tsr_window *window, int64_t channels);

#endif
