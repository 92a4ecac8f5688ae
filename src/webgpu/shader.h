/* A pass's compute shader and the bytes of its uniform buffer, put together from wgsl/ and the
 * pass's constants. src/webgpu/program.h tells what is bound where. */
#ifndef TSR_WEBGPU_SHADER_H
#define TSR_WEBGPU_SHADER_H

#include "plan/plan.h"

/* text: allocated with malloc. Its entry point is `main`. */
tsr_status tsr_wgsl_text(const tsr_plan *plan, const tsr_pass *pass, char **text);

/* The size of the uniforms, a multiple of 16; writes them unless bytes is NULL. */
size_t tsr_wgsl_params(const tsr_plan *plan, const tsr_pass *pass, void *bytes);

#endif
