/* The text of a pass's program, which GLSL and WGSL put together alike: constants, then the files
 * of every program with the kernel's own among them (src/kernel/kernels.txt), then only what is
 * called. */
#ifndef TSR_GPU_PROGRAM_TEXT_H
#define TSR_GPU_PROGRAM_TEXT_H

#include "gpu/params.h"

enum { TSR_MAX_NAMES = 160 };

/* What the template language knows by name; some names are constants of the program, too. */
typedef struct tsr_constants {
    tsr_template_name list[TSR_MAX_NAMES];
    char chars[TSR_MAX_SOURCES][8][24]; /* names made up for sources */
    int count, made[TSR_MAX_SOURCES];
} tsr_constants;

void tsr_constants_add(tsr_constants *names, const char *name, int value);
/* "X_LINEAR": of a source. */
void tsr_constants_add_source(tsr_constants *names, int source, const char *source_name,
                              const char *suffix, int value);

typedef struct tsr_program_text {
    const tsr_plan *plan;
    const tsr_pass *pass;
    const tsr_params *params;
    const tsr_constants *names;
    const char *post_head; /* what a post-op function begins with, up to its statements */
} tsr_program_text;

/* Appends to what the text holds already; takes it. */
tsr_status tsr_program_text_finish(const tsr_program_text *program, tsr_text *text, char **out);

#endif
