/* Lowers the graph's nodes to passes. */
#include "plan/plan.h"

#include "base/divide.h"
#include "base/error.h"
#include "graph/infer.h"

#include <string.h>

/* The pass reads as many tensors as it can: the remaining post-ops get a copying pass after it. */
static tsr_pass *continue_pass(tsr_plan *plan, tsr_pass *pass) {
    const tsr_plan_tensor *output = &plan->tensors[pass->output];
    const tsr_layout *l = &output->layout;
    tsr_shape shape = {4, {l->n, l->c, l->h, l->w}};
    int final = pass->output;
    tsr_texel_format floats = tsr_texel_holds_integers(l->format) ? TSR_TEXEL_F32 : l->format;
    int middle =
        tsr_plan_tensor_make(plan, &shape, (tsr_layout_hint){l->planes, l->pixel_stride, floats});
    if (!middle)
        return pass;
    pass->output = middle;
    return tsr_plan_copy(plan, middle, final);
}

/* ---- operands of post-ops -------------------------------------------------------------------- */

static bool is_operand(const tsr_node *node, int value) {
    for (int i = 0; i < node->post_count; i++)
        if (node->posts[i].operand == value)
            return true;
    return false;
}

/* The node that reads the value as a post-op's operand, if it is the only reader; else NULL. */
static const tsr_node *find_only_post(const tsr_graph *graph, int value) {
    const tsr_node *reader = NULL;
    int reads = 0;
    for (int n = 0; n < graph->node_count && reads < 2; n++) {
        int count = tsr_node_count_reads(&graph->nodes[n], value);
        if (count)
            reader = &graph->nodes[n];
        reads += count;
    }
    return reads == 1 && is_operand(reader, value) && !tsr_graph_is_output(graph, value) ? reader
                                                                                         : NULL;
}

static bool has_as_many_texels(const tsr_shape *a, const tsr_shape *b) {
    return a->rank == 4 && b->rank == 4 && a->dim[0] == b->dim[0] &&
           tsr_divide_up(a->dim[1], 4) == tsr_divide_up(b->dim[1], 4) && a->dim[2] == b->dim[2] &&
           a->dim[3] == b->dim[3];
}

/* Is the node a DepthToSpace that only one post-op reads? If that reads each texel once, it reads
 * the node's input instead: neither a pass nor a tensor is needed. Not if the tensor is kept. */
static bool is_fused_into_reader(const tsr_plan *plan, const tsr_node *node) {
    const tsr_graph *graph = plan->graph;
    if (node->op != TSR_OP_DepthToSpace || node->post_count || plan->keep_all || plan->unfused)
        return false;
    const tsr_node *reader = find_only_post(graph, node->outputs[0]);
    return reader && has_as_many_texels(&tsr_node_out(graph, node, 0)->shape,
                                        &tsr_node_out(graph, reader, 0)->shape);
}

/* Of a post-op: the tensor that it reads, and the node that is fused into this reading. */
typedef struct operand {
    int tensor;
    const tsr_node *fused; /* DepthToSpace; NULL: none */
} operand;

/* The post-op as one of a single constant number; NULL if it is none. */
static const char *function_of_number(const tsr_plan *plan, const tsr_post *post, float *number) {
    return post->operand != TSR_NONE && !post->scaled && !post->swapped
               ? tsr_plan_number_function(plan, post->op, post->operand, number)
               : NULL;
}

static operand find_operand(tsr_plan *plan, const tsr_post *post, const tsr_shape *result) {
    const tsr_graph *graph = plan->graph;
    float number;
    if (post->operand == TSR_NONE || function_of_number(plan, post, &number))
        return (operand){0};
    int producer = graph->values[post->operand].producer;
    if (producer == TSR_NONE || !is_fused_into_reader(plan, &graph->nodes[producer]))
        return (operand){.tensor = tsr_plan_operand(plan, post->operand, result)};
    const tsr_node *fused = &graph->nodes[producer];
    return (operand){tsr_plan_value(plan, fused->inputs[0]), fused};
}

