/* Operators of one value that convolutions apply as they read their input
 * (src/passes/fuse_before.c), on a GPU backend: how many passes are left, and the same numbers as
 * on cpu. tests/test_gpu_conv.c has convolutions of random shapes with such operators before. */
#include "support/backends.h"
#include "support/main.h"
#include "support/sessions.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct before_case {
    const char *text, *outputs;  /* outputs: as of backend_case */
    int in_textures, in_buffers; /* passes */
} before_case;

#define PADDED " pads=1,1,1,1"
#define HALVED " strides=2,2 pads=1,1,1,1"
/* Reads a as it is, so that what else reads it is no post-op of the node before. */
#define OTHER "; MaxPool a -> z kernel_shape=2,2; "

static const before_case cases[] = {
    /* of an input, of what others read, too, twice, in a view */
    {"Relu x[1,5,9,7] -> r; Conv r w{6,5,3,3} -> y" PADDED, NULL, 1, 1},
    {"Abs x[2,6,9,8] -> a" OTHER "LeakyRelu a -> r alpha=0.2; Conv r w{7,6,4,4} -> y" HALVED, "z",
     3, 3},
    {"Abs x[1,6,7,9] -> a" OTHER "Neg a -> r; ConvTranspose r v{6,5,4,4} -> t" HALVED
     "; Conv r w{5,6,3,3} -> y" PADDED,
     "t,z", 4, 4},
    {"Abs x[1,6,7,9] -> a" OTHER "Clip a lo<-1 hi<2 -> s; Conv s v{5,6,1,1} -> t; Neg a -> r; "
     "Conv r w{5,6,3,3} -> y" PADDED,
     "t,z", 4, 4},
    {"Abs x[4,100] -> a; Reshape a s(1,16,5,5) -> v; Relu v -> r; Conv r w{6,16,3,3} -> y" PADDED,
     NULL, 3, 3},
    /* the operand of a post-op is read as it is */
    {"Abs x[1,5,6,9] -> a; Neg a -> r; Conv r w{5,5,3,3} b{5} -> c" PADDED "; Add c a -> y", NULL,
     2, 2},
    /* volumes, sequences, groups, one pixel */
    {"Neg x[2,3,4,6,5] -> r; Conv r w{4,3,2,3,3} -> y pads=0,1,1,1,1,1", NULL, 3, 3},
    {"Neg x[2,6,21] -> r; Conv r w{4,6,5} -> y pads=2,2", NULL, 1, 1},
    {"Neg x[1,9,8,11] -> r; Conv r w{9,1,3,3} -> y group=9" PADDED, NULL, 1, 1},
    {"Neg x[2,9,8,11] -> r; Conv r w{6,3,3,3} -> y group=3" HALVED, NULL, 1, 1},
    {"Relu x[1,13,1,1] -> r; ConvTranspose r w{13,7,4,4} -> y" HALVED, NULL, 1, 1},
    /* what the node before can do at no pass */
    {"Conv x[1,5,9,7] w{6,5,3,3} -> c; Relu c -> r; Conv r v{4,6,3,3} -> y", NULL, 2, 2},
    {"Abs x[1,8,16,16] -> a; Relu x -> b; Concat a b -> c axis=1; Neg c -> r; Conv r w{4,16,3,3} "
     "-> "
     "y",
     NULL, 3, 3},
    /* another reader, an output, zero not kept, values enlarged, NaN lost, not cheap */
    {"Abs x[1,6,7,9] -> a" OTHER "Neg a -> r; MaxPool r -> t kernel_shape=2,2; "
     "Conv r w{5,6,3,3} -> y",
     "t,z", 5, 5},
    {"Relu x[1,5,9,7] -> r; Conv r w{6,5,3,3} -> y" PADDED, "r", 2, 2},
    {"Abs x[1,6,7,9] -> a" OTHER "Clip a lo<1 hi<2 -> r; Conv r w{5,6,3,3} -> y" PADDED, "z", 4, 4},
    {"Abs x[1,6,7,9] -> a" OTHER "LeakyRelu a -> r alpha=1.5; Conv r w{5,6,3,3} -> y" PADDED, "z",
     4, 4},
    {"Abs x[1,6,7,9] -> a" OTHER "LeakyRelu a -> r alpha=0.0; Conv r w{5,6,3,3} -> y" PADDED, "z",
     4, 4},
    {"Abs x[1,6,7,9] -> a" OTHER "Tanh a -> r; Conv r w{5,6,3,3} -> y" PADDED, "z", 4, 4},
};

