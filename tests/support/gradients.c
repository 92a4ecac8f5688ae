#include "support/gradients.h"

#include "cpu/cpu.h"
#include "passes/build.h"
#include "passes/gradient.h"
#include "support/graph_maker.h"
#include "support/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Differences are of this width, twice and half that. */
static const double width = 0.01;
/* Relative to the largest difference, or to 1. */
static const double tolerance = 5e-4;

static bool is_computed_float(const tsr_value *value) {
    return tsr_dtype_is_float(value->dtype) && !value->data;
}

static int add_term(tsr_builder *b, const tsr_node *of, random_source *random, int sum,
                    const float **times) {
    const tsr_attr drop = tsr_int_attr("keepdims", 0);
    b->node = of;
    const tsr_shape shape = b->graph->values[of->inputs[0]].shape;
    int64_t count = tsr_shape_count(&shape);
    float *numbers = tsr_build_elements(b, count, sizeof *numbers);
    for (int64_t i = 0; numbers && i < count; i++)
        numbers[i] = random_float(random, random_one_in(random, 2) ? 1 : -1, 0.5f);
    *times = numbers;
    int product = TSR_BUILD(b, TSR_OP_Mul, of->inputs[0], tsr_build_floats(b, &shape, numbers));
    int term = tsr_build_with(b, TSR_OP_ReduceSum, 1, &product, 1, &drop);
    return sum == TSR_NONE ? term : TSR_BUILD(b, TSR_OP_Add, sum, term);
}

static int add_loss(gradient_graph *g, uint32_t seed) {
    tsr_graph *graph = g->graph;
    random_source random = random_from(seed);
    double bytes = 1e9;
    int loss = TSR_NONE;
    tsr_node_list list = {.graph = graph,
                          .nodes = graph->nodes,
                          .count = graph->node_count,
                          .room = graph->node_count,
                          .may_make = 1000,
                          .bytes = &bytes};
    tsr_builder b = {.graph = graph, .list = &list};
    g->result_nodes = graph->node_count;
    for (int i = 0; i < graph->output_count; i++) {
        const tsr_node of = {.name = "loss", .input_count = 1, .inputs = &graph->outputs[i]};
        if (is_computed_float(&graph->values[graph->outputs[i]]) && graph->output_count)
            loss = add_term(&b, &of, &random, loss, &g->times[i]);
    }
    assert_int_equal(b.status, TSR_OK);
    tsr_use_node_list(&list, g->result_nodes);
    return loss;
}

/* Inputs that the loss depends on: what else is asked for is refused. */
static tsr_status add_gradients(gradient_graph *g, int loss) {
    tsr_graph *graph = g->graph;
    for (int i = 0; i < graph->input_count && g->count < MOST_GRADIENTS; i++) {
        int input = graph->inputs[i], gradient;
        if (!is_computed_float(&graph->values[input]))
            continue;
        tsr_graph *copy = tsr_graph_clone(graph);
        assert_non_null(copy);
        tsr_status status = tsr_add_gradients(
            copy, tsr_cpu_eval,
            &(tsr_gradient_request){.loss = loss, .wrt_count = 1, .wrt = &input}, &gradient);
        tsr_graph_destroy(copy);
        if (status == TSR_OK)
            g->wrt[g->count++] = input;
        else if (status != TSR_ERROR_INVALID_ARGUMENT)
            return status;
    }
    if (g->count == 0)
        return TSR_OK;
    return tsr_add_gradients(
        graph, tsr_cpu_eval,
        &(tsr_gradient_request){.loss = loss, .wrt_count = g->count, .wrt = g->wrt}, g->gradients);
}

tsr_status make_gradients(gradient_graph *g, tsr_graph *graph, uint32_t seed) {
    *g = (gradient_graph){.graph = graph};
    tsr_status status = tsr_prepare(graph, tsr_cpu_eval, NULL);
    if (status != TSR_OK)
        return status;
    g->prepared = true;
    g->times = calloc((size_t)graph->output_count + 1, sizeof *g->times);
    assert_non_null(g->times);
    int loss = add_loss(g, seed);
    if (loss != TSR_NONE)
        status = add_gradients(g, loss);
    return status;
}

void free_gradients(gradient_graph *g) {
    for (int v = 0; g->elements && v < g->graph->value_count; v++)
        if (!g->graph->values[v].data)
            free(g->elements[v]);
    free(g->elements);
    free(g->times);
    tsr_graph_destroy(g->graph);
}

static void allocate_elements(gradient_graph *g) {
    g->elements = calloc((size_t)g->graph->value_count + 1, sizeof *g->elements);
    assert_non_null(g->elements);
    for (int v = 0; v < g->graph->value_count; v++) {
        const tsr_value *value = &g->graph->values[v];
        if (value->data)
            g->elements[v] = (void *)value->data;
        else if (value->shape.rank >= 0)
            g->elements[v] = malloc(tsr_cpu_bytes(value) + 1);
        assert_true(g->elements[v] || value->shape.rank < 0);
    }
}

