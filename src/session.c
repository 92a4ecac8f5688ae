#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bind.h"
#include "cpu/cpu.h"
#include "device.h"
#include "model.h"
#include "names.h"
#include "passes/passes.h"
#include "tune.h"

enum { MAX_RUNS_IN_FLIGHT = 16 };

/* An output that the session keeps itself: one that is a graph input too, for which nothing
 * runs; or any of a backend that has the latest run's only. */
typedef struct kept_output {
    int value;
    size_t count;
    float *next; /* what an input was set to last; NULL: the backend computes it */
    float *runs; /* of each run in flight */
} kept_output;

struct tsr_session {
    tsr_device *device;
    tsr_model *model; /* owns the names and constants that the graph borrows */
    tsr_graph *graph;
    tsr_runner *runner;
    bool plan_only, texture_outputs;
    bool stepping; /* a run in steps has begun and is not complete */
    int runs_in_flight;
    int submitted;     /* runs that can be read */
    int latest, place; /* of the latest and of the selected run among those in flight */
    bool *input_set;   /* by graph input */
    int kept_count;
    kept_output *kept_outputs;
    const char **op_texts; /* by node: "Conv+Relu" */
    tsr_tuning tuning;
};

/* Lower layers name the file where they name a node. */
static tsr_status name_file(tsr_status status, const tsr_graph *graph) {
    bool named = strncmp(tsr_last_error(), graph->file, strlen(graph->file)) == 0;
    return named ? status : tsr_fail_context(status, "%s", graph->file);
}

/* ---- making a session ------------------------------------------------------------------------ */

/* Arrays of elements must be addressable, and the bytes of all of them together countable. */
static tsr_status check_sizes(const tsr_graph *graph) {
    int64_t most = PTRDIFF_MAX / (int64_t)sizeof(int64_t) / (graph->value_count + 1);
    for (int v = 0; v < graph->value_count; v++) {
        const tsr_value *value = &graph->values[v];
        if (tsr_shape_count(&value->shape) > most)
            return tsr_fail(TSR_OUT_OF_MEMORY, "tensor '%s' %s is too large", value->name,
                            tsr_shape_text(&value->shape));
    }
    return TSR_OK;
}

static tsr_status take_constants(tsr_graph *graph) {
    for (int v = 0; v < graph->value_count; v++)
        if (!tsr_graph_take(graph, v))
            return tsr_fail(TSR_OUT_OF_MEMORY, "no memory for tensor '%s'", graph->values[v].name);
    return TSR_OK;
}

static tsr_status prepare_graph(tsr_graph *graph, const tsr_backend *backend,
                                const tsr_session_desc *desc) {
    TSR_TRY(tsr_bind(graph, desc));
    if (!backend->streams || desc->allow_cpu_fallback)
        TSR_TRY(take_constants(graph));
    TSR_TRY(tsr_prepare(graph, tsr_cpu_eval));
    TSR_TRY(check_sizes(graph));
    return backend->optimizes ? tsr_optimize(graph) : TSR_OK;
}

/* "Conv+Relu"; NULL when out of memory. */
static const char *op_text(tsr_graph *graph, const tsr_node *node) {
    const char *text = tsr_node_op_name(node);
    for (int p = 0; p < node->post_count && text; p++)
        text =
            tsr_arena_printf(graph->arena, "%s+%s", text, tsr_op_get_info(node->posts[p].op)->name);
    return text;
}

static bool is_input(const tsr_graph *graph, int value) {
    for (int i = 0; i < graph->input_count; i++)
        if (graph->inputs[i] == value)
            return true;
    return false;
}

static bool is_kept(const tsr_session *session, int value) {
    bool computed = !session->graph->values[value].data;
    bool latest_only = session->runs_in_flight > 1 && !session->device->backend->select_run;
    return is_input(session->graph, value) || (computed && latest_only);
}

static tsr_status add_kept(tsr_session *session, int value) {
    tsr_graph *graph = session->graph;
    size_t count = (size_t)tsr_shape_count(&graph->values[value].shape);
    kept_output *added = &session->kept_outputs[session->kept_count++];
    *added = (kept_output){.value = value, .count = count};
    added->runs = TSR_NEW(graph->arena, count * (size_t)session->runs_in_flight, float);
    bool input = is_input(graph, value);
    if (input)
        added->next = TSR_NEW(graph->arena, count, float);
    return added->runs && (!input || added->next) ? TSR_OK : TSR_OUT_OF_MEMORY;
}

