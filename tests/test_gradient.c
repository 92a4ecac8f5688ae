/* The gradient pass: each rule against differences, for random nodes; kinks and ties; what is
 * refused. */
#include "support/counted_memory.h"
#include "support/draw_gradients.h"
#include "support/graph_maker.h"
#include "support/main.h"
#include "support/onnx_case.h"

#include "cpu/cpu.h"
#include "passes/gradient.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPSET = 22 };

/* ---- the table ---- */

static void test_table(void **state) {
    static const bool is_function[TSR_OP_COUNT] = {
#define TSR_FUNCTION(Name, ...) [TSR_OP_##Name] = true,
#include "graph/ops.def"
    };
    (void)state;
    for (int op = 0; op < TSR_OP_COUNT; op++) {
        if ((tsr_gradient_kind_of((tsr_op)op) == TSR_GRADIENT_UNDECIDED) != is_function[op])
            fail_msg("%s: %s", tsr_op_get_info((tsr_op)op)->name,
                     is_function[op] ? "it is replaced before gradients are made"
                                     : "src/passes/gradients.def has no line for it");
        if (tsr_gradient_kind_of((tsr_op)op) == TSR_GRADIENT_RULE && !can_make_node((tsr_op)op))
            fail_msg("%s: its rule is not tested: tests/support/graph_maker.c has no maker",
                     tsr_op_get_info((tsr_op)op)->name);
    }
}

/* ---- random nodes ---- */

typedef struct op_result {
    int drawn, refused;
    gradient_check check;
    char message[1024];
} op_result;

static void check_draw(tsr_op op, uint32_t seed, op_result *result) {
    case_text text;
    gradient_graph g = {0};
    if (!draw_gradients(&g, op, true, seed, &text)) {
        if (g.prepared) {
            result->refused++;
            if (!strstr(tsr_last_error(), "cannot be differentiated"))
                fail_msg("%s: %s", text.text, tsr_last_error());
            snprintf(result->message, sizeof result->message, "%.400s: %.500s", text.text,
                     tsr_last_error());
        }
        if (g.graph)
            free_gradients(&g);
        return;
    }
    check_gradient_graph(&g);
    if (g.count > 0) {
        result->drawn++;
        fill_gradient_inputs(&g, gradient_range_of(op), seed);
        check_gradients(&g, all_cases() ? 40 : 5, seed, &result->check);
    }
    if (*result->check.failure)
        fail_msg("%s: %s", text.text, result->check.failure);
    free_gradients(&g);
}

static void check_op(tsr_op op, int count) {
    enum { SEEDS = 256 }; /* of a draw: more than there are operators */
    const char *name = tsr_op_get_info(op)->name;
    /* the root of a variance of one element has no slope */
    op_result result = {.check.has_poles = op == TSR_OP_MeanVarianceNormalization};
    for (int i = 0; i < 10 * count && result.drawn < count; i++)
        check_draw(op, (uint32_t)(i * SEEDS + (int)op), &result);
    if (all_cases())
        print_message("%s: %d nodes, %d slopes compared, %d left out, %d nodes refused\n", name,
                      result.drawn, result.check.checked, result.check.skipped, result.refused);
    if (tsr_gradient_kind_of(op) == TSR_GRADIENT_REFUSED && result.drawn)
        fail_msg("%s is refused, but not here", name);
    if (tsr_gradient_kind_of(op) == TSR_GRADIENT_UNDECIDED && result.refused)
        fail_msg("%s: refused %d times: %s", name, result.refused, result.message);
    /* of few nodes chance decides how many are beside a kink */
    int least = few_cases() ? 0 : result.check.skipped;
    if (tsr_gradient_kind_of(op) == TSR_GRADIENT_RULE && result.check.checked <= least)
        fail_msg("%s: %d differences were compared, %d left out; refused %d times: %s", name,
                 result.check.checked, result.check.skipped, result.refused, result.message);
}

static void test_random_nodes(void **state) {
    (void)state;
    for (int op = 0; op < TSR_OP_COUNT; op++)
        if (can_make_node((tsr_op)op))
            check_op((tsr_op)op, count_gradient_cases());
}

