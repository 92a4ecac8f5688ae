/* Places one tensor: in a corner between the tensors alive at the same time, or a little right of
 * it or below it, where the storages grow least and llvmpipe has work for several threads. Its tile
 * grid may get another shape for that. */
#include "plan/pack.h"

#include "base/divide.h"

#include <limits.h>
#include <string.h>

/* Of a storage with several tensors. Drivers do not report their largest texture in bytes
 * (llvmpipe's is 2 GiB); this many work. */
enum { MAX_SHARED_BYTES = 1 << 30 };

typedef struct choice {
    place place;
    uint64_t growth;
    uint64_t serial; /* tsr_pack_serial() */
} choice;

/* The best one for each combination of storages. */
enum { MAX_CHOICES = 16 };
typedef struct choices {
    choice list[MAX_CHOICES];
    int count;
} choices;

/* ---- shapes ---------------------------------------------------------------------------------- */

bool tsr_pack_in_buffer(const packer *p) {
    return p->plan->limits.max_buffer_bytes != 0;
}

static bool fits_device(const packer *p, int64_t w, int64_t h) {
    const tsr_layout_limits *limits = &p->plan->limits;
    if (tsr_pack_in_buffer(p))
        return (uint64_t)w * TSR_BUFFER_UNIT <= limits->max_buffer_bytes && w <= INT_MAX;
    return w <= limits->max_texture_size && h + TSR_ZERO_ROWS <= limits->max_texture_size;
}

static tsr_storage storage_for(const packer *p, int tensor, const grid *g) {
    const tsr_plan_tensor *t = &p->plan->tensors[tensor];
    tsr_texel_format format = tsr_pack_in_buffer(p) ? TSR_TEXEL_F32 : t->layout.format;
    return (tsr_storage){g->w,     g->h,       tsr_plan_storage_planes(t), format, t->plain,
                         t->alone, t->separate};
}

static int64_t texels(const tsr_layout *l) {
    return (int64_t)l->texture_w * l->texture_h;
}

/* llvmpipe rasterises blocks of 16x16 texels. Chooses a grid that covers the fewest blocks, among
 * those that slices allow and that need no more memory. Output tiles in the same block read the
 * same input texels, which are still in the CPU's cache; in a narrow grid these tiles are in
 * different blocks, and each fetches the input from memory again. A training step of the U-Net
 * takes 0.9 times as long. */
static void fill_blocks(const packer *p, int tensor, tsr_layout *l) {
    enum { BLOCK = 16 };
    const int64_t most = texels(l);
    l->shaded = BLOCK;
    tsr_layout other = *l;
    for (int log2 = 0; log2 <= p->most_columns_log2[tensor]; log2++)
        if (tsr_layout_regrid(&other, log2, p->plan->limits.max_texture_size) &&
            tsr_layout_shading_cost(&other) < tsr_layout_shading_cost(l) && texels(&other) <= most)
            *l = other;
}

void tsr_pack_list_grids(const packer *p, int tensor, grids *out) {
    const tsr_plan_tensor *t = &p->plan->tensors[tensor];
    const bool other_grids = !t->layout.linear && !t->plain && !t->alone;
    tsr_layout l = t->layout;
    if (other_grids && p->plan->device.software)
        fill_blocks(p, tensor, &l);
    const int first = l.columns_log2;
    out->count = 1;
    out->list[0] = (grid){l.texture_w, l.texture_h, l.columns_log2};
    if (l.buffer) {
        int64_t units = tsr_divide_up((int64_t)tsr_layout_bytes(&l), TSR_BINDING_ALIGNED);
        out->list[0].w = (int)units * (TSR_BINDING_ALIGNED / TSR_BUFFER_UNIT);
    }
    int64_t most = tsr_layout_max_shading_cost(&l);
    for (int log2 = 0; other_grids && log2 <= p->most_columns_log2[tensor]; log2++)
        if (log2 != first && tsr_layout_regrid(&l, log2, p->plan->limits.max_texture_size) &&
            tsr_layout_shading_cost(&l) <= most)
            out->list[out->count++] = (grid){l.texture_w, l.texture_h, log2};
}

