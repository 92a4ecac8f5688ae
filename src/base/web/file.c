/* WebAssembly has no files: none is ever open. */
#include "base/file.h"

tsr_status tsr_file_open(const char *folder, const char *location, tsr_file *file, uint64_t *size) {
    (void)file;
    (void)size;
    return tsr_fail(TSR_ERROR_UNSUPPORTED,
                    "%s/%s: WebAssembly has no files: set tsr_model_desc.files", folder, location);
}

tsr_status tsr_file_seek(const tsr_file *file, uint64_t at) {
    (void)file;
    (void)at;
    return tsr_fail(TSR_ERROR_IO, "the file is not open");
}

bool tsr_file_read(const tsr_file *file, void *bytes, size_t size) {
    (void)file;
    (void)bytes;
    (void)size;
    return false;
}

void tsr_file_close(tsr_file *file) {
    (void)file;
}
