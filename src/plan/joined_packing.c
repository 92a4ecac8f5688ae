/* Weights that are slices of one tensor, as those that an optimizer updates together are, are
 * packed by one pass, before the first that reads them: a GPU takes as long for few texels as for
 * many. What is packed for each are slices of one tensor, too. In buffers. */
#include "plan/plan.h"

#include "base/divide.h"

#include <string.h>

/* Slices begin at multiples of so many texels: of TSR_BINDING_ALIGNED bytes. */
enum { UNIT = 16 };
/* Of what is packed for one convolution, larger ones have passes of their own, since all take
 * memory until the last is read; of what is packed by one pass. */
enum { MOST_BYTES = 1 << 21, MOST_BYTES_TOGETHER = 1 << 25 };

typedef struct packing {
    int pass, root; /* root: the tensor that the weights are a slice of */
    int64_t first;  /* element of the root */
    int64_t unit;   /* where the slice of what is packed begins */
    bool joined;
} packing;

static int64_t count_texels(const tsr_plan *plan, const packing *p) {
    const tsr_table *places = &plan->passes[p->pass].table;
    return (int64_t)places->width * places->height;
}

/* Of weights that are whole images of a tensor that no pass writes. */
static bool find_packing(const tsr_plan *plan, int i, packing *p) {
    const tsr_pass *pass = &plan->passes[i];
    if (pass->kernel != &tsr_kernel_pack_weights)
        return false;
    const tsr_layout *packed = tsr_plan_layout(plan, pass->output);
    const tsr_plan_tensor *weights = &plan->tensors[pass->sources[0]],
                          *root = &plan->tensors[weights->root];
    const tsr_layout *l = &weights->layout, *whole = &root->layout;
    *p = (packing){.pass = i,
                   .root = weights->root,
                   .first = (int64_t)weights->tile / l->tiles * l->c * l->h * l->w};
    return packed->format == TSR_TEXEL_F32 && tsr_layout_bytes(packed) <= MOST_BYTES &&
           root->first_pass < 0 && l->c == whole->c && l->h == whole->h && l->w == whole->w;
}

/* ---- the table of places: see set_places() of src/algorithm/packed_weights.c ---- */

static void copy_places(const void *data, int64_t first, int64_t count, float *texels) {
    const float *const *places = data;
    memcpy(texels + first * 4, *places + first * 4, (size_t)count * 4 * sizeof *texels);
}

/* Numbers of elements of the root, where there were those of the slice. */
static void fill_places(const tsr_plan *plan, const packing *p, float *places) {
    const tsr_table *own = &plan->passes[p->pass].table;
    const int64_t count = count_texels(plan, p) * 4;
    own->pack(own->data, 0, own->units, places);
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &places[i], sizeof bits);
        bits += bits ? (uint32_t)p->first : 0;
        memcpy(&places[i], &bits, sizeof bits);
    }
}

static void set_places(tsr_plan *plan, tsr_pass *pass, const packing *list, int count,
                       int64_t texels) {
    float *places = TSR_NEW(plan->arena, texels * 4, float);
    if (!places) {
        tsr_plan_out_of_memory(plan);
        return;
    }
    tsr_table table = {.pack = copy_places,
                       .units = texels,
                       .width = (int)texels,
                       .height = 1,
                       .dense = true,
                       .shared = true,
                       .key = tsr_cache_key_start()};
    tsr_cache_key_add(&table.key, "joined places");
    for (int i = 0; i < count; i++) {
        const int64_t numbers[] = {list[i].first, list[i].unit};
        const tsr_cache_key *own = &plan->passes[list[i].pass].table.key;
        fill_places(plan, &list[i], places + list[i].unit * UNIT * 4);
        tsr_cache_key_add_bytes(&table.key, own, sizeof *own);
        tsr_cache_key_add_bytes(&table.key, numbers, sizeof numbers);
    }
    tsr_pass_table(plan, pass, &table, &places, sizeof places);
}

/* ---- passes ---- */

/* The first one's pass becomes that of all. */
static void join(tsr_plan *plan, packing *list, int count) {
    int64_t units = 0;
    for (int i = 0; i < count; i++) {
        list[i].unit = units;
        units += tsr_divide_up(count_texels(plan, &list[i]), UNIT);
    }
    const tsr_shape shape = {4, {units, 4, 1, UNIT}};
    int packed = tsr_plan_tensor_make(plan, &shape, (tsr_layout_hint){.planes = 1});
    tsr_pass *pass = TSR_PASS(plan, packed, pack_weights, .X = TSR_TENSOR(list[0].root),
                              .width_log2 = TSR_INT(0));
    if (plan->status != TSR_OK)
        return;
    set_places(plan, pass, list, count, units * UNIT);
    for (int i = 0; i < count; i++) {
        tsr_plan_tensor *slice = &plan->tensors[plan->passes[list[i].pass].output];
        slice->root = packed;
        slice->tile = (int)list[i].unit;
    }
    pass->node = plan->passes[list[0].pass].node;
    plan->passes[list[0].pass] = *pass;
    plan->pass_count--;
}

/* Those of one root, from packing i on, that one pass can pack; those but the first are marked.
 * Returns how many. */
static int list_same(const tsr_plan *plan, packing *all, int count, int i, packing *list) {
    int found = 0;
    int64_t bytes = 0;
    for (int k = i; k < count && bytes <= MOST_BYTES_TOGETHER - MOST_BYTES; k++)
        if (all[k].root == all[i].root && !all[k].joined) {
            bytes += count_texels(plan, &all[k]) * tsr_texel_bytes(TSR_TEXEL_F32);
            all[k].joined = found > 0;
            list[found++] = all[k];
        }
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

/* Tensors then take at most a quarter of the memory that there may be, before they are placed:
 * memory comes before time. */
static bool has_room(const tsr_plan *plan, const packing *all, int count, uint64_t *change,
                     uint64_t max_bytes) {
    uint64_t bytes = tsr_plan_live_bytes(plan, change);
    for (int i = 0; i < count; i++)
        bytes += (uint64_t)(count_texels(plan, &all[i]) * tsr_texel_bytes(TSR_TEXEL_F32));
    return !max_bytes || bytes <= max_bytes / 4;
}

tsr_status tsr_plan_join_packings(tsr_plan *plan, uint64_t max_bytes) {
    packing *all = TSR_NEW(plan->arena, plan->pass_count + 1, packing),
            *list = TSR_NEW(plan->arena, plan->pass_count + 1, packing);
    uint64_t *change = TSR_NEW(plan->arena, plan->pass_count + 1, uint64_t);
    int count = 0;
    if (!all || !list || !change)
        return tsr_plan_out_of_memory(plan);
    tsr_plan_find_lifetimes(plan);
    for (int i = 0; i < plan->pass_count && plan->limits.max_buffer_bytes; i++)
        count += find_packing(plan, i, &all[count]);
    if (plan->low_memory || !has_room(plan, all, count, change, max_bytes))
        return TSR_OK;
    for (int i = 0; i < count && plan->status == TSR_OK; i++) {
        int same = all[i].joined ? 0 : list_same(plan, all, count, i, list);
        if (same > 1)
            join(plan, list, same);
    }
    remove_joined(plan, all, count);
    return plan->status;
}
