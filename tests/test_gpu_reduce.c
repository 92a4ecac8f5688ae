/* Reductions and what is made of them, held against cpu: random shapes and axes, long sums, NaN. */
#include "support/case_text.h"
#include "support/main.h"
#include "support/op_cases.h"
#include "support/random.h"

static const char *const reductions[] = {
    "ReduceSum", "ReduceMean",   "ReduceMax",       "ReduceMin",       "ReduceProd", "ReduceL1",
    "ReduceL2",  "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", "ArgMax",     "ArgMin"};
enum { REDUCTIONS = 10, KINDS = 12 };

typedef struct random_shape {
    int rank, dim[6];
    bool big; /* for small textures */
} random_shape;

static random_shape draw_shape(random_source *r, int least_rank) {
    static const int sizes[] = {1, 1, 2, 3, 4, 5, 7, 8, 13, 17, 35};
    random_shape s = {.rank = random_int(r, least_rank, 6)};
    int64_t count = 1, most = random_one_in(r, 4) ? 30000 : 900;
    for (int i = 0; i < s.rank; i++) {
        s.dim[i] = sizes[random_int(r, 0, 10)];
        while (count * s.dim[i] > most)
            s.dim[i] = (s.dim[i] + 1) / 2;
        count *= s.dim[i];
    }
    s.big = most > 900;
    return s;
}

/* One case. Logarithms and products need positive elements, near 1 if they are many. */
static void check_random(uint32_t seed) {
    random_source r = random_from(seed);
    int kind = random_int(&r, 0, KINDS - 1);
    bool is_arg = kind >= REDUCTIONS;
    const random_shape s = draw_shape(&r, is_arg);
    case_text text = {""};
    text_add(&text, "%s x[%s]", reductions[kind], text_list(s.dim, s.rank));
    if (!is_arg) {
        int axes[6], count = 0;
        for (int i = 0; i < s.rank; i++)
            if (random_one_in(&r, 2))
                axes[count++] = random_one_in(&r, 2) ? i : i - s.rank;
        if (count)
            text_add(&text, " a(%s)", text_list(axes, count));
    }
    text_add(&text, " -> y keepdims=%d", random_one_in(&r, 2));
    if (is_arg)
        text_add(&text, " axis=%d select_last_index=%d", random_int(&r, -s.rank, s.rank - 1),
                 random_one_in(&r, 2));
    bool is_product = kind == 4, is_log = kind == 7;
    check((op_case){.opset = 18,
                    .big = s.big,
                    .mean = is_product ? 1
                            : is_log   ? 2
                                       : 0.5f, /* so that sums do not cancel */
                    .range = is_product ? 0.001f : 1,
                    .tolerance = is_product ? 1e-3 : 0,
                    .no_half = is_arg || is_product || is_log},
          "%s", text.text);
}

static void test_random(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(300); i++)
        check_random((uint32_t)next_case());
    expect_no_failed_case();
}

static void test_long(void **state) {
    (void)state;
    need_gpu();
    const op_case cases[] = {
        CASE(18, "ReduceSum x[300000] -> y", .big = true),
        CASE(18, "ReduceMean x[3,257,511] a(1,2) -> y", .big = true),
        CASE(18, "ReduceMax x[1,5,300,301] a(2,3) -> y keepdims=0", .big = true),
        CASE(18, "ReduceL2 x[2,4099,3] a(1) -> y", .big = true),
        CASE(18, "ReduceSumSquare x[70,5,61,9] a(0,2) -> y", .big = true),
        CASE(18, "ReduceLogSumExp x[5000,3] a(0) -> y", .big = true),
        CASE(13, "ArgMax x[1,999,7,5] -> y axis=1", .big = true, .no_half = true),
        CASE(13, "Softmax x[3,17,9] -> s axis=1; Log s -> y"),
        CASE(18, "Conv x[1,3,9,9] w{6,3,3,3} -> c; ReduceMean c a(2,3) -> m; Relu m -> y"),
        CASE(18, "Conv x[1,3,9,9] w{6,3,3,3} -> c; ReduceMax c a(1) -> m; Concat m m -> y axis=1"),
    };
    RUN_CASES(cases);
}

