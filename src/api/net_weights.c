#include "api/net.h"

#include <string.h>

#include "api/model.h"
#include "api/post_ops.h"
#include "api/sized.h"
#include "base/error.h"

static void fill(tsr_random *random, tsr_initializer by, tsr_fans fans, float *elements,
                 int64_t count) {
    double deviation = by.kind == TSR_INITIALIZER_HE_NORMAL ? sqrt(2 / fans.in) : by.value,
           bound = sqrt(6 / (fans.in + fans.out));
    for (int64_t i = 0; i < count; i++)
        switch (by.kind) {
        case TSR_INITIALIZER_GLOROT_UNIFORM:
            elements[i] = (float)(bound * (2 * tsr_random_uniform(random) - 1));
            break;
        case TSR_INITIALIZER_CONSTANT:
            elements[i] = by.value;
            break;
        default:
            elements[i] = (float)(deviation * tsr_random_normal(random));
        }
}

static tsr_status check(const tsr_net *net, const tsr_shape *shape, tsr_initializer by) {
    TSR_TRY(tsr_check_tensor_shape(shape));
    if ((unsigned)by.kind > TSR_INITIALIZER_CONSTANT)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "there is no initializer %d", (int)by.kind);
    if (!isfinite(by.value))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "the initializer's value is not finite");
    uint64_t bytes = (uint64_t)tsr_shape_count(shape) * sizeof(float);
    if (bytes > net->graph->max_bytes - net->bytes)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s with the weights before is more than memory",
                        tsr_shape_text(shape));
    return TSR_OK;
}

static tsr_status append_parameter(tsr_net *net, int value) {
    enum { FIRST_ROOM = 16 };
    if (net->parameter_count == net->parameter_room) {
        int room = net->parameter_room ? 2 * net->parameter_room : FIRST_ROOM;
        int *longer = TSR_NEW(net->graph->arena, room, int);
        if (!longer)
            return tsr_out_of_memory(net->graph);
        if (net->parameter_count)
            memcpy(longer, net->parameters, (size_t)net->parameter_count * sizeof *longer);
        net->parameters = longer;
        net->parameter_room = room;
    }
    net->parameters[net->parameter_count++] = value;
    return TSR_OK;
}

static tsr_status make(tsr_layer *layer, const char *suffix, const tsr_shape *shape,
                       tsr_initializer by, tsr_fans fans) {
    tsr_net *net = layer->net;
    TSR_TRY(check(net, shape, by));
    int64_t count = tsr_shape_count(shape);
    float *elements = TSR_NEW(net->graph->arena, count, float);
    int value =
        elements ? tsr_add_constant(net->graph, layer->name, suffix, TSR_DTYPE_F32, shape, elements)
                 : TSR_NONE;
    if (value == TSR_NONE)
        return tsr_out_of_memory(net->graph);
    fill(&net->random, by, fans, elements, count);
    net->bytes += (uint64_t)count * sizeof *elements;
    layer->inputs[layer->input_count++] = value;
    return append_parameter(net, value);
}

void tsr_layer_add_weights(tsr_layer *layer, const char *suffix, const tsr_shape *shape,
                           tsr_initializer initializer, tsr_initializer instead, tsr_fans fans) {
    tsr_initializer by = initializer.kind == TSR_INITIALIZER_DEFAULT ? instead : initializer;
    if (layer->net->status == TSR_OK)
        tsr_net_fail(layer->net, tsr_fail_context(make(layer, suffix, shape, by, fans),
                                                  "layer '%s', %s", layer->name, suffix));
}

/* ---- the list -------------------------------------------------------------------------------- */

int tsr_net_parameter_count(const tsr_net *net) {
    return net ? net->parameter_count : 0;
}

tsr_status tsr_net_parameter_sized(const tsr_net *net, int index, tsr_tensor_info *info,
                                   size_t size) {
    if (!info || index < 0 || index >= tsr_net_parameter_count(net))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_net_parameter: there is no parameter %d of %d", index,
                        tsr_net_parameter_count(net));
    const tsr_tensor_info known = tsr_tensor_info_of(&net->graph->values[net->parameters[index]]);
    tsr_give_struct(&known, sizeof known, info, size);
    return TSR_OK;
}

float *tsr_net_parameter_data(tsr_net *net, int index) {
    if (index < 0 || index >= tsr_net_parameter_count(net))
        return NULL;
    return (float *)net->graph->values[net->parameters[index]].data;
}