static void add_binary(tsr_plan *plan, tsr_pass *pass, const tsr_post *post, operand other) {
    tsr_pass_post_binary(plan, pass, post->op, other.tensor, post->swapped);
    if (tsr_binary_has_params(post->op))
        tsr_pass_post_param(pass, post->param);
    if (!other.fused)
        return;
    tsr_pass_post *added = &pass->posts[pass->post_count - 1];
    added->blocksize = (int)tsr_attr_int(other.fused, "blocksize", 1);
    added->dcr = tsr_depth_comes_first(other.fused);
}

/* result + param[0] * (operand - param[1]) */
static void add_scaled(tsr_plan *plan, tsr_pass *pass, const tsr_post *post, operand other) {
    tsr_pass_post_binary(plan, pass, TSR_OP_Add, other.tensor, false);
    tsr_pass_post_param(pass, post->param);
    pass->posts[pass->post_count - 1].function = "add_scaled";
}

static tsr_status fail_unfused(const tsr_plan *plan, const tsr_post *post) {
    return tsr_fail(TSR_ERROR_UNSUPPORTED,
                    "'%s' (%s) would be one tensor too many for its pass, which reads at most %d",
                    post->node_name, tsr_op_get_info(post->op)->name, plan->max_sources);
}

static void add_posts(tsr_plan *plan, const tsr_node *node, const operand *operands) {
    for (int i = 0; i < node->post_count && plan->status == TSR_OK; i++) {
        tsr_pass *pass = &plan->passes[plan->pass_count - 1];
        const tsr_post *post = &node->posts[i];
        float number[2] = {0};
        const char *function = function_of_number(plan, post, number);
        if (post->operand == TSR_NONE || function) {
            tsr_pass_post_unary(pass, post->op, function ? number : post->param);
            pass->posts[pass->post_count - 1].function = function;
            continue;
        }
        bool is_full = pass->source_count == plan->max_sources;
        if (is_full && plan->fused_only)
            tsr_plan_fail(plan, fail_unfused(plan, post));
        else if (is_full)
            pass = continue_pass(plan, pass);
        if (plan->status != TSR_OK)
            return;
        if (post->scaled)
            add_scaled(plan, pass, post, operands[i]);
        else
            add_binary(plan, pass, post, operands[i]);
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool is_parameter(const tsr_node *node, int input) {
    return input < 32 && tsr_op_get_info(node->op)->parameters >> input & 1;
}

/* An integer constant that floats are computed of, such as an exponent: tsr_plan_floats() refuses
 * what a float does not hold. */
static bool is_exact(const tsr_graph *graph, const tsr_node *node, const tsr_value *value) {
    const tsr_value *out = tsr_node_out(graph, node, 0);
    return value->data && out && tsr_dtype_is_float(out->dtype);
}

/* What lowerings rely on: parameters are constant, the node computes its inputs' types and its sums
 * exactly where they are integers. */
static tsr_status check_node(const tsr_graph *graph, const tsr_node *node) {
    for (int i = 0; i < node->input_count; i++) {
        const tsr_value *value = tsr_node_in(graph, node, i);
        if (!value)
            continue;
        if (is_parameter(node, i) && value->data)
            continue;
        if (is_parameter(node, i) && !tsr_op_has(node->op, TSR_PARAMETERS_MAY_VARY))
            return tsr_fail(TSR_ERROR_UNSUPPORTED,
                            "its parameter '%s' of shape %s (input %d) is not constant; if it "
                            "comes from inputs, fix those in tsr_session_desc.fixed",
                            value->name, tsr_shape_text(&value->shape), i);
        if (!is_exact(graph, node, value))
            TSR_TRY(tsr_plan_check_type(node, value));
    }
    return tsr_plan_check_sums(graph, node);
}

/* ---- channel axes ---------------------------------------------------------------------------- */

/* Element by element: the result has the channel axis of an operand of its shape. */
static int axis_of_operand(const tsr_plan *plan, const tsr_node *node, const tsr_value *out) {
    for (int i = 0; i < node->input_count; i++) {
        const tsr_value *in = tsr_node_in(plan->graph, node, i);
        if (in && !in->data && tsr_shape_equal(&in->shape, &out->shape))
            return plan->value_axis[node->inputs[i]];
    }
    return tsr_layout_channel_axis(out->shape.rank);
}

/* The channel axis to write the node's first output with: one that spares it and the nodes that
 * read it a copy. */
static int choose_axis(const tsr_plan *plan, const tsr_node *node) {
    const tsr_value *out = tsr_node_out(plan->graph, node, 0), *second;
    for (int i = 0; i < node->post_count; i++) { /* these read with the usual one */
        int operand = node->posts[i].operand,
            producer = operand == TSR_NONE ? TSR_NONE : plan->graph->values[operand].producer;
        if (producer != TSR_NONE && plan->graph->nodes[producer].op == TSR_OP_DepthToSpace)
            return tsr_layout_channel_axis(out->shape.rank);
    }
    if (tsr_op_is_elementwise(node->op))
        return axis_of_operand(plan, node, out);
    second = tsr_node_in(plan->graph, node, 1);
    bool last = tsr_op_has(node->op, TSR_PREFERS_LAST_AXIS) && second && second->data;
    return last && out->shape.rank > 1 ? out->shape.rank - 1
                                       : tsr_layout_channel_axis(out->shape.rank);
}

/* Fails if neither a pass from `first` on applies the node's operator before nor one computed it.
 */
static tsr_status check_before(const tsr_plan *plan, const tsr_node *node, int first) {
    bool applied = !node->before || plan->value_tensor[node->before->value] != TSR_NONE;
    for (int i = first; i < plan->pass_count && !applied; i++)
        applied = plan->passes[i].before == node->before;
    return applied
               ? TSR_OK
               : tsr_fail(TSR_ERROR_UNSUPPORTED, "its passes do not apply '%s' (%s) to its input",
                          node->before->node_name, tsr_op_get_info(node->before->op)->name);
}

static tsr_status lower_on_gpu(tsr_plan *plan, const tsr_node *node, tsr_lower_fn *lower) {
    TSR_TRY(check_node(plan->graph, node));
    if (!lower)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "no such operator on this backend");
    if (is_fused_into_reader(plan, node))
        return TSR_OK;
    if (tsr_plan_dequantizes(plan, node))
        return plan->status;
    int axis = plan->axis = choose_axis(plan, node);
    /* Before the node's passes: reshaping an operand may add one. */
    operand operands[TSR_MAX_POSTS];
    for (int i = 0; i < node->post_count; i++)
        operands[i] =
            find_operand(plan, &node->posts[i], &plan->graph->values[node->outputs[0]].shape);
    int passes = plan->pass_count;
    tsr_plan_fail(plan, lower(plan, node));
    plan->before = NULL;
    if (plan->status == TSR_OK)
        tsr_plan_fail(plan, check_before(plan, node, passes));
    bool in_place = plan->pass_count > passes && plan->passes[plan->pass_count - 1].kind ==
                                                     TSR_PASS_CONCAT; /* with its post-ops */
    if (plan->status != TSR_OK || !node->post_count || in_place)
        return plan->status;
    int value = node->outputs[0];
    bool fusible =
        plan->pass_count > passes && plan->value_axis[value] == axis &&
        tsr_pass_writes_only(&plan->passes[plan->pass_count - 1], plan->value_tensor[value]);
    if (!fusible && plan->fused_only)
        return tsr_plan_fail(plan, tsr_fail(TSR_ERROR_UNSUPPORTED,
                                            "the pass that writes its result takes no post-ops"));
    if (!fusible) { /* such as a view */
        plan->axis = axis;
        int source = tsr_plan_value_with(plan, value, axis);
        tsr_plan_copy(plan, source, tsr_plan_output(plan, node, 0));
    }
    add_posts(plan, node, operands);
    return plan->status;
}

static void forget(tsr_plan *plan, int value, int tensor_count) {
    if (plan->value_copy[value] >= tensor_count)
        plan->value_copy[value] = TSR_NONE;
    if (plan->value_tensor[value] < tensor_count)
        return;
    plan->value_tensor[value] = TSR_NONE;
    plan->value_axis[value] = tsr_layout_channel_axis(plan->graph->values[value].shape.rank);
}

/* Removes the passes and tensors of a failed lowering. */
static void undo(tsr_plan *plan, int pass_count, int tensor_count) {
    plan->status = TSR_OK;
    plan->candidates[plan->node] = (tsr_candidates){0};
    plan->pass_count = pass_count;
    plan->tensor_count = tensor_count;
    for (int i = 0; i < plan->graph->value_count; i++)
        forget(plan, i, tensor_count);
}

/* A value that a node on the CPU reads: read back unless it is in memory or has no elements. */
static void read_on_cpu(tsr_plan *plan, tsr_pass *pass, int value) {
    if (value != TSR_NONE && plan->value_tensor[value] != TSR_NONE &&
        !plan->graph->values[value].data && !plan->value_on_cpu[value])
        tsr_pass_source(plan, pass, plan->value_tensor[value]);
}

static tsr_status lower_node(tsr_plan *plan, int n, tsr_lower_fn *const *lower);

/* The node that writes the value, if it was left to a reader that reads more than its input. */
static tsr_status lower_fused(tsr_plan *plan, int value, tsr_lower_fn *const *lower) {
    int reader = plan->node, producer = plan->graph->values[value].producer;
    if (producer == TSR_NONE || !is_fused_into_reader(plan, &plan->graph->nodes[producer]))
        return TSR_OK;
    plan->unfused = true;
    tsr_status status = lower_node(plan, producer, lower);
    plan->unfused = false;
    plan->node = reader;
    return status;
}

static tsr_status lower_on_cpu(tsr_plan *plan, const tsr_node *node, tsr_lower_fn *const *lower) {
    for (int i = 0; i < node->post_count; i++)
        if (node->posts[i].operand != TSR_NONE)
            TSR_TRY(lower_fused(plan, node->posts[i].operand, lower));
    tsr_pass *pass = tsr_plan_pass_of(plan, TSR_PASS_CPU, 0);
    for (int i = 0; i < node->input_count; i++)
        read_on_cpu(plan, pass, node->inputs[i]);
    for (int i = 0; i < node->post_count; i++)
        read_on_cpu(plan, pass, node->posts[i].operand);
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE)
            plan->value_on_cpu[node->outputs[i]] = true;
    return plan->status;
}