/* ---- conflicts ------------------------------------------------------------------------------- */

static bool lifetimes_overlap(const tsr_plan_tensor *a, const tsr_plan_tensor *b) {
    return a->first_pass <= b->last_pass && b->first_pass <= a->last_pass;
}

static void mark_conflicts(const packer *p, int tensor) {
    const conflicts *c = &p->conflicts;
    for (int i = c->first[tensor]; i < c->first[tensor + 1]; i++)
        c->with[c->others[i]] = tensor;
}

/* Adds to p->live the tensors in a storage that are alive at the same time as this one; false if
 * they must not share it, or are too many. Those that are free for all that follow are taken off
 * the storage's list. */
static bool list_live(packer *p, int tensor, int storage) {
    const tsr_plan_tensor *tensors = p->plan->tensors;
    place *places = p->now.places;
    for (half_index *at = &p->now.newest[storage]; *at != TSR_NONE;) {
        int other = *at / 2;
        half_index *next = &places[other].next[*at % 2];
        p->compared++;
        if (p->by_time && tensors[other].last_pass < tensors[tensor].first_pass) {
            *at = *next;
            continue;
        }
        at = next;
        if (!lifetimes_overlap(&tensors[other], &tensors[tensor]))
            continue;
        if (p->live_count == TSR_MAX_LIVE || p->conflicts.with[other] == tensor)
            return false;
        p->live[p->live_count++] = &places[other].at;
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

static bool is_member(const packer *p, int storage) {
    for (int i = 0; i < p->member_count; i++)
        if (p->members[i] == storage)
            return true;
    return false;
}

/* Lists the storages that must have the same size after a tensor is placed in these: WebGL2 renders
 * only to textures of the same size. Returns that size. */
static grid list_members(packer *p, const int storages[2]) {
    grid size = {0};
    p->member_count = 0;
    for (int i = 0; i < 2 && storages[i] != TSR_NONE; i++)
        for (int j = storages[i]; !is_member(p, j); j = p->now.ring[j]) {
            p->members[p->member_count++] = j;
            size.w = (int)tsr_max(size.w, p->now.storages[j].texture_w);
            size.h = (int)tsr_max(size.h, p->now.storages[j].texture_h);
        }
    return size;
}

/* How many bytes the members grow with w x h texels each; false if that exceeds a limit. */
static bool find_growth(const packer *p, int64_t w, int64_t h, uint64_t *growth) {
    *growth = 0;
    for (int i = 0; i < p->member_count; i++) {
        const tsr_storage *s = &p->now.storages[p->members[i]];
        uint64_t bytes = tsr_storage_bytes(p->plan, s, w, h),
                 more = bytes - tsr_storage_bytes(p->plan, s, s->texture_w, s->texture_h);
        if (more && bytes > MAX_SHARED_BYTES)
            return false;
        *growth += more;
    }
    return fits_device(p, w, h);
}

static bool is_better(const packer *p, const choice *a, const choice *b) {
    if (p->bytes_first && a->growth != b->growth)
        return a->growth < b->growth;
    return a->growth + a->serial < b->growth + b->serial;
}

/* Where a tensor is tried. */
typedef struct trial {
    int tensor;
    int storages[2];
    grid size; /* current size of the members */
    const grid *grid;
} trial;

/* shift: of tsr_pack_serial(); 0 where this place needs too many bytes, as those beside it do then.
 */
static void try_at(const packer *p, const trial *t, int64_t x, int64_t y, int64_t shift[2],
                   choice *best) {
    const grid *g = t->grid;
    const rect r = {x, y, g->w, g->h};
    const place at = {r, g->columns_log2, {t->storages[0], t->storages[1]}, {TSR_NONE, TSR_NONE}};
    choice c = {.place = at};
    shift[0] = shift[1] = 0;
    if (!find_growth(p, tsr_max(t->size.w, x + g->w), tsr_max(t->size.h, y + g->h), &c.growth) ||
        !is_better(p, &c, best))
        return;
    c.serial = tsr_pack_serial(p, t->tensor, &r, g->columns_log2, shift);
    if (is_better(p, &c, best) && is_free(p, &r))
        *best = c;
}

static void try_corner(const packer *p, const trial *t, int64_t x, int64_t y, choice *best) {
    int64_t shift[2], unused[2];
    try_at(p, t, x, y, shift, best);
    if (shift[0])
        try_at(p, t, x + shift[0], y, unused, best);
    if (shift[1])
        try_at(p, t, x, y + shift[1], unused, best);
}

static bool can_share(packer *p, int tensor, int storage) {
    const tsr_storage *s = &p->now.storages[storage];
    const tsr_storage needed = storage_for(p, tensor, &p->grids[tensor].list[0]);
    return !s->plain && !s->alone && s->planes == needed.planes && s->format == needed.format &&
           list_live(p, tensor, storage);
}

/* A full list drops the worst. */
static void add_choice(const packer *p, choices *c, const choice *added) {
    int worst = 0;
    for (int i = 1; i < c->count; i++)
        if (is_better(p, &c->list[worst], &c->list[i]))
            worst = i;
    if (c->count < MAX_CHOICES)
        c->list[c->count++] = *added;
    else if (is_better(p, added, &c->list[worst]))
        c->list[worst] = *added;
}

/* Both halves of a tensor in two storages have the same position. */
static void try_storages(packer *p, int tensor, int low, int high, choices *out) {
    const grids *shapes = &p->grids[tensor];
    trial t = {tensor, {low, high}, {0}, NULL};
    choice best = {.growth = UINT64_MAX};
    p->live_count = 0;
    if (!can_share(p, tensor, low) || (high != TSR_NONE && !can_share(p, tensor, high)))
        return;
    t.size = list_members(p, t.storages);
    p->compared += (int64_t)shapes->count * (p->live_count + 1) *
                   (p->live_count + p->member_count) *
                   (p->work ? 2 : 1); /* some corners have places beside them */
    for (int i = 0; i < shapes->count; i++) {
        t.grid = &shapes->list[i];
        try_corner(p, &t, 0, 0, &best);
        for (int j = 0; j < p->live_count; j++) {
            const rect *r = p->live[j];
            try_corner(p, &t, r->x + r->w, r->y, &best);
            if (!tsr_pack_in_buffer(p))
                try_corner(p, &t, r->x, r->y + r->h, &best);
        }
    }
    if (best.growth != UINT64_MAX)
        add_choice(p, out, &best);
}

/* The grid for a new storage: the widest up to `width`; 0: the first, which suits the device. */
static const grid *first_grid(const grids *shapes, int width) {
    const grid *best = &shapes->list[0];
    for (int i = 0; width && i < shapes->count; i++) {
        const grid *g = &shapes->list[i];
        if (g->w <= width && (best->w > width || g->w > best->w))
            best = g;
    }
    return best;
}

/* Appends a storage without texels, for tensors like this one. */
static int add_storage(packer *p, int tensor) {
    const grid none = {0};
    int storage = p->now.storage_count++;
    p->now.storages[storage] = storage_for(p, tensor, &none);
    p->now.ring[storage] = storage;
    p->now.newest[storage] = TSR_NONE;
    return storage;
}

/* count: of storages that already hold tensors. */
static void try_all(packer *p, int tensor, bool two, int count, choices *out) {
    int most = two ? TSR_MAX_TRIED / 2 : TSR_MAX_TRIED;
    for (int low = (int)tsr_max(count - most, 0); low < count; low++) {
        if (!two)
            try_storages(p, tensor, low, TSR_NONE, out);
        for (int high = low + 1; two && high <= count; high++)
            try_storages(p, tensor, low, high, out);
    }
}

/* A new storage, or two. */
static choice try_new(packer *p, int tensor, const grid *g) {
    const tsr_plan_tensor *t = &p->plan->tensors[tensor];
    const tsr_storage made = storage_for(p, tensor, g);
    int low = add_storage(p, tensor), high = t->in_two ? add_storage(p, tensor) : TSR_NONE;
    const trial first = {tensor, {low, high}, {0}, g};
    choice best = {.growth = UINT64_MAX};
    p->live_count = 0;
    list_members(p, first.storages);
    if (!t->plain && !t->alone)
        try_corner(p, &first, 0, 0, &best);
    if (best.growth == UINT64_MAX)
        best = (choice){{{0, 0, g->w, g->h}, g->columns_log2, {low, high}, {TSR_NONE, TSR_NONE}},
                        tsr_storage_bytes(p->plan, &made, g->w, g->h) * (t->in_two ? 2 : 1),
                        0};
    return best;
}

/* New storages, and those that the tensor can share. */
static void list_choices(packer *p, int tensor, int width, choices *out) {
    const tsr_plan_tensor *t = &p->plan->tensors[tensor];
    const int count = p->now.storage_count;
    p->compared++;
    out->count = 1;
    out->list[0] = try_new(p, tensor, first_grid(&p->grids[tensor], width));
    mark_conflicts(p, tensor);
    if (!t->plain && !t->alone && !p->plan->keep_all)
        try_all(p, tensor, t->in_two, count, out);
}

static void settle(packer *p, int tensor, const choice *best) {
    packing *now = &p->now;
    const rect *at = &best->place.at;
    const int *storages = best->place.storages;
    const grid size = list_members(p, storages);
    for (int i = 0; i < p->member_count; i++) {
        tsr_storage *s = &now->storages[p->members[i]];
        s->texture_w = (int)tsr_max(size.w, at->x + at->w);
        s->texture_h = (int)tsr_max(size.h, at->y + at->h);
        now->ring[p->members[i]] = p->members[(i + 1) % p->member_count];
    }
    now->places[tensor] = best->place;
    now->bytes += best->growth;
    now->serial += best->serial;
    for (int i = 0; i < 2 && storages[i] != TSR_NONE; i++) {
        now->places[tensor].next[i] = now->newest[storages[i]];
        now->newest[storages[i]] = 2 * tensor + i;
    }
    while (now->storages[now->storage_count - 1].texture_w == 0) /* not chosen */
        now->storage_count--;
}

static int choose_least(const packer *p, const choices *c) {
    int best = 0;
    for (int i = 1; i < c->count; i++)
        if (is_better(p, &c->list[i], &c->list[best]))
            best = i;
    return best;
}

/* ---- lookahead ------------------------------------------------------------------------------- */

/* Without the places, which are overwritten when a tensor is placed again. */
static void copy_storages(packing *to, const packing *from) {
    size_t count = (size_t)from->storage_count;
    memcpy(to->storages, from->storages, count * sizeof *to->storages);
    memcpy(to->ring, from->ring, count * sizeof *to->ring);
    memcpy(to->newest, from->newest, count * sizeof *to->newest);
    to->storage_count = from->storage_count;
    to->bytes = from->bytes;
    to->serial = from->serial;
}

/* The choice after which the next items cost least; of equal ones the best. */
static int choose_ahead(packer *p, int item, int width, int ahead, const choices *c) {
    int best = 0;
    uint64_t least = UINT64_MAX;
    copy_storages(&p->saved, &p->now);
    for (int i = 0; i < c->count; i++) {
        settle(p, p->items[item].tensor, &c->list[i]);
        for (int j = item + 1; j <= item + ahead && j < p->item_count; j++)
            tsr_pack_place(p, j, width, 0);
        uint64_t needed = tsr_pack_cost(p, &p->now);
        if (needed < least || (needed == least && is_better(p, &c->list[i], &c->list[best]))) {
            least = needed;
            best = i;
        }
        copy_storages(&p->now, &p->saved);
    }
    return best;
}

void tsr_pack_place(packer *p, int item, int width, int ahead) {
    int tensor = p->items[item].tensor;
    choices c;
    list_choices(p, tensor, width, &c);
    bool look_ahead = ahead && c.count > 1 && p->compared < p->most_compared;
    int best = look_ahead ? choose_ahead(p, item, width, ahead, &c) : choose_least(p, &c);
    settle(p, tensor, &c.list[best]);
}
