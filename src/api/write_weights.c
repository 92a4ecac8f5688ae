#include "api/write_weights.h"

#include "api/names.h"
#include "api/write_activations.h"
#include "api/write_run.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/similar.h"
#include "passes/weight_layers.h"

#include <math.h>
#include <string.h>

/* ---- what cannot be done --------------------------------------------------------------------- */

static bool is_quantized(tsr_op op) {
    return op == TSR_OP_QuantizeLinear || op == TSR_OP_DequantizeLinear ||
           op == TSR_OP_DynamicQuantizeLinear || op == TSR_OP_QLinearConv ||
           op == TSR_OP_QLinearMatMul;
}

static tsr_status check_not_quantized(const tsr_graph *graph) {
    for (int n = 0; n < graph->node_count; n++)
        if (is_quantized(graph->nodes[n].op))
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                            "the model is quantized already: node '%s' (%s)", graph->nodes[n].name,
                            tsr_node_op_name(&graph->nodes[n]));
    return TSR_OK;
}

static bool has_node(const tsr_graph *graph, const char *name) {
    for (int n = 0; n < graph->node_count; n++)
        if (strcmp(graph->nodes[n].name, name) == 0)
            return true;
    return false;
}

static tsr_status fail_node(const tsr_graph *graph, const char *name) {
    tsr_similar similar = {.count = 0};
    tsr_names names = {.length = 0};
    for (int n = 0; n < graph->node_count; n++)
        tsr_similar_add(&similar, name, graph->nodes[n].name);
    for (int i = 0; i < similar.count; i++)
        tsr_names_add(&names, similar.names[i]);
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                    "no node is named '%s' whose weights could stay; similar names: %s", name,
                    names.text);
}

static tsr_status keep_named(const tsr_graph *graph, const tsr_graph *loaded,
                             const tsr_write_desc *desc, tsr_weight_layers *layers) {
    for (int k = 0; k < desc->keep_count; k++) {
        const char *name = desc->keep[k] ? desc->keep[k] : "";
        if (!has_node(graph, name) && !has_node(loaded, name))
            return fail_node(loaded, name);
        for (int i = 0; i < layers->count; i++)
            if (strcmp(graph->nodes[layers->layers[i].node].name, name) == 0)
                tsr_keep_layer(layers, i, "as asked");
    }
    return TSR_OK;
}

tsr_status tsr_weights_first_opset(const tsr_graph *graph, const tsr_write_desc *desc, int *opset) {
    tsr_weight_layers layers;
    *opset = desc->weights == TSR_WRITTEN_INT4 ? 21 : 0;
    if (desc->weights != TSR_WRITTEN_INT8)
        return TSR_OK;
    TSR_TRY(tsr_find_weight_layers(graph, false, &layers));
    for (int i = 0; i < layers.count; i++)
        if (graph->values[layers.layers[i].value].dtype == TSR_DTYPE_F16)
            *opset = 19; /* that of scales of float16 */
    return TSR_OK;
}

/* ---- packing --------------------------------------------------------------------------------- */

static tsr_status pack(tsr_graph *graph, const tsr_write_desc *desc, tsr_weight_layers *layers) {
    bool bytes = desc->weights == TSR_WRITTEN_QDQ;
    const tsr_weight_options options = {.format = bytes ? TSR_WRITTEN_INT8 : desc->weights,
                                        .block = desc->block ? desc->block : 32,
                                        .zero_points = desc->zero_points};
    for (int i = 0; i < layers->count; i++) {
        tsr_weight_layer *layer = &layers->layers[i];
        const char *reason = NULL;
        layer->packed.error = -1;
        if (layer->reason || layer->value == TSR_NONE)
            continue;
        if (layer->first == i)
            TSR_TRY(tsr_pack_weights(graph, layer, &options, &layer->packed, &reason));
        else
            layer->packed = layers->layers[layer->first].packed;
        if (reason)
            tsr_keep_layer(layers, i, reason);
    }
    return TSR_OK;
}

/* ---- measuring ------------------------------------------------------------------------------- */

typedef struct comparison {
    const tsr_weight_layers *layers;
    double (*sums)[2]; /* by layer, over all runs: of its output, of what is lost */
} comparison;

static tsr_status add_sums(void *user, tsr_session *session, const tsr_fixed_input *inputs) {
    comparison *c = user;
    int next = 0;
    (void)inputs;
    for (int i = 0; i < c->layers->count; i++)
        for (int k = 0; k < 2 && !c->layers->layers[i].reason; k++) {
            tsr_tensor_info info;
            float sum;
            TSR_TRY(tsr_session_output(session, next++, &info));
            TSR_TRY(tsr_session_get_output(session, info.name, &sum, 1));
            c->sums[i][k] += sum;
        }
    return TSR_OK;
}

static tsr_status sum_up(const tsr_graph *graph, const tsr_write_desc *desc,
                         const tsr_activations *activations, tsr_progress_meter *meter,
                         comparison *c) {
    const tsr_write_reader reader = {add_sums, c, "measuring", meter};
    tsr_graph *both = tsr_graph_clone(graph);
    if (!both)
        return tsr_out_of_memory(graph);
    tsr_status status = tsr_compare_packed_weights(both, c->layers, activations);
    if (status == TSR_OK)
        return tsr_write_run(both, desc, &reader);
    tsr_graph_destroy(both);
    return status;
}

