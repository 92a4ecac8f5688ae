/* How much memory this process has. */
#ifndef TESTS_SUPPORT_MEMORY_H
#define TESTS_SUPPORT_MEMORY_H

typedef struct memory_use {
    long allocated; /* bytes that malloc() gave out; 0 under a sanitizer, whose allocator keeps what
                       was freed and looks for leaks itself */
    long resident;  /* bytes */
} memory_use;

memory_use memory_in_use(void);
/* Fails the test if more than so many MiB came in since then; prints what did. */
void expect_growth_below(memory_use before, int allocated_mib, int resident_mib, const char *what);

#endif
