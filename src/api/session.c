#include "api/session.h"

#include <stdio.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "api/bind.h"
#include "api/sized.h"
#include "cpu/cpu.h"

enum { MAX_RUNS_IN_FLIGHT = 16 };

tsr_status tsr_session_name_file(tsr_status status, const tsr_graph *graph) {
    bool named = strncmp(tsr_last_error(), graph->file, strlen(graph->file)) == 0;
    return named ? status : tsr_fail_context(status, "%s", graph->file);
}

/* ---- making a session ------------------------------------------------------------------------ */

/* Each array of elements must be addressable, and the bytes of all of them countable in 64 bits. */
static tsr_status check_sizes(const tsr_graph *graph) {
    const int64_t size = sizeof(int64_t), countable = INT64_MAX / size / (graph->value_count + 1);
    int64_t most = PTRDIFF_MAX / size < countable ? PTRDIFF_MAX / size : countable;
    for (int v = 0; v < graph->value_count; v++) {
        const tsr_value *value = &graph->values[v];
        if (tsr_shape_count(&value->shape) > most)
            return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "tensor '%s' %s is too large", value->name,
                            tsr_shape_text(&value->shape));
    }
    return TSR_OK;
}

static tsr_status take_constants(tsr_graph *graph, const tsr_progress_meter *progress) {
    for (int v = 0; v < graph->value_count; v++) {
        TSR_TRY(tsr_progress_report(progress, "reading weights", v, graph->value_count));
        if (!tsr_graph_copy_to_arena(graph, v))
            return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for tensor '%s'",
                            graph->values[v].name);
    }
    return tsr_progress_report(progress, "reading weights", 1, 1);
}

/* Nodes that run on the CPU read weights as they are: none may have a scale apart. */
static void forget_model(tsr_graph *graph) {
    for (int v = 0; v < graph->value_count; v++)
        graph->values[v].model_constant = 0;
}

/* The CPU backend needs no leave. */
static tsr_status prepare_nodes(tsr_session *session, const tsr_session_desc *desc) {
    tsr_graph *graph = session->graph;
    tsr_late_nodes late;
    bool allowed = desc->allow_cpu_fallback || !session->device->backend->optimizes;
    tsr_status status =
        tsr_prepare_for(graph, tsr_cpu_eval, &session->optimizer, allowed ? &late : NULL);
    if (status != TSR_OK && !allowed && tsr_failed_until_run()) {
        char why[2048];
        snprintf(why, sizeof why, "%s", tsr_last_error());
        return tsr_fail(status,
                        "%s; allow_cpu_fallback (--allow-cpu-fallback) computes it, and what reads "
                        "it, on the CPU after each run",
                        why);
    }
    TSR_TRY(status);
    if (!allowed || late.node_count == 0)
        return TSR_OK;
    if (session->runs_in_flight > 1)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "several runs in flight: not with nodes whose shapes are known only at run "
                        "time, as of '%s' (%s)",
                        late.nodes[0].name, tsr_node_op_name(&late.nodes[0]));
    if (session->device->backend->optimizes)
        tsr_log(TSR_LOG_WARN,
                "%s: %d nodes follow each run on the CPU: those that depend on node '%s' (%s)",
                graph->file, late.node_count, late.nodes[0].name, tsr_node_op_name(&late.nodes[0]));
    return tsr_late_create(graph, &late, &session->late);
}

static tsr_status prepare_graph(tsr_session *session, const tsr_session_desc *desc) {
    tsr_graph *graph = session->graph;
    const tsr_backend *backend = session->device->backend;
    tsr_progress_meter *progress = &session->progress;
    TSR_TRY(tsr_bind(graph, desc));
    if (!backend->streams || desc->allow_cpu_fallback) {
        tsr_progress_stage(progress, backend->streams ? 0.1 : 1);
        TSR_TRY(take_constants(graph, progress));
    }
    if (desc->allow_cpu_fallback)
        forget_model(graph);
    TSR_TRY(prepare_nodes(session, desc));
    TSR_TRY(check_sizes(graph));
    return backend->optimizes ? tsr_optimize(graph, &session->optimizer) : TSR_OK;
}

/* "Conv(LeakyRelu)+Relu"; NULL when out of memory. */
static const char *op_text(tsr_graph *graph, const tsr_node *node) {
    const char *text = tsr_node_op_name(node);
    if (node->before)
        text =
            tsr_arena_printf(graph->arena, "%s(%s)", text, tsr_op_get_info(node->before->op)->name);
    for (int p = 0; p < node->post_count && text; p++)
        text =
            tsr_arena_printf(graph->arena, "%s+%s", text, tsr_op_get_info(node->posts[p].op)->name);
    return text;
}

