/* How much memory the machine has: the default limit of models and plans. */
#ifndef TSR_BASE_MEMORY_H
#define TSR_BASE_MEMORY_H

#include <stdint.h>

/* Bytes of physical memory; UINT64_MAX if unknown. */
uint64_t tsr_memory_bytes(void);

#endif
