/* Runs that begin before all inputs are set. */
#include "gles/runner.h"

static bool reads_value(const tsr_plan *plan, const tsr_pass *pass, int value) {
    const int tensor = plan->value_tensor[value];
    for (int i = 0; i < tsr_pass_count_reads(pass); i++)
        if (tensor != TSR_NONE &&
            plan->tensors[tsr_pass_read(pass, i)].root == plan->tensors[tensor].root)
            return true;
    return false;
}

/* Nodes that run on the CPU may read inputs from memory. */
static bool may_read(const tsr_plan *plan, const tsr_pass *pass, const int *values, int count) {
    for (int i = 0; i < count; i++)
        if (reads_value(plan, pass, values[i]))
            return true;
    return pass->kind != TSR_PASS_DRAW;
}

static int count_before(const tsr_runner *r, const int *values, int count) {
    const tsr_plan *plan = r->base.plan;
    for (int begin = 0, end; begin < plan->pass_count; begin = end) {
        end = tsr_gles_group_end(r, begin);
        for (int i = begin; i < end; i++)
            if (may_read(plan, &plan->passes[i], values, count))
                return begin;
    }
    return plan->pass_count;
}

tsr_status tsr_gles_submit_before(tsr_runner *r, const int *values, int count) {
    r->submitted = count_before(r, values, count);
    TSR_TRY(tsr_gles_begin(r->device));
    tsr_status status = tsr_gles_submit(r, 0, r->submitted);
    glFlush();
    return tsr_gles_end(r->device, status);
}
