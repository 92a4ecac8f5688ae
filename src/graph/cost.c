/* What a node costs, counted from shapes. */
#include "graph/rules.h"

/* ---- multiply-adds ---- */

static tsr_macs_fn *const macs[TSR_OP_COUNT] = {
#define TSR_MACS(Name, stem, ...) [TSR_OP_##Name] = tsr_macs_##stem,
#include "graph/ops.def"
};

int64_t tsr_count_macs(const tsr_value *sums, int64_t length) {
    int64_t count = tsr_shape_count(&sums->shape);
    if (count <= 0 || length <= 0)
        return 0;
    return count > INT64_MAX / length ? INT64_MAX : count * length;
}

int64_t tsr_node_macs(const tsr_graph *graph, const tsr_node *node) {
    bool is_complete =
        tsr_node_in(graph, node, 0) && tsr_node_in(graph, node, 1) && tsr_node_out(graph, node, 0);
    return macs[node->op] && is_complete ? macs[node->op](graph, node) : 0;
}

int64_t tsr_graph_macs(const tsr_graph *graph) {
    int64_t sum = 0;
    for (int n = 0; n < graph->node_count; n++) {
        const int64_t macs = tsr_node_macs(graph, &graph->nodes[n]);
        sum = macs > INT64_MAX - sum ? INT64_MAX : sum + macs;
    }
    return sum;
}

/* ---- operations on the CPU ---- */

static double element_count(const tsr_value *value) {
    return value ? (double)tsr_shape_count(&value->shape) : 0;
}

/* Elements that the windows of a pool cover. */
static double covered_count(const tsr_graph *graph, const tsr_node *node) {
    tsr_window window;
    bool backward = node->op == TSR_OP_MaxPoolGrad;
    if ((node->op != TSR_OP_MaxPool && node->op != TSR_OP_AveragePool && !backward) ||
        tsr_node_window(graph, node, &window) != TSR_OK)
        return 0;
    double count =
        element_count(backward ? tsr_node_in(graph, node, 1) : tsr_node_out(graph, node, 0));
    for (int axis = 0; axis < TSR_WINDOW_AXES; axis++)
        count *= (double)window.kernel[axis];
    return count;
}

double tsr_node_work(const tsr_graph *graph, const tsr_node *node) {
    double work = (double)tsr_node_macs(graph, node) + covered_count(graph, node);
    for (int i = 0; i < node->input_count; i++)
        work += element_count(tsr_node_in(graph, node, i));
    for (int i = 0; i < node->output_count; i++)
        work += element_count(tsr_node_out(graph, node, i));
    return work;
}

/* ---- floats moved ---- */

static int operand_at(const tsr_node *node, int i) {
    return i < node->input_count ? node->inputs[i] : node->posts[i - node->input_count].operand;
}

static bool is_new_operand(const tsr_node *node, int i) {
    for (int before = 0; before < i; before++)
        if (operand_at(node, before) == operand_at(node, i))
            return false;
    return true;
}

static void add_floats(const tsr_graph *graph, int value, int64_t *sum) {
    if (value == TSR_NONE || !tsr_dtype_is_float(graph->values[value].dtype))
        return;
    int64_t count = tsr_shape_count(&graph->values[value].shape);
    if (count > 0)
        *sum = *sum > INT64_MAX - count ? INT64_MAX : *sum + count;
}

int64_t tsr_node_floats(const tsr_graph *graph, const tsr_node *node) {
    int64_t sum = 0;
    for (int i = 0; i < node->input_count + node->post_count; i++)
        if (is_new_operand(node, i))
            add_floats(graph, operand_at(node, i), &sum);
    for (int i = 0; i < node->output_count; i++)
        add_floats(graph, node->outputs[i], &sum);
    return sum;
}
