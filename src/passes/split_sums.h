/* Sums of integers that floats may not hold, as sums of floats of parts that they hold. */
#ifndef TSR_PASSES_SPLIT_SUMS_H
#define TSR_PASSES_SPLIT_SUMS_H

#include "passes/build.h"

/* By value: does anything but a Cast to a floating type read it? NULL with a message when out of
 * memory. */
bool *tsr_find_exact_reads(const tsr_graph *graph);

/* Is the node to be replaced? exact_reads: of values that the graph had before. */
bool tsr_must_split_sums(const tsr_graph *graph, const tsr_node *node, const bool *exact_reads);
/* Its result is a float then. */
void tsr_split_sums(tsr_builder *b);
/* What a Cast reads may be such a result: it is as large as that. */
void tsr_keep_precise(const tsr_graph *graph, const tsr_node *node);

#endif