/* ---- nodes and networks ---- */

static void check_case(int opset, const char *text, uint32_t seed) {
    gradient_graph g;
    gradient_check check = {0};
    if (read_gradients(&g, opset, text, seed) != TSR_OK)
        fail_msg("%s: %s", text, tsr_last_error());
    if (g.count == 0)
        fail_msg("%s: no gradient", text);
    check_gradient_graph(&g);
    fill_gradient_inputs(&g, (gradient_range){-1, 1}, seed);
    check_gradients(&g, few_cases() ? 20 : 100, seed, &check);
    if (*check.failure)
        fail_msg("%s: %s", text, check.failure);
    if (check.checked <= 2 * check.skipped)
        fail_msg("%s: %d compared, %d left out", text, check.checked, check.skipped);
    free_gradients(&g);
}

static const char *const cases[] = {
    /* pixels at the end that no window covers; pads that auto_pad gives */
    "Conv x[1,2,10] w[3,2,1] wb[3] -> y strides=4,",
    "Conv x[2,4,9,7] w[6,2,3,2] wb[6] -> y group=2 strides=2,3 pads=1,0,2,1 dilations=2,1",
    "Conv x[1,3,8,7] w[3,1,3,3] -> y group=3 auto_pad=SAME_UPPER strides=2,3",
    "Conv x[1,3,8,7] w[4,3,4,2] -> y auto_pad=SAME_LOWER strides=3,2",
    "Conv x[1,2,10,4] w[4,2,2,1] -> y auto_pad=VALID strides=3,5",
    "Conv x[1,2,3,4,5] w[4,1,2,3,2] -> y group=2 pads=1,0,1,0,2,1 strides=2,1,3",
    /* longer by less than a stride, by more than the padding, by what is cut there */
    "ConvTranspose x[1,4,3,5] w[4,2,3,3] wb[4] -> y group=2 strides=2,3 pads=1,1,0,2 "
    "output_padding=1,2",
    "ConvTranspose x[1,2,4] w[2,3,2] -> y output_shape=9,",
    "ConvTranspose x[1,2,4] w[2,3,2] -> y output_shape=6,",
    "ConvTranspose x[1,2,4] w[2,3,3] -> y strides=2, dilations=3, output_padding=2, pads=0,1",
    "ConvTranspose x[1,2,4] w[2,3,3] -> y strides=2, dilations=3, output_padding=2, pads=0,3",
    "ConvTranspose x[1,2,3,4] w[2,3,3,2] -> y strides=3,2 auto_pad=SAME_UPPER",
    "ConvTranspose x[1,2,3,4] w[2,3,3,2] -> y strides=3,2 output_shape=8,7",
    "AveragePool x[1,2,7,6] -> y kernel_shape=3,2 strides=2,3 pads=1,1,1,0",
    "AveragePool x[1,2,7,6] -> y kernel_shape=3,2 strides=2,3 pads=1,1,1,0 count_include_pad=1",
    "AveragePool x[1,2,8] -> y kernel_shape=3, strides=4, ceil_mode=1 pads=1,1",
    "AveragePool x[1,2,8] -> y kernel_shape=3, strides=4, ceil_mode=1 pads=1,1 "
    "count_include_pad=1",
    "AveragePool x[1,2,5,4,3] -> y kernel_shape=2,3,2 dilations=2,1,2 auto_pad=SAME_LOWER",
    "AveragePool x[1,2,1] -> y kernel_shape=2, dilations=3, pads=2,2", /* of no pixels */
    "MaxPool x[1,2,8,7] -> y kernel_shape=3,2 strides=2,3 auto_pad=SAME_UPPER",
    "MaxPool x[1,2,8] -> y kernel_shape=3, strides=4, ceil_mode=1 dilations=2, pads=1,1",
    "MatMul x[4] w[4] -> y",
    "MatMul x[4] w[2,4,3] -> y",
    "MatMul x[2,3,4] w[4] -> y",
    "MatMul x[2,1,3,4] w[5,4,2] -> y",
    "MatMul x[3,4] w[2,4,3] -> y",
    "Gemm x[4,3] w[5,4] wc[3,1] -> y transA=1 transB=1 alpha=0.5 beta=-2.0",
    "Slice x[7,6] a(-1,0) b(-100,5) c(0,1) d(-3,2) -> y",
    "Slice x[7,6] a(5,1) b(0,5) c(0,1) d(-2000000000,2000000000) -> y",
    "Pad x[5,6] p(2,-1,-1,3) -> y mode=reflect",
    "Pad x[5,6] p(2,-1,-1,3) -> y mode=edge",
    "Pad x[5,6] p(2,-1,-1,3) k<2 -> y",
    "Split x[7,2] -> a b c num_outputs=3; Sin b -> y",
    "Split x[7,2] s(3,2,2) -> a b c; Sin b -> y",
    "Resize x[1,2,5,4] _ s<1,1,1.7,0.6> -> y mode=cubic",
    "Resize x[1,2,9,8] _ s<1,1,0.4,0.6> -> y mode=linear antialias=1",
    "Resize x[1,1,5,4] r<0,0,0.2,-0.1,1,1,0.9,1.3> s<1,1,1.7,2> -> y mode=linear "
    "coordinate_transformation_mode=tf_crop_and_resize",
    "BatchNormalization x[2,3,4] w[3] wb[3] wm[3] pv[3] -> y",
    "BatchNormalization x[2,3,4] w[3] wb[3] wm[3] pv[3] -> y wr ws training_mode=1",
    "Softmax x[2,3,4] -> y axis=0",
    "Gelu x[2,5] -> y approximate=tanh",
    "Cast x:float16[3,4] -> c to=1; Sin c -> y",
    /* several uses of a value, several ways */
    "Mul x[2,3] x -> a; Sin x -> b; Add a b -> c; Mul c x -> y",
    "Exp x[2,3] -> a; ReduceSum a n(1) -> s; Div a s -> b; Concat a b a -> y axis=0",
    "Add x[1,3] z[2,1] -> a; Mul a x -> b; Sum b a z -> y",
    /* second derivatives: the slopes of Relu and LeakyRelu have none */
    "Conv x{1,2,1,1} w[3,2,1,1] -> c; LeakyRelu c -> r alpha=0.25; ReduceSum r -> l keepdims=0; "
    "Gradient w x -> g xs=w| zs=x| y=l; ReduceSumSquare g -> p keepdims=0; Mul w w -> q; "
    "ReduceSum q -> s keepdims=0; Add p s -> y",
    "MatMul x[2,3] w[3,4] -> c; Relu c -> r; Mul r r -> q; ReduceSum q -> l keepdims=0; "
    "Gradient x w -> g xs=x| zs=w| y=l; ReduceSumSquare g -> y keepdims=0",
    /* integers that end ways */
    "Gather x[5,3] i:int64[2,2] -> a axis=0; ArgMax a -> m axis=1; Cast m -> f to=1; "
    "ReduceMean f -> s keepdims=0; Sin a -> b; Add b s -> y",
    "Conv x[2,1,6,6] w[2,1,3,3] wb[2] -> c; BatchNormalization c wg[2] wd[2] m{2} p{2} -> n; "
    "Relu n -> r; MaxPool r -> o kernel_shape=2,2 strides=2,2; Flatten o -> f; "
    "Gemm f w2[8,3] wc[3] -> g; SoftmaxCrossEntropyLoss g t:int64[2] -> y",
};

