/* In place of wasi-libc's, which go through memory in a loop: the compiler makes single
 * instructions of these. */
#include <string.h>

#define BULK __attribute__((target("bulk-memory")))

BULK void *memset(void *to, int value, size_t size) {
    return __builtin_memset(to, value, size);
}

BULK void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    return __builtin_memcpy(to, from, size);
}

BULK void *memmove(void *to, const void *from, size_t size) {
    return __builtin_memmove(to, from, size);
}
