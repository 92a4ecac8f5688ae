/* ONNX files -> graph, through protobuf-c and src/onnx/onnx.proto. Nothing in a file is trusted:
 * counts, sizes, overflow, dangling and duplicate names, cycles, operators (all unknown ones are
 * listed) and opsets are checked. */
#ifndef TSR_ONNX_ONNX_H
#define TSR_ONNX_ONNX_H

#include "base/progress.h"
#include "graph/graph.h"

/* The newest opset that is known; later ones are read as if they had not changed anything. Of
 * opsets 1 to 6 only the forms of nodes that upgrade.c knows are read. */
enum { TSR_OPSET_MAX = 27 };

/* desc: checked, defaults filled in. maps: files that outlive the graph, to which those of external
 * data are added: large constants stay in them, possibly unaligned; the bytes may be of one of
 * them, or be freed after the call. progress: the last stage of the call begins; NULL: nobody is
 * told. */
tsr_status tsr_onnx_read(const void *bytes, size_t size, const tsr_model_desc *desc, tsr_maps *maps,
                         tsr_progress_meter *progress, tsr_graph **graph);

/* Files are written in these opsets. */
enum { TSR_OPSET_WRITTEN_MIN = 13 };

/* The first opset that has every operator of the graph. */
int tsr_onnx_first_opset(const tsr_graph *graph);

/* Writes the graph, which may be what tsr_export() made of one that was read, as a file of an
 * opset. `write` is called many times. Fails with TSR_ERROR_UNSUPPORTED, and names the node, where
 * ONNX, or that opset of it, lacks an operator or a form, and where the file would be larger than
 * 2 GiB, with TSR_ERROR_IO where `write` returns false. */
tsr_status tsr_onnx_write(const tsr_graph *graph, int opset, tsr_write_fn write, void *user);

/* The opsets before which files have another form of the operator, which is rewritten: ascending,
 * at most `room`; returns how many. */
int tsr_onnx_changes(const char *op, int *opsets, int room);

/* One serialized TensorProto (a .pb file of ONNX's tests) as a constant of a graph of its own. */
tsr_status tsr_onnx_read_tensor(const void *bytes, size_t size, const char *name, tsr_graph **graph,
                                int *value);

#endif
