/* Functions that a model defines, held against graphs without them. */
#include "support/graphs.h"
#include "support/main.h"
#include "support/model_function.h"
#include "support/onnx_case.h"
#include "support/refused.h"

#include "cpu/cpu.h"
#include "passes/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_same(onnx_writer *writer, const char *plain) {
    tsr_graph *graph = prepare_graph(writer), *other = prepare_graph(onnx_case(13, plain));
    expect_same_results(graph, other, 1e-6);
    tsr_graph_destroy(graph);
    tsr_graph_destroy(other);
}

static void calls(void **state) {
    (void)state;
    /* Names of a function are its own; functions call functions. */
    onnx_writer *writer =
        onnx_case(13, "Relu a[2,3] -> x; local:Twice x -> t; local:Half t x -> y");
    add_function(writer, 13, "Twice", "x", "y", "Add x x -> t; Identity t -> y", NULL);
    add_function(writer, 13, "Half", "t,x", "z",
                 "local:Twice x -> y; Constant -> k value_float=0.25; Mul y k -> q; Sub t q -> z",
                 NULL);
    expect_same(writer, "Relu a[2,3] -> x; Mul x k<1.5 -> y");
    /* Two outputs, of which one is absent in a call; a formal input as an output. */
    writer =
        onnx_case(13, "Relu a[2,3] -> x; local:Both x -> _ s; local:Both s -> y z; Add y z -> w");
    add_function(writer, 13, "Both", "x", "x,n", "Neg x -> n", NULL);
    expect_same(writer, "Relu a[2,3] -> x; Mul x k<0 -> w");
    /* An input that is absent in the call. */
    writer = onnx_case(13, "Relu a[2,3] -> x; local:Limit x _ k<0.25 -> y");
    add_function(writer, 13, "Limit", "x,lo,hi", "y", "Clip x lo hi -> y", NULL);
    expect_same(writer, "Relu a[2,3] -> x; Clip x _ k<0.25 -> y");
    writer = onnx_case(13, "Relu a[2,3] -> x; local:Limit x -> y");
    add_function(writer, 13, "Limit", "x,lo,hi", "y", "Clip x lo hi -> y", NULL);
    expect_same(writer, "Relu a[2,3] -> y");
    /* The function's opset. */
    writer = onnx_case(13, "Relu a[2,3] -> x; local:Limit x -> y");
    add_function(writer, 6, "Limit", "x", "y", "Clip x -> y max=0.25", NULL);
    expect_same(writer, "Relu a[2,3] -> x; Clip x _ k<0.25 -> y");
    /* In a body, and with one. */
    writer =
        onnx_case(13, "Relu a[2,3] -> x; Loop n(3) _ x -> y body=@1 @ Identity i:int64[] -> j; "
                      "Identity c:bool[] -> g!; local:Next s[2,3] c -> t");
    add_function(writer, 13, "Next", "x,c", "y",
                 "If c -> y then_branch=@1 else_branch=@2 @ Add x x -> y @ Neg x -> y", NULL);
    expect_same(writer, "Relu a[2,3] -> x; Mul x k<8 -> y");
}

static void attributes(void **state) {
    (void)state;
    /* Of the call, the function's default, the operator's default. */
    for (int i = 0; i < 3; i++) {
        static const char *const calls[] = {"Relu a[2,3] -> x; local:Leak x -> y alpha=0.5",
                                            "Neg a[2,3] -> x; local:Leak x -> y",
                                            "Neg a[2,3] -> x; local:Leak x -> y"};
        static const char *const plain[] = {"Relu a[2,3] -> x; LeakyRelu x -> y alpha=0.5",
                                            "Neg a[2,3] -> x; LeakyRelu x -> y alpha=0.25",
                                            "Neg a[2,3] -> x; LeakyRelu x -> y"};
        Tsr__AttributeProto usual = TSR__ATTRIBUTE_PROTO__INIT;
        usual.name = "alpha";
        usual.has_f = true;
        usual.f = 0.25f;
        onnx_writer *writer = onnx_case(16, calls[i]);
        add_function(writer, 16, "Leak", "x", "y", "LeakyRelu x -> y alpha=call",
                     i == 1 ? &usual : NULL);
        expect_same(writer, plain[i]);
    }
    /* Handed on by a function; in a Constant; a list. */
    onnx_writer *writer = onnx_case(13, "Relu a[2,3] -> x; local:Outer x -> y value_float=3.0");
    add_function(writer, 13, "Outer", "x", "y", "local:Inner x -> y value_float=call", NULL);
    add_function(writer, 13, "Inner", "x", "y", "Constant -> c value_float=call; Mul x c -> y",
                 NULL);
    expect_same(writer, "Relu a[2,3] -> x; Mul x k<3 -> y");
    writer = onnx_case(13, "Relu a[2,3] -> x; local:Turn x -> y perm=1,0");
    add_function(writer, 13, "Turn", "x", "y", "Transpose x -> y perm=call", NULL);
    expect_same(writer, "Relu a[2,3] -> x; Transpose x -> y perm=1,0");
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *model, *function, *message;
        tsr_status status;
    } cases[] = {
        {"local:F a[2] b[2] c[2] -> y", "Add x z -> y",
         "3 inputs and 1 outputs; the function has 2", TSR_ERROR_INVALID_MODEL},
        {"local:F a[2] b[2] -> y w", "Add x z -> y", "2 outputs", TSR_ERROR_INVALID_MODEL},
        {"local:F a[2] b[2] -> y", "Add x lost -> y", "\"lost\" is no input",
         TSR_ERROR_INVALID_MODEL},
        {"local:F a[2] b[2] -> y", "Add x a -> y", "\"a\" is no input", TSR_ERROR_INVALID_MODEL},
        {"local:F a[2] b[2] -> y", "Add x z -> w", "nothing produces the function's output \"y\"",
         TSR_ERROR_INVALID_MODEL},
        {"local:F a[2] b[2] -> y", "Add x z -> x", "its output \"x\" exists already",
         TSR_ERROR_INVALID_MODEL},
        {"local:F a[2] b[2] -> y", "Frobnicate x z -> y", "not supported: operator Frobnicate (1 node",
         TSR_ERROR_UNSUPPORTED},
        {"local:G a[2] b[2] -> y", "Add x z -> y", "not supported: operator local.G (1 node",
         TSR_ERROR_UNSUPPORTED},
        {"local:F a[2] b[2] -> y", "local:F x z -> y", "nested more than 16 deep",
         TSR_ERROR_UNSUPPORTED},
        {"local:F a[2] b[2] -> y", "Constant -> c value_float=call; Add x c -> y",
         "a call has no attribute \"value_float\"", TSR_ERROR_INVALID_MODEL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onnx_writer *writer = onnx_case(13, cases[i].model);
        add_function(writer, 13, "F", "x,z", "y", cases[i].function, NULL);
        expect_refused(writer, cases[i].status, cases[i].message);
    }
    /* Found when it is computed. */
    onnx_writer *writer = onnx_case(13, "local:F a[2] -> y");
    add_function(writer, 13, "F", "x,z", "y", "Add x z -> y", NULL);
    tsr_graph *graph = read_graph(writer);
    assert_int_equal(tsr_prepare(graph, tsr_cpu_eval, NULL), TSR_ERROR_INVALID_MODEL);
    assert_non_null(strstr(tsr_last_error(), "input 1 of node 'Add0' (Add) is absent"));
    tsr_graph_destroy(graph);
}

