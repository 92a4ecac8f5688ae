#define _POSIX_C_SOURCE 200809L /* strdup */
#include "api/calibrate.h"
#include "support/fuzz_graph.h"

#include "support/onnx_case.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPSET = 22, MOST_ELEMENTS = 20000, MOVES = 8, NAME = 16 };

/* Of one node, relative to its largest element: see tests/support/backends.h. */
static const double rounding[] = {1e-5, 8e-3};
/* Of an input stored in 16 bits. */
static const double half_ulp = 1.0 / 2048;
/* What may be off by more, relative to its largest element, tells nothing. */
static const double most_error[] = {0.02, 0.2};
static const double most_value[] = {1e4, 1e3};

static void *checked(void *memory) {
    if (!memory) {
        fputs("not enough memory\n", stderr);
        abort();
    }
    return memory;
}

void fuzz_graph_free(fuzz_graph *graph) {
    for (int i = 0; i < graph->value_count; i++)
        free(graph->values[i].elements);
    for (int i = 0; i < graph->node_count; i++)
        free(graph->nodes[i]);
    *graph = (fuzz_graph){0};
}

static size_t count_of(const graph_value *value) {
    return (size_t)tsr_shape_count(&value->shape);
}

static void measure(graph_value *value) {
    value->most = 0;
    value->least = INFINITY;
    for (size_t i = 0; i < count_of(value); i++) {
        value->most = fmax(value->most, fabs((double)value->elements[i]));
        value->least = fmin(value->least, fabs((double)value->elements[i]));
    }
}

void fuzz_graph_add_input(fuzz_graph *graph, tsr_dtype dtype, tsr_shape shape, float scale,
                          float center) {
    graph_value *value = &graph->values[graph->value_count];
    char name[NAME];
    snprintf(name, sizeof name, "v%d", graph->value_count++);
    *value = (graph_value){.node = -1, .dtype = dtype, .shape = shape};
    size_t count = count_of(value);
    value->elements = checked(malloc((count + 1) * sizeof(float)));
    for (size_t i = 0; i < count; i++) {
        float element = scale * (center + graph_element(graph->seed, name, i));
        value->elements[i] = dtype == TSR_DTYPE_F32         ? element
                             : dtype == TSR_DTYPE_BOOL      ? element > 0
                             : tsr_dtype_is_unsigned(dtype) ? floorf(fabsf(element))
                                                            : floorf(element);
    }
    measure(value);
    if (graph->half && dtype == TSR_DTYPE_F32)
        value->error = half_ulp * value->most;
}

/* ---- text ---- */

/* One word of a node, in which $3 stands for a value. */
static void add_value(const fuzz_graph *graph, int v, bool written, bool *known, case_text *text) {
    const graph_value *value = &graph->values[v];
    text_add(text, "v%d", v);
    if (!known[v] && !written) {
        text_add(text, ":%s[", tsr_dtype_name(value->dtype));
        for (int i = 0; i < value->shape.rank; i++)
            text_add(text, "%s%d", i ? "," : "", (int)value->shape.dim[i]);
        text_add(text, "]");
    }
    known[v] = true;
}

static const char graph_mark[] = " @ ";

/* Copies text to its end, in which @1 becomes @(1 + graphs). */
static void add_text(const fuzz_graph *graph, const char *from, const char *end, int graphs,
                     bool *known, case_text *text) {
    bool written = false;
    for (const char *at = from; at < end; at++) {
        char *next = NULL;
        written |= !strncmp(at, "->", 2);
        if (*at == '$')
            add_value(graph, (int)strtol(at + 1, &next, 10), written, known, text);
        else if (*at == '@' && isdigit((unsigned char)at[1]))
            text_add(text, "@%d", graphs + (int)strtol(at + 1, &next, 10));
        else
            text_add(text, "%c", *at);
        at = next ? next - 1 : at;
    }
}

static int count_graphs(const char *node) {
    int count = 0;
    while ((node = strstr(node, graph_mark))) {
        node += strlen(graph_mark);
        count++;
    }
    return count;
}

static const char *end_of_nodes(const char *node) {
    const char *end = strstr(node, graph_mark);
    return end ? end : node + strlen(node);
}