static void test_cases(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(OPSET, cases[i], (uint32_t)i);
    check_case(11, "Softmax x[2,3,4] -> y axis=1", 1);
    check_case(11, "LogSoftmax x[2,3,4] -> y axis=0", 2);
}

static tsr_status add_gradient(tsr_graph *graph, int loss, int wrt, int *gradient) {
    return tsr_add_gradients(graph, tsr_cpu_eval,
                             &(tsr_gradient_request){.loss = loss, .wrt_count = 1, .wrt = &wrt},
                             gradient);
}

/* ---- kinks, ties, zeros ---- */

/* Of the text's result, a float of one element, with respect to its input x. */
static void compute_gradient(const char *text, const float *x, float *result, int count) {
    tsr_graph *graph = prepare_graph(onnx_case(26, text));
    int input = tsr_graph_find_value(graph, "x"), gradient;
    if (add_gradient(graph, graph->outputs[0], input, &gradient) != TSR_OK)
        fail_msg("%s: %s", text, tsr_last_error());
    assert_int_equal(tsr_shape_count(&graph->values[input].shape), count);
    void **elements = calloc((size_t)graph->value_count, sizeof *elements);
    assert_non_null(elements);
    for (int v = 0; v < graph->value_count; v++) {
        const tsr_value *value = &graph->values[v];
        elements[v] = value->data ? (void *)value->data : calloc(1, tsr_cpu_bytes(value) + 1);
        assert_non_null(elements[v]);
    }
    memcpy(elements[input], x, (size_t)count * sizeof *x);
    for (int n = 0; n < graph->node_count; n++)
        assert_int_equal(tsr_cpu_eval(graph, &graph->nodes[n], elements), TSR_OK);
    memcpy(result, elements[gradient], (size_t)count * sizeof *result);
    free_run(graph, elements);
    tsr_graph_destroy(graph);
}

