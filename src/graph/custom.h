/* Custom operators, as callers give them to tsr_model_load(). */
#ifndef TSR_GRAPH_CUSTOM_H
#define TSR_GRAPH_CUSTOM_H

#include "graph/graph.h"

/* The domain of an operator; "" for ONNX's, which may be written as NULL or "ai.onnx". */
const char *tsr_domain(const char *domain);

/* TSR_ERROR_INVALID_ARGUMENT with the reason if a description is invalid. */
tsr_status tsr_custom_check(const tsr_custom_op *ops, int count);
/* Copies checked descriptions into the graph, defaults filled in. */
tsr_status tsr_custom_add(tsr_graph *graph, const tsr_custom_op *ops, int count);
/* NULL if the graph has no such operator. */
const tsr_custom_op *tsr_custom_find(const tsr_graph *graph, const char *domain, const char *name);

/* A call for the node: its shapes are set, its tensors are NULL. */
tsr_custom_call tsr_custom_call_of(const tsr_graph *graph, const tsr_node *node);
/* Runs one of the operator's functions; `what` names it in messages. */
tsr_status tsr_custom_run(tsr_custom_fn fn, tsr_custom_call *call, const char *what);

#endif
