#include "api/sized.h"

#include "base/allocator.h"

#include <string.h>

static bool is_zero(const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

tsr_status tsr_take_struct(const char *type, const void *from, size_t size, void *known,
                           size_t known_size) {
    size_t common = size < known_size ? size : known_size;
    memset(known, 0, known_size);
    if (!from)
        return TSR_OK;
    if (size == 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: its size is given as 0", type);
    if (!is_zero((const unsigned char *)from + common, size - common))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "%s: members beyond its first %zu bytes are set, which this version %s of "
                        "the library does not know",
                        type, known_size, tsr_version());
    memcpy(known, from, common);
    return TSR_OK;
}

tsr_status tsr_take_structs(const char *type, const void *from, size_t size, int count,
                            size_t known_size, void **known) {
    *known = NULL;
    if (count <= 0 || !from)
        return TSR_OK;
    char *copies = tsr_calloc((size_t)count, known_size);
    if (!copies)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for %d of %s", count, type);
    tsr_status status = TSR_OK;
    for (int i = 0; i < count && status == TSR_OK; i++)
        status = tsr_take_struct(type, (const char *)from + (size_t)i * size, size,
                                 copies + (size_t)i * known_size, known_size);
    if (status != TSR_OK) {
        tsr_free(copies);
        return status;
    }
    *known = copies;
    return TSR_OK;
}

void tsr_give_struct(const void *known, size_t known_size, void *to, size_t size) {
    size_t common = size < known_size ? size : known_size;
    memcpy(to, known, common);
    memset((char *)to + common, 0, size - common);
}
