#include "api/net.h"

#include <stdio.h>
#include <string.h>

#include "api/model.h"
#include "api/post_ops.h"
#include "api/session.h"
#include "api/sized.h"
#include "base/allocator.h"
#include "base/error.h"
#include "base/memory.h"
#include "graph/infer.h"

static tsr_status out_of_memory(void) {
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a net");
}

int tsr_net_fail(tsr_net *net, tsr_status status) {
    if (!net || net->status != TSR_OK || status == TSR_OK)
        return TSR_NET_NONE;
    tsr_session_name_file(status, net->graph);
    net->status = status;
    net->message = tsr_arena_strndup(net->graph->arena, tsr_last_error(), strlen(tsr_last_error()));
    return TSR_NET_NONE;
}

static tsr_status begin(tsr_net *net, const tsr_net_desc *desc) {
    net->graph = tsr_graph_create(desc->name ? desc->name : "net");
    if (!net->graph)
        return out_of_memory();
    net->graph->max_bytes = tsr_memory_bytes();
    net->list.graph = net->graph;
    tsr_random_seed(&net->random, desc->seed);
    return TSR_OK;
}

tsr_status tsr_net_create_sized(const tsr_net_desc *desc, size_t size, tsr_net **net) {
    tsr_net_desc known;
    if (!net)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_net_create: net is NULL");
    *net = NULL;
    TSR_TRY(tsr_take_struct("tsr_net_desc", desc, size, &known, sizeof known));
    tsr_net *made = tsr_calloc(1, sizeof *made);
    tsr_status status = made ? begin(made, &known) : out_of_memory();
    if (status == TSR_OK)
        *net = made;
    else
        tsr_net_destroy(made);
    return status;
}

void tsr_net_destroy(tsr_net *net) {
    if (!net)
        return;
    tsr_graph_destroy(net->graph);
    tsr_free(net);
}

/* ---- layers ---------------------------------------------------------------------------------- */

static bool is_tensor(const tsr_net *net, int x) {
    return x >= 0 && x < net->graph->value_count && !net->graph->values[x].data;
}

/* Kind and number, of which layers that were named by the caller may have some. */
static const char *number_layer(tsr_net *net, tsr_op op, const char *kind) {
    const char *name;
    do
        name = tsr_arena_printf(net->graph->arena, "%s%d", kind, ++net->made[op]);
    while (name && tsr_graph_find_value(net->graph, name) != TSR_NONE);
    return name;
}

static tsr_status name_layer(tsr_layer *layer, const char *kind, const char *name) {
    tsr_graph *graph = layer->net->graph;
    if (name && (!*name || tsr_graph_find_value(graph, name) != TSR_NONE))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "the name '%s' of a layer (%s) is %s", name,
                        kind, *name ? "there already" : "empty");
    layer->name = name ? tsr_arena_strndup(graph->arena, name, strlen(name))
                       : number_layer(layer->net, layer->op, kind);
    return layer->name ? TSR_OK : out_of_memory();
}

void tsr_layer_add_input(tsr_layer *layer, int x) {
    tsr_net *net = layer->net;
    if (net->status == TSR_OK && !is_tensor(net, x))
        tsr_net_fail(net, tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                                   "layer '%s' (%s): its input %d is %d, which is no tensor of the "
                                   "net",
                                   layer->name, tsr_op_get_info(layer->op)->name,
                                   layer->input_count, x));
    layer->inputs[layer->input_count++] = x;
}

bool tsr_layer_begin(tsr_layer *layer, tsr_net *net, tsr_op op, const char *kind, const char *name,
                     int x) {
    if (!net || net->status != TSR_OK)
        return false;
    *layer = (tsr_layer){.net = net, .op = op};
    tsr_net_fail(net, name_layer(layer, kind, name));
    if (net->status == TSR_OK)
        tsr_layer_add_input(layer, x);
    return net->status == TSR_OK;
}

const tsr_value *tsr_layer_in(const tsr_layer *layer, int i) {
    return &layer->net->graph->values[layer->inputs[i]];
}

void tsr_layer_add_int(tsr_layer *layer, const char *name, int64_t i) {
    layer->attrs[layer->attr_count++] = tsr_int_attr(name, i);
}

void tsr_layer_add_float(tsr_layer *layer, const char *name, float f) {
    layer->attrs[layer->attr_count++] = (tsr_attr){.name = name, .kind = TSR_ATTR_FLOAT, .f = f};
}

void tsr_layer_add_ints(tsr_layer *layer, const char *name, int count, const int64_t *ints) {
    int64_t *copy = TSR_NEW(layer->net->graph->arena, count, int64_t);
    if (!copy) {
        tsr_net_fail(layer->net, out_of_memory());
        return;
    }
    memcpy(copy, ints, (size_t)count * sizeof *ints);
    layer->attrs[layer->attr_count++] =
        (tsr_attr){.name = name, .kind = TSR_ATTR_INTS, .count = count, .ints = copy};
}

static void add_constant(tsr_layer *layer, int value) {
    if (value == TSR_NONE)
        tsr_net_fail(layer->net, TSR_ERROR_OUT_OF_MEMORY);
    layer->inputs[layer->input_count++] = value;
}

void tsr_layer_add_number(tsr_layer *layer, const char *suffix, float number) {
    float *element = TSR_NEW(layer->net->graph->arena, 1, float);
    if (!element) {
        tsr_net_fail(layer->net, out_of_memory());
        return;
    }
    *element = number;
    add_constant(layer, tsr_add_constant(layer->net->graph, layer->name, suffix, TSR_DTYPE_F32,
                                         &(tsr_shape){0}, element));
}

