#include "api/device_tensor.h"

#include "base/allocator.h"
#include "base/error.h"
#include "base/memory.h"
#include "api/check_elements.h"
#include "api/post_ops.h"
#include "api/sized.h"

/* ---- storages -------------------------------------------------------------------------------- */

tsr_status tsr_check_storage_type(tsr_dtype dtype) {
    if (dtype == TSR_DTYPE_F32 || dtype == TSR_DTYPE_F16)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_UNSUPPORTED, "tensors of primitives are float32 or float16, not %s",
                    tsr_dtype_name(dtype));
}

tsr_precision tsr_precision_of(tsr_dtype dtype) {
    return dtype == TSR_DTYPE_F16 ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32;
}

/* Of one value, which is input and output. NULL when out of memory. */
static tsr_graph *make_graph(const tsr_shape *shape) {
    tsr_graph *graph = tsr_graph_create("tsr_device_tensor");
    int value = graph ? tsr_graph_add_value(graph, "elements") : TSR_NONE;
    int *values = graph ? TSR_NEW(graph->arena, 1, int) : NULL;
    if (value == TSR_NONE || !values) {
        tsr_graph_destroy(graph);
        return NULL;
    }
    graph->values[value].shape = *shape;
    *values = value;
    graph->max_bytes = tsr_memory_bytes();
    graph->inputs = graph->outputs = values;
    graph->input_count = graph->output_count = 1;
    return graph;
}

tsr_status tsr_tensor_storage_make(const tsr_device *device, const tsr_shape *shape,
                                   tsr_dtype dtype, tsr_tensor_storage *storage) {
    const tsr_backend *backend = device->backend;
    const tsr_runner_options options = {
        .precision = tsr_precision_of(dtype), .separate_tensors = true, .runs_in_flight = 1};
    *storage = (tsr_tensor_storage){.graph = make_graph(shape)};
    if (!storage->graph)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a device tensor");
    tsr_status status =
        backend->runner_create(device->impl, storage->graph, &options, &storage->runner);
    if (status != TSR_OK) {
        tsr_graph_destroy(storage->graph);
        *storage = (tsr_tensor_storage){.graph = NULL};
        return status;
    }
    if (backend->transfer_outputs)
        backend->transfer_outputs(storage->runner, false); /* but when they are read */
    return TSR_OK;
}

void tsr_tensor_storage_destroy(const tsr_device *device, tsr_tensor_storage *storage) {
    if (storage->runner)
        device->backend->runner_destroy(storage->runner);
    tsr_graph_destroy(storage->graph);
    *storage = (tsr_tensor_storage){.graph = NULL};
}

const tsr_value *tsr_tensor_storage_value(const tsr_tensor_storage *storage) {
    return &storage->graph->values[storage->graph->inputs[0]];
}

/* ---- tensors --------------------------------------------------------------------------------- */

tsr_status tsr_device_tensor_create(tsr_device *device, const tsr_shape *shape, tsr_dtype dtype,
                                    tsr_device_tensor **tensor) {
    static const char *const name = "tsr_device_tensor_create";
    if (!tensor)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: tensor is NULL", name);
    *tensor = NULL;
    if (!device || !shape)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s is NULL", name,
                        device ? "shape" : "device");
    TSR_TRY(tsr_fail_context(tsr_check_storage_type(dtype), "%s", name));
    TSR_TRY(tsr_fail_context(tsr_check_tensor_shape(shape), "%s", name));
    tsr_device_tensor *made = tsr_calloc(1, sizeof *made);
    if (!made)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a device tensor");
    made->dtype = dtype;
    tsr_status status = tsr_tensor_storage_make(device, shape, dtype, &made->storage);
    if (status != TSR_OK) {
        tsr_free(made);
        return status;
    }
    made->device = tsr_device_retain(device);
    *tensor = made;
    return TSR_OK;
}