static void test_types(void **state) {
    (void)state;
    static const char *const types[] = {"bool", "int8", "uint8", "int32", "int64"};
    need_gpu();
    for (int i = 0; i < 5; i++) {
        check(OPSET(20), "ReduceMax x:%s[2,5,7,9] a(1) -> y", types[i]);
        check(OPSET(20), "ReduceMin x:%s[2,5,7,9] a(0,3) -> y", types[i]);
        if (i > 0) {
            check(OPSET(13), "ArgMax x:%s[2,5,7,9] -> y axis=1", types[i]);
            check(OPSET(13), "ArgMin x:%s[2,5,7,9] -> y axis=3 select_last_index=1", types[i]);
        }
    }
    expect_no_failed_case();
}

static void test_nan(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < KINDS; i++)
        for (int axis = 0; axis < 4; axis++) {
            op_case c = {.opset = i < REDUCTIONS ? 11 : 13, .nans = 40, .no_half = true};
            if (i == 4)
                c.tolerance = 1e-3;
            const char *form = i < REDUCTIONS ? "axes=%d," : "axis=%d";
            case_text attribute = {""};
            text_add(&attribute, form, axis);
            check(c, "%s x[3,5,7,4] -> y %s", reductions[i], attribute.text);
            c.infinities = 60;
            if (i == 2 || i == 3 || i == 0)
                check(c, "%s x[3,5,7,4] -> y %s", reductions[i], attribute.text);
        }
    expect_no_failed_case();
}

static void test_functions(void **state) {
    (void)state;
    need_gpu();
    for (int axis = 0; axis < 4; axis++) {
        check(OPSET(13), "LogSoftmax x[2,5,7,9] -> y axis=%d", axis);
        check(OPSET(11), "LogSoftmax x[2,5,7,9] -> y axis=%d", axis);
        check((op_case){.opset = 13, .no_half = true}, "Hardmax x[2,5,7,9] -> y axis=%d", axis);
        check((op_case){.opset = 11, .no_half = true}, "Hardmax x[2,5,7,9] -> y axis=%d", axis);
        check(OPSET(22), "LpNormalization x[2,5,7,9] -> y axis=%d p=1", axis);
        check(OPSET(22), "LpNormalization x[2,5,7,9] -> y axis=%d", axis);
        check((op_case){.opset = 13, .range = 3},
              "MeanVarianceNormalization x[2,5,7,9] -> y axes=%d,", axis);
    }
    const op_case cases[] = {
        CASE(13, "LogSoftmax x[2,3,5,7,2] -> y axis=2"),
        CASE(13, "LogSoftmax x[40,3] -> y"),
        CASE(13, "MeanVarianceNormalization x[2,5,7,9] -> y", .range = 3),
        CASE(21, "GroupNormalization x[2,6,7,9] s{6} b{6} -> y num_groups=3"),
        CASE(21, "GroupNormalization x[2,6] s{6} b{6} -> y num_groups=2"),
        CASE(18, "GroupNormalization x[2,6,7] s{2} b{2} -> y num_groups=2"),
        CASE(21, "GroupNormalization x[1,10,3,5,2] s{10} b{10} -> g num_groups=5; Relu g -> y"),
        CASE(23, "RMSNormalization x[2,6,7,9] s{9} -> y"),
        CASE(23, "RMSNormalization x[2,6,7,9] s{6,7,9} -> y axis=1"),
        CASE(13, "LRN x[2,6,7,9] -> y size=3 alpha=0.5"),
        CASE(13, "LRN x[2,6,7] -> y size=4 alpha=0.5 beta=0.5 bias=2.0"),
        CASE(13, "NegativeLogLikelihoodLoss x[3,5] t(1,4,0) w{5} -> y", .weights_mean = 2),
        CASE(13, "NegativeLogLikelihoodLoss x[3,5] t(1,4,0) -> y reduction=none ignore_index=4"),
        CASE(13, "SoftmaxCrossEntropyLoss x[3,5] t(1,4,0) -> y l ignore_index=-1"),
        CASE(13,
             "Unsqueeze t(1,4,0) a(1) -> u; SoftmaxCrossEntropyLoss x[3,5,1] u -> y reduction=sum"),
        CASE(13, "Cast c[] -> t to=7; Adam r<0.1 t x[3,5] g[3,5] v[3,5] h{3,5} -> y", .mean = 3,
             .weights_mean = 2),
        CASE(13, "Cast c[] -> t to=7; Adagrad r<0.1 t x[3,5] g[3,5] h{3,5} -> y decay_factor=0.5",
             .mean = 3, .weights_mean = 2),
        CASE(15, "CastLike x[3,5] t(1) -> y", .range = 9, .no_half = true),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),    cmocka_unit_test(test_long),
        cmocka_unit_test(test_types),     cmocka_unit_test(test_nan),
        cmocka_unit_test(test_functions),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
