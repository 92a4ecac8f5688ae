/* The destination of an output of many runs: one file per run, or a film. */
#ifndef TESSERA_SINK_H
#define TESSERA_SINK_H

#include "film.h"
#include "job.h"

typedef struct sink {
    bool told;        /* that values leave the written range */
    char *pattern;    /* "folder/" and a name in which '*' stands for the input's (malloc); NULL:
                         frames */
    film_writer film; /* without a pattern */
} sink;

/* path: a folder, created if necessary, for .png files; a pattern as above; or a film: NAME.y4m or
 * "-", of that format. The path stays the caller's. */
tsr_status sink_open(sink *s, const char *path, const film_format *format);
/* Once all is written. */
tsr_status sink_end(sink *s);
void sink_close(sink *s);

/* Fails if files would overwrite each other, one of these inputs or j's description. */
tsr_status sink_check(const sink *s, const job *j, char *const *inputs, int64_t count);

/* Refuses vectors where pictures would be written. */
tsr_status sink_check_shape(const sink *s, const tsr_shape *shape);

/* Whether both write the same files, even by different paths. */
bool sink_is_same(const sink *a, const sink *b);
bool sink_goes_to(const sink *s, const char *folder);

/* Whether the file for this input is there, and not empty, as a machine's crash may leave it. Files
 * are written atomically: it is complete then. */
bool sink_has(const sink *s, const char *name);

/* name: the input's, without folder and extension. */
tsr_status sink_write(sink *s, const char *name, const tensor *t, const image_options *options);

#endif
