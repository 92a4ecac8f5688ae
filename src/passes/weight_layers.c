/* Layers whose weights may have fewer bits, and the nodes that make floats of those. */
#include "passes/activations.h"

#include "base/dtype.h"
#include "base/error.h"

#include <string.h>

/* ---- which layers ---------------------------------------------------------------------------- */

/* Smaller ones save nothing. */
enum { MIN_ELEMENTS = 256 };

/* The constant that a value is, or is cast from float16; TSR_NONE if there is none. */
static int constant_of(const tsr_graph *graph, int value) {
    const tsr_value *v = &graph->values[value];
    const tsr_node *maker = v->producer == TSR_NONE ? NULL : &graph->nodes[v->producer];
    if (!v->data && maker && maker->op == TSR_OP_Cast && v->dtype == TSR_DTYPE_F32 &&
        graph->values[maker->inputs[0]].dtype == TSR_DTYPE_F16)
        value = maker->inputs[0];
    v = &graph->values[value];
    bool is_float = v->dtype == TSR_DTYPE_F32 || v->dtype == TSR_DTYPE_F16;
    return v->data && is_float && v->shape.rank >= 2 ? value : TSR_NONE;
}

/* The axes of input `input`, counted from the end if negative; false if that is no constant. */
static bool take(const tsr_graph *graph, const tsr_node *node, int input, int output_axis,
                 int sum_axis, tsr_weight_layer *layer) {
    int value = input < node->input_count ? node->inputs[input] : TSR_NONE;
    int weights = value == TSR_NONE ? TSR_NONE : constant_of(graph, value);
    if (weights == TSR_NONE)
        return false;
    int rank = graph->values[weights].shape.rank;
    layer->input = input;
    layer->value = value;
    layer->weights = weights;
    layer->output_axis = output_axis < 0 ? output_axis + rank : output_axis;
    layer->sum_axis = sum_axis < 0 ? sum_axis + rank : sum_axis;
    return true;
}

static bool find_weights(const tsr_graph *graph, const tsr_node *node, tsr_weight_layer *layer) {
    bool transposed;
    switch (node->op) {
    case TSR_OP_Conv:
        return take(graph, node, 1, 0, 1, layer);
    case TSR_OP_ConvTranspose:
        return take(graph, node, 1, 1, 0, layer);
    case TSR_OP_MatMul:
        return take(graph, node, 1, -1, -2, layer) || take(graph, node, 0, -2, -1, layer);
    case TSR_OP_Gemm:
        transposed = tsr_attr_int(node, "transB", 0) != 0;
        return take(graph, node, 1, !transposed, transposed, layer);
    case TSR_OP_Gather: /* a table of rows */
        return tsr_attr_int(node, "axis", 0) == 0 && take(graph, node, 0, 0, -1, layer);
    default:
        return false;
    }
}

/* Of two activations, both float32. */
static bool multiplies_activations(const tsr_graph *graph, const tsr_node *node) {
    bool both = node->op == TSR_OP_MatMul;
    for (int i = 0; i < 2 && both; i++) {
        const tsr_value *v = tsr_node_in(graph, node, i);
        both = v && v->dtype == TSR_DTYPE_F32 && !v->data;
    }
    return both;
}

static bool find_layer(const tsr_graph *graph, const tsr_node *node, bool all,
                       tsr_weight_layer *layer) {
    if (!find_weights(graph, node, layer))
        return all && multiplies_activations(graph, node);
    bool small = tsr_shape_count(&graph->values[layer->weights].shape) < MIN_ELEMENTS;
    return !small || (all && node->op != TSR_OP_Gather);
}

/* The first layer that reads the last one's weights. */
static int first_reader(const tsr_weight_layers *layers) {
    int i = 0, last = layers->count - 1, value = layers->layers[last].value;
    while (i < last && (value == TSR_NONE || layers->layers[i].value != value))
        i++;
    return i;
}

static int count_readers(const tsr_weight_layers *layers, int first) {
    int count = 0;
    for (int i = 0; i < layers->count; i++)
        count += layers->layers[i].first == first;
    return count;
}

