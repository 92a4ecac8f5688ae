/* Packed weights on a device, shared by all sessions whose plans have tables with equal keys: each
 * is packed once. The backend owns the texture or buffer that stores them. */
#ifndef TSR_GPU_WEIGHTS_H
#define TSR_GPU_WEIGHTS_H

#include "base/parallel.h"
#include "plan/plan.h"

typedef struct tsr_weights {
    struct tsr_weights *next;
    tsr_cache_key key;
    int references;
    const void *packer; /* the runner that is packing them; NULL once that is done */
    union {
        unsigned name; /* of GL */
        void *object;  /* of WebGPU */
    } handle;
} tsr_weights;

/* Of a device; zero-initialised. */
typedef struct tsr_weight_store {
    tsr_weights *head;
} tsr_weight_store;

/* Those of a table, with one more reference. *found: they are packed already, or this runner is
 * packing them; else it has to, and sets the handle. NULL when out of memory. */
tsr_weights *tsr_weights_acquire(tsr_weight_store *store, const tsr_table *table,
                                 const void *runner, bool *found);
/* They are packed: other runners may share them. */
void tsr_weights_share(tsr_weights *weights);
/* Weights with this one reference alone, which no new session finds: the same ones, or new ones if
 * they have other references. NULL when out of memory. */
tsr_weights *tsr_weights_separate(tsr_weight_store *store, tsr_weights *weights);
/* Drops a reference. True if that was the last one: the caller destroys the handle of `last`. */
bool tsr_weights_release(tsr_weight_store *store, tsr_weights *weights, tsr_weights *last);
/* Removes all, of a device that is destroyed or lost. */
void tsr_weights_clear(tsr_weight_store *store);

/* Zeroes and fills a table's texels, as floats, on several threads; finish returns when all are
 * filled, and stored in the table's format from the first byte on. */
typedef struct tsr_packing {
    const tsr_table *table;
    float *texels;
    tsr_parallel work;
} tsr_packing;

/* Bytes of memory that it is packed in, as floats; and of its format. */
size_t tsr_packing_bytes(const tsr_table *table);
size_t tsr_table_bytes(const tsr_table *table);
void tsr_packing_start(tsr_packing *packing, const tsr_table *table, float *texels);
/* See tsr_parallel_work(). */
bool tsr_packing_work(tsr_packing *packing, double deadline);
void tsr_packing_finish(tsr_packing *packing);
/* Packs a table from other weights than the model's. */
void tsr_packing_replace(const tsr_table *table, const float *weights, float *texels);
/* Has the plan the constant as integers, whose scale is part of it? */
bool tsr_plan_has_integers(const tsr_plan *plan, int constant);

#endif
