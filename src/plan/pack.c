/* Which storage each tensor lies in and where, so that few bytes do. Tensors are put down one after
 * the other, each in a corner that what is alive at the same time leaves, where the storages grow
 * least; a tile grid may take another shape for that. No single order is good for every graph, so
 * several are tried. */
#include "plan/plan.h"

#include <limits.h>
#include <stdlib.h>

enum { BUFFER_UNIT = 16 }; /* bytes that storages of buffers are counted in */
enum { MAX_GRIDS = 16 };
/* However large a graph is, planning ends soon: tensors that lie beside each other, and rectangles
 * compared before no further packing is tried. */
enum { MAX_LIVE = 64, MAX_COMPARED = 1 << 28 };

/* That tensors beside each other take: drivers have textures of so many bytes at least (llvmpipe's
 * bound is two GiB) and do not tell how many more. */
enum { MAX_SHARED_BYTES = 1 << 30 };

typedef struct rect {
    int64_t x, y, w, h;
} rect;

typedef struct grid {
    int w, h, columns_log2;
} grid;

typedef struct place {
    rect at;
    int columns_log2, storage;
    int next; /* tensor in the same storage */
} place;

/* One way to put all tensors down. */
typedef struct packing {
    place *places; /* by tensor */
    tsr_storage *storages;
    int *newest; /* by storage: the tensor put down last */
    int storage_count;
    uint64_t bytes;
} packing;

typedef struct grids {
    grid list[MAX_GRIDS]; /* the tensor's own first */
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
    const rect **live; /* of one storage, while its corners are tried */
    int live_count;
    int64_t compared; /* at most, by all packings so far */
    packing now, best;
} packer;

typedef struct choice {
    place place;
    uint64_t growth;
} choice;

/* ---- shapes ---------------------------------------------------------------------------------- */

static bool in_buffer(const packer *p) {
    return p->plan->limits.max_buffer_bytes != 0;
}

static uint64_t bytes_of(const packer *p, const tsr_storage *s, int64_t w, int64_t h) {
    uint64_t rows = (uint64_t)h + (in_buffer(p) || s->plain ? 0 : TSR_ZERO_ROWS);
    return (uint64_t)w * rows * (uint64_t)s->planes * (s->half ? 8 : 16);
}

static bool fits_device(const packer *p, int64_t w, int64_t h) {
    const tsr_layout_limits *limits = &p->plan->limits;
    if (in_buffer(p))
        return (uint64_t)w * BUFFER_UNIT <= limits->max_buffer_bytes && w <= INT_MAX;
    return w <= limits->max_texture_size && h + TSR_ZERO_ROWS <= limits->max_texture_size;
}

static tsr_storage storage_for(const packer *p, int tensor, const grid *g) {
    const tsr_plan_tensor *t = &p->plan->tensors[tensor];
    return (tsr_storage){g->w, g->h, t->layout.planes, !in_buffer(p) && t->layout.half, t->plain};
}

/* Grids that shade hardly more blocks than the tensor's own. */
static void list_grids(const packer *p, int tensor, grids *out) {
    const tsr_plan_tensor *t = &p->plan->tensors[tensor];
    tsr_layout l = t->layout;
    out->count = 1;
    out->list[0] = (grid){l.texture_w, l.texture_h, l.columns_log2};
    if (l.buffer) {
        uint64_t blocks = (tsr_layout_bytes(&l) + TSR_BINDING_ALIGNED - 1) / TSR_BINDING_ALIGNED;
        out->list[0].w = (int)blocks * (TSR_BINDING_ALIGNED / BUFFER_UNIT);
    }
    int64_t most = tsr_layout_most_blocks(&l);
    for (int log2 = 0; !l.linear && !t->plain && log2 <= p->most_columns_log2[tensor]; log2++)
        if (log2 != t->layout.columns_log2 &&
            tsr_layout_regrid(&l, log2, p->plan->limits.max_texture_size) &&
            tsr_layout_blocks(&l) <= most)
            out->list[out->count++] = (grid){l.texture_w, l.texture_h, log2};
}

