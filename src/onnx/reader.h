/* What the files of src/onnx share. */
#ifndef TSR_ONNX_READER_H
#define TSR_ONNX_READER_H

#include "base/error.h"
#include "graph/graph.h"
#include "onnx/onnx.h"

#include "onnx.pb-c.h"

#include <stdio.h>

/* An allocator for protobuf-c that never holds more than limit bytes. */
typedef struct tsr_onnx_heap {
    ProtobufCAllocator allocator;
    size_t used, limit;
    bool exhausted;
} tsr_onnx_heap;

/* What raw_data holds once a message is unpacked: which bytes of the file are the data. */
typedef struct tsr_onnx_place {
    uint64_t offset, size;
} tsr_onnx_place;

typedef struct tsr_reader {
    tsr_graph *graph;
    const unsigned char *bytes; /* the file's */
    bool kept;                  /* they outlive the graph, whose constants may lie in them */
    tsr_onnx_heap heap;         /* of the protobuf tree */
    const char *dir;            /* where external data lies; NULL refuses it */
    uint64_t external_budget;   /* bytes of external data that may still be read */
} tsr_reader;

/* "not enough memory" */
tsr_status tsr_onnx_out_of_memory(void);

/* slim.c: see there. False if the bytes are damaged or, exhausted set, when out of memory: the
 * limit bounds what is written. bytes is to be freed in any case. */
typedef struct tsr_onnx_slimmed {
    uint8_t *bytes;
    size_t size;
    bool exhausted;
} tsr_onnx_slimmed;
bool tsr_onnx_slim(const ProtobufCMessageDescriptor *type, const void *bytes, size_t size,
                   size_t limit, tsr_onnx_slimmed *slim);

/* unpack.c: raw data becomes a place; message stays NULL on failure; free it with
 * protobuf_c_message_free_unpacked and heap->allocator. */
tsr_status tsr_onnx_unpack(tsr_onnx_heap *heap, const ProtobufCMessageDescriptor *type,
                           const void *bytes, size_t size, uint64_t max_bytes,
                           ProtobufCMessage **message);

/* tensor.c: ONNX's number of an element type -> dtype. */
tsr_status tsr_onnx_dtype(int32_t type, tsr_dtype *dtype);
/* Appends the tensor to the graph as a constant. */
tsr_status tsr_onnx_add_tensor(tsr_reader *reader, const Tsr__TensorProto *tensor, const char *name,
                               int *value);

/* external.c: the file that holds the tensor's data, checked and standing at its first byte. */
tsr_status tsr_onnx_open_external(tsr_reader *reader, const Tsr__TensorProto *tensor, uint64_t size,
                                  FILE **file);

/* attributes.c: attributes from file to node. */
tsr_status tsr_onnx_read_attrs(tsr_reader *reader, const Tsr__NodeProto *proto, tsr_node *node);
/* Every attribute of an opset-22 node is known to its operator and of the right kind; none that it
 * needs is absent. */
tsr_status tsr_onnx_check_attrs(const tsr_node *node);
/* Every number that a custom operator declares is there, from the file or by default. */
tsr_status tsr_onnx_complete_attrs(tsr_graph *graph, tsr_node *node);
/* A Constant node as a constant value named name. */
tsr_status tsr_onnx_add_constant_node(tsr_reader *reader, const Tsr__NodeProto *proto,
                                      const char *name, int *value);

/* nodes.c: every node of the file, checked and upgraded, in the file's order. */
tsr_status tsr_onnx_read_nodes(tsr_reader *reader, const Tsr__GraphProto *proto);

/* sort.c: brings nodes into topological order, the file's where that is one, and sets producers. */
tsr_status tsr_onnx_sort(tsr_graph *graph);

/* upgrade.c: the operator of a node as opset 22 names it; TSR_OP_COUNT if there is none. */
tsr_op tsr_onnx_find_op(const char *type, int opset);
/* Rewrites a node of the graph's opset to its opset-22 form. type is the file's name of the
 * operator. */
tsr_status tsr_onnx_upgrade(tsr_graph *graph, tsr_node *node, const char *type);

#endif
