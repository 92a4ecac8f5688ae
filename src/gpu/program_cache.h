/* Programs of a device, the latest requested first. Those that no session uses stay for the next
 * session, up to a number. */
#ifndef TSR_GPU_PROGRAM_CACHE_H
#define TSR_GPU_PROGRAM_CACHE_H

#include "base/cache.h"

#include <stdbool.h>

enum { TSR_UNUSED_PROGRAMS = 256 };

/* The first member of a backend's program. */
typedef struct tsr_cached_program tsr_cached_program;
struct tsr_cached_program {
    tsr_cached_program *next;
    char *text;            /* from tsr_malloc(); freed by whoever destroys the program */
    tsr_cache_key keys[8]; /* the latest that it was requested with */
    int key_count;         /* of all that were ever added */
    int references;
    bool compiled; /* one that is not, or failed, does not stay */
};

typedef struct tsr_program_cache {
    tsr_cached_program *head;
    int unused;
} tsr_program_cache;

/* NULL: there is none. Takes a reference. */
tsr_cached_program *tsr_program_cache_find(tsr_program_cache *cache, const tsr_cache_key *key);
tsr_cached_program *tsr_program_cache_find_text(tsr_program_cache *cache, const char *text);
/* Takes ownership of the text, and a reference. */
void tsr_program_cache_add(tsr_program_cache *cache, tsr_cached_program *program, char *text);
/* The text made from this key is the program's. */
void tsr_cached_program_add_key(tsr_cached_program *program, const tsr_cache_key *key);
/* Gives a reference back. Returns the program that has to be destroyed now, or NULL. */
tsr_cached_program *tsr_program_cache_release(tsr_program_cache *cache,
                                              tsr_cached_program *program);
/* Removes one, to be destroyed; NULL: there is none left. */
tsr_cached_program *tsr_program_cache_pop(tsr_program_cache *cache);

#endif
