/* Models in chunks: files beside an index, NAME.json, which has their sizes and SHA-256 sums. Pages
 * read them, too: src/web/delivery.mjs. */
#ifndef TESSERA_CHUNKS_H
#define TESSERA_CHUNKS_H

#include "tessera.h"

#include <stdbool.h>

#define CHUNKS_FORMAT "tessera chunks 1"
#define CHUNKS_MOST_BYTES 2147483647.0 /* of a chunk, and of a model */

/* Whether this is the name of an index. */
bool chunks_are(const char *path);

/* chunks_read.c: as tsr_model_load(), of an index; desc->files are not used. bytes: the model's. */
tsr_status chunks_load(const char *path, const tsr_model_desc *desc, tsr_model **model,
                       uint64_t *bytes);

/* chunks_write.c: "4M", "512K" or a number of bytes. */
tsr_status chunks_parse_size(const char *text, size_t *size);
/* The index (malloc) that `output` names: itself, or one in this folder, named as the model. */
tsr_status chunks_index_of(const char *output, const char *model, char **index);
/* Writes all files or none: INDEX without .json, .0, .1, .., which must not be the model, and the
 * index. */
tsr_status chunks_write(const char *index, const char *model, const char *bytes, size_t size,
                        size_t step);

#endif
