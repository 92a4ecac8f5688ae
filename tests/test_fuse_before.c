/* Cheap operators of one value become what their readers apply before they read: which do, which
 * stay, and that results stay the same. */
#include "support/main.h"
#include "support/pass_graphs.h"

#include "cpu/cpu.h"
#include "passes/passes.h"

#include <float.h>

static pair fuse(void) {
    pair p = apply(tsr_pass_fuse_before, "y");
    expect_same_results(p.before, p.after, 1e-6);
    return p;
}

/* gone: how many nodes the pass removed. */
static void finish(pair p, int gone) {
    assert_int_equal(p.before->node_count - p.after->node_count, gone);
    free_pair(p);
}

static void expect_before(const tsr_graph *graph, const char *value, tsr_op op, const char *input) {
    const tsr_node *node = producer_of(graph, value);
    assert_non_null(node->before);
    assert_int_equal(node->before->op, op);
    assert_int_equal(node->inputs[0], tsr_graph_find_value(graph, input));
}

/* x has other readers, so that nothing is a post-op of what makes it. */
static void begin_shared(void) {
    begin(SHAPE(1, 4, 5, 6));
    constant("w", SHAPE(3, 4, 3, 3), -0.5f, 0.01f);
    constant("v", SHAPE(4, 3, 2, 2), -0.3f, 0.02f);
    node("Abs", "x", "a");
    add_output(writer, "a", TSR_DTYPE_F32);
}

static void test_windows_apply(void **state) {
    (void)state;
    begin_shared();
    constant("low", SCALAR, -0.5f, 0);
    onnx_set_float(writer, node("LeakyRelu", "a", "b"), "alpha", 0.25f);
    onnx_set_ints(writer, node("Conv", "b,w", "c"), "pads", 4, INTS(1, 1, 1, 1));
    node("Clip", "a,low", "d");
    onnx_set_ints(writer, node("Conv", "d,w", "e"), "pads", 4, INTS(1, 1, 1, 1));
    node("ConvTranspose", "d,v", "f");
    node("ReduceMax", "f", "g");
    node("Add", "c,e", "h");
    node("Add", "h,g", "y");
    pair p = fuse();
    expect_before(p.after, "c", TSR_OP_LeakyRelu, "a");
    expect_before(p.after, "e", TSR_OP_Clip, "a");
    expect_before(p.after, "f", TSR_OP_Clip, "a");
    assert_true(producer_of(p.after, "c")->before->param[0] == 0.25f);
    assert_true(producer_of(p.after, "f")->before->param[0] == -0.5f);
    assert_true(producer_of(p.after, "f")->before->param[1] == FLT_MAX);
    finish(p, 2);
}

/* A Conv of the operator's result, and what else is made of that or of its input. */
static void expect_stays(const char *op, const char *attribute, float value, const char *inputs) {
    begin_shared();
    constant("low", SCALAR, 0.5f, 0);
    Tsr__NodeProto *unary = node(op, inputs, "b");
    if (attribute)
        onnx_set_float(writer, unary, attribute, value);
    node("Conv", "b,w", "y");
    pair p = fuse();
    assert_null(producer_of(p.after, "y")->before);
    finish(p, 0);
}

/* f(0) is not 0, |f(x)| exceeds |x|, or it is not cheap. */
static void test_others_stay(void **state) {
    (void)state;
    expect_stays("Clip", NULL, 0, "a,low");
    expect_stays("LeakyRelu", "alpha", 1.5f, "a");
    expect_stays("LeakyRelu", "alpha", -2, "a");
    expect_stays("Sigmoid", NULL, 0, "a");
    expect_stays("Tanh", NULL, 0, "a");
}

static void test_needed_results_stay(void **state) {
    (void)state;
    begin_shared();
    node("Neg", "a", "b");
    node("Conv", "b,w", "c");
    node("ReduceMax", "b", "d");
    node("Add", "c,d", "y");
    finish(fuse(), 0);
    begin_shared();
    node("Neg", "a", "b");
    add_output(writer, "b", TSR_DTYPE_F32);
    node("Conv", "b,w", "y");
    finish(fuse(), 0);
    begin_shared(); /* as weights, too */
    onnx_set_ints(writer, node("MaxPool", "a", "p"), "kernel_shape", 2, INTS(2, 3));
    node("Neg", "p", "b");
    node("Conv", "b,b", "y");
    finish(fuse(), 0);
}

/* What the node before can do as a post-op stays one. */
static void test_posts_stay(void **state) {
    (void)state;
    begin(SHAPE(1, 4, 5, 6));
    constant("w", SHAPE(4, 4, 3, 3), -0.5f, 0.01f);
    node("Conv", "x,w", "a");
    node("Relu", "a", "b");
    node("Conv", "b,w", "y");
    finish(fuse(), 0);
}

/* A Concat whose operands others read or no node computes is not in place with a post-op. */
static void expect_concat(const char *operands, int axis, int64_t channels, int gone) {
    begin(SHAPE(1, 4, 5, 6));
    constant("w", SHAPE(3, channels, 3, 3), -0.5f, 0.01f);
    node("Abs", "x", "a");
    node("Exp", "x", "b");
    onnx_set_int(writer, node("Concat", operands, "c"), "axis", axis);
    node("Relu", "c", "d");
    node("Conv", "d,w", "e");
    node("ReduceMax", "a", "f");
    node("Add", "e,f", "y");
    finish(fuse(), gone);
}

static void test_concats(void **state) {
    (void)state;
    expect_concat("a,b", 1, 8, 1);
    expect_concat("b,x", 1, 8, 1);
    expect_concat("b,b", 0, 4, 1);
    expect_concat("b,a", 2, 4, 0); /* copied anyway */
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_apply),
        cmocka_unit_test(test_others_stay),
        cmocka_unit_test(test_needed_results_stay),
        cmocka_unit_test(test_posts_stay),
        cmocka_unit_test(test_concats),
    };
    return cmocka_run_group_tests_name("fuse_before", tests, NULL, NULL);
}