void tsr_layer_add_shape(tsr_layer *layer, const tsr_shape *shape) {
    add_constant(layer, tsr_add_shape(layer->net->graph, layer->name, shape));
}

static tsr_status append(tsr_layer *layer, int *output) {
    tsr_graph *graph = layer->net->graph;
    tsr_node_list *list = &layer->net->list;
    *output = tsr_graph_add_value(graph, layer->name);
    tsr_node *node = *output == TSR_NONE ? NULL : tsr_append_node(list);
    if (!node)
        return out_of_memory();
    TSR_TRY(tsr_make_node(graph, layer->name, layer->op, layer->inputs, layer->input_count, *output,
                          node));
    node->attrs = TSR_NEW(graph->arena, layer->attr_count, tsr_attr);
    if (!node->attrs)
        return out_of_memory();
    memcpy(node->attrs, layer->attrs, (size_t)layer->attr_count * sizeof *layer->attrs);
    node->attr_count = layer->attr_count;
    TSR_TRY(tsr_infer_node(graph, node));
    TSR_TRY(tsr_fail_context(tsr_check_tensor_shape(&graph->values[*output].shape), "layer '%s'",
                             layer->name));
    tsr_use_node_list(list, list->count - 1);
    return TSR_OK;
}

int tsr_layer_end(tsr_layer *layer) {
    int output = TSR_NET_NONE;
    if (layer->net->status == TSR_OK)
        tsr_net_fail(layer->net, append(layer, &output));
    return layer->net->status == TSR_OK ? output : TSR_NET_NONE;
}

/* ---- inputs and outputs ---------------------------------------------------------------------- */

static tsr_status check_input(const tsr_net *net, const char *name, const tsr_shape *shape,
                              tsr_shape *seen) {
    if (!name || !*name || !shape)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "an input without a %s",
                        shape ? "name" : "shape");
    if (tsr_graph_find_value(net->graph, name) != TSR_NONE)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "input '%s': the name is there already", name);
    if (shape->rank < 2)
        return tsr_fail(TSR_ERROR_SHAPE, "input '%s' %s: it needs a batch and another axis", name,
                        tsr_shape_text(shape));
    *seen = *shape;
    if (shape->dim[0] == -1)
        seen->dim[0] = 1;
    TSR_TRY(tsr_fail_context(tsr_check_tensor_shape(seen), "input '%s'", name));
    if (net->batch && net->batch != shape->dim[0])
        return tsr_fail(TSR_ERROR_SHAPE, "input '%s' %s: inputs before have another batch", name,
                        tsr_shape_text(shape));
    return TSR_OK;
}

int tsr_net_input(tsr_net *net, const char *name, const tsr_shape *shape) {
    tsr_shape seen = {0};
    if (!net || net->status != TSR_OK)
        return TSR_NET_NONE;
    tsr_net_fail(net, check_input(net, name, shape, &seen));
    if (net->status != TSR_OK)
        return TSR_NET_NONE;
    tsr_graph *graph = net->graph;
    int value = tsr_graph_add_value(graph, name);
    if (value == TSR_NONE || !tsr_graph_append(graph, &graph->inputs, &graph->input_count, value))
        return tsr_net_fail(net, out_of_memory());
    graph->values[value].dtype = TSR_DTYPE_F32;
    graph->values[value].shape = seen;
    net->batch = shape->dim[0];
    return value;
}

void tsr_net_output(tsr_net *net, const char *name, int x) {
    tsr_layer layer;
    if (!tsr_layer_begin(&layer, net, TSR_OP_Identity, "output", name, x))
        return;
    int value = tsr_layer_end(&layer);
    tsr_graph *graph = net->graph;
    if (value != TSR_NET_NONE &&
        !tsr_graph_append(graph, &graph->outputs, &graph->output_count, value))
        tsr_net_fail(net, out_of_memory());
}

/* ---- models ---------------------------------------------------------------------------------- */

/* Of inputs and outputs, in a copy of the graph. */
static void open_batch(tsr_graph *graph, const int *values, int count) {
    for (int i = 0; i < count; i++) {
        tsr_value *value = &graph->values[values[i]];
        value->shape.dim[0] = -1;
        value->dim_name[0] = "batch";
    }
}

static tsr_status copy_model(const tsr_net *net, tsr_model **model) {
    tsr_graph *copy = tsr_graph_clone(net->graph);
    if (!copy)
        return out_of_memory();
    if (net->batch == -1) {
        open_batch(copy, copy->inputs, copy->input_count);
        open_batch(copy, copy->outputs, copy->output_count);
    }
    tsr_status status = tsr_model_copy_of(copy, model);
    tsr_graph_destroy(copy);
    return status;
}

tsr_status tsr_net_finish(const tsr_net *net, tsr_model **model) {
    if (!net || !model)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_net_finish: %s is NULL",
                        net ? "model" : "net");
    *model = NULL;
    if (net->status != TSR_OK)
        return tsr_fail(net->status, "%s", net->message ? net->message : "no memory for a net");
    if (net->graph->input_count == 0 || net->graph->output_count == 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: it has no %s", net->graph->file,
                        net->graph->input_count ? "output" : "input");
    return copy_model(net, model);
}