/* Formal inputs that bodies read, and that the call lacks. */
static void absent_in_bodies(void **state) {
    (void)state;
    static const struct {
        const char *model, *function;
    } cases[] = {
        {"Relu a[3,2] -> s; local:F s -> y",
         "Scan x z -> s y body=@1 num_scan_inputs=1 @ Add p[2] q[2] -> t!; Relu t -> u"},
        {"Relu a[2] -> s; local:F c:bool[] -> y",
         "If x -> y then_branch=@1 else_branch=@2 @ Relu z -> t @ Constant -> v value_float=1.0; "
         "Relu v -> u"},
        {"Relu a[2] -> s; local:F s -> y", "Max x z -> y"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onnx_writer *writer = onnx_case(13, cases[i].model);
        add_function(writer, 13, "F", "x,z", "y", cases[i].function, NULL);
        tsr_graph *graph = read_graph(writer);
        assert_int_equal(tsr_prepare(graph, tsr_cpu_eval, NULL), TSR_ERROR_INVALID_MODEL);
        assert_non_null(strstr(tsr_last_error(), "is absent"));
        tsr_graph_destroy(graph);
    }
}

/* 16 functions, each of which calls the next 16 times: 16^16 nodes. */
static void explosion(void **state) {
    (void)state;
    onnx_writer *writer = onnx_case(13, "local:F0 a[2] -> y");
    for (int i = 0; i < 15; i++) {
        char name[8], text[1024] = "";
        snprintf(name, sizeof name, "F%d", i);
        for (int k = 0; k < 16; k++)
            sprintf(text + strlen(text), "%slocal:F%d x%d -> x%d", k ? "; " : "", i + 1, k, k + 1);
        add_function(writer, 13, strcpy(onnx_alloc(writer, 8, 1), name), "x0", "x16", text, NULL);
    }
    add_function(writer, 13, "F15", "x", "y", "Relu x -> y", NULL);
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "more than 64 MiB of nodes and tensors in all");
}

/* What a model contains is what its functions do. */
static void operators(void **state) {
    (void)state;
    onnx_writer *writer = onnx_case(13, "local:F a[2] -> b; local:F b -> y");
    add_function(writer, 13, "F", "x", "y", "Neg x -> n; Relu n -> y", NULL);
    size_t size;
    uint8_t *bytes = onnx_write_memory(writer, &size);
    onnx_writer_destroy(writer);
    tsr_model *model;
    assert_int_equal(tsr_model_load_memory(bytes, size, NULL, &model), TSR_OK);
    const char *op;
    int count;
    assert_true(tsr_model_op(model, 0, &op, &count));
    assert_string_equal(op, "Relu");
    assert_int_equal(count, 2);
    assert_true(tsr_model_op(model, 1, &op, &count));
    assert_string_equal(op, "Neg");
    assert_int_equal(count, 2);
    assert_false(tsr_model_op(model, 2, &op, &count));
    tsr_model_free(model);
    free(bytes);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls),
        cmocka_unit_test(attributes),
        cmocka_unit_test(refusals),
        cmocka_unit_test(explosion),
        cmocka_unit_test(absent_in_bodies),
        cmocka_unit_test(operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
