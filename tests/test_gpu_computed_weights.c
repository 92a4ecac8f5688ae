/* Convolutions whose weights and bias are no constants, but inputs or results of other nodes, on a
 * GPU backend, held against cpu. */
#include "support/conv_text.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/op_cases.h"
#include "support/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every kernel, in every environment about once. */
static void test_random(void **state) {
    (void)state;
    need_gpu();
    const conv_environments here = conv_environments_here();
    const int count = some_cases(2 * here.count);
    int refused = 0;
    for (int i = 0; i < count; i++) {
        random_source r = random_from((uint32_t)i + 1000);
        const conv_environment *e = &here.list[i / 2 % here.count];
        refused += !run_convolution(draw_convolution(&r, i % 2, true, e).text, e);
    }
    expect_no_failed_case();
    if (!is_replay() && refused > 1 + count / 50)
        fail_msg("%d cases did not fit the textures", refused);
}

static void test_sources(void **state) {
    (void)state;
    static const op_case cases[] = {
        CASE(13, "Relu w[5,3,3,3] -> v; Conv x[1,3,9,9] v b[5] -> y pads=1,1,1,1"),
        /* stored with another channel axis */
        CASE(13, "Transpose w[3,3,4,6] -> v perm=3,2,0,1; Conv x[2,4,7,9] v -> y"),
        CASE(13, "MatMul a[6,4] c[4,27] -> m; Reshape m s(6,3,3,3) -> v; Conv x[1,3,8,8] v -> y"),
        CASE(13, "Reshape w[4,24] s(4,6,2,2) -> v; ReduceSum w a(0) -> t keepdims=0; "
                 "Slice t f(0) e(6) -> b; ConvTranspose x[2,4,5,6] v b -> y strides=2,2"),
        CASE(13,
             "Relu w[8,3,3,3] -> u; Neg w -> v; Conv x[1,3,8,8] u -> a; "
             "Conv x v -> b; Concat a b -> y axis=1",
             .big = true),
        CASE(13, "Conv x[1,4,5,5] x -> y"),
        CASE(13, "Conv x[1,6,7,9] w{5,6,3,3} b[5] -> c; Relu c -> y"),
        CASE(13, "Conv x[1,6,7,9] w[5,6,3,3] b{5} -> c; Add c z[5,5,7] -> y"),
        CASE(13, "Conv x[1,8,7,7] w[8,8,3,3] -> a pads=1,1,1,1; "
                 "ConvTranspose a w -> b pads=1,1,1,1; Conv b w -> y pads=1,1,1,1"),
        CASE(13, "Conv x[1,3,8,8] w[6,3,3,3] b[6] -> c; BatchNormalization c s{6} t{6} m{6} "
                 "v<1,2,1,2,1,2> -> n; Relu n -> y"),
        CASE(13, "Relu x[1,5,9,9] -> r; Conv r w[4,5,3,3] -> a; Conv r u{4,5,3,3} -> b; "
                 "Add a b -> y"),
        /* a gradient: batch and channels exchanged, as large as the image */
        CASE(13, "Transpose x[3,4,9,8] -> t perm=1,0,2,3; Transpose d[3,5,7,6] -> e "
                 "perm=1,0,2,3; Conv t e -> g; Transpose g -> y perm=1,0,2,3"),
        CASE(13, "DequantizeLinear w:int8[6,5,3,3] k<0.05 -> v; Conv x[1,5,8,8] v -> y"),
        CASE(13, "ConvInteger x:uint8[1,300,3,4] w:uint8[4,300,3,3] -> c; Cast c -> y to=1",
             .big = true, .no_half = true),
        CASE(13, "ConvInteger x:uint8[1,600,3,4] w:int8[4,300,2,3] -> c group=2; Cast c -> y to=1",
             .big = true, .no_half = true),
        CASE(13, "Conv x[1,40,1,1] w[30,40,1,1] b[30] -> y"),
        CASE(13, "Conv x[1,3,1,1] w[1,3,1,1] b[1] -> y"),
        CASE(13, "InstanceNormalization x[2,5,7,9] s[5] b[5] -> y"),
        CASE(22, "Conv x[2,6,4,5,6] w[6,3,3,2,3] b[6] -> y group=2 pads=1,0,1,1,1,0", .big = true),
        CASE(22, "ConvTranspose x[1,3,2,3,4] w[3,2,2,2,2] b[2] -> c strides=2,2,2; Relu c -> y",
             .big = true),
        CASE(22, "ConvTranspose x[2,6,4,5,3] w[6,1,2,3,3] b[6] -> y group=6", .big = true),
        CASE(13, "Conv x[2,3,19] w[7,3,4] b[7] -> y strides=2, dilations=2,"),
        /* parts of one tensor, one of them read twice */
        /* of two, and of another one */
        CASE(13,
             "Split w[112,16,4,4] s(32,48,32) -> a b c axis=0; "
             "Split v[64,16,3,3] t(40,24) -> d e axis=0; Neg k[32,16,4,4] -> l; "
             "Conv x[1,16,50,51] a -> p! strides=2,2; Conv x d -> q! strides=2,2; "
             "Conv x l -> r! strides=2,2; Conv x c -> m! strides=2,2; Conv x e -> n! strides=2,2; "
             "Conv x b -> y strides=2,2",
             .big = true),
        CASE(13, "Split w[12,5,4,4] s(4,5,3) -> a b c axis=0; Conv x[1,5,9,7] a -> p; "
                 "Conv x b -> q; Conv x c -> r; Concat p q r -> y! axis=1; "
                 "ConvTranspose q b -> z"),
        /* integers with a scale, read twice */
        CASE(13, "DequantizeLinear w:int8[6,5,3,3] k<0.05 -> v; Conv x[1,5,8,8] v -> a; "
                 "Conv z[1,5,8,8] v -> b; Concat a b -> y axis=1"),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

#define TWO_LAYERS                                                                                 \
    "Conv x[1,8,9,14] w[8,8,3,3] b[8] -> c pads=1,1,1,1; Relu c -> r; "                            \
    "Conv r v[8,8,3,3] -> d pads=1,1,1,1; ConvTranspose d u[8,5,4,4] -> y strides=2,2"

/* Weights change from run to run, kept by no session. */
static void test_changed(void **state) {
    (void)state;
    static const unsigned seeds[] = {1, 2, 1, 3};
    need_gpu();
    for (int half = 0; half < 2; half++) {
        const tsr_precision precision = half ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32;
        tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend()});
        tsr_model *model = make_model(TWO_LAYERS);
        tsr_session *session = make_session(
            device, model, &(tsr_session_desc){.poison = true, .precision = precision});
        for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
            set_inputs(session, seeds[i]);
            EXPECT_OK(tsr_session_run(session));
            expect_output(session, model, "y", seeds[i],
                          half || gpu_is_half_only() ? HALF_CHAIN_TOLERANCE : SUM_TOLERANCE);
        }
        tsr_session_destroy(session);
        tsr_model_free(model);
        tsr_device_destroy(device);
    }
}

