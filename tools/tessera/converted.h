/* Files in memory, such as models as tsr_model_write() writes them. */
#ifndef TESSERA_CONVERTED_H
#define TESSERA_CONVERTED_H

#include "tessera.h"

typedef struct converted_file {
    char *bytes; /* malloc */
    size_t size, room;
} converted_file;

/* A tsr_write_fn whose user is a converted_file; false: there is not enough memory. */
bool converted_append(void *user, const char *bytes, size_t length);

/* To be freed with free(file->bytes), after a failure, too. */
tsr_status converted_write(const tsr_model *model, const tsr_write_desc *desc,
                           converted_file *file);
/* Written and read again. */
tsr_status converted_model(const tsr_model *model, const tsr_write_desc *desc, const char *name,
                           tsr_model **made);

/* Under its name once it is complete. */
tsr_status converted_save(const converted_file *file, const char *path);

#endif
