/* The parameters of a pass: their names in the program and their values. All integers are
 * components of one array of vectors and in WGSL all floats of another; in GLSL these are integers
 * with their bits, so that one call sets all. */
#ifndef TSR_GPU_PARAMS_H
#define TSR_GPU_PARAMS_H

#include "kernel/template.h"
#include "plan/plan.h"

typedef struct tsr_params {
    tsr_language language;
    tsr_template_param *names; /* name_count of them */
    int name_count, name_capacity;
    int32_t *ints;
    float *floats;
    int int_count, float_count; /* multiples of 4 once complete */
    int int_capacity, float_capacity;
    bool failed; /* out of memory */
} tsr_params;

/* Of a TSR_PASS_DRAW. Fails only when out of memory; tsr_params_free after a failure, too. */
tsr_status tsr_params_make(const tsr_plan *plan, const tsr_pass *pass, tsr_params *params);
void tsr_params_free(tsr_params *params);

/* The names of the pass's sources: the kernel's inputs, then P0, P1, ... for operands of post-ops.
 * names: of TSR_MAX_SOURCES. */
void tsr_source_names(const tsr_pass *pass, const char *names[]);

#endif