/* ---- what excludes each other ---------------------------------------------------------------- */

static bool lives_overlap(const tsr_plan_tensor *a, const tsr_plan_tensor *b) {
    return a->first_pass <= b->last_pass && b->first_pass <= a->last_pass;
}

static bool reads(const tsr_plan *plan, const tsr_pass *pass, int tensor) {
    for (int i = 0; i < pass->source_count; i++)
        if (plan->tensors[pass->sources[i]].root == tensor)
            return true;
    return false;
}

/* Does a pass that writes the one read the other? */
static bool written_from(const packer *p, int written, int read) {
    const tsr_plan *plan = p->plan;
    const tsr_plan_tensor *w = &plan->tensors[written], *r = &plan->tensors[read];
    int first = w->first_pass > r->first_pass ? w->first_pass : r->first_pass;
    int last = p->last_write[written] < r->last_pass ? p->last_write[written] : r->last_pass;
    for (int i = first < 0 ? 0 : first; i <= last; i++)
        if (plan->tensors[plan->passes[i].output].root == written &&
            reads(plan, &plan->passes[i], read))
            return true;
    return false;
}

/* Lists what is alive in a storage while the tensor is; false if they must not share it, or are
 * too many. */
static bool list_live(packer *p, int tensor, int storage) {
    const tsr_plan *plan = p->plan;
    p->live_count = 0;
    for (int i = p->now.newest[storage]; i != TSR_NONE; i = p->now.places[i].next) {
        p->compared++;
        if (!lives_overlap(&plan->tensors[i], &plan->tensors[tensor]))
            continue;
        if (p->live_count == MAX_LIVE || written_from(p, i, tensor) || written_from(p, tensor, i))
            return false;
        p->live[p->live_count++] = &p->now.places[i].at;
    }
    return true;
}

/* ---- one tensor ------------------------------------------------------------------------------ */

