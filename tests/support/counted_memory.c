#include "support/counted_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tessera.h"

typedef struct header {
    _Alignas(max_align_t) uint64_t mark;
    size_t size;
} header;

static const uint64_t mark = 0x7465737365726121u;
static long live, left = -1;
static size_t bytes, most_bytes;
static int user;

static bool fails(void) {
    return left >= 0 && left-- == 0;
}

static header *header_of(void *block) {
    header *h = (header *)block - 1;
    assert_true(h->mark == mark);
    return h;
}

static void *reallocate(void *data, void *old, size_t size) {
    assert_ptr_equal(data, &user);
    header *before = old ? header_of(old) : NULL;
    size_t size_before = old ? before->size : 0;
    header *h = fails() ? NULL : realloc(before, sizeof *h + size);
    if (!h)
        return NULL;
    live += !old;
    bytes += size - size_before;
    most_bytes = bytes > most_bytes ? bytes : most_bytes;
    h->mark = mark;
    h->size = size;
    return h + 1;
}

static void *allocate(void *data, size_t size) {
    return reallocate(data, NULL, size);
}

static void release(void *data, void *old) {
    assert_ptr_equal(data, &user);
    header *h = header_of(old);
    h->mark = 0;
    bytes -= h->size;
    free(h);
    live--;
}

void count_memory(void) {
    const tsr_allocator allocator = {allocate, reallocate, release, &user};
    assert_int_equal(tsr_set_allocator(&allocator), TSR_OK);
}

long live_blocks(void) {
    return live;
}

size_t take_most_bytes(void) {
    size_t most = most_bytes;
    most_bytes = bytes;
    return most;
}

void fail_allocation(long after) {
    left = after;
}

bool has_allocation_failed(void) {
    return left < 0;
}