/* All nodes, then all graphs in their attributes. */
void fuzz_graph_text(const fuzz_graph *graph, const node_set *set, case_text *text) {
    bool known[GRAPH_MOST_VALUES] = {false};
    *text->text = 0;
    for (int part = 0; part < 2; part++)
        for (int n = 0, graphs = 0; n < graph->node_count; n++) {
            const char *node = graph->nodes[n], *end = end_of_nodes(node);
            if (!set->has[n])
                continue;
            if (part == 0 && *text->text)
                text_add(text, "; ");
            add_text(graph, part == 0 ? node : end, part == 0 ? end : node + strlen(node), graphs,
                     known, text);
            graphs += count_graphs(node);
        }
}

/* ---- models ---- */

static float fill(void *user, const char *name, size_t i) {
    return graph_element(((const fuzz_graph *)user)->seed, name, i);
}

static bool reads(const char *node, int v) {
    char word[NAME];
    int length = snprintf(word, sizeof word, " $%d", v);
    const char *end = strstr(node, "->");
    for (const char *at = node; (at = strstr(at, word)) && at < end; at += length)
        if (!isdigit((unsigned char)at[length]))
            return true;
    return false;
}

/* Is it an output of the model of these nodes? The last node's always are. */
static bool is_delivered(const fuzz_graph *graph, const node_set *set, int v) {
    int node = graph->values[v].node;
    if (node < 0 || !set->has[node])
        return false;
    bool is_read = false;
    for (int n = node + 1; n < graph->node_count; n++)
        is_read |= set->has[n] && reads(graph->nodes[n], v);
    return !is_read || (graph->seed + (uint32_t)v) % 5 == 0;
}

static bool is_last(const fuzz_graph *graph, const node_set *set, int node) {
    for (int n = node + 1; n < graph->node_count; n++)
        if (set->has[n])
            return false;
    return true;
}

typedef struct written {
    uint8_t *bytes;
    size_t size;
} written;

static bool append(void *user, const char *bytes, size_t length) {
    written *w = user;
    w->bytes = checked(realloc(w->bytes, w->size + length + 1));
    memcpy(w->bytes + w->size, bytes, length);
    w->size += length;
    return true;
}

/* Written and read again; the model is freed. NULL on failure. */
static tsr_model *convert(tsr_model *model) {
    written w = {0};
    tsr_model *made = NULL;
    if (tsr_model_write(model, NULL, append, &w) == TSR_OK)
        tsr_model_load_memory(w.bytes, w.size, &(tsr_model_desc){.name = "converted"}, &made);
    tsr_model_free(model);
    free(w.bytes);
    return made;
}

/* NULL on failure. */
static tsr_model *load(const fuzz_graph *graph, const node_set *set) {
    case_text text;
    fuzz_graph_text(graph, set, &text);
    onnx_writer *writer = onnx_case_filled(OPSET, text.text, fill, (void *)graph);
    for (int v = 0; v < graph->value_count; v++)
        if (is_delivered(graph, set, v) && !is_last(graph, set, graph->values[v].node)) {
            char name[NAME];
            snprintf(name, sizeof name, "v%d", v);
            onnx_add_output(writer, name, graph->values[v].dtype, -1, NULL);
        }
    size_t size;
    uint8_t *bytes = checked(onnx_write_memory(writer, &size));
    onnx_writer_destroy(writer);
    tsr_model *model;
    tsr_status status =
        tsr_model_load_memory(bytes, size, &(tsr_model_desc){.name = "graph"}, &model);
    free(bytes);
    return status == TSR_OK ? model : NULL;
}

/* Some values, and perhaps all weights, in 32 bits. */
static tsr_status store_mixed(tsr_session *session, uint32_t seed) {
    random_source random = random_from(seed);
    int count = session->graph->value_count;
    tsr_storage_choice choice = {.precise = TSR_NEW(session->graph->arena, count, bool),
                                 .precise_weights = random_one_in(&random, 2)};
    for (int v = 0; checked(choice.precise) && v < count; v++)
        choice.precise[v] = random_one_in(&random, 3);
    return tsr_session_store_as(session, &choice, &(tsr_input_copies){0});
}

