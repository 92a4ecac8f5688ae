/* What the passes share. */
#ifndef TSR_PASSES_EDIT_H
#define TSR_PASSES_EDIT_H

#include "passes/passes.h"

/* How often each value is read: as a node's input, as a post's operand, as an output of the graph.
 * One int per value, in the graph's arena; NULL with a message when out of memory. */
int *tsr_count_readers(const tsr_graph *graph);

/* Lets every node that reads one value read another instead. */
void tsr_replace_reads(tsr_graph *graph, int value, int replacement);

/* Marks a node for tsr_sweep(): its outputs have no producer any more. */
void tsr_drop_node(tsr_graph *graph, tsr_node *node);
bool tsr_is_dropped(const tsr_node *node);
/* Closes the gaps that dropped nodes left, and numbers producers anew. */
void tsr_sweep(tsr_graph *graph);

/* Node index writes the value as its output i. */
void tsr_set_producer(tsr_graph *graph, int node, int i, int value);

/* tsr_graph_add_value() and tsr_graph_add_constant() under a name that no other value has:
 * base.suffix, or that with a number. TSR_NONE with a message when out of memory. */
int tsr_add_value(tsr_graph *graph, const char *base, const char *suffix);
int tsr_add_constant(tsr_graph *graph, const char *base, const char *suffix, tsr_dtype dtype,
                     const tsr_shape *shape, const void *data);

/* A node of one output with arrays of its own; the name is borrowed. */
tsr_status tsr_make_node(tsr_graph *graph, const char *name, tsr_op op, const int *inputs,
                         int input_count, int output, tsr_node *node);

/* The shape as a constant that Reshape takes. */
int tsr_add_shape(tsr_graph *graph, const char *base, const tsr_shape *shape);

tsr_status tsr_out_of_memory(const tsr_graph *graph);

#endif
