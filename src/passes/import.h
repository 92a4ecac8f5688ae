/* Another graph's nodes in a graph, as often as they are wanted. */
#ifndef TSR_PASSES_IMPORT_H
#define TSR_PASSES_IMPORT_H

#include "passes/passes.h"

/* Adds the constants that nodes and outputs of the source read, whose elements are borrowed and
 * aligned first, since the graph does not know the source's files: places[v] becomes the value that
 * stands for the source's v, and TSR_NONE of all others. */
tsr_status tsr_import_constants(tsr_graph *graph, tsr_graph *source, int *places);

/* Appends copies of the nodes of a prepared graph (tsr_prepare()) that is not optimized; attributes
 * are borrowed. places: what stands for the source's inputs and constants; what stands for the
 * nodes' results is added to it. Names are the source's, followed by a point and the suffix. */
tsr_status tsr_import_nodes(tsr_graph *graph, const tsr_graph *source, const char *suffix,
                            int *places);

#endif
