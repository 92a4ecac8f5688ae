/* Several pack_weights passes become one where their weights are slices of the same tensor, such as
 * those that an optimizer updates together: a small pass takes a GPU as long as a larger one. The
 * one pass runs where the first of them did. Its output is one tensor, of which each convolution
 * reads a slice: of a buffer on WebGPU; in OpenGL ES of a texture that is copied, right after the
 * pass, to a buffer of uniform blocks. */
#include "plan/plan.h"

#include "base/divide.h"

#include <string.h>

/* A slice is bound by its offset in the buffer, a multiple of TSR_BINDING_ALIGNED bytes: it begins
 * at a multiple of this many texels, of four 32-bit floats each. */
enum { UNIT = TSR_BINDING_ALIGNED / 16 };
/* Of what is packed for one convolution, larger ones have passes of their own, since all take
 * memory until the last is read; of all that is packed together. */
enum { MOST_BYTES = 1 << 21, MOST_BYTES_TOGETHER = 1 << 25 };

typedef struct packing {
    int pass, root; /* root: the tensor that the weights are a slice of */
    int64_t first;  /* element of the root */
    int64_t texels; /* of what is packed */
    int64_t unit;   /* where its slice begins */
    bool joined;
} packing;

static int64_t count_units(const packing *p) {
    return tsr_divide_up(p->texels, UNIT);
}

/* Can pass i be joined? Its weights have to be whole images of a tensor that no pass writes, as
 * they are stored, and its result no texture that a kernel reads by rows. */
static bool find_packing(const tsr_plan *plan, int i, packing *p) {
    const tsr_pass *pass = &plan->passes[i];
    if (pass->kernel != &tsr_kernel_pack_weights || plan->tensors[pass->output].plain)
        return false;
    const tsr_layout *packed = tsr_plan_layout(plan, pass->output);
    const tsr_plan_tensor *weights = &plan->tensors[pass->sources[0]],
                          *root = &plan->tensors[weights->root];
    const tsr_layout *l = &weights->layout, *whole = &root->layout;
    *p = (packing){.pass = i,
                   .root = weights->root,
                   .first = (int64_t)weights->tile / l->tiles * l->c * l->h * l->w,
                   .texels = (int64_t)packed->h * packed->w};
    return !weights->view_of && packed->format == TSR_TEXEL_F32 &&
           tsr_layout_bytes(packed) <= MOST_BYTES && root->first_pass < 0 && l->c == whole->c &&
           l->h == whole->h && l->w == whole->w;
}

/* ---- the table of places: see set_places() of src/algorithm/packed_weights.c ---- */

typedef struct joined_part {
    tsr_table places;
    int64_t first, texels, at; /* at: texel of the joined table */
} joined_part;

/* Units are parts. Numbers of elements of the root, where there were those of the slice. */
static void pack_parts(const void *data, int64_t first, int64_t count, float *texels) {
    const joined_part *const *parts = data;
    for (const joined_part *p = *parts + first; p < *parts + first + count; p++) {
        float *places = texels + p->at * 4;
        p->places.pack(p->places.data, 0, p->places.units, places);
        for (int64_t i = 0; i < p->texels * 4; i++) {
            uint32_t bits;
            memcpy(&bits, &places[i], sizeof bits);
            bits += bits ? (uint32_t)p->first : 0;
            memcpy(&places[i], &bits, sizeof bits);
        }
    }
}

static void set_places(tsr_plan *plan, tsr_pass *pass, const packing *list, int count,
                       tsr_table_size size) {
    joined_part *parts = TSR_NEW(plan->arena, count, joined_part);
    if (!parts) {
        tsr_plan_out_of_memory(plan);
        return;
    }
    tsr_table table = {.pack = pack_parts,
                       .units = count,
                       .width = size.width,
                       .height = size.height,
                       .shared = true,
                       .key = tsr_cache_key_start()};
    tsr_cache_key_add(&table.key, "joined places");
    for (int i = 0; i < count; i++) {
        const int64_t numbers[] = {list[i].first, list[i].unit};
        parts[i] = (joined_part){plan->passes[list[i].pass].table, list[i].first, list[i].texels,
                                 list[i].unit * UNIT};
        tsr_cache_key_add_bytes(&table.key, &parts[i].places.key, sizeof parts[i].places.key);
        tsr_cache_key_add_bytes(&table.key, numbers, sizeof numbers);
    }
    tsr_pass_table(plan, pass, &table, &parts, sizeof parts);
}

