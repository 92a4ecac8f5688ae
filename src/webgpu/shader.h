/* A pass's compute shader, put together from wgsl/ and the pass's constants. Its parameters are the
 * arrays of src/gpu/params.h. src/webgpu/program.h tells what is bound where. */
#ifndef TSR_WEBGPU_SHADER_H
#define TSR_WEBGPU_SHADER_H

#include "gpu/params.h"

/* text: allocated with malloc. Its entry point is `main`. */
tsr_status tsr_wgsl_text(const tsr_plan *plan, const tsr_pass *pass, const tsr_params *params,
                         char **text);

#endif
