/* BatchNormalization with constant statistics is y = x * scale[c] + shift[c]. */
#ifndef TSR_PASSES_BATCH_NORM_H
#define TSR_PASSES_BATCH_NORM_H

#include "passes/edit.h"

typedef struct tsr_affine {
    int64_t channels;
    double *scale, *shift;
} tsr_affine;

/* Is it a BatchNormalization with constant statistics, and nothing fused into it? */
bool tsr_is_affine(const tsr_graph *graph, const tsr_node *node);
/* Its arrays are in the graph's arena. */
tsr_status tsr_read_affine(const tsr_graph *graph, const tsr_node *node, tsr_affine *result);

#endif