void fill_gradient_inputs(gradient_graph *g, gradient_range range, uint32_t seed) {
    allocate_elements(g);
    for (int i = 0; i < g->graph->input_count; i++) {
        int input = g->graph->inputs[i];
        const tsr_value *value = &g->graph->values[input];
        float *floats = g->elements[input];
        int64_t *ints = g->elements[input];
        bool is_weight = *value->name == 'w' || *value->name == 'p' || *value->name == 'q';
        for (int64_t k = 0; k < tsr_shape_count(&value->shape); k++) {
            float element = graph_element(seed, value->name, (size_t)k),
                  inside = (range.low + range.high + element * (range.high - range.low)) / 2;
            if (tsr_dtype_is_float(value->dtype))
                floats[k] = is_weight ? element : inside;
            else
                ints[k] = element > 0;
        }
    }
}

/* ---- running ---- */

static void run_nodes(gradient_graph *g, int first, int end) {
    for (int n = first; n < end; n++)
        if (tsr_cpu_eval(g->graph, &g->graph->nodes[n], g->elements) != TSR_OK)
            fail_msg("node %d: %s", n, tsr_last_error());
}

void run_gradients(gradient_graph *g) {
    run_nodes(g, 0, g->graph->node_count);
}

/* The loss, in double. */
static double measure(gradient_graph *g) {
    double sum = 0;
    run_nodes(g, 0, g->result_nodes);
    for (int i = 0; i < g->graph->output_count; i++) {
        const float *y = g->elements[g->graph->outputs[i]];
        int64_t count = tsr_shape_count(&g->graph->values[g->graph->outputs[i]].shape);
        for (int64_t k = 0; g->times[i] && k < count; k++)
            sum += (double)y[k] * g->times[i][k];
    }
    return sum;
}

/* (f(x + h) - f(x)) / h, h being negative on the other side */
static double difference(gradient_graph *g, float *x, double f, double h) {
    const float at = *x, moved = (float)(at + h);
    *x = moved;
    double result = (measure(g) - f) / ((double)moved - at);
    *x = at;
    return result;
}

/* Slopes that are the same but for rounding where the loss is smooth: central differences of two
 * pairs of widths, and those to either side, by Richardson's extrapolation. */
typedef struct slope {
    double wide, narrow, left, right;
} slope;

static slope find_slope(gradient_graph *g, float *x) {
    double f = measure(g), side[2][3];
    for (int i = 0; i < 3; i++)
        for (int left = 0; left < 2; left++)
            side[left][i] = difference(g, x, f, (left ? -width : width) * (1 << i) / 2);
    double half = (side[0][0] + side[1][0]) / 2, one = (side[0][1] + side[1][1]) / 2,
           two = (side[0][2] + side[1][2]) / 2;
    return (slope){(4 * one - two) / 3, (4 * half - one) / 3, 2 * side[1][0] - side[1][1],
                   2 * side[0][0] - side[0][1]};
}

static void check_element(gradient_graph *g, int i, int64_t k, double actual,
                          gradient_check *check) {
    const tsr_value *value = &g->graph->values[g->wrt[i]];
    const slope s = find_slope(g, (float *)g->elements[g->wrt[i]] + k);
    double scale = tolerance * (1 + fabs(s.narrow));
    bool smooth = fabs(s.wide - s.narrow) < scale / 2 && fabs(s.left - s.right) < scale;
    if (!smooth || (check->has_poles && !isfinite(actual))) {
        check->skipped++;
        return;
    }
    check->checked++;
    if (!(fabs(s.narrow - actual) < scale) && !*check->failure)
        snprintf(check->failure, sizeof check->failure,
                 "element %lld of the gradient of '%s' %s is %.9g instead of %.9g", (long long)k,
                 value->name, tsr_shape_text(&value->shape), actual, s.narrow);
}

void check_gradients(gradient_graph *g, int most, uint32_t seed, gradient_check *check) {
    random_source random = random_from(seed);
    run_gradients(g);
    for (int i = 0; i < g->count; i++) {
        const tsr_value *value = &g->graph->values[g->wrt[i]];
        const float *gradient = g->elements[g->gradients[i]];
        int count = (int)tsr_shape_count(&value->shape);
        for (int k = 0; k < count && k < most; k++) {
            int at = count <= most ? k : random_int(&random, 0, count - 1);
            check_element(g, i, at, gradient[at], check);
        }
    }
}

void check_gradient_graph(const gradient_graph *g) {
    const tsr_graph *graph = g->graph;
    for (int n = 0; n < graph->node_count; n++) {
        const tsr_node *node = &graph->nodes[n];
        assert_true(node->output_count > 0);
        for (int i = 0; i < node->output_count; i++)
            assert_true(node->outputs[i] == TSR_NONE ||
                        graph->values[node->outputs[i]].producer == n);
        for (int i = 0; i < node->input_count; i++)
            assert_true(node->inputs[i] == TSR_NONE || graph->values[node->inputs[i]].producer < n);
    }
    for (int i = 0; i < g->count; i++) {
        const tsr_value *of = &graph->values[g->wrt[i]];
        expect_shape(&graph->values[g->gradients[i]], of->shape.rank, of->shape.dim);
        assert_int_equal(graph->values[g->gradients[i]].dtype, of->dtype);
    }
}
