/* Passes of the optimizer on graphs in one line each: which nodes are left, in their order, and
 * that results stay the same. Further ones are in test_passes.c. */
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"

#include "passes/passes.h"

#include <string.h>

typedef struct pass_case {
    const char *text;  /* of onnx_case() */
    const char *after; /* "Conv+Relu Neg" */
} pass_case;

/* Each node is after what it reads, and values know their producers. */
static void expect_order(const tsr_graph *graph) {
    for (int n = 0; n < graph->node_count; n++) {
        const tsr_node *node = &graph->nodes[n];
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] != TSR_NONE)
                assert_true(graph->values[node->inputs[i]].producer < n);
        for (int i = 0; i < node->output_count; i++)
            if (node->outputs[i] != TSR_NONE)
                assert_int_equal(graph->values[node->outputs[i]].producer, n);
    }
}

static void check_pass(tsr_optimizer_pass pass, const pass_case *c) {
    char nodes[1024];
    tsr_graph *before = prepare_graph(onnx_case(15, c->text));
    tsr_graph *after = tsr_graph_clone(before);
    assert_non_null(after);
    if (tsr_optimizer_passes[pass].run(after) != TSR_OK)
        fail_msg("%s: %s", c->text, tsr_last_error());
    list_nodes(after, nodes, sizeof nodes);
    if (strcmp(nodes, c->after) != 0)
        fail_msg("%s\nbecame %s\ninstead of %s", c->text, nodes, c->after);
    expect_order(after);
    expect_same_results(before, after, 1e-5);
    tsr_graph_destroy(after);
    tsr_graph_destroy(before);
}

