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

/* Bytes of the file: what raw_data, graphs in attributes and functions are after
 * tsr_onnx_strip_raw_data(). */
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

/* The names of a graph in an attribute, or of a call of a function: a prefix tells them from others
 * in the graph's table. */
typedef struct tsr_onnx_scope {
    struct tsr_onnx_scope *outer; /* NULL: the model's graph is around it */
    const char *prefix;
    const Tsr__NodeProto *call; /* of the function whose names these are; NULL: of none */
    int first_value, end_value; /* of its names; the second is set once all are declared */
    int depth;
    bool is_repeated; /* in a call */
} tsr_onnx_scope;

/* A list of values, allocated with tsr_malloc. */
typedef struct tsr_onnx_values {
    int *values;
    int count, room;
} tsr_onnx_values;

typedef struct tsr_onnx_function tsr_onnx_function;
typedef struct tsr_onnx_lack tsr_onnx_lack;

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
    tsr_onnx_function *functions;
    size_t function_count;
    uint64_t repeated;          /* bytes read for calls of functions so far, counted at each call */
    tsr_onnx_scope *scope;      /* NULL: of the model's graph */
    int end_value;              /* of the names of the model's graph */
    int scope_count;            /* scopes so far */
    tsr_onnx_values captured;   /* what nodes in a scope read of the values around it */
    tsr_onnx_lack *lacks;       /* what is not supported, in the graph's arena */
    int lack_count, more_lacks; /* listed, and found beyond what is listed */
    char *name;                 /* with its prefix */
    size_t name_room;
} tsr_reader;

/* "not enough memory" */
tsr_status tsr_onnx_out_of_memory(void);

/* lacking.c: notes something that is not supported, by what it is and the name of its node or
 * tensor; reading can go on, with something in its place, to find more. of, what: an operator's
 * domain and type; its type and the attribute; its type and the reason; "" and the element type;
 * "" and a description. */
typedef enum tsr_onnx_lack_kind {
    TSR_LACKS_OPERATOR,
    TSR_LACKS_ATTRIBUTE,
    TSR_LACKS_FORM, /* an operator's, for another reason */
    TSR_LACKS_TYPE,
    TSR_LACKS_OTHER, /* of a tensor */
} tsr_onnx_lack_kind;
tsr_status tsr_onnx_note_lack(tsr_reader *reader, tsr_onnx_lack_kind kind, const char *of,
                              const char *what, const char *where);
/* At the end: fails, with a list of all that was noted, if there is any. Errors of the model may
 * follow from it, so that it is told instead of them. */
tsr_status tsr_onnx_refuse_lacks(const tsr_reader *reader, tsr_status status);

/* strip_raw_data.c: a copy of a serialized message, a range of the file, in which raw data, graphs
 * in attributes and functions are replaced by their ranges in the file. False if the bytes are
 * damaged or more than `limit` would be allocated (out_of_memory). The caller frees
 * stripped->bytes in either case. */
typedef struct tsr_onnx_stripped {
    uint8_t *bytes;
    size_t size;
    bool out_of_memory;
} tsr_onnx_stripped;
bool tsr_onnx_strip_raw_data(const ProtobufCMessageDescriptor *type, const unsigned char *file,
                             tsr_onnx_range range, size_t limit, tsr_onnx_stripped *stripped);

/* unpack.c: unpacks a range of the file, stripped; *message is NULL on failure, else to be freed
 * by protobuf_c_message_free_unpacked with heap->allocator. */
tsr_status tsr_onnx_unpack(tsr_onnx_heap *heap, const ProtobufCMessageDescriptor *type,
                           const unsigned char *file, tsr_onnx_range range, uint64_t max_bytes,
                           ProtobufCMessage **message);
/* The range that a field holds after that; empty if there is none. */
tsr_onnx_range tsr_onnx_range_of(const ProtobufCBinaryData *field);

/* tensor.c: the dtype of an element type of ONNX. One that is not supported is noted for the tensor
 * of the name. */
