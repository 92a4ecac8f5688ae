/* A model run once: outputs are written where they have a path, and told. */
#ifndef TESSERA_SINGLE_H
#define TESSERA_SINGLE_H

#include "draw.h"
#include "job.h"
#include "result.h"

typedef struct single_options {
    result_options result;
    draw_options draw;
    const char *format; /* extension of what the standard output gets */
} single_options;

/* paths: of each output; "-": the standard output, which gets nothing else then; NULL: none. All
 * are checked before the run, which may be long. */
tsr_status single_run(const job *j, single_options *options, int count, const char *const *paths);

#endif
