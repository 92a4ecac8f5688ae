/* Random nodes for random graphs: a table with a function for every operator, which writes a valid
 * node that reads values of the graph. */
#ifndef TESTS_SUPPORT_GRAPH_MAKER_H
#define TESTS_SUPPORT_GRAPH_MAKER_H

#include "graph/graph.h"
#include "support/case_text.h"
#include "support/random.h"

#include <stddef.h>

enum { GRAPH_MOST_NODES = 40, GRAPH_MOST_VALUES = 128 };

/* A tensor of the graph, as the cpu backend computes it. */
typedef struct graph_value {
    int node; /* that writes it; -1: an input of the graph */
    tsr_dtype dtype;
    tsr_shape shape;
    float *elements;
    double least, most; /* of the elements' magnitudes */
    double error;       /* how far another backend may be off: rounding, amplified by the nodes */
} graph_value;

typedef struct node_maker {
    random_source *random;
    const graph_value *values;
    int value_count;
    int node;       /* the number of the one to make, part of its initializers' names */
    case_text text; /* of an onnx_case(), with $3 for value 3; outputs are the next values */
    int weight_count;
} node_maker;

/* Does the table have this operator? */
bool can_make_node(tsr_op op);
/* False if no value fits it, or not with what chance chose. */
bool make_node(node_maker *m, tsr_op op);

/* A random shape of a graph's input, of few elements. */
tsr_shape draw_shape(random_source *random);
/* Of any rank from 0 to 6, each as often. */
tsr_shape draw_shape_of_any_rank(random_source *random);

/* Element i of an initializer (or input) with this name, the first letter of which says in which
 * range: w -1 .. 1; q -0.25 .. 0.25; p 0.5 .. 1.5. */
float graph_element(uint32_t seed, const char *name, size_t i);

#endif
