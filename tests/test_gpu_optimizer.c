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
        cmocka_unit_test(test_each_pass_is_switched),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