/* What the session itself keeps besides the graph; all of it lives in the graph's arena. */
static tsr_status allocate_tables(tsr_session *session) {
    tsr_graph *graph = session->graph;
    session->input_set = TSR_NEW(graph->arena, graph->input_count, bool);
    session->op_texts = TSR_NEW(graph->arena, graph->node_count, const char *);
    session->kept_outputs = TSR_NEW(graph->arena, graph->output_count, kept_output);
    bool complete = session->input_set && session->op_texts && session->kept_outputs;
    for (int n = 0; n < graph->node_count && complete; n++)
        complete = (session->op_texts[n] = op_text(graph, &graph->nodes[n])) != NULL;
    for (int i = 0; i < graph->output_count && complete; i++)
        if (is_kept(session, graph->outputs[i]))
            complete = add_kept(session, graph->outputs[i]) == TSR_OK;
    return complete ? TSR_OK : tsr_fail(TSR_OUT_OF_MEMORY, "no memory for the session");
}

static tsr_status check_runs(const tsr_session_desc *desc) {
    if (desc->runs_in_flight < 0 || desc->runs_in_flight > MAX_RUNS_IN_FLIGHT)
        return tsr_fail(TSR_INVALID_ARGUMENT, "%d runs in flight: there can be 1 to %d",
                        desc->runs_in_flight, MAX_RUNS_IN_FLIGHT);
    bool latest_only = desc->allow_cpu_fallback || desc->texture_outputs || desc->keep_tensors ||
                       desc->time_passes;
    if (desc->runs_in_flight > 1 && latest_only)
        return tsr_fail(TSR_INVALID_ARGUMENT,
                        "several runs in flight: not with allow_cpu_fallback, texture_outputs, "
                        "keep_tensors or time_passes");
    return TSR_OK;
}

static tsr_status build(tsr_session *session, const tsr_session_desc *desc) {
    const tsr_backend *backend = session->device->backend;
    TSR_TRY(check_runs(desc));
    TSR_TRY(prepare_graph(session->graph, backend, desc));
    tsr_runner_options options = {.precision = desc->precision,
                                  .allow_cpu_fallback = desc->allow_cpu_fallback,
                                  .texture_outputs = desc->texture_outputs,
                                  .keep_tensors = desc->keep_tensors,
                                  .plan_only = desc->plan_only,
                                  .time_passes = desc->time_passes,
                                  .poison = desc->poison,
                                  .runs_in_flight = session->runs_in_flight};
    TSR_TRY(tsr_tune(session->device, session->graph, &options, desc->tune_ms, &session->tuning));
    options.kernels = session->tuning.kernels;
    TSR_TRY(
        backend->runner_create(session->device->own, session->graph, &options, &session->runner));
    return allocate_tables(session);
}

tsr_status tsr_session_create(tsr_device *device, const tsr_model *model,
                              const tsr_session_desc *desc, tsr_session **session) {
    if (!session)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_create: session is NULL");
    *session = NULL;
    if (!device || !model)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_create: %s is NULL",
                        device ? "model" : "device");
    const tsr_session_desc defaults = {0};
    if (!desc)
        desc = &defaults;
    tsr_session *created = calloc(1, sizeof *created);
    tsr_graph *graph = created ? tsr_graph_clone(model->graph) : NULL;
    if (!graph) {
        free(created);
        return tsr_fail(TSR_OUT_OF_MEMORY, "%s: no memory for a session", model->graph->file);
    }
    *created = (tsr_session){.device = device,
                             .model = tsr_model_retain(model),
                             .graph = graph,
                             .plan_only = desc->plan_only,
                             .texture_outputs = desc->texture_outputs,
                             .runs_in_flight = desc->runs_in_flight ? desc->runs_in_flight : 1};
    tsr_status status = build(created, desc);
    if (status != TSR_OK) {
        tsr_session_destroy(created);
        return name_file(status, model->graph);
    }
    *session = created;
    return TSR_OK;
}

void tsr_session_destroy(tsr_session *session) {
    if (!session)
        return;
    if (session->runner)
        session->device->backend->runner_destroy(session->runner);
    tsr_graph_destroy(session->graph);
    tsr_model_free(session->model);
    free(session);
}

/* ---- inputs and outputs ---------------------------------------------------------------------- */

int tsr_session_input_count(const tsr_session *session) {
    return session ? session->graph->input_count : 0;
}

int tsr_session_output_count(const tsr_session *session) {
    return session ? session->graph->output_count : 0;
}