static tsr_status open_session(const fuzz_graph *graph, const node_set *set, const graph_run *run,
                               tsr_session **session) {
    *session = NULL;
    tsr_model *model = load(graph, set);
    if (model && run->converted)
        model = convert(model);
    if (!model)
        return TSR_ERROR_INVALID_MODEL;
    tsr_status status =
        tsr_session_create(run->device, model,
                           &(tsr_session_desc){.precision = run->precision,
                                               .poison = true,
                                               .tune_ms = run->tune_ms ? run->tune_ms : -1,
                                               .allow_cpu_fallback = run->allow_cpu_fallback},
                           session);
    tsr_model_free(model);
    if (status != TSR_OK || !run->mixed || run->precision != TSR_PRECISION_FP16 ||
        !run->device->backend->optimizes)
        return status;
    status = store_mixed(*session, run->mixed);
    if (status != TSR_OK) {
        tsr_session_destroy(*session);
        *session = NULL;
    }
    return status;
}

static int value_of(const tsr_tensor_info *info) {
    return atoi(info->name + 1);
}

/* Sets the inputs, each off by its error if `random` is given, and runs. All elements move up in
 * move 0 and down in move 1, so that none is missed that ends a step; in others some do. */
static tsr_status run_session(const fuzz_graph *graph, tsr_session *session, int move,
                              random_source *random) {
    tsr_status status = TSR_OK;
    for (int i = 0; i < tsr_session_input_count(session) && status == TSR_OK; i++) {
        tsr_tensor_info info;
        tsr_session_input(session, i, &info);
        const graph_value *value = &graph->values[value_of(&info)];
        size_t count = count_of(value);
        float *moved = checked(malloc((count + 1) * sizeof *moved));
        for (size_t k = 0; k < count; k++) {
            double by = 0;
            if (random && value->error > 0)
                by = move == 0 ? 1 : move == 1 ? -1 : random_int(random, 0, 1) * 2 - 1;
            moved[k] = (float)(value->elements[k] + by * value->error);
        }
        status = tsr_session_set_input(session, info.name, moved, count);
        free(moved);
    }
    return status == TSR_OK ? tsr_session_run(session) : status;
}

/* ---- a new node ---- */

static tsr_status read_values(fuzz_graph *graph, tsr_session *session) {
    tsr_status status = TSR_OK;
    for (int i = 0; i < tsr_session_output_count(session) && status == TSR_OK; i++) {
        tsr_tensor_info info;
        tsr_session_output(session, i, &info);
        graph_value *value = &graph->values[value_of(&info)];
        *value =
            (graph_value){.node = graph->node_count - 1, .dtype = info.dtype, .shape = info.shape};
        size_t count = count_of(value);
        value->elements = checked(malloc((count + 1) * sizeof(float)));
        graph->value_count++;
        status = tsr_session_get_output(session, info.name, value->elements, count);
        measure(value);
    }
    return status;
}

/* By how much outputs are off where inputs are. */
static tsr_status move_values(fuzz_graph *graph, tsr_session *session, int move,
                              random_source *random) {
    tsr_status status = run_session(graph, session, move, random);
    for (int i = 0; i < tsr_session_output_count(session) && status == TSR_OK; i++) {
        tsr_tensor_info info;
        tsr_session_output(session, i, &info);
        graph_value *value = &graph->values[value_of(&info)];
        size_t count = count_of(value);
        float *moved = checked(malloc((count + 1) * sizeof *moved));
        status = tsr_session_get_output(session, info.name, moved, count);
        for (size_t k = 0; k < count && status == TSR_OK; k++) {
            double by = fabs((double)moved[k] - value->elements[k]);
            value->error = by > value->error || isnan(by) ? by : value->error;
        }
        free(moved);
    }
    return status;
}

/* Adds the node's own rounding. */
static bool fits(const fuzz_graph *graph, graph_value *value) {
    for (size_t i = 0; i < count_of(value); i++)
        if (!isfinite(value->elements[i]))
            return false;
    if (!tsr_dtype_is_float(value->dtype))
        return value->error == 0;
    value->error += rounding[graph->half] * (value->most + 0.1);
    return value->most <= most_value[graph->half] &&
           value->error <= most_error[graph->half] * (value->most + 0.1);
}

static void drop_node(fuzz_graph *graph, int value_count) {
    while (graph->value_count > value_count)
        free(graph->values[--graph->value_count].elements);
    free(graph->nodes[--graph->node_count]);
}

static bool is_small(tsr_session *session) {
    for (int i = 0; i < tsr_session_output_count(session); i++) {
        tsr_tensor_info info;
        tsr_session_output(session, i, &info);
        int64_t count = tsr_shape_count(&info.shape);
        if (count < 1 || count > MOST_ELEMENTS)
            return false;
    }
    return true;
}

