/* Post-ops as shader text, which GLSL and WGSL write alike. */
#ifndef TSR_GPU_POSTS_H
#define TSR_GPU_POSTS_H

#include "base/text.h"
#include "plan/plan.h"

/* Statements that apply the pass's post-ops to `v`, at n, t, y, x. params: the array of their
 * parameters. */
void tsr_add_posts(tsr_text *text, const tsr_plan *plan, const tsr_pass *pass, const char *params);

#endif