static void expect_gradient(const char *text, const float *x, const float *expected, int count) {
    enum { MOST = 16 };
    float result[MOST];
    assert_true(count <= MOST);
    compute_gradient(text, x, result, count);
    for (int i = 0; i < count; i++)
        if (!(fabsf(result[i] - expected[i]) <= 1e-6f))
            fail_msg("%s: element %d is %.9g instead of %.9g", text, i, (double)result[i],
                     (double)expected[i]);
}
#define EXPECT(text, x, ...)                                                                       \
    expect_gradient(text "; ReduceSum y -> loss keepdims=0", x, FLOATS(__VA_ARGS__),               \
                    sizeof(FLOATS(__VA_ARGS__)) / sizeof(float))

static void test_kinks(void **state) {
    (void)state;
    EXPECT("Relu x[3] -> y", FLOATS(-1, 0, 2), 0, 0, 1);
    EXPECT("LeakyRelu x[3] -> y alpha=0.25", FLOATS(-1, 0, 2), 0.25f, 0.25f, 1);
    EXPECT("LeakyRelu x[3] -> y alpha=-0.25", FLOATS(-1, 0, 2), -0.25f, -0.25f, 1);
    EXPECT("PRelu x[3] s<0.25 -> y", FLOATS(-1, 0, 2), 0.25f, 0.25f, 1);
    EXPECT("Elu x[2] -> y alpha=2.0", FLOATS(0, 1), 2, 1);
    EXPECT("Abs x[3] -> y", FLOATS(-2, 0, 2), -1, 0, 1);
    EXPECT("Clip x[4] l<-1 h<1 -> y", FLOATS(-2, -1, 1, 2), 0, 1, 1, 0);
    EXPECT("Clip x[2] _ h<1 -> y", FLOATS(-2, 2), 1, 0);
    EXPECT("Clip x[2] -> y", FLOATS(-2, 2), 1, 1);
    /* bounds: below, at the lower one, between; above the other one */
    EXPECT("Clip k<-2,-1,0,1,2> x[] h<1 -> y", FLOATS(-1), 1);
    EXPECT("Clip k<-2,-1,0,1,2> l<-1 x[] -> y", FLOATS(1), 1);
    EXPECT("Clip k<-2,0,2> x[] h<1 -> y", FLOATS(2), 0);
    EXPECT("Clip k<-2,0,2> l<1 x[] -> y", FLOATS(-2), 3);
    EXPECT("Mod x[3] k<2,2,2> -> y fmod=1", FLOATS(3, -3, 2), 1, 1, 1);
    EXPECT("Mod k<7,-7,1> x[3] -> y fmod=1", FLOATS(2, 2, -2), -3, 3, 0);
    EXPECT("Pad k<1,1> p(-1,2) x[] -> y", FLOATS(5), 2);
    EXPECT("HardSigmoid x[3] -> y alpha=0.25", FLOATS(-2, 0, 2), 0, 0.25f, 0);
    EXPECT("HardSwish x[3] -> y", FLOATS(-3, 0, 3), 0, 0.5f, 1);
    EXPECT("ThresholdedRelu x[2] -> y", FLOATS(1, 2), 0, 1);
    EXPECT("Shrink x[3] -> y", FLOATS(-0.5f, 0.5f, 0.6f), 0, 0, 1);
    EXPECT("Max x[3] k<1,1,1> -> y", FLOATS(0, 1, 2), 0, 0.5f, 1);
    EXPECT("Min x[3] k<1 m<1 -> y", FLOATS(0, 1, 2), 1, 1 / 3.0f, 0);
    EXPECT("ReduceMax x[2,2] -> y", FLOATS(2, 1, 2, 0), 0.5f, 0, 0.5f, 0);
    EXPECT("GlobalMaxPool x[1,1,4] -> y", FLOATS(2, 1, 2, 0), 0.5f, 0, 0.5f, 0);
    EXPECT("MaxPool x[1,1,4] -> y kernel_shape=2, strides=2,", FLOATS(3, 3, 1, 2), 1, 0, 0, 1);
    EXPECT("ScatterElements x[3] i(0) u<2> -> y reduction=max", FLOATS(2, 0, 0), 0.5f, 1, 1);
    EXPECT("Floor x[2] -> f; Sub x f -> y", FLOATS(1, 1.5f), 1, 1);
    /* products with no zero, one and two, which are the data's and the updates' */
    EXPECT("ScatterElements k<2,0,3> i(0,0,1,2,2) x[5] -> y reduction=mul", FLOATS(5, 7, 4, 0, 6),
           14, 10, 0, 18, 0);
    EXPECT("ScatterND k<2,5> i(0) x[] -> y reduction=mul", FLOATS(0), 2);
    EXPECT("ScatterElements k<1> i(0,0) x[2] -> y reduction=mul", FLOATS(0, 0), 0, 0);
    /* points of a row of three pixels: half a pixel beside it, between pixels */
#define SAMPLE                                                                                     \
    "Reshape k<1,3,8> s(1,1,3) -> i; Reshape x[4] n(1,4,1) -> q; GridSample i q -> y "             \
    "align_corners=1 "
    EXPECT(SAMPLE "padding_mode=zeros", FLOATS(-1.5f, -0.5f, 0.5f, 1.5f), 1, 2, 5, -8);
    EXPECT(SAMPLE "padding_mode=border", FLOATS(-1.5f, -0.5f, 0.5f, 1.5f), 0, 2, 5, 0);
    EXPECT(SAMPLE "padding_mode=reflection", FLOATS(-1.5f, -0.5f, 0.5f, 1.5f), -2, 2, 5, -5);
    EXPECT(SAMPLE "mode=nearest", FLOATS(-1.5f, -0.5f, 0.5f, 1.5f), 0, 0, 0, 0);
    EXPECT("Cast x[2] -> c to=10; Mul c c -> m; Cast m -> y to=1", FLOATS(1, 2), 2, 4);
}

