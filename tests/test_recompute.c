/* Recomputation: the same gradients bit by bit from less memory. */
#include "support/case_text.h"
#include "support/counted_memory.h"
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/training.h"

#include "cpu/cpu.h"
#include "passes/gradient.h"
#include "passes/recompute.h"

#include <stdio.h>
#include <string.h>

/* ---- graphs ---------------------------------------------------------------------------------- */

/* A graph whose last value is the loss, with the gradients of its weights, inputs named w..., as
 * outputs; returns how many nodes it had before. */
static int add_gradients(tsr_graph *graph) {
    enum { MOST = 64 };
    int weights[MOST], count = 0, forward_count = graph->node_count;
    for (int i = 0; i < graph->input_count; i++)
        if (graph->values[graph->inputs[i]].name[0] == 'w')
            weights[count++] = graph->inputs[i];
    int *gradients = TSR_NEW(graph->arena, count, int);
    assert_true(count > 0 && gradients);
    const tsr_gradient_request request = {
        .loss = graph->outputs[0], .wrt_count = count, .wrt = weights};
    if (tsr_add_gradients(graph, tsr_cpu_eval, &request, gradients))
        fail_msg("%s", tsr_last_error());
    graph->outputs = gradients;
    graph->output_count = count;
    return forward_count;
}

static int count_nodes(const tsr_graph *graph, tsr_op op, bool again) {
    int count = 0;
    for (int n = 0; n < graph->node_count; n++)
        count += graph->nodes[n].op == op && graph->nodes[n].again == again;
    return count;
}

/* Nodes come after what they read, and the table of producers is right. */
static void check_order(const tsr_graph *graph) {
    for (int n = 0; n < graph->node_count; n++) {
        const tsr_node *node = &graph->nodes[n];
        for (int i = 0; i < node->output_count; i++)
            assert_true(node->outputs[i] == TSR_NONE ||
                        graph->values[node->outputs[i]].producer == n);
        for (int i = 0; i < node->input_count; i++)
            assert_true(node->inputs[i] == TSR_NONE || graph->values[node->inputs[i]].producer < n);
    }
}

static uint64_t bytes_of(const tsr_value *value) {
    return tsr_cpu_bytes(value);
}

static uint64_t find_peak(const tsr_graph *graph) {
    int *last_use = malloc((size_t)graph->value_count * sizeof *last_use);
    uint64_t *change = calloc((size_t)graph->node_count + 1, sizeof *change);
    assert_true(last_use && change);
    for (int v = 0; v < graph->value_count; v++)
        last_use[v] = TSR_NONE;
    tsr_graph_last_uses(graph, last_use);
    uint64_t peak = tsr_graph_peak_bytes(graph, last_use, bytes_of, change);
    free(last_use);
    free(change);
    return peak;
}

/* most: share of the bytes that are still needed. */
static void check_graph(const char *text, double most) {
    tsr_graph *plain = prepare_graph(onnx_case(18, text)),
              *graph = prepare_graph(onnx_case(18, text));
    add_gradients(plain);
    int forward_count = add_gradients(graph);
    assert_int_equal(tsr_recompute(graph, forward_count), TSR_OK);
    check_order(graph);
    for (int n = 0; n < forward_count; n++)
        assert_false(graph->nodes[n].again);
    expect_same_results(plain, graph, 0);
    double share = (double)find_peak(graph) / (double)find_peak(plain);
    if (share > most)
        fail_msg("%.3f of the bytes are needed: %s", share, text);
    tsr_graph_destroy(plain);
    tsr_graph_destroy(graph);
}

static void add_plain_layer(case_text *text, int i) {
    text_add(text, "Conv a%d w%d[4,4,3,3] -> c%d pads=1,1,1,1; Relu c%d -> a%d; ", i, i, i, i,
             i + 1);
}

static void add_normalized_layer(case_text *text, int i) {
    text_add(text, "Conv a%d w%d[4,4,3,3] -> c%d pads=1,1,1,1; ", i, i, i);
    text_add(text, "BatchNormalization c%d wg%d[4] wb%d[4] m%d{4} v%d{4} -> n%d training_mode=1; ",
             i, i, i, i, i, i);
    text_add(text, "Mul n%d mask%d[1,4,16,16] -> d%d; Tanh d%d -> a%d; ", i, i, i, i, i + 1);
}

static void add_residual_layer(case_text *text, int i) {
    text_add(text, "Conv a%d w%d[4,4,3,3] -> c%d pads=1,1,1,1; Split c%d -> l%d r%d axis=1 ", i, i,
             i, i, i, i);
    text_add(text, "num_outputs=2; Sigmoid r%d -> s%d; Concat l%d s%d -> t%d axis=1; ", i, i, i, i,
             i);
    text_add(text, "Add t%d a%d -> a%d; ", i, i, i + 1);
}

typedef void layer_fn(case_text *text, int i);

static case_text write_network(int depth, layer_fn *add_layer) {
    case_text text = {"Identity x[1,4,16,16] -> a0; "};
    for (int i = 0; i < depth; i++)
        add_layer(&text, i);
    text_add(&text, "Mul a%d a%d -> q; ReduceMean q -> l keepdims=0", depth, depth);
    return text;
}

