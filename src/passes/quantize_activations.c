/* Activations and biases as integers: scales, constants, nodes. */
#include "passes/activations.h"

#include "base/error.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- scales ---------------------------------------------------------------------------------- */

enum { MOST = 255 };

/* Zero is a level, so that padding is exact; the scale may be a little larger for it. */
void tsr_scale_of_range(tsr_range range, float *scale, int *zero_point) {
    double low = fmin(range.low, 0), high = fmax(range.high, 0);
    double step = (high - low) / MOST;
    *scale = low == high ? 1 : (float)fmin(fmax(step, FLT_MIN), FLT_MAX);
    *zero_point = (int)fmin(nearbyint(-low / *scale), MOST);
}

static tsr_range join_ranges(tsr_range one, tsr_range other) {
    return (tsr_range){fminf(one.low, other.low), fmaxf(one.high, other.high)};
}

void tsr_choose_scales(tsr_activations *a) {
    for (int v = 0; v < a->count; v++)
        a->of[v].shared = (tsr_range){0, 0};
    for (int v = 0; v < a->count; v++)
        if (a->of[v].quantized) {
            tsr_range *shared = &a->of[a->of[v].group].shared;
            *shared = join_ranges(*shared, a->of[v].range);
        }
    for (int v = 0; v < a->count; v++)
        if (a->of[v].quantized)
            tsr_scale_of_range(a->of[a->of[v].group].shared, &a->of[v].scale, &a->of[v].zero_point);
}

/* ---- biases ---------------------------------------------------------------------------------- */

/* The bias of a layer, one for each output channel; NULL: none that can be integers. */
static const tsr_value *find_bias(tsr_graph *graph, const tsr_weight_layer *layer) {
    const tsr_node *node = &graph->nodes[layer->node];
    bool scaled = tsr_attr_float(node, "alpha", 1) != 1 || tsr_attr_float(node, "beta", 1) != 1;
    const tsr_value *bias = tsr_node_in(graph, node, 2);
    if (layer->reason || layer->value == TSR_NONE || scaled || !bias || !bias->data ||
        bias->dtype != TSR_DTYPE_F32 || bias->shape.rank != 1)
        return NULL;
    int64_t channels = graph->values[layer->packed.scales].shape.dim[0];
    return bias->shape.dim[0] % channels == 0 ? bias : NULL;
}

static bool round_bias(const float *bias, const float *scales, int64_t count, int64_t *integers) {
    for (int64_t i = 0; i < count; i++) {
        double x = nearbyint((double)bias[i] / scales[i]);
        if (!(fabs(x) <= INT32_MAX))
            return false;
        integers[i] = (int64_t)x;
    }
    return true;
}

/* Sums have the scale of the products. Groups of transposed convolutions share scales of weights.
 */
static tsr_status pack_bias(tsr_graph *graph, float scale, tsr_weight_layer *layer) {
    const tsr_value *found = find_bias(graph, layer);
    layer->bias = TSR_NONE;
    if (!found)
        return TSR_OK;
    if (!tsr_graph_copy_to_arena(graph, (int)(found - graph->values)))
        return tsr_out_of_memory(graph);
    const tsr_value bias = *found, weights = graph->values[layer->packed.scales];
    int64_t count = bias.shape.dim[0];
    float *scales = TSR_NEW(graph->arena, count, float);
    int64_t *integers = TSR_NEW(graph->arena, count, int64_t);
    if (!scales || !integers)
        return tsr_out_of_memory(graph);
    for (int64_t i = 0; i < count; i++)
        scales[i] = scale * ((const float *)weights.data)[i % weights.shape.dim[0]];
    if (!round_bias(bias.data, scales, count, integers))
        return TSR_OK;
    layer->bias =
        tsr_add_constant(graph, bias.name, "quantized", TSR_DTYPE_I32, &bias.shape, integers);
    layer->bias_scales =
        tsr_add_constant(graph, bias.name, "scales", TSR_DTYPE_F32, &bias.shape, scales);
    return layer->bias == TSR_NONE || layer->bias_scales == TSR_NONE ? TSR_ERROR_OUT_OF_MEMORY
                                                                     : TSR_OK;
}

