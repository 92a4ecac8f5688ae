/* Writes ONNX models. Checks nothing: tests write broken models with it too. An allocation failure
 * is reported when the model is written; returned pointers are NULL then, and every function
 * accepts NULL. */
#ifndef ONNX_WRITER_H
#define ONNX_WRITER_H

#include "tessera.h"

#include "onnx.pb-c.h"

typedef struct onnx_writer onnx_writer;

onnx_writer *onnx_writer_create(int opset);
void onnx_writer_destroy(onnx_writer *writer);
/* The protobuf message, for what the functions below do not offer. New parts are allocated with
 * onnx_alloc. */
Tsr__ModelProto *onnx_writer_model(onnx_writer *writer);
/* Zeroed memory with the lifetime of the writer. */
void *onnx_alloc(onnx_writer *writer, size_t count, size_t size);
char *onnx_copy(onnx_writer *writer, const char *text);
/* Appends to a repeated field of messages or strings; list: where the field is. */
void onnx_append(onnx_writer *writer, void *list, size_t *count, void *item);

/* rank -1 leaves the shape out; a dimension of -1 is left unknown. */
Tsr__ValueInfoProto *onnx_add_input(onnx_writer *writer, const char *name, tsr_dtype dtype,
                                    int rank, const int64_t *dims);
Tsr__ValueInfoProto *onnx_add_output(onnx_writer *writer, const char *name, tsr_dtype dtype,
                                     int rank, const int64_t *dims);
/* Sets a symbolic size of an axis of an input or output. */
void onnx_set_dim_name(onnx_writer *writer, Tsr__ValueInfoProto *info, int axis, const char *name);

/* A tensor in raw form with zeroed data of the right size, which the caller fills. */
Tsr__TensorProto *onnx_new_tensor(onnx_writer *writer, const char *name, tsr_dtype dtype, int rank,
                                  const int64_t *dims);
/* Initializers; elements are zero, to be filled by the caller, where none are given. */
Tsr__TensorProto *onnx_add_initializer(onnx_writer *writer, const char *name, tsr_dtype dtype,
                                       int rank, const int64_t *dims);
float *onnx_add_floats(onnx_writer *writer, const char *name, int rank, const int64_t *dims,
                       const float *elements);
int64_t *onnx_add_ints(onnx_writer *writer, const char *name, int rank, const int64_t *dims,
                       const int64_t *elements);

/* op: an operator of ONNX or of Tessera's own, or DOMAIN:NAME; its domain is imported. inputs,
 * outputs: names separated by commas ("x,,scales": the second is absent). */
Tsr__NodeProto *onnx_add_node(onnx_writer *writer, const char *op, const char *name,
                              const char *inputs, const char *outputs);
Tsr__AttributeProto *onnx_set_int(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                  int64_t i);
Tsr__AttributeProto *onnx_set_float(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                    float f);
Tsr__AttributeProto *onnx_set_string(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                     const char *s);
Tsr__AttributeProto *onnx_set_strings(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                      size_t count, const char *const *strings);
Tsr__AttributeProto *onnx_set_ints(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                   size_t count, const int64_t *ints);
Tsr__AttributeProto *onnx_set_floats(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                     size_t count, const float *floats);
Tsr__AttributeProto *onnx_set_tensor(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                     Tsr__TensorProto *tensor);
/* The graph of another writer, which need not outlive this call. */
Tsr__AttributeProto *onnx_set_graph(onnx_writer *writer, Tsr__NodeProto *node, const char *name,
                                    const onnx_writer *graph);

/* The serialized model, allocated with malloc; NULL when out of memory. */
uint8_t *onnx_write_memory(const onnx_writer *writer, size_t *size);
/* Writes atomically. False: errno has the reason, and no file is left. */
bool onnx_write_file(const onnx_writer *writer, const char *path);

#endif
