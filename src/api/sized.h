/* Structs of callers that were compiled with another version of tessera.h: theirs may be shorter or
 * longer than this library's. */
#ifndef TSR_API_SIZED_H
#define TSR_API_SIZED_H

#include "tessera.h"

/* Copies `size` bytes of the caller's struct, zeroed if it is NULL; what it lacks becomes zero.
 * Fails if it has anything but zeros where this library knows no member. */
tsr_status tsr_take_struct(const char *type, const void *from, size_t size, void *known,
                           size_t known_size);
/* The same for an array: a new one, or NULL for none. */
tsr_status tsr_take_structs(const char *type, const void *from, size_t size, int count,
                            size_t known_size, void **known);
/* Fills the caller's struct; members that this library does not know become zero. */
void tsr_give_struct(const void *known, size_t known_size, void *to, size_t size);

#endif
