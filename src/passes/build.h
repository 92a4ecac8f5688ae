/* Makes the nodes that replace one. */
#ifndef TSR_PASSES_BUILD_H
#define TSR_PASSES_BUILD_H

#include "passes/edit.h"

/* The nodes of a graph that is rewritten, in its arena. */
typedef struct tsr_node_list {
    tsr_graph *graph;
    tsr_node *nodes;
    int count, room;
    int may_make;                /* nodes that builders may still make of others */
    double *bytes;               /* left for their constants */
    struct tsr_folding *folding; /* of tsr_prepare() */
    int *places;                 /* of tsr_prepare(): the values that stand for those of bodies */
    const tsr_node *source;      /* of tsr_prepare(): the nodes that it prepares */
    int source_count;
    int source_values; /* of tsr_prepare(): values before it added others */
    int order;         /* of tsr_prepare(): Gradients whose nodes are being made */
} tsr_node_list;

/* A zeroed node at the end, which moves all when there is no room; NULL with a message when out of
 * memory. */
tsr_node *tsr_append_node(tsr_node_list *list);
tsr_status tsr_append_copy(tsr_node_list *list, const tsr_node *node);
/* Appends a node, whose output, named after `name`, becomes *value; it may be one of the inputs.
 * Nothing is inferred. */
tsr_status tsr_append_new(tsr_node_list *list, const char *name, tsr_op op, int input_count,
                          const int *inputs, int attr_count, const tsr_attr *attrs, int *value);
/* Makes the list's nodes the graph's, those from `first` on the producers of their outputs. */
void tsr_use_node_list(const tsr_node_list *list, int first);

/* Shapes and types of what is made are inferred at once. After a failure, which `status` tells,
 * nothing happens any more and values are TSR_NONE. */
typedef struct tsr_builder {
    tsr_graph *graph;
    const tsr_node *node; /* that is replaced */
    tsr_node_list *list;  /* to which nodes are appended */
    tsr_status status;
    bool told; /* its message names the node already */
} tsr_builder;

/* The value of an operator of some inputs; absent ones are TSR_NONE. */
int tsr_build(tsr_builder *b, tsr_op op, int input_count, const int *inputs);
int tsr_build_with(tsr_builder *b, tsr_op op, int input_count, const int *inputs, int attr_count,
                   const tsr_attr *attrs);
/* The same of an operator that has several outputs. */
void tsr_build_several(tsr_builder *b, tsr_op op, int input_count, const int *inputs,
                       int attr_count, const tsr_attr *attrs, int output_count, int *outputs);
/* The value is the replaced node's output i, too, if it has that. */
void tsr_build_output(tsr_builder *b, int i, int value);
/* Makes the last node write the replaced node's output 0. */
void tsr_build_end(tsr_builder *b);

/* Constants: a number of the type of the replaced node's input 0, or float32 if that is an integer;
 * a list of integers; floats of a shape, of that type. */
int tsr_build_number(tsr_builder *b, float number);
int tsr_build_ints(tsr_builder *b, int count, const int64_t *ints);
int tsr_build_index(tsr_builder *b, int64_t index); /* an int64 scalar */
int tsr_build_floats(tsr_builder *b, const tsr_shape *shape, const float *floats);

/* Zeroed elements of a constant to be made, counted against what is left for constants; NULL after
 * a failure. */
void *tsr_build_elements(tsr_builder *b, int64_t count, size_t size);

/* [0, 1, ...] along an axis of a shape of that rank, of an integer type. */
int tsr_build_indices(tsr_builder *b, tsr_dtype dtype, int64_t count, int axis, int rank);

int tsr_build_reshape(tsr_builder *b, int value, const tsr_shape *shape);
/* Elements first to last - 1 along an axis. */
int tsr_build_slice(tsr_builder *b, int value, int64_t axis, int64_t first, int64_t last);
int tsr_build_cast(tsr_builder *b, int value, tsr_dtype to);
/* To the type of another value; an absent value stays absent. */
int tsr_build_cast_like(tsr_builder *b, int value, int like);
/* A moving average: before + part * (now - before), as a chain that GPUs compute in a pass. */
int tsr_build_average(tsr_builder *b, int before, int part, int now);

tsr_attr tsr_int_attr(const char *name, int64_t i);
tsr_attr tsr_float_attr(const char *name, float f);
/* The list is copied. */
tsr_attr tsr_build_ints_attr(tsr_builder *b, const char *name, int count, const int64_t *ints);

/* Keeps the first failure; TSR_NONE. */
int tsr_build_fail(tsr_builder *b, tsr_status status);

#define TSR_BUILD(b, op, ...)                                                                      \
    tsr_build(b, op, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (int[]){__VA_ARGS__})

#endif
