/* Activations of 8 bits: each value that is to be so is written once as integers, by a
 * QuantizeLinear, and all its readers read what a DequantizeLinear makes of them. */
#ifndef TSR_PASSES_ACTIVATIONS_H
#define TSR_PASSES_ACTIVATIONS_H

#include "base/histogram.h"
#include "passes/weight_layers.h"

typedef struct tsr_activation {
    bool quantized;
    int group;               /* a value: all of one group share scale and zero point */
    tsr_range range, shared; /* of its own numbers; of all of the group that it names */
    float scale;
    int zero_point; /* of uint8 */
} tsr_activation;

typedef struct tsr_activations {
    int count;
    tsr_activation *of; /* by value, in the graph's arena */
} tsr_activations;

tsr_status tsr_activations_make(const tsr_graph *graph, tsr_activations *made);

/* activations.c: chooses the values: what layers that do not stay read, and what lies between them
 * and is computed by operators that keep few bits cheap, but no sums of a layer that a Relu, Clip
 * or constant follows. Ranges stay as they are. */
tsr_status tsr_find_activations(const tsr_graph *graph, const tsr_weight_layers *layers,
                                tsr_activations *activations);

/* quantize_activations.c: from the ranges, of each group the widest; zero is one of the levels. */
void tsr_choose_scales(tsr_activations *activations);
/* The scale and zero point of uint8 for a range. */
void tsr_scale_of_range(tsr_range range, float *scale, int *zero_point);
/* Makes biases of layers that do not stay constants of int32 where they can be. */
tsr_status tsr_pack_biases(tsr_graph *graph, const tsr_activations *activations,
                           tsr_weight_layers *layers);
/* Appends the nodes for what a node reads, which then reads their results. */
tsr_status tsr_quantize_inputs(tsr_node_list *list, const tsr_activations *activations,
                               tsr_node *node);
/* For all values and readers. */
tsr_status tsr_quantize_activations(tsr_graph *graph, const tsr_activations *activations);

/* Is the input of a layer an activation, that is: no weights, bias, or other constant? */
bool tsr_is_activation(const tsr_graph *graph, const tsr_weight_layer *layer, int input);

#endif
