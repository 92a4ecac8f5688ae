#include "gpu/weights.h"

#include "base/allocator.h"
#include "base/half.h"

#include <string.h>

/* ---- the store ------------------------------------------------------------------------------- */

static tsr_weights *add(tsr_weight_store *store) {
    tsr_weights *w = tsr_calloc(1, sizeof *w);
    if (!w)
        return NULL;
    *w = (tsr_weights){.next = store->head, .references = 1};
    store->head = w;
    return w;
}

/* Tables that are not shared have zeroed keys, which no other has. */
tsr_weights *tsr_weights_acquire(tsr_weight_store *store, const tsr_table *table,
                                 const void *runner, bool *found) {
    for (tsr_weights *w = store->head; w && table->shared; w = w->next)
        if (tsr_cache_key_equal(&w->key, &table->key) && (!w->packer || w->packer == runner)) {
            w->references++;
            *found = true;
            return w;
        }
    tsr_weights *w = add(store);
    *found = false;
    if (w) {
        w->key = table->key;
        w->packer = runner;
    }
    return w;
}

void tsr_weights_share(tsr_weights *weights) {
    weights->packer = NULL;
}

tsr_weights *tsr_weights_separate(tsr_weight_store *store, tsr_weights *weights) {
    if (weights->references > 1)
        return add(store);
    weights->key = (tsr_cache_key){0};
    return weights;
}

bool tsr_weights_release(tsr_weight_store *store, tsr_weights *weights, tsr_weights *last) {
    if (--weights->references)
        return false;
    tsr_weights **link = &store->head;
    while (*link != weights)
        link = &(*link)->next;
    *link = weights->next;
    *last = *weights;
    tsr_free(weights);
    return true;
}

void tsr_weights_clear(tsr_weight_store *store) {
    while (store->head) {
        tsr_weights *next = store->head->next;
        tsr_free(store->head);
        store->head = next;
    }
}

/* ---- packing --------------------------------------------------------------------------------- */

size_t tsr_table_floats(const tsr_table *table) {
    return table->pack ? (size_t)table->width * (size_t)table->height * 4 : 0;
}

uint64_t tsr_table_bytes(const tsr_table *table) {
    return (uint64_t)tsr_table_floats(table) * (table->half ? 2 : 4);
}

static void pack(void *user, int64_t first, int64_t count) {
    const tsr_packing *p = user;
    p->table->pack(p->table->data, first, count, p->texels);
}

enum { CHUNK_FLOATS = 1 << 16 };

/* The number of the first float of a chunk, at most that of floats. */
static size_t chunk_begin(const tsr_packing *p, int64_t chunk) {
    size_t floats = tsr_table_floats(p->table), begin = (size_t)chunk * CHUNK_FLOATS;
    return begin < floats ? begin : floats;
}

static void zero(void *user, int64_t first, int64_t count) {
    const tsr_packing *p = user;
    size_t begin = chunk_begin(p, first), end = chunk_begin(p, first + count);
    memset(p->texels + begin, 0, (end - begin) * sizeof *p->texels);
}

static void start_chunks(tsr_packing *p, tsr_parallel_fn *fn) {
    size_t floats = tsr_table_floats(p->table);
    tsr_parallel_start(&p->work, (int64_t)((floats + CHUNK_FLOATS - 1) / CHUNK_FLOATS),
                       floats * sizeof *p->texels, fn, p);
}

void tsr_packing_start(tsr_packing *p, const tsr_table *table, float *texels) {
    size_t floats = tsr_table_floats(table), bytes = floats * sizeof *texels;
    p->table = table;
    p->texels = texels;
    if (!table->dense) {
        start_chunks(p, zero);
        tsr_parallel_finish(&p->work);
    }
    tsr_parallel_start(&p->work, table->units, bytes, pack, p);
}

bool tsr_packing_work(tsr_packing *p, double deadline) {
    return tsr_parallel_work(&p->work, deadline);
}

/* Drivers may truncate when they convert. */
static void round_to_halves(void *user, int64_t first, int64_t count) {
    const tsr_packing *p = user;
    const size_t end = chunk_begin(p, first + count);
    for (size_t i = chunk_begin(p, first); i < end; i++)
        p->texels[i] = tsr_round_to_half(p->texels[i]);
}

void tsr_packing_finish(tsr_packing *p) {
    tsr_parallel_finish(&p->work);
    if (!p->table->half)
        return;
    start_chunks(p, round_to_halves);
    tsr_parallel_finish(&p->work);
}

void tsr_packing_replace(const tsr_table *table, const float *weights, float *texels) {
    const tsr_unaligned_float **pointer =
        (const tsr_unaligned_float **)(void *)((char *)table->data + table->weights_at);
    const tsr_unaligned_float *models = *pointer;
    tsr_packing packing;
    *pointer = weights;
    tsr_packing_start(&packing, table, texels);
    tsr_packing_finish(&packing);
    *pointer = models;
}