static tsr_report report_of(const tsr_session *session) {
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    return report;
}

/* Layers whose weights are packed in each run. */
static int count_packing(const tsr_session *session, int node_count) {
    int count = 0;
    for (int i = 0; i < node_count; i++) {
        tsr_node_report node;
        EXPECT_OK(tsr_session_node_report(session, i, &node));
        count += node.kernel && strstr(node.kernel, "pack_weights") != NULL;
    }
    return count;
}

/* What every GPU backend packs: where channels are one group, fragments read the weights' tensor.
 */
#define GROUPED_LAYERS                                                                             \
    "Conv x[1,8,9,14] w[8,4,3,3] b[8] -> c pads=1,1,1,1 group=2; Relu c -> r; "                    \
    "Conv r v[8,4,3,3] -> d pads=1,1,1,1 group=2; ConvTranspose d u[8,5,4,4] -> y strides=2,2"

/* Where the weights come from is told once for layers of one kind, and once for all sessions; the
 * packed weights themselves are each session's. Fixed weights are constants. */
static void test_counted(void **state) {
    (void)state;
    static float elements[8 * 4 * 3 * 3];
    const tsr_fixed_input fixed = {
        .input = "v", .data = elements, .shape = {4, {8, 4, 3, 3}}, .dtype = TSR_DTYPE_F32};
    need_gpu();
    tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend()});
    tsr_model *model = make_model(GROUPED_LAYERS);
    for (int i = 0; i < tsr_model_input_count(model); i++)
        assert_false(tsr_model_input_is_parameter(model, i));
    tsr_session *first = make_session(device, model, &(tsr_session_desc){.poison = true}),
                *second = make_session(device, model, &(tsr_session_desc){.poison = true}),
                *other = make_session(device, model,
                                      &(tsr_session_desc){.fixed = &fixed, .fixed_count = 1});
    const tsr_report a = report_of(first), b = report_of(second), c = report_of(other);
    assert_true(a.packed_bytes > 0 && a.packed_bytes < a.weight_bytes);
    assert_int_equal(b.packed_bytes, 0);
    assert_int_equal(a.tensor_bytes, b.tensor_bytes);
    assert_int_equal(count_packing(other, c.node_count), count_packing(first, a.node_count) - 1);
    for (unsigned seed = 1; seed < 3; seed++) {
        set_inputs(first, seed);
        set_inputs(second, seed + 1);
        EXPECT_OK(tsr_session_run(first));
        EXPECT_OK(tsr_session_run(second));
        expect_output(first, model, "y", seed, HALF_CHAIN_TOLERANCE);
        expect_output(second, model, "y", seed + 1, HALF_CHAIN_TOLERANCE);
    }
    tsr_session_destroy(other);
    tsr_session_destroy(second);
    tsr_session_destroy(first);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