tsr_status tsr_session_input(const tsr_session *session, int index, tsr_tensor_info *info) {
    if (!info || index < 0 || index >= tsr_session_input_count(session))
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_input: there is no input %d of %d",
                        index, tsr_session_input_count(session));
    *info = tsr_tensor_info_of(&session->graph->values[session->graph->inputs[index]]);
    return TSR_OK;
}

tsr_status tsr_session_output(const tsr_session *session, int index, tsr_tensor_info *info) {
    if (!info || index < 0 || index >= tsr_session_output_count(session))
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_output: there is no output %d of %d",
                        index, tsr_session_output_count(session));
    *info = tsr_tensor_info_of(&session->graph->values[session->graph->outputs[index]]);
    return TSR_OK;
}

static tsr_status check_count(const tsr_value *value, const void *data, size_t count) {
    size_t expected = (size_t)tsr_shape_count(&value->shape);
    if (count != expected)
        return tsr_fail(TSR_SHAPE, "tensor '%s' %s has %zu elements, not %zu", value->name,
                        tsr_shape_text(&value->shape), expected, count);
    if (!data && count > 0)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tensor '%s': data is NULL", value->name);
    return TSR_OK;
}

/* An input that only outputs use is not passed on by every backend: the session keeps it. */
static kept_output *find_kept(const tsr_session *session, int value) {
    for (int i = 0; i < session->kept_count; i++)
        if (session->kept_outputs[i].value == value)
            return &session->kept_outputs[i];
    return NULL;
}

/* Which of the graph's inputs has this name. */
static tsr_status find_input(const tsr_session *session, const char *name, int *index) {
    const tsr_graph *graph = session->graph;
    if (session->plan_only)
        return tsr_fail(TSR_INVALID_ARGUMENT, "%s: this session was made to plan only",
                        graph->file);
    int i = 0;
    while (i < graph->input_count && strcmp(graph->values[graph->inputs[i]].name, name) != 0)
        i++;
    if (i == graph->input_count)
        return tsr_fail(TSR_INVALID_ARGUMENT, "%s: there is no input '%s'; the inputs are: %s",
                        graph->file, name,
                        tsr_names_of(graph, graph->inputs, graph->input_count).text);
    *index = i;
    return TSR_OK;
}

tsr_status tsr_session_set_input(tsr_session *session, const char *name, const float *data,
                                 size_t count) {
    int i;
    if (!session || !name)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_set_input: %s is NULL",
                        session ? "name" : "session");
    TSR_TRY(find_input(session, name, &i));
    const tsr_graph *graph = session->graph;
    int value = graph->inputs[i];
    TSR_TRY(tsr_fail_context(check_count(&graph->values[value], data, count), "%s", graph->file));
    kept_output *same = find_kept(session, value);
    if (same && count > 0)
        memcpy(same->next, data, count * sizeof *data);
    session->stepping = false;
    TSR_TRY(session->device->backend->set_input(session->runner, value, data));
    session->input_set[i] = true;
    return TSR_OK;
}

