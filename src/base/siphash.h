/* A keyed hash of texts from files: who does not know the key cannot choose texts that collide. */
#ifndef TSR_BASE_SIPHASH_H
#define TSR_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct tsr_hash_key {
    uint64_t words[2];
} tsr_hash_key;

/* From the system's random numbers. */
tsr_hash_key tsr_hash_key_make(void);
uint64_t tsr_siphash(tsr_hash_key key, const void *bytes, size_t size);

#endif
