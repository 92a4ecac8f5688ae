/* The runner of the reference backend: evaluates the nodes of the graph in order. */
#include <string.h>

#include "backend/backend.h"
#include "base/allocator.h"
#include "base/clock.h"
#include "base/error.h"
#include "cpu/cpu.h"

struct tsr_runner {
    const tsr_graph *graph;
    bool keep_tensors;
    bool bound_tensors; /* inputs and outputs are other runners' */
    void **data;        /* by value: constants belong to the graph, the rest to the runner */
    int *last_use;      /* by value: the last node that reads it; node_count: it stays */
    double *ms;         /* by node */
    uint64_t peak_bytes, weight_bytes;
};

/* ---- device: the machine itself, nothing to hold --------------------------------------------- */

static tsr_status device_create(const tsr_device_desc *desc, tsr_backend_device **device) {
    (void)desc;
    *device = NULL;
    return TSR_OK;
}

static void device_destroy(tsr_backend_device *device) {
    (void)device;
}

static void device_info(const tsr_backend_device *device, tsr_device_info *info) {
    (void)device;
    info->name = "reference loops, one thread";
    info->version = TSR_VERSION;
    info->is_cpu = true;
}

static void list_devices(tsr_device_fn fn, void *user) {
    tsr_device_info info = {.backend = "cpu"};
    device_info(NULL, &info);
    fn(user, &(tsr_device_desc){.backend = "cpu"}, &info, NULL);
}

/* ---- lifetimes ------------------------------------------------------------------------------- */

/* Inputs and outputs of the graph stay allocated after a run; other values are freed after the
 * last node that reads them, or at once if none does. */
static void find_last_uses(tsr_runner *runner) {
    const tsr_graph *graph = runner->graph;
    tsr_graph_last_uses(graph, runner->last_use);
    for (int v = 0; v < graph->value_count; v++)
        if (runner->keep_tensors && runner->last_use[v] >= 0)
            runner->last_use[v] = graph->node_count;
    for (int i = 0; i < graph->input_count; i++)
        runner->last_use[graph->inputs[i]] = graph->node_count;
}

static uint64_t bytes_of(const tsr_value *value) {
    return tsr_cpu_bytes(value);
}

/* Bytes of the constants that nodes read, each counted once. */
static uint64_t count_weights(const tsr_runner *runner) {
    uint64_t bytes = 0;
    for (int v = 0; v < runner->graph->value_count; v++)
        if (runner->graph->values[v].data && runner->last_use[v] >= 0)
            bytes += tsr_cpu_bytes(&runner->graph->values[v]);
    return bytes;
}

/* ---- runner ---------------------------------------------------------------------------------- */

static bool is_bound(const tsr_runner *runner, int v) {
    return runner->bound_tensors &&
           (tsr_graph_is_input(runner->graph, v) || tsr_graph_is_output(runner->graph, v));
}

static void runner_destroy(tsr_runner *runner) {
    for (int v = 0; runner->data && v < runner->graph->value_count; v++)
        if (!runner->graph->values[v].data && !is_bound(runner, v))
            tsr_free(runner->data[v]);
    tsr_free(runner->data);
    tsr_free(runner->last_use);
    tsr_free(runner->ms);
    tsr_free(runner);
}

/* Allocates the elements of a value that is not constant, unless it has them from the run
 * before. */
static tsr_status allocate(tsr_runner *runner, int v) {
    const tsr_value *value = &runner->graph->values[v];
    if (runner->data[v])
        return TSR_OK;
    size_t bytes = tsr_cpu_bytes(value);
    runner->data[v] = tsr_calloc(bytes ? bytes : 1, 1); /* pixels may set a part of an input */
    return runner->data[v]
               ? TSR_OK
               : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for tensor '%s' %s of %zu bytes",
                          value->name, tsr_shape_text(&value->shape), bytes);
}

static tsr_status allocate_tables(tsr_runner *runner) {
    const tsr_graph *graph = runner->graph;
    size_t values = (size_t)graph->value_count, nodes = (size_t)graph->node_count;
    runner->data = tsr_calloc(values + 1, sizeof *runner->data);
    runner->last_use = tsr_malloc((values + 1) * sizeof *runner->last_use);
    runner->ms = tsr_malloc((nodes + 1) * sizeof *runner->ms);
    uint64_t *change = tsr_calloc(nodes + 1, sizeof *change);
    bool complete = runner->data && runner->last_use && runner->ms && change;
    if (complete) {
        for (size_t v = 0; v < values; v++) {
            runner->data[v] = (void *)graph->values[v].data; /* constants are only read */
            runner->last_use[v] = TSR_NONE;
        }
        for (size_t n = 0; n < nodes; n++)
            runner->ms[n] = -1;
        find_last_uses(runner);
        runner->peak_bytes = tsr_graph_peak_bytes(graph, runner->last_use, bytes_of, change);
        runner->weight_bytes = count_weights(runner);
    }
    tsr_free(change);
    return complete ? TSR_OK : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a runner");
}

/* Without this check, a model that needs more memory than the machine has, the default limit, would
 * end the process during a run. */