static bool is_kept(const tsr_session *session, int value) {
    bool computed = !session->graph->values[value].data;
    bool latest_only = session->runs_in_flight > 1 && !session->device->backend->select_run;
    return tsr_graph_is_input(session->graph, value) || (computed && latest_only);
}

static tsr_status add_kept(tsr_session *session, int value) {
    tsr_graph *graph = session->graph;
    size_t count = (size_t)tsr_shape_count(&graph->values[value].shape);
    tsr_kept_output *added = &session->kept_outputs[session->kept_count++];
    *added = (tsr_kept_output){.value = value, .count = count};
    added->runs = TSR_NEW(graph->arena, count * (size_t)session->runs_in_flight, float);
    bool input = tsr_graph_is_input(graph, value);
    if (input)
        added->next = TSR_NEW(graph->arena, count, float);
    return added->runs && (!input || added->next) ? TSR_OK : TSR_ERROR_OUT_OF_MEMORY;
}

/* The session's own arrays, all in the graph's arena. */
static tsr_status allocate_tables(tsr_session *session) {
    tsr_graph *graph = session->graph;
    session->input_set = TSR_NEW(graph->arena, graph->input_count, bool);
    session->op_texts = TSR_NEW(graph->arena, graph->node_count, const char *);
    session->kept_outputs = TSR_NEW(graph->arena, graph->output_count, tsr_kept_output);
    bool complete = session->input_set && session->op_texts && session->kept_outputs;
    for (int n = 0; n < graph->node_count && complete; n++)
        complete = (session->op_texts[n] = op_text(graph, &graph->nodes[n])) != NULL;
    for (int i = 0; i < graph->output_count && complete; i++)
        if (is_kept(session, graph->outputs[i]))
            complete = add_kept(session, graph->outputs[i]) == TSR_OK;
    return complete ? TSR_OK : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the session");
}

static tsr_status check_runs(const tsr_session_desc *desc) {
    if (desc->runs_in_flight < 0 || desc->runs_in_flight > MAX_RUNS_IN_FLIGHT)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%d runs in flight: there can be 1 to %d",
                        desc->runs_in_flight, MAX_RUNS_IN_FLIGHT);
    bool latest_only = desc->allow_cpu_fallback || desc->texture_outputs || desc->keep_tensors ||
                       desc->time_passes;
    if (desc->runs_in_flight > 1 && latest_only)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "several runs in flight: not with allow_cpu_fallback, texture_outputs, "
                        "keep_tensors or time_passes");
    return TSR_OK;
}

static tsr_status autotune(tsr_session *session, int budget_ms) {
    tsr_device *device = session->device;
    const tsr_autotune_target target = {device->backend, device->impl, &device->tuned};
    TSR_TRY(tsr_autotune(&target, session->graph, &session->options, budget_ms, &session->tuning));
    session->options.choices = session->tuning.choices;
    return TSR_OK;
}

/* What the device can store: 16 bits for TSR_PRECISION_AUTO, of which a calibration makes
 * exceptions; always 32 where floats are stored as their bits. */
static tsr_precision stored_precision(const tsr_device *device, const tsr_graph *graph,
                                      tsr_precision wanted) {
    tsr_device_info info = {.half_only = false};
    device->backend->device_info(device->impl, &info);
    if (info.bits_only)
        return TSR_PRECISION_FP32;
    if (!info.half_only || wanted == TSR_PRECISION_FP16)
        return wanted == TSR_PRECISION_AUTO ? TSR_PRECISION_FP16 : wanted;
    tsr_log(TSR_LOG_WARN,
            "%s: tensors are stored in 16 bits, not 32: %s renders to no 32-bit floats",
            graph->file, info.name);
    return TSR_PRECISION_FP16;
}

/* Can tensors have 32 bits or 16, as a calibration finds? */
static bool chooses_storage(const tsr_device *device, tsr_precision wanted) {
    tsr_device_info info = {.half_only = false};
    device->backend->device_info(device->impl, &info);
    return wanted == TSR_PRECISION_AUTO && device->backend->optimizes && !info.half_only &&
           !info.bits_only;
}

static void drop_runner(tsr_session *session) {
    if (session->runner)
        session->device->backend->runner_destroy(session->runner);
}

/* On this device, as the session's options say. */
static tsr_status make_runner(tsr_session *session, const tsr_device *device) {
    const tsr_backend *backend = device->backend;
    const tsr_runner_options *o = &session->options;
    tsr_runner *made;
    TSR_TRY(backend->runner_create(device->impl, session->graph, o, &made));
    drop_runner(session);
    session->runner = made;
    bool remains = o->prepare_in_steps && !o->plan_only && backend->prepare;
    session->prepared = remains ? TSR_NOT_READY : TSR_OK;
    return TSR_OK;
}

