/* Custom operators, as callers give them to tsr_model_load(). */
#ifndef TSR_GRAPH_CUSTOM_H
#define TSR_GRAPH_CUSTOM_H

#include "graph/graph.h"

/* An operator's domain; "" for ONNX's own, however it is written. */
const char *tsr_domain(const char *domain);

/* TSR_INVALID_ARGUMENT with the reason where a description is of no use. */
tsr_status tsr_custom_check(const tsr_custom_op *ops, int count);
/* Gives the graph a copy of checked descriptions, defaults filled in. */
tsr_status tsr_custom_add(tsr_graph *graph, const tsr_custom_op *ops, int count);
/* NULL if the graph has no such operator. */
const tsr_custom_op *tsr_custom_find(const tsr_graph *graph, const char *domain, const char *name);

/* A call for the node, with its shapes; tensors are the caller's to fill in. */
tsr_custom_call tsr_custom_call_of(const tsr_graph *graph, const tsr_node *node);
/* Runs one of the operator's functions, called so in messages. */
tsr_status tsr_custom_run(tsr_custom_fn fn, tsr_custom_call *call, const char *what);

#endif
