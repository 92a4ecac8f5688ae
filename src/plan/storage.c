/* Lifetimes of tensors, and the bytes that follow from them. */
#include "plan/plan.h"

#include "base/divide.h"
#include "base/error.h"

#include <string.h>

static void mark_kept(tsr_plan *plan) {
    const tsr_graph *graph = plan->graph;
    for (int i = 0; i < graph->input_count; i++)
        if (plan->value_tensor[graph->inputs[i]] != TSR_NONE)
            plan->tensors[plan->value_tensor[graph->inputs[i]]].keep = true;
    for (int i = 0; i < graph->output_count; i++)
        if (plan->value_tensor[graph->outputs[i]] != TSR_NONE)
            plan->tensors[plan->value_tensor[graph->outputs[i]]].keep = true;
    for (int i = 0; plan->keep_all && i < plan->tensor_count; i++)
        plan->tensors[i].keep = true;
}

void tsr_plan_find_lifetimes(tsr_plan *plan) {
    tsr_plan_tensor *tensors = plan->tensors;
    for (int i = 0; i < plan->tensor_count; i++)
        tensors[i].first_pass = tensors[i].last_pass = -1;
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        for (int j = 0; j < tsr_pass_count_writes(pass); j++) {
            tsr_plan_tensor *output = &tensors[tensors[tsr_pass_written(pass, j)].root];
            if (output->first_pass < 0)
                output->first_pass = i;
            output->last_pass = i;
        }
        for (int j = 0; j < tsr_pass_count_reads(pass); j++) {
            const tsr_plan_tensor *read = &tensors[tsr_pass_read(pass, j)];
            if (!tsr_tensor_has_blocks(read)) /* else its copy is read */
                tensors[read->root].last_pass = i;
        }
    }
    for (int i = 0; i < plan->tensor_count; i++)
        if (tensors[i].keep)
            tensors[tensors[i].root].last_pass = plan->pass_count;
    for (int i = 0; i < plan->tensor_count; i++) {
        tensors[i].first_pass = tensors[tensors[i].root].first_pass;
        tensors[i].last_pass = tensors[tensors[i].root].last_pass;
    }
}

int tsr_plan_storage_planes(const tsr_plan_tensor *t) {
    return t->in_two ? t->layout.planes / 2 : t->layout.planes;
}

static bool is_in(const tsr_plan_tensor *t, int storage) {
    return storage != TSR_NONE && (t->storage == storage || t->storage_high == storage);
}

/* What is kept is readable between runs, so before its pass, too. */
static bool readable(const tsr_plan_tensor *t, int pass) {
    return t->keep || (t->first_pass <= pass && pass <= t->last_pass);
}

bool tsr_plan_clears(const tsr_plan *plan, int pass) {
    const tsr_plan_tensor *tensors = plan->tensors;
    int output = plan->passes[pass].output, root = tensors[output].root;
    const tsr_plan_tensor *t = &tensors[root];
    if (plan->passes[pass].kind != TSR_PASS_DRAW || t->first_pass != pass ||
        tsr_pass_writes_more(&plan->passes[pass]))
        return false;
    const tsr_storage *s = &plan->storages[t->storage];
    const tsr_layout *l = &tensors[output].layout; /* of what is drawn: a slice, maybe */
    int64_t all = (int64_t)s->texture_w * (s->texture_h + TSR_ZERO_ROWS);
    if (all >= 2 * (int64_t)l->texture_w * l->texture_h)
        return false;
    for (int i = 1; i < plan->tensor_count; i++) {
        const tsr_plan_tensor *other = &tensors[i];
        bool shares = is_in(other, t->storage) || is_in(other, t->storage_high);
        if (other->root != root && shares && readable(other, pass))
            return false;
    }
    return true;
}

uint64_t tsr_storage_bytes(const tsr_plan *plan, const tsr_storage *s, int64_t w, int64_t h) {
    bool has_zero_rows = !plan->limits.max_buffer_bytes && !s->plain;
    uint64_t rows = (uint64_t)h + (has_zero_rows ? TSR_ZERO_ROWS : 0);
    return (uint64_t)w * rows * (uint64_t)s->planes * (uint64_t)tsr_texel_bytes(s->format);
}

/* Of the tiles alone, without padding of the grid. */
static uint64_t tile_bytes(const tsr_layout *l) {
    return (uint64_t)l->n * (uint64_t)l->tiles * (uint64_t)l->h * (uint64_t)l->tile_w *
           (uint64_t)l->planes * (uint64_t)tsr_texel_bytes(l->format);
}

