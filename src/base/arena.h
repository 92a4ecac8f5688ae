/* Memory that is freed all at once, as a graph with all its nodes and values. */
#ifndef TSR_BASE_ARENA_H
#define TSR_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct tsr_arena tsr_arena;

tsr_arena *tsr_arena_create(void); /* NULL when out of memory */
void tsr_arena_destroy(tsr_arena *arena);

/* count * size zeroed bytes, aligned for any type; NULL when out of memory or when the product
 * overflows, which counts of elements may where sizes have 32 bits. Zero bytes give a valid
 * pointer.
 */
void *tsr_arena_alloc(tsr_arena *arena, uint64_t count, size_t size);
/* A NUL-terminated copy; NULL when out of memory. */
char *tsr_arena_strndup(tsr_arena *arena, const char *text, size_t length);
char *tsr_arena_printf(tsr_arena *arena, const char *format, ...);

#define TSR_NEW(arena, count, type)                                                                \
    ((type *)tsr_arena_alloc(arena, (uint64_t)(count), sizeof(type)))

#endif
