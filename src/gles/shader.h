/* The text of a pass's fragment shader, generated from glsl/ and the pass's constants. Its
 * parameters are the array tsr_uniforms, which is read as tsr_i (src/gpu/params.h), and tsr_draw of
 * each draw. */
#ifndef TSR_GLES_SHADER_H
#define TSR_GLES_SHADER_H

#include "gpu/program_text.h"

/* sample: how texels are read, see glsl/prelude.glsl; variant: src/gles/variant.h. Freed with
 * tsr_program_text_free, after a failure, too. */
tsr_status tsr_shader_start(const tsr_plan *plan, const tsr_pass *pass, const tsr_params *params,
                            bool sample, uint64_t variant, tsr_program_text *program);

#endif
