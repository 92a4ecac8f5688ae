#include "api/primitive.h"

#include "base/allocator.h"
#include "base/error.h"
#include "api/sized.h"

struct tsr_primitive {
    tsr_device *device; /* retained */
    tsr_dtype dtype;
    tsr_post_ops posts; /* without names */
    tsr_primitive_graph values;
    tsr_autotune_result tuning;
    tsr_runner *runner;
    /* What a destination that is also read gets its result in, in exchange for its own storage;
     * empty: not needed so far. */
    tsr_tensor_storage apart;
};

/* ---- making ---------------------------------------------------------------------------------- */

static const tsr_shape *shape_of(const tsr_primitive *p, int value) {
    return &p->values.graph->values[value].shape;
}

static tsr_status make_apart(tsr_primitive *p) {
    if (p->apart.runner)
        return TSR_OK;
    return tsr_tensor_storage_make(p->device, shape_of(p, p->values.destination), p->dtype,
                                   &p->apart);
}

/* Choices are measured as those of a session, with tensors of their own. */
static tsr_status make_runner(tsr_primitive *p, const tsr_primitive_desc *desc) {
    const tsr_backend *backend = p->device->backend;
    tsr_runner_options options = {.precision = tsr_precision_of(desc->dtype), .runs_in_flight = 1};
    if (!p->device->fixed_kernels) {
        const tsr_autotune_target target = {backend, p->device->impl, &p->device->tuned};
        TSR_TRY(tsr_autotune(&target, p->values.graph, &options, desc->tune_ms, &p->tuning));
    }
    options.choices = p->tuning.choices;
    options.separate_tensors = options.bound_tensors = true;
    options.fused_only = desc->fused_only;
    TSR_TRY(backend->runner_create(p->device->impl, p->values.graph, &options, &p->runner));
    if (backend->transfer_outputs)
        backend->transfer_outputs(p->runner, false);
    return TSR_OK;
}

static tsr_status build(tsr_primitive *p, const tsr_primitive_desc *desc) {
    bool decomposes = p->device->backend->optimizes;
    TSR_TRY(tsr_check_storage_type(desc->dtype));
    TSR_TRY(tsr_primitive_graph_make(desc, decomposes, &p->values));
    TSR_TRY(make_runner(p, desc));
    return p->values.before == TSR_NONE ? TSR_OK : make_apart(p);
}

static void take_posts(tsr_primitive *p, const tsr_post_ops *posts) {
    if (!posts)
        return;
    p->posts = *posts;
    p->posts.names = NULL;
    for (int i = 0; i < p->posts.count; i++)
        p->posts.list[i].node = p->posts.list[i].tensor = NULL;
}

tsr_status tsr_primitive_create_sized(tsr_device *device, const tsr_primitive_desc *desc,
                                      size_t size, tsr_primitive **primitive) {
    static const char *const name = "tsr_primitive_create";
    if (!primitive)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: primitive is NULL", name);
    *primitive = NULL;
    if (!device || !desc)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s is NULL", name,
                        device ? "desc" : "device");
    tsr_primitive_desc known;
    TSR_TRY(tsr_take_struct("tsr_primitive_desc", desc, size, &known, sizeof known));
    tsr_primitive *made = tsr_calloc(1, sizeof *made);
    if (!made)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a primitive");
    made->device = tsr_device_retain(device);
    made->dtype = known.dtype;
    take_posts(made, known.posts);
    tsr_status status = build(made, &known);
    if (status != TSR_OK) {
        tsr_primitive_destroy(made);
        return tsr_fail_context(status, "%s", name);
    }
    *primitive = made;
    return TSR_OK;
}

void tsr_primitive_destroy(tsr_primitive *p) {
    if (!p)
        return;
    if (p->runner)
        p->device->backend->runner_destroy(p->runner);
    tsr_tensor_storage_destroy(p->device, &p->apart);
    tsr_graph_destroy(p->values.graph);
    tsr_device_destroy(p->device);
    tsr_free(p);
}

/* ---- executing ------------------------------------------------------------------------------- */

static tsr_status check_tensor(const tsr_primitive *p, const tsr_device_tensor *tensor, int value,
                               const char *name) {
    const tsr_shape *shape = tensor ? &tsr_tensor_storage_value(&tensor->storage)->shape : NULL;
    if (!tensor)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: the tensor is NULL", name);
    if (tensor->device != p->device)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: the tensor is of another device", name);
    if (tensor->dtype != p->dtype)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: the tensor is %s, the primitive's are %s",
                        name, tsr_dtype_name(tensor->dtype), tsr_dtype_name(p->dtype));
    if (!tsr_shape_equal(shape, shape_of(p, value)))
        return tsr_fail(TSR_ERROR_SHAPE, "%s: the tensor is %s, the primitive's %s", name,
                        tsr_shape_text(shape), tsr_shape_text(shape_of(p, value)));
    return TSR_OK;
}

