/* Ranges of the activations of a model that is written in 8 bits. */
#ifndef TSR_API_WRITE_ACTIVATIONS_H
#define TSR_API_WRITE_ACTIVATIONS_H

#include "base/progress.h"
#include "passes/activations.h"

/* Runs the graph with the description's samples; the ranges of those activations that are to be
 * quantized are known then. */
tsr_status tsr_calibrate_activations(const tsr_graph *graph, const tsr_write_desc *desc,
                                     tsr_progress_meter *meter, tsr_activations *activations);

#endif
