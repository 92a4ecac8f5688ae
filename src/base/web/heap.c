/* malloc() and its kin, a fraction of the C library's size. Free chunks are in lists by size; where
 * none fits, memory is taken that was never used. That is zero: calloc() of the large arrays that
 * weights are read into does not touch it. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What is before the bytes of each allocation. Sizes are multiples of ALIGNMENT, with the header.
 */
typedef struct chunk chunk;
struct chunk {
    uint32_t size_before;   /* of the chunk before this one; 0: this is the first */
    uint32_t size;          /* or'ed with USED */
    chunk *next, *previous; /* of a free chunk: in its list */
};

enum { ALIGNMENT = 16, HEADER = 8, USED = 1, PAGE = 1 << 16, GROWTH = 4 * PAGE };
enum { LIST_BITS = 2, LISTS = 32 << LIST_BITS }; /* four for each power of two */
enum { TRIES = 16 };                             /* of chunks that may be too small, in one list */

extern unsigned char __heap_base;

static chunk *lists[LISTS];
static uint32_t filled[LISTS / 32];   /* which of them are not empty */
static uint32_t end, size_before_end; /* of the chunks */
static uint32_t touched;              /* what is behind it was never used */
static uint32_t limit;                /* of the memory; 0: nothing was allocated yet */

static chunk *chunk_at(uint32_t address) {
    return (chunk *)address;
}

static uint32_t address_of(const chunk *c) {
    return (uint32_t)c;
}

static uint32_t size_of(const chunk *c) {
    return c->size & ~(uint32_t)USED;
}

/* ---- lists of free chunks -------------------------------------------------------------------- */

static int list_of(uint32_t size) {
    int power = 31 - __builtin_clz(size);
    return (power << LIST_BITS) + (int)(size >> (power - LIST_BITS) & ((1 << LIST_BITS) - 1));
}

static void insert(chunk *c) {
    int list = list_of(c->size);
    c->previous = NULL;
    c->next = lists[list];
    if (c->next)
        c->next->previous = c;
    lists[list] = c;
    filled[list / 32] |= 1u << list % 32;
}

static void take_out(const chunk *c) {
    int list = list_of(c->size);
    if (c->next)
        c->next->previous = c->previous;
    if (c->previous)
        c->previous->next = c->next;
    else
        lists[list] = c->next;
    if (!lists[list])
        filled[list / 32] &= ~(1u << list % 32);
}

/* The first list from this one on that is not empty. */
static chunk *first_from(int list) {
    for (int word = list / 32; word < LISTS / 32; word++, list = 0) {
        uint32_t left = filled[word] & ~0u << list % 32;
        if (left)
            return lists[word * 32 + __builtin_ctz(left)];
    }
    return NULL;
}

static chunk *find(uint32_t size) {
    int list = list_of(size), tries = TRIES;
    for (chunk *c = lists[list]; c && tries--; c = c->next)
        if (c->size >= size)
            return c;
    return list + 1 < LISTS ? first_from(list + 1) : NULL;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static void set_size(chunk *c, uint32_t size, uint32_t used) {
    uint32_t after = address_of(c) + size;
    c->size = size | used;
    *(after == end ? &size_before_end : &chunk_at(after)->size_before) = size;
}

/* Joins it with free ones beside it, or with what is behind the last one. */
static void give_back(chunk *c) {
    uint32_t size = size_of(c), after = address_of(c) + size;
    if (c->size_before && !(chunk_at(address_of(c) - c->size_before)->size & USED)) {
        c = chunk_at(address_of(c) - c->size_before);
        take_out(c);
        size += c->size;
    }
    if (after != end && !(chunk_at(after)->size & USED)) {
        take_out(chunk_at(after));
        size += chunk_at(after)->size;
    }
    if (address_of(c) + size == end) {
        end = address_of(c);
        size_before_end = c->size_before;
        return;
    }
    set_size(c, size, 0);
    insert(c);
}

/* Leaves the first bytes of a used chunk to it. */
static void split(chunk *c, uint32_t size) {
    uint32_t rest = size_of(c) - size;
    if (rest < 2 * ALIGNMENT)
        return;
    chunk *second = chunk_at(address_of(c) + size);
    set_size(second, rest, USED);
    second->size_before = size;
    c->size = size | USED;
    give_back(second);
}

/* ---- memory that was never used -------------------------------------------------------------- */

static void begin(void) {
    limit = (uint32_t)__builtin_wasm_memory_size(0) * PAGE;
    end = (address_of((chunk *)&__heap_base) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + HEADER;
    touched = end;
}

static bool grow(uint32_t bytes) {
    uint32_t pages = (bytes + PAGE - 1) / PAGE;
    if (__builtin_wasm_memory_grow(0, pages) == SIZE_MAX)
        return false;
    limit += pages * PAGE;
    return true;
}

/* Moves the end. */
static bool extend(uint32_t bytes) {
    uint32_t missing = end + bytes > limit ? end + bytes - limit : 0;
    if (missing && !(missing < GROWTH && grow(GROWTH)) && !grow(missing))
        return false;
    end += bytes;
    touched = touched < end ? end : touched;
    return true;
}

static chunk *take_new(uint32_t size) {
    chunk *c = chunk_at(end);
    if (!extend(size))
        return NULL;
    c->size_before = size_before_end;
    set_size(c, size, USED);
    return c;
}

/* ---- the C library's functions --------------------------------------------------------------- */

static uint32_t whole_size(size_t bytes) {
    return ((uint32_t)bytes + HEADER + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool is_possible(size_t bytes) {
    return bytes < (size_t)INT32_MAX - PAGE;
}

void *malloc(size_t bytes) {
    if (!limit)
        begin();
    if (!is_possible(bytes))
        return NULL;
    uint32_t size = whole_size(bytes);
    chunk *c = find(size);
    if (!c) {
        c = take_new(size);
        return c ? (char *)c + HEADER : NULL;
    }
    take_out(c);
    set_size(c, c->size, USED);
    split(c, size);
    return (char *)c + HEADER;
}

void free(void *bytes) {
    if (bytes)
        give_back((chunk *)((char *)bytes - HEADER));
}

void *calloc(size_t count, size_t size) {
    if (size && count > SIZE_MAX / size)
        return NULL;
    uint32_t was_touched = touched;
    char *bytes = malloc(count * size);
    uint32_t at = (uint32_t)bytes;
    if (bytes && at < was_touched)
        memset(bytes, 0, was_touched - at < count * size ? was_touched - at : count * size);
    return bytes;
}

void *realloc(void *old, size_t bytes) {
    if (!old)
        return malloc(bytes);
    if (!is_possible(bytes))
        return NULL;
    chunk *c = (chunk *)((char *)old - HEADER);
    uint32_t had = size_of(c), size = whole_size(bytes);
    if (had >= size) {
        split(c, size);
        return old;
    }
    if (address_of(c) + had == end && extend(size - had)) {
        set_size(c, size, USED);
        return old;
    }
    void *moved = malloc(bytes);
    if (moved) {
        memcpy(moved, old, had - HEADER);
        free(old);
    }
    return moved;
}