static void test_zeros(void **state) {
    (void)state;
    EXPECT("ReduceSum x[3] -> y", FLOATS(1, 2, 3), 1, 1, 1);
    EXPECT("ReduceL2 x[2] -> y", FLOATS(0, 0), 0, 0);
    EXPECT("ReduceProd x[3] -> y", FLOATS(2, 0, 3), 0, 6, 0);
    EXPECT("ReduceProd x[2,2,2] n(0,2) -> y", FLOATS(2, 0, 1, 2, 3, 5, 1, 0), 0, 30, 0, 0, 0, 0, 0,
           2);
    EXPECT("CumProd x[4] a(0) -> y", FLOATS(2, 0, 3, 5), 1, 38, 0, 0);
    EXPECT("CumProd x[3] a(0) -> y exclusive=1 reverse=1", FLOATS(2, 0, 3), 0, 3, 1);
    EXPECT("Pow x[2] k<1 -> y", FLOATS(0, 2), 1, 1);
    EXPECT("Pow x[2] k<3 -> y", FLOATS(0, -2), 0, 12);
    EXPECT("Pow x[2] k<2 -> y", FLOATS(0, -2), 0, -4);
    EXPECT("Pow x[2] k<0,2> -> y", FLOATS(0, 3), 0, 6);
    EXPECT("Pow x[2] k<0 -> y", FLOATS(0, 3), 0, 0);
    EXPECT("Pow k<0,0,2> x[3] -> y", FLOATS(2, 0, 1), 0, 0, 1.38629436f);
    EXPECT("Pow x[2] k(3) -> y", FLOATS(1, -2), 3, 12);
    EXPECT("Mul x[2] k<0 -> y", FLOATS(1, 2), 0, 0);
}

