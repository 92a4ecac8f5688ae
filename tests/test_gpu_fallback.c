/* Nodes that a GPU backend lacks: refused by name, or run on the CPU between passes where the
 * caller allows it. */
#include "support/backends.h"
#include "support/main.h"
#include "support/sessions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

static tsr_session *open_session(tsr_device *device, const tsr_model *model,
                                 tsr_precision precision) {
    tsr_session *session = NULL;
    const tsr_session_desc desc = {
        .allow_cpu_fallback = true, .poison = true, .precision = precision};
    if (tsr_session_create(device, model, &desc, &session) != TSR_OK)
        fail_msg("%s", tsr_last_error());
    return session;
}

static void set_waves(tsr_session *session, float seed) {
    static float data[MOST];
    for (int i = 0; i < tsr_session_input_count(session); i++) {
        tsr_tensor_info info;
        assert_int_equal(tsr_session_input(session, i, &info), TSR_OK);
        size_t count = (size_t)tsr_shape_count(&info.shape);
        assert_true(count <= MOST);
        for (size_t k = 0; k < count; k++)
            data[k] = sinf(seed + (float)k * 1.7f + (float)i);
        assert_int_equal(tsr_session_set_input(session, info.name, data, count), TSR_OK);
    }
}

static size_t run(tsr_session *session, float seed, int output, float *data) {
    tsr_tensor_info info;
    set_waves(session, seed);
    if (tsr_session_run(session) != TSR_OK)
        fail_msg("%s", tsr_last_error());
    assert_int_equal(tsr_session_output(session, output, &info), TSR_OK);
    size_t count = (size_t)tsr_shape_count(&info.shape);
    assert_true(count <= MOST);
    if (tsr_session_get_output(session, info.name, data, count) != TSR_OK)
        fail_msg("%s", tsr_last_error());
    return count;
}

/* Two runs on the GPU with fallback against two on cpu. */
static void expect_agreement(const char *text, int on_cpu, int on_gpu) {
    static float expected[MOST], actual[MOST];
    tsr_device *device = gpu_device((backend_limits){0}), *reference;
    tsr_model *model = make_model(text);
    assert_int_equal(tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &reference), TSR_OK);
    tsr_session *a = open_session(reference, model, TSR_PRECISION_FP32),
                *b = open_session(device, model, TSR_PRECISION_FP32);
    assert_int_equal(nodes_on(b, "cpu"), on_cpu);
    assert_int_equal(nodes_on(b, gpu_backend()), on_gpu);
    for (int seed = 0; seed < 2; seed++)
        for (int output = 0; output < tsr_session_output_count(a); output++) {
            size_t count = run(a, (float)seed, output, expected);
            assert_int_equal(run(b, (float)seed, output, actual), count);
            for (size_t i = 0; i < count; i++)
                if (!(fabsf(actual[i] - expected[i]) <= 1e-4f))
                    fail_msg("%s: element %zu of output %d: %g instead of %g", text, i, output,
                             (double)actual[i], (double)expected[i]);
        }
    tsr_session_destroy(a);
    tsr_session_destroy(b);
    tsr_model_free(model);
    tsr_device_destroy(reference);
}

static void between_passes(void **state) {
    (void)state;
    need_gpu();
    /* weights that are computed: on the CPU; input and output lie on the GPU */
    expect_agreement(
        "Conv x[1,3,9,7] w{5,3,3,3} -> a; Neg v[] -> k; Pad a p(0,5,0,0,0,0,0,0) k -> b; "
        "Conv b u{2,10,3,3} -> c",
        1, 3);
    /* the same as the graph's last node, with a post-op, and twice in a row */
    expect_agreement(
        "Conv x[1,3,9,7] w{5,3,3,3} -> a; Neg v[] -> k; Pad a p(0,5,0,0,0,0,0,0) k -> b; "
        "Relu b -> c",
        1, 2);
    expect_agreement(
        "Neg v[] -> k; Pad x[1,2,5,5] p(0,0,1,0,0,0,0,1) k -> a; Pad a p k -> b; Neg b -> c", 2, 1);
}

/* A post-op that reads through a DepthToSpace does so on the GPU; on the CPU it reads its result.
 */
