/* Weights of a model that is written, in fewer bits. */
#ifndef TSR_API_WRITE_WEIGHTS_H
#define TSR_API_WRITE_WEIGHTS_H

#include "graph/graph.h"

/* The first opset that can express the graph's weights in the description's format. */
tsr_status tsr_weights_first_opset(const tsr_graph *graph, const tsr_write_desc *desc, int *opset);

/* Packs the weights of a graph that is ready to be written, as the description says. loaded: the
 * model's graph as it was read. */
tsr_status tsr_write_weights(tsr_graph *graph, const tsr_graph *loaded, const tsr_write_desc *desc);

#endif
