/* Function operators: done by others, on every backend. */
#ifndef TSR_PASSES_FUNCTIONS_H
#define TSR_PASSES_FUNCTIONS_H

#include "passes/build.h"
#include "passes/fold.h"

bool tsr_is_function(const tsr_graph *graph, const tsr_node *node);
/* Makes the nodes of b->node, whose inputs have known shapes; b->status tells a failure. */
void tsr_build_function(tsr_builder *b);

/* Appends a node, of which the shapes of inputs are known, or what replaces it; all that is
 * appended is inferred, and evaluated if its inputs are constant. */
tsr_status tsr_append_prepared(tsr_node_list *list, const tsr_node *node);

typedef void tsr_function(tsr_builder *b);
#define TSR_FUNCTION(Name, stem, ...) tsr_function tsr_build_##stem;
#include "graph/ops.def"
/* Of operators that are functions for some nodes alone. */
tsr_function tsr_build_dropout, tsr_build_byte_max_pool;

/* A body's nodes again: `inputs` stand for its inputs, the node list's places for what it reads of
 * others; `outputs` become what stands for its outputs. */
void tsr_build_body(tsr_builder *b, const tsr_body *body, const int *inputs, int *outputs);
/* The values are the replaced node's outputs; TSR_NONE where it has none. */
void tsr_build_results(tsr_builder *b, const int *values);

/* Does a Dropout drop elements? */
bool tsr_drops(const tsr_graph *graph, const tsr_node *node);
/* Are its results random numbers? */
bool tsr_is_random(const tsr_graph *graph, const tsr_node *node);

#endif
