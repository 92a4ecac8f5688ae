/* What the optimizer's passes make, held against cpu, which computes models as they are; and every
 * pass switched off. */
#include "support/case_text.h"
#include "support/main.h"
#include "support/op_cases.h"
#include "support/sessions.h"

#include <stdio.h>
#include <string.h>

static void test_windows(void **state) {
    (void)state;
    need_gpu();
    const op_case cases[] = {
        CASE(13, "Pad x[2,5,7,9] p(0,0,1,2,0,0,3,0) -> a; Conv a w{6,5,3,3} b{6} -> y strides=2,1"),
        CASE(13, "Pad x[1,6,7,5] p(0,0,2,0,0,0,1,2) -> a; Conv a w{6,1,3,3} -> y group=6 "
                 "pads=1,1,1,1 strides=2,2"),
        CASE(13, "Pad x[2,3,11] p(0,0,2,0,0,5) -> a; Conv a w{5,3,4} -> y dilations=2,"),
        CASE(13, "Pad x[1,2,3,4,3] p(0,0,0,1,2,0,0,1,0,1) -> a; Conv a w{3,2,2,3,3} -> y"),
        CASE(13, "Pad x[2,5,7,9] p(0,0,1,1,0,0,0,1) -> a; AveragePool a -> y kernel_shape=2,3"),
        CASE(13, "Pad x[2,5,1,1] p(0,0,1,1,0,0,0,1) -> a; AveragePool a -> y kernel_shape=2,3"),
        CASE(13, "Pad x[2,5,7,9] p(0,0,1,1,0,0,1,1) k<-inf -> a; MaxPool a -> y kernel_shape=3,3 "
                 "strides=2,2"),
        CASE(13,
             "Relu x[2,5,7,9] -> r; Pad r p(0,0,0,1,0,0,1,1) -> a; MaxPool a -> y "
             "kernel_shape=3,2 strides=2,2",
             .nans = 3),
        CASE(13, "BatchNormalization x[2,5,7,9] s{5} b{5} m{5} v{5} -> a; Conv a w{6,5,3,3} c{6} "
                 "-> y"),
        CASE(13, "BatchNormalization x[2,6,7,1] s{6} b{6} m{6} v{6} -> a; Conv a w{9,2,3,1} -> y "
                 "group=3 strides=2,1"),
        CASE(13, "Conv x[1,3,9,8] w{6,3,1,1} -> c; BatchNormalization c s{6} b{6} m{6} v{6} -> a; "
                 "Conv a z{5,6,2,2} -> d; BatchNormalization d t{5} e{5} f{5} g{5} -> y"),
    };
    RUN_CASES(cases);
}

static void test_movement(void **state) {
    (void)state;
    need_gpu();
    const op_case cases[] = {
        CASE(13,
             "Transpose x[2,5,7,3] -> a perm=0,2,3,1; Mul a k<2,3,4,5,6> -> b; "
             "LeakyRelu b -> c; Transpose c -> y perm=0,3,1,2",
             .nans = 3, .infinities = 2),
        CASE(13, "Transpose x[2,5,7,3] -> a perm=0,2,3,1; Transpose z[2,5,7,3] -> b perm=0,2,3,1; "
                 "Add a b -> c; Softmax c -> y"),
        CASE(13, "Transpose x[2,5,7,3] -> a perm=2,0,1,3; Tanh a -> b; Transpose b -> y "
                 "perm=3,1,0,2"),
        CASE(13, "Transpose x[2,1,7,5] -> a perm=0,2,1,3; Relu a -> y", .nans = 3),
        CASE(13, "Transpose x[1,5,1,1] -> a perm=0,2,3,1; Relu a -> y"),
        CASE(13, "Transpose x[2,3,2,5,2] -> a; Transpose a -> b perm=1,0,2,3,4; Exp b -> y"),
        CASE(13, "Conv x[2,3,7,5] w{6,3,3,3} -> c; Reshape c s(2,6,-1) -> d; Sigmoid d -> e; "
                 "Mul e k<2 -> y"),
        CASE(13,
             "Transpose x[2,5,7,3] -> a perm=0,2,3,1; Reshape a s(2,-1,1) -> b; Sigmoid b -> "
             "y",
             .nans = 2),
        CASE(13, "Conv x[2,3,7,5] w{6,3,3,3} -> c; Flatten c -> d; PRelu d k<0.25 -> e; Clip e _ "
                 "l<0.5 -> y"),
    };
    RUN_CASES(cases);
}