/* A tensor that may be left out if the primitive has no such value, and then has to be. */
static tsr_status check_optional(const tsr_primitive *p, const tsr_device_tensor *tensor, int value,
                                 const char *name) {
    if (value != TSR_NONE)
        return check_tensor(p, tensor, value, name);
    return tensor ? tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: the primitive reads no such tensor",
                             name)
                  : TSR_OK;
}

static tsr_status check_args(const tsr_primitive *p, const tsr_primitive_args *args) {
    TSR_TRY(check_tensor(p, args->source, p->values.source, "source"));
    TSR_TRY(check_optional(p, args->other, p->values.other, "other"));
    TSR_TRY(check_tensor(p, args->destination, p->values.destination, "destination"));
    for (int i = 0; i < TSR_MAX_POST_OPS; i++)
        TSR_TRY(tsr_fail_context(
            check_optional(p, args->operands[i], p->values.operands[i], "its operand"),
            "post-op %d", i));
    return TSR_OK;
}

/* No pass may read and write the same texture or buffer. */
static bool reads_destination(const tsr_primitive *p, const tsr_primitive_args *args) {
    const tsr_device_tensor *to = args->destination;
    bool reads = p->values.before != TSR_NONE || args->source == to || args->other == to;
    for (int i = 0; i < TSR_MAX_POST_OPS; i++)
        reads = reads || args->operands[i] == to;
    return reads;
}

static void bind(const tsr_primitive *p, int value, const tsr_tensor_storage *storage) {
    if (value != TSR_NONE)
        p->device->backend->bind(p->runner, value, storage->runner, storage->graph->inputs[0]);
}

static void bind_sources(const tsr_primitive *p, const tsr_primitive_args *args) {
    bind(p, p->values.source, &args->source->storage);
    if (args->other)
        bind(p, p->values.other, &args->other->storage);
    bind(p, p->values.before, &args->destination->storage);
    for (int i = 0; i < TSR_MAX_POST_OPS; i++)
        if (args->operands[i])
            bind(p, p->values.operands[i], &args->operands[i]->storage);
}

static tsr_status execute(tsr_primitive *p, const tsr_primitive_args *args) {
    tsr_tensor_storage *to = &args->destination->storage;
    bool exchanges = reads_destination(p, args);
    if (exchanges)
        TSR_TRY(make_apart(p));
    bind_sources(p, args);
    bind(p, p->values.destination, exchanges ? &p->apart : to);
    TSR_TRY(p->device->backend->submit(p->runner));
    if (exchanges) {
        tsr_tensor_storage old = *to;
        *to = p->apart;
        p->apart = old;
    }
    return TSR_OK;
}

tsr_status tsr_primitive_execute_sized(tsr_primitive *primitive, const tsr_primitive_args *args,
                                       size_t size) {
    static const char *const name = "tsr_primitive_execute";
    tsr_primitive_args known;
    if (!primitive || !args)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s is NULL", name,
                        primitive ? "args" : "primitive");
    TSR_TRY(tsr_take_struct("tsr_primitive_args", args, size, &known, sizeof known));
    TSR_TRY(tsr_fail_context(check_args(primitive, &known), "%s", name));
    return tsr_fail_context(execute(primitive, &known), "%s", name);
}

/* ---- what it is ------------------------------------------------------------------------------ */

const tsr_post_ops *tsr_primitive_post_ops(const tsr_primitive *primitive) {
    static const tsr_post_ops none;
    return primitive ? &primitive->posts : &none;
}

tsr_status tsr_primitive_operand_shape(const tsr_primitive *primitive, int index,
                                       tsr_shape *shape) {
    static const char *const name = "tsr_primitive_operand_shape";
    if (!primitive || !shape)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s is NULL", name,
                        primitive ? "shape" : "primitive");
    if (index < 0 || index >= primitive->posts.count ||
        primitive->values.operands[index] == TSR_NONE)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: there is no post-op %d with an operand",
                        name, index);
    *shape = *shape_of(primitive, primitive->values.operands[index]);
    return TSR_OK;
}

static uint64_t bytes_apart(const tsr_primitive *p) {
    tsr_report report = {0};
    if (p->apart.runner)
        p->device->backend->report(p->apart.runner, &report);
    return report.allocated_bytes;
}

tsr_status tsr_primitive_get_report_sized(const tsr_primitive *primitive,
                                          tsr_primitive_report *report, size_t size) {
    if (!primitive || !report)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_primitive_get_report: %s is NULL",
                        primitive ? "report" : "primitive");
    const tsr_backend *backend = primitive->device->backend;
    const tsr_graph *graph = primitive->values.graph;
    tsr_report all = {0};
    tsr_node_report node = {.kernel = ""};
    backend->report(primitive->runner, &all);
    backend->node_report(primitive->runner, graph->node_count - 1, &node);
    tsr_primitive_report known = {.destination =
                                      *shape_of(primitive, primitive->values.destination),
                                  .passes = all.pass_count,
                                  .weight_bytes = all.weight_bytes,
                                  .allocated_bytes = all.allocated_bytes + bytes_apart(primitive),
                                  .kernel = node.kernel,
                                  .macs = tsr_graph_macs(graph)};
    tsr_give_struct(&known, sizeof known, report, size);
    return TSR_OK;
}
