#include "gles/runner.h"

#include "base/error.h"
#include "base/memory.h"
#include "cpu/cpu.h"
#include "gles/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tsr_status make_plan(tsr_runner *r) {
    const tsr_plan_options options = {
        .limits = r->device->limits,
        .max_rounds = r->device->max_rounds,
        .half = r->options.precision == TSR_FP16,
        .keep_all = r->options.keep_tensors,
        .fallback = r->options.allow_cpu_fallback,
        .plain_outputs = r->options.texture_outputs,
        .max_bytes = tsr_memory_bytes(),
        .lower = tsr_gles_lower,
    };
    return tsr_plan_create(r->graph, &options, &r->plan);
}

static tsr_status allocate(tsr_runner *r) {
    const tsr_plan *plan = r->plan;
    r->output_count = r->graph->output_count;
    r->targets = calloc((size_t)plan->storage_count + 1, sizeof *r->targets);
    r->constants = calloc((size_t)plan->tensor_count, sizeof *r->constants);
    r->passes = calloc((size_t)plan->pass_count + 1, sizeof *r->passes);
    r->outputs = calloc((size_t)r->output_count + 1, sizeof *r->outputs);
    r->node_ms = calloc((size_t)r->graph->node_count + 1, sizeof *r->node_ms);
    bool timed = r->options.time_passes && r->device->info.has_timer;
    r->timers = timed ? calloc((size_t)r->graph->node_count + 1, sizeof *r->timers) : NULL;
    if (!r->targets || !r->constants || !r->passes || !r->outputs || !r->node_ms ||
        (timed && !r->timers))
        return tsr_fail(TSR_OUT_OF_MEMORY, "no memory for the session");
    for (int i = 0; i < r->graph->node_count; i++)
        r->node_ms[i] = -1;
    for (int i = 0; i < r->output_count; i++) {
        int value = r->graph->outputs[i];
        bool constant = r->graph->values[value].data; /* the session knows it */
        r->outputs[i].value = value;
        r->outputs[i].tensor = constant ? TSR_NONE : plan->value_tensor[value];
    }
    return TSR_OK;
}

static tsr_status build(tsr_runner *r) {
    TSR_TRY(allocate(r));
    if (r->options.plan_only)
        return TSR_OK;
    TSR_TRY(tsr_gles_enter(r->device));
    r->built = true;
    tsr_status status = tsr_gles_build(r);
    tsr_gles_leave(r->device);
    return tsr_fail_context(status, "%s", r->graph->file);
}

tsr_status tsr_gles_runner_create(tsr_backend_device *device, const tsr_graph *graph,
                                  const tsr_runner_options *options, tsr_runner **out) {
    tsr_runner *r = calloc(1, sizeof *r);
    if (!r)
        return tsr_fail(TSR_OUT_OF_MEMORY, "no memory for the session");
    *r = (tsr_runner){.device = device, .graph = graph, .options = *options};
    tsr_status status = make_plan(r);
    if (status == TSR_OK)
        status = build(r);
    if (status != TSR_OK) {
        tsr_gles_runner_destroy(r);
        return status;
    }
    *out = r;
    return TSR_OK;
}

void tsr_gles_runner_destroy(tsr_runner *r) {
    if (r->built && tsr_gles_enter(r->device) == TSR_OK) {
        tsr_gles_unbuild(r);
        tsr_gles_leave(r->device);
    }
    free(r->targets);
    free(r->constants);
    free(r->passes);
    free(r->outputs);
    free(r->node_ms);
    free(r->timers);
    free(r->staging);
    tsr_gles_fallback_destroy(r);
    tsr_plan_destroy(r->plan);
    free(r);
}

const tsr_target *tsr_gles_target(const tsr_runner *r, int tensor) {
    return &r->targets[r->plan->tensors[tensor].storage];
}

static tsr_status set_input(tsr_runner *r, int value, const float *data) {
    int tensor = r->plan->value_tensor[value];
    if (r->plan->value_on_cpu[value] && r->cpu_data) /* NULL where no node reads it */
        memcpy(r->cpu_data[value], data, tsr_cpu_bytes(&r->graph->values[value]));
    if (tensor == TSR_NONE)
        return TSR_OK;
    const tsr_layout *l = tsr_plan_layout(r->plan, tensor);
    tsr_layout_pack(l, data, r->options.poison ? NAN : 0, r->staging);
    TSR_TRY(tsr_gles_enter(r->device));
    tsr_target_upload(tsr_gles_target(r, tensor), l, r->staging);
    tsr_gles_leave(r->device);
    return TSR_OK;
}

