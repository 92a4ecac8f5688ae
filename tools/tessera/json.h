/* What the JSON files of several commands have in common. */
#ifndef TESSERA_JSON_H
#define TESSERA_JSON_H

#include "tessera.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Escaped: cJSON would write bytes that are not valid text unchanged. */
void json_add_text(cJSON *object, const char *key, const char *text);
/* Reads a regular file of at most 16 MiB that is nothing but JSON; the root is NULL otherwise. */
tsr_status json_read(const char *path, cJSON **root);
/* Whether this is "-", so that standard output is to have nothing but the JSON. */
bool json_is_stdout(const char *path);
/* Writes the file, "-": the standard output, and deletes the root. */
tsr_status json_write(cJSON *root, const char *path);

#endif
