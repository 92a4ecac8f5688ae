/* Files that appear whole or not at all: written beside their place, then renamed into it. */
#ifndef TESSERA_OUTPUT_H
#define TESSERA_OUTPUT_H

#include "image.h"

typedef struct output_file {
    const char *path; /* borrowed */
    char *temporary;  /* NULL: a pipe or a device, written to as it is */
    FILE *file;
} output_file;

/* Is there a folder that can be written to? Asked before long work, so that it is not done in vain.
 */
tsr_status output_check(const char *path);

tsr_status output_begin(const char *path, output_file *out);
/* Puts the file in its place if status is TSR_OK, removes it otherwise; returns how it ended. */
tsr_status output_end(output_file *out, tsr_status status);

/* By the name of path: .npy, .png or .jpg. */
tsr_status output_check_tensor(const char *path);
tsr_status output_tensor(const char *path, const tensor *t, const image_options *options);

#endif
