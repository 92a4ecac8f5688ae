/* Atomic output files: written under a temporary name, then renamed. */
#ifndef TESSERA_OUTPUT_H
#define TESSERA_OUTPUT_H

#include "image.h"

typedef struct output_file {
    const char *path; /* borrowed */
    char *temporary;  /* NULL: a pipe or a device, written to directly */
    FILE *file;
} output_file;

/* Checks that the folder is writable, before long work. / */
tsr_status output_check(const char *path);

tsr_status output_begin(const char *path, output_file *out);
/* Renames the file to its final name if status is TSR_OK, otherwise removes it; returns the final
 * status. */
tsr_status output_end(output_file *out, tsr_status status);

/* In the format of the extension: .npy, .png or .jpg. */
tsr_status output_check_tensor(const char *path);
tsr_status output_tensor(const char *path, const tensor *t, const image_options *options);

#endif
