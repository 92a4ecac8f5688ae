#define _POSIX_C_SOURCE 200809L /* strdup */
#include "support/draw_gradients.h"

#include "support/fuzz_graph.h"
#include "support/gradient_nodes.h"
#include "support/main.h"
#include "support/onnx_case.h"

#include <string.h>

enum { OPSET = 22 };

static float fill(void *user, const char *name, size_t i) {
    return graph_element(*(const uint32_t *)user, name, i);
}

tsr_status read_gradients(gradient_graph *g, int opset, const char *text, uint32_t seed) {
    return make_gradients(g, read_graph(onnx_case_filled(opset, text, fill, &seed)), seed);
}

gradient_range gradient_range_of(tsr_op op) {
    switch (op) {
    case TSR_OP_Log:
    case TSR_OP_Sqrt:
    case TSR_OP_Reciprocal:
    case TSR_OP_Div:
    case TSR_OP_Pow:
    case TSR_OP_ReduceLogSum:
        return (gradient_range){0.5f, 2};
    case TSR_OP_Acosh:
        return (gradient_range){1.3f, 3};
    case TSR_OP_Asin:
    case TSR_OP_Acos:
    case TSR_OP_Atanh:
        return (gradient_range){-0.8f, 0.8f};
    case TSR_OP_Tan:
        return (gradient_range){-1, 1};
    case TSR_OP_HardSigmoid:
    case TSR_OP_HardSwish:
        return (gradient_range){-4, 4};
    default:
        return (gradient_range){-2, 2};
    }
}

/* Of few elements. */
static tsr_shape draw_small_shape(random_source *random) {
    static const int sizes[] = {1, 2, 3, 3, 4, 5, 6, 7};
    tsr_shape shape;
    do {
        shape = random_one_in(random, 3) ? draw_shape_of_any_rank(random) : draw_shape(random);
        for (int i = 0; i < shape.rank; i++)
            shape.dim[i] = i == 0 && shape.rank > 2 ? random_int(random, 1, 2)
                                                    : sizes[random_int(random, 0, 7)];
    } while (tsr_shape_count(&shape) > 300);
    return shape;
}

/* A node that reads some of these inputs: a tensor, one that is broadcast to it, one of another
 * shape, one of bool and one of integers. */
static bool draw_node(fuzz_graph *graph, tsr_op op, random_source *random) {
    const tsr_shape shape = draw_small_shape(random);
    tsr_shape other = shape;
    for (int i = 0; i < shape.rank; i++)
        other.dim[i] = random_one_in(random, 3) ? 1 : shape.dim[i];
    fuzz_graph_add_input(graph, TSR_DTYPE_F32, shape, 1, 0);
    fuzz_graph_add_input(graph, TSR_DTYPE_F32, other, 1, 0);
    fuzz_graph_add_input(graph, TSR_DTYPE_F32, draw_small_shape(random), 1, 0);
    fuzz_graph_add_input(graph, TSR_DTYPE_BOOL, shape, 1, 0);
    fuzz_graph_add_input(graph, TSR_DTYPE_I64, shape, 1, 0);
    node_maker maker = {
        .random = random, .values = graph->values, .value_count = graph->value_count, .node = 0};
    if (!can_make_node(op) || !make_node(&maker, op))
        return false;
    graph->nodes[graph->node_count++] = strdup(maker.text.text);
    return true;
}

/* Makes float initializers inputs, so that there are gradients with respect to them. */
static void open_weights(char *text) {
    const char *graphs = strstr(text, " @ ");
    for (char *at = text; *at && at != graphs; at++)
        *at = *at == '{' ? '[' : *at == '}' ? ']' : *at;
}

static bool draw_graph_node(tsr_op op, random_source *random, uint32_t seed, case_text *text) {
    fuzz_graph graph = {.seed = seed};
    const node_set all = {{true}};
    bool drawn = draw_node(&graph, op, random);
    if (drawn)
        fuzz_graph_text(&graph, &all, text);
    fuzz_graph_free(&graph);
    return drawn;
}

/* Every second case is one that random graphs do not have, if there are any. */
bool draw_gradients(gradient_graph *g, tsr_op op, bool open, uint32_t seed, case_text *text) {
    random_source random = random_from(seed);
    int opset;
    if (random_one_in(&random, 2) && draw_gradient_node(op, &random, text, &opset)) {
        tsr_status status = read_gradients(g, opset, text->text, seed);
        if (!g->prepared)
            fail_msg("%s: %s", text->text, tsr_last_error());
        return status == TSR_OK;
    }
    if (!draw_graph_node(op, &random, seed, text))
        return false;
    if (open) {
        case_text opened = *text;
        open_weights(opened.text);
        if (read_gradients(g, OPSET, opened.text, seed) == TSR_OK)
            return true;
        if (g->prepared)
            return false;
        free_gradients(g);
    }
    return read_gradients(g, OPSET, text->text, seed) == TSR_OK;
}

int count_gradient_cases(void) {
    return all_cases() ? 200 : some_cases(20);
}
