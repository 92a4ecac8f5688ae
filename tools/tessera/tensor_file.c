#define _POSIX_C_SOURCE 200809L
#include "tensor.h"
#include "tool.h"
#include "graph/graph.h"
#include "onnx/onnx.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Graphs store floating types as float and all others as int64_t. */
static tsr_status copy_value(const tsr_value *value, tensor *made) {
    TRY(tensor_create(value->dtype, &value->shape, made));
    if (!made->integers) {
        if (made->count)
            memcpy(made->values, value->data, made->count * sizeof *made->values);
        return TSR_OK;
    }
    const int64_t *elements = value->data;
    for (size_t at = 0; at < made->count; at++) {
        made->integers[at] = elements[at];
        made->values[at] = (float)elements[at];
    }
    return TSR_OK;
}

static tsr_status proto_parse(const unsigned char *bytes, size_t size, const char *path,
                              tensor *made) {
    tsr_graph *graph;
    int value;
    TRY_LIBRARY(tsr_onnx_read_tensor(bytes, size, path, &graph, &value));
    tsr_status status = copy_value(&graph->values[value], made);
    tsr_graph_destroy(graph);
    return status;
}

tsr_status tensor_load(const char *path, tensor *made) {
    *made = (tensor){0};
    bool npy = file_is(path, ".npy");
    bool other = !npy && !file_is(path, ".pb");
    if (other && access(path, F_OK) == 0)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: a tensor file is .npy or .pb", path);
    unsigned char *bytes;
    size_t size;
    TRY(file_read(path, &bytes, &size));
    tsr_status status =
        npy ? npy_parse(bytes, size, path, made) : proto_parse(bytes, size, path, made);
    free(bytes);
    return status;
}
