/* Atomic output files: written under a temporary name, then renamed. */
#ifndef TESSERA_OUTPUT_H
#define TESSERA_OUTPUT_H

#include "image.h"

typedef struct output_file {
    const char *path; /* borrowed */
    char *temporary;  /* NULL: a pipe or a device, written to directly */
    FILE *file;       /* NULL once it is closed */
    struct output_file *next;
} output_file;

/* Whether the path ends with '/' or is a folder. */
bool output_is_folder(const char *path);
/* Checks that the folder is writable, or can be made, before long work. */
tsr_status output_check(const char *path);
/* Makes the folders of the path, at any depth, up to its last '/'. */
tsr_status output_make_folder(const char *path);

/* Whether both are the same file, which exists. */
bool output_is_same(const char *path, const char *other);
/* Whether both are the same name in the same folder: of two files, one would be lost. */
bool output_is_same_place(const char *path, const char *other);

/* For a signal's handler: removes what is not complete, and ends the process. */
void output_abandon(int number);

/* Several may be written at a time; each stays where it is in memory. */
tsr_status output_begin(const char *path, output_file *out);
/* Closes the file, which stays under its temporary name until output_end(). */
tsr_status output_close(output_file *out, tsr_status status);
/* Renames the file to its final name if status is TSR_OK, otherwise removes it; returns the final
 * status. */
tsr_status output_end(output_file *out, tsr_status status);

/* Whether the extension is one of .npy, .txt, .csv, .json, .png and .jpg; files have its format. */
bool output_is_tensor(const char *path);
tsr_status output_check_tensor(const char *path);
/* Refuses a vector as a picture; the shape may have open sizes. */
tsr_status output_check_shape(const char *path, const tsr_shape *shape);
tsr_status output_tensor(const char *path, const tensor *t, const image_options *options);
/* extension: without its dot. */
tsr_status output_to_stdout(const char *extension, const tensor *t, const image_options *options);

#endif
