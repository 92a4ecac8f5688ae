/* How long each tensor lives, which storage it shares, and how many bytes that makes. */
#include "plan/plan.h"

#include "base/error.h"

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

static void find_lifetimes(tsr_plan *plan) {
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        if (pass->kind != TSR_PASS_CPU)
            plan->tensors[pass->output].first_pass = i;
        if (plan->tensors[pass->output].last_pass < i)
            plan->tensors[pass->output].last_pass = i;
        for (int j = 0; j < pass->source_count; j++)
            plan->tensors[pass->sources[j]].last_pass = i;
    }
}

/* A free storage that the tensor fits without wasting a fifth, else a new one. */
static int choose_storage(tsr_plan *plan, const tsr_plan_tensor *t) {
    const tsr_layout *l = &t->layout;
    int64_t area = (int64_t)l->texture_w * l->texture_h, best_area = area * 6 / 5 + 1;
    int best = plan->storage_count;
    for (int i = 0; !t->keep && i < plan->storage_count; i++) {
        const tsr_storage *s = &plan->storages[i];
        int64_t storage_area = (int64_t)s->texture_w * s->texture_h;
        if (s->free_after < t->first_pass && s->planes == l->planes && s->half == l->half &&
            s->texture_w >= l->texture_w && s->texture_h >= l->texture_h &&
            storage_area < best_area) {
            best = i;
            best_area = storage_area;
        }
    }
    return best;
}

static uint64_t tensor_bytes(const tsr_plan_tensor *t) {
    uint64_t row = (uint64_t)t->layout.texture_w * (t->layout.half ? 8 : 16);
    return tsr_layout_bytes(&t->layout) - (t->plain ? row * TSR_ZERO_ROWS : 0);
}

static void assign_storage(tsr_plan *plan, tsr_plan_tensor *t) {
    t->storage = choose_storage(plan, t);
    tsr_storage *s = &plan->storages[t->storage];
    if (t->storage == plan->storage_count) {
        plan->storage_count++;
        *s = (tsr_storage){t->layout.texture_w,
                           t->layout.texture_h,
                           t->layout.planes,
                           t->layout.half,
                           t->plain,
                           0};
        plan->tensor_bytes += tensor_bytes(t);
    }
    s->free_after = t->keep ? plan->pass_count : t->last_pass;
}

static tsr_status assign_storages(tsr_plan *plan) {
    plan->storages = TSR_NEW(plan->arena, plan->tensor_count, tsr_storage);
    if (!plan->storages)
        return tsr_plan_out_of_memory(plan);
    for (int i = 1; i < plan->tensor_count; i++) /* graph inputs: no pass writes them */
        if (plan->tensors[i].first_pass < 0 && plan->tensors[i].keep && !plan->tensors[i].constant)
            assign_storage(plan, &plan->tensors[i]);
    for (int i = 0; i < plan->pass_count; i++)
        if (plan->passes[i].kind != TSR_PASS_CPU)
            assign_storage(plan, &plan->tensors[plan->passes[i].output]);
    return TSR_OK;
}

/* The most bytes alive during one pass. */
static tsr_status find_live_bound(tsr_plan *plan) {
    uint64_t *change = TSR_NEW(plan->arena, plan->pass_count + 1, uint64_t), live = 0;
    if (!change)
        return tsr_plan_out_of_memory(plan);
    for (int j = 1; j < plan->tensor_count; j++) {
        const tsr_plan_tensor *t = &plan->tensors[j];
        if (t->storage == TSR_NONE)
            continue;
        change[t->keep ? 0 : t->first_pass] += tensor_bytes(t);
        change[t->keep ? plan->pass_count : t->last_pass + 1] -= tensor_bytes(t);
    }
    for (int i = 0; i < plan->pass_count; i++) {
        live += change[i]; /* modulo 2^64: the sum is right */
        plan->live_bytes_bound = live > plan->live_bytes_bound ? live : plan->live_bytes_bound;
    }
    return TSR_OK;
}

static void count_constants(tsr_plan *plan) {
    for (int j = 1; j < plan->tensor_count; j++)
        if (plan->tensors[j].constant)
            plan->constant_bytes += tsr_layout_bytes(&plan->tensors[j].layout);
    for (int i = 0; i < plan->pass_count; i++)
        plan->constant_bytes += (uint64_t)plan->passes[i].table_w *
                                (uint64_t)plan->passes[i].table_h *
                                (plan->passes[i].table_half ? 8 : 16);
}

static tsr_status check_memory(const tsr_plan *plan, uint64_t max_bytes) {
    uint64_t needed = plan->tensor_bytes + plan->constant_bytes;
    if (max_bytes && needed > max_bytes)
        return tsr_fail(TSR_OUT_OF_MEMORY,
                        "%s: tensors and weights need %llu MiB, the machine has %llu MiB",
                        plan->graph->file, (unsigned long long)(needed >> 20),
                        (unsigned long long)(max_bytes >> 20));
    return TSR_OK;
}

tsr_status tsr_plan_assign_storages(tsr_plan *plan, uint64_t max_bytes) {
    mark_kept(plan);
    find_lifetimes(plan);
    TSR_TRY(assign_storages(plan));
    TSR_TRY(find_live_bound(plan));
    count_constants(plan);
    return check_memory(plan, max_bytes);
}
