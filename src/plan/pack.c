/* Assigns each tensor a storage and a position in it, in few bytes and, on llvmpipe, so that
 * threads share each pass. Tensors are placed greedily. No single order is good for every graph, so
 * several are tried; if all of them need much more than live_bytes_bound, again for bytes alone and
 * with lookahead. */
#include "plan/pack.h"

#include "base/divide.h"

#include <stdlib.h>

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

/* Bytes beyond 1.1 times the lower bound. */
static uint64_t excess(const packer *p, const packing *made) {
    const uint64_t most = p->plan->live_bytes_bound + p->plan->live_bytes_bound / 10;
    return made->bytes > most ? made->bytes - most : 0;
}

uint64_t tsr_pack_cost(const packer *p, const packing *made) {
    enum { EXCESS = 8 };
    return made->bytes + (EXCESS - 1) * excess(p, made) + made->serial;
}

/* Places the items in this order, and keeps the best packing. */
static void try_packing(packer *p, int width, int ahead) {
    p->now.storage_count = 0;
    p->now.bytes = p->now.serial = 0;
    for (int i = 0; i < p->item_count; i++)
        tsr_pack_place(p, i, width, ahead);
    if (tsr_pack_cost(p, &p->now) >= tsr_pack_cost(p, &p->best))
        return;
    const packing better = p->now;
    p->now = p->best;
    p->best = better;
}

/* Is there an excess, of enough bytes to matter? */
static bool needs_much(const packer *p) {
    enum { FEW_BYTES = 256 << 10 };
    return p->best.bytes > FEW_BYTES && excess(p, &p->best);
}

/* Bound the time of planning large graphs: rectangles compared, for each item, before nothing more
 * is tried; all of them for lookahead. More items are placed by their first passes only: then those
 * that are free need not be looked at. Four times as much lookahead saves at most 2 % of the bytes
 * of networks that were measured, but planning takes up to three times as long, which a page feels.
 */
enum { MAX_COMPARED = 1 << 13, MAX_AHEAD = 1 << 18, MAX_ITEMS = 1 << 12 };

static void try_orders(packer *p, int ahead) {
    static const int widths[] = {0, 16, 32, 64, 128, 256, 512};
    int width_count = tsr_pack_in_buffer(p) ? 1 : (int)(sizeof widths / sizeof *widths);
    for (int i = 0; i < ORDERS * width_count && p->compared < p->most_compared; i++) {
        order order = (enum order)(i / width_count);
        if (p->item_count > MAX_ITEMS && order != FIRST_WRITTEN)
            continue;
        sort_items(p, order);
        p->by_time = order == FIRST_WRITTEN && !ahead;
        try_packing(p, widths[i % width_count], ahead);
    }
}

static void try_packings(packer *p) {
    enum { ITEMS_AHEAD = 6 };
    p->best.serial = UINT64_MAX; /* none yet */
    p->most_compared = (int64_t)MAX_COMPARED * (p->item_count + 1);
    try_orders(p, 0);
    p->bytes_first = p->work && excess(p, &p->best);
    if (p->bytes_first)
        try_orders(p, 0);
    if (p->plan->keep_all || p->compared >= p->most_compared || !needs_much(p))
        return;
    p->most_compared = p->compared + MAX_AHEAD;
    try_orders(p, ITEMS_AHEAD);
}

static void place_tensor(const packer *p, tsr_plan_tensor *t, const place *at) {
    t->storage = at->storages[0];
    t->storage_high = at->storages[1];
    if (!t->layout.linear) /* one of list_grids: it fits */
        tsr_layout_regrid(&t->layout, at->columns_log2, p->plan->limits.max_texture_size);
    int per_unit = tsr_pack_in_buffer(p) ? TSR_BUFFER_UNIT / tsr_texel_bytes(t->layout.format) : 1;
    t->layout.texture_x = (int)at->at.x * per_unit;
    t->layout.texture_y = (int)at->at.y;
}

rect tsr_pack_slice(const tsr_plan_tensor *t, const rect *root, int columns_log2) {
    const tsr_layout *l = &t->layout;
    const int64_t tiles = (int64_t)l->n * l->tiles, column = t->tile & ((1 << columns_log2) - 1);
    return (rect){root->x + column * l->tile_w, root->y + (t->tile >> columns_log2) * l->h,
                  tiles == 1 ? l->tile_w : root->w,
                  tsr_divide_up(tiles, (int64_t)1 << columns_log2) * l->h};
}

static void place_slice(const packer *p, tsr_plan_tensor *t) {
    const tsr_plan_tensor *root = &p->plan->tensors[t->root];
    const tsr_layout *l = &root->layout;
    t->storage = root->storage;
    if (l->linear) {
        t->layout.texture_x = l->texture_x + t->tile * l->h * l->w;
        t->layout.texture_y = l->texture_y;
        return;
    }
    const rect at = {l->texture_x, l->texture_y, l->texture_w, l->texture_h},
               slice = tsr_pack_slice(t, &at, l->columns_log2);
    bool one = (int64_t)t->layout.n * t->layout.tiles == 1;
    tsr_layout_regrid(&t->layout, one ? 0 : l->columns_log2, p->plan->limits.max_texture_size);
    t->layout.texture_x = (int)slice.x;
    t->layout.texture_y = (int)slice.y;
}