/* NaN in every storage but those of inputs. */
static void poison(const tsr_runner *r) {
    const tsr_plan *plan = r->plan;
    for (int i = 0; i < plan->pass_count; i++) {
        int storage = plan->tensors[plan->passes[i].output].storage;
        if (plan->passes[i].kind == TSR_PASS_CPU)
            continue;
        tsr_target_poison(&r->targets[storage], &plan->storages[storage]);
    }
}

static void start_reading(tsr_runner *r) {
    for (int i = 0; i < r->output_count; i++) {
        tsr_gles_output *o = &r->outputs[i];
        o->in_buffer = o->buffer && !r->options.texture_outputs;
        if (o->in_buffer)
            tsr_target_read(tsr_gles_target(r, o->tensor), tsr_plan_layout(r->plan, o->tensor),
                            o->buffer);
    }
    if (r->fence)
        glDeleteSync(r->fence);
    r->fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    glFlush();
}

static tsr_status submit(tsr_runner *r) {
    TSR_TRY(tsr_gles_enter(r->device));
    if (r->options.poison)
        poison(r);
    tsr_status status = tsr_gles_draw(r);
    if (status == TSR_OK)
        start_reading(r);
    tsr_gles_leave(r->device);
    return status;
}

static void collect_timers(tsr_runner *r) {
    GLint disjoint = 0;
    glGetIntegerv(GL_GPU_DISJOINT_EXT, &disjoint);
    for (int i = 0; i < r->graph->node_count && !disjoint; i++) {
        GLuint64 nanoseconds = 0;
        if (!glIsQueryEXT(r->timers[i])) /* a node without a pass: its timer never began */
            continue;
        glGetQueryObjectui64vEXT(r->timers[i], GL_QUERY_RESULT_EXT, &nanoseconds);
        r->node_ms[i] = (double)nanoseconds * 1e-6;
    }
}

/* Waits at most `timeout` nanoseconds for the latest run. Inside enter and leave. */
static tsr_status finish(tsr_runner *r, GLuint64 timeout) {
    if (!r->fence)
        return TSR_OK;
    GLenum result = glClientWaitSync(r->fence, GL_SYNC_FLUSH_COMMANDS_BIT, timeout);
    while (result == GL_TIMEOUT_EXPIRED && timeout)
        result = glClientWaitSync(r->fence, 0, timeout);
    TSR_TRY(tsr_gles_check_lost(r->device));
    if (result == GL_TIMEOUT_EXPIRED)
        return TSR_NOT_READY;
    if (result == GL_WAIT_FAILED)
        return tsr_gles_check_error(r->device, "waiting for a run");
    glDeleteSync(r->fence);
    r->fence = NULL;
    if (r->timers)
        collect_timers(r);
    return tsr_gles_check_error(r->device, "running the model");
}

enum { WAIT_NANOSECONDS = 1000000000 };

static tsr_status wait_run(tsr_runner *r) {
    TSR_TRY(tsr_gles_enter(r->device));
    tsr_status status = finish(r, WAIT_NANOSECONDS);
    tsr_gles_leave(r->device);
    return status;
}

static tsr_status poll_run(tsr_runner *r) {
    TSR_TRY(tsr_gles_enter(r->device));
    tsr_status status = finish(r, 0);
    tsr_gles_leave(r->device);
    return status;
}

static tsr_status read_buffer(const tsr_runner *r, const tsr_gles_output *o, float *data) {
    const tsr_layout *l = tsr_plan_layout(r->plan, o->tensor);
    size_t bytes = tsr_layout_floats(l) * sizeof(float);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, o->buffer);
    const float *texels =
        glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, (GLsizeiptr)bytes, GL_MAP_READ_BIT);
    if (texels) {
        tsr_layout_unpack(l, texels, data);
        glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
    }
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    return texels ? TSR_OK : tsr_fail(TSR_DEVICE, "the driver cannot map a pixel-pack buffer");
}

static tsr_gles_output *find_output(tsr_runner *r, int value) {
    for (int i = 0; i < r->output_count; i++)
        if (r->outputs[i].value == value)
            return &r->outputs[i];
    return NULL;
}

