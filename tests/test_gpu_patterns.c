/* What exporters write for one operator, of random shapes: a GPU recognises it, the cpu backend
 * computes its parts. */
#include "support/case_text.h"
#include "support/main.h"
#include "support/op_cases.h"
#include "support/random.h"

#include <stdio.h>

enum { CASES = 24 };

/* By tanh; an array of texts has no literals of several parts. */
#define TANH_GELU                                                                                  \
    "Pow %s p<3 -> c; Mul c q<0.044715 -> d; Add x d -> s; Mul s r<0.79788458 -> m; "              \
    "Tanh m -> t; Add t k<1 -> a; Mul %s h<0.5 -> b; Mul b a -> y"

static void test_activations(void **state) {
    (void)state;
    need_gpu();
    static const char *const texts[] = {
        "Sigmoid %s -> s; Mul %s s -> y",
        "Mul %s k<1.702 -> a; Sigmoid a -> s; Mul s %s -> y",
        "Add %s k<3 -> a; Clip a l<0 h<6 -> c; Div c d<6 -> e; Mul %s e -> y",
        "Div %s r<1.41421354 -> d; Erf d -> e; Add e k<1 -> a; Mul %s a -> b; Mul b h<0.5 -> y",
        TANH_GELU,
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

/* Queries, keys and values of one linear layer, selected or split. */
static void add_parts(case_text *text, const char *batch_length, int heads, int size, bool split) {
    if (!split) {
        text_add(text,
                 "Cast k0<0 -> i0 to=7; Cast k1<1 -> i1 to=7; Cast k2<2 -> i2 to=7; "
                 "Reshape all r(%s,3,%d,%d) -> five; Transpose five -> t perm=2,0,3,1,4; "
                 "Gather t i0 -> q; Gather t i1 -> k; Gather t i2 -> v; "
                 "Transpose k -> kt perm=0,1,3,2; ",
                 batch_length, heads, size);
        return;
    }
    text_add(text,
             "Split all -> a1 a2 a3 axis=2; Reshape a1 r(%s,%d,%d) -> ar; Reshape a2 r -> br; "
             "Reshape a3 r -> cr; Transpose ar -> q perm=0,2,1,3; Transpose br -> kt perm=0,2,3,1; "
             "Transpose cr -> v perm=0,2,1,3; ",
             batch_length, heads, size);
}

/* A mask that is broadcast: a number of each score, or a condition with a number in place of it. */
static void add_mask(case_text *text, random_source *r, int batch, int heads, int length) {
    const int whole[] = {batch, heads, length, length};
    int shape[4], lead = random_int(r, 0, 3);
    for (int i = lead; i < 4; i++)
        shape[i - lead] = random_one_in(r, 2) ? 1 : whole[i];
    const char *dims = text_list(shape, 4 - lead);
    if (random_one_in(r, 3))
        text_add(text, "Add scores mask[%s] -> m; ", dims);
    else if (random_one_in(r, 2)) /* a row of nothing but -infinity is NaN */
        text_add(text, "Where mask:bool[%s] f<%s> scores -> m; ", dims,
                 random_one_in(r, 2) ? "-inf" : "-6e4");
    else
        text_add(text, "Where mask:bool[%s] scores f<-inf -> m; ", dims);
}

static void test_attention(void **state) {
    (void)state;
    need_gpu();
    random_source r = random_from((uint32_t)next_case());
    for (int i = 0; i < some_cases(2 * CASES); i++) {
        int batch = i % 3 ? 1 : random_int(&r, 2, 3), length = random_int(&r, 1, 7),
            heads = random_int(&r, 1, 9), size = random_int(&r, 1, 5), width = random_int(&r, 1, 9);
        bool masked = random_one_in(&r, 2);
        case_text text = {""};
        text_add(&text, "MatMul x[%d,%d,%d] w{%d,%d} -> p; Add p b{%d} -> all; ", batch, length,
                 width, width, 3 * heads * size, 3 * heads * size);
        add_parts(&text, text_list((int[]){batch, length}, 2), heads, size, i % 2);
        text_add(&text, "%sMatMul %s kt -> scores; ", i % 4 < 2 ? "Mul q n<0.4 -> qs; " : "",
                 i % 4 < 2 ? "qs" : "q");
        if (masked)
            add_mask(&text, &r, batch, heads, length);
        text_add(&text,
                 "Softmax %s -> s; MatMul s v -> o; Transpose o -> ot perm=0,2,1,3; "
                 "Reshape ot j(%d,%d,%d) -> y",
                 masked ? "m" : "scores", batch, length, heads * size);
        check((op_case){.opset = 18, .nans = i % 5 ? 0 : 11}, "%s", text.text);
    }
    expect_no_failed_case();
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_layer_norms),
        cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_attention),
    };
    return cmocka_run_group_tests_name("patterns", tests, NULL, close_backends);
}
