/* The text of a pass's program, GLSL or WGSL: constants, then the files of every program and of the
 * kernel (src/kernel/kernels.txt), without unused functions. */
#ifndef TSR_GPU_PROGRAM_TEXT_H
#define TSR_GPU_PROGRAM_TEXT_H

#include "base/cache.h"
#include "base/text.h"
#include "gpu/params.h"

enum { TSR_MAX_NAMES = 224 };

enum { TSR_MAX_SOURCE_NAMES = 12 };

/* Names of the template language; some are constants of the program, too. */
typedef struct tsr_constants {
    tsr_template_name list[TSR_MAX_NAMES];
    char chars[TSR_MAX_SOURCES][TSR_MAX_SOURCE_NAMES][24]; /* names of sources' constants */
    int count, made[TSR_MAX_SOURCES];
    bool failed; /* there are more */
} tsr_constants;

void tsr_constants_add(tsr_constants *names, const char *name, int value);
/* "X_LINEAR": of a source. */
void tsr_constants_add_source(tsr_constants *names, int source, const char *source_name,
                              const char *suffix, int value);

/* A program text being generated. Its address must not change: names point into it. */
typedef struct tsr_program_text {
    const tsr_plan *plan;
    const tsr_pass *pass;
    const tsr_params *params;
    tsr_constants names;
    tsr_text head;         /* begin of the text */
    char *before;          /* what source 0 is read through, as a template; "": nothing */
    const char *post_head; /* begin of the post-op function, up to its statements */
    char *posts;           /* that function, as a template */
    tsr_cache_key key;     /* equal keys: equal texts */
} tsr_program_text;

/* Makes before, posts and key; enough to find a program that the device has. */
tsr_status tsr_program_text_start(tsr_program_text *program);
/* The whole text, to be given to tsr_free(). Several keys may have the same. */
tsr_status tsr_program_text_finish(tsr_program_text *program, char **out);
void tsr_program_text_free(tsr_program_text *program);

#endif
