/* Places tensors in storages. src/plan/placement.c places one tensor, src/plan/pack.c chooses their
 * order; src/plan/bins.c tells how evenly llvmpipe's threads share the work in a place. */
#ifndef TSR_PLAN_PACK_H
#define TSR_PLAN_PACK_H

#include "plan/plan.h"

enum { TSR_BUFFER_UNIT = 16 }; /* bytes: unit of a buffer's texture_w in a storage */

enum { TSR_MAX_GRIDS = 16 }; /* of a tensor */

/* Bound the time of planning large graphs: tensors alive at the same time in one storage, storages
 * that are tried for a tensor. */
enum { TSR_MAX_LIVE = 64, TSR_MAX_TRIED = 32 };

typedef struct rect {
    int64_t x, y, w, h;
} rect;

typedef struct grid {
    int w, h, columns_log2;
} grid;

/* Index of a half of a tensor: twice the tensor's, plus one for its upper planes. */
typedef int half_index;

typedef struct place {
    rect at;
    int columns_log2;
    int storages[2];    /* of both halves; the second is TSR_NONE without tsr_plan_tensor.in_two */
    half_index next[2]; /* linked lists: placed before this one in the same storages */
} place;

/* One placement of all tensors. */
typedef struct packing {
    place *places; /* by tensor */
    tsr_storage *storages;
    int *ring; /* by storage: circular list of storages that are rendered to together and so have
                  the same size */
    half_index *newest; /* by storage: placed last */
    int storage_count;
    uint64_t bytes;
    uint64_t serial; /* sum of tsr_pack_serial() */
} packing;

typedef struct grids {
    grid list[TSR_MAX_GRIDS]; /* that of the tensor's layout first */
    int count;
} grids;

/* What a pass reads must not be in a storage that it writes. Those of tensor t: others[first[t]] to
 * others[first[t + 1] - 1]. */
typedef struct conflicts {
    int *first, *others;
    int *with; /* by tensor: the tensor that is being placed if they are in conflict */
} conflicts;

typedef struct item {
    int tensor;
    int64_t key[2];
} item;

typedef struct packer {
    tsr_plan *plan;
    item *items;
    grids *grids; /* by tensor */
    conflicts conflicts;
    bool by_time;     /* items are placed in the order of their first passes */
    double *work;     /* by tensor: of the passes that write it; NULL: the device has no bins */
    double all_work;  /* sum of these */
    int *next_slice;  /* by tensor: the next one of the same root, a root first; 0: none */
    bool bytes_first; /* tsr_pack_serial() decides between places that need the same bytes only */
    int *most_columns_log2; /* by tensor: of its grids, so that its slices are grids, too */
    int item_count;
    const rect **live; /* of the storages that are being tried */
    int live_count;
    int *members; /* these storages, and those on their rings */
    int member_count;
    int64_t compared;         /* upper bound of the rectangles compared so far */
    int64_t most_compared;    /* limit, after which nothing more is tried */
    packing now, best, saved; /* saved: the storages of `now` during a lookahead */
} packer;

/* Are tensors stored in buffers, not in textures? */
bool tsr_pack_in_buffer(const packer *p);

/* What packings are compared by: bytes, those beyond 1.1 times the lower bound several times, and
 * the sum of tsr_pack_serial(). */
uint64_t tsr_pack_cost(const packer *p, const packing *made);
/* The place of a slice, of a root without linear layout in this place. A slice has the root's
 * columns and begins with a row of it, or is a single tile. */
rect tsr_pack_slice(const tsr_plan_tensor *t, const rect *root, int columns_log2);

/* ---- src/plan/bins.c ---- */

/* False when out of memory. */
bool tsr_pack_list_work(packer *p);
/* The time that the tensor's passes take in this place, as a cost in bytes: for each pass the work
 * of the thread that has most of it; 0 without bins. shift: how far the tensor has to move to the
 * right, or down, for two threads to share its largest pass that a single thread computes here; 0:
 * none does. */
uint64_t tsr_pack_serial(const packer *p, int tensor, const rect *at, int columns_log2,
                         int64_t shift[2]);

/* ---- src/plan/placement.c ---- */

/* The grids that a tensor may have: shading cost hardly above that of its layout. */
void tsr_pack_list_grids(const packer *p, int tensor, grids *out);

/* Places an item's tensor in p->now, where it costs least after `ahead` more items are placed, too;
 * without lookahead after most_compared. width: upper bound for a new storage; 0: that of the
 * tensor's layout. */
void tsr_pack_place(packer *p, int item, int width, int ahead);

#endif
