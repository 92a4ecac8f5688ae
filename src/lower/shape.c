/* Operators whose elements stay in their order: views. */
#include "lower/lower.h"

#include "base/error.h"

/* How often nodes read the value; *reader: the last one. */
static int count_reads(const tsr_graph *graph, int value, const tsr_node **reader) {
    int count = 0;
    for (int i = 0; i < graph->node_count; i++) {
        int reads = tsr_node_count_reads(&graph->nodes[i], value);
        if (reads)
            *reader = &graph->nodes[i];
        count += reads;
    }
    return count;
}

/* Will the tensor's elements be read in their order alone, however the texels lie, or by one node
 * that chooses how they lie? */
static bool is_read_as_is(const tsr_plan *plan, int value, int tensor) {
    const tsr_plan_tensor *t = &plan->tensors[tensor];
    const tsr_node *reader = NULL;
    int reads = count_reads(plan->graph, value, &reader);
    if (tsr_graph_is_output(plan->graph, value))
        return !t->constant && t->first_pass >= 0 && !plan->plain_outputs && reads == 0;
    return reads == 1 && tsr_op_has(reader->op, TSR_READS_AS_IS) && reader->inputs[0] == value;
}

/* The input's elements in the output's shape. */
tsr_status tsr_lower_view(tsr_plan *plan, const tsr_node *node) {
    int tensor = tsr_plan_value_as_is(plan, node->inputs[0]);
    const tsr_shape *shape = &tsr_node_out(plan->graph, node, 0)->shape;
    if (plan->status == TSR_OK && is_read_as_is(plan, node->outputs[0], tensor))
        tsr_plan_alias_as_is(plan, node, 0, tensor);
    else
        tsr_plan_alias(plan, node, 0, tsr_plan_reshape(plan, tensor, shape));
    return plan->status;
}

tsr_status tsr_lower_dropout(tsr_plan *plan, const tsr_node *node) {
    return tsr_lower_view(plan, node);
}

/* Of integers: a GPU holds numbers, not bits. */
tsr_status tsr_lower_bit_cast(tsr_plan *plan, const tsr_node *node) {
    tsr_dtype from = tsr_node_in(plan->graph, node, 0)->dtype,
              to = tsr_node_out(plan->graph, node, 0)->dtype;
    if (from != to && (tsr_dtype_is_float(from) || tsr_dtype_is_float(to)))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "the bits of %s as %s are not computed on a GPU; allow_cpu_fallback "
                        "(--allow-cpu-fallback) runs it on the CPU",
                        tsr_dtype_name(from), tsr_dtype_name(to));
    return tsr_lower_cast(plan, node);
}

tsr_status tsr_lower_cast(tsr_plan *plan, const tsr_node *node) {
    tsr_dtype from = tsr_node_in(plan->graph, node, 0)->dtype,
              to = tsr_node_out(plan->graph, node, 0)->dtype;
    tsr_status status = tsr_check_cast(tsr_node_in(plan->graph, node, 0), to);
    if (status != TSR_OK)
        return tsr_plan_fail(plan, status);
    if (tsr_cast_is_view(from, to))
        return tsr_lower_view(plan, node);
    if (tsr_dtype_is_float(from) && tsr_plan_converts_in_place(plan, node))
        return plan->status;
    int input = tsr_plan_value(plan, node->inputs[0]);
    tsr_pass_cast(tsr_plan_copy(plan, input, tsr_plan_output(plan, node, 0)), from, to);
    return plan->status;
}
