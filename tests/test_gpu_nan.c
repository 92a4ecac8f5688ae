/* A network that has gone NaN shows NaN: of inputs that hold some, and infinities, a GPU backend
 * makes what cpu makes. Neither GLSL ES 3.00 nor WGSL says that a driver has NaN. */
#include "support/main.h"
#include "support/op_cases.h"
#include "support/sessions.h"

#include <math.h>

/* Neg does nothing to keep it. */
static bool driver_has_nan(void) {
    tsr_model *model = make_model("Neg x[3] -> y");
    tsr_session *session = make_session(gpu_device((backend_limits){0}), model, NULL);
    const float x[3] = {1, NAN, -2};
    EXPECT_OK(tsr_session_set_input(session, "x", x, 3));
    EXPECT_OK(tsr_session_run(session));
    elements y = get_output(session, "y");
    bool has = isnan(y.values[1]);
    free(y.values);
    tsr_session_destroy(session);
    tsr_model_free(model);
    return has;
}

static void need_nan(void) {
    need_gpu();
    if (!driver_has_nan())
        lacking("the driver has no NaN");
}

enum { MAX_TEXTS = 128 };

/* With NaN alone, then with infinities too, of which 16 bits may make NaN. Sums have few, so that
 * something else is left. */
static void run_with_nans(const char *const *texts, size_t count, int opset, int few) {
    op_case cases[2 * MAX_TEXTS];
    need_nan();
    assert_true(count <= MAX_TEXTS);
    for (size_t i = 0; i < count; i++) {
        cases[2 * i] =
            (op_case)CASE(opset, texts[i], .range = 4, .nans = few, .no_half = is_steep(texts[i]));
        cases[2 * i + 1] = (op_case)CASE(opset, texts[i], .range = 4, .nans = 2 * few,
                                         .infinities = few, .no_half = true);
    }
    run_op_cases(cases, 2 * count);
}
#define WITH_NANS(texts, ...) run_with_nans(texts, sizeof(texts) / sizeof *(texts), __VA_ARGS__)

static void test_elements(void **state) {
    (void)state;
    static const char *const texts[] = {
#define TSR_UNARY(Name, stem, types) #Name " x[2,5,7,9] -> y",
#include "graph/ops.def"
        "LeakyRelu x[2,5,7,9] -> y alpha=0.2",
        "LeakyRelu x[2,5,7,9] -> y alpha=-0.5",
        "Clip x[2,5,7,9] lo<-1 hi<1 -> y",
        "Clip x[2,5,7,9] lo<-1 hi<9 -> y",
        "PRelu x[2,5,7,9] s{5,1,1} -> y",
        "PRelu x[2,5,7,9] s[5,1,1] -> y",
        "Add x[2,5,7,9] z[2,5,7,9] -> y",
        "Sub x[2,5,7,9] z[5,1,1] -> y",
        "Mul x[2,5,7,9] z[2,5,7,9] -> y",
        "Div x[2,5,7,9] k<3 -> y",
        "Max x[2,5,7,9] z[2,5,7,9] -> y",
        "Min x[2,5,7,9] z[5,1,1] -> y",
        "Max x[2,5,7,9] z[5,1,1] x -> y",
        "IsNaN x[2,5,7,9] -> y",
        "Less x[2,5,7,9] k<0.5 -> c; Where c x z[5,1,1] -> y",
        "Equal x[2,5,7,9] x -> y",
        "Pow x[2,5,7,9] k<2 -> y",
        "Pow x[2,5,7,9] k<3 -> y",
        "Neg x[2,5,7,9] -> n; Relu n -> r; Mul r k<2 -> m; Clip m lo<-1 hi<1 -> c; Tanh c -> y",
    };
    WITH_NANS(texts, 22, 4);
}

