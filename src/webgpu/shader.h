/* A pass's compute shader, generated from wgsl/ and the pass's constants. Its parameters are the
 * arrays of src/gpu/params.h; src/webgpu/program.h defines the bindings. */
#ifndef TSR_WEBGPU_SHADER_H
#define TSR_WEBGPU_SHADER_H

#include "gpu/program_text.h"

/* Its entry point is `main`. Freed with tsr_program_text_free, after a failure, too. */
tsr_status tsr_wgsl_start(const tsr_plan *plan, const tsr_pass *pass, const tsr_params *params,
                          tsr_program_text *program);

#endif
