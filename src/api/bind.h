/* From a model's graph to a session's: the caller's sizes, shapes, fixed inputs and extra outputs.
 */
#ifndef TSR_API_BIND_H
#define TSR_API_BIND_H

#include "graph/graph.h"

/* An array of a description. */
typedef struct tsr_desc_list {
    const char *name;
    int count;
    const void *array;
} tsr_desc_list;
/* Fails if a count is negative, or an array of several is NULL. desc: the description's type. */
tsr_status tsr_check_lists(const char *desc, const tsr_desc_list *lists, size_t count);

/* Sizes that the model leaves open; others may stay open. override: shapes replace its fixed sizes,
 * too. */
tsr_status tsr_bind_sizes(tsr_graph *graph, const tsr_dim_binding *dims, int dim_count,
                          const tsr_input_shape *shapes, int shape_count, bool override);

/* Checks desc and applies it to a clone of a model's graph. Afterwards every remaining input has a
 * known shape and a floating type. Messages do not name the file. */
tsr_status tsr_bind(tsr_graph *graph, const tsr_session_desc *desc);

#endif
