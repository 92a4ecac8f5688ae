#include "converted.h"
#include "output.h"
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool converted_append(void *user, const char *bytes, size_t length) {
    converted_file *file = user;
    if (length > file->room - file->size) {
        size_t room = 2 * file->room + length + 4096;
        char *larger = realloc(file->bytes, room);
        if (!larger)
            return false;
        file->bytes = larger;
        file->room = room;
    }
    if (length)
        memcpy(file->bytes + file->size, bytes, length);
    file->size += length;
    return true;
}

tsr_status converted_write(const tsr_model *model, const tsr_write_desc *desc,
                           converted_file *file) {
    *file = (converted_file){0};
    tsr_status status = tsr_model_write(model, desc, converted_append, file);
    if (status == TSR_ERROR_IO)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    return status == TSR_OK ? TSR_OK : fail_library(status);
}

tsr_status converted_model(const tsr_model *model, const tsr_write_desc *desc, const char *name,
                           tsr_model **made) {
    converted_file file;
    tsr_status status = converted_write(model, desc, &file);
    *made = NULL;
    if (status == TSR_OK) {
        status =
            tsr_model_load_memory(file.bytes, file.size, &(tsr_model_desc){.name = name}, made);
        fail_library(status);
    }
    free(file.bytes);
    return status;
}

tsr_status converted_save(const converted_file *file, const char *path) {
    output_file out;
    TRY(output_begin(path, &out));
    tsr_status status =
        fwrite(file->bytes, 1, file->size, out.file) == file->size
            ? TSR_OK
            : fail(TSR_ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
    return output_end(&out, status);
}