/* Losses are what replaces them: the gradient is that of the sum which they stand for. The weights
 * that count are 4 in all. */
static void test_losses(void **state) {
    (void)state;
#define TARGETS "Reshape i(1,0,2,1) s(2,2) -> t; "
#define LOGS "LogSoftmax x[2,3,2] -> a axis=1; "
#define PICKED "OneHot t d(3) o<0,-0.25> -> h axis=1; "
    static const char
        sum[] = TARGETS LOGS PICKED "Mul a h -> m; ReduceSum m -> y keepdims=0",
        weighted[] = TARGETS LOGS PICKED
        "Reshape f<1,0,3> k(3,1) -> w; Mul h w -> v; Mul a v -> m; ReduceSum m -> y keepdims=0";
    static const char *const cases[][2] = {
        {TARGETS "SoftmaxCrossEntropyLoss x[2,3,2] t -> y", sum},
        {TARGETS LOGS "NegativeLogLikelihoodLoss a t -> y", sum},
        {TARGETS "SoftmaxCrossEntropyLoss x[2,3,2] t f<1,2,3> -> y ignore_index=1", weighted},
        {TARGETS LOGS "NegativeLogLikelihoodLoss a t f<1,2,3> -> y ignore_index=1", weighted},
    };
    static const float x[] = {1, -1, 0.5f, 2, -0.25f, 0, 3, 1.5f, -2, 0.75f, 0.125f, 1};
    enum { COUNT = sizeof x / sizeof *x };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float expected[COUNT];
        compute_gradient(cases[i][1], x, expected, COUNT);
        assert_true(fabsf(expected[1]) > 0.01f);
        expect_gradient(cases[i][0], x, expected, COUNT);
    }
}

/* ---- what is made ---- */

typedef struct made {
    const char *text, *wrt;
    const char *nodes; /* operators afterwards */
    const char *name;  /* of the gradient; NULL: any */
} made;