/* ---- passes ---- */

/* The first one's pass becomes that of all. */
static void join(tsr_plan *plan, packing *list, int count) {
    int64_t units = 0;
    for (int i = 0; i < count; i++) {
        list[i].unit = units;
        units += count_units(&list[i]);
    }
    const tsr_shape shape = {4, {units, 4, 1, UNIT}};
    const tsr_table_size size = tsr_table_entries(plan, TSR_TABLE_F32, 1, units * UNIT);
    int packed = tsr_plan_tensor_make(plan, &shape, (tsr_layout_hint){.planes = 1});
    tsr_pass *pass = TSR_PASS(plan, packed, pack_weights, .X = TSR_TENSOR(list[0].root),
                              .width_log2 = TSR_INT(size.entries_log2));
    if (plan->status != TSR_OK)
        return;
    set_places(plan, pass, list, count, size);
    plan->tensors[packed].blocks = !plan->limits.max_buffer_bytes;
    for (int i = 0; i < count; i++) {
        tsr_plan_tensor *slice = &plan->tensors[plan->passes[list[i].pass].output];
        slice->root = packed;
        slice->blocks = plan->tensors[packed].blocks;
        slice->tile = (int)list[i].unit;
    }
    pass->node = plan->passes[list[0].pass].node;
    plan->passes[list[0].pass] = *pass;
    plan->pass_count--;
}

/* Of the largest buffer; of textures, whose width is a power of two, a lower bound. */
static uint64_t largest_bytes(const tsr_plan *plan) {
    const int64_t side = plan->limits.max_texture_size,
                  texels = (side / 2) * (side - TSR_ZERO_ROWS);
    return plan->limits.max_buffer_bytes ? plan->limits.max_buffer_bytes
                                         : (uint64_t)(texels * tsr_texel_bytes(TSR_TEXEL_F32));
}

/* Those of one root, from packing i on, whose results fit a buffer or texture and *room; those but
 * the first are marked. Returns how many. */
static int list_same(const tsr_plan *plan, packing *all, int count, int i, packing *list,
                     uint64_t *room) {
    const uint64_t largest = largest_bytes(plan), most = largest < *room ? largest : *room;
    uint64_t together = 0;
    int found = 0;
    for (int k = i; k < count; k++) {
        uint64_t bytes = (uint64_t)count_units(&all[k]) * TSR_BINDING_ALIGNED;
        if (all[k].root != all[i].root || all[k].joined || bytes > most - together)
            continue;
        together += bytes;
        all[k].joined = found > 0;
        list[found++] = all[k];
    }
    *room -= found > 1 ? together : 0;
    return found;
}

static void remove_joined(tsr_plan *plan, const packing *all, int count) {
    int kept = 0;
    for (int i = 0, k = 0; i < plan->pass_count; i++) {
        bool is_next = k < count && all[k].pass == i;
        if (!is_next || !all[k].joined)
            plan->passes[kept++] = plan->passes[i];
        k += is_next;
    }
    plan->pass_count = kept;
}

static bool packs_weights(const tsr_plan *plan) {
    for (int i = 0; i < plan->pass_count; i++)
        if (plan->passes[i].kernel == &tsr_kernel_pack_weights)
            return true;
    return false;
}

tsr_status tsr_plan_join_packings(tsr_plan *plan, uint64_t max_bytes) {
    uint64_t room = MOST_BYTES_TOGETHER;
    int count = 0;
    if (!packs_weights(plan))
        return TSR_OK;
    packing *all = TSR_NEW(plan->arena, plan->pass_count + 1, packing),
            *list = TSR_NEW(plan->arena, plan->pass_count + 1, packing);
    uint64_t *change = TSR_NEW(plan->arena, plan->pass_count + 1, uint64_t);
    if (!all || !list || !change)
        return tsr_plan_out_of_memory(plan);
    tsr_plan_find_lifetimes(plan);
    for (int i = 0; i < plan->pass_count; i++)
        count += find_packing(plan, i, &all[count]);
    /* Memory comes before time. */
    if (count == 0 || (max_bytes && tsr_plan_live_bytes(plan, change) + room > max_bytes / 4))
        return TSR_OK;
    for (int i = 0; i < count && plan->status == TSR_OK; i++) {
        int same = all[i].joined ? 0 : list_same(plan, all, count, i, list, &room);
        if (same > 1)
            join(plan, list, same);
    }
    remove_joined(plan, all, count);
    return plan->status;
}
