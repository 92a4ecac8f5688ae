/* How much memory this process has. */
#ifndef TESTS_SUPPORT_MEMORY_H
#define TESTS_SUPPORT_MEMORY_H

#include <stdbool.h>

typedef struct growth_limit {
    int warm_up; /* lives before anything is measured */
    int lives;   /* of a round; a tenth of them under a sanitizer, whose memory says nothing */
    int allocated_mib, resident_mib;
} growth_limit;

/* Under a sanitizer what was freed stays, and leaks are looked for by itself. */
bool allocator_keeps_all(void);

/* Fails the test if lives leave more than that many MiB behind: in each of five rounds, for a
 * driver's caches, threads and compiled code come once, a leak every time. */
void expect_no_growth(const growth_limit *limit, void (*live)(void *context, unsigned i),
                      void *context);

#endif
