/* Function operators: done by others, on every backend. */
#ifndef TSR_PASSES_FUNCTIONS_H
#define TSR_PASSES_FUNCTIONS_H

#include "passes/build.h"

/* The most nodes that replace one. */
enum { TSR_FUNCTION_NODES = 32 };

bool tsr_is_function(const tsr_node *node);
/* Makes the nodes of b->node, whose inputs have known shapes; b->status tells a failure. */
void tsr_build_function(tsr_builder *b);

/* Those of function_tensors.c. */
typedef void tsr_function(tsr_builder *b);
tsr_function tsr_build_size, tsr_build_constant_of_shape, tsr_build_range, tsr_build_tile,
    tsr_build_eye_like, tsr_build_one_hot, tsr_build_center_crop_pad, tsr_build_global_lp_pool;

#endif
