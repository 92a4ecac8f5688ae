/* A BatchNormalization after a convolution that no other node reads: scale and shift are folded
 * into its weights and bias. */
#include "passes/batch_norm.h"

#include "base/error.h"

#include <string.h>

/* The convolution that produces the input and can take scale and shift: constant weights, no
 * other reader. NULL if there is none. */
static tsr_node *convolution_before(const tsr_graph *graph, const tsr_node *node,
                                    const int *readers) {
    const tsr_value *in = tsr_node_in(graph, node, 0);
    if (in->producer == TSR_NONE || readers[node->inputs[0]] != 1)
        return NULL;
    tsr_node *conv = &graph->nodes[in->producer];
    if ((conv->op != TSR_OP_Conv && conv->op != TSR_OP_ConvTranspose) || conv->post_count)
        return NULL;
    const tsr_value *weights = tsr_node_in(graph, conv, 1), *bias = tsr_node_in(graph, conv, 2);
    return weights->data && (!bias || bias->data) ? conv : NULL;
}

/* The scale of weights that stay a constant of the model (tsr_value.scale). */
static const double *channel_scale(const tsr_graph *graph, const tsr_value *weights,
                                   const tsr_affine *a) {
    double *scale = TSR_NEW(graph->arena, a->channels, double);
    for (int64_t c = 0; scale && c < a->channels; c++)
        scale[c] = a->scale[c] * (weights->scale ? weights->scale[c] : 1);
    return scale;
}

/* Weights are [M, C / group, ...] of Conv and [C, M / group, ...] of ConvTranspose; M: output
 * channels. */
static float *scale_weights(const tsr_graph *graph, const tsr_node *conv, const tsr_affine *a) {
    const tsr_value *weights = tsr_node_in(graph, conv, 1);
    const float *from = weights->data;
    int64_t count = tsr_shape_count(&weights->shape);
    float *to = TSR_NEW(graph->arena, count, float);
    if (!to || !count)
        return to;
    int64_t rows = weights->shape.dim[0], columns = weights->shape.dim[1];
    int64_t taps = count / (rows * columns);
    int64_t rows_per_group = rows / tsr_attr_int(conv, "group", 1);
    for (int64_t i = 0; i < count; i++) {
        int64_t row = i / (columns * taps), column = i / taps % columns;
        int64_t channel = conv->op == TSR_OP_Conv ? row : row / rows_per_group * columns + column;
        to[i] = (float)(from[i] * a->scale[channel]);
    }
    return to;
}

static float *shift_bias(const tsr_graph *graph, const tsr_node *conv, const tsr_affine *a) {
    const tsr_value *bias = tsr_node_in(graph, conv, 2);
    float *to = TSR_NEW(graph->arena, a->channels, float);
    for (int64_t c = 0; to && c < a->channels; c++)
        to[c] = (float)((bias ? ((const float *)bias->data)[c] : 0) * a->scale[c] + a->shift[c]);
    return to;
}

static tsr_status fold_into(tsr_graph *graph, tsr_node *conv, tsr_node *node, const tsr_affine *a) {
    const tsr_value *before = tsr_node_in(graph, conv, 1);
    int kept = before->model_constant;
    const double *scale = kept ? channel_scale(graph, before, a) : NULL;
    const void *weights = kept ? before->data : scale_weights(graph, conv, a);
    float *bias = shift_bias(graph, conv, a);
    int *inputs = TSR_NEW(graph->arena, 3, int);
    if ((kept && !scale) || !weights || !bias || !inputs)
        return tsr_out_of_memory(graph);
    tsr_shape weights_shape = before->shape;
    tsr_shape bias_shape = {.rank = 1, .dim = {a->channels}};
    tsr_dtype dtype = before->dtype;
    inputs[0] = conv->inputs[0];
    inputs[1] = tsr_add_constant(graph, conv->name, "weights", dtype, &weights_shape, weights);
    inputs[2] = tsr_add_constant(graph, conv->name, "bias", dtype, &bias_shape, bias);
    if (inputs[1] == TSR_NONE || inputs[2] == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    graph->values[inputs[1]].scale = scale;
    graph->values[inputs[1]].model_constant = kept;
    conv->inputs = inputs;
    conv->input_count = 3;
    graph->values[conv->outputs[0]].producer = TSR_NONE;
    tsr_set_producer(graph, (int)(conv - graph->nodes), 0, node->outputs[0]);
    tsr_drop_node(graph, node);
    return TSR_OK;
}

tsr_status tsr_pass_fold_batch_norm(tsr_graph *graph) {
    int *readers = tsr_count_readers(graph);
    if (!readers)
        return TSR_ERROR_OUT_OF_MEMORY;
    for (int n = 0; n < graph->node_count; n++) {
        tsr_node *node = &graph->nodes[n];
        tsr_node *conv =
            tsr_is_affine(graph, node) ? convolution_before(graph, node, readers) : NULL;
        tsr_affine a;
        if (!conv)
            continue;
        TSR_TRY(tsr_read_affine(graph, node, &a));
        TSR_TRY(fold_into(graph, conv, node, &a));
    }
    tsr_remove_dropped(graph);
    return TSR_OK;
}
