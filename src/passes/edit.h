/* Shared by the passes. */
#ifndef TSR_PASSES_EDIT_H
#define TSR_PASSES_EDIT_H

#include "passes/passes.h"

/* Counts the reads of each value: as a node's input, as a post-op's operand, as an output of the
 * graph. One int per value, in the graph's arena; NULL with a message when out of memory. */
int *tsr_count_readers(const tsr_graph *graph);

/* Marks a node for tsr_remove_dropped(): its outputs lose their producer. */
void tsr_drop_node(tsr_graph *graph, tsr_node *node);
bool tsr_is_dropped(const tsr_node *node);
/* Removes dropped nodes from the array and renumbers producers. */
void tsr_remove_dropped(tsr_graph *graph);

/* Makes a node, given by index, the producer of the value as its output i. */
void tsr_set_producer(tsr_graph *graph, int node, int i, int value);

/* tsr_graph_add_value() and tsr_graph_add_constant() with a unique name: base.suffix, with a number
 * if needed, none of which is tried twice. TSR_NONE with a message when out of memory. */
int tsr_add_value(tsr_graph *graph, const char *base, const char *suffix);
int tsr_add_constant(tsr_graph *graph, const char *base, const char *suffix, tsr_dtype dtype,
                     const tsr_shape *shape, const void *data);

/* A node of one output with arrays of its own; the name is borrowed. */
tsr_status tsr_make_node(tsr_graph *graph, const char *name, tsr_op op, const int *inputs,
                         int input_count, int output, tsr_node *node);

/* A shape as a constant list, input 1 of Reshape. */
int tsr_add_shape(tsr_graph *graph, const char *base, const tsr_shape *shape);

/* Do the axes of more than one element keep their order? perm: of a Transpose of the shape. */
bool tsr_keeps_order(const tsr_shape *shape, const int64_t *perm);

/* Has it a graph as an attribute? */
bool tsr_has_body(const tsr_node *node);

/* Can the node apply post-ops? Not if it is a view, which computes nothing, or has several
 * outputs. */
bool tsr_can_host(const tsr_node *node);
/* The node that produces input i of the consumer, if it can apply the consumer as a post-op; else
 * TSR_NONE. readers: of tsr_count_readers(). */
int tsr_find_host(const tsr_graph *graph, const tsr_node *consumer, int i, const int *readers);
/* The params of a unary operator or of Clip, as of tsr_post; false if Clip's bounds are known only
 * at run time. */
bool tsr_read_unary(const tsr_graph *graph, const tsr_node *node, float param[2]);

tsr_status tsr_out_of_memory(const tsr_graph *graph);
/* Constants that are unaligned in a file are copied to the arena: afterwards all can be read as
 * arrays of their elements. */
tsr_status tsr_copy_constants(tsr_graph *graph);

#endif
