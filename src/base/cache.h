/* A cache on disk, shared by processes, for data that is expensive to compute: a folder of entries
 * that each hold bytes under a key. Several processes may use it at once. An entry that is damaged,
 * of another key, possibly written by another user, or not readable counts as absent: nothing here
 * fails. tsr_set_cache_folder() says where the folder is. */
#ifndef TSR_BASE_CACHE_H
#define TSR_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two independent hashes of all texts added: the entry's name, and one stored in it as a check. */
typedef struct tsr_cache_key {
    uint64_t name, check;
} tsr_cache_key;

tsr_cache_key tsr_cache_key_start(void);
bool tsr_cache_key_equal(const tsr_cache_key *a, const tsr_cache_key *b);
/* Extends the key by a text, or by bytes. */
void tsr_cache_key_add(tsr_cache_key *key, const char *text);
void tsr_cache_key_add_bytes(tsr_cache_key *key, const void *bytes, size_t size);
/* Of an entry's bytes. */
uint64_t tsr_cache_checksum(const void *bytes, size_t size);

/* Is there a folder to read? Whether it is writable is known only when something is stored. */
bool tsr_cache_is_on(void);
/* The entry's bytes, to be given to tsr_free(); NULL if there is none. A used entry becomes the
 * newest. */
void *tsr_cache_load(const tsr_cache_key *key, size_t *size);
/* Replaces the entry; evicts the oldest ones when all together have more than 64 MiB. */
void tsr_cache_store(const tsr_cache_key *key, const void *bytes, size_t size);

#endif
