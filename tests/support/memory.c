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

memory_use memory_in_use(void) {
    return (memory_use){(long)mallinfo2().uordblks, resident_pages() * sysconf(_SC_PAGESIZE)};
}

void expect_growth_below(memory_use before, int allocated_mib, int resident_mib, const char *what) {
    const memory_use now = memory_in_use();
    long allocated = now.allocated - before.allocated, resident = now.resident - before.resident;
    print_message("%s: %ld bytes more allocated, %ld KiB more resident\n", what, allocated,
                  resident / 1024);
    if (before.allocated == 0)
        return;
    assert_true(allocated < (long)allocated_mib << 20);
    assert_true(resident < (long)resident_mib << 20);
}
