/* What exporters write for one operator, of random shapes: a GPU recognises it, the cpu backend
 * computes its parts. */
#include "support/case_text.h"
#include "support/main.h"
#include "support/op_cases.h"
#include "support/random.h"

#include <stdio.h>

enum { CASES = 24 };

static void test_activations(void **state) {
    (void)state;
    need_gpu();
    static const char *const texts[] = {
        "Sigmoid %s -> s; Mul %s s -> y",
        "Mul %s k<1.702 -> a; Sigmoid a -> s; Mul s %s -> y",
        "Add %s k<3 -> a; Clip a l<0 h<6 -> c; Div c d<6 -> e; Mul %s e -> y",
        "Div %s r<1.41421354 -> d; Erf d -> e; Add e k<1 -> a; Mul %s a -> b; Mul b h<0.5 -> y",
        "Pow %s p<3 -> c; Mul c q<0.044715 -> d; Add x d -> s; Mul s r<0.79788458 -> m; "
        "Tanh m -> t; Add t k<1 -> a; Mul %s h<0.5 -> b; Mul b a -> y",
    };
    static const char *const shapes[] = {"2,3,5,7", "1,6,1,1", "3,9,33", "5,13", "17"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            char x[64];
            snprintf(x, sizeof x, "x[%s]", shapes[k]);
            op_case c = {.opset = 18, .range = 6, .nans = k == 1 ? 0 : 7};
            check(c, texts[i], x, "x");
        }
    check(OPSET(18), "Conv x[2,3,6,5] w{6,3,3,3} b{6} -> c; Sigmoid c -> s; Mul c s -> m; "
                     "Add m x2[2,6,4,3] -> y");
    expect_no_failed_case();
}

static void test_layer_norms(void **state) {
    (void)state;
    need_gpu();
    random_source r = random_from((uint32_t)next_case());
    for (int i = 0; i < some_cases(CASES); i++) {
        int n = random_int(&r, 1, 3), t = random_int(&r, 1, 19), c = random_int(&r, 2, 41);
        const char *square = i % 2 ? "Mul c c -> s" : "Pow c p<2 -> s";
        check((op_case){.opset = 18, .range = 2, .mean = i % 3 ? 0 : 5},
              "ReduceMean x[%d,%d,%d] n(-1) -> m; Sub x m -> c; %s; ReduceMean s n -> v; "
              "Add v e<1e-5 -> a; Sqrt a -> d; Div c d -> q; Mul q g{%d} -> h; Add h b{%d} -> y",
              n, t, c, square, c, c);
        check((op_case){.opset = 18, .range = 2},
              "ReduceMean x[%d,%d,%d] n(-2,-1) -> m; Sub x m -> c; %s; ReduceMean s n -> v; "
              "Add v e<1e-3 -> a; Sqrt a -> d; Div c d -> y",
              n, t, c, square);
    }
    expect_no_failed_case();
}

static void test_shuffles(void **state) {
    (void)state;
    need_gpu();
    random_source r = random_from((uint32_t)next_case());
    for (int i = 0; i < some_cases(CASES); i++) {
        int n = random_int(&r, 1, 3), b = random_int(&r, 2, 3), c = random_int(&r, 1, 5),
            h = random_int(&r, 1, 7), w = random_int(&r, 1, 9), g = random_int(&r, 2, 5);
        check(OPSET(13),
              "Reshape x[%d,%d,%d,%d] s(%d,%d,%d,%d,%d,%d) -> a; Transpose a -> t "
              "perm=0,1,4,2,5,3; Reshape t o(%d,%d,%d,%d) -> y",
              n, c * b * b, h, w, n, c, b, b, h, w, n, c, h * b, w * b);
        check(OPSET(13),
              "Reshape x[%d,%d,%d,%d] s(%d,%d,%d,%d,%d,%d) -> a; Transpose a -> t "
              "perm=0,3,5,1,2,4; Reshape t o(%d,%d,%d,%d) -> y",
              n, c, h * b, w * b, n, c, h, b, w, b, n, c * b * b, h, w);
        check(OPSET(13),
              "Reshape x[%d,%d,%d,%d] s(%d,%d,%d,%d,%d) -> a; Transpose a -> t perm=0,2,1,3,4; "
              "Reshape t o(%d,%d,%d,%d) -> y",
              n, g * c, h, w, n, g, c, h, w, n, g * c, h, w);
        check(OPSET(13),
              "Cast k<%d -> i to=7; Reshape x[%d,%d,%d,%d] s(%d,%d,%d) -> a; "
              "Transpose a -> t perm=1,0,2; Reshape t o(%d,%d,%d,%d,%d) -> u; Gather u i -> y",
              i % g, n, g * c, h, w, n * c, g, h * w, g, n, c, h, w);
    }
    expect_no_failed_case();
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_layer_norms),
        cmocka_unit_test(test_shuffles),
    };
    return cmocka_run_group_tests_name("patterns", tests, NULL, close_backends);
}
