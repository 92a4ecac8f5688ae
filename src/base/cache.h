/* What is expensive to make again, on disk between processes: a folder of entries that each hold
 * bytes under a key, ${XDG_CACHE_HOME:-~/.cache}/tessera. Several processes may use it at once. An
 * entry that is absent, damaged, of another key, that another user may have written or that cannot
 * be read or written counts as absent: nothing here fails. TSR_CACHE=off in the environment
 * switches it off. */
#ifndef TSR_BASE_CACHE_H
#define TSR_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two independent hashes of all texts added: the name of the entry, and what it is checked by. */
typedef struct tsr_cache_key {
    uint64_t name, check;
} tsr_cache_key;

tsr_cache_key tsr_cache_key_start(void);
/* The key of what the key stood for and, behind it, the text. */
tsr_cache_key tsr_cache_key_add(tsr_cache_key key, const char *text);

/* Is there a folder to look in? Whether it can be written shows only when something is stored. */
bool tsr_cache_is_on(void);
/* The entry's bytes, to be freed by the caller; NULL if there is none. An entry that is used counts
 * as new. */
void *tsr_cache_load(const tsr_cache_key *key, size_t *size);
/* Replaces the entry; the oldest ones go when all together take more than 64 MiB. */
void tsr_cache_store(const tsr_cache_key *key, const void *bytes, size_t size);

#endif
