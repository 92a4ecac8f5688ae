/* The plan of a session: with the requested algorithms, or, if its tensors need much more memory
 * than live_bytes_bound, with estimated ones, or a low-memory plan with fallback candidates. */
#ifndef TSR_ALGORITHM_LOW_MEMORY_H
#define TSR_ALGORITHM_LOW_MEMORY_H

#include "plan/plan.h"

tsr_status tsr_plan_within_memory(const tsr_graph *graph, const tsr_plan_options *options,
                                  tsr_plan **plan);

#endif
