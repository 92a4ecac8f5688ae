/* Where a tensor lies: in a corner that what is alive at the same time leaves, where the storages
 * grow least; a tile grid may take another shape for that. */
#include "plan/pack.h"

#include <limits.h>

enum { BUFFER_UNIT = 16 }; /* bytes that storages of buffers are counted in */

/* That tensors beside each other take: drivers have textures of so many bytes at least (llvmpipe's
 * bound is two GiB) and do not tell how many more. */
enum { MAX_SHARED_BYTES = 1 << 30 };

typedef struct choice {
    place place;
    uint64_t growth;
} choice;

/* ---- shapes ---------------------------------------------------------------------------------- */

bool tsr_pack_in_buffer(const packer *p) {
    return p->plan->limits.max_buffer_bytes != 0;
}

static uint64_t bytes_of(const packer *p, const tsr_storage *s, int64_t w, int64_t h) {
    uint64_t rows = (uint64_t)h + (tsr_pack_in_buffer(p) || s->plain ? 0 : TSR_ZERO_ROWS);
    return (uint64_t)w * rows * (uint64_t)s->planes * (s->half ? 8 : 16);
}

static bool fits_device(const packer *p, int64_t w, int64_t h) {
    const tsr_layout_limits *limits = &p->plan->limits;
    if (tsr_pack_in_buffer(p))
        return (uint64_t)w * BUFFER_UNIT <= limits->max_buffer_bytes && w <= INT_MAX;
    return w <= limits->max_texture_size && h + TSR_ZERO_ROWS <= limits->max_texture_size;
}

static tsr_storage storage_for(const packer *p, int tensor, const grid *g) {
    const tsr_plan_tensor *t = &p->plan->tensors[tensor];
    return (tsr_storage){g->w, g->h, t->layout.planes, !tsr_pack_in_buffer(p) && t->layout.half,
                         t->plain};
}

void tsr_pack_list_grids(const packer *p, int tensor, grids *out) {
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
        if (p->live_count == TSR_MAX_LIVE || written_from(p, i, tensor) ||
            written_from(p, tensor, i))
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
            if (!tsr_pack_in_buffer(p))
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

void tsr_pack_put_down(packer *p, int tensor, int width) {
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
