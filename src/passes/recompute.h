/* Recomputation of what gradients read: less memory for more work. */
#ifndef TSR_PASSES_RECOMPUTE_H
#define TSR_PASSES_RECOMPUTE_H

#include "passes/passes.h"

/* Chen, Xu, Zhang, Guestrin 2016, "Training Deep Nets with Sublinear Memory Cost": the first
 * forward_count nodes are cut into segments, of which only what others read is kept. Nodes after
 * them, those of gradients, read copies of the rest, made by nodes of the segment once more, which
 * are just before the first of its readers. The copies have the same elements; nodes whose results
 * no gradient needs, such as those of moving averages, are not copied. */
tsr_status tsr_recompute(tsr_graph *graph, int forward_count);

#endif
