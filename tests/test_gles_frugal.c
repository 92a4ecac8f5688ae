/* What kernels for GPUs leave for other passes of their node is spared where it takes much. Planned
 * without a device. */
#include "algorithm/algorithm.h"
#include "algorithm/low_memory.h"
#include "lower/lower.h"

#include "support/case_text.h"
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"

#include <string.h>

static tsr_graph *make_graph(const char *text) {
    return prepare_graph(onnx_case(13, text));
}

static tsr_plan_options options_for_gpu(bool fallbacks) {
    tsr_plan_options options = {
        .limits = {.max_texture_size = 4096, .max_planes = 8},
        .device = tsr_device_profile_make(TSR_GLSL,
                                          fallbacks ? TSR_KERNELS_AUTO : TSR_KERNELS_BLOCKS, false),
        .block_texels = 4096,
        .lower = tsr_lowerings};
    options.device.features = TSR_NEEDS_UNIFORM_BLOCK;
    return options;
}

static tsr_plan *plan_for_gpu(const tsr_graph *graph, bool fallbacks) {
    const tsr_plan_options options = options_for_gpu(fallbacks);
    tsr_plan *plan;
    assert_int_equal(tsr_plan_within_memory(graph, &options, &plan), TSR_OK);
    return plan;
}

static bool is_tight(const tsr_plan *plan) {
    return plan->tensor_bytes * 100 <= plan->live_bytes_bound * 115;
}

static bool has_kernel(const tsr_plan *plan, int node, const char *kernel) {
    for (int i = 0; i < plan->pass_count; i++)
        if (plan->passes[i].node == node && !strcmp(plan->passes[i].kernel->stem, kernel))
            return true;
    return false;
}

/* The last convolution's windows take more than its input and output, in a texture that nothing
 * else can share; the first ones take nothing beside them. */
#define LARGE_AND_SMALL                                                                            \
    "Conv x[1,4,28,28] w{16,4,3,3} -> a pads=1,1,1,1; Conv a v{16,16,3,3} -> b pads=1,1,1,1; "     \
    "MaxPool b -> c kernel_shape=4,4 strides=4,4; Conv c u{64,16,3,3} -> d pads=1,1,1,1; "         \
    "Conv d t{64,64,3,3} -> y pads=1,1,1,1"

static void test_spares(void **state) {
    (void)state;
    tsr_graph *graph = make_graph(LARGE_AND_SMALL);
    tsr_plan *fast = plan_for_gpu(graph, false);
    assert_false(is_tight(fast));
    assert_true(has_kernel(fast, 4, "im2col"));
    tsr_plan_destroy(fast);
    tsr_plan *spared = plan_for_gpu(graph, true);
    assert_true(is_tight(spared));
    assert_true(has_kernel(spared, 0, "conv_uniform_block") &&
                has_kernel(spared, 1, "conv_uniform_block"));
    assert_true(has_kernel(spared, 4, "conv_direct"));
    tsr_plan_destroy(spared);
    tsr_graph_destroy(graph);
}

static int warnings;

static void count_warnings(void *user, tsr_log_level level, const char *message) {
    (void)user;
    (void)message;
    warnings += level == TSR_LOG_WARN;
}

/* Kernels that won a race, in more nodes than are spared, leave slices of sums and planes that
 * cannot share storages; the device's own kernels leave less. However often it is planned, what
 * runs on the CPU is said once. */
static void test_winners(void **state) {
    (void)state;
    enum { LAYERS = 8 };
    case_text text = {"Resize x[1,16,28,28] _ f<1,2,1,1> -> q mode=linear; Relu q -> x0"};
    tsr_node_choice winners[2 + LAYERS] = {{0}};
    for (int i = 0; i < LAYERS; i++) {
        text_add(&text, "; Conv x%d w%d{32,32,3,3} -> x%d pads=1,1,1,1", i, i, i + 1);
        winners[2 + i].algorithm = i % 2 ? "conv_direct_split_k" : "conv_uniform_block";
    }
    tsr_graph *graph = make_graph(text.text);
    tsr_plan_options options = options_for_gpu(false);
    options.choices = winners;
    options.fallback = true;
    tsr_plan *plan;
    assert_int_equal(tsr_plan_create(graph, &options, &plan), TSR_OK);
    assert_false(is_tight(plan));
    tsr_plan_destroy(plan);
    warnings = 0;
    tsr_set_log(count_warnings, NULL);
    assert_int_equal(tsr_plan_within_memory(graph, &options, &plan), TSR_OK);
    tsr_set_log(NULL, NULL);
    assert_int_equal(warnings, 1);
    assert_true(is_tight(plan));
    for (int i = 2; i < 2 + LAYERS; i++)
        assert_true(has_kernel(plan, i, "conv_uniform_block"));
    tsr_plan_destroy(plan);
    tsr_graph_destroy(graph);
}

/* Nobody would miss what a small plan takes. */
static void test_few_bytes(void **state) {
    (void)state;
    tsr_graph *graph = make_graph("Conv x[1,32,4,4] w{32,32,3,3} -> y pads=1,1,1,1");
    tsr_plan *plan = plan_for_gpu(graph, true);
    assert_false(has_kernel(plan, 0, "conv_direct"));
    tsr_plan_destroy(plan);
    tsr_graph_destroy(graph);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spares),
        cmocka_unit_test(test_winners),
        cmocka_unit_test(test_few_bytes),
    };
    return cmocka_run_group_tests_name("gles low_memory", tests, NULL, NULL);
}
