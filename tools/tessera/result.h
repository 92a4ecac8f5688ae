/* What `run` tells of an output: its shape and range, and the best classes of a row of scores. */
#ifndef TESSERA_RESULT_H
#define TESSERA_RESULT_H

#include "image.h"
#include "labels.h"

typedef struct result_options {
    const labels *labels; /* perhaps none */
    int top;              /* classes told */
    bool classes;         /* vectors are scores of classes */
} result_options;

/* A line: shape, smallest, mean and largest element; then the best classes. path: the file that it
 * was written to, or of many inputs the one that it is of; or NULL. */
tsr_status result_print(FILE *file, const char *path, const char *name, const tensor *t,
                        const result_options *options);

/* A note on stderr, and a range to write, where values leave the range that becomes 0..255 by more
 * than a tenth of it. Returns whether there was one. */
bool result_note_range(const char *path, const tensor *t, const image_options *options);

#endif