uint64_t tsr_plan_live_bytes(const tsr_plan *plan, uint64_t *change) {
    uint64_t live = 0, most = 0;
    memset(change, 0, ((size_t)plan->pass_count + 1) * sizeof *change);
    for (int j = 1; j < plan->tensor_count; j++) {
        const tsr_plan_tensor *t = &plan->tensors[j];
        if (t->constant || t->root != j || (t->first_pass < 0 && !t->keep))
            continue;
        change[t->first_pass < 0 || t->alone ? 0 : t->first_pass] += tile_bytes(&t->layout);
        if (t->last_pass < plan->pass_count && !t->alone)
            change[t->last_pass + 1] -= tile_bytes(&t->layout);
    }
    for (int i = 0; i < plan->pass_count; i++) {
        live += change[i]; /* modulo 2^64: the sum is right */
        most = live > most ? live : most;
    }
    return most;
}

static void count_constants(tsr_plan *plan) {
    for (int j = 1; j < plan->tensor_count; j++)
        if (plan->tensors[j].constant)
            plan->constant_bytes += tsr_layout_bytes(&plan->tensors[j].layout);
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_table *t = &plan->passes[i].table;
        if (!t->tensor)
            plan->constant_bytes +=
                (uint64_t)t->width * (uint64_t)t->height * tsr_table_texel_bytes(t->format);
    }
}

static int64_t copied_bytes(const tsr_layout *l) {
    return (int64_t)(tsr_layout_floats(l) * sizeof(float));
}

/* The buffer starts with room for a tensor that is copied just before the pass that reads it.
 * Joined tensors follow, each copied right after the pass that writes it. The end is padding:
 * uniform blocks of several rows are bound whole, and may extend past a tensor's last row. */
static void count_copied_blocks(tsr_plan *plan) {
    int64_t bytes = 0, more = 0;
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        const int tensor = tsr_pass_blocks_tensor(pass);
        if (!tensor)
            continue;
        const tsr_plan_tensor *t = &plan->tensors[tensor];
        if (!tsr_tensor_has_blocks(t))
            bytes = tsr_max(bytes, copied_bytes(&t->layout));
        more =
            tsr_max(more, (int64_t)(pass->block_rows - 1) * t->layout.w * 4 * (int)sizeof(float));
    }
    for (int i = 1; i < plan->tensor_count; i++) {
        tsr_plan_tensor *t = &plan->tensors[i];
        if (!tsr_tensor_has_blocks(t) || t->root != i)
            continue;
        t->blocks_at = bytes;
        bytes += copied_bytes(&t->layout);
    }
    plan->copied_blocks_bytes = (uint64_t)(bytes + more);
}

static void count_separate(tsr_plan *plan) {
    for (int i = 0; i < plan->storage_count; i++) {
        const tsr_storage *s = &plan->storages[i];
        if (s->separate)
            plan->separate_bytes += tsr_storage_bytes(plan, s, s->texture_w, s->texture_h);
    }
}

static uint64_t needed_bytes(const tsr_plan *plan) {
    return plan->tensor_bytes + plan->constant_bytes + plan->copied_blocks_bytes;
}

static tsr_status check_memory(tsr_plan *plan, uint64_t max_bytes) {
    uint64_t needed = needed_bytes(plan);
    plan->needs_more = max_bytes && needed > max_bytes;
    if (plan->needs_more)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY,
                        "%s: tensors and weights need %llu MiB, max_bytes is %llu MiB",
                        plan->graph->file, (unsigned long long)(needed >> 20),
                        (unsigned long long)(max_bytes >> 20));
    return TSR_OK;
}

static tsr_status pack(tsr_plan *plan) {
    TSR_TRY(tsr_plan_pack(plan));
    count_copied_blocks(plan);
    return TSR_OK;
}

tsr_status tsr_plan_assign_storages(tsr_plan *plan, uint64_t max_bytes) {
    mark_kept(plan);
    TSR_TRY(tsr_plan_place_slices(plan));
#ifndef TSR_WITHOUT_GRADIENT /* it is for training */
    TSR_TRY(tsr_plan_join_packings(plan, max_bytes));
#endif
    tsr_plan_find_lifetimes(plan);
    uint64_t *change = TSR_NEW(plan->arena, plan->pass_count + 1, uint64_t);
    if (!change)
        return tsr_plan_out_of_memory(plan);
    plan->live_bytes_bound = tsr_plan_live_bytes(plan, change);
    count_constants(plan);
    TSR_TRY(pack(plan));
    /* Memory comes before time. */
    if (plan->device.bins && max_bytes && needed_bytes(plan) > max_bytes) {
        plan->device.bins = false;
        TSR_TRY(pack(plan));
    }
    count_separate(plan);
    return check_memory(plan, max_bytes);
}
