#include "algorithm/low_memory.h"

#include "base/allocator.h"

#include "algorithm/algorithm.h"

/* More than 1.15 times the lower bound, and enough bytes to matter. */
static bool needs_much(const tsr_plan *plan) {
    enum { FEW_BYTES = 32 << 10 };
    return plan->tensor_bytes > FEW_BYTES && plan->tensor_bytes / 23 > plan->live_bytes_bound / 20;
}

/* Destroys the previous plan. */
static void take(tsr_plan **plan, tsr_plan *better) {
    tsr_plan_destroy(*plan);
    *plan = better;
}

/* Takes a new plan that suffices with fewer bytes, or one with far fewer bytes, since algorithms
 * with fewer intermediate bytes are slower. True if it suffices, taken or not. */
static bool plan_anew(const tsr_graph *graph, const tsr_plan_options *options, tsr_plan **plan) {
    tsr_plan *other;
    if (tsr_plan_create(graph, options, &other) != TSR_OK)
        return false; /* keeps the plan */
    bool suffices = !needs_much(other);
    uint64_t bytes = (*plan)->tensor_bytes;
    if (other->tensor_bytes < (suffices ? bytes : bytes / 8 * 7))
        take(plan, other);
    else
        tsr_plan_destroy(other);
    return suffices;
}

/* Intermediate tensors of a node may need much memory: they get no more planes than the tensors
 * between nodes, and split-K no more partial sums than necessary, though that is slower. */
static tsr_plan_options with_less_memory(const tsr_plan_options *options) {
    tsr_plan_options low_memory = *options;
    if (options->device.planes && options->device.planes < options->limits.max_planes)
        low_memory.limits.max_planes = options->device.planes;
    low_memory.low_memory = true;
    return low_memory;
}

/* ---- node by node ---------------------------------------------------------------------------- */

/* By tensor; NULL when out of memory. */
static const bool *mark_values(const tsr_plan *plan) {
    bool *marks = TSR_NEW(plan->arena, plan->tensor_count, bool);
    for (int i = 0; marks && i < plan->graph->value_count; i++)
        if (plan->value_tensor[i] != TSR_NONE)
            marks[plan->value_tensor[i]] = true;
    return marks;
}

/* The node with the most intermediate bytes that does not use its candidate of least bytes yet;
 * TSR_NONE if there is none. */
static int find_largest(const tsr_plan *plan, const tsr_node_choice *choices) {
    uint64_t most = 0, bytes = 0;
    int largest = TSR_NONE;
    const bool *is_value = mark_values(plan);
    for (int i = 0; is_value && i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        if (i == 0 || pass->node != pass[-1].node)
            bytes = 0;
        if (pass->node == TSR_NONE || choices[pass->node].least_bytes || is_value[pass->output])
            continue;
        bytes += tsr_layout_bytes(tsr_plan_layout(plan, pass->output));
        if (bytes > most) {
            most = bytes;
            largest = pass->node;
        }
    }
    return largest;
}

/* Switches nodes, one at a time and a few at most, to their candidates of least bytes. Returns the
 * last plan made, or `plan` without any. */
static tsr_plan *save_bytes(const tsr_graph *graph, const tsr_plan_options *options,
                            tsr_node_choice *choices, tsr_plan *plan) {
    enum { MOST_NODES = 4 };
    tsr_plan *now = plan;
    for (int i = 0; i < MOST_NODES && needs_much(now); i++) {
        tsr_plan *next;
        int node = find_largest(now, choices);
        if (node == TSR_NONE)
            break;
        choices[node].least_bytes = true;
        if (tsr_plan_create(graph, options, &next) != TSR_OK)
            break;
        if (now != plan)
            tsr_plan_destroy(now);
        now = next;
    }
    return now;
}

/* Slower fallback candidates are used only if they suffice. */
static void plan_with_fallbacks(const tsr_graph *graph, const tsr_plan_options *low_memory,
                                tsr_plan **plan) {
    tsr_plan_options options = *low_memory;
    tsr_node_choice *choices = tsr_calloc((size_t)graph->node_count + 1, sizeof *choices);
    if (!choices)
        return;
    options.choices = choices;
    tsr_plan *last = save_bytes(graph, &options, choices, *plan);
    if (last != *plan && !needs_much(last))
        take(plan, last);
    else if (last != *plan)
        tsr_plan_destroy(last);
    tsr_free(choices);
}

tsr_status tsr_plan_within_memory(const tsr_graph *graph, const tsr_plan_options *options,
                                  tsr_plan **plan) {
    bool needs_more = false;
    tsr_plan_options first = *options;
    first.needs_more = &needs_more;
    tsr_status status = tsr_plan_create(graph, &first, plan);
    if (needs_more && options->device.software) {
        const tsr_plan_options less = with_less_memory(options);
        status = tsr_plan_create(graph, &less, plan);
    }
    if (status != TSR_OK)
        return status;
    if (options->device.software || options->keep_all || !needs_much(*plan))
        return TSR_OK;
    tsr_plan_options measured = *options;
    measured.again = true;
    tsr_plan_options estimated = measured; /* the measured best may need many intermediate bytes */
    estimated.choices = NULL;
    const tsr_plan_options less[] = {estimated, with_less_memory(&measured),
                                     with_less_memory(&estimated)};
    for (int i = options->choices ? 0 : 2; i < 3 && needs_much(*plan); i++)
        if (plan_anew(graph, &less[i], plan) && i == 0)
            return TSR_OK; /* if measured algorithms need no more bytes than estimated ones, they
                              stay: only their bound is lower, as they have fewer inner tensors */
    if (!options->device.fixed && needs_much(*plan))
        plan_with_fallbacks(graph, &less[2], plan);
    return TSR_OK;
}