tsr_status tsr_find_weight_layers(const tsr_graph *graph, bool all, tsr_weight_layers *found) {
    int *readers = tsr_count_readers(graph);
    *found = (tsr_weight_layers){TSR_NEW(graph->arena, graph->node_count, tsr_weight_layer), 0};
    if (!readers || !found->layers)
        return tsr_out_of_memory(graph);
    for (int n = 0; n < graph->node_count; n++) {
        tsr_weight_layer layer = {.node = n,
                                  .input = TSR_NONE,
                                  .value = TSR_NONE,
                                  .weights = TSR_NONE,
                                  .bias = TSR_NONE,
                                  .output_error = -1};
        if (!find_layer(graph, &graph->nodes[n], all, &layer))
            continue;
        found->layers[found->count++] = layer;
        found->layers[found->count - 1].first = first_reader(found);
    }
    for (int i = 0; i < found->count; i++)
        if (found->layers[i].first == i && found->layers[i].value != TSR_NONE &&
            count_readers(found, i) != readers[found->layers[i].value])
            tsr_keep_layer(found, i, "other nodes read its weights, too");
    return TSR_OK;
}

void tsr_keep_layer(tsr_weight_layers *layers, int index, const char *reason) {
    int first = layers->layers[index].first;
    for (int i = 0; i < layers->count; i++)
        if (layers->layers[i].first == first && !layers->layers[i].reason)
            layers->layers[i].reason =
                i == index ? reason : "another layer that stays reads its weights";
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static tsr_status append_dequantize(tsr_node_list *list, const char *name, const tsr_packed *p,
                                    int *value) {
    const tsr_attr attrs[] = {tsr_int_attr("axis", p->grid.axis),
                              tsr_int_attr("block_size", p->grid.block)};
    const int inputs[] = {p->elements, p->scales, p->zero_points};
    return tsr_append_new(list, name, TSR_OP_DequantizeLinear, p->zero_points == TSR_NONE ? 2 : 3,
                          inputs, p->grid.block ? 2 : 1, attrs, value);
}

/* Packed weights as floats of the layer's shape. */
static tsr_status append_floats(tsr_node_list *list, const tsr_weight_layer *layer, int *value) {
    tsr_graph *graph = list->graph;
    const tsr_packed *p = &layer->packed;
    const tsr_value weights = graph->values[layer->weights];
    const tsr_attr to = tsr_int_attr("to", tsr_dtype_to_onnx(graph->values[layer->value].dtype));
    if (p->scales == TSR_NONE)
        return tsr_append_new(list, weights.name, TSR_OP_Cast, 1, &p->elements, 1, &to, value);
    TSR_TRY(append_dequantize(list, weights.name, p, value));
    if (tsr_shape_equal(&p->grid.view, &weights.shape))
        return TSR_OK;
    const int inputs[] = {*value, tsr_add_shape(graph, weights.name, &weights.shape)};
    return inputs[1] == TSR_NONE
               ? TSR_ERROR_OUT_OF_MEMORY
               : tsr_append_new(list, weights.name, TSR_OP_Reshape, 2, inputs, 0, NULL, value);
}

/* A copy of the node that reads the packed weights; *floats: what is appended for the first layer
 * that reads them. */
static tsr_status copy_node(tsr_node_list *list, const tsr_weight_layer *layer, bool is_first,
                            const tsr_node *node, int *floats, tsr_node *copy) {
    tsr_graph *graph = list->graph;
    *copy = *node;
    copy->inputs = TSR_NEW(graph->arena, node->input_count, int);
    if (!copy->inputs)
        return tsr_out_of_memory(graph);
    memcpy(copy->inputs, node->inputs, (size_t)node->input_count * sizeof *copy->inputs);
    if (layer->value == TSR_NONE)
        return TSR_OK;
    if (is_first)
        TSR_TRY(append_floats(list, layer, floats));
    copy->inputs[layer->input] = *floats;
    return TSR_OK;
}

/* Of int32, with the scales of its layer's sums. */
static tsr_status append_bias(tsr_node_list *list, const tsr_weight_layer *layer, int *value) {
    const tsr_attr axis = tsr_int_attr("axis", 0);
    const int inputs[] = {layer->bias, layer->bias_scales};
    return tsr_append_new(list, list->graph->values[*value].name, TSR_OP_DequantizeLinear, 2,
                          inputs, 1, &axis, value);
}

/* ---- packed weights instead of floats -------------------------------------------------------- */

tsr_status tsr_use_packed_weights(tsr_graph *graph, const tsr_weight_layers *layers) {
    tsr_node_list list = {.graph = graph};
    int *floats = TSR_NEW(graph->arena, layers->count, int), next = 0;
    const tsr_node *nodes = graph->nodes;
    int count = graph->node_count;
    if (!floats)
        return tsr_out_of_memory(graph);
    for (int n = 0; n < count; n++) {
        const tsr_weight_layer *layer = &layers->layers[next];
        tsr_node node = nodes[n];
        if (next < layers->count && layer->node == n && !layer->reason) {
            TSR_TRY(copy_node(&list, layer, layer->first == next, &nodes[n], &floats[layer->first],
                              &node));
            if (layer->bias != TSR_NONE)
                TSR_TRY(append_bias(&list, layer, &node.inputs[2]));
        }
        next += next < layers->count && layer->node == n;
        TSR_TRY(tsr_append_copy(&list, &node));
    }
    tsr_use_node_list(&list, 0);
    return tsr_pass_remove_dead(graph);
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* The sum of squares of a value, in float32. */
static tsr_status append_squares(tsr_node_list *list, const char *name, int value, tsr_dtype dtype,
                                 int *sum) {
    const tsr_attr drop = tsr_int_attr("keepdims", 0),
                   to = tsr_int_attr("to", tsr_dtype_to_onnx(TSR_DTYPE_F32));
    if (dtype != TSR_DTYPE_F32)
        TSR_TRY(tsr_append_new(list, name, TSR_OP_Cast, 1, &value, 1, &to, &value));
    return tsr_append_new(list, name, TSR_OP_ReduceSumSquare, 1, &value, 1, &drop, sum);
}

/* packed: the copy that reads what is packed. */
static tsr_status append_comparison(tsr_node_list *list, const tsr_weight_layer *layer,
                                    const tsr_node *node, tsr_node *packed, int sums[2]) {
    tsr_graph *graph = list->graph;
    int output = tsr_add_value(graph, node->name, "packed"), lost;
    int *outputs = TSR_NEW(graph->arena, 1, int);
    if (output == TSR_NONE || !outputs)
        return tsr_out_of_memory(graph);
    *outputs = output;
    packed->outputs = outputs;
    TSR_TRY(tsr_append_copy(list, packed));
    const int both[] = {output, node->outputs[0]};
    tsr_dtype dtype = layer->value == TSR_NONE ? TSR_DTYPE_F32 : graph->values[layer->value].dtype;
    TSR_TRY(tsr_append_new(list, node->name, TSR_OP_Sub, 2, both, 0, NULL, &lost));
    TSR_TRY(append_squares(list, node->name, node->outputs[0], dtype, &sums[0]));
    return append_squares(list, node->name, lost, dtype, &sums[1]);
}

tsr_status tsr_compare_packed_weights(tsr_graph *graph, const tsr_weight_layers *layers,
                                      const tsr_activations *activations) {
    tsr_node_list list = {.graph = graph};
    int *floats = TSR_NEW(graph->arena, layers->count, int), next = 0;
    int *outputs = TSR_NEW(graph->arena, 2 * (size_t)layers->count, int);
    const tsr_node *nodes = graph->nodes;
    int count = graph->node_count;
    if (!floats || !outputs)
        return tsr_out_of_memory(graph);
    graph->outputs = outputs;
    graph->output_count = 0;
    for (int n = 0; n < count; n++) {
        const tsr_weight_layer *layer = &layers->layers[next];
        TSR_TRY(tsr_append_copy(&list, &nodes[n]));
        if (next == layers->count || layer->node != n)
            continue;
        if (!layer->reason) {
            tsr_node packed;
            TSR_TRY(copy_node(&list, layer, layer->first == next, &nodes[n], &floats[layer->first],
                              &packed));
            if (activations)
                TSR_TRY(tsr_quantize_inputs(&list, activations, &packed));
            TSR_TRY(
                append_comparison(&list, layer, &nodes[n], &packed, &outputs[graph->output_count]));
            graph->output_count += 2;
        }
        next++;
    }
    tsr_use_node_list(&list, 0);
    return TSR_OK;
}
