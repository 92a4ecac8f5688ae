/* From a model's graph to a session's: the caller's sizes, shapes, fixed inputs and extra outputs.
 */
#ifndef TSR_API_BIND_H
#define TSR_API_BIND_H

#include "graph/graph.h"

/* Checks desc and applies it to a clone of a model's graph. Afterwards every remaining input has a
 * known shape and a floating type. Messages do not name the file. */
/* Sizes that the model leaves open; others may stay open. */
tsr_status tsr_bind_sizes(tsr_graph *graph, const tsr_dim_binding *dims, int dim_count,
                          const tsr_input_shape *shapes, int shape_count);

tsr_status tsr_bind(tsr_graph *graph, const tsr_session_desc *desc);

#endif
