#include "gpu/weights.h"

#include "base/allocator.h"
#include "base/half.h"

#include <math.h>
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

static size_t count_texels(const tsr_table *table) {
    return table->pack ? (size_t)table->width * (size_t)table->height : 0;
}

static size_t count_floats(const tsr_table *table) {
    return count_texels(table) * 4;
}

size_t tsr_packing_bytes(const tsr_table *table) {
    return count_floats(table) * sizeof(float);
}

size_t tsr_table_bytes(const tsr_table *table) {
    return count_texels(table) * tsr_table_texel_bytes(table->format);
}

static void pack(void *user, int64_t first, int64_t count) {
    const tsr_packing *p = user;
    p->table->pack(p->table->data, first, count, p->texels);
}

enum { CHUNK_FLOATS = 1 << 16 };

/* The number of the first float of a chunk, at most that of floats. */
static size_t chunk_begin(const tsr_packing *p, int64_t chunk) {
    size_t floats = count_floats(p->table), begin = (size_t)chunk * CHUNK_FLOATS;
    return begin < floats ? begin : floats;
}

static void zero(void *user, int64_t first, int64_t count) {
    const tsr_packing *p = user;
    size_t begin = chunk_begin(p, first), end = chunk_begin(p, first + count);
    memset(p->texels + begin, 0, (end - begin) * sizeof *p->texels);
}

static void start_chunks(tsr_packing *p, tsr_parallel_fn *fn) {
    size_t floats = count_floats(p->table);
    tsr_parallel_start(&p->work, (int64_t)((floats + CHUNK_FLOATS - 1) / CHUNK_FLOATS),
                       floats * sizeof *p->texels, fn, p);
}

void tsr_packing_start(tsr_packing *p, const tsr_table *table, float *texels) {
    size_t bytes = tsr_packing_bytes(table);
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

/* Each starts where the floats did: it is written no later than they are read. Drivers may truncate
 * where they convert. */
static void to_halves(float *floats, size_t count) {
    unsigned char *bytes = (unsigned char *)floats;
    for (size_t i = 0; i < count; i++) {
        uint16_t half = tsr_float_to_half(floats[i]);
        memcpy(bytes + i * sizeof half, &half, sizeof half);
    }
}

static void to_integers(float *floats, size_t count) {
    int8_t *integers = (int8_t *)floats;
    for (size_t i = 0; i < count; i++)
        integers[i] = (int8_t)lrintf(floats[i]);
}

static void to_nibbles(float *floats, size_t count) {
    unsigned char *bytes = (unsigned char *)floats;
    for (size_t i = 0; i < count; i += 2) {
        unsigned low = (unsigned)(int)floats[i], high = (unsigned)(int)floats[i + 1];
        bytes[i / 2] = (unsigned char)((low & 15) | (high & 15) << 4);
    }
}

static void narrow(void *user, int64_t first, int64_t count) {
    const tsr_packing *p = user;
    for (int64_t chunk = first; chunk < first + count; chunk++) {
        size_t begin = chunk_begin(p, chunk), floats = chunk_begin(p, chunk + 1) - begin;
        if (p->table->format == TSR_TABLE_F16)
            to_halves(p->texels + begin, floats);
        else if (p->table->format != TSR_TABLE_I4_OF_4)
            to_integers(p->texels + begin, floats);
        else
            to_nibbles(p->texels + begin, floats);
    }
}

/* Chunks of narrow texels are moved together. */
static void join_chunks(const tsr_packing *p) {
    size_t texel = tsr_table_texel_bytes(p->table->format), begin = 0;
    unsigned char *bytes = (unsigned char *)p->texels;
    for (int64_t chunk = 0; begin < count_floats(p->table); chunk++) {
        size_t end = chunk_begin(p, chunk + 1);
        memmove(bytes + begin / 4 * texel, p->texels + begin, (end - begin) / 4 * texel);
        begin = end;
    }
}

void tsr_packing_finish(tsr_packing *p) {
    tsr_parallel_finish(&p->work);
    if (p->table->format == TSR_TABLE_F32)
        return;
    start_chunks(p, narrow);
    tsr_parallel_finish(&p->work);
    join_chunks(p);
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

bool tsr_plan_has_integers(const tsr_plan *plan, int constant) {
    bool has = false;
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_table *t = &plan->passes[i].table;
        has |= t->constant == constant && t->format >= TSR_TABLE_I8;
    }
    return has;
}
