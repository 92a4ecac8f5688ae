/* The reference backend: plain loops, double accumulators, one function per operator. All other
 * backends are tested against it, so it is written to be compared with ONNX's text, not to be
 * fast. */
#ifndef TSR_CPU_CPU_H
#define TSR_CPU_CPU_H

#include "graph/infer.h"

/* One evaluation of a node. data[v]: the elements of value v, float or int64_t; outputs are
 * allocated, but not set. */
typedef struct tsr_cpu_call {
    const tsr_graph *graph;
    const tsr_node *node;
    void **data;
} tsr_cpu_call;

typedef tsr_status tsr_cpu_fn(const tsr_cpu_call *call);

#define TSR_OP(Name, stem, ...) tsr_cpu_fn tsr_cpu_##stem;
#define TSR_UNARY(Name, stem, types)
#define TSR_BINARY(Name, stem, kind)
#define TSR_NARY(Name, stem, types)
#define TSR_REDUCE(Name, stem, types)
#define TSR_VIEW(Name, stem, ...)
#define TSR_FUNCTION(Name, ...)
#include "graph/ops.def"
tsr_cpu_fn tsr_cpu_unary, tsr_cpu_binary, tsr_cpu_nary, tsr_cpu_reduce, tsr_cpu_view;

/* Evaluates a node and its post-ops; shapes are known and checked. A tsr_eval_fn of
 * src/passes/passes.h. */
tsr_status tsr_cpu_eval(const tsr_graph *graph, const tsr_node *node, void **data);

/* Bytes of a value's elements as the CPU stores them; SIZE_MAX if that overflows. */
size_t tsr_cpu_bytes(const tsr_value *value);
/* A value's elements from floats and to floats; integers have to be exact in them. */
void tsr_cpu_store(const tsr_value *value, const float *floats, void *data);
void tsr_cpu_load(const tsr_value *value, const void *data, float *floats);

#endif