static bool is_free(const packer *p, const rect *r) {
    for (int i = 0; i < p->live_count; i++) {
        const rect *s = p->live[i];
        if (r->x < s->x + s->w && s->x < r->x + r->w && r->y < s->y + s->h && s->y < r->y + r->h)
            return false;
    }
    return true;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static void try_corner(const packer *p, int storage, const grid *g, int64_t x, int64_t y,
                       choice *best) {
    const tsr_storage *s = &p->now.storages[storage];
    const rect r = {x, y, g->w, g->h};
    int64_t w = larger(s->texture_w, x + g->w), h = larger(s->texture_h, y + g->h);
    if (!fits_device(p, w, h))
        return;
    uint64_t bytes = bytes_of(p, s, w, h);
    uint64_t growth = bytes - bytes_of(p, s, s->texture_w, s->texture_h);
    if (growth && bytes > MAX_SHARED_BYTES)
        return;
    if (growth < best->growth && is_free(p, &r))
        *best = (choice){{r, g->columns_log2, storage, TSR_NONE}, growth};
}

static void try_storage(packer *p, int tensor, int storage, choice *best) {
    const grids *shapes = &p->grids[tensor];
    const tsr_storage *s = &p->now.storages[storage];
    const tsr_storage own = storage_for(p, tensor, &shapes->list[0]);
    if (s->plain || s->planes != own.planes || s->half != own.half ||
        !list_live(p, tensor, storage))
        return;
    p->compared += (int64_t)shapes->count * p->live_count * p->live_count;
    for (int i = 0; i < shapes->count; i++) {
        const grid *g = &shapes->list[i];
        try_corner(p, storage, g, 0, 0, best);
        for (int j = 0; j < p->live_count; j++) {
            const rect *r = p->live[j];
            try_corner(p, storage, g, r->x + r->w, r->y, best);
            if (!in_buffer(p))
                try_corner(p, storage, g, r->x, r->y + r->h, best);
        }
    }
}

/* The grid for a storage of its own: the widest up to `width`, 0: the tensor's choice. */
static const grid *first_grid(const grids *shapes, int width) {
    const grid *best = &shapes->list[0];
    for (int i = 0; width && i < shapes->count; i++) {
        const grid *g = &shapes->list[i];
        if (g->w <= width && (best->w > width || g->w > best->w))
            best = g;
    }
    return best;
}

static void put_down(packer *p, int tensor, int width) {
    const tsr_plan_tensor *t = &p->plan->tensors[tensor];
    const grid *g = first_grid(&p->grids[tensor], width);
    packing *now = &p->now;
    const tsr_storage own = storage_for(p, tensor, g);
    choice best = {{{0, 0, g->w, g->h}, g->columns_log2, now->storage_count, TSR_NONE},
                   bytes_of(p, &own, g->w, g->h)};
    for (int i = 0; !t->plain && !p->plan->keep_all && i < now->storage_count; i++)
        try_storage(p, tensor, i, &best);
    int storage = best.place.storage;
    if (storage == now->storage_count) {
        now->storages[storage] = own;
        now->newest[storage] = TSR_NONE;
        now->storage_count++;
    }
    tsr_storage *s = &now->storages[storage];
    const rect *at = &best.place.at;
    s->texture_w = (int)larger(s->texture_w, at->x + at->w);
    s->texture_h = (int)larger(s->texture_h, at->y + at->h);
    now->bytes += best.growth;
    best.place.next = now->newest[storage];
    now->newest[storage] = tensor;
    now->places[tensor] = best.place;
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef enum order { LARGEST, FIRST_WRITTEN, FIRST_FREE, LAST_FREE, ORDERS } order;

static int compare_items(const void *a, const void *b) {
    const item *s = a, *t = b;
    for (int i = 0; i < 2; i++)
        if (s->key[i] != t->key[i])
            return s->key[i] < t->key[i] ? -1 : 1;
    return s->tensor - t->tensor;
}

static void sort_items(packer *p, order by) {
    for (int i = 0; i < p->item_count; i++) {
        item *it = &p->items[i];
        const tsr_plan_tensor *t = &p->plan->tensors[it->tensor];
        int64_t bytes = (int64_t)tsr_layout_bytes(&t->layout);
        it->key[0] = by == LARGEST         ? -bytes
                     : by == FIRST_WRITTEN ? t->first_pass
                     : by == FIRST_FREE    ? t->last_pass
                                           : -t->last_pass;
        it->key[1] = by == LARGEST ? t->first_pass : -bytes;
    }
    qsort(p->items, (size_t)p->item_count, sizeof *p->items, compare_items);
}

static void try_packing(packer *p, int width) {
    p->now.storage_count = 0;
    p->now.bytes = 0;
    for (int i = 0; i < p->item_count; i++)
        put_down(p, p->items[i].tensor, width);
    if (p->best.bytes <= p->now.bytes)
        return;
    const packing better = p->now;
    p->now = p->best;
    p->best = better;
}

static void try_packings(packer *p) {
    static const int widths[] = {0, 16, 32, 64, 128, 256, 512};
    int width_count = in_buffer(p) ? 1 : (int)(sizeof widths / sizeof *widths);
    p->best.bytes = UINT64_MAX;
    for (int by = 0; by < ORDERS; by++) {
        sort_items(p, (order)by);
        for (int i = 0; i < width_count && p->compared < MAX_COMPARED; i++)
            try_packing(p, widths[i]);
    }
}

static void place_tensor(const packer *p, tsr_plan_tensor *t, const place *at) {
    t->storage = at->storage;
    if (!t->layout.linear) /* one of list_grids: it fits */
        tsr_layout_regrid(&t->layout, at->columns_log2, p->plan->limits.max_texture_size);
    t->layout.texture_x = (int)at->at.x * (in_buffer(p) && t->layout.half ? 2 : 1);
    t->layout.texture_y = (int)at->at.y;
}

/* A part has the columns of the whole, and begins with one of its rows, or is one tile. */
static void place_part(const packer *p, tsr_plan_tensor *t) {
    const tsr_plan_tensor *root = &p->plan->tensors[t->root];
    const tsr_layout *l = &root->layout;
    t->storage = root->storage;
    t->layout.texture_x = l->texture_x;
    t->layout.texture_y = l->texture_y;
    if (l->linear) {
        t->layout.texture_x += t->tile * l->h * l->w;
        return;
    }
    bool one = (int64_t)t->layout.n * t->layout.tiles == 1;
    tsr_layout_regrid(&t->layout, one ? 0 : l->columns_log2, p->plan->limits.max_texture_size);
    t->layout.texture_x += (t->tile & ((1 << l->columns_log2) - 1)) * l->tile_w;
    t->layout.texture_y += (t->tile >> l->columns_log2) * l->h;
}

static void apply(const packer *p) {
    tsr_plan *plan = p->plan;
    plan->storages = p->best.storages;
    plan->storage_count = p->best.storage_count;
    plan->tensor_bytes = p->best.bytes;
    for (int i = 0; i < p->item_count; i++) {
        int tensor = p->items[i].tensor;
        place_tensor(p, &plan->tensors[tensor], &p->best.places[tensor]);
    }
    for (int i = 1; i < plan->tensor_count; i++)
        if (plan->tensors[i].root != i)
            place_part(p, &plan->tensors[i]);
}

static bool make_packing(const tsr_plan *plan, int count, packing *made) {
    made->places = TSR_NEW(plan->arena, plan->tensor_count, place);
    made->storages = TSR_NEW(plan->arena, count, tsr_storage);
    made->newest = TSR_NEW(plan->arena, count, int);
    return made->places && made->storages && made->newest;
}

/* What passes and parts ask of tensors. */
static void list_demands(packer *p) {
    const tsr_plan *plan = p->plan;
    for (int i = 0; i < plan->tensor_count; i++) {
        p->last_write[i] = -1;
        p->most_columns_log2[i] = MAX_GRIDS - 2;
    }
    for (int i = 0; i < plan->pass_count; i++)
        p->last_write[plan->tensors[plan->passes[i].output].root] = i;
    for (int i = 1; i < plan->tensor_count; i++) {
        const tsr_plan_tensor *t = &plan->tensors[i];
        const tsr_layout *l = &t->layout, *whole = &plan->tensors[t->root].layout;
        int *most = &p->most_columns_log2[t->root];
        *most = tsr_layout_part_columns(t->tile, (int64_t)l->n * l->tiles,
                                        (int64_t)whole->n * whole->tiles, *most);
    }
}

tsr_status tsr_plan_pack(tsr_plan *plan) {
    packer p = {.plan = plan, .items = TSR_NEW(plan->arena, plan->tensor_count, item)};
    for (int i = 1; p.items && i < plan->tensor_count; i++)
        if (!plan->tensors[i].constant && plan->tensors[i].root == i &&
            (plan->tensors[i].first_pass >= 0 || plan->tensors[i].keep))
            p.items[p.item_count++].tensor = i;
    p.grids = TSR_NEW(plan->arena, plan->tensor_count, grids);
    p.last_write = TSR_NEW(plan->arena, plan->tensor_count, int);
    p.most_columns_log2 = TSR_NEW(plan->arena, plan->tensor_count, int);
    p.live = TSR_NEW(plan->arena, MAX_LIVE, const rect *);
    if (!p.items || !p.grids || !p.last_write || !p.most_columns_log2 || !p.live ||
        !make_packing(plan, p.item_count, &p.now) || !make_packing(plan, p.item_count, &p.best))
        return tsr_plan_out_of_memory(plan);
    list_demands(&p);
    for (int i = 0; i < p.item_count; i++)
        list_grids(&p, p.items[i].tensor, &p.grids[p.items[i].tensor]);
    try_packings(&p);
    apply(&p);
    return TSR_OK;
}
