/* All memory of the library, from the functions of tsr_set_allocator(); no other file calls the C
 * library's. */
#ifndef TSR_BASE_ALLOCATOR_H
#define TSR_BASE_ALLOCATOR_H

#include <stddef.h>

/* As in the C library: NULL when out of memory. */
void *tsr_malloc(size_t size);
void *tsr_calloc(size_t count, size_t size);
void *tsr_realloc(void *old, size_t size);
void tsr_free(void *old);

#endif
