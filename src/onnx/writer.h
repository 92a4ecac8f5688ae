/* Shared by the files that write ONNX. */
#ifndef TSR_ONNX_WRITER_H
#define TSR_ONNX_WRITER_H

#include "graph/graph.h"
#include "onnx/onnx.h"

#include "onnx.pb-c.h"

typedef struct tsr_onnx_nodes {
    Tsr__NodeProto **nodes;
    size_t count, room;
} tsr_onnx_nodes;

typedef struct tsr_onnx_tensors {
    Tsr__TensorProto **tensors;
    size_t count, room;
} tsr_onnx_tensors;

typedef struct tsr_writer {
    const tsr_graph *graph;
    tsr_arena *arena; /* of the messages */
    int opset;
    bool *is_written;                     /* by value: a constant that is among `constants` */
    tsr_onnx_tensors constants;           /* of the model's graph, bodies' among them */
    int made_count;                       /* names that were made */
    bool writes_domain[TSR_DOMAIN_COUNT]; /* of operators that were written */
} tsr_writer;

tsr_status tsr_write_out_of_memory(const tsr_writer *w);

/* The value's name, "" of TSR_NONE; a constant is written, too. NULL with a message. */
char *tsr_write_value(tsr_writer *w, int value);
/* A name that no value has; NULL with a message. */
char *tsr_write_new_name(tsr_writer *w, const tsr_node *node, const char *what);
/* Elements as a graph holds them as a tensor; NULL with a message. */
Tsr__TensorProto *tsr_write_tensor(tsr_writer *w, const char *name, tsr_dtype dtype,
                                   const tsr_shape *shape, const void *data);
tsr_status tsr_write_constant(tsr_writer *w, Tsr__TensorProto *tensor);

/* Appends an empty node with room for names; NULL with a message. */
Tsr__NodeProto *tsr_write_new_node(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node,
                                   const char *op, int input_count, int output_count);
/* A graph of nodes that are appended; inputs and outputs are values. */
tsr_status tsr_write_body(tsr_writer *w, const tsr_node *node, const tsr_body *body,
                          ProtobufCBinaryData *bytes);

/* write_nodes.c: appends a node in the form of w->opset. */
tsr_status tsr_write_node(tsr_writer *w, tsr_onnx_nodes *list, const tsr_node *node);

#endif
