/* The library's memory from a test: counted, failing where asked to. A block that is freed past it,
 * or was not allocated by it, fails the test. */
#ifndef TESTS_SUPPORT_COUNTED_MEMORY_H
#define TESTS_SUPPORT_COUNTED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* From now on; before anything of Tessera exists. */
void count_memory(void);
/* Blocks allocated and not freed. */
long live_blocks(void);
/* The most bytes that were allocated at once since the last call. */
size_t take_most_bytes(void);
/* One allocation fails, not all that follow: whoever goes on regardless is found out. after: how
 * many work before it; -1: none fails. */
void fail_allocation(long after);
/* Has the allocation failed that was to? */
bool has_allocation_failed(void);

#endif
