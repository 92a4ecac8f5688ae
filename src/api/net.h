/* A network that is built in code: a graph whose shapes are known after each layer. net.c has the
 * graph, net_layers.c the layers, net_weights.c their initial weights. */
#ifndef TSR_API_NET_H
#define TSR_API_NET_H

#include "base/random.h"
#include "passes/build.h"
#include "tessera_build.h"

struct tsr_net {
    tsr_graph *graph;
    tsr_node_list list;
    tsr_status status; /* of the first failure */
    char *message;     /* its text; NULL: there was no memory for it */
    /* Of all inputs; -1: open, and 1 in the shapes of values; 0: there is no input yet. */
    int64_t batch;
    int made[TSR_OP_COUNT]; /* layers, which numbers in names follow */
    int parameter_count, parameter_room;
    int *parameters; /* values */
    uint64_t bytes;  /* of these */
    tsr_random random;
};

enum { TSR_LAYER_INPUTS = 64, TSR_LAYER_ATTRS = 8 };

/* What a layer is made of. */
typedef struct tsr_layer {
    tsr_net *net;
    tsr_op op;
    const char *name;
    int input_count, attr_count;
    int inputs[TSR_LAYER_INPUTS];
    tsr_attr attrs[TSR_LAYER_ATTRS];
} tsr_layer;

/* Keeps the first failure; TSR_NET_NONE. */
int tsr_net_fail(tsr_net *net, tsr_status status);

/* Begins a layer with a copy of its name, or kind and number, and tensor x as its first input;
 * false after a failure. */
bool tsr_layer_begin(tsr_layer *layer, tsr_net *net, tsr_op op, const char *kind, const char *name,
                     int x);
/* The value of input i. */
const tsr_value *tsr_layer_in(const tsr_layer *layer, int i);
void tsr_layer_add_input(tsr_layer *layer, int x);
void tsr_layer_add_int(tsr_layer *layer, const char *name, int64_t i);
void tsr_layer_add_float(tsr_layer *layer, const char *name, float f);
void tsr_layer_add_ints(tsr_layer *layer, const char *name, int count, const int64_t *ints);
/* Constants that are no weights. */
void tsr_layer_add_number(tsr_layer *layer, const char *suffix, float number);
void tsr_layer_add_shape(tsr_layer *layer, const tsr_shape *shape);
/* Appends the node and infers its result. */
int tsr_layer_end(tsr_layer *layer);

/* Of weights: what an element of the result sums, and what an element of the input is added to. */
typedef struct tsr_fans {
    double in, out;
} tsr_fans;

/* A parameter "name.suffix", as the next input; instead: of TSR_INITIALIZER_DEFAULT. */
void tsr_layer_add_weights(tsr_layer *layer, const char *suffix, const tsr_shape *shape,
                           tsr_initializer initializer, tsr_initializer instead, tsr_fans fans);

#endif
