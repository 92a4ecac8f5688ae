/* TopK: each element's rank among those of its column, then the first ones by rank. */
#include "lower/lower.h"

#include "base/divide.h"
#include "base/error.h"

/* Each element is compared with all of its column. */
static tsr_status check_length(const tsr_plan *plan, const tsr_shape *seen) {
    const double most = 0x1p31;
    double comparisons = (double)tsr_divide_up(seen->dim[1], 4) * (double)seen->dim[3] *
                         (double)seen->dim[2] * (double)seen->dim[2];
    if (seen->dim[2] <= tsr_plan_exact_integers(plan) && comparisons <= most)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_UNSUPPORTED, "sorting %lld elements %lld times on a GPU",
                    (long long)seen->dim[2], (long long)(seen->dim[1] * seen->dim[3]));
}

static int choose(tsr_plan *plan, int ranks, int values, int output) {
    if (plan->status != TSR_OK)
        return 0;
    if (values)
        TSR_PASS(plan, output, sort_choose, .R = TSR_TENSOR(ranks), .X = TSR_TENSOR(values),
                 .INDEX = TSR_INT(0));
    else
        TSR_PASS(plan, output, sort_choose, .R = TSR_TENSOR(ranks), .INDEX = TSR_INT(1));
    if (plan->status == TSR_OK)
        tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 1,
                       (int64_t[]){tsr_plan_layout(plan, ranks)->h});
    return output;
}

tsr_status tsr_lower_top_k(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    const int64_t *k;
    int64_t count;
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(node, "axis", -1), shape->rank, &axis));
    TSR_TRY(tsr_node_const_ints(plan->graph, node, 1, &k, &count));
    const tsr_shape around = tsr_around_axis(shape, axis),
                    seen = {4, {1, around.dim[0], around.dim[1], around.dim[2]}},
                    chosen = {4, {1, around.dim[0], *k, around.dim[2]}};
    TSR_TRY(check_length(plan, &seen));
    int input = tsr_lower_seen(plan, node->inputs[0], &seen),
        ranks = tsr_plan_tensor_new(plan, &seen, true);
    TSR_PASS(plan, ranks, sort_rank, .X = TSR_TENSOR(input),
             .LARGEST = TSR_INT(tsr_attr_int(node, "largest", 1) != 0));
    if (plan->status == TSR_OK)
        tsr_plan_loops(plan, tsr_plan_layout(plan, ranks)->planes, 1, &seen.dim[2]);
    if (tsr_node_out(plan->graph, node, 1)) {
        int indices = choose(plan, ranks, 0, tsr_plan_tensor_new(plan, &chosen, true));
        if (plan->status == TSR_OK)
            tsr_lower_reshaped(plan, node, 1, indices);
    }
    if (tsr_node_out(plan->graph, node, 0) && plan->status == TSR_OK) {
        int output = tsr_lower_output(plan, node, &chosen);
        choose(plan, ranks, input, output);
        tsr_lower_finish(plan, node, output);
    }
    return plan->status;
}