static void test_common_subexpressions(void **state) {
    (void)state;
    need_gpu();
    const op_case cases[] = {
        CASE(13, "Conv x[2,3,7,5] w{6,3,3,3} -> c; Relu c -> a; Relu c -> b; Softmax a -> d; "
                 "GlobalAveragePool b -> e; Mul d e -> y"),
        CASE(13, "Exp x[2,5] -> a; Mul a k<2,3,4,5,6> -> b; Softmax b -> c; Exp x -> d; "
                 "Mul d l<2,3,4,5,6> -> e; Softmax e -> f; Concat c f -> y axis=0"),
        CASE(13,
             "Split x[2,6,3,1] -> a b axis=1; Split x -> c d axis=1; Concat a d b c -> y "
             "axis=1",
             .nans = 3),
    };
    RUN_CASES(cases);
}

/* ---- Split in place ---- */

static void test_splits(void **state) {
    (void)state;
    need_gpu();
    const op_case cases[] = {
        CASE(13, "Conv x[1,3,8,16] w{12,3,1,1} -> c; Split c s(4,8) -> a b axis=1; Softmax a -> d; "
                 "GlobalAveragePool b -> e; "
                 "GlobalAveragePool d -> f; Concat f e -> y axis=1"),
        CASE(13, "Exp x[1,14,8,16] -> c; Split c s(8,6) -> a b axis=1; Conv a w{5,8,3,3} -> d "
                 "pads=1,1,1,1; Conv b z{5,6,3,3} -> e pads=1,1,1,1; Add d e -> y"),
        CASE(13, "Exp x[3,5,4,8] -> c; Split c s(1,2) -> a b axis=0; Softmax a -> d; Softmax b -> "
                 "e; Add d e -> y"),
        /* parts of an input, of a part, of what is written into a Concat */
        CASE(13, "Split x[1,16,4,4] s(8,8) -> a b axis=1; Split a t(4,4) -> c d axis=1; Sin c -> "
                 "e; Cos d -> f; Softmax b -> g; Concat e f g -> y axis=1"),
        CASE(13, "Relu x[1,8,8,8] -> a; Neg z[1,8,8,8] -> b; Concat a b -> c axis=1; Slice a "
                 "s(4) e(8) k(1) -> d; Softmax d -> f; Softmax c -> g; GlobalMaxPool f -> h; "
                 "GlobalMaxPool g -> i; Concat h i -> y axis=1"),
        /* the parts are written back beside each other, as in a shuffle */
        CASE(13, "Relu x[1,16,8,8] -> c; Split c s(8,8) -> a b axis=1; Conv b w{8,8,1,1} -> d; "
                 "Concat a d -> y axis=1"),
        CASE(13, "Relu x[1,16,8,8] -> c; Split c s(8,8) -> a b axis=1; Add a b -> d; Concat d a -> "
                 "y axis=1"),
        /* no whole tiles; several images */
        CASE(13, "Relu x[1,16,8,8] -> c; Split c s(6,10) -> a b axis=1; Softmax a -> d; Softmax b "
                 "-> e; Concat d e -> y axis=1"),
        CASE(13, "Relu x[2,16,8,8] -> c; Split c s(8,8) -> a b axis=1; Sub a b -> y"),
        CASE(13, "Relu x[1,16,8,8] -> c; Slice c s(8) e(16) k(1) t(2) -> a; Softmax a -> y"),
        CASE(13, "Relu x[1,16,8,8] -> c; Slice c s(4) e(12) k(1) -> a; Exp a -> b; Softmax b -> y"),
        CASE(13, "Relu x[1,4,3,5] -> c; Split c s(2,1) -> a b axis=2; Softmax a -> d; Softmax b -> "
                 "e; Concat d e -> y axis=2"),
        CASE(13, "Relu x[6,12] -> c; Split c s(2,4) -> a b axis=0; Softmax a -> d; Softmax b -> e; "
                 "Concat d e -> y axis=0"),
        CASE(13,
             "Relu x[1,64,32,32] -> c; Split c s(16,16,32) -> a b d axis=1; Conv a "
             "w{16,16,3,3} -> e pads=1,1,1,1; Conv b z{16,16,3,3} -> f pads=1,1,1,1; Conv d "
             "v{16,32,3,3} -> g pads=1,1,1,1; Sum e f g -> y",
             .big = true),
    };
    RUN_CASES(cases);
}

