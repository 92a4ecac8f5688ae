/* Plans of a GPU that is not here. */
#ifndef TESTS_SUPPORT_GPU_PLANS_H
#define TESTS_SUPPORT_GPU_PLANS_H

#include "plan/plan.h"

/* What gles plans on a GPU with uniform blocks: for each node the algorithm named, or chosen where
 * there is none or `algorithms` is NULL; nodes that it lacks run on the CPU. Within memory: with
 * slower algorithms where tensors would take much more than must be alive at once. */
tsr_plan *plan_on_gpu(const tsr_graph *graph, const char *const *algorithms, bool within_memory);
int count_node_passes(const tsr_plan *plan, int node);

#endif
