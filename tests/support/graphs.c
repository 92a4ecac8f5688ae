#include "support/graphs.h"

#include "support/onnx_case.h"

#include "cpu/cpu.h"
#include "onnx/onnx.h"
#include "passes/passes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void add_output(onnx_writer *writer, const char *name, tsr_dtype dtype) {
    onnx_add_output(writer, name, dtype, -1, NULL);
}

static void expect_ok(tsr_status status) {
    if (status != TSR_OK)
        fail_msg("%s: %s", tsr_status_name(status), tsr_last_error());
}

tsr_graph *read_graph(onnx_writer *writer) {
    size_t size;
    tsr_graph *graph = NULL;
    uint8_t *bytes = onnx_write_memory(writer, &size);
    assert_non_null(bytes);
    onnx_writer_destroy(writer);
    static tsr_maps none;
    const tsr_model_desc desc = {.name = "test", .max_bytes = UINT64_MAX, .max_work = UINT64_MAX};
    expect_ok(tsr_onnx_read(bytes, size, &desc, &none, NULL, &graph));
    free(bytes);
    return graph;
}

tsr_graph *prepare_graph(onnx_writer *writer) {
    tsr_graph *graph = read_graph(writer);
    expect_ok(tsr_prepare(graph, tsr_cpu_eval, NULL));
    return graph;
}

void refuse_to_prepare(int opset, const char *text, const char *words) {
    tsr_graph *graph = read_graph(onnx_case(opset, text));
    if (tsr_prepare(graph, tsr_cpu_eval, NULL) == TSR_OK)
        fail_msg("%s: accepted", text);
    if (!strstr(tsr_last_error(), words))
        fail_msg("%s: '%s' instead of '%s'", text, tsr_last_error(), words);
    tsr_graph_destroy(graph);
}

const tsr_value *value_named(const tsr_graph *graph, const char *name) {
    int value = tsr_graph_find_value(graph, name);
    if (value == TSR_NONE)
        fail_msg("there is no value '%s'", name);
    return &graph->values[value];
}

const tsr_node *producer_of(const tsr_graph *graph, const char *value) {
    int producer = value_named(graph, value)->producer;
    if (producer == TSR_NONE)
        fail_msg("no node writes '%s'", value);
    return &graph->nodes[producer];
}

void expect_shape(const tsr_value *value, int rank, const int64_t *dims) {
    tsr_shape shape = tsr_shape_make(rank, dims);
    if (!tsr_shape_equal(&value->shape, &shape))
        fail_msg("'%s' has the shape %s instead of %s", value->name, tsr_shape_text(&value->shape),
                 tsr_shape_text(&shape));
}

void expect_floats(const float *actual, const float *expected, int64_t count, double tolerance) {
    for (int64_t i = 0; i < count; i++) {
        bool equal = actual[i] == expected[i] || (isnan(actual[i]) && isnan(expected[i])) ||
                     fabs((double)actual[i] - expected[i]) <= tolerance;
        if (!equal)
            fail_msg("element %lld is %.9g instead of %.9g", (long long)i, actual[i], expected[i]);
    }
}

/* ---- running ---- */

/* From -1 to 1. */
static float next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 8388608.0f - 1;
}

static void *new_elements(const tsr_value *value) {
    void *elements = malloc(tsr_cpu_bytes(value) + 1);
    assert_non_null(elements);
    return elements;
}

static float *random_input(const tsr_value *value, int index) {
    float *elements = new_elements(value);
    uint32_t state = (uint32_t)index + 1;
    for (int64_t i = 0; i < tsr_shape_count(&value->shape); i++)
        elements[i] = next_random(&state);
    return elements;
}

void **run_graph(const tsr_graph *graph) {
    void **elements = calloc((size_t)graph->value_count, sizeof *elements);
    assert_non_null(elements);
    for (int i = 0; i < graph->input_count; i++)
        elements[graph->inputs[i]] = random_input(&graph->values[graph->inputs[i]], i);
    for (int v = 0; v < graph->value_count; v++)
        if (graph->values[v].data)
            elements[v] = (void *)graph->values[v].data;
    for (int n = 0; n < graph->node_count; n++) {
        const tsr_node *node = &graph->nodes[n];
        for (int i = 0; i < node->output_count; i++)
            if (node->outputs[i] != TSR_NONE)
                elements[node->outputs[i]] = new_elements(&graph->values[node->outputs[i]]);
        for (int i = 0; i < node->input_count; i++)
            assert_true(node->inputs[i] == TSR_NONE || elements[node->inputs[i]]);
        expect_ok(tsr_cpu_eval(graph, node, elements));
    }
    return elements;
}

void free_run(const tsr_graph *graph, void **elements) {
    for (int v = 0; v < graph->value_count; v++)
        if (!graph->values[v].data)
            free(elements[v]);
    free(elements);
}

void expect_same_results(const tsr_graph *a, const tsr_graph *b, double tolerance) {
    void **a_elements = run_graph(a), **b_elements = run_graph(b);
    assert_int_equal(a->output_count, b->output_count);
    for (int i = 0; i < a->output_count; i++) {
        const tsr_value *value = &a->values[a->outputs[i]];
        const float *expected = a_elements[a->outputs[i]];
        int64_t count = tsr_shape_count(&value->shape);
        double largest = 0;
        for (int64_t k = 0; k < count; k++)
            largest = fmax(largest, fabs(expected[k]));
        assert_string_equal(value->name, b->values[b->outputs[i]].name);
        expect_shape(&b->values[b->outputs[i]], value->shape.rank, value->shape.dim);
        expect_floats(b_elements[b->outputs[i]], expected, count, tolerance * largest);
    }
    free_run(a, a_elements);
    free_run(b, b_elements);
}

void list_nodes(const tsr_graph *graph, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int n = 0; n < graph->node_count && used < size; n++) {
        const tsr_node *node = &graph->nodes[n];
        used += (size_t)snprintf(text + used, size - used, "%s%s", n ? " " : "",
                                 tsr_node_op_name(node));
        for (int i = 0; i < node->post_count && used < size; i++)
            used += (size_t)snprintf(text + used, size - used, "+%s",
                                     tsr_op_get_info(node->posts[i].op)->name);
    }
}
