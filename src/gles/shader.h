/* The text of a pass's fragment shader, put together from glsl/ and the pass's constants. */
#ifndef TSR_GLES_SHADER_H
#define TSR_GLES_SHADER_H

#include "plan/plan.h"

/* sample: how texels are read, see glsl/prelude.glsl. Allocated with malloc; NULL when out of
 * memory or when glsl/ has no such kernel. */
char *tsr_shader_text(const tsr_plan *plan, const tsr_pass *pass, bool sample);

#endif
