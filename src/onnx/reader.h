/* Shared by the files of src/onnx. */
#ifndef TSR_ONNX_READER_H
#define TSR_ONNX_READER_H

#include "base/progress.h"
#include "graph/graph.h"
#include "onnx/onnx.h"

#include "onnx.pb-c.h"

/* An allocator for protobuf-c that never holds more than limit bytes. */
typedef struct tsr_onnx_heap {
    ProtobufCAllocator allocator;
    size_t used, limit;
    bool out_of_memory;
} tsr_onnx_heap;

/* Bytes of the file: what raw_data holds after tsr_onnx_strip_raw_data(). */
typedef struct tsr_onnx_range {
    uint64_t offset, size;
} tsr_onnx_range;

/* A file of external data. */
typedef struct tsr_onnx_file {
    const char *location; /* in the model */
    const char *path;     /* for the caller's functions */
    uint64_t size;
    uint64_t counted; /* bytes that tensors have, at most all */
    int map;          /* of tsr_reader.maps; TSR_NONE: read by the caller's functions */
    struct tsr_onnx_file *next;
} tsr_onnx_file;

typedef struct tsr_reader {
    tsr_graph *graph;
    const unsigned char *bytes; /* the file's */
    tsr_maps *maps;             /* files that outlive the graph: its constants can stay in them */
    tsr_onnx_heap heap;         /* of the protobuf tree */
    const char *dir;            /* folder of external data; NULL: it is refused */
    const tsr_files *files;     /* of external data; its functions NULL: the system's */
    tsr_onnx_file *files_read;  /* of external data */
    uint64_t external_budget;   /* bytes of external data that the model may still have */
    uint64_t copying_budget;    /* bytes of it that may still be copied */
    tsr_progress_meter *progress;
} tsr_reader;

/* "not enough memory" */
tsr_status tsr_onnx_out_of_memory(void);

/* strip_raw_data.c: a copy of a serialized message in which raw data is replaced by its range in
 * the file. False if the bytes are damaged or more than `limit` would be allocated
 * (out_of_memory). The caller frees stripped->bytes in either case. */
typedef struct tsr_onnx_stripped {
    uint8_t *bytes;
    size_t size;
    bool out_of_memory;
} tsr_onnx_stripped;
bool tsr_onnx_strip_raw_data(const ProtobufCMessageDescriptor *type, const void *bytes, size_t size,
                             size_t limit, tsr_onnx_stripped *stripped);

/* unpack.c: raw data is a range of the file; *message is NULL on failure, else to be freed by
 * protobuf_c_message_free_unpacked with heap->allocator. */
tsr_status tsr_onnx_unpack(tsr_onnx_heap *heap, const ProtobufCMessageDescriptor *type,
                           const void *bytes, size_t size, uint64_t max_bytes,
                           ProtobufCMessage **message);

/* tensor.c: the dtype of an element type of ONNX. */
tsr_status tsr_onnx_dtype(int32_t type, tsr_dtype *dtype);
/* Appends the tensor to the graph as a constant. */
tsr_status tsr_onnx_add_tensor(tsr_reader *reader, const Tsr__TensorProto *tensor, const char *name,
                               int *value);

/* external.c: where a tensor's data is. */
typedef struct tsr_onnx_external {
    tsr_onnx_file *file;
    const unsigned char *bytes; /* NULL: to be read by the caller's functions */
    uint64_t at;                /* in the file: what is read next */
} tsr_onnx_external;
/* Finds and checks `size` bytes of data. */
tsr_status tsr_onnx_external_find(tsr_reader *reader, const Tsr__TensorProto *tensor, uint64_t size,
                                  tsr_onnx_external *external);
/* Before as many bytes are copied. */
tsr_status tsr_onnx_external_count_copy(tsr_reader *reader, const tsr_onnx_external *external,
                                        uint64_t size);
tsr_status tsr_onnx_external_read(const tsr_reader *reader, tsr_onnx_external *external,
                                  void *bytes, size_t size);

/* attributes.c: reads the attributes of a node. */
tsr_status tsr_onnx_read_attrs(tsr_reader *reader, const Tsr__NodeProto *proto, tsr_node *node);
/* Checks that the operator has every attribute of an opset-22 node, that each is of the right
 * kind, and that no required one is absent. */
tsr_status tsr_onnx_check_attrs(const tsr_node *node);
/* Adds the default of every attribute of a custom operator that the file does not give. */
tsr_status tsr_onnx_complete_attrs(tsr_graph *graph, tsr_node *node);
/* Adds the value of a Constant node to the graph as a constant. */
tsr_status tsr_onnx_add_constant_node(tsr_reader *reader, const Tsr__NodeProto *proto,
                                      const char *name, int *value);

/* nodes.c: reads all nodes in the file's order, checks and upgrades them. */
tsr_status tsr_onnx_read_nodes(tsr_reader *reader, const Tsr__GraphProto *proto);

/* sort.c: sorts nodes topologically, keeping the file's order if it is one, and sets producers. */
tsr_status tsr_onnx_sort(tsr_graph *graph);

/* upgrade.c: the operator in the newest opset; TSR_OP_COUNT if there is none. */
tsr_op tsr_onnx_find_op(const char *type, int opset);
/* Rewrites a node of the graph's opset to its newest form. type: the operator's name in the
 * file. */
tsr_status tsr_onnx_upgrade(tsr_graph *graph, tsr_node *node, const char *type);

#endif