static void depth_to_space(void **state) {
    (void)state;
    need_gpu();
    const int fused = 2, written = 1;
    expect_agreement("Conv x[1,12,4,5] w{12,12,1,1} -> a; DepthToSpace a -> d blocksize=2; "
                     "Conv z[1,3,8,10] u{3,3,3,3} -> c pads=1,1,1,1; Add c d -> y",
                     0, fused);
    expect_agreement("DepthToSpace x[1,12,4,5] -> d blocksize=2; "
                     "Neg v[] -> k; Pad z[1,1,8,10] p(0,2,0,0,0,0,0,0) k -> r; Add r d -> y",
                     1, written + 1);
}

/* What 8 bits are read as is what the CPU reads. */
static void dequantized(void **state) {
    (void)state;
    need_gpu();
    expect_agreement(
        "Cast k<128 -> z to=2; QuantizeLinear x[1,4,5,6] s<0.25 z -> q; "
        "DequantizeLinear q t<0.25 z -> d; Neg v[] -> e; Pad d p(0,1,0,0,0,0,0,0) e -> y",
        1, 2);
}

/* Shapes that are known only after a run: what follows is computed on the CPU. */
static void after_the_run(void **state) {
    (void)state;
    need_gpu();
    expect_agreement("Neg x[2,3,5] -> n!; Relu n -> r; NonZero r -> i; Transpose i -> t; "
                     "GatherND r t -> y",
                     3, 2);
    /* A bound that is computed; an input that is read by those nodes alone. */
    expect_agreement("Sigmoid x[12] -> s; ReduceSum s -> m; Floor m -> n; Cast n -> k to=7; "
                     "Slice z[40] b(0) k -> y",
                     1, 3);
}

static void more_than_four_axes(void **state) {
    (void)state;
    need_gpu();
    /* through five axes and back */
    expect_agreement(
        "Conv x[1,6,5,3] w{6,6,1,1} -> a; Reshape a s(1,2,3,5,3) -> b; Softmax b -> c axis=2; "
        "Reshape c t(1,6,5,3) -> d; Conv d u{4,6,1,1} -> e",
        0, 5);
    /* an input and an output of five axes */
    expect_agreement("Softmax x[2,3,1,2,2] -> a axis=1; Neg a -> b", 0, 1);
    expect_agreement("Reshape x[2,3,1,2,2] s(6,4) -> a; Relu a -> b; Reshape b t(1,2,3,2,2) -> c",
                     0, 2);
}

static void computed_parameters(void **state) {
    (void)state;
    need_gpu();
    expect_agreement("Relu v[] -> w; Pad x[1,3,6,6] p(0,1,0,0,0,0,0,0) w -> a; Relu a -> b", 1, 1);
}

/* The GPU holds a pool's indices as floats, a node on the CPU reads integers. */
static void computed_integers(void **state) {
    (void)state;
    need_gpu();
    expect_agreement("MaxPool x[1,3,9,7] -> m i kernel_shape=2,2; Add i k(5) -> j; "
                     "Cast j -> f to=1; Mul f m -> y",
                     1, 3);
    /* what a node on the CPU wrote as integers is uploaded as floats */
    expect_agreement("MaxPool x[1,3,9,7] -> m i kernel_shape=2,2; Add i k(5) -> j; "
                     "Transpose j -> y",
                     1, 2);
}

static void refused_otherwise(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_model(
        "Conv x[1,3,9,7] w{5,3,3,3} -> a; Neg v[] -> k; Pad a p(0,5,0,0,0,0,0,0) k -> b");
    tsr_session *session;
    assert_int_equal(tsr_session_create(gpu_device((backend_limits){0}), model, NULL, &session),
                     TSR_ERROR_UNSUPPORTED);
    assert_non_null(strstr(tsr_last_error(), "Pad2"));
    assert_non_null(strstr(tsr_last_error(), "not constant"));
    tsr_model_free(model);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_passes),      cmocka_unit_test(after_the_run),
        cmocka_unit_test(more_than_four_axes), cmocka_unit_test(computed_parameters),
        cmocka_unit_test(computed_integers),   cmocka_unit_test(refused_otherwise),
        cmocka_unit_test(depth_to_space),      cmocka_unit_test(dequantized),
    };
    return cmocka_run_group_tests_name("fallback", tests, NULL, close_backends);
}