/* activations: NULL, or what is quantized. */
static tsr_status compare(const tsr_graph *graph, const tsr_write_desc *desc,
                          const tsr_activations *activations, tsr_progress_meter *meter,
                          tsr_weight_layers *layers) {
    comparison c = {layers, (double(*)[2])TSR_NEW(graph->arena, 2 * (size_t)layers->count, double)};
    if (!c.sums)
        return tsr_out_of_memory(graph);
    TSR_TRY(sum_up(graph, desc, activations, meter, &c));
    for (int i = 0; i < layers->count; i++)
        if (!layers->layers[i].reason)
            layers->layers[i].output_error =
                c.sums[i][1] == 0 ? 0 : sqrt(c.sums[i][1] / c.sums[i][0]);
    for (int i = 0; i < layers->count && desc->tolerance > 0; i++)
        if (!layers->layers[i].reason && !(layers->layers[i].output_error <= desc->tolerance))
            tsr_keep_layer(layers, i, "its error is above the tolerance");
    return TSR_OK;
}

/* ---- activations ----------------------------------------------------------------------------- */

/* Weights of float16 mean activations of float16. */
static void keep_halves(const tsr_graph *graph, tsr_weight_layers *layers) {
    for (int i = 0; i < layers->count; i++) {
        const tsr_weight_layer *layer = &layers->layers[i];
        if (!layer->reason && layer->value != TSR_NONE &&
            graph->values[layer->value].dtype != TSR_DTYPE_F32)
            tsr_keep_layer(layers, i, "it computes in float16");
    }
}

/* The ranges of all that may be quantized are measured at first, then layers stay whose error is
 * too large, and with them what only they would read. */
static tsr_status choose_activations(tsr_graph *graph, const tsr_write_desc *desc,
                                     tsr_weight_layers *layers, tsr_activations *activations) {
    tsr_progress_meter meter = {.caller = desc->progress};
    TSR_TRY(tsr_activations_make(graph, activations));
    TSR_TRY(tsr_find_activations(graph, layers, activations));
    tsr_progress_stage(&meter, desc->no_measure ? 1 : 0.4);
    TSR_TRY(tsr_calibrate_activations(graph, desc, &meter, activations));
    tsr_choose_scales(activations);
    if (desc->no_measure)
        return TSR_OK;
    tsr_progress_stage(&meter, 1);
    TSR_TRY(compare(graph, desc, activations, &meter, layers));
    TSR_TRY(tsr_find_activations(graph, layers, activations));
    tsr_choose_scales(activations);
    return TSR_OK;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Tables of Gather are weights alone. */
static tsr_written_format format_of(const tsr_weight_layer *layer, const tsr_node *node,
                                    const tsr_write_desc *desc) {
    if (layer->reason)
        return TSR_WRITTEN_AS_THEY_ARE;
    return desc->weights == TSR_WRITTEN_QDQ && node->op == TSR_OP_Gather ? TSR_WRITTEN_INT8
                                                                         : desc->weights;
}

static void add_weights(const tsr_graph *graph, const tsr_weight_layer *layer, bool is_first,
                        tsr_written_layer *told) {
    const tsr_value *weights = &graph->values[layer->weights];
    told->weights = weights->name;
    told->shape = weights->shape;
    told->weight_error = layer->packed.error;
    if (!is_first)
        return;
    told->bytes_before =
        tsr_dtype_file_bytes(weights->dtype, (uint64_t)tsr_shape_count(&weights->shape));
    told->bytes_after =
        layer->reason ? told->bytes_before : tsr_packed_bytes(graph, &layer->packed);
}

static void report(const tsr_graph *graph, const tsr_weight_layers *layers, int i,
                   const tsr_write_desc *desc) {
    const tsr_weight_layer *layer = &layers->layers[i];
    const tsr_node *node = &graph->nodes[layer->node];
    tsr_written_layer told = {.node = node->name,
                              .op = tsr_node_op_name(node),
                              .weights = "",
                              .format = format_of(layer, node, desc),
                              .reason = layer->reason,
                              .weight_error = -1,
                              .output_error = layer->output_error};
    if (layer->weights != TSR_NONE)
        add_weights(graph, layer, layer->first == i, &told);
    desc->layer(desc->layer_user, &told);
}

static tsr_status write_quantized(tsr_graph *graph, const tsr_write_desc *desc,
                                  tsr_weight_layers *layers) {
    tsr_activations activations;
    TSR_TRY(choose_activations(graph, desc, layers, &activations));
    TSR_TRY(tsr_pack_biases(graph, &activations, layers));
    for (int i = 0; i < layers->count && desc->layer; i++)
        report(graph, layers, i, desc);
    TSR_TRY(tsr_use_packed_weights(graph, layers));
    return tsr_quantize_activations(graph, &activations);
}

tsr_status tsr_write_weights(tsr_graph *graph, const tsr_graph *loaded,
                             const tsr_write_desc *desc) {
    tsr_weight_layers layers;
    bool quantizes = desc->weights == TSR_WRITTEN_QDQ;
    TSR_TRY(check_not_quantized(loaded));
    TSR_TRY(tsr_find_weight_layers(graph, quantizes, &layers));
    TSR_TRY(keep_named(graph, loaded, desc, &layers));
    if (quantizes)
        keep_halves(graph, &layers);
    TSR_TRY(pack(graph, desc, &layers));
    if (quantizes)
        return write_quantized(graph, desc, &layers);
    if (desc->input_count)
        TSR_TRY(compare(graph, desc, NULL, NULL, &layers));
    for (int i = 0; i < layers.count && desc->layer; i++)
        report(graph, &layers, i, desc);
    return tsr_use_packed_weights(graph, &layers);
}
