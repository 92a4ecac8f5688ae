#define _GNU_SOURCE /* mallinfo2 */

#include "support/memory.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static long resident_pages(void) {
    long size, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return pages;
}

typedef struct memory_use {
    long allocated; /* bytes that malloc() gave out; 0 under a sanitizer */
    long resident;  /* bytes */
} memory_use;

static memory_use in_use(void) {
    return (memory_use){(long)mallinfo2().uordblks, resident_pages() * sysconf(_SC_PAGESIZE)};
}

bool allocator_keeps_all(void) {
    return in_use().allocated == 0;
}

static bool grows(const growth_limit *limit, void (*live)(void *context, unsigned i),
                  void *context) {
    const memory_use before = in_use();
    for (int i = 0; i < (allocator_keeps_all() ? limit->lives / 10 : limit->lives); i++)
        live(context, (unsigned)i);
    const memory_use now = in_use();
    long allocated = now.allocated - before.allocated, resident = now.resident - before.resident;
    print_message("%d lives: %ld bytes more allocated, %ld KiB more resident\n", limit->lives,
                  allocated, resident / 1024);
    return !allocator_keeps_all() && (allocated >= (long)limit->allocated_mib << 20 ||
                                      resident >= (long)limit->resident_mib << 20);
}

void expect_no_growth(const growth_limit *limit, void (*live)(void *context, unsigned i),
                      void *context) {
    enum { ROUNDS = 5 };
    int round = 0;
    for (int i = 0; i < limit->warm_up; i++)
        live(context, (unsigned)i);
    while (round < ROUNDS && grows(limit, live, context))
        round++;
    assert_true(round < ROUNDS);
}
