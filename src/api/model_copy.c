/* A model of its own of a graph that borrows: as it would be written to a file and read again. */
#include "api/model.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "onnx/onnx.h"

typedef struct bytes {
    char *data;
    size_t size, room;
} bytes;

static bool append_bytes(void *user, const char *data, size_t size) {
    bytes *b = user;
    if (size > b->room - b->size) {
        size_t room = 2 * b->room + size;
        char *longer = tsr_realloc(b->data, room);
        if (!longer)
            return false;
        b->data = longer;
        b->room = room;
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return true;
}

static tsr_status read_copy(const tsr_graph *graph, const bytes *file, tsr_model **model) {
    const tsr_model_desc desc = {.name = graph->file,
                                 .custom_ops = graph->custom_ops,
                                 .custom_op_count = graph->custom_op_count};
    return tsr_model_load_memory(file->data, file->size, &desc, model);
}

tsr_status tsr_model_copy_of(const tsr_graph *graph, tsr_model **model) {
    bytes file = {0};
    int least = tsr_onnx_first_opset(graph);
    least = least < graph->opset ? graph->opset : least;
    tsr_status status = tsr_onnx_write(
        graph, least < TSR_OPSET_WRITTEN_MIN ? TSR_OPSET_WRITTEN_MIN : least, append_bytes, &file);
    if (status == TSR_ERROR_UNSUPPORTED) { /* an attribute of later opsets */
        file.size = 0;
        status = tsr_onnx_write(graph, TSR_OPSET_MAX, append_bytes, &file);
    }
    if (status == TSR_ERROR_IO)
        status = tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: no memory for a copy", graph->file);
    if (status == TSR_OK)
        status = read_copy(graph, &file, model);
    tsr_free(file.data);
    return status;
}
