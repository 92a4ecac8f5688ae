/* Reductions in a pyramid of passes: who combines a block. */
#include "algorithm/algorithm.h"

/* In texels that are read one after the other: by invocations of which each has a block, or by a
 * workgroup's together, whose barriers cost a CPU more than they save. */
static bool estimate(const tsr_plan *plan, const tsr_problem *p, bool workgroups, tsr_estimate *e) {
    enum { SLOWER = 4, LIVE = 2 };
    const tsr_layout *l = tsr_plan_layout(plan, p->input);
    *e = (tsr_estimate){.cost = (double)l->n * l->tiles * l->h * l->w *
                                (workgroups == plan->device.software ? SLOWER : 1),
                        .live_texels = LIVE};
    return true;
}

static bool estimate_invocation(const tsr_plan *plan, const tsr_problem *p, tsr_estimate *e) {
    return estimate(plan, p, false, e);
}

static bool estimate_workgroup(const tsr_plan *plan, const tsr_problem *p, tsr_estimate *e) {
    return estimate(plan, p, true, e);
}

static tsr_pass *lower_invocation(tsr_plan *plan, const tsr_problem *p) {
    return p->reduce(plan, p, false);
}

static tsr_pass *lower_workgroup(tsr_plan *plan, const tsr_problem *p) {
    return p->reduce(plan, p, true);
}

const tsr_algorithm tsr_reduce_invocation = {
    .name = "reduce_invocation",
    .languages = TSR_GLSL | TSR_WGSL,
    .kinds = TSR_REDUCTION,
    .allowed_by = TSR_ALLOW_ANY,
    .estimate = estimate_invocation,
    .lower = lower_invocation,
};

const tsr_algorithm tsr_reduce_workgroup = {
    .name = "reduce_workgroup",
    .languages = TSR_WGSL,
    .kinds = TSR_REDUCTION,
    .needs = TSR_NEEDS_WORKGROUP_MEMORY,
    .allowed_by = TSR_ALLOW_WORKGROUPS,
    .estimate = estimate_workgroup,
    .lower = lower_workgroup,
};
