/* No message: only tools that run natively read it. */
#include "gles/runner.h"

void tsr_gles_log_pass(const tsr_runner *r, const tsr_pass *pass, const tsr_program *program) {
    (void)r, (void)pass, (void)program;
}
