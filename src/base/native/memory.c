#define _POSIX_C_SOURCE 200809L

#include "base/memory.h"

#include <unistd.h>

uint64_t tsr_memory_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_MAX;
}
