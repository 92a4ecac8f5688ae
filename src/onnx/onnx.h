/* ONNX files -> graph, through protobuf-c and src/onnx/onnx.proto. The file is checked before it is
 * trusted: counts, sizes, overflow, dangling and double names, cycles, operators (all unknown ones
 * are listed), opsets. */
#ifndef TSR_ONNX_ONNX_H
#define TSR_ONNX_ONNX_H

#include "graph/graph.h"

/* Opsets 1 to 6 are read as far as their nodes use forms that upgrade.c knows; others are refused.
 */
enum { TSR_OPSET_MIN = 1, TSR_OPSET_MAX = 22 };

/* desc: checked, its name and max_bytes filled in. The bytes may go after the call. */
tsr_status tsr_onnx_read(const void *bytes, size_t size, const tsr_model_desc *desc,
                         tsr_graph **graph);
/* The same of bytes that outlive the graph: its large constants lie in them, at any address. */
tsr_status tsr_onnx_read_kept(const void *bytes, size_t size, const tsr_model_desc *desc,
                              tsr_graph **graph);

/* One serialized TensorProto (the .pb files of ONNX's tests) as a constant named as in the file in
 * a graph of its own. */
tsr_status tsr_onnx_read_tensor(const void *bytes, size_t size, const char *name, tsr_graph **graph,
                                int *value);

#endif
