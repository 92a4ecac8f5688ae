#include "gpu/program_cache.h"

#include <string.h>

enum { KEYS = sizeof((tsr_cached_program *)0)->keys / sizeof(tsr_cache_key) };

static bool has_key(const tsr_cached_program *p, const tsr_cache_key *key) {
    for (int i = 0; i < p->key_count && i < KEYS; i++)
        if (tsr_cache_key_equal(&p->keys[i], key))
            return true;
    return false;
}

static tsr_cached_program *unlink_at(tsr_cached_program **link) {
    tsr_cached_program *p = *link;
    *link = p->next;
    return p;
}

static void push(tsr_program_cache *cache, tsr_cached_program *p) {
    p->next = cache->head;
    cache->head = p;
}

/* link: to the program or, at the end, to NULL. */
static tsr_cached_program *acquire_at(tsr_program_cache *cache, tsr_cached_program **link) {
    if (!*link)
        return NULL;
    tsr_cached_program *p = unlink_at(link);
    push(cache, p);
    cache->unused -= p->references == 0;
    p->references++;
    return p;
}

tsr_cached_program *tsr_program_cache_find(tsr_program_cache *cache, const tsr_cache_key *key) {
    tsr_cached_program **link = &cache->head;
    while (*link && !has_key(*link, key))
        link = &(*link)->next;
    return acquire_at(cache, link);
}

tsr_cached_program *tsr_program_cache_find_text(tsr_program_cache *cache, const char *text) {
    tsr_cached_program **link = &cache->head;
    while (*link && strcmp((*link)->text, text))
        link = &(*link)->next;
    return acquire_at(cache, link);
}

void tsr_program_cache_add(tsr_program_cache *cache, tsr_cached_program *p, char *text) {
    p->text = text;
    p->references = 1;
    push(cache, p);
}

void tsr_cached_program_add_key(tsr_cached_program *p, const tsr_cache_key *key) {
    p->keys[p->key_count % KEYS] = *key;
    p->key_count = p->key_count + 1 < 2 * KEYS ? p->key_count + 1 : KEYS;
}

static tsr_cached_program *remove_oldest(tsr_program_cache *cache) {
    tsr_cached_program **oldest = NULL;
    for (tsr_cached_program **link = &cache->head; *link; link = &(*link)->next)
        if ((*link)->references == 0)
            oldest = link;
    cache->unused--;
    return unlink_at(oldest);
}

tsr_cached_program *tsr_program_cache_release(tsr_program_cache *cache, tsr_cached_program *p) {
    if (--p->references)
        return NULL;
    if (p->compiled && ++cache->unused > TSR_UNUSED_PROGRAMS)
        return remove_oldest(cache);
    if (p->compiled)
        return NULL;
    tsr_cached_program **link = &cache->head;
    while (*link != p)
        link = &(*link)->next;
    return unlink_at(link);
}

tsr_cached_program *tsr_program_cache_pop(tsr_program_cache *cache) {
    cache->unused = 0;
    return cache->head ? unlink_at(&cache->head) : NULL;
}