/* What two elements decide that are nearly equal: moves would have to find the pair. */
static bool compares_elements(tsr_op op) {
    bool is_comparison = tsr_op_has(op, TSR_YIELDS_BOOL) && !tsr_op_has(op, TSR_TAKES_NO_FLOATS);
    return is_comparison || op == TSR_OP_ArgMax || op == TSR_OP_ArgMin || op == TSR_OP_Hardmax ||
           op == TSR_OP_TopK;
}

static bool has_exact_inputs(const fuzz_graph *graph, const tsr_session *session) {
    bool exact = true;
    for (int i = 0; i < tsr_session_input_count(session); i++) {
        tsr_tensor_info info;
        tsr_session_input(session, i, &info);
        exact &= graph->values[value_of(&info)].error == 0;
    }
    return exact;
}

static node_result compute_node(fuzz_graph *graph, tsr_session *session, tsr_op op,
                                random_source *random) {
    int first = graph->value_count;
    if (!is_small(session) || (compares_elements(op) && !has_exact_inputs(graph, session)))
        return NODE_UNFIT;
    tsr_status status = run_session(graph, session, 0, NULL);
    if (status == TSR_OK)
        status = read_values(graph, session);
    for (int i = 0; i < MOVES && status == TSR_OK; i++)
        status = move_values(graph, session, i, random);
    bool fit = true;
    for (int v = first; v < graph->value_count; v++)
        fit &= fits(graph, &graph->values[v]);
    return status != TSR_OK ? NODE_REFUSED : fit ? NODE_ADDED : NODE_UNFIT;
}

node_result fuzz_graph_add_node(fuzz_graph *graph, tsr_device *cpu, tsr_op op, const char *text,
                                random_source *random) {
    int value_count = graph->value_count, node = graph->node_count++;
    graph->nodes[node] = checked(strdup(text));
    graph->ops[node] = op;
    node_set alone = {{false}};
    alone.has[node] = true;
    tsr_session *session;
    node_result result = NODE_REFUSED;
    if (open_session(graph, &alone, &(graph_run){.device = cpu}, &session) == TSR_OK)
        result = compute_node(graph, session, op, random);
    tsr_session_destroy(session);
    if (result != NODE_ADDED)
        drop_node(graph, value_count);
    return result;
}

/* ---- comparing ---- */

static void compare(const graph_value *value, const char *name, const float *got,
                    char difference[256]) {
    /* The estimate is of a few moves of the inputs, not of the worst. */
    double tolerance = tsr_dtype_is_float(value->dtype) ? 4 * value->error : 0;
    size_t count = count_of(value);
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - value->elements[i]) <= tolerance)) {
            snprintf(difference, 256, "%s[%zu of %zu] is %.9g instead of %.9g, tolerance %.3g",
                     name, i, count, got[i], value->elements[i], tolerance);
            return;
        }
}

static tsr_status compare_outputs(const fuzz_graph *graph, tsr_session *session,
                                  char difference[256]) {
    for (int i = 0; i < tsr_session_output_count(session) && !*difference; i++) {
        tsr_tensor_info info;
        tsr_session_output(session, i, &info);
        const graph_value *value = &graph->values[value_of(&info)];
        if (!tsr_shape_equal(&info.shape, &value->shape) || info.dtype != value->dtype) {
            snprintf(difference, 256, "%s has another shape or type", info.name);
            return TSR_OK;
        }
        size_t count = count_of(value);
        float *got = checked(malloc((count + 1) * sizeof *got));
        tsr_status status = tsr_session_get_output(session, info.name, got, count);
        if (status == TSR_OK)
            compare(value, info.name, got, difference);
        free(got);
        if (status != TSR_OK)
            return status;
    }
    return TSR_OK;
}

tsr_status fuzz_graph_compare(const fuzz_graph *graph, const node_set *set, const graph_run *run,
                              char difference[256]) {
    *difference = 0;
    tsr_session *session;
    tsr_status status = open_session(graph, set, run, &session);
    if (status == TSR_OK)
        status = run_session(graph, session, 0, NULL);
    if (status == TSR_OK)
        status = compare_outputs(graph, session, difference);
    tsr_session_destroy(session);
    return status;
}