static tsr_status build(tsr_session *session, const tsr_session_desc *desc) {
    session->progress.caller = desc->progress;
    session->precision = desc->precision;
    TSR_TRY(check_runs(desc));
    TSR_TRY(tsr_optimizer_make(desc->optimizer_passes, &session->optimizer));
    TSR_TRY(prepare_graph(session, desc));
    session->options = (tsr_runner_options){
        .precision = stored_precision(session->device, session->graph, desc->precision),
        .allow_cpu_fallback = desc->allow_cpu_fallback,
        .texture_outputs = desc->texture_outputs,
        .keep_tensors = desc->keep_tensors,
        .plan_only = desc->plan_only,
        .time_passes = desc->time_passes,
        .poison = desc->poison,
        .weights = desc->weights,
        .runs_in_flight = session->runs_in_flight,
        .prepare_in_steps = desc->prepare_in_steps,
        .copies_concats = !session->optimizer.on[TSR_OPTIMIZER_concat_in_place],
        .copies_splits = !session->optimizer.on[TSR_OPTIMIZER_split_in_place],
        .progress = &session->progress};
    if (!session->device->fixed_kernels)
        TSR_TRY(autotune(session, desc->tune_ms));
    session->is_auto = chooses_storage(session->device, desc->precision);
    if (session->is_auto)
        TSR_TRY(tsr_session_find_storage(session));
    TSR_TRY(make_runner(session, session->device));
    return allocate_tables(session);
}

tsr_status tsr_session_create_sized(tsr_device *device, const tsr_model *model,
                                    const tsr_session_desc *desc, size_t size,
                                    tsr_session **session) {
    if (!session)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_create: session is NULL");
    *session = NULL;
    if (!device || !model)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_create: %s is NULL",
                        device ? "model" : "device");
    tsr_session_desc known;
    TSR_TRY(tsr_take_struct("tsr_session_desc", desc, size, &known, sizeof known));
    tsr_session *created = tsr_calloc(1, sizeof *created);
    tsr_graph *graph = created ? tsr_graph_clone(model->graph) : NULL;
    if (!graph) {
        tsr_free(created);
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: no memory for a session", model->graph->file);
    }
    *created = (tsr_session){.device = tsr_device_retain(device),
                             .model = tsr_model_retain(model),
                             .graph = graph,
                             .plan_only = known.plan_only,
                             .texture_outputs = known.texture_outputs,
                             .runs_in_flight = known.runs_in_flight ? known.runs_in_flight : 1};
    tsr_status status = build(created, &known);
    if (status != TSR_OK) {
        tsr_session_destroy(created);
        return tsr_session_name_file(status, model->graph);
    }
    *session = created;
    return TSR_OK;
}

tsr_status tsr_session_prepare(tsr_session *session, double ms) {
    if (!session)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_prepare: session is NULL");
    if (session->prepared != TSR_NOT_READY)
        return session->prepared == TSR_OK ? TSR_OK : tsr_session_check_can_run(session);
    tsr_status status = session->device->backend->prepare(session->runner, ms);
    session->prepared = status;
    return status == TSR_NOT_READY ? status : tsr_session_name_file(status, session->graph);
}

static tsr_status check_recover(const tsr_session *session, const tsr_device *device) {
    if (!session || !device)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_recover: an argument is NULL");
    const tsr_device *lost = session->device;
    if (device->backend != lost->backend)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "%s: the session is one of %s, the device of %s", session->graph->file,
                        lost->backend->name, device->backend->name);
    if (!lost->backend->is_lost || !lost->backend->is_lost(lost->impl))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: the session's device is not lost",
                        session->graph->file);
    return TSR_OK;
}

tsr_status tsr_session_recover(tsr_session *session, tsr_device *device) {
    TSR_TRY(check_recover(session, device));
    tsr_graph *graph = session->graph;
    session->options.precision = stored_precision(device, graph, session->options.precision);
    session->is_auto = chooses_storage(device, session->precision);
    session->progress = (tsr_progress_meter){0}; /* what the caller gave may be gone */
    tsr_status status = make_runner(session, device);
    if (status != TSR_OK)
        return tsr_session_name_file(status, graph);
    tsr_device_destroy(session->device);
    session->device = tsr_device_retain(device);
    session->tuning.tuned = NULL; /* its times were the lost device's */
    session->stepping = false;
    session->submitted = session->latest = session->slot = 0;
    memset(session->input_set, 0, (size_t)graph->input_count * sizeof *session->input_set);
    return TSR_OK;
}

void tsr_session_destroy(tsr_session *session) {
    if (!session)
        return;
    drop_runner(session);
    tsr_late_destroy(session->late);
    tsr_graph_destroy(session->graph);
    tsr_model_free(session->model);
    tsr_device_destroy(session->device);
    tsr_free(session);
}