tsr_status tsr_pack_biases(tsr_graph *graph, const tsr_activations *activations,
                           tsr_weight_layers *layers) {
    for (int i = 0; i < layers->count; i++) {
        tsr_weight_layer *layer = &layers->layers[i];
        const tsr_node *node = &graph->nodes[layer->node];
        int activation = layer->input == 0 ? 1 : 0;
        if (node->op != TSR_OP_Gather && tsr_is_activation(graph, layer, activation))
            TSR_TRY(pack_bias(graph, activations->of[node->inputs[activation]].scale, layer));
    }
    return TSR_OK;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool is_quantized(const tsr_activations *a, int value) {
    return value != TSR_NONE && value < a->count && a->of[value].quantized;
}

/* *made: the value in 8 bits and as a float again. */
static tsr_status append_pair(tsr_node_list *list, const tsr_activations *a, int value, int *made) {
    static const tsr_shape scalar = {0};
    tsr_graph *graph = list->graph;
    const char *name = graph->values[value].name;
    int64_t *zero_point = TSR_NEW(graph->arena, 1, int64_t);
    if (!zero_point)
        return tsr_out_of_memory(graph);
    *zero_point = a->of[value].zero_point;
    int inputs[] = {
        value, tsr_add_constant(graph, name, "scale", TSR_DTYPE_F32, &scalar, &a->of[value].scale),
        tsr_add_constant(graph, name, "zero_point", TSR_DTYPE_U8, &scalar, zero_point)};
    if (inputs[1] == TSR_NONE || inputs[2] == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    TSR_TRY(tsr_append_new(list, name, TSR_OP_QuantizeLinear, 3, inputs, 0, NULL, &inputs[0]));
    return tsr_append_new(list, name, TSR_OP_DequantizeLinear, 3, inputs, 0, NULL, made);
}

tsr_status tsr_quantize_inputs(tsr_node_list *list, const tsr_activations *activations,
                               tsr_node *node) {
    for (int i = 0; i < node->input_count; i++)
        if (is_quantized(activations, node->inputs[i]))
            TSR_TRY(append_pair(list, activations, node->inputs[i], &node->inputs[i]));
    return TSR_OK;
}

/* Of values that a node or, NULL, the graph's caller makes; floats: by value, what is read of it.
 */
static tsr_status append_pairs(tsr_node_list *list, const tsr_activations *a, int count,
                               const int *values, int *floats) {
    for (int i = 0; i < count; i++)
        if (is_quantized(a, values[i]))
            TSR_TRY(append_pair(list, a, values[i], &floats[values[i]]));
    return TSR_OK;
}

/* Bodies read values around them by their names. */
static tsr_status read_floats(tsr_graph *graph, const tsr_activations *a, const int *floats,
                              tsr_node *node) {
    int *inputs = TSR_NEW(graph->arena, node->input_count, int);
    if (!inputs)
        return tsr_out_of_memory(graph);
    for (int i = 0; i < node->input_count; i++)
        inputs[i] = is_quantized(a, node->inputs[i]) && !tsr_has_body(node)
                        ? floats[node->inputs[i]]
                        : node->inputs[i];
    node->inputs = inputs;
    return TSR_OK;
}

tsr_status tsr_quantize_activations(tsr_graph *graph, const tsr_activations *a) {
    tsr_node_list list = {.graph = graph};
    int *floats = TSR_NEW(graph->arena, a->count, int);
    const tsr_node *nodes = graph->nodes;
    int count = graph->node_count;
    if (!floats)
        return tsr_out_of_memory(graph);
    TSR_TRY(append_pairs(&list, a, graph->input_count, graph->inputs, floats));
    for (int n = 0; n < count; n++) {
        tsr_node node = nodes[n];
        TSR_TRY(read_floats(graph, a, floats, &node));
        TSR_TRY(tsr_append_copy(&list, &node));
        TSR_TRY(append_pairs(&list, a, node.output_count, node.outputs, floats));
    }
    tsr_use_node_list(&list, 0);
    return TSR_OK;
}
