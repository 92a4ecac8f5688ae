/* Algorithms for GPUs leave tensors for other passes of their node: where that takes much, slower
 * ones that leave less are planned. Planned as for a GPU, which the driver here need not be. */
#include "support/backends.h"
#include "support/case_text.h"
#include "support/gpu_plans.h"
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/sessions.h"

static bool is_tight(const tsr_plan *plan) {
    return plan->tensor_bytes * 100 <= plan->live_bytes_bound * 115;
}

/* The last convolution's windows take more than its input and output, in a texture that nothing
 * else can share; the first ones take nothing beside them. */
#define LARGE_AND_SMALL                                                                            \
    "Conv x[1,4,28,28] w{16,4,3,3} -> a pads=1,1,1,1; Conv a v{16,16,3,3} -> b pads=1,1,1,1; "     \
    "MaxPool b -> c kernel_shape=4,4 strides=4,4; Conv c u{64,16,3,3} -> d pads=1,1,1,1; "         \
    "Conv d t{64,64,3,3} -> y pads=1,1,1,1"

static void test_one_layer(void **state) {
    (void)state;
    tsr_graph *graph = prepare_graph(onnx_case(13, LARGE_AND_SMALL));
    tsr_plan *fast = plan_on_gpu(graph, NULL, false), *low = plan_on_gpu(graph, NULL, true);
    assert_false(is_tight(fast));
    assert_true(is_tight(low));
    assert_true(low->tensor_bytes < fast->tensor_bytes);
    assert_int_equal(count_node_passes(low, 0), count_node_passes(fast, 0));
    assert_int_equal(count_node_passes(low, 1), count_node_passes(fast, 1));
    assert_int_equal(count_node_passes(fast, 4), 3);
    assert_int_equal(count_node_passes(low, 4), 1);
    tsr_plan_destroy(fast);
    tsr_plan_destroy(low);
    tsr_graph_destroy(graph);
}

static int warnings;

static void count_warnings(void *user, tsr_log_level level, const char *message) {
    (void)user;
    (void)message;
    warnings += level == TSR_LOG_WARN;
}

/* What was measured as fastest, in more nodes than get slower ones, leaves partial sums and planes
 * that cannot share storages; what a GPU has by default leaves less. However often it is planned,
 * what runs on the CPU is said once. */
static void test_measured_layers(void **state) {
    (void)state;
    enum { LAYERS = 8 };
    case_text text = {"Add x:int64[1,32,28,28] x -> q; Cast q -> x0 to=1"};
    const char *measured[2 + LAYERS] = {NULL};
    for (int i = 0; i < LAYERS; i++) {
        text_add(&text, "; Conv x%d w%d{32,32,3,3} -> x%d pads=1,1,1,1", i, i, i + 1);
        measured[2 + i] = i % 2 ? "conv_direct_split_k" : "conv_uniform_block";
    }
    tsr_graph *graph = prepare_graph(onnx_case(13, text.text));
    tsr_plan *fast = plan_on_gpu(graph, measured, false);
    assert_false(is_tight(fast));
    warnings = 0;
    tsr_set_log(count_warnings, NULL);
    tsr_plan *low = plan_on_gpu(graph, measured, true);
    tsr_set_log(NULL, NULL);
    assert_int_equal(warnings, 1);
    assert_true(is_tight(low));
    tsr_plan *estimated = plan_on_gpu(graph, NULL, false);
    assert_int_equal(low->tensor_bytes, estimated->tensor_bytes);
    tsr_plan_destroy(estimated);
    for (int i = 2; i < 2 + LAYERS; i++)
        assert_int_equal(count_node_passes(low, i), 1);
    tsr_plan_destroy(fast);
    tsr_plan_destroy(low);
    tsr_graph_destroy(graph);
}

/* A measured algorithm that needs fewer bytes than the estimated one stays, though the plan is not
 * tight: the bound is lower, too, as it counts the estimated one's inner tensors. */
static void test_lower_bound(void **state) {
    (void)state;
    enum { NODES = 7, LAST = NODES - 1 };
    tsr_graph *graph = prepare_graph(onnx_case(
        13, LARGE_AND_SMALL "; Conv y s{256,64,1,1} -> z; ConvTranspose z r{256,256,4,4} -> e "
                            "strides=2,2 pads=1,1,1,1"));
    const char *measured[NODES] = {[LAST] = "conv_direct"};
    tsr_plan *estimated = plan_on_gpu(graph, NULL, false),
             *fast = plan_on_gpu(graph, measured, false),
             *same = plan_on_gpu(graph, measured, true);
    assert_true(is_tight(estimated));
    assert_int_equal(count_node_passes(estimated, LAST), 3);
    assert_false(is_tight(fast));
    assert_true(fast->tensor_bytes < estimated->tensor_bytes);
    assert_int_equal(same->pass_count, fast->pass_count);
    assert_int_equal(same->tensor_bytes, fast->tensor_bytes);
    tsr_plan_destroy(estimated);
    tsr_plan_destroy(fast);
    tsr_plan_destroy(same);
    tsr_graph_destroy(graph);
}

/* What a small plan occupies does not matter. */
static void test_few_bytes(void **state) {
    (void)state;
    tsr_graph *graph = prepare_graph(onnx_case(13, "Conv x[1,32,4,4] w{32,32,3,3} -> y "
                                                   "pads=1,1,1,1"));
    tsr_plan *fast = plan_on_gpu(graph, NULL, false), *same = plan_on_gpu(graph, NULL, true);
    assert_false(is_tight(fast));
    assert_int_equal(same->pass_count, fast->pass_count);
    assert_int_equal(same->tensor_bytes, fast->tensor_bytes);
    tsr_plan_destroy(fast);
    tsr_plan_destroy(same);
    tsr_graph_destroy(graph);
}

/* With the kernels of a GPU the first network gets such a plan on any driver. */
static void test_results(void **state) {
    (void)state;
    need_backend("gles");
    for (int half = 0; half < 2; half++)
        run_case(&(backend_case){.text = LARGE_AND_SMALL,
                                 .range = 0.1f,
                                 .limits.kernels = "blocks",
                                 .precision = half ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32});
    expect_no_failed_case();
}

static uint64_t planned_bytes(uint64_t max_bytes) {
    tsr_model *model = make_limited_model(
        "ConvWeightGrad x[2,16,54,56] dy[2,16,54,56] -> w kernel_shape=3,3 pads=1,1,1,1",
        max_bytes);
    tsr_session *session = make_session(gpu_device((backend_limits){0}), model,
                                        &(tsr_session_desc){.plan_only = true});
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    tsr_session_destroy(session);
    tsr_model_free(model);
    return report.tensor_bytes;
}

/* Of gradients, on a software rasteriser as well: partial sums, which keep it busy, are fewer where
 * they would need too much. */
static void test_max_bytes(void **state) {
    (void)state;
    need_backend("gles");
    const uint64_t bytes = planned_bytes(0);
    assert_true(planned_bytes(bytes - 1) < bytes);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_layer),   cmocka_unit_test(test_measured_layers),
        cmocka_unit_test(test_lower_bound), cmocka_unit_test(test_few_bytes),
        cmocka_unit_test(test_results),     cmocka_unit_test(test_max_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
