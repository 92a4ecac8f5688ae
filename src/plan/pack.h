/* One tensor after the other put down in storages: src/plan/placement.c; in which order and where
 * they end up: src/plan/pack.c. */
#ifndef TSR_PLAN_PACK_H
#define TSR_PLAN_PACK_H

#include "plan/plan.h"

enum { TSR_MAX_GRIDS = 16 }; /* of a tensor */

/* However large a graph is, planning ends soon: tensors that lie beside each other. */
enum { TSR_MAX_LIVE = 64 };

typedef struct rect {
    int64_t x, y, w, h;
} rect;

typedef struct grid {
    int w, h, columns_log2;
} grid;

/* Of a half of a tensor: twice the tensor, plus one for its upper planes. */
typedef int half_index;

typedef struct place {
    rect at;
    int columns_log2;
    int storages[2];    /* of both halves; the second TSR_NONE for most */
    half_index next[2]; /* in the same storages */
} place;

/* One way to put all tensors down. */
typedef struct packing {
    place *places; /* by tensor */
    tsr_storage *storages;
    int *
        ring; /* by storage: the next of those of one size, rendered to together; itself if alone */
    half_index *newest; /* by storage: what was put down last */
    int storage_count;
    uint64_t bytes;
} packing;

typedef struct grids {
    grid list[TSR_MAX_GRIDS]; /* the tensor's own first */
    int count;
} grids;

typedef struct item {
    int tensor;
    int64_t key[2];
} item;

typedef struct packer {
    tsr_plan *plan;
    item *items;
    grids *grids;           /* by tensor */
    int *last_write;        /* by tensor: the last pass that writes it; -1 for inputs */
    int *most_columns_log2; /* by tensor: of its grids, so that its parts are grids, too */
    int item_count;
    const rect **live; /* of the storages whose corners are tried */
    int live_count;
    int *members; /* these storages, and those that have their size */
    int member_count;
    int64_t compared;         /* rectangles, at most, by all packings so far */
    int64_t most_compared;    /* before nothing more is tried */
    packing now, best, saved; /* saved: now's storages while something is tried */
} packer;

/* Tensors in buffers, not in textures? */
bool tsr_pack_in_buffer(const packer *p);

/* The grids that a tensor may take: those that shade hardly more blocks than its own. */
void tsr_pack_list_grids(const packer *p, int tensor, grids *out);

/* Puts an item's tensor down in p->now, where the storages grow least once `ahead` more items are
 * put down, too, as long as there may be more compared. width: that a storage of its own is at most
 * to have, 0: the tensor's choice. */
void tsr_pack_place(packer *p, int item, int width, int ahead);

#endif
