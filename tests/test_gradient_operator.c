/* ONNX's operator Gradient: what is refused, and what tests/ops/Gradient.json cannot say. */
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"

#include "cpu/cpu.h"
#include "passes/passes.h"

#include <stdio.h>
#include <string.h>

enum { OPSET = 18 };

/* ---- results ---- */

/* Of the same outputs. */
static void expect_same(const char *text, const char *expected) {
    tsr_graph *graph = prepare_graph(onnx_case(OPSET, text)),
              *other = prepare_graph(onnx_case(OPSET, expected));
    expect_same_results(graph, other, 1e-6);
    tsr_graph_destroy(graph);
    tsr_graph_destroy(other);
}

static void test_results(void **state) {
    (void)state;
    /* one tensor for two, each by itself: 2 a b and a^2 at a = b = p; one result is not wanted */
    expect_same(
        "Neg p{3} -> a; Abs p -> b; Mul a a -> d; Mul d b -> c; ReduceSum c -> l keepdims=0; "
        "Gradient p p -> _ y xs=a|b| y=l",
        "Mul p{3} p -> y");
    /* the result itself, of which nothing is computed */
    expect_same("Neg p{1} -> a; Gradient a -> y xs=a| y=a", "Div p{1} p -> y");
    /* the nodes that compute y come later */
    expect_same(
        "Neg p{3} -> a; Gradient a -> y xs=a| y=l; Exp a -> e; ReduceSum e -> l! keepdims=0",
        "Neg p{3} -> a; Exp a -> y; Exp a -> e; ReduceSum e -> l! keepdims=0");
}

/* ---- refusals ---- */

static void refuse(const char *text, tsr_status status, const char *words) {
    tsr_graph *graph = read_graph(onnx_case(OPSET, text));
    tsr_late_nodes late;
    assert_int_equal(tsr_prepare(graph, tsr_cpu_eval, &late), status);
    if (!strstr(tsr_last_error(), words))
        fail_msg("'%s' instead of '%s'", tsr_last_error(), words);
    tsr_graph_destroy(graph);
}

static void test_refusals(void **state) {
    (void)state;
    const tsr_status invalid = TSR_ERROR_INVALID_MODEL, bad = TSR_ERROR_INVALID_ARGUMENT,
                     unsupported = TSR_ERROR_UNSUPPORTED;
    refuse("Neg a[] -> l; Gradient a -> y xs=q| y=l", invalid,
           "node 'Gradient1' (Gradient): its attribute \"xs\" names 'q', which is no tensor");
    refuse("Neg a[] -> l; Gradient a a -> y xs=a| zs=r| y=l", invalid, "\"zs\" names 'r'");
    refuse("Neg a[] -> l; Gradient a -> y xs=a| y=z", invalid, "\"y\" names 'z'");
    refuse("Neg a[] -> l; Gradient a a -> y xs=a| y=l", invalid,
           "2 inputs and 1 outputs for 1 names in \"xs\" and 0 in \"zs\"");
    refuse("Neg a[] -> l; Gradient a -> y z xs=a| y=l", invalid, "1 inputs and 2 outputs");
    refuse("Neg a[] -> l; Neg b[] -> c; Gradient b -> y xs=b| y=l", bad,
           "no differentiable path leads from");
    refuse("Neg a[2] -> l; Gradient a -> y xs=a| y=l", bad, "is no float of one element");
    refuse("Mul a[] a -> l; Gradient a a -> y xs=a|a| y=l", invalid, "name 'a' twice");
    refuse("Mul a[] a -> l; Gradient a a -> y xs=a| zs=a| y=l", invalid, "name 'a' twice");
    refuse("Neg a:int32[] -> l; Gradient a -> y xs=a| y=l", bad, "is no float");
    refuse("Unique a[3] -> u; ReduceSum u -> l keepdims=0; Gradient a -> y xs=a| y=l", unsupported,
           "Unique");
    refuse("Gradient a[] -> y xs=a| y=z; Gradient a -> z xs=a| y=y", unsupported,
           "it is of gradients of more than 7 gradients of others");
}

/* Derivatives of derivatives, of which a file may not have many. */
static void test_order(void **state) {
    (void)state;
    char text[1024] = "Sin a[] -> y0";
    for (int i = 0; i < 9; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "; Gradient a -> y%d xs=a| y=y%d", i + 1, i);
        if (i == 3)
            expect_same(text, "Sin a[] -> y4");
    }
    refuse(text, TSR_ERROR_UNSUPPORTED, "more than 7 gradients of others");
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests_name("operator Gradient", tests, NULL, NULL);
}