static void test_graphs(void **state) {
    (void)state;
    check_graph(write_network(16, add_plain_layer).text, 0.6);
    check_graph(write_network(16, add_normalized_layer).text, 0.6);
    check_graph(write_network(16, add_residual_layer).text, 0.6);
    check_graph(write_network(3, add_normalized_layer).text, 0.8);
    check_graph("Mul x[4] w[4] -> y; ReduceSum y -> l keepdims=0", 1);
}

/* Convolutions are not read again where their results are: each once more but for those of the last
 * segment, none for the moving averages. */
static void test_copies(void **state) {
    (void)state;
    tsr_graph *graph = prepare_graph(onnx_case(18, write_network(9, add_normalized_layer).text));
    tsr_recompute(graph, add_gradients(graph));
    int copies = count_nodes(graph, TSR_OP_Conv, true);
    assert_int_equal(count_nodes(graph, TSR_OP_Conv, false), 9);
    assert_in_range(copies, 4, 8);
    assert_int_equal(count_nodes(graph, TSR_OP_ReduceMean, true), 0); /* statistics are small */
    tsr_optimizer optimizer;
    assert_int_equal(tsr_optimizer_make(NULL, &optimizer), TSR_OK);
    assert_int_equal(tsr_optimize(graph, &optimizer), TSR_OK);
    assert_int_equal(count_nodes(graph, TSR_OP_Conv, true), copies); /* cse does not join them */
    tsr_graph_destroy(graph);
}

/* Where nothing is saved, the graph is as before. */
static void test_nothing_saved(void **state) {
    (void)state;
    tsr_graph *graph = prepare_graph(
        onnx_case(18, "Gemm x[2,900] w[900,900] -> a; Relu a -> r; Gemm r v[900,1] -> b; "
                      "Tanh b -> t; ReduceSum t -> l keepdims=0"));
    int forward_count = add_gradients(graph), count = graph->node_count;
    assert_int_equal(tsr_recompute(graph, forward_count), TSR_OK);
    assert_int_equal(graph->node_count, count);
    check_order(graph);
    tsr_graph_destroy(graph);
}

static void test_out_of_memory(void **state) {
    (void)state;
    const case_text text = write_network(8, add_residual_layer);
    bool failed = true;
    long after = 0;
    for (; failed; after++) {
        tsr_graph *graph = prepare_graph(onnx_case(18, text.text));
        int forward_count = add_gradients(graph);
        fail_allocation(after);
        tsr_status status = tsr_recompute(graph, forward_count);
        failed = has_allocation_failed();
        fail_allocation(-1);
        assert_int_equal(status, failed ? TSR_ERROR_OUT_OF_MEMORY : TSR_OK);
        tsr_graph_destroy(graph);
    }
    assert_true(after > 1);
}

/* ---- trainers -------------------------------------------------------------------------------- */

typedef struct trained {
    uint64_t bytes;
    float loss;
    size_t size;
    unsigned char state[1 << 18];
} trained;

static bool append(void *user, const char *bytes, size_t count) {
    trained *t = user;
    assert_true(t->size + count <= sizeof t->state);
    memcpy(t->state + t->size, bytes, count);
    t->size += count;
    return true;
}

static void train(const tsr_trainer_desc *desc, trained *t) {
    static float images[DEEP_IMAGES], classes[DEEP_CLASSES];
    tsr_model *model = make_deep_network(1);
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "cpu"});
    tsr_trainer *trainer = make_trainer(device, model, desc);
    tsr_report report;
    random_source random = random_from(7);
    EXPECT_OK(tsr_trainer_report(trainer, &report));
    t->bytes = report.tensor_bytes;
    t->size = 0;
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < DEEP_IMAGES; k++)
            images[k] = random_float(&random, 0, 1);
        for (int k = 0; k < DEEP_CLASSES; k++)
            classes[k] = random_float(&random, 0, 1);
        EXPECT_OK(step_trainer(trainer, images, classes, &t->loss));
    }
    EXPECT_OK(tsr_trainer_save(trainer, append, t));
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
}

/* Weights, moving averages and the optimizer's state are the same, with Dropout, too. */
static void check_trainer(tsr_trainer_desc desc, double most) {
    static trained plain, again;
    train(&desc, &plain);
    desc.recompute = true;
    train(&desc, &again);
    assert_true(plain.loss == again.loss);
    assert_int_equal(plain.size, again.size);
    assert_memory_equal(plain.state, again.state, plain.size);
    if ((double)again.bytes > most * (double)plain.bytes)
        fail_msg("%llu bytes instead of %llu", (unsigned long long)again.bytes,
                 (unsigned long long)plain.bytes);
}

static void test_trainer(void **state) {
    (void)state;
    tsr_model *discriminator = make_model("MatMul p[2,4] w{4,3} -> l");
    check_trainer((tsr_trainer_desc){.seed = 2}, 0.5);
    check_trainer((tsr_trainer_desc){.seed = 2, .flip = true, .discriminator = discriminator}, 0.6);
    tsr_model_free(discriminator);
}

int run_program(void) {
    count_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphs),        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_nothing_saved), cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_trainer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
