/* Integers and booleans on a GPU backend, held against cpu: every operator that computes them,
 * values at the edges of their types, 16-bit storage, and what is refused. Results are compared
 * exactly. */
#include "support/case_text.h"
#include "support/main.h"
#include "support/op_cases.h"
#include "support/random.h"

#include <string.h>

static const char *const all_types[] = {"int8",   "uint8", "int16",  "uint16", "int32",
                                        "uint32", "int64", "uint64", "bool"};
enum { TYPES = sizeof all_types / sizeof *all_types, NUMBERS = TYPES - 1, BYTES = 2 };

static const char *draw_shape(random_source *r) {
    int dims[4], rank = random_int(r, 0, 4);
    for (int i = 0; i < rank; i++)
        dims[i] = random_int(r, 1, 9);
    return text_list(dims, rank);
}

static void test_bytes_wrap(void **state) {
    (void)state;
    static const char *const ops[] = {"Add", "Sub", "Mul"};
    need_gpu();
    for (int i = 0; i < 24; i++) {
        random_source r = random_from((uint32_t)i);
        const char *type = all_types[i % BYTES], *shape = draw_shape(&r);
        check(OPSET(14), "%s a:%s[%s] b:%s[%s] -> y", ops[i % 3], type, shape, type, shape);
        check(OPSET(14), "%s a:%s[2,5,3,7] b:%s[5,1,7] -> y", ops[i % 3], type, type);
    }
    /* a constant of the type, and a chain that no post-op computes */
    check(OPSET(14), "Cast k(-128,-1,0,127,100) -> c to=3; Mul a:int8[2,5] c -> m; Sub m a -> y");
    check(OPSET(14), "Cast k(255,1,0,127,100) -> c to=2; Add a:uint8[2,5] c -> m; Sub c m -> y");
    expect_no_failed_case();
}

/* By every byte that is not zero, of every byte. */
static void test_bytes_divide(void **state) {
    (void)state;
    need_gpu();
    for (int b = -128; b < 128; b++)
        if (b)
            check(OPSET(14), "Cast k(%d) -> c to=3; Div a:int8[300] c -> y", b);
    for (int b = 1; b < 256; b++)
        check(OPSET(14), "Cast k(%d) -> c to=2; Div a:uint8[300] c -> y", b);
    expect_no_failed_case();
}

static void test_bits(void **state) {
    (void)state;
    static const char *const ops[] = {"BitwiseAnd", "BitwiseOr", "BitwiseXor"};
    need_gpu();
    for (int i = 0; i < 3 * BYTES; i++)
        check(OPSET(18), "%s a:%s[2,5,3,7] b:%s[5,3,1] -> y", ops[i / BYTES], all_types[i % BYTES],
              all_types[i % BYTES]);
    for (int i = 0; i < BYTES; i++) {
        check(OPSET(18), "BitwiseNot a:%s[2,5,3,7] -> y", all_types[i]);
        check(OPSET(16), "PRelu a:%s[2,5,3,7] b:%s[5,1,1] -> y", all_types[i], all_types[i]);
    }
    for (int b = 0; b < 256; b += b < 9 ? 1 : 41) {
        check(OPSET(14), "Cast k(%d) -> c to=2; BitShift a:uint8[300] c -> y direction=LEFT", b);
        check(OPSET(14), "Cast k(%d) -> c to=2; BitShift a:uint8[300] c -> y direction=RIGHT", b);
    }
    expect_no_failed_case();
}

/* By bytes of either sign, of every byte. */
static void test_bytes_remainders(void **state) {
    (void)state;
    need_gpu();
    for (int b = -128; b < 128; b += 5)
        for (int fmod = 0; b && fmod < 2; fmod++)
            check(OPSET(14), "Cast k(%d) -> c to=3; Mod a:int8[300] c -> y fmod=%d", b, fmod);
    for (int b = 1; b < 256; b += 7)
        check(OPSET(14), "Cast k(%d) -> c to=2; Mod a:uint8[300] c -> y", b);
    expect_no_failed_case();
}

static void test_choices(void **state) {
    (void)state;
    static const char *const comparisons[] = {"Equal", "Less", "LessOrEqual", "Greater",
                                              "GreaterOrEqual"};
    need_gpu();
    for (int i = 0; i < TYPES; i++) {
        const char *type = all_types[i];
        check(OPSET(19), "Where c:bool[5,1,7] a:%s[2,5,3,7] b:%s[3,1] -> y", type, type);
        for (int k = 0; k < (i < NUMBERS ? 5 : 1); k++)
            check(OPSET(19), "%s a:%s[2,5,3,7] b:%s[3,1] -> y", comparisons[k], type, type);
        if (i < NUMBERS) {
            check(OPSET(13), "Max a:%s[2,5,3,7] b:%s[3,1] -> y", type, type);
            check(OPSET(13), "Min a:%s[2,5,3,7] b:%s[3,1] a -> y", type, type);
        }
    }
    expect_no_failed_case();
}