/* Two levels of a U-Net: e is read by a convolution after LeakyRelu, and beside d after Relu. */
#define LEVELS(size, join)                                                                         \
    "Conv x[1,3," size "] w{8,3,4,4} -> e" HALVED                                                  \
    "; LeakyRelu e -> l alpha=0.2; Conv l v{12,8,4,4} -> f" HALVED                                 \
    "; Relu f -> g; ConvTranspose g u{12,8,4,4} -> d" HALVED "; Concat " join " -> c axis=1; "     \
    "Relu c -> r; "
#define DECODED "ConvTranspose r t{16,3,4,4} -> y" HALVED
#define SCREENED "Conv r t{5,16,3,3} -> y" PADDED
#define MIXED "Conv r t{5,16,1,1} -> y"

/* Tensors whose pixels lie a stride apart are joined with others, in either order. In textures of
 * few columns one is copied; in buffers slices have to be aligned. */
static const before_case levels[] = {
    {LEVELS("64,64", "d e") DECODED, NULL, 4, 4},  {LEVELS("64,64", "e d") DECODED, NULL, 4, 4},
    {LEVELS("64,64", "d e") SCREENED, NULL, 4, 4}, {LEVELS("64,64", "e d") SCREENED, NULL, 4, 4},
    {LEVELS("64,64", "d e") MIXED, NULL, 4, 4},    {LEVELS("64,64", "e d") MIXED, NULL, 4, 4},
    {LEVELS("24,32", "d e") DECODED, NULL, 4, 4},  {LEVELS("16,16", "e d") DECODED, NULL, 4, 4},
    {LEVELS("32,40", "e d") DECODED, NULL, 5, 4},  {LEVELS("4,4", "e d") DECODED, NULL, 4, 5},
};

/* ---- passes ---- */

static int count_passes(const before_case *c) {
    const char *extra[2];
    char names[16];
    int count = 0;
    snprintf(names, sizeof names, "%s", c->outputs ? c->outputs : "");
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ","))
        extra[count++] = name;
    const tsr_session_desc desc = {
        .plan_only = true, .extra_outputs = extra, .extra_output_count = count};
    tsr_model *model = make_model(c->text);
    tsr_session *session =
        make_session(gpu_device((backend_limits){.kernels = "direct"}), model, &desc);
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    tsr_session_destroy(session);
    tsr_model_free(model);
    return report.pass_count;
}

static void expect_passes(const before_case *list, size_t count) {
    int wrong = 0;
    need_gpu();
    for (size_t i = 0; i < count; i++) {
        int passes = count_passes(&list[i]),
            expected = gpu_has_textures() ? list[i].in_textures : list[i].in_buffers;
        if (passes != expected)
            print_error("%d passes instead of %d: %s\n", passes, expected, list[i].text);
        wrong += passes != expected;
    }
    assert_int_equal(wrong, 0);
}

static void test_passes(void **state) {
    (void)state;
    expect_passes(cases, COUNT(cases));
}

static void test_joined_passes(void **state) {
    (void)state;
    expect_passes(levels, COUNT(levels));
}

static void test_report(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_model(levels[0].text);
    tsr_session *session = make_session(gpu_device((backend_limits){0}), model,
                                        &(tsr_session_desc){.plan_only = true});
    tsr_node_report report;
    EXPECT_OK(tsr_session_node_report(session, 1, &report));
    assert_string_equal(report.op, "Conv(LeakyRelu)+Relu");
    EXPECT_OK(tsr_session_node_report(session, 4, &report));
    assert_string_equal(report.op, "ConvTranspose(Relu)");
    tsr_session_destroy(session);
    tsr_model_free(model);
}

/* ---- results ---- */

