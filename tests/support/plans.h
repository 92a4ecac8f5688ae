/* Plans of small graphs without a device, and what must hold for every plan. */
#ifndef TESTS_SUPPORT_PLANS_H
#define TESTS_SUPPORT_PLANS_H

#include "plan/plan.h"

/* Of Relu, Add, MaxPool and DepthToSpace: a pass that reads all; of Neg: two, the first to 32 bits
 * and as many planes as there are; of Sigmoid: the same in two slices; of Concat: none where its
 * parts can lie in place. */
extern tsr_lower_fn *const plan_lowerings[TSR_OP_COUNT];

/* TEXTURES4: tensors of 4 planes, though passes can write 8. SOFTWARE: llvmpipe. */
typedef enum plan_device { TEXTURES, BUFFERS, TEXTURES4, SOFTWARE } plan_device;

tsr_plan *plan_for(const tsr_graph *graph, plan_device device, bool half, bool keep_all);

/* Every tensor is inside its storage, a buffer's where bindings may begin. */
void check_inside(const tsr_plan *plan);
/* No pass writes the storage that it reads. */
void check_no_feedback(const tsr_plan *plan);
/* Both; nothing that is alive at the same time overlaps, what is joined ends up where it belongs,
 * parts lie where their tiles do, and bytes are counted right. */
void check_plan(const tsr_plan *plan);

#endif
