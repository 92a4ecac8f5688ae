#include "base/allocator.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static tsr_allocator current; /* allocate NULL: the C library's functions */

tsr_status tsr_set_allocator(const tsr_allocator *allocator) {
    if (allocator && (!allocator->allocate || !allocator->reallocate || !allocator->release))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_set_allocator: one of its functions is NULL");
    current = allocator ? *allocator : (tsr_allocator){0};
    return TSR_OK;
}

void *tsr_malloc(size_t size) {
    return current.allocate ? current.allocate(current.user, size) : malloc(size);
}

/* The C library has pages that are zero already. */
void *tsr_calloc(size_t count, size_t size) {
    if (!current.allocate)
        return calloc(count, size);
    if (size && count > SIZE_MAX / size)
        return NULL;
    void *bytes = current.allocate(current.user, count * size);
    if (bytes)
        memset(bytes, 0, count * size);
    return bytes;
}

void *tsr_realloc(void *old, size_t size) {
    return current.allocate ? current.reallocate(current.user, old, size) : realloc(old, size);
}

void tsr_free(void *old) {
    if (!current.allocate)
        free(old);
    else if (old)
        current.release(current.user, old);
}
