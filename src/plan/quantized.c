/* Floats that are stored as integers of 8 bits: what quantizes is written so by the pass before it,
 * and what dequantizes is read so, neither with a pass of its own. */
#include "plan/plan.h"

#include <math.h>

/* ---- reading --------------------------------------------------------------------------------- */

/* x - zero point, x * scale, or the latter of the former. */
static bool read_steps(const tsr_plan *plan, const tsr_node *node, float *zero_point,
                       float *scale) {
    *zero_point = 0;
    *scale = 1;
    if (node->op == TSR_OP_Mul)
        return !node->post_count && tsr_plan_number(plan, node->inputs[1], scale);
    if (node->op != TSR_OP_Sub || !tsr_plan_number(plan, node->inputs[1], zero_point))
        return false;
    const tsr_post *post = node->posts;
    return !node->post_count ||
           (node->post_count == 1 && post->op == TSR_OP_Mul && !post->scaled &&
            post->operand != TSR_NONE && tsr_plan_number(plan, post->operand, scale));
}

/* How often passes read the tensor, as itself or as a view. */
static int count_reads(const tsr_plan *plan, int tensor) {
    int count = 0;
    for (int i = 0; i < plan->pass_count; i++)
        for (int s = 0; s < plan->passes[i].source_count; s++) {
            int source = plan->passes[i].sources[s];
            count += source == tensor || (source > 0 && plan->tensors[source].view_of == tensor);
        }
    return count;
}

/* Does a pass of its own write it, rather than passes that write parts, or a whole of which it is
 * one? */
static bool is_drawn(const tsr_plan *plan, int tensor) {
    const tsr_plan_tensor *t = &plan->tensors[tensor];
    return t->first_pass >= 0 && plan->passes[t->first_pass].kind == TSR_PASS_DRAW;
}

/* Do nodes after the one being lowered read it, as itself? */
static bool is_read_later(const tsr_plan *plan, int tensor) {
    const tsr_graph *graph = plan->graph;
    for (int v = 0; v < graph->value_count; v++) {
        if (plan->value_tensor[v] != tensor)
            continue;
        if (tsr_graph_is_output(graph, v))
            return true;
        for (int n = plan->node + 1; n < graph->node_count; n++)
            if (tsr_node_count_reads(&graph->nodes[n], v))
                return true;
    }
    return false;
}

/* Padding channels are zeros for kernels: they can be stored so if nothing else reads them. */
static bool can_be_padded(const tsr_plan *plan, int tensor, float zero_point) {
    return tsr_texel_holds_number(plan->tensors[tensor].layout.format, zero_point) &&
           is_drawn(plan, tensor) && !plan->keep_all && !count_reads(plan, tensor) &&
           !is_read_later(plan, tensor);
}

/* Where padding channels, which are stored as 0, are no zeros, the texels cannot be shared. */
static bool can_be_read(const tsr_plan *plan, const tsr_node *node, int tensor, float zero_point) {
    const tsr_plan_tensor *t = &plan->tensors[tensor];
    bool is_input = t->first_pass < 0 && tsr_graph_is_output(plan->graph, node->outputs[0]);
    return tsr_texel_holds_integers(t->layout.format) && !t->layout.scale && !t->in_two &&
           !t->constant && !is_input &&
           (zero_point == 0 || t->layout.c % 4 == 0 || can_be_padded(plan, tensor, zero_point));
}

/* 0 after a failure. */
static int make_view(tsr_plan *plan, int tensor, float zero_point, float scale) {
    const tsr_plan_tensor stored = plan->tensors[tensor];
    const tsr_layout *l = &stored.layout;
    int view = tsr_plan_tensor_make(plan, &(tsr_shape){4, {l->n, l->c, l->h, l->w}},
                                    (tsr_layout_hint){.planes = l->planes});
    if (!view)
        return 0;
    plan->tensors[view] = stored;
    plan->tensors[view].keep = false;
    plan->tensors[view].view_of = plan->tensors[view].root = tensor;
    plan->tensors[view].layout.zero_point = zero_point;
    plan->tensors[view].layout.scale = scale;
    return view;
}

bool tsr_plan_dequantizes(tsr_plan *plan, const tsr_node *node) {
    float zero_point, scale;
    if ((node->op != TSR_OP_Sub && node->op != TSR_OP_Mul) || plan->status != TSR_OK)
        return false;
    int in = node->inputs[0], out = node->outputs[0], tensor = plan->value_tensor[in];
    if (tensor == TSR_NONE || !read_steps(plan, node, &zero_point, &scale) || scale == 0 ||
        !isfinite(scale) || !isfinite(zero_point) ||
        !tsr_shape_equal(&plan->graph->values[in].shape, &plan->graph->values[out].shape) ||
        !can_be_read(plan, node, tensor, zero_point))
        return false;
    if (plan->tensors[tensor].layout.c % 4)
        plan->tensors[tensor].layout.padding = zero_point;
    plan->value_tensor[out] = make_view(plan, tensor, zero_point, scale);
    plan->value_axis[out] = plan->value_axis[in];
    return true;
}

int tsr_plan_unscaled(tsr_plan *plan, int tensor, float *scale) {
    const tsr_plan_tensor *t = &plan->tensors[tensor];
    *scale = 1;
    if (!t->view_of || t->layout.scale == 1 || plan->status != TSR_OK)
        return tensor;
    *scale = t->layout.scale;
    return make_view(plan, t->view_of, t->layout.zero_point, 1);
}

/* ---- writing --------------------------------------------------------------------------------- */

bool tsr_plan_converts_in_place(tsr_plan *plan, const tsr_node *node) {
    int in = node->inputs[0], out = node->outputs[0];
    tsr_dtype to = plan->graph->values[out].dtype;
    if (plan->status != TSR_OK || !tsr_dtype_is_byte(to))
        return false;
    int tensor = plan->value_tensor[in];
    tsr_pass *host = tensor == TSR_NONE ? NULL : tsr_plan_find_host(plan, 1, tensor);
    if (!host || count_reads(plan, tensor))
        return false;
    tsr_pass_cast(host, plan->graph->values[in].dtype, to);
    plan->tensors[tensor].layout.format = tsr_plan_format(plan, out);
    plan->value_tensor[out] = tensor;
    plan->value_axis[out] = plan->value_axis[in];
    return true;
}
