/* Gradient of ai.onnx.preview.training. Its attributes name tensors of the main graph: y, and those
 * that it is a function of, xs and zs. Its inputs are values of xs, then of zs, which may be others
 * than the graph's: the nodes between are copied, and the copy is differentiated. */
#include "passes/functions.h"

#include "base/error.h"
#include "graph/infer.h"
#include "passes/gradient.h"

#include <string.h>

enum { MAX_ORDER = 8 }; /* of derivatives: copies of copies */

/* ---- the nodes that are copied --------------------------------------------------------------- */

/* A value of the graph before tsr_prepare() added others; TSR_NONE with a failure. */
static int find_tensor(tsr_builder *b, const char *attr, const char *name) {
    int value = tsr_graph_find_value(b->graph, name);
    if (value != TSR_NONE && value < b->list->source_values)
        return value;
    return tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL,
                                      "its attribute \"%s\" names '%s', which is no tensor of the "
                                      "graph",
                                      attr, name));
}

static void find_inputs(tsr_builder *b, tsr_body *body) {
    const tsr_attr *xs = tsr_node_attr(b->node, "xs"), *zs = tsr_node_attr(b->node, "zs");
    const int count = xs->count + (zs ? zs->count : 0);
    if (xs->count == 0 || b->node->input_count != count || b->node->output_count > xs->count) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL,
                                   "%d inputs and %d outputs for %d names in \"xs\" and %d in "
                                   "\"zs\"",
                                   b->node->input_count, b->node->output_count, xs->count,
                                   count - xs->count));
        return;
    }
    body->inputs = TSR_NEW(b->graph->arena, count, int);
    if (!body->inputs) {
        tsr_build_fail(b, tsr_out_of_memory(b->graph));
        return;
    }
    for (int i = 0; i < count; i++)
        body->inputs[i] = i < xs->count ? find_tensor(b, "xs", xs->strings[i])
                                        : find_tensor(b, "zs", zs->strings[i - xs->count]);
    body->input_count = count;
}

static bool is_wanted(const tsr_node *node, const bool *wanted) {
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE && wanted[node->outputs[i]])
            return true;
    return false;
}

/* By value: is it an input? None is two. */
static const bool *mark_inputs(tsr_builder *b, const tsr_body *body) {
    bool *is_input = TSR_NEW(b->graph->arena, b->list->source_values, bool);
    for (int i = 0; is_input && i < body->input_count; i++) {
        int value = body->inputs[i];
        if (is_input[value])
            tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "\"xs\" and \"zs\" name '%s' twice",
                                       b->graph->values[value].name));
        is_input[value] = true;
    }
    return is_input;
}

/* Those that y needs, as far as the inputs. */
static void find_nodes(tsr_builder *b, tsr_body *body, int y) {
    const int count = b->list->source_count;
    const bool *is_input = mark_inputs(b, body);
    bool *wanted = TSR_NEW(b->graph->arena, b->list->source_values, bool);
    tsr_node *nodes = TSR_NEW(b->graph->arena, count, tsr_node);
    if (!is_input || !wanted || !nodes) {
        tsr_build_fail(b, tsr_out_of_memory(b->graph));
        return;
    }
    int first = count;
    wanted[y] = !is_input[y];
    for (int n = count - 1; n >= 0; n--) {
        const tsr_node *node = &b->list->source[n];
        if (!is_wanted(node, wanted))
            continue;
        nodes[--first] = *node;
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] != TSR_NONE && !is_input[node->inputs[i]])
                wanted[node->inputs[i]] = true;
    }
    body->nodes = nodes + first;
    body->node_count = count - first;
}

/* ---- the copy -------------------------------------------------------------------------------- */

/* A value of its own for each input, even where the node reads one twice, or a constant. */
static int *separate_inputs(tsr_builder *b) {
    const int count = b->node->input_count, first = b->list->count;
    int *values = TSR_NEW(b->graph->arena, count, int);
    if (!values)
        tsr_build_fail(b, tsr_out_of_memory(b->graph));
    for (int i = 0; i < count && b->status == TSR_OK; i++)
        values[i] = TSR_BUILD(b, TSR_OP_Identity, b->node->inputs[i]);
    if (b->status == TSR_OK)
        tsr_use_node_list(b->list, first);
    return values;
}

/* What stands for values while another body is copied stays as it is. */
static void copy_nodes(tsr_builder *b, const tsr_body *body, const int *inputs, int *y) {
    tsr_node_list *list = b->list;
    int *places = list->places;
    list->places = TSR_NEW(b->graph->arena, list->source_values, int);
    if (list->places) {
        for (int v = 0; v < list->source_values; v++)
            list->places[v] = v;
        tsr_build_body(b, body, inputs, y);
    } else {
        tsr_build_fail(b, tsr_out_of_memory(b->graph));
    }
    list->places = places;
}

/* Outputs that the node lacks are TSR_NONE. */
static void differentiate(tsr_builder *b, const int *inputs, int y, int *outputs) {
    const tsr_node *node = b->node;
    int *wrt = TSR_NEW(b->graph->arena, 2 * node->output_count, int);
    if (!wrt) {
        tsr_build_fail(b, tsr_out_of_memory(b->graph));
        return;
    }
    int *gradients = wrt + node->output_count, count = 0;
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE)
            wrt[count++] = inputs[i];
    const tsr_gradient_request request = {.loss = y, .wrt_count = count, .wrt = wrt};
    tsr_build_fail(b, tsr_append_gradients(b->list, &request, gradients));
    for (int i = node->output_count - 1; i >= 0; i--)
        outputs[i] = node->outputs[i] == TSR_NONE ? TSR_NONE : gradients[--count];
}

/* The work of finding nodes counts as some of them. */
static bool count_copy(tsr_builder *b) {
    enum { VALUES_PER_NODE = 256 };
    int cost = 1 + b->list->source_values / VALUES_PER_NODE;
    if (b->list->order < MAX_ORDER && b->list->may_make > cost) {
        b->list->may_make -= cost;
        return true;
    }
    tsr_build_fail(b, tsr_fail(TSR_ERROR_UNSUPPORTED,
                               b->list->order < MAX_ORDER
                                   ? "it and others need too many nodes in all"
                                   : "it is of gradients of more than %d gradients of others",
                               MAX_ORDER - 1));
    return false;
}

void tsr_build_gradient(tsr_builder *b) {
    tsr_body body = {.output_count = 1};
    int y = TSR_NONE, *outputs = TSR_NEW(b->graph->arena, b->node->output_count, int);
    if (!outputs)
        tsr_build_fail(b, tsr_out_of_memory(b->graph));
    find_inputs(b, &body);
    int named = find_tensor(b, "y", tsr_node_attr(b->node, "y")->s);
    if (b->status != TSR_OK || !count_copy(b))
        return;
    body.outputs = &named;
    find_nodes(b, &body, named);
    const int *inputs = separate_inputs(b);
    if (b->status != TSR_OK)
        return;
    b->list->order++;
    copy_nodes(b, &body, inputs, &y);
    b->list->order--;
    if (b->status == TSR_OK)
        differentiate(b, inputs, y, outputs);
    if (b->status == TSR_OK)
        tsr_build_results(b, outputs);
}