static tsr_status check_memory(const tsr_runner *runner) {
    uint64_t needed = runner->peak_bytes + runner->weight_bytes, most = runner->graph->max_bytes;
    if (needed > most)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY,
                        "%s: tensors and weights need %llu MiB, max_bytes is %llu MiB",
                        runner->graph->file, (unsigned long long)(needed >> 20),
                        (unsigned long long)(most >> 20));
    return TSR_OK;
}

static tsr_status runner_create(tsr_backend_device *device, const tsr_graph *graph,
                                const tsr_runner_options *options, tsr_runner **runner) {
    (void)device;
    tsr_runner *created = tsr_calloc(1, sizeof *created);
    if (!created)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a runner");
    created->graph = graph;
    created->keep_tensors = options->keep_tensors;
    created->bound_tensors = options->bound_tensors;
    tsr_status status = allocate_tables(created);
    if (status == TSR_OK)
        status = check_memory(created);
    bool allocates = !options->plan_only && !options->bound_tensors;
    for (int i = 0; i < graph->input_count && status == TSR_OK && allocates; i++)
        status = allocate(created, graph->inputs[i]);
    if (status == TSR_OK)
        *runner = created;
    else
        runner_destroy(created);
    return status;
}

/* The first time the runner gets elements of its own, which last as long as the graph. */
static tsr_status set_weights(tsr_runner *runner, int constant, const float *elements) {
    const tsr_graph *graph = runner->graph;
    for (int v = 0; v < graph->value_count; v++) {
        const tsr_value *value = &graph->values[v];
        size_t count = (size_t)tsr_shape_count(&value->shape);
        if (value->model_constant != constant)
            continue;
        float *own =
            runner->data[v] == value->data ? TSR_NEW(graph->arena, count, float) : runner->data[v];
        if (!own)
            return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for weights");
        memcpy(own, elements, count * sizeof *elements);
        runner->data[v] = own;
    }
    return TSR_OK;
}

static void bind(tsr_runner *runner, int v, const tsr_runner *other, int other_v) {
    runner->data[v] = other->data[other_v];
}

static tsr_status set_input(tsr_runner *runner, int v, const tsr_elements *from) {
    const tsr_value *value = &runner->graph->values[v];
    if (tsr_dtype_is_float(value->dtype))
        tsr_elements_to_floats(from, &value->shape, runner->data[v]);
    else
        tsr_cpu_store(value, from->array.data, runner->data[v]);
    return TSR_OK;
}

static void free_ended(tsr_runner *runner, const int *values, int count, int node) {
    for (int i = 0; i < count; i++) {
        int v = values[i];
        if (v == TSR_NONE || runner->last_use[v] != node || runner->graph->values[v].data)
            continue;
        tsr_free(runner->data[v]);
        runner->data[v] = NULL;
    }
}

static tsr_status run_node(tsr_runner *runner, int n) {
    const tsr_node *node = &runner->graph->nodes[n];
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE)
            TSR_TRY(allocate(runner, node->outputs[i]));
    double start = tsr_clock_ms();
    TSR_TRY(tsr_cpu_eval(runner->graph, node, runner->data));
    runner->ms[n] = tsr_clock_ms() - start;
    free_ended(runner, node->inputs, node->input_count, n);
    free_ended(runner, node->outputs, node->output_count, n);
    return TSR_OK;
}

static tsr_status submit(tsr_runner *runner) {
    for (int n = 0; n < runner->graph->node_count; n++)
        TSR_TRY(run_node(runner, n));
    return TSR_OK;
}

static tsr_status poll(tsr_runner *runner) {
    (void)runner;
    return TSR_OK;
}

static bool can_read(const tsr_runner *runner, int value) {
    return runner->data[value] != NULL;
}

static tsr_status get_output(tsr_runner *runner, int v, const tsr_elements *to) {
    const tsr_value *value = &runner->graph->values[v];
    if (!tsr_dtype_is_float(value->dtype))
        return tsr_fail_context(
            tsr_elements_from_integers(value->dtype, runner->data[v], &value->shape, to),
            "tensor '%s'", value->name);
    tsr_elements_from_floats(runner->data[v], &value->shape, to);
    return TSR_OK;
}

/* ---- reports --------------------------------------------------------------------------------- */

static void report(const tsr_runner *runner, tsr_report *report) {
    report->tensor_bytes = report->live_bytes_bound = runner->peak_bytes;
    report->weight_bytes = runner->weight_bytes;
    for (int v = 0; v < runner->graph->value_count; v++)
        if (runner->data[v] && !runner->graph->values[v].data && !is_bound(runner, v))
            report->allocated_bytes += tsr_cpu_bytes(&runner->graph->values[v]);
}

static void node_report(const tsr_runner *runner, int node, tsr_node_report *report) {
    report->ms = runner->ms[node];
}

const tsr_backend tsr_cpu_backend = {
    .name = "cpu",
    .optimizes = false,
    .device_create = device_create,
    .device_destroy = device_destroy,
    .device_info = device_info,
    .list_devices = list_devices,
    .runner_create = runner_create,
    .runner_destroy = runner_destroy,
    .bind = bind,
    .set_input = set_input,
    .set_weights = set_weights,
    .submit = submit,
    .poll = poll,
    .get_output = get_output,
    .can_read = can_read,
    .report = report,
    .node_report = node_report,
};