/* Is there an algorithm that another may replace? Made for another size, it may not work. */
static bool is_optional(const tsr_node_choice *choices, int node) {
    return choices && choices[node].algorithm && !choices[node].only;
}

static tsr_status lower_node(tsr_plan *plan, int n, tsr_lower_fn *const *lower) {
    int pass_count = plan->pass_count, tensor_count = plan->tensor_count;
    const tsr_node_choice *choices = plan->choices;
    const tsr_node *node = &plan->graph->nodes[n];
    plan->node = n;
    plan->half = tsr_plan_node_is_half(plan, node);
    tsr_status status = lower_on_gpu(plan, node, lower[node->op]);
    if ((status == TSR_ERROR_UNSUPPORTED || status == TSR_ERROR_LIMIT) &&
        is_optional(choices, plan->node)) {
        undo(plan, pass_count, tensor_count);
        plan->choices = NULL;
        status = lower_on_gpu(plan, node, lower[node->op]);
        plan->choices = choices;
    }
    if (status != TSR_ERROR_UNSUPPORTED || !plan->fallback)
        return status;
    if (!plan->again)
        tsr_log(TSR_LOG_WARN, "%s: node '%s' (%s) runs on the CPU: %s", plan->graph->file,
                node->name, tsr_node_op_name(node), tsr_last_error());
    undo(plan, pass_count, tensor_count);
    return lower_on_cpu(plan, node, lower);
}

