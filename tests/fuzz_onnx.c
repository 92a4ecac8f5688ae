/* Fuzz target: the ONNX reader, then constant folding and shape inference, through the public API.
 * Seeds: make_corpus. */
#include "onnx/onnx.h"
#include "tessera.h"

#include <stdlib.h>

enum { MAX_BYTES = 1 << 20, MAX_INPUTS = 16, OPEN_SIZE = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void fuzz_tensor(const uint8_t *bytes, size_t size) {
    tsr_graph *graph;
    int value;
    if (tsr_onnx_read_tensor(bytes, size, "fuzz", &graph, &value) == TSR_OK)
        tsr_graph_destroy(graph);
}

/* What the model leaves open gets small sizes. */
static int close_shapes(const tsr_model *model, tsr_input_shape shapes[MAX_INPUTS]) {
    int count = 0;
    for (int i = 0; i < tsr_model_input_count(model) && count < MAX_INPUTS; i++) {
        tsr_tensor_info info;
        if (tsr_model_input(model, i, &info) != TSR_OK)
            continue;
        if (info.shape.rank < 0)
            info.shape.rank = 4;
        else if (tsr_shape_count(&info.shape) >= 0)
            continue;
        for (int d = 0; d < info.shape.rank; d++)
            if (info.shape.dim[d] < 1)
                info.shape.dim[d] = OPEN_SIZE;
        shapes[count++] = (tsr_input_shape){info.name, info.shape};
    }
    return count;
}

static void fuzz_session(tsr_device *device, const tsr_model *model) {
    tsr_input_shape shapes[MAX_INPUTS];
    tsr_session_desc desc = {
        .plan_only = true, .shapes = shapes, .shape_count = close_shapes(model, shapes)};
    tsr_session *session;
    if (tsr_session_create(device, model, &desc, &session) == TSR_OK)
        tsr_session_destroy(session);
}

static tsr_status twice(tsr_custom_call *call) {
    int count;
    tsr_attr_ints(call->node, "sizes", &count);
    float gain = tsr_attr_float(call->node, "gain", 0);
    for (int64_t i = tsr_shape_count(&call->output_shape) - 1; i >= 0; i--)
        call->output[i] = gain * call->input[0][i] + (float)count;
    return TSR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static tsr_device *device;
    if (!device && tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &device) != TSR_OK)
        abort();
    fuzz_tensor(bytes, size);
    tsr_model *model;
    const tsr_custom_op op = {.name = "Twice",
                              .domain = "fuzz",
                              .max_inputs = 2,
                              .compute = twice,
                              .attrs = (const tsr_custom_attr[]){{"gain", 2}, {"offset", 0}},
                              .attr_count = 2};
    tsr_model_desc desc = {
        .name = "fuzz", .max_bytes = MAX_BYTES, .custom_ops = &op, .custom_op_count = 1};
    if (tsr_model_load_memory(bytes, size, &desc, &model) != TSR_OK)
        return 0;
    fuzz_session(device, model);
    tsr_model_free(model);
    return 0;
}