void tsr_device_tensor_destroy(tsr_device_tensor *tensor) {
    if (!tensor)
        return;
    tsr_tensor_storage_destroy(tensor->device, &tensor->storage);
    tsr_device_destroy(tensor->device);
    tsr_free(tensor);
}

tsr_status tsr_device_tensor_describe_sized(const tsr_device_tensor *tensor, tsr_tensor_info *info,
                                            size_t size) {
    if (!tensor || !info)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_device_tensor_describe: %s is NULL",
                        tensor ? "info" : "tensor");
    tsr_tensor_info known = {.name = "",
                             .dtype = tensor->dtype,
                             .shape = tsr_tensor_storage_value(&tensor->storage)->shape};
    tsr_give_struct(&known, sizeof known, info, size);
    return TSR_OK;
}

/* ---- elements -------------------------------------------------------------------------------- */

static tsr_status write_elements(tsr_device_tensor *tensor, tsr_elements *from) {
    if (!tensor)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "writing a device tensor: tensor is NULL");
    const tsr_graph *graph = tensor->storage.graph;
    TSR_TRY(tsr_check_elements(graph, tsr_tensor_storage_value(&tensor->storage), from));
    return tensor->device->backend->set_input(tensor->storage.runner, graph->inputs[0], from);
}

/* A run without passes: what is read is of now. */
static tsr_status read_elements(tsr_device_tensor *tensor, tsr_elements *to) {
    if (!tensor)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "reading a device tensor: tensor is NULL");
    const tsr_graph *graph = tensor->storage.graph;
    const tsr_backend *backend = tensor->device->backend;
    TSR_TRY(tsr_check_elements(graph, tsr_tensor_storage_value(&tensor->storage), to));
    TSR_TRY(backend->submit(tensor->storage.runner));
    return backend->get_output(tensor->storage.runner, graph->outputs[0], to);
}

tsr_status tsr_device_tensor_write(tsr_device_tensor *tensor, const float *data, size_t count) {
    tsr_elements from = tsr_elements_of_floats(data, count);
    return write_elements(tensor, &from);
}

tsr_status tsr_device_tensor_read(tsr_device_tensor *tensor, float *data, size_t count) {
    tsr_elements to = tsr_elements_of_floats(data, count);
    return read_elements(tensor, &to);
}

static tsr_status take_array(const char *function, const tsr_array *array, size_t size,
                             tsr_elements *taken) {
    *taken = (tsr_elements){.is_pixels = false};
    if (!array)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: array is NULL", function);
    return tsr_take_struct("tsr_array", array, size, &taken->array, sizeof taken->array);
}

tsr_status tsr_device_tensor_write_array_sized(tsr_device_tensor *tensor, const tsr_array *array,
                                               size_t size) {
    tsr_elements from;
    TSR_TRY(take_array("tsr_device_tensor_write_array", array, size, &from));
    return write_elements(tensor, &from);
}

tsr_status tsr_device_tensor_read_array_sized(tsr_device_tensor *tensor, const tsr_array *array,
                                              size_t size) {
    tsr_elements to;
    TSR_TRY(take_array("tsr_device_tensor_read_array", array, size, &to));
    return read_elements(tensor, &to);
}

tsr_status tsr_device_tensor_write_texture_sized(tsr_device_tensor *tensor,
                                                 const tsr_texture *texture, size_t size,
                                                 float factor, float summand) {
    tsr_texture known;
    if (!tensor || !texture)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_device_tensor_write_texture: %s is NULL",
                        tensor ? "texture" : "tensor");
    TSR_TRY(tsr_take_struct("tsr_texture", texture, size, &known, sizeof known));
    const tsr_backend *backend = tensor->device->backend;
    if (!backend->set_input_texture)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "the backend '%s' has no textures", backend->name);
    return tsr_fail_context(backend->set_input_texture(tensor->storage.runner,
                                                       tensor->storage.graph->inputs[0], &known,
                                                       factor, summand),
                            "tsr_device_tensor");
}
