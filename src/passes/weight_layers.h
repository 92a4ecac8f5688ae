/* Weights of layers in fewer bits: found, packed, compared, put in the place of floats. With
 * activations of 8 bits: activations.h. */
#ifndef TSR_PASSES_WEIGHT_LAYERS_H
#define TSR_PASSES_WEIGHT_LAYERS_H

#include "passes/build.h"

typedef struct tsr_weight_options {
    tsr_written_format format;
    int block; /* of int4 */
    bool zero_points;
} tsr_weight_options;

struct tsr_activations;

/* How elements share scales: the weights are seen with the shape `view`; along its axis each index
 * has a scale or, with blocks, each `block` consecutive indices have one. */
typedef struct tsr_scale_grid {
    tsr_shape view;
    int axis, block; /* block 0: none */
} tsr_scale_grid;

/* Weights as a file has them: constants of the graph. */
typedef struct tsr_packed {
    int elements, scales, zero_points; /* TSR_NONE: none */
    tsr_scale_grid grid;
    double error; /* root of the sum of squares of what is lost, relative to the weights' */
} tsr_packed;

/* A node and its weights. */
typedef struct tsr_weight_layer {
    int node, input;           /* by index, and which of its inputs */
    int value;                 /* what the node reads; TSR_NONE: it multiplies two activations */
    int weights;               /* the constant that it is, or is cast from */
    int first;                 /* the first layer that reads the same value */
    int output_axis, sum_axis; /* of weights: for each output of its own; what is summed over */
    const char *reason;        /* why it stays in floats; NULL: it does not */
    tsr_packed packed;
    int bias, bias_scales; /* of int32, with quantized activations; TSR_NONE: it stays */
    double output_error;   /* as tsr_packed.error, of the node's output; negative: not measured */
} tsr_weight_layer;

typedef struct tsr_weight_layers {
    tsr_weight_layer *layers; /* in the order of nodes, in the graph's arena */
    int count;
} tsr_weight_layers;

/* weight_layers.c: layers with weights that are constants of a few hundred elements at least; all:
 * of any size, and MatMul without weights. */
tsr_status tsr_find_weight_layers(const tsr_graph *graph, bool all, tsr_weight_layers *found);
/* Layers that read the same weights stay in floats together. */
void tsr_keep_layer(tsr_weight_layers *layers, int index, const char *reason);
/* Makes the nodes read the packed weights, but for layers that stay. */
tsr_status tsr_use_packed_weights(tsr_graph *graph, const tsr_weight_layers *layers);
/* Makes, beside each node whose weights are packed, one that reads those, and two scalars: the sum
 * of squares of the node's output, and of what is lost. They become the graph's only outputs, two
 * for each layer that does not stay. activations: what those nodes read of 8 bits; or NULL. */
tsr_status tsr_compare_packed_weights(tsr_graph *graph, const tsr_weight_layers *layers,
                                      const struct tsr_activations *activations);

/* pack_weights.c: of a layer that is the first of those that read its weights. *reason: NULL, or
 * why they cannot be packed. */
tsr_status tsr_pack_weights(tsr_graph *graph, const tsr_weight_layer *layer,
                            const tsr_weight_options *options, tsr_packed *packed,
                            const char **reason);
/* Bytes in a file. */
uint64_t tsr_packed_bytes(const tsr_graph *graph, const tsr_packed *packed);

#endif