static tsr_status lower_input(tsr_plan *plan, int value) {
    const tsr_value *v = &plan->graph->values[value];
    if (v->data || tsr_shape_count(&v->shape) == 0) /* without elements: nothing to compute */
        return TSR_OK;
    if (tsr_plan_check_stored(plan, v) != TSR_OK) { /* nodes that read it run on the CPU, or fail */
        plan->value_on_cpu[value] = true;
        return TSR_OK;
    }
    tsr_plan_value(plan, value);
    return plan->status;
}

/* A pass has a table if its kernel reads one, and only then. */
static tsr_status check_tables(const tsr_plan *plan) {
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        const bool set = pass->table.pack || pass->table.tensor;
        if (pass->kernel && pass->kernel->table != set && !pass->kernel->table_optional)
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "kernel %s: its table is %s",
                            pass->kernel->stem, set ? "not declared" : "not set");
        /* Weights are packed in memory: where sizes have 32 bits they may not fit. */
        uint64_t texels = (uint64_t)pass->table.width * (uint64_t)pass->table.height;
        if (pass->table.pack && texels > PTRDIFF_MAX / (4 * sizeof(float)))
            return tsr_fail(TSR_ERROR_LIMIT, "kernel %s: its table of %d x %d texels is too large",
                            pass->kernel->stem, pass->table.width, pass->table.height);
    }
    return TSR_OK;
}

