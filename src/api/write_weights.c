#include "api/write_weights.h"

#include "api/model.h"
#include "api/names.h"
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
    TSR_TRY(tsr_find_weight_layers(graph, &layers));
    for (int i = 0; i < layers.count; i++)
        if (graph->values[layers.layers[i].value].dtype == TSR_DTYPE_F16)
            *opset = 19; /* that of scales of float16 */
    return TSR_OK;
}

/* ---- packing --------------------------------------------------------------------------------- */

static tsr_status pack(tsr_graph *graph, const tsr_write_desc *desc, tsr_weight_layers *layers) {
    const tsr_weight_options options = {.format = desc->weights,
                                        .block = desc->block ? desc->block : 32,
                                        .zero_points = desc->zero_points};
    for (int i = 0; i < layers->count; i++) {
        tsr_weight_layer *layer = &layers->layers[i];
        const char *reason = NULL;
        layer->packed.error = -1;
        if (layer->reason)
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

static bool is_parameter(const tsr_model *model, const char *name) {
    const tsr_graph *graph = model->graph;
    for (int i = 0; i < graph->input_count; i++)
        if (strcmp(graph->values[graph->inputs[i]].name, name) == 0)
            return model->is_parameter[graph->inputs[i]];
    return false;
}

static tsr_status give_inputs(tsr_session *session, const tsr_model *model,
                              const tsr_write_desc *desc) {
    for (int i = 0; i < desc->input_count; i++) {
        const tsr_fixed_input *input = &desc->inputs[i];
        const tsr_array array = {.data = (void *)input->data,
                                 .count = (size_t)tsr_shape_count(&input->shape),
                                 .dtype = input->dtype};
        if (!is_parameter(model, input->input))
            TSR_TRY(tsr_session_set_input_array(session, input->input, &array));
    }
    return TSR_OK;
}

static tsr_status read_errors(tsr_session *session, const tsr_graph *graph,
                              tsr_weight_layers *layers) {
    int next = 0;
    for (int i = 0; i < layers->count; i++) {
        float sums[2];
        if (layers->layers[i].reason)
            continue;
        for (int k = 0; k < 2; k++)
            TSR_TRY(tsr_session_get_output(session, graph->values[graph->outputs[next++]].name,
                                           &sums[k], 1));
        layers->layers[i].output_error = sums[1] == 0 ? 0 : sqrt((double)sums[1] / sums[0]);
    }
    return TSR_OK;
}

/* Inputs that have to be constant are fixed, the others give their shapes. */
static tsr_status run(tsr_device *device, const tsr_model *model, const tsr_write_desc *desc,
                      tsr_weight_layers *layers) {
    tsr_arena *arena = model->graph->arena;
    tsr_fixed_input *fixed = TSR_NEW(arena, desc->input_count, tsr_fixed_input);
    tsr_input_shape *shapes = TSR_NEW(arena, desc->input_count, tsr_input_shape);
    tsr_session_desc how = {.fixed = fixed, .shapes = shapes, .progress = desc->progress};
    if (!fixed || !shapes)
        return tsr_out_of_memory(model->graph);
    for (int i = 0; i < desc->input_count; i++) {
        const tsr_fixed_input *input = &desc->inputs[i];
        if (is_parameter(model, input->input))
            fixed[how.fixed_count++] = *input;
        else
            shapes[how.shape_count++] = (tsr_input_shape){input->input, input->shape};
    }
    tsr_session *session;
    TSR_TRY(tsr_session_create(device, model, &how, &session));
    tsr_status status = give_inputs(session, model, desc);
    if (status == TSR_OK)
        status = tsr_session_run(session);
    if (status == TSR_OK)
        status = read_errors(session, model->graph, layers);
    tsr_session_destroy(session);
    return status;
}

static tsr_status compare_on(tsr_device *device, const tsr_graph *graph, const tsr_write_desc *desc,
                             tsr_weight_layers *layers) {
    tsr_graph *both = tsr_graph_clone(graph);
    tsr_model *model = NULL;
    if (!both)
        return tsr_out_of_memory(graph);
    both->is_exported = false;
    tsr_status status = tsr_compare_packed_weights(both, layers);
    if (status == TSR_OK)
        status = tsr_model_of_graph(both, &model);
    if (status != TSR_OK) {
        tsr_graph_destroy(both);
        return status;
    }
    status = run(device, model, desc, layers);
    tsr_model_free(model);
    return status;
}

static tsr_status compare(const tsr_graph *graph, const tsr_write_desc *desc,
                          tsr_weight_layers *layers) {
    tsr_device *device;
    TSR_TRY(tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &device));
    tsr_status status = compare_on(device, graph, desc, layers);
    tsr_device_destroy(device);
    for (int i = 0; i < layers->count && status == TSR_OK && desc->tolerance > 0; i++)
        if (!layers->layers[i].reason && !(layers->layers[i].output_error <= desc->tolerance))
            tsr_keep_layer(layers, i, "its error is above the tolerance");
    return status;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void report(const tsr_graph *graph, const tsr_weight_layers *layers, int i,
                   const tsr_write_desc *desc) {
    const tsr_weight_layer *layer = &layers->layers[i];
    const tsr_node *node = &graph->nodes[layer->node];
    const tsr_value *weights = &graph->values[layer->weights];
    tsr_written_layer told = {.node = node->name,
                              .op = tsr_node_op_name(node),
                              .weights = weights->name,
                              .shape = weights->shape,
                              .format = layer->reason ? TSR_WRITTEN_AS_THEY_ARE : desc->weights,
                              .reason = layer->reason,
                              .weight_error = layer->packed.error,
                              .output_error = layer->output_error};
    if (layer->first == i) {
        told.bytes_before =
            tsr_dtype_file_bytes(weights->dtype, (uint64_t)tsr_shape_count(&weights->shape));
        told.bytes_after =
            layer->reason ? told.bytes_before : tsr_packed_bytes(graph, &layer->packed);
    }
    desc->layer(desc->layer_user, &told);
}

tsr_status tsr_write_weights(tsr_graph *graph, const tsr_graph *loaded,
                             const tsr_write_desc *desc) {
    tsr_weight_layers layers;
    TSR_TRY(check_not_quantized(loaded));
    TSR_TRY(tsr_find_weight_layers(graph, &layers));
    TSR_TRY(keep_named(graph, loaded, desc, &layers));
    TSR_TRY(pack(graph, desc, &layers));
    if (desc->input_count)
        TSR_TRY(compare(graph, desc, &layers));
    for (int i = 0; i < layers.count && desc->layer; i++)
        report(graph, &layers, i, desc);
    return tsr_use_packed_weights(graph, &layers);
}