static void check_passes(tsr_optimizer_pass pass, const pass_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        check_pass(pass, &cases[i]);
}
#define CHECK(name, cases)                                                                         \
    check_passes(TSR_OPTIMIZER_##name, cases, sizeof(cases) / sizeof *(cases))

/* ---- decompositions ---- */

/* Sums of integers that may pass 2^24, and become floats. */
static void test_split_sums(void **state) {
    (void)state;
    static const pass_case cases[] = {
        {"MatMulInteger x:uint8[2,258] w:uint8[258,3] -> y; Cast y -> f to=1",
         "Cast Cast MatMul Cast"},
        {"MatMulInteger x:uint8[2,259] w:uint8[259,3] -> y; Cast y -> g! to=10; "
         "Cast y -> f to=1",
         "Cast Cast Slice Slice MatMul Cast Slice Slice MatMul Cast Add Cast Cast"},
        {"MatMulInteger x:uint8[2,259] w:int8[259,3] -> y; Cast y -> f to=1",
         "Cast Cast MatMul Cast"},
        /* integers are read, too */
        {"MatMulInteger x:uint8[2,259] w:uint8[259,3] -> y!; Cast y -> f to=1",
         "Cast Cast MatMul Cast"},
        {"MatMulInteger x:uint8[2,259] w:uint8[259,3] -> y; Cast y -> f to=1; Cast y -> i to=7; "
         "Cast i -> h to=1; Sub f h -> z",
         "Cast Cast MatMul Cast Cast Cast Sub"},
    };
    CHECK(decompose, cases);
}

/* ---- common subexpressions ---- */

static void test_cse(void **state) {
    (void)state;
    static const pass_case cases[] = {
        {"Softmax x[2,5] -> a; Softmax x -> b; Softmax b -> c; Concat a c -> y axis=1",
         "Softmax Softmax Concat"},
        /* chains, whose constants are two with the same elements */
        {"Exp x[2,5] -> a; Mul a k<2,3,4,5,6> -> b; Softmax b -> c; Exp x -> d; "
         "Mul d l<2,3,4,5,6> -> e; Softmax e -> f; Concat c f -> y axis=0",
         "Exp Mul Softmax Concat"},
        {"MaxPool x[1,2,6,6] -> a kernel_shape=2,2; MaxPool x -> b kernel_shape=2,2; Sub a b -> y",
         "MaxPool Sub"},
        {"Split x[2,6] -> a b axis=1; Split x -> c d axis=1; Concat a d b c -> y axis=1",
         "Split Concat"},
        /* the Conv can apply the function that is left */
        {"Conv x[1,2,5,5] w{3,2,3,3} -> c; Relu c -> a; Relu c -> b; Softmax a -> d; "
         "GlobalAveragePool b -> e; Mul d e -> y",
         "Conv Relu Softmax GlobalAveragePool Mul"},
        {"Softmax x[2,5] -> a!; Softmax x -> b; Neg b -> y", "Softmax Neg"},
    };
    CHECK(cse, cases);
}

static void test_cse_keeps(void **state) {
    (void)state;
    static const pass_case cases[] = {
        {"Softmax x[5,5] -> a axis=0; Softmax x -> b axis=1; Sub a b -> y", "Softmax Softmax Sub"},
        {"Softmax x[2,5] -> c; Elu c -> a alpha=0.5; Elu c -> b alpha=0.25; Concat a b -> y axis=0",
         "Softmax Elu Elu Concat"},
        {"Softmax x[2,5] -> a; Mul a k<2,3,4,5,6> -> b; Mul a l<2,3,4,5,7> -> c; "
         "Concat b c -> y axis=0",
         "Softmax Mul Mul Concat"},
        {"Reshape x[2,6] s(3,4) -> a; Reshape x t(4,3) -> b; MatMul a b -> y",
         "Reshape Reshape MatMul"},
        {"Sub x[2,5] z[2,5] -> a; Sub z x -> b; Concat a b -> y axis=0", "Sub Sub Concat"},
        /* an output of the graph has to be written */
        {"Softmax x[2,5] -> a!; Softmax x -> y", "Softmax Softmax"},
        /* each takes the function after it as a post-op */
        {"Exp x[2,5] -> a; Exp x -> b; Neg a -> c; Sin b -> d; Concat c d -> y axis=0",
         "Exp Exp Neg Sin Concat"},
    };
    CHECK(cse, cases);
}

/* Of equal weights that are two constants of the model, the caller may replace one. */
static void test_cse_keeps_replaceable_weights(void **state) {
    (void)state;
    for (int same = 0; same < 2; same++) {
        tsr_graph *graph = prepare_graph(
            onnx_case(15, "MatMul x[3,2] u<1,2> -> a; MatMul x v<1,2> -> b; Sub a b -> y"));
        for (int v = 0; v < graph->value_count; v++)
            graph->values[v].model_constant = graph->values[v].data ? (same ? 1 : v + 1) : 0;
        assert_int_equal(tsr_pass_cse(graph), TSR_OK);
        assert_int_equal(graph->node_count, same ? 2 : 3);
        tsr_graph_destroy(graph);
    }
}

/* ---- Transposes ---- */

static void test_transposes(void **state) {
    (void)state;
    static const pass_case cases[] = {
        {"Transpose x[2,3,4,5] -> a perm=0,2,3,1; Transpose a -> y perm=0,3,1,2", "Identity"},
        {"Transpose x[2,3,4,5] -> a perm=0,2,3,1; Transpose a -> y perm=3,0,1,2", "Transpose"},
        {"Transpose x[2,3,2,3,2] -> a; Transpose a -> b perm=1,0,2,3,4; Transpose b -> y "
         "perm=4,3,2,0,1",
         "Identity"},
        {"Transpose x[2,1,4,5] -> a perm=0,2,1,3; Relu a -> y", "Reshape Relu"},
        /* what exporters from NHWC leave between two */
        {"Transpose x[2,3,4,5] -> a perm=0,2,3,1; Mul a k<2,3,4> -> b; Relu b -> c; "
         "Transpose c -> y perm=0,3,1,2",
         "Mul Relu Identity"},
        {"Transpose x[2,3] -> a; Clip a _ k<0.5 -> b; Transpose b -> y", "Clip Identity"},
        {"Transpose x[2,3] -> a; Greater a k<0.1 -> b; Transpose b -> c; Cast c -> y to=1",
         "Greater Identity Cast"},
        {"Transpose x[2,3] -> a; Transpose z[2,3] -> b; Add a b -> y", "Add Transpose"},
        {"Transpose x[2,3] -> a; Transpose z[2,3] -> b; Add a b -> c; Elu c -> d alpha=0.5; "
         "Transpose d -> y",
         "Add Elu Identity"},
        /* one that others read, too, is left to these */
        {"Transpose x[2,3] -> a; Transpose a -> b; Add b k<3 -> y!; Softmax a -> z",
         "Transpose Identity Add Softmax"},
    };
    CHECK(transposes, cases);
}

static void test_transposes_keep(void **state) {
    (void)state;
    static const pass_case cases[] = {
        {"Transpose x[2,3,4] -> a perm=0,2,1; Relu a -> b; Softmax b -> y",
         "Transpose Relu Softmax"},
        {"Transpose x[2,3] -> a!; Relu a -> b; Transpose b -> y", "Transpose Relu Transpose"},
        {"Transpose x[3,3] -> a; Add a z[3,3] -> b; Transpose b -> y", "Transpose Add Transpose"},
        {"Transpose x[2,2,2] -> a perm=0,2,1; Transpose z[2,2,2] -> b perm=1,0,2; Add a b -> y",
         "Transpose Transpose Add"},
        {"Transpose x[2,3,4] -> a perm=0,2,1; Mul a w{4,3} -> b; Transpose b -> y perm=0,2,1",
         "Transpose Mul Transpose"},
        {"Transpose x[1,2,3] -> a perm=0,2,1; Add a z[4,3,2] -> b; Transpose b -> y perm=0,2,1",
         "Transpose Add Transpose"},
        {"Transpose x[2,3,4] -> a perm=1,2,0; Transpose a -> b perm=1,2,0; Neg b -> y!; "
         "Softmax a -> z",
         "Transpose Transpose Neg Softmax"},
        /* read twice: the functions stay behind it; what they are added to need not */
        {"Transpose x[2,3,4] -> a perm=0,2,1; Relu a -> b; Neg a -> c; Transpose b -> d "
         "perm=0,2,1; "
         "Transpose c -> e perm=0,2,1; Add d e -> y",
         "Transpose Relu Neg Add Transpose"},
    };
    CHECK(transposes, cases);
}

/* ---- functions before views ---- */

static void test_before_views(void **state) {
    (void)state;
    static const pass_case cases[] = {
        {"Conv x[1,2,4,4] w{3,2,1,1} -> a; Reshape a s(3,16) -> b; Relu b -> y",
         "Conv Relu Reshape"},
        {"Conv x[1,2,4,4] w{3,2,1,1} -> a; Flatten a -> b; Relu b -> c; Mul c k<2 -> d; Clip d _ "
         "k -> e; PRelu e k -> y",
         "Conv Relu Mul Clip PRelu Flatten"},
        {"Softmax x[2,1,3] -> a; Squeeze a s(1) -> b; Sub b k<2 -> y", "Softmax Sub Squeeze"},
    };
    CHECK(before_views, cases);
}

static void test_before_views_keeps(void **state) {
    (void)state;
    static const pass_case cases[] = {
        {"Reshape x[2,6] s(3,4) -> a; Relu a -> y", "Reshape Relu"}, /* no pass before */
        {"Softmax x[2,6] -> a; Reshape a s(3,4) -> b!; Relu b -> y", "Softmax Reshape Relu"},
        {"Softmax x[2,6] -> a!; Reshape a s(3,4) -> b; Relu b -> y", "Softmax Reshape Relu"},
        {"Softmax x[2,6] -> a; Reshape a s(3,4) -> b; Mul b k<1,2,3,4> -> y",
         "Softmax Reshape Mul"},
        {"Softmax x[2,6] -> a; Reshape a s(3,4) -> b; Mul b z[3,4] -> y", "Softmax Reshape Mul"},
        {"Softmax x[2,6] -> a; Reshape a s(12) -> b; Mul b w{1,1} -> y", "Softmax Reshape Mul"},
        {"Softmax x[2,6] -> a; Reshape a s(2,1,6) -> b; Mul b w{1,1,1} -> y",
         "Softmax Reshape Mul"},
        {"Softmax x[2,6] -> a; Cast a -> b to=7; Neg b -> c; Cast c -> y to=1",
         "Softmax Cast Neg Cast"},
        {"Split x[2,6] -> a b axis=1; Reshape a s(6) -> c; Relu c -> y!; Neg b -> z",
         "Split Reshape Relu Neg"},
    };
    CHECK(before_views, cases);
}

/* ---- Pad into windows ---- */

static void test_pad_into_window(void **state) {
    (void)state;
    static const pass_case cases[] = {
        {"Pad x[1,2,5,5] p(0,0,1,2,0,0,3,0) -> a; Conv a w{3,2,3,3} -> y", "Conv"},
        {"Pad x[1,2,5,5] p(0,0,1,2,0,0,3,0) k<0.0 -> a; Conv a w{3,2,3,3} -> y pads=1,0,2,1 "
         "strides=2,1 dilations=1,2",
         "Conv"},
        {"Pad x[2,2,7] p(0,0,1,0,0,2) -> a; Conv a w{3,2,3} -> y auto_pad=VALID", "Conv"},
        {"Pad x[1,2,3,4,3] p(0,0,0,1,2,0,0,1,0,1) -> a; Conv a w{3,2,2,3,3} -> y", "Conv"},
        {"Pad x[1,2,5,5] p(0,0,1,1,0,0,0,1) -> a; AveragePool a -> y kernel_shape=2,3",
         "AveragePool"},
        {"Pad x[1,2,5,5] p(0,0,1,1,0,0,0,1) -> a; AveragePool a -> y kernel_shape=3,4 "
         "pads=1,1,1,1 count_include_pad=1",
         "AveragePool"},
        {"Pad x[1,2,5,5] p(0,0,1,1,0,0,0,1) k<-inf -> a; MaxPool a -> y kernel_shape=2,3",
         "MaxPool"},
        {"Relu x[1,2,5,5] -> r; Pad r p(0,0,1,1,0,0,0,1) -> a; MaxPool a -> y kernel_shape=3,3 "
         "pads=1,1,1,1 strides=2,2",
         "Relu MaxPool"},
        {"Clip x[1,2,5,5] k<0.0 l<6.0 -> r; Pad r p(0,0,1,1,0,0,0,1) -> a; "
         "MaxPool a -> y kernel_shape=3,3",
         "Clip MaxPool"},
    };
    CHECK(pad_into_window, cases);
}

static void test_pad_into_window_keeps(void **state) {
    (void)state;
    static const char *const conv[] = {
        "Pad x[1,2,5,5] p(0,0,1,1,0,0,1,1) k<1 -> a; Conv a w{3,2,3,3} -> y",
        "Pad x[1,2,5,5] p(0,0,1,1,0,0,1,1) -> a mode=edge; Conv a w{3,2,3,3} -> y",
        "Pad x[1,2,5,5] p(0,0,1,-1,0,0,1,1) -> a; Conv a w{3,2,3,3} -> y",
        "Pad x[1,1,5,5] p(0,1,1,1,0,0,1,1) -> a; Conv a w{3,2,3,3} -> y",
        "Pad x[1,2,5,5] p(1,0,1,1,0,0,1,1) -> a; Conv a w{3,2,3,3} -> y",
        "Pad x[1,2,5,5] p(0,0,1,1,0,0,1,1) -> a; Conv a w{3,2,3,3} -> y auto_pad=SAME_UPPER",
    };
    static const pass_case others[] = {
        {"Pad x[1,2,5,5] p(0,0,1,1,0,0,1,1) -> a!; Conv a w{3,2,3,3} -> y", "Pad Conv"},
        {"Pad x[1,2,5,5] p(0,0,1,1,0,0,1,1) -> a; ConvTranspose a w{2,3,3,3} -> y",
         "Pad ConvTranspose"},
        {"Pad x[1,2,5,5] p(0,0,1,1,0,0,1,1) -> a; AveragePool a -> y kernel_shape=3,3 pads=1,1,1,1",
         "Pad AveragePool"},
        {"Pad x[1,2,5,5] p(0,0,1,1,0,0,1,1) -> a; AveragePool a -> y kernel_shape=3,3 ceil_mode=1 "
         "strides=3,3",
         "Pad AveragePool"},
        {"Pad x[1,2,5,5] p(0,0,2,1,0,0,1,1) -> a; AveragePool a -> y kernel_shape=2,2",
         "Pad AveragePool"},
        /* elements below zero would be the largest ones */
        {"Pad x[1,2,5,5] p(0,0,1,1,0,0,1,1) -> a; MaxPool a -> y kernel_shape=3,3", "Pad MaxPool"},
        {"Clip x[1,2,5,5] k<-1 l<6 -> r; Pad r p(0,0,1,1,0,0,1,1) -> a; MaxPool a -> y "
         "kernel_shape=3,3",
         "Clip Pad MaxPool"},
        {"Clip x[1,2,5,5] k<0.5 l<-1 -> r; Pad r p(0,0,1,1,0,0,1,1) -> a; MaxPool a -> y "
         "kernel_shape=3,3",
         "Clip Pad MaxPool"},
        {"Relu x[1,2,5,5] -> r; Pad r p(0,0,1,1,0,0,1,1) k<1 -> a; MaxPool a -> y "
         "kernel_shape=3,3",
         "Relu Pad MaxPool"},
        {"Relu x[1,2,5,5] -> r; Pad r p(0,0,1,1,0,0,1,1) -> a; MaxPool a -> y kernel_shape=2,2 "
         "dilations=2,2",
         "Relu Pad MaxPool"},
        {"Relu x[1,2,5,5] -> r; Pad r p(0,0,1,1,0,0,1,1) -> a; MaxPool a -> y kernel_shape=3,3 "
         "strides=3,3 ceil_mode=1",
         "Relu Pad MaxPool"},
        {"Relu x[1,2,5,5] -> r; Pad r p(0,0,1,1,0,0,1,1) -> a; MaxPool a -> y i kernel_shape=3,3; "
         "Cast i -> j to=1",
         "Relu Pad MaxPool Cast"},
        {"Relu x[1,2,5,5] -> r; Pad r p(0,0,3,1,0,0,1,1) -> a; MaxPool a -> y kernel_shape=3,3",
         "Relu Pad MaxPool"},
    };
    for (size_t i = 0; i < sizeof conv / sizeof *conv; i++)
        check_pass(TSR_OPTIMIZER_pad_into_window, &(pass_case){conv[i], "Pad Conv"});
    CHECK(pad_into_window, others);
}

/* ---- BatchNormalization into the next convolution ---- */

#define NORM "BatchNormalization x[2,4,5,6] s{4} b{4} m{4} v{4} -> a"

static void test_fold_batch_norm_next(void **state) {
    (void)state;
    static const pass_case cases[] = {
        {NORM "; Conv a w{3,4,3,3} -> y", "Conv"},
        {NORM "; Conv a w{6,2,1,3} c{6} -> y group=2 strides=2,1", "Conv"},
        {NORM "; Conv a w{8,1,3,3} -> y group=4 auto_pad=VALID", "Conv"},
        {"BatchNormalization x[2,3,7] s{3} b{3} m{3} v{3} -> a; Conv a w{5,3,2} c{5} -> y", "Conv"},
        /* without a shift pads do no harm */
        {"BatchNormalization x[2,3,7] s{3} b<0.0,0.0,0.0> m<0.0,0.0,0.0> v{3} -> a; Conv a "
         "w{5,3,3} -> y pads=1,2",
         "Conv"},
    };
    CHECK(fold_batch_norm_next, cases);
}

static void test_fold_batch_norm_next_keeps(void **state) {
    (void)state;
    static const pass_case cases[] = {
        {NORM "; Conv a w{3,4,3,3} -> y pads=0,0,0,1", "BatchNormalization Conv"},
        {NORM "; Conv a w{3,4,3,3} -> y auto_pad=SAME_UPPER", "BatchNormalization Conv"},
        {NORM "; ConvTranspose a w{4,3,3,3} -> y", "BatchNormalization ConvTranspose"},
        {NORM "; Conv a w{3,4,3,3} -> y!; Softmax a -> z", "BatchNormalization Conv Softmax"},
        {NORM "; Relu a -> c; Conv c w{3,4,3,3} -> y", "BatchNormalization Relu Conv"},
    };
    CHECK(fold_batch_norm_next, cases);
}

static float set_element(void *user, const char *name, size_t i) {
    (void)i;
    return strchr(user, name[0]) ? 1e25f : 0.5f;
}

/* Scaled, the weights would be infinite. */
static void test_fold_batch_norm_next_keeps_large_ones(void **state) {
    (void)state;
    static const char *const large[] = {"s", "sw"};
    for (int i = 0; i < 2; i++) {
        tsr_graph *graph = prepare_graph(
            onnx_case_filled(15, NORM "; Conv a w{3,4,3,3} -> y", set_element, (void *)large[i]));
        assert_int_equal(tsr_pass_fold_batch_norm_next(graph), TSR_OK);
        assert_int_equal(graph->node_count, 1 + i);
        tsr_graph_destroy(graph);
    }
}

/* ---- no-op movement ---- */

static void test_bypass(void **state) {
    (void)state;
    static const pass_case cases[] = {
        {"Softmax x[2,3] -> a; Expand a s(2,1) -> b; Neg b -> y", "Softmax Neg"},
        {"Softmax x[1,3] -> a; Expand a s(2,1) -> b; Neg b -> y", "Softmax Expand Neg"},
    };
    CHECK(bypass, cases);
}

/* ---- which passes run ---- */

static void expect_passes(const char *list, bool bypass, bool fuses) {
    tsr_optimizer optimizer;
    assert_int_equal(tsr_optimizer_make(list, &optimizer), TSR_OK);
    assert_int_equal(optimizer.on[TSR_OPTIMIZER_bypass], bypass);
    assert_int_equal(optimizer.on[TSR_OPTIMIZER_fuse_posts], fuses);
    assert_true(optimizer.on[TSR_OPTIMIZER_decompose]);
}

static void expect_refused(const char *list, const char *message) {
    tsr_optimizer optimizer;
    assert_int_equal(tsr_optimizer_make(list, &optimizer), TSR_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(tsr_last_error(), message));
}

static void test_passes_are_chosen_by_name(void **state) {
    (void)state;
    expect_passes(NULL, true, true);
    expect_passes("all", true, true);
    expect_passes("none", false, false);
    expect_passes("bypass", true, false);
    expect_passes("decompose,fuse_posts,bypass", true, true);
    expect_passes("-bypass", false, true);
    expect_passes("-bypass,-fuse_posts", false, false);
    expect_refused("bypas", "there is no optimizer pass 'bypas'");
    expect_refused("", "bypass, ");
    expect_refused("bypass,", "''");
    expect_refused("-bypass,-", "''");
    expect_refused("-", "''");
    expect_refused("--bypass", "'-bypass'");
    expect_refused("bypass,-fuse_posts", "either each name has a '-', or none");
    expect_refused("-bypass,fuse_posts", "either each name has a '-', or none");
    expect_refused("-decompose", "'decompose' cannot be left out");
}

static void test_passes_are_counted(void **state) {
    (void)state;
    tsr_graph *graph = prepare_graph(onnx_case(15, "Relu x[4] -> a; Identity a -> b; Neg b -> y"));
    tsr_optimizer optimizer;
    assert_int_equal(tsr_optimizer_make("-fuse_posts", &optimizer), TSR_OK);
    assert_int_equal(tsr_optimize(graph, &optimizer), TSR_OK);
    assert_int_equal(optimizer.nodes_before[TSR_OPTIMIZER_bypass], 3);
    assert_int_equal(optimizer.nodes_after[TSR_OPTIMIZER_bypass], 2);
    assert_int_equal(graph->node_count, 2);
    tsr_graph_destroy(graph);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_sums),
        cmocka_unit_test(test_cse),
        cmocka_unit_test(test_cse_keeps),
        cmocka_unit_test(test_cse_keeps_replaceable_weights),
        cmocka_unit_test(test_transposes),
        cmocka_unit_test(test_transposes_keep),
        cmocka_unit_test(test_before_views),
        cmocka_unit_test(test_before_views_keeps),
        cmocka_unit_test(test_pad_into_window),
        cmocka_unit_test(test_pad_into_window_keeps),
        cmocka_unit_test(test_fold_batch_norm_next),
        cmocka_unit_test(test_fold_batch_norm_next_keeps),
        cmocka_unit_test(test_fold_batch_norm_next_keeps_large_ones),
        cmocka_unit_test(test_bypass),
        cmocka_unit_test(test_passes_are_chosen_by_name),
        cmocka_unit_test(test_passes_are_counted),
    };
    return cmocka_run_group_tests_name("optimizer", tests, NULL, NULL);
}
