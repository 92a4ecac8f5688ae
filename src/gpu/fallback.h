/* Nodes that a GPU backend does not support run on the CPU between passes, if the caller allows it.
 * Each waits for the GPU and copies its tensors to memory and back. */
#ifndef TSR_GPU_FALLBACK_H
#define TSR_GPU_FALLBACK_H

#include "base/elements.h"
#include "plan/plan.h"

/* Reads a computed tensor's elements synchronously, after the passes before. */
typedef tsr_status tsr_read_fn(void *user, int tensor, float *elements);

typedef struct tsr_fallback {
    const tsr_plan *plan;
    void **data; /* by value: elements that nodes on the CPU read and write; NULL without such
                    nodes */
} tsr_fallback;

/* Does the plan have such nodes? */
bool tsr_falls_back(const tsr_plan *plan);
tsr_status tsr_fallback_create(const tsr_plan *plan, tsr_fallback *fallback);
void tsr_fallback_destroy(tsr_fallback *fallback);
/* Stores a graph input that nodes on the CPU read. */
void tsr_fallback_set_input(tsr_fallback *fallback, int value, const tsr_elements *from);
/* Runs the pass's node; staging: memory for the largest tensor. */
tsr_status tsr_fallback_run(tsr_fallback *fallback, const tsr_pass *pass, float *staging,
                            tsr_read_fn *read, void *user);
/* The elements of a value on the CPU, integers as floats, until the value is written again. */
const float *tsr_fallback_floats(const tsr_fallback *fallback, int value);
/* A result of a node that ran on the CPU; integers become floats. */
void tsr_fallback_get_output(const tsr_fallback *fallback, int value, float *elements);

#endif