/* Constants are folded, and only what is on a way from wrt to the loss has a gradient. */
static void test_nodes(void **state) {
    (void)state;
    static const made cases[] = {
        {"ReduceSum x[3] -> l keepdims=0", "x", "ReduceSum", "x.gradient"},
        {"Relu x[3] -> r; ReduceSum r -> l keepdims=0", "x", "Relu ReduceSum LeakyReluGrad",
         "x.gradient"},
        {"Relu x[3] -> r; ReduceSum r -> l keepdims=0", "r", "Relu ReduceSum", "r.gradient"},
        {"Identity x[] -> l", "l", "Identity", "l.gradient"},
        {"Sin x[3] -> s; Mul s w[3] -> m; Exp z[3] -> e; Mul m e -> n; ReduceSum n -> l keepdims=0",
         "w", "Sin Mul Exp Mul ReduceSum Mul Mul", "w.gradient"},
        {"Conv x[1,2,5,5] w[3,2,3,3] b[3] -> c; Mul c c -> d; ReduceSum d -> l keepdims=0", "w",
         "Conv Mul ReduceSum Mul ConvWeightGrad", "w.gradient"},
        {"Mul x[3] x -> y; ReduceSum y -> l keepdims=0", "x", "Mul ReduceSum Mul", "x.gradient"},
        /* the sum over rows is that of the bias; differences from a mean add nothing to it */
        {"Add x[2,3] z[1,3] -> s; ReduceMean s n(0) -> m; Sub s m -> d; "
         "ReduceSumSquare d k(0) -> v; Mul d z -> e; Add e z -> f; Mul f t[2,3] -> u; "
         "Add u v -> w; ReduceSum w -> l keepdims=0",
         "z",
         "Add ReduceMean Sub ReduceSumSquare Mul Add Mul Add ReduceSum Mul ReduceSum Mul Mul "
         "ReduceSum Add Mul Add Mul Neg Mul Add ReduceSum Add",
         "z.gradient14"},
        /* by one rule */
        {"BatchNormalization x[2,3,4] s[3] b[3] m[3] v[3] -> y n w training_mode=1; "
         "Mul y t[2,3,4] -> u; ReduceSum u -> l keepdims=0",
         "x",
         "ReduceMean Sub ReduceSumSquare Mul Add Sqrt Reciprocal Mul Reshape Mul Reshape Add Mul "
         "ReduceSum Mul ReduceSum Mul ReduceSum Mul Mul Mul Add Mul Sub Mul Mul",
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_graph *graph = prepare_graph(onnx_case(18, cases[i].text));
        int value = tsr_graph_find_value(graph, cases[i].wrt), gradient;
        char nodes[256];
        assert_int_equal(add_gradient(graph, graph->outputs[0], value, &gradient), TSR_OK);
        list_nodes(graph, nodes, sizeof nodes);
        assert_string_equal(nodes, cases[i].nodes);
        if (cases[i].name)
            assert_string_equal(graph->values[gradient].name, cases[i].name);
        tsr_graph_destroy(graph);
    }
}

/* A held value counts as a constant, which the path to the loss may lead around. */
static void test_held(void **state) {
    (void)state;
    tsr_graph *graph =
        prepare_graph(onnx_case(18, "Exp x[3] -> e; Mul e x -> m; ReduceSum m -> l keepdims=0"));
    int x = tsr_graph_find_value(graph, "x"), held = tsr_graph_find_value(graph, "e"), gradient;
    tsr_gradient_request request = {
        .loss = graph->outputs[0], .wrt_count = 1, .wrt = &x, .held_count = 1, .held = &held};
    char nodes[256];
    assert_int_equal(tsr_add_gradients(graph, tsr_cpu_eval, &request, &gradient), TSR_OK);
    list_nodes(graph, nodes, sizeof nodes);
    assert_string_equal(nodes, "Exp Mul ReduceSum Mul");
    held = tsr_graph_find_value(graph, "m");
    assert_int_equal(tsr_add_gradients(graph, tsr_cpu_eval, &request, &gradient),
                     TSR_ERROR_INVALID_ARGUMENT);
    tsr_graph_destroy(graph);
}

/* ---- refusals ---- */

/* Of the value l with respect to another; the graph stays as it is. */
static void expect_no_gradient(const char *text, const char *wrt, tsr_status status,
                               const char *message) {
    tsr_graph *graph = prepare_graph(onnx_case(18, text));
    const tsr_node *nodes = graph->nodes;
    int value = tsr_graph_find_value(graph, wrt), loss = tsr_graph_find_value(graph, "l"),
        count = graph->node_count, gradient;
    assert_true(value != TSR_NONE && loss != TSR_NONE);
    assert_int_equal(add_gradient(graph, loss, value, &gradient), status);
    assert_string_equal(tsr_last_error(), message);
    assert_true(graph->nodes == nodes && graph->node_count == count);
    tsr_graph_destroy(graph);
}

static void test_refusals(void **state) {
    (void)state;
    const tsr_status bad = TSR_ERROR_INVALID_ARGUMENT, unsupported = TSR_ERROR_UNSUPPORTED;
    expect_no_gradient(
        "Relu x[1,1,4] -> r; MaxPoolGrad r d{1,1,2} -> s kernel_shape=2, strides=2,; "
        "Neg s -> n; ReduceSum n -> l keepdims=0",
        "x", unsupported,
        "test: node 'MaxPoolGrad1' (MaxPoolGrad), by which 'l' depends on 'x' (by "
        "'MaxPoolGrad1', 'Neg2', 'ReduceSum3'): it cannot be differentiated");
#define ROI_ALIGN(attrs)                                                                           \
    "Relu x[1,1,4,4] -> r; RoiAlign r p[1,4] i(0) -> s " attrs "; ReduceSum s -> l keepdims=0"
#define BY_ROI_ALIGN(x)                                                                            \
    "test: node 'RoiAlign1' (RoiAlign), by which 'l' depends on '" x                               \
    "' (by 'RoiAlign1', 'ReduceSum2'): "
    expect_no_gradient(ROI_ALIGN("mode=max sampling_ratio=2"), "x", unsupported,
                       BY_ROI_ALIGN("x") "of mode max it cannot be differentiated");
    expect_no_gradient(ROI_ALIGN("sampling_ratio=2"), "p", unsupported,
                       BY_ROI_ALIGN("p") "by its regions it cannot be differentiated");
    expect_no_gradient(ROI_ALIGN("sampling_ratio=0"), "x", unsupported,
                       BY_ROI_ALIGN("x") "with a number of samples that its regions tell it cannot "
                                         "be differentiated");
    expect_no_gradient(
        "LayerNormalization x:float16[2] z:float16[2] -> y m; ReduceSum m -> l "
        "keepdims=0",
        "x", unsupported,
        "test: node 'LayerNormalization0' (LayerNormalization), by which 'l' depends "
        "on 'x' (by 'LayerNormalization0', 'ReduceSum1'): mean and deviation, which "
        "have another type than its input, cannot be differentiated");
    expect_no_gradient("Neg z[1] -> l!; Relu x[1] -> r", "x", bad,
                       "test: no differentiable path leads from 'x' to the loss 'l'");
    expect_no_gradient("Ceil x[1] -> c; Cast x -> i to=7; Cast i -> f to=1; Add c f -> l", "x", bad,
                       "test: no differentiable path leads from 'x' to the loss 'l'");
    expect_no_gradient("Neg x[2,3] -> l", "x", bad,
                       "test: the loss 'l', float32 of shape [2, 3], is no float of one element");
    expect_no_gradient("Cast x[1] -> l to=7", "x", bad,
                       "test: the loss 'l', int64 of shape [1], is no float of one element");
    expect_no_gradient("Cast x:int32[1] -> c to=1; Neg c -> l", "x", bad,
                       "test: there is no gradient with respect to 'x', int32");
    expect_no_gradient("Mul x[1] k<2 -> l", "k", bad,
                       "test: there is no gradient with respect to 'k', a constant");
}

/* ---- memory ---- */

/* Whichever allocation fails, the pass says so. */
static void test_out_of_memory(void **state) {
    (void)state;
    const char *text = "Conv x[2,3,100,100] w[4,3,3,3] b[4] -> c; AveragePool c -> p "
                       "kernel_shape=3,3 pads=1,1,1,1; Split p -> q r axis=1 num_outputs=2; "
                       "Mul q r -> m; ReduceMean m -> l keepdims=0";
    bool failed = true;
    long after = 0;
    for (; failed; after++) {
        tsr_graph *graph = prepare_graph(onnx_case(18, text));
        int x = tsr_graph_find_value(graph, "x"), gradient;
        fail_allocation(after);
        tsr_status status = add_gradient(graph, graph->outputs[0], x, &gradient);
        failed = has_allocation_failed();
        fail_allocation(-1);
        assert_int_equal(status, failed ? TSR_ERROR_OUT_OF_MEMORY : TSR_OK);
        tsr_graph_destroy(graph);
    }
    assert_true(after > 2);
}

int run_program(void) {
    count_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),    cmocka_unit_test(test_random_nodes),
        cmocka_unit_test(test_cases),    cmocka_unit_test(test_kinks),
        cmocka_unit_test(test_zeros),    cmocka_unit_test(test_losses),
        cmocka_unit_test(test_nodes),    cmocka_unit_test(test_held),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
