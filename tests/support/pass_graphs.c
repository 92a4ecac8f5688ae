#include "support/pass_graphs.h"

onnx_writer *writer;

void begin(int rank, const int64_t *dims) {
    writer = onnx_writer_create(22);
    onnx_add_input(writer, "x", TSR_DTYPE_F32, rank, dims);
}

Tsr__NodeProto *node(const char *op, const char *inputs, const char *outputs) {
    return onnx_add_node(writer, op, outputs, inputs, outputs);
}

void constant(const char *name, int rank, const int64_t *dims, float first, float step) {
    tsr_shape shape = tsr_shape_make(rank, dims);
    float *elements = onnx_add_floats(writer, name, rank, dims, NULL);
    for (int64_t i = 0; i < tsr_shape_count(&shape); i++)
        elements[i] = first + step * (float)i;
}

pair apply(tsr_status (*pass)(tsr_graph *graph), const char *output) {
    add_output(writer, output, TSR_DTYPE_F32);
    pair p = {.before = prepare_graph(writer)};
    p.after = tsr_graph_clone(p.before);
    assert_non_null(p.after);
    assert_int_equal(pass(p.after), TSR_OK);
    return p;
}

void free_pair(pair p) {
    tsr_graph_destroy(p.after);
    tsr_graph_destroy(p.before);
}