tsr_status tsr_onnx_dtype(tsr_reader *reader, int32_t type, const char *name, tsr_dtype *dtype);
/* Appends the tensor to the graph as a constant; one that is not supported is noted, and empty. */
tsr_status tsr_onnx_add_tensor(tsr_reader *reader, const Tsr__TensorProto *tensor, const char *name,
                               int *value);
/* Appends an empty constant in the place of what was noted. */
tsr_status tsr_onnx_add_nothing(tsr_reader *reader, const char *name, int *value);

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
/* Checks that the operator has every attribute of a node of the newest opset, that each is of the
 * right kind, and that no required one is absent. Attributes that it does not have are noted. */
tsr_status tsr_onnx_check_attrs(tsr_reader *reader, const tsr_node *node);
/* Adds the default of every attribute of a custom operator that the file does not give. */
tsr_status tsr_onnx_complete_attrs(tsr_graph *graph, tsr_node *node);
/* Adds the value of a Constant node to the graph as a constant. */
tsr_status tsr_onnx_add_constant_node(tsr_reader *reader, const Tsr__NodeProto *proto,
                                      const char *name, int *value);

/* body.c: reads the model's graph, and one in an attribute, whose node has the name. */
tsr_status tsr_onnx_read_graph(tsr_reader *reader, const Tsr__GraphProto *proto);
tsr_status tsr_onnx_read_body(tsr_reader *reader, const Tsr__AttributeProto *attr,
                              const char *node_name, const tsr_body **body);
tsr_status tsr_onnx_read_function(tsr_reader *reader, const Tsr__FunctionProto *function,
                                  const Tsr__NodeProto *call, const char *node_name,
                                  const tsr_body **body);

/* function.c */
tsr_status tsr_onnx_load_functions(tsr_reader *reader, const Tsr__ModelProto *model);
void tsr_onnx_free_functions(tsr_reader *reader);
/* Functions that call each other may be read far more often than the file is long: in a scope that
 * is_repeated bytes are counted, and limited. */
tsr_status tsr_onnx_count_repeated(tsr_reader *reader, uint64_t bytes);
/* The function that a node calls; NULL if there is none. */
const Tsr__FunctionProto *tsr_onnx_find_function(const tsr_reader *reader,
                                                 const Tsr__NodeProto *call);
/* Gives a node that calls a function, whose inputs and outputs are known, its body. */
tsr_status tsr_onnx_read_call(tsr_reader *reader, const Tsr__NodeProto *proto, tsr_node *node);
/* An attribute in a function may have the content of one of the call, or of the function's default;
 * NULL if neither has it. */
const Tsr__AttributeProto *tsr_onnx_attr_content(const tsr_reader *reader,
                                                 const Tsr__AttributeProto *attr);

/* scope.c: values by their names in the file, in the scopes around a node and in the model's
 * graph: TSR_NONE if there is none. *out_of_memory is set, never cleared. */
int tsr_onnx_find_value(tsr_reader *reader, const char *name, bool *out_of_memory);
/* Is the name taken in this scope itself? */
bool tsr_onnx_has_value(tsr_reader *reader, const char *name);
/* The name in the graph's table, until the next call; NULL when out of memory. */
const char *tsr_onnx_local_name(tsr_reader *reader, const char *name);
/* Takes the captured values from `first` on: those before end_value, each once, are appended to
 * the node's inputs; they are captured by the scope of the node, too. */
tsr_status tsr_onnx_add_captured(tsr_reader *reader, int first, int end_value, tsr_node *node);

/* nodes.c: reads all nodes in the file's order, checks and upgrades them. */
tsr_status tsr_onnx_read_nodes(tsr_reader *reader, const Tsr__GraphProto *proto, tsr_body *body);

/* sort.c: sorts nodes topologically, keeping the file's order if it is one, and sets producers. */
tsr_status tsr_onnx_sort(tsr_graph *graph, tsr_body *body);

/* upgrade.c: the operator in the newest opset; TSR_OP_COUNT if there is none. */
tsr_op tsr_onnx_find_op(const char *type, int opset);
/* Rewrites a node of the graph's opset to its newest form. type: the operator's name in the
 * file. */
tsr_status tsr_onnx_upgrade(tsr_graph *graph, tsr_node *node, const char *type);

#endif