static case_environments environments_here(void) {
    static const backend_case textures[] = {
        {.limits = {0}},
        {.limits.kernels = "plain"},
        {.limits.kernels = "shared"},
        {.limits.kernels = "blocks"},
        {.limits.kernels = "small"},
        {.limits.kernels = "midgard"},
        {.limits.kernels = "valhall"},
        {.limits.max_draw_buffers = 2},
        {.limits.max_texture_size = 64, .limits.max_draw_buffers = 1},
        {.keep_tensors = true},
        {.precision = TSR_PRECISION_FP16},
        {.limits.kernels = "small", .precision = TSR_PRECISION_FP16},
    };
    return environments_or_buffers(textures, COUNT(textures));
}

/* A case in a few of the environments, in the long form in each. */
static bool runs_here(size_t i, int e) {
    enum { APART = 6 };
    return all_cases() || e % APART == (int)(i % APART);
}

/* Of one in that many elements of the inputs; 0: of none. Infinity in 16 bits is another test's. */
static void run_everywhere(const before_case *list, size_t count, int nans, int infinities) {
    const case_environments here = environments_here();
    need_gpu();
    for (size_t i = 0; i < count; i++)
        for (int e = 0; e < here.count; e++) {
            backend_case c = here.list[e];
            c.text = list[i].text;
            c.extra_outputs = list[i].outputs;
            c.range = 2;
            c.nans = nans;
            c.infinities = infinities;
            c.refusal = c.limits.max_texture_size ? TSR_ERROR_LIMIT : TSR_OK;
            if (runs_here(i, e) && !(infinities && c.precision == TSR_PRECISION_FP16))
                run_case(&c);
        }
    expect_no_failed_case();
}

static void test_results(void **state) {
    (void)state;
    run_everywhere(cases, COUNT(cases), 0, 0);
}

static void test_joined_results(void **state) {
    (void)state;
    run_everywhere(levels, COUNT(levels), 0, 0);
}

static void test_nans(void **state) {
    (void)state;
    run_everywhere(cases, COUNT(cases), 60, 0);
    run_everywhere(cases, COUNT(cases), 120, 60);
}

/* ---- sessions ---- */

/* Every tensor is computed, and none is left out. */
static void test_kept(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_model("Relu x[1,6,7,9] -> a; Neg a -> r; Conv a v{5,6,3,3} -> b; "
                                  "Conv r w{5,6,3,3} -> c; Add b c -> y");
    const tsr_session_desc desc = {.keep_tensors = true};
    tsr_session *session = make_session(gpu_device((backend_limits){0}), model, &desc);
    set_inputs(session, 5);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 5, SUM_TOLERANCE);
    float r[6 * 7 * 9], a[COUNT(r)];
    EXPECT_OK(tsr_session_get_output(session, "r", r, COUNT(r)));
    EXPECT_OK(tsr_session_get_output(session, "a", a, COUNT(a)));
    for (size_t i = 0; i < COUNT(r); i++)
        assert_true(r[i] == -a[i]);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

/* Weights are computed, the operator before is of an input that others read. */
static void test_computed_weights(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_model("Abs x[1,3,3,4,5] -> a; Neg a -> r; ConvTranspose r w[3,3,2,3,3] "
                                  "-> t strides=2,2,2; GlobalMaxPool a -> m; Add t m -> n; "
                                  "GlobalMaxPool n -> o; Add m n -> y");
    const tsr_session_desc desc = {.poison = true};
    tsr_session *session = make_session(gpu_device((backend_limits){0}), model, &desc);
    set_inputs(session, 7);
    EXPECT_OK(tsr_session_run(session));
    elements expected = reference_output(model, "y", 7), y = get_output(session, "y");
    expect_close(y, expected, gpu_is_half_only() ? HALF_TOLERANCE : SUM_TOLERANCE);
    free(y.values);
    free(expected.values);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

/* Candidates are measured with the operator. */
static void test_tuned(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_model(levels[0].text);
    const tsr_session_desc desc = {.tune_ms = 500};
    tsr_session *session = make_session(gpu_device((backend_limits){0}), model, &desc);
    set_inputs(session, 8);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 8, SUM_TOLERANCE);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),         cmocka_unit_test(test_joined_passes),
        cmocka_unit_test(test_report),         cmocka_unit_test(test_results),
        cmocka_unit_test(test_joined_results), cmocka_unit_test(test_nans),
        cmocka_unit_test(test_kept),           cmocka_unit_test(test_computed_weights),
        cmocka_unit_test(test_tuned),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
