/* A loaded model: an immutable graph, shared by the sessions made from it. */
#ifndef TSR_API_MODEL_H
#define TSR_API_MODEL_H

#include <stdatomic.h>

#include "graph/graph.h"

struct tsr_model {
    atomic_int references; /* the caller's and one of each session */
    tsr_graph *graph;
    tsr_maps maps; /* files in which constants are: the model's first, if it was read from one */
    bool *is_parameter; /* by value */
};

/* As tsr_model_load_sized(), but tsr_graph_widen() is left to the caller. */
tsr_status tsr_model_read(const char *path, const tsr_model_desc *desc, size_t size,
                          size_t custom_op_size, tsr_model **model);

/* A model of a graph, which it takes over, but for a failure. */
tsr_status tsr_model_of_graph(tsr_graph *graph, tsr_model **model);

/* A model of its own of a graph whose names and constants may be borrowed. Fails, naming the node,
 * where ONNX lacks what the graph has. */
tsr_status tsr_model_copy_of(const tsr_graph *graph, tsr_model **model);

/* Adds a reference; tsr_model_free() drops one. */
tsr_model *tsr_model_retain(const tsr_model *model);

/* The public description of a value. */
tsr_tensor_info tsr_tensor_info_of(const tsr_value *value);

#endif
