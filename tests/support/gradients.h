/* Gradients held against differences of results, on the cpu backend. */
#ifndef TESTS_SUPPORT_GRADIENTS_H
#define TESTS_SUPPORT_GRADIENTS_H

#include "support/graphs.h"

enum { MOST_GRADIENTS = 64 };

/* A graph with a loss: the sum of its float outputs times random numbers, and its gradients with
 * respect to its float inputs that the loss depends on. */
typedef struct gradient_graph {
    tsr_graph *graph;
    bool prepared;
    int result_nodes;    /* those before the loss */
    void **elements;     /* by value; NULL: not run yet */
    const float **times; /* by output: the numbers; NULL: no floats */
    int count;
    int wrt[MOST_GRADIENTS], gradients[MOST_GRADIENTS];
} gradient_graph;

/* The range of an input's elements. */
typedef struct gradient_range {
    float low, high;
} gradient_range;

/* Of a graph as it was read, which it owns from then on. Fails where it cannot be prepared or
 * differentiated; with TSR_OK, count may be 0: the loss depends on no input. */
tsr_status make_gradients(gradient_graph *g, tsr_graph *graph, uint32_t seed);
/* The graph, too, unless it is NULL: another has it. */
void free_gradients(gradient_graph *g);

/* Once: inputs at random, integers 0 or 1. Those named w..., p..., q... are as initializers. */
void fill_gradient_inputs(gradient_graph *g, gradient_range range, uint32_t seed);
/* Computes results and gradients. */
void run_gradients(gradient_graph *g);

typedef struct gradient_check {
    bool has_poles; /* where a gradient that is not finite is skipped */
    int checked, skipped; /* skipped: near a kink, where differences of two widths differ */
    char failure[256];    /* "": none */
} gradient_check;
/* At most `most` elements of each input. */
void check_gradients(gradient_graph *g, int most, uint32_t seed, gradient_check *check);

/* What must hold for every graph: nodes come after what they read, gradients are as what they are
 * of. */
void check_gradient_graph(const gradient_graph *g);

#endif
