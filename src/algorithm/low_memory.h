/* The plan of a session: of the kernels that are asked for, or, where tensors then take much more
 * than must be alive at once, of those that leave less for each other. */
#ifndef TSR_GPU_FRUGAL_H
#define TSR_GPU_FRUGAL_H

#include "plan/plan.h"

tsr_status tsr_plan_within_memory(const tsr_graph *graph, const tsr_plan_options *options,
                                  tsr_plan **plan);

#endif
