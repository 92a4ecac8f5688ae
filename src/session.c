#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bind.h"
#include "cpu/cpu.h"
#include "device.h"
#include "model.h"
#include "names.h"
#include "passes/passes.h"

/* An output that is a graph input too: nothing runs for it. */
typedef struct echo {
    int value;
    size_t count;
    float *next, *latest; /* what was set last; what the latest run saw */
} echo;

struct tsr_session {
    tsr_device *device;
    tsr_model *model; /* owns the names and constants that the graph borrows */
    tsr_graph *graph;
    tsr_runner *runner;
    bool plan_only, texture_outputs, submitted;
    bool *input_set; /* by graph input */
    int echo_count;
    echo *echoes;
    const char **op_texts; /* by node: "Conv+Relu" */
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

static tsr_status add_echo(tsr_session *session, int value) {
    tsr_graph *graph = session->graph;
    size_t count = (size_t)tsr_shape_count(&graph->values[value].shape);
    echo *added = &session->echoes[session->echo_count++];
    *added = (echo){.value = value, .count = count};
    added->next = TSR_NEW(graph->arena, count, float);
    added->latest = TSR_NEW(graph->arena, count, float);
    return added->next && added->latest ? TSR_OK : TSR_OUT_OF_MEMORY;
}

/* What the session itself keeps besides the graph; all of it lives in the graph's arena. */
static tsr_status allocate_tables(tsr_session *session) {
    tsr_graph *graph = session->graph;
    session->input_set = TSR_NEW(graph->arena, graph->input_count, bool);
    session->op_texts = TSR_NEW(graph->arena, graph->node_count, const char *);
    session->echoes = TSR_NEW(graph->arena, graph->output_count, echo);
    bool complete = session->input_set && session->op_texts && session->echoes;
    for (int n = 0; n < graph->node_count && complete; n++)
        complete = (session->op_texts[n] = op_text(graph, &graph->nodes[n])) != NULL;
    for (int i = 0; i < graph->output_count && complete; i++)
        if (is_input(graph, graph->outputs[i]))
            complete = add_echo(session, graph->outputs[i]) == TSR_OK;
    return complete ? TSR_OK : tsr_fail(TSR_OUT_OF_MEMORY, "no memory for the session");
}

static tsr_status build(tsr_session *session, const tsr_session_desc *desc) {
    const tsr_backend *backend = session->device->backend;
    TSR_TRY(prepare_graph(session->graph, backend, desc));
    const tsr_runner_options options = {.precision = desc->precision,
                                        .allow_cpu_fallback = desc->allow_cpu_fallback,
                                        .texture_outputs = desc->texture_outputs,
                                        .keep_tensors = desc->keep_tensors,
                                        .plan_only = desc->plan_only,
                                        .time_passes = desc->time_passes,
                                        .poison = desc->poison};
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
                             .texture_outputs = desc->texture_outputs};
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

/* An input that only outputs use is not passed on by every backend: the session echoes it. */
static echo *find_echo(const tsr_session *session, int value) {
    for (int i = 0; i < session->echo_count; i++)
        if (session->echoes[i].value == value)
            return &session->echoes[i];
    return NULL;
}

tsr_status tsr_session_set_input(tsr_session *session, const char *name, const float *data,
                                 size_t count) {
    if (!session || !name)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_set_input: %s is NULL",
                        session ? "name" : "session");
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
    int value = graph->inputs[i];
    TSR_TRY(tsr_fail_context(check_count(&graph->values[value], data, count), "%s", graph->file));
    echo *same = find_echo(session, value);
    if (same && count > 0)
        memcpy(same->next, data, count * sizeof *data);
    TSR_TRY(session->device->backend->set_input(session->runner, value, data));
    session->input_set[i] = true;
    return TSR_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

tsr_status tsr_session_submit(tsr_session *session) {
    if (!session)
        return tsr_fail(TSR_INVALID_ARGUMENT, "tsr_session_submit: session is NULL");
    const tsr_graph *graph = session->graph;
    if (session->plan_only)
        return tsr_fail(TSR_INVALID_ARGUMENT, "%s: this session was made to plan only",
                        graph->file);
    for (int i = 0; i < graph->input_count; i++)
        if (!session->input_set[i])
            return tsr_fail(TSR_INVALID_ARGUMENT, "%s: input '%s' %s has not been set", graph->file,
                            graph->values[graph->inputs[i]].name,
                            tsr_shape_text(&graph->values[graph->inputs[i]].shape));
    for (int i = 0; i < session->echo_count; i++)
        if (session->echoes[i].count > 0)
            memcpy(session->echoes[i].latest, session->echoes[i].next,
                   session->echoes[i].count * sizeof(float));
    tsr_status status = session->device->backend->submit(session->runner);
    session->submitted = status == TSR_OK;
    return name_file(status, graph);
}

static tsr_status check_submitted(const tsr_session *session) {
    return session->submitted ? TSR_OK
                              : tsr_fail(TSR_INVALID_ARGUMENT, "%s: the session has not run yet",
                                         session->graph->file);
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
    const echo *same = find_echo(session, index);
    if (same)
        memcpy(data, same->latest, count * sizeof *data);
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
    if (session->graph->values[index].data || find_echo(session, index))
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
    *report = (tsr_report){
        .backend = session->device->backend->name, .node_count = graph->node_count, .gpu_ms = -1};
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