static void test_elements(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < NUMBERS; i++) {
        const char *type = all_types[i];
        check(OPSET(14), "%s x:%s[2,5,3,7] -> y", *type == 'u' ? "Abs" : "Neg", type);
        check(OPSET(14), "%s x:%s[2,5,3,7] -> y", *type == 'u' ? "Sign" : "Relu", type);
        check(OPSET(14), "Clip x:%s[2,5,3,7] -> y", type);
    }
    check(OPSET(14), "Clip x:int64[2,5,3,7] k(-70000) -> y");
    for (int i = 0; i < 12; i++) {
        random_source r = random_from((uint32_t)i);
        check(OPSET(13), "Not x:bool[%s] -> y", draw_shape(&r));
    }
    check(OPSET(13), "Not x:bool[2,5,3,7] -> a; Not a -> b; Transpose b -> y");
    expect_no_failed_case();
}

static void test_casts(void **state) {
    (void)state;
    static const int to[] = {1, 2, 3, 4, 5, 6, 7, 9}; /* of ONNX */
    need_gpu();
    for (size_t t = 0; t < sizeof to / sizeof *to; t++) {
        check((op_case){.opset = 13, .range = 300, .no_half = true}, "Cast x[2,5,3,7] -> y to=%d",
              to[t]);
        for (int i = 0; i < TYPES; i++) {
            const op_case c = {.opset = 13, .no_half = to[t] == 1}; /* 16 bits overflow */
            check(c, "Cast x:%s[2,5,3,7] -> y to=%d", all_types[i], to[t]);
        }
    }
    check(OPSET(13), "Cast x:bool[2,5] -> f to=1; Relu f -> g; Cast g -> h to=9; Not h -> y");
    check(OPSET(13), "Cast x:uint16[2,5,3,7] -> y to=12");
    check(OPSET(13), "Cast x:bool[2,5,3,7] -> y to=13");
    check((op_case){.opset = 13, .nans = 3}, "Cast x[2,5,3,7] -> y to=3");
    expect_no_failed_case();
}

static void test_movement(void **state) {
    (void)state;
    static const char *const nodes[] = {
        "Transpose x:%s[2,5,3,7] -> y perm=3,1,0,2",
        "Slice x:%s[2,5,3,7] s(1,6) e(9,-9) a(1,3) p(2,-2) -> y",
        "Pad x:%s[2,5,3,7] p(0,1,2,0,0,1,0,3) -> y",
        "Concat x:%s[2,5,3,7] x x x x -> y axis=2",
        "Concat x:%s[1,8,3,7] x -> y axis=1",
        "Split x:%s[2,5,3,7] s(2,3) -> y z axis=1",
        "Gather x:%s[2,5,3,7] i(2,-1,0) -> y axis=1",
        "Reshape x:%s[2,5,3,7] s(7,30) -> y",
        "SpaceToDepth x:%s[2,5,4,6] -> y blocksize=2",
        "DepthToSpace x:%s[2,20,4,6] -> y blocksize=2",
        "Flatten x:%s[2,5,3,7] -> y",
        "Squeeze x:%s[2,1,3,7] -> y",
        "Identity x:%s[2,3] -> y",
    };
    need_gpu();
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        for (int t = 0; t < TYPES; t++) {
            case_text text = {""};
            text_add(&text, nodes[i], all_types[t]);
            check(OPSET(13), "%s", text.text);
        }
    check(OPSET(13), "Pad x:int64[2,5] p(0,1,2,0) k(1) -> y");
    expect_no_failed_case();
}

static void expect_refusal(const char *text, const char *reason) {
    run_case(&(backend_case){
        .opset = 14, .text = text, .refusal = TSR_ERROR_UNSUPPORTED, .reason = reason});
    expect_no_failed_case();
}

/* Sums that may pass 2^24, and constants that do. */
static void test_refusals(void **state) {
    (void)state;
    need_gpu();
    assert_false(is_replay());
    expect_refusal("Add a:int32[3] b:int32[3] -> y", "'a' is int32");
    expect_refusal("Concat x:int64[1] k(16777217) -> y axis=0", "16777217");
    expect_refusal("Cast a:int32[3] -> y to=12", "negative numbers would pass 2^24");
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_wrap), cmocka_unit_test(test_bytes_divide),
        cmocka_unit_test(test_bits),       cmocka_unit_test(test_bytes_remainders),
        cmocka_unit_test(test_choices),    cmocka_unit_test(test_elements),
        cmocka_unit_test(test_casts),      cmocka_unit_test(test_movement),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