tsr_status tsr_gles_read_now(const tsr_runner *r, int tensor, float *data) {
    const tsr_layout *l = tsr_plan_layout(r->plan, tensor);
    tsr_gles_output once = {TSR_NONE, tensor, tsr_buffer_create(l), true};
    tsr_target_read(tsr_gles_target(r, tensor), l, once.buffer);
    tsr_status status = read_buffer(r, &once, data);
    glDeleteBuffers(1, &once.buffer);
    return status;
}

/* A result of a node that ran on the CPU; integers become floats. */
static void copy_floats(float *to, const void *from, const tsr_value *value) {
    int64_t count = tsr_shape_count(&value->shape);
    for (int64_t i = 0; i < count; i++)
        to[i] = tsr_dtype_is_float(value->dtype) ? ((const float *)from)[i]
                                                 : (float)((const int64_t *)from)[i];
}

static tsr_status read_value(tsr_runner *r, int value, float *data) {
    const tsr_gles_output *output = find_output(r, value);
    TSR_TRY(finish(r, WAIT_NANOSECONDS));
    if (r->plan->value_tensor[value] == TSR_NONE) {
        copy_floats(data, r->cpu_data[value], &r->graph->values[value]);
        return TSR_OK;
    }
    tsr_status status = output && output->in_buffer
                            ? read_buffer(r, output, data)
                            : tsr_gles_read_now(r, r->plan->value_tensor[value], data);
    TSR_TRY(
        tsr_gles_check_error(r->device, "reading a result")); /* it knows more than read_buffer */
    return status;
}

static tsr_status get_output(tsr_runner *r, int value, float *data) {
    TSR_TRY(tsr_gles_enter(r->device));
    tsr_status status = read_value(r, value, data);
    tsr_gles_leave(r->device);
    return status;
}

static bool can_read(const tsr_runner *r, int value) {
    int tensor = r->plan->value_tensor[value];
    if (tensor == TSR_NONE)
        return r->plan->value_on_cpu[value];
    return r->plan->tensors[tensor].storage != TSR_NONE && r->plan->tensors[tensor].keep;
}

static tsr_status output_texture(tsr_runner *r, int value, tsr_texture *texture) {
    const tsr_gles_output *output = find_output(r, value);
    int tensor = r->plan->plain_outputs[output - r->outputs];
    const tsr_layout *l = tsr_plan_layout(r->plan, tensor);
    *texture = (tsr_texture){
        .id = tsr_gles_target(r, tensor)->texture,
        .internal_format = l->half ? GL_RGBA16F : GL_RGBA32F,
        .width = l->w,
        .height = l->h,
        .columns = 1 << l->columns_log2,
        .tiles = l->tiles,
        .texture_width = l->texture_w,
        .texture_height = l->texture_h,
    };
    return TSR_OK;
}

static void report(const tsr_runner *r, tsr_report *out) {
    out->pass_count = r->plan->pass_count;
    out->program_count = r->program_count;
    out->compile_ms = r->compile_ms;
    out->tensor_bytes = r->plan->tensor_bytes;
    out->live_bytes_bound = r->plan->live_bytes_bound;
    out->weight_bytes = r->plan->constant_bytes;
    out->allocated_bytes = r->allocated_bytes;
}

static void node_report(const tsr_runner *r, int node, tsr_node_report *out) {
    bool on_cpu = false;
    out->kernel = "";
    out->passes = 0;
    for (int i = 0; i < r->plan->pass_count; i++)
        if (r->plan->passes[i].node == node) {
            out->passes++;
            out->kernel = r->plan->passes[i].kernel;
            on_cpu = on_cpu || r->plan->passes[i].kind == TSR_PASS_CPU;
        }
    out->backend = on_cpu ? "cpu" : out->passes ? "gles" : "view";
    out->ms = r->node_ms[node];
}

const tsr_backend tsr_gles_backend = {
    .name = "gles",
    .optimizes = true,
    .device_create = tsr_gles_device_create,
    .device_destroy = tsr_gles_device_destroy,
    .device_info = tsr_gles_device_info,
    .list_devices = tsr_gles_list_devices,
    .measure_peak = tsr_gles_measure_peak,
    .runner_create = tsr_gles_runner_create,
    .runner_destroy = tsr_gles_runner_destroy,
    .set_input = set_input,
    .submit = submit,
    .poll = poll_run,
    .wait = wait_run,
    .get_output = get_output,
    .can_read = can_read,
    .output_texture = output_texture,
    .report = report,
    .node_report = node_report,
};