tsr_status tsr_plan_lower(tsr_plan *plan, const tsr_plan_options *options) {
    const tsr_graph *graph = plan->graph;
    for (int i = 0; i < graph->input_count; i++) {
        tsr_status status = lower_input(plan, graph->inputs[i]);
        if (status != TSR_OK)
            return tsr_fail_context(status, "%s: input '%s'", graph->file,
                                    graph->values[graph->inputs[i]].name);
    }
    for (int i = 0; i < graph->node_count; i++) {
        const tsr_node *node = &graph->nodes[i];
        tsr_status status = lower_node(plan, i, options->lower);
        if (status != TSR_OK)
            return tsr_fail_context(status, "%s: node '%s' (%s)", graph->file, node->name,
                                    tsr_node_op_name(node));
    }
    return check_tables(plan);
}

/* Copies graph outputs to plain textures, which a caller can sample. */
tsr_status tsr_plan_add_plain_outputs(tsr_plan *plan) {
    const tsr_graph *graph = plan->graph;
    if (plan->limits.bits_only)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "%s: outputs as textures are of floats, which this GPU does not render to",
                        graph->file);
    for (int i = 0; i < graph->output_count; i++) {
        int value = graph->outputs[i];
        if (graph->values[value].producer ==
            TSR_NONE) /* an input or a constant: the session has it */
            continue;
        int source = tsr_plan_value(plan, value);
        bool half = tsr_plan_format(plan, value) == TSR_TEXEL_F16;
        int tensor = tsr_plan_tensor_make(
            plan, &graph->values[value].shape,
            (tsr_layout_hint){.planes = 1, .format = half ? TSR_TEXEL_F16 : TSR_TEXEL_F32});
        if (plan->tensors[tensor].layout.linear)
            return tsr_fail(TSR_ERROR_LIMIT,
                            "output '%s' of shape %s fits no plain texture of at most %d x %d",
                            graph->values[value].name, tsr_shape_text(&graph->values[value].shape),
                            plan->limits.max_texture_size, plan->limits.max_texture_size);
        plan->plain_outputs[i] = tensor;
        plan->tensors[tensor].keep = plan->tensors[tensor].plain = true;
        plan->node = TSR_NONE;
        tsr_plan_copy(plan, source, tensor);
    }
    return plan->status;
}
