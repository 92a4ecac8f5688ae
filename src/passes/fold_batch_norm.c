/* BatchNormalization with constant statistics is y = x * scale[c] + shift[c]. After a
 * convolution that no other node reads, scale and shift are folded into its weights and bias;
 * elsewhere it becomes Mul and Add by constants of shape [1, C, 1, ...], which
 * tsr_pass_fuse_posts() may fuse. */
#include "passes/edit.h"

#include "base/error.h"
#include "graph/infer.h"

#include <math.h>
#include <string.h>

/* y = x * scale[c] + shift[c] */
typedef struct affine {
    int64_t channels;
    double *scale, *shift;
} affine;

static bool is_foldable(const tsr_graph *graph, const tsr_node *node) {
    if (node->op != TSR_OP_BatchNormalization || tsr_is_dropped(node) || node->post_count)
        return false;
    for (int i = 1; i < 5; i++)
        if (!tsr_node_in(graph, node, i)->data)
            return false;
    return true;
}

static tsr_status read_affine(const tsr_graph *graph, const tsr_node *node, affine *result) {
    const float *scale = tsr_node_in(graph, node, 1)->data,
                *bias = tsr_node_in(graph, node, 2)->data;
    const float *mean = tsr_node_in(graph, node, 3)->data;
    const float *variance = tsr_node_in(graph, node, 4)->data;
    double epsilon = tsr_attr_float(node, "epsilon", 1e-5f);
    result->channels = tsr_node_in(graph, node, 0)->shape.dim[1];
    result->scale = TSR_NEW(graph->arena, result->channels, double);
    result->shift = TSR_NEW(graph->arena, result->channels, double);
    if (!result->scale || !result->shift)
        return tsr_out_of_memory(graph);
    for (int64_t c = 0; c < result->channels; c++) {
        result->scale[c] = scale[c] / sqrt(variance[c] + epsilon);
        result->shift[c] = bias[c] - mean[c] * result->scale[c];
    }
    return TSR_OK;
}

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
                                   const affine *a) {
    double *scale = TSR_NEW(graph->arena, a->channels, double);
    for (int64_t c = 0; scale && c < a->channels; c++)
        scale[c] = a->scale[c] * (weights->scale ? weights->scale[c] : 1);
    return scale;
}

/* Weights are [M, C / group, ...] of Conv and [C, M / group, ...] of ConvTranspose; M: output
 * channels. */
static float *scale_weights(const tsr_graph *graph, const tsr_node *conv, const affine *a) {
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

static float *shift_bias(const tsr_graph *graph, const tsr_node *conv, const affine *a) {
    const tsr_value *bias = tsr_node_in(graph, conv, 2);
    float *to = TSR_NEW(graph->arena, a->channels, float);
    for (int64_t c = 0; to && c < a->channels; c++)
        to[c] = (float)((bias ? ((const float *)bias->data)[c] : 0) * a->scale[c] + a->shift[c]);
    return to;
}

static tsr_status fold_into(tsr_graph *graph, tsr_node *conv, tsr_node *node, const affine *a) {
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

/* ---- Mul and Add ---- */

/* Numbers by channel as a constant of shape [1, C, 1, ...], of the rank of the node's input. */
static int add_channel_constant(tsr_graph *graph, const tsr_node *node, const char *suffix,
                                const double *numbers, int64_t channels) {
    float *data = TSR_NEW(graph->arena, channels, float);
    if (!data) {
        tsr_out_of_memory(graph);
        return TSR_NONE;
    }
    for (int64_t c = 0; c < channels; c++)
        data[c] = (float)numbers[c];
    const tsr_value *in = tsr_node_in(graph, node, 0);
    tsr_shape shape = {.rank = in->shape.rank};
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = i == 1 ? channels : 1;
    return tsr_add_constant(graph, node->name, suffix, in->dtype, &shape, data);
}

static tsr_status make_binary(tsr_graph *graph, const tsr_node *norm, tsr_op op, int left,
                              int right, int out, tsr_node *node) {
    const int inputs[2] = {left, right};
    const char *name =
        tsr_arena_printf(graph->arena, "%s.%s", norm->name, op == TSR_OP_Mul ? "scale" : "shift");
    return name ? tsr_make_node(graph, name, op, inputs, 2, out, node) : tsr_out_of_memory(graph);
}

/* Writes the Mul and the Add that replace the node to pair. */
static tsr_status rewrite_as_mul_add(tsr_graph *graph, const tsr_node *node, tsr_node pair[2]) {
    affine a;
    TSR_TRY(read_affine(graph, node, &a));
    int scale = add_channel_constant(graph, node, "scale", a.scale, a.channels);
    int shift = add_channel_constant(graph, node, "shift", a.shift, a.channels);
    int scaled = tsr_add_value(graph, graph->values[node->outputs[0]].name, "scaled");
    if (scale == TSR_NONE || shift == TSR_NONE || scaled == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    graph->values[scaled].dtype = graph->values[node->outputs[0]].dtype;
    graph->values[scaled].shape = graph->values[node->outputs[0]].shape;
    TSR_TRY(make_binary(graph, node, TSR_OP_Mul, node->inputs[0], scale, scaled, &pair[0]));
    return make_binary(graph, node, TSR_OP_Add, scaled, shift, node->outputs[0], &pair[1]);
}

/* Copies the nodes, two for each remaining BatchNormalization. */
static tsr_status rewrite_all(tsr_graph *graph) {
    tsr_node *nodes = TSR_NEW(graph->arena, 2 * (size_t)graph->node_count, tsr_node);
    if (!nodes)
        return tsr_out_of_memory(graph);
    int count = 0;
    for (int n = 0; n < graph->node_count; n++) {
        if (is_foldable(graph, &graph->nodes[n])) {
            TSR_TRY(rewrite_as_mul_add(graph, &graph->nodes[n], nodes + count));
            count += 2;
        } else {
            nodes[count++] = graph->nodes[n];
        }
    }
    graph->nodes = nodes;
    graph->node_count = count;
    tsr_remove_dropped(graph);
    return TSR_OK;
}

tsr_status tsr_pass_fold_batch_norm(tsr_graph *graph) {
    int *readers = tsr_count_readers(graph);
    if (!readers)
        return TSR_ERROR_OUT_OF_MEMORY;
    for (int n = 0; n < graph->node_count; n++) {
        tsr_node *node = &graph->nodes[n];
        tsr_node *conv = is_foldable(graph, node) ? convolution_before(graph, node, readers) : NULL;
        affine a;
        if (!conv)
            continue;
        TSR_TRY(read_affine(graph, node, &a));
        TSR_TRY(fold_into(graph, conv, node, &a));
    }
    return rewrite_all(graph);
}