static int count_gpu_passes(const char *text, const char *passes) {
    tsr_model *model = make_model(text);
    tsr_session *session = make_session(gpu_device((backend_limits){0}), model,
                                        &(tsr_session_desc){.optimizer_passes = passes});
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    tsr_session_destroy(session);
    tsr_model_free(model);
    return report.pass_count;
}

static void test_splits_need_no_pass(void **state) {
    (void)state;
    static const char text[] =
        "Exp x[1,16,8,16] -> c; Split c s(8,8) -> a b axis=1; Conv a w{5,8,1,1} -> d; Conv b "
        "z{5,8,1,1} -> e; Slice c t(8) u(16) k(1) -> f; Conv f v{5,8,1,1} -> g; Sum d e g -> y";
    need_gpu();
    assert_int_equal(count_gpu_passes(text, "-split_in_place") - count_gpu_passes(text, NULL), 3);
}

/* Constants that nothing needs as such are computed in each run. */
static void test_constants_can_stay(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_model("Exp w{1,5,7,3} -> a; Softmax a -> b; Mul k{6,5,1,1} l<2> -> m; "
                                  "Add x[2,5,7,3] b -> c; Conv c m -> y");
    tsr_session *session = make_session(gpu_device((backend_limits){0}), model,
                                        &(tsr_session_desc){.optimizer_passes = "-fold_constants"});
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    assert_int_equal(report.node_count, 4); /* Exp, Softmax, Add, Conv */
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 1, 1e-4);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

/* Each pass does something for it; y is its output. */
#define EVERY_PASS_NET                                                                             \
    "Transpose x[1,9,14,3] -> a perm=0,3,1,2; Pad a p(0,0,1,1,0,0,1,1) -> b; "                     \
    "Conv b w{8,3,3,3} -> c; BatchNormalization c s1{8} s2{8} s3{8} s4{8} -> d; Relu d -> e; "     \
    "BatchNormalization e t1{8} t2{8} t3{8} t4{8} -> f; Conv f w2{4,8,1,1} -> l; Identity l -> "   \
    "n; "                                                                                          \
    "Conv f w3{4,8,1,1} -> o; Concat n o l -> q axis=1; MaxPool q -> r kernel_shape=2,2; "         \
    "MaxPool q -> u kernel_shape=2,2; Mul r u -> z; Softmax z -> A axis=1; Reshape A "             \
    "shape(12,104) -> "                                                                            \
    "B; Tanh B -> y"

static uint64_t passes_of(tsr_session *session) {
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    return (uint64_t)report.pass_count;
}

/* Without any, without each one, with each one alone. */
static void test_each_pass_is_switched(void **state) {
    (void)state;
    need_gpu();
    char list[64];
    tsr_model *model = make_model(EVERY_PASS_NET);
    tsr_device *device = gpu_device((backend_limits){0});
    for (int i = -1; i < 0 || tsr_optimizer_pass_name(i); i++)
        for (int alone = 0; alone < 2; alone++) {
            snprintf(list, sizeof list, "%s%s", alone || i < 0 ? "" : "-",
                     i < 0 ? (alone ? "none" : "all") : tsr_optimizer_pass_name(i));
            tsr_session *session;
            tsr_session_desc desc = {.optimizer_passes = list};
            tsr_optimizer_pass_report report;
            if (tsr_session_create(device, model, &desc, &session) != TSR_OK) {
                if (!strstr(tsr_last_error(), "cannot be left out"))
                    fail_msg("%s: %s", list, tsr_last_error());
                continue;
            }
            assert_true(passes_of(session) > 3);
            for (int k = 0; tsr_session_optimizer_pass(session, k, &report) == TSR_OK; k++) {
                assert_string_equal(report.name, tsr_optimizer_pass_name(k));
                bool on = report.required || (i < 0 ? !alone : (k == i) == (alone != 0));
                assert_int_equal(report.on, on);
            }
            set_inputs(session, 1);
            EXPECT_OK(tsr_session_run(session));
            expect_output(session, model, "y", 1, 1e-4);
            tsr_session_destroy(session);
        }
    tsr_model_free(model);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_movement),
        cmocka_unit_test(test_common_subexpressions),
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_splits_need_no_pass),
        cmocka_unit_test(test_constants_can_stay),
        cmocka_unit_test(test_each_pass_is_switched),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