static void test_pools(void **state) {
    (void)state;
    static const char *const texts[] = {
        "MaxPool x[2,5,17,11] -> y kernel_shape=2,2",
        "MaxPool x[2,5,17,11] -> y kernel_shape=3,3 strides=2,2 pads=1,1,1,1",
        "MaxPool x[2,5,5,23] -> y kernel_shape=2,9",
        "AveragePool x[2,5,17,11] -> y kernel_shape=3,3 pads=1,1,1,1",
    };
    WITH_NANS(texts, 13, 7);
    const op_case others[] = {
        CASE(13, "MaxPool x[2,5,17,11] -> y i kernel_shape=3,2 strides=2,1 dilations=2,2",
             .nans = 7, .infinities = 7, .no_half = true), /* rounded elements may be equal */
        CASE(13, "MaxPool x[1,5,9,9] -> y kernel_shape=3,3 pads=1,1,1,1", .nans = 1),
        CASE(13, "MaxPool x[1,5,9,19] -> y kernel_shape=3,9 pads=1,1,1,1", .nans = 1),
    };
    RUN_CASES(others);
}

static void test_sums(void **state) {
    (void)state;
    static const char *const texts[] = {
        "Conv x[1,5,9,19] w{6,5,3,3} b{6} -> c pads=1,1,1,1; Relu c -> y",
        "ConvTranspose x[1,5,6,9] w{5,6,4,4} -> y strides=2,2 pads=1,1,1,1",
        "Gemm x[9,13] w{13,7} b{7} -> g; Sigmoid g -> y",
        "MatMul x[2,9,13] z[2,13,7] -> y",
        "GlobalAveragePool x[2,50,3,5] -> y",
        "InstanceNormalization x[2,50,3,5] s{50} b{50} -> y",
        "Softmax x[40,7] -> y",
        "Softmax x[2,7,5,9] -> y axis=1",
        "Softmax x[2,7,5,9] -> y axis=2",
        "Softmax x[2,7,5,9] -> y axis=3",
    };
    WITH_NANS(texts, 13, 60);
    static const char *const groups[] = {
        "Conv x[1,6,5,7] w{6,2,3,3} b{6} -> y group=3 pads=1,1,1,1",
        "Conv x[1,8,5,37] w{6,4,3,3} -> y group=2",
        "Conv x[2,6,9,7] w{8,3,1,1} -> y group=2",
        "Conv x[1,6,9,9] w{12,1,3,3} -> y group=6 strides=2,2",
        "Conv x[1,6,9,9] w{9,2,3,3} -> y group=3 dilations=2,2 pads=2,2,2,2",
        "ConvTranspose x[1,6,5,7] w{6,2,3,3} -> y group=3",
        "ConvTranspose x[1,5,5,7] w{5,1,4,4} -> y group=5 strides=2,2 pads=1,1,1,1",
        "ConvTranspose x[2,6,5,7] w{6,3,3,3} -> y group=2 dilations=2,2",
    };
    WITH_NANS(groups, 13, 60);
    /* In one channel of few: the other three of its texels stay as they are. */
    const op_case others[] = {
        CASE(13, "InstanceNormalization x[2,6,37,53] s{6} b{6} -> y", .nans = 8000, .big = true),
    };
    RUN_CASES(others);
}

/* Coordinates that are NaN, infinite or far beside the image. */
static void test_grid_sample(void **state) {
    (void)state;
    need_nan();
    const op_case cases[] = {
#define GRID(attributes)                                                                           \
    CASE(20, "GridSample x[2,5,7,9] g[2,5,6,2] -> y " attributes, .nans = 9, .infinities = 9,      \
         .no_half = true),                                                                         \
        CASE(20, "Mul g[2,5,6,2] k<1e20> -> h; GridSample x[2,5,7,9] h -> y " attributes,          \
             .nans = 16, .no_half = true)
        GRID("mode=nearest"),
        GRID("mode=nearest padding_mode=border"),
        GRID("mode=nearest padding_mode=reflection align_corners=1"),
        GRID("mode=linear align_corners=1"),
        GRID("mode=linear padding_mode=border"),
        GRID("mode=linear padding_mode=reflection"),
        GRID("mode=cubic padding_mode=reflection"),
        CASE(20, "GridSample x[2,5,1,1] g[2,5,6,2] -> y padding_mode=border align_corners=1",
             .nans = 9, .infinities = 9, .no_half = true),
    };
    RUN_CASES(cases);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_grid_sample),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
