#include "base/cache.h"

#include <string.h>

static const uint64_t fnv_basis = 14695981039346656037u, fnv_prime = 1099511628211u;

static uint64_t hash(uint64_t state, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        state = (state ^ ((const unsigned char *)bytes)[i]) * fnv_prime;
    return state;
}

tsr_cache_key tsr_cache_key_start(void) {
    return (tsr_cache_key){.name = fnv_basis, .check = ~fnv_basis};
}

bool tsr_cache_key_equal(const tsr_cache_key *a, const tsr_cache_key *b) {
    return a->name == b->name && a->check == b->check;
}

void tsr_cache_key_add_bytes(tsr_cache_key *key, const void *bytes, size_t size) {
    const unsigned char *b = bytes;
    key->name = hash(key->name, b, size);
    for (size_t i = 0; i < size; i++) { /* multiplied first and rotated: independent of `name` */
        key->check = key->check * fnv_prime + b[i];
        key->check = key->check << 23 | key->check >> 41;
    }
}

void tsr_cache_key_add(tsr_cache_key *key, const char *text) {
    /* With its NUL: "a", "bc" is a different key than "ab", "c". */
    tsr_cache_key_add_bytes(key, text, strlen(text) + 1);
}

uint64_t tsr_cache_checksum(const void *bytes, size_t size) {
    return hash(fnv_basis, bytes, size);
}
