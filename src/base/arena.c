#include "base/arena.h"

#include "base/allocator.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_SIZE = 64 * 1024 };

typedef struct block {
    struct block *next;
    size_t used, size;
    _Alignas(max_align_t) unsigned char bytes[];
} block;

struct tsr_arena {
    block *head;
};

tsr_arena *tsr_arena_create(void) {
    return tsr_calloc(1, sizeof(tsr_arena));
}

void tsr_arena_destroy(tsr_arena *arena) {
    if (!arena)
        return;
    for (block *b = arena->head; b;) {
        block *next = b->next;
        tsr_free(b);
        b = next;
    }
    tsr_free(arena);
}

void *tsr_arena_alloc(tsr_arena *arena, uint64_t count, size_t size) {
    if (size && count > (SIZE_MAX / 2) / size)
        return NULL;
    size_t align = _Alignof(max_align_t);
    size_t bytes = ((size_t)count * size + align - 1) / align * align;
    block *b = arena->head;
    if (!b || b->size - b->used < bytes) {
        size_t capacity = bytes > BLOCK_SIZE / 4 ? bytes : BLOCK_SIZE;
        block *fresh = tsr_calloc(1, sizeof(block) + capacity);
        if (!fresh)
            return NULL;
        fresh->size = capacity;
        if (b && capacity == bytes) { /* gets a separate block: keep filling the current one */
            fresh->next = b->next;
            b->next = fresh;
        } else {
            fresh->next = b;
            arena->head = fresh;
        }
        b = fresh;
    }
    void *result = b->bytes + b->used;
    b->used += bytes;
    return result;
}

char *tsr_arena_strndup(tsr_arena *arena, const char *text, size_t length) {
    char *copy = tsr_arena_alloc(arena, length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *tsr_arena_printf(tsr_arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : tsr_arena_alloc(arena, (size_t)length + 1, 1);
    if (text) {
        va_start(args, format);
        vsnprintf(text, (size_t)length + 1, format, args);
        va_end(args);
    }
    return text;
}