tsr_status tsr_session_set_input_texture(tsr_session *session, const char *name,
                                         const tsr_texture *texture, float factor, float summand) {
    int i;
    if (!session || !name || !texture)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_set_input_texture: an argument is NULL");
    const tsr_backend *backend = session->device->backend;
    const tsr_graph *graph = session->graph;
    if (!backend->set_input_texture)
        return tsr_fail(TSR_UNSUPPORTED, "%s: the backend '%s' has no textures", graph->file,
                        backend->name);
    TSR_TRY(find_input(session, name, &i));
    int value = graph->inputs[i];
    if (find_kept(session, value))
        return tsr_fail(TSR_UNSUPPORTED,
                        "%s: input '%s' is an output, too: it comes from no texture", graph->file,
                        name);
    session->stepping = false;
    TSR_TRY(tsr_fail_context(
        backend->set_input_texture(session->runner, value, texture, factor, summand),
        "%s: input '%s'", graph->file, name));
    session->input_set[i] = true;
    return TSR_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void select_place(tsr_session *session, int place) {
    const tsr_backend *backend = session->device->backend;
    session->place = place;
    if (backend->select_run)
        backend->select_run(session->runner, place);
}

static float *kept_run(const tsr_session *session, const kept_output *k) {
    return k->runs + k->count * (size_t)session->place;
}

static tsr_status keep_outputs(tsr_session *session) {
    for (int i = 0; i < session->kept_count; i++) {
        const kept_output *k = &session->kept_outputs[i];
        if (k->count == 0)
            continue;
        if (k->next)
            memcpy(kept_run(session, k), k->next, k->count * sizeof(float));
        else
            TSR_TRY(session->device->backend->get_output(session->runner, k->value,
                                                         kept_run(session, k)));
    }
    return TSR_OK;
}

static tsr_status check_inputs(const tsr_session *session) {
    const tsr_graph *graph = session->graph;
    if (session->plan_only)
        return tsr_fail(TSR_INVALID_ARGUMENT, "%s: this session was made to plan only",
                        graph->file);
    for (int i = 0; i < graph->input_count; i++)
        if (!session->input_set[i])
            return tsr_fail(TSR_INVALID_ARGUMENT, "%s: input '%s' %s has not been set", graph->file,
                            graph->values[graph->inputs[i]].name,
                            tsr_shape_text(&graph->values[graph->inputs[i]].shape));
    return TSR_OK;
}

/* A run was handed to the backend, or could not be. */
static tsr_status end_submit(tsr_session *session, tsr_status status) {
    if (status == TSR_OK)
        status = keep_outputs(session);
    session->submitted += session->submitted < session->runs_in_flight;
    if (status != TSR_OK)
        session->submitted = 0;
    return name_file(status, session->graph);
}

tsr_status tsr_session_submit(tsr_session *session) {
    if (!session)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_submit: session is NULL");
    TSR_TRY(check_inputs(session));
    session->stepping = false;
    session->latest = (session->latest + 1) % session->runs_in_flight;
    select_place(session, session->latest);
    return end_submit(session, session->device->backend->submit(session->runner));
}

tsr_status tsr_session_step(tsr_session *session, double ms) {
    if (!session)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_step: session is NULL");
    TSR_TRY(check_inputs(session));
    const tsr_backend *backend = session->device->backend;
    if (session->runs_in_flight > 1)
        return tsr_fail(TSR_INVALID_ARGUMENT, "%s: no steps with several runs in flight",
                        session->graph->file);
    bool begin = !session->stepping;
    if (backend->step) {
        session->submitted = 0;
        tsr_status status = backend->step(session->runner, begin, ms);
        session->stepping = status == TSR_NOT_READY;
        return session->stepping ? status : end_submit(session, status);
    }
    if (begin)
        TSR_TRY(tsr_session_submit(session));
    tsr_status status = backend->poll(session->runner);
    session->stepping = status == TSR_NOT_READY;
    return status;
}

static tsr_status check_submitted(const tsr_session *session) {
    return session->submitted ? TSR_OK
                              : tsr_fail(TSR_INVALID_ARGUMENT, "%s: %s", session->graph->file,
                                         session->stepping ? "the run in steps is not complete yet"
                                                           : "the session has not run yet");
}

tsr_status tsr_session_select_run(tsr_session *session, int behind) {
    if (!session)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_select_run: session is NULL");
    TSR_TRY(check_submitted(session));
    if (behind < 0 || behind >= session->submitted)
        return tsr_fail(TSR_INVALID_ARGUMENT,
                        "%s: of %d runs that can be read there is none %d before the latest",
                        session->graph->file, session->submitted, behind);
    int count = session->runs_in_flight;
    select_place(session, (session->latest + count - behind) % count);
    return TSR_OK;
}

tsr_status tsr_session_poll(tsr_session *session) {
    if (!session)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_poll: session is NULL");
    TSR_TRY(check_submitted(session));
    return session->device->backend->poll(session->runner);
}

tsr_status tsr_session_run(tsr_session *session) {
    TSR_TRY(tsr_session_submit(session));
    const tsr_backend *backend = session->device->backend;
    return backend->wait ? backend->wait(session->runner) : TSR_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

/* TSR_NONE if no output has this name. */
static int find_output(const tsr_graph *graph, const char *name) {
    for (int i = 0; i < graph->output_count; i++)
        if (strcmp(graph->values[graph->outputs[i]].name, name) == 0)
            return graph->outputs[i];
    return TSR_NONE;
}

static tsr_status fail_name(const tsr_graph *graph, const char *name, const char *problem) {
    return tsr_fail(TSR_INVALID_ARGUMENT, "%s: '%s' %s; the outputs are: %s", graph->file, name,
                    problem, tsr_names_of(graph, graph->outputs, graph->output_count).text);
}

/* The tensor that the caller names, or an error that lists the outputs. */
static tsr_status find_readable(const tsr_session *session, const char *name, int *value) {
    const tsr_graph *graph = session->graph;
    *value = find_output(graph, name);
    if (*value != TSR_NONE)
        return TSR_OK;
    *value = tsr_graph_find_value(graph, name);
    if (*value == TSR_NONE)
        return fail_name(graph, name, "is no tensor of the model");
    if (!session->device->backend->can_read(session->runner, *value))
        return fail_name(graph, name, "is neither an output nor a tensor that was kept");
    return TSR_OK;
}

static void copy_constant(const tsr_value *value, float *data, size_t count) {
    if (tsr_dtype_is_float(value->dtype)) {
        memcpy(data, value->data, count * sizeof *data);
        return;
    }
    for (size_t i = 0; i < count; i++)
        data[i] = (float)((const int64_t *)value->data)[i];
}

tsr_status tsr_session_get_output(tsr_session *session, const char *name, float *data,
                                  size_t count) {
    if (!session || !name)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_get_output: %s is NULL",
                        session ? "name" : "session");
    TSR_TRY(check_submitted(session));
    int index;
    TSR_TRY(find_readable(session, name, &index));
    const tsr_value *value = &session->graph->values[index];
    TSR_TRY(tsr_fail_context(check_count(value, data, count), "%s", session->graph->file));
    if (count == 0)
        return TSR_OK;
    const kept_output *same = find_kept(session, index);
    if (same)
        memcpy(data, kept_run(session, same), count * sizeof *data);
    else if (value->data)
        copy_constant(value, data, count);
    else
        return session->device->backend->get_output(session->runner, index, data);
    return TSR_OK;
}

tsr_status tsr_session_output_texture(tsr_session *session, const char *name,
                                      tsr_texture *texture) {
    if (!session || !name || !texture)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_output_texture: an argument is NULL");
    const tsr_backend *backend = session->device->backend;
    const char *file = session->graph->file;
    if (!backend->output_texture)
        return tsr_fail(TSR_UNSUPPORTED, "%s: the backend '%s' has no textures", file,
                        backend->name);
    if (!session->texture_outputs || session->plan_only)
        return tsr_fail(TSR_INVALID_ARGUMENT,
                        "%s: the session was not made with tsr_session_desc.texture_outputs", file);
    int index = find_output(session->graph, name);
    if (index == TSR_NONE)
        return fail_name(session->graph, name, "is no output");
    if (session->graph->values[index].data || find_kept(session, index))
        return tsr_fail(TSR_UNSUPPORTED,
                        "%s: output '%s' is a constant or an input: no pass writes it", file, name);
    return backend->output_texture(session->runner, index, texture);
}

/* ---- reports --------------------------------------------------------------------------------- */

tsr_status tsr_session_report(const tsr_session *session, tsr_report *report) {
    if (!session || !report)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_report: %s is NULL",
                        session ? "report" : "session");
    const tsr_graph *graph = session->graph;
    *report = (tsr_report){.backend = session->device->backend->name,
                           .node_count = graph->node_count,
                           .gpu_ms = -1,
                           .tuned_layers = session->tuning.measured,
                           .tune_ms = session->tuning.ms};
    for (int n = 0; n < graph->node_count; n++)
        report->macs += tsr_node_macs(graph, &graph->nodes[n]);
    session->device->backend->report(session->runner, report);
    return TSR_OK;
}

tsr_status tsr_session_node_report(const tsr_session *session, int index, tsr_node_report *report) {
    if (!session || !report || index < 0 || index >= session->graph->node_count)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_node_report: there is no node %d of %d",
                        index, session ? session->graph->node_count : 0);
    const tsr_graph *graph = session->graph;
    const tsr_node *node = &graph->nodes[index];
    *report = (tsr_node_report){.name = node->name,
                                .op = session->op_texts[index],
                                .output = "",
                                .backend = session->device->backend->name,
                                .kernel = "",
                                .macs = tsr_node_macs(graph, node),
                                .bytes = (uint64_t)tsr_node_floats(graph, node) * sizeof(float),
                                .ms = -1};
    for (int i = node->output_count - 1; i >= 0; i--) {
        const tsr_value *output =
            node->outputs[i] == TSR_NONE ? NULL : &graph->values[node->outputs[i]];
        if (output) {
            report->output = output->name;
            report->shape = output->shape;
        }
    }
    session->device->backend->node_report(session->runner, index, report);
    return TSR_OK;
}
