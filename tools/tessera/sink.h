/* Where an output of many runs goes: to a file each, or as raw frames to the standard output. */
#ifndef TESSERA_SINK_H
#define TESSERA_SINK_H

#include "image.h"

typedef struct sink {
    char *pattern; /* "folder/" and a name in which '*' stands for the input's (malloc); NULL:
                      frames */
} sink;

/* path: a folder, which is made if need be and gets .png files; a pattern as above; or "-". */
tsr_status sink_open(sink *s, const char *path);
void sink_close(sink *s);

/* Would files be written over each other, or over one of these inputs? */
tsr_status sink_check(const sink *s, char *const *inputs, int64_t count);

/* Do both write the same files, by whatever path? */
bool sink_is_same(const sink *a, const sink *b);
bool sink_goes_to(const sink *s, const char *folder);

/* name: the input's, without folder and extension. */
tsr_status sink_write(const sink *s, const char *name, const tensor *t,
                      const image_options *options);

#endif
