#define _XOPEN_SOURCE 700 /* realpath */
#include "custom_ops.h"
#include "tensor.h"
#include "tool.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* What a shared object exports as tessera_custom_ops(): its operators, their number, and the size
 * of tsr_custom_op in the header that it was compiled with. */
typedef const tsr_custom_op *(*entry_function)(int *count, size_t *op_size);

static tsr_status call_entry(const char *path, custom_ops *made) {
    entry_function entry;
    size_t size = 0;
    *(void **)&entry = dlsym(made->library, "tessera_custom_ops"); /* as POSIX has it */
    if (!entry)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s exports no function tessera_custom_ops", path);
    made->ops = entry(&made->count, &size);
    if (!made->ops || made->count < 1)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: tessera_custom_ops() returns no operator",
                    path);
    if (size != sizeof *made->ops)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s was compiled with the tessera.h of another version: an operator has %zu "
                    "bytes, not %zu",
                    path, size, sizeof *made->ops);
    return TSR_OK;
}

static tsr_status open_library(const char *path, custom_ops *made) {
    char *place = realpath(path, NULL); /* a name without '/' is searched for in other folders */
    made->library = place ? dlopen(place, RTLD_NOW | RTLD_LOCAL) : NULL;
    free(place);
    if (!made->library) {
        const char *why = dlerror();
        return fail(TSR_ERROR_IO, "%s: %s", path, why ? why : "not found");
    }
    return call_entry(path, made);
}

static bool is_library(const unsigned char *bytes, size_t size) {
    static const unsigned char elf[] = {0x7f, 'E', 'L', 'F'};
    return size >= sizeof elf && memcmp(bytes, elf, sizeof elf) == 0;
}

tsr_status custom_ops_open(const char *path, custom_ops *made) {
    unsigned char *bytes;
    size_t size;
    *made = (custom_ops){0};
    TRY(file_check_regular(path));
    TRY(file_read(path, &bytes, &size));
    tsr_status status = is_library(bytes, size) ? open_library(path, made)
                                                : custom_text_parse(path, bytes, size, made);
    free(bytes);
    if (status != TSR_OK)
        custom_ops_close(made);
    return status;
}

void custom_ops_close(custom_ops *ops) {
    if (ops->library)
        dlclose(ops->library);
    custom_text_free(ops->text);
    *ops = (custom_ops){0};
}