/* Parts of one tensor are packed together, for buffers and for uniform blocks, which saves passes
 * for each but the first, where there is room. */
static void test_joined(void **state) {
    (void)state;
    static const char *const layers =
        "Conv x[1,16,66,67] a%s -> p strides=2,2; Conv x b%s -> q strides=2,2; "
        "Conv x c%s -> r strides=2,2; Concat p q r -> y axis=1";
    need_gpu();
    tsr_device *device = make_device(&(tsr_device_desc){
        .backend = gpu_backend(), .kernels = gpu_has_textures() ? "blocks" : NULL});
    int passes[3];
    uint64_t max_bytes = 0;
    for (int i = 0; i < 3; i++) {
        const bool parts = i > 0, cramped = i > 1;
        char text[400] = "Split w[112,16,4,4] s(32,48,32) -> a b c axis=0; ";
        size_t begin = parts ? strlen(text) : 0;
        snprintf(text + begin, sizeof text - begin, layers, parts ? "" : "[32,16,4,4]",
                 parts ? "" : "[48,16,4,4]", parts ? "" : "[32,16,4,4]");
        tsr_model *model = make_limited_model(text, cramped ? max_bytes : 0);
        tsr_session *session = make_session(device, model, &(tsr_session_desc){.poison = true});
        const tsr_report report = report_of(session);
        passes[i] = report.pass_count;
        max_bytes = 2 * (report.tensor_bytes + report.weight_bytes);
        for (unsigned seed = 1; seed < 4; seed++) {
            set_inputs(session, seed);
            EXPECT_OK(tsr_session_run(session));
            expect_output(session, model, "y", seed, HALF_CHAIN_TOLERANCE);
        }
        tsr_session_destroy(session);
        tsr_model_free(model);
    }
    assert_true(passes[1] == passes[0] - 2 && passes[2] == passes[0]);
    tsr_device_destroy(device);
}

/* What is packed together fits no buffer or texture of this device, each by itself does. */
static void test_too_large(void **state) {
    (void)state;
    need_gpu();
    const bool textures = gpu_has_textures();
    tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend(),
                                                        .kernels = textures ? "blocks" : NULL,
                                                        .gles.max_texture_size = 300,
                                                        .webgpu.max_buffer_bytes = 1 << 16});
    tsr_model *model =
        make_model(textures ? "Split w[384,64,4,4] s(128,128,128) -> a b c axis=0; "
                              "Conv x[1,64,40,40] a -> p strides=2,2; Conv x b -> q strides=2,2; "
                              "Conv x c -> r strides=2,2; Concat p q r -> y axis=1"
                            : "Conv x[1,36,9,9] w[36,36,3,3] -> a; Conv a w -> y");
    tsr_session *session = make_session(device, model, &(tsr_session_desc){.poison = true});
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 1, HALF_CHAIN_TOLERANCE);
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),  cmocka_unit_test(test_sources),
        cmocka_unit_test(test_changed), cmocka_unit_test(test_counted),
        cmocka_unit_test(test_joined),  cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