/* One more texel is much memory where a side has few. */
static int choose_side(const tsr_plan *plan, int side) {
    enum { FEW = 64 };
    return side < FEW ? side : tsr_texture_side(plan, side);
}

static void choose_sides(tsr_plan *plan, tsr_storage *s) {
    if (s->plain)
        return;
    plan->tensor_bytes -= tsr_storage_bytes(plan, s, s->texture_w, s->texture_h);
    s->texture_w = choose_side(plan, s->texture_w);
    s->texture_h = choose_side(plan, s->texture_h + TSR_ZERO_ROWS) - TSR_ZERO_ROWS;
    plan->tensor_bytes += tsr_storage_bytes(plan, s, s->texture_w, s->texture_h);
}

static void apply(const packer *p) {
    tsr_plan *plan = p->plan;
    plan->storages = p->best.storages;
    plan->storage_count = p->best.storage_count;
    plan->tensor_bytes = p->best.bytes;
    for (int i = 0; i < plan->storage_count; i++)
        choose_sides(plan, &plan->storages[i]);
    for (int i = 0; i < p->item_count; i++) {
        int tensor = p->items[i].tensor;
        place_tensor(p, &plan->tensors[tensor], &p->best.places[tensor]);
    }
    for (int i = 1; i < plan->tensor_count; i++)
        if (plan->tensors[i].root != i)
            place_slice(p, &plan->tensors[i]);
}

static bool make_packing(const tsr_plan *plan, int count, packing *made) {
    made->places = TSR_NEW(plan->arena, plan->tensor_count, place);
    made->storages = TSR_NEW(plan->arena, 2 * count, tsr_storage);
    made->ring = TSR_NEW(plan->arena, 2 * count, int);
    made->newest = TSR_NEW(plan->arena, 2 * count, half_index);
    return made->places && made->storages && made->ring && made->newest;
}

/* What passes and slices require of tensors. */
static void list_requirements(packer *p) {
    const tsr_plan *plan = p->plan;
    for (int i = 0; i < plan->tensor_count; i++)
        p->most_columns_log2[i] = TSR_MAX_GRIDS - 2;
    for (int i = 1; i < plan->tensor_count; i++) {
        const tsr_plan_tensor *t = &plan->tensors[i];
        const tsr_layout *l = &t->layout, *whole = &plan->tensors[t->root].layout;
        int *most = &p->most_columns_log2[t->root];
        *most = tsr_layout_slice_columns(t->tile, (int64_t)l->n * l->tiles,
                                         (int64_t)whole->n * whole->tiles, *most);
    }
}

/* Counts or, if there is a list, adds what each pass reads and writes to each other's conflicts. */
static void visit_conflicts(const tsr_plan *plan, int *counts, int *others) {
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        int written = plan->tensors[pass->output].root; /* what it writes beside it is alone */
        for (int s = 0; s < tsr_pass_count_reads(pass); s++) {
            int read = plan->tensors[tsr_pass_read(pass, s)].root;
            int *of_written = &counts[written], *of_read = &counts[read];
            if (others) {
                others[*of_written] = read;
                others[*of_read] = written;
            }
            ++*of_written;
            ++*of_read;
        }
    }
}

static bool list_conflicts(const tsr_plan *plan, conflicts *c) {
    int count = plan->tensor_count, total = 0;
    c->with = TSR_NEW(plan->arena, count, int);
    c->first = TSR_NEW(plan->arena, count + 2, int);
    if (!c->with || !c->first)
        return false;
    int *next = c->first + 1; /* is c->first of the tensor after it once its list is complete */
    visit_conflicts(plan, next, NULL);
    for (int i = 0; i < count; i++) {
        int of_this = next[i];
        next[i] = total;
        total += of_this;
    }
    c->others = TSR_NEW(plan->arena, total, int);
    if (c->others)
        visit_conflicts(plan, next, c->others);
    return c->others;
}

tsr_status tsr_plan_pack(tsr_plan *plan) {
    packer p = {.plan = plan, .items = TSR_NEW(plan->arena, plan->tensor_count, item)};
    for (int i = 1; p.items && i < plan->tensor_count; i++)
        if (!plan->tensors[i].constant && plan->tensors[i].root == i &&
            (plan->tensors[i].first_pass >= 0 || plan->tensors[i].keep))
            p.items[p.item_count++].tensor = i;
    p.grids = TSR_NEW(plan->arena, plan->tensor_count, grids);
    p.most_columns_log2 = TSR_NEW(plan->arena, plan->tensor_count, int);
    p.live = TSR_NEW(plan->arena, TSR_MAX_LIVE, const rect *);
    p.members = TSR_NEW(plan->arena, 2 * p.item_count, int);
    if (!p.items || !p.grids || !p.most_columns_log2 || !p.live || !p.members ||
        !list_conflicts(plan, &p.conflicts) || !tsr_pack_list_work(&p) ||
        !make_packing(plan, p.item_count, &p.now) || !make_packing(plan, p.item_count, &p.best) ||
        !make_packing(plan, p.item_count, &p.saved))
        return tsr_plan_out_of_memory(plan);
    list_requirements(&p);
    for (int i = 0; i < p.item_count; i++)
        tsr_pack_list_grids(&p, p.items[i].tensor, &p.grids[p.items[i].tensor]);
    try_packings(&p);
    apply(&p);
    return TSR_OK;
}
