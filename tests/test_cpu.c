/* The reference operators on small cases worked by hand or taken from ONNX's text. A case is a node
 * whose inputs are all constants: preparing its graph evaluates it. */
#include "support/graphs.h"
#include "support/main.h"

#include "cpu/cpu.h"
#include "passes/passes.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <stdlib.h>

static onnx_writer *writer;

static void begin(int opset) {
    writer = onnx_writer_create(opset);
}

static void floats(const char *name, int rank, const int64_t *dims, const float *elements) {
    onnx_add_floats(writer, name, rank, dims, elements);
}

static void ints(const char *name, int rank, const int64_t *dims, const int64_t *elements) {
    onnx_add_ints(writer, name, rank, dims, elements);
}

static Tsr__NodeProto *op(const char *type, const char *inputs) {
    return onnx_add_node(writer, type, type, inputs, "y");
}

static void expect(int rank, const int64_t *dims, const float *expected) {
    add_output(writer, "y", TSR_DTYPE_F32);
    tsr_graph *graph = prepare_graph(writer);
    const tsr_value *y = value_named(graph, "y");
    expect_shape(y, rank, dims);
    assert_non_null(y->data);
    assert_true(tsr_dtype_is_float(y->dtype));
    expect_floats(y->data, expected, tsr_shape_count(&y->shape), 2e-6);
    tsr_graph_destroy(graph);
}

static void expect_ints(tsr_dtype dtype, int rank, const int64_t *dims, const int64_t *expected) {
    add_output(writer, "y", dtype);
    tsr_graph *graph = prepare_graph(writer);
    const tsr_value *y = value_named(graph, "y");
    expect_shape(y, rank, dims);
    assert_int_equal(y->dtype, dtype);
    assert_memory_equal(y->data, expected, (size_t)tsr_shape_count(&y->shape) * sizeof(int64_t));
    tsr_graph_destroy(graph);
}

static void expect_failure(tsr_status status) {
    add_output(writer, "y", TSR_DTYPE_F32);
    tsr_graph *graph = read_graph(writer);
    assert_int_equal(tsr_prepare(graph, tsr_cpu_eval, NULL), status);
    assert_string_not_equal(tsr_last_error(), "");
    tsr_graph_destroy(graph);
}

/* ---- element by element ---- */

static void check_unary(const char *type, const char *attr, float value, float x, float y) {
    begin(22);
    floats("x", SHAPE(1), &x);
    Tsr__NodeProto *node = op(type, "x");
    if (attr)
        onnx_set_float(writer, node, attr, value);
    expect(SHAPE(1), &y);
}

static void test_unary(void **state) {
    (void)state;
    check_unary("Relu", NULL, 0, -1, 0);
    check_unary("Relu", NULL, 0, 2, 2);
    check_unary("Relu", NULL, 0, NAN, NAN);
    check_unary("LeakyRelu", NULL, 0, -2, -0.02f);
    check_unary("LeakyRelu", "alpha", 0.25f, -2, -0.5f);
    check_unary("Sigmoid", NULL, 0, 0, 0.5f);
    check_unary("Sigmoid", NULL, 0, 1, 0.7310586f);
    check_unary("Sigmoid", NULL, 0, -1000, 0);
    check_unary("Tanh", NULL, 0, 1, 0.7615942f);
    check_unary("HardSigmoid", NULL, 0, -3, 0);
    check_unary("HardSigmoid", NULL, 0, 1, 0.7f);
    check_unary("HardSigmoid", "alpha", 2, 1, 1);
    check_unary("HardSwish", NULL, 0, -4, 0);
    check_unary("HardSwish", NULL, 0, 1, 0.6666667f);
    check_unary("HardSwish", NULL, 0, 5, 5);
    check_unary("Mish", NULL, 0, 1, 0.8650984f);
    check_unary("Mish", NULL, 0, -2, -0.2525015f);
    check_unary("Mish", NULL, 0, 1000, 1000);
    check_unary("Mish", NULL, 0, -1000, 0);
    check_unary("Mish", NULL, 0, INFINITY, INFINITY);
    check_unary("Mish", NULL, 0, -INFINITY, NAN); /* infinity times zero */
    check_unary("Exp", NULL, 0, 1, 2.7182817f);
    check_unary("Neg", NULL, 0, 3, -3);
    check_unary("Selu", NULL, 0, -1, -1.1113307f);
    check_unary("Selu", "gamma", 2, 1, 2);
    check_unary("Gelu", NULL, 0, 1, 0.8413447f);
    check_unary("Gelu", "tanh", 1, 1, 0.8411920f);
    check_unary("Swish", NULL, 0, 1, 0.7310586f);
    check_unary("Swish", "alpha", 2, 1, 0.8807971f);
    check_unary("Softplus", NULL, 0, 1, 1.3132617f);
    check_unary("Softplus", NULL, 0, 1000, 1000);
    check_unary("Softsign", NULL, 0, -3, -0.75f);
    check_unary("ThresholdedRelu", NULL, 0, 1, 0);
    check_unary("ThresholdedRelu", "alpha", 0.5f, 1, 1);
    check_unary("Shrink", NULL, 0, 0.5f, 0);
    check_unary("Shrink", "bias", 2, -1, 1);
    check_unary("Abs", NULL, 0, -3, 3);
    check_unary("Sign", NULL, 0, -3, -1);
    check_unary("Sign", NULL, 0, 0, 0);
    check_unary("Reciprocal", NULL, 0, -4, -0.25f);
    check_unary("Sqrt", NULL, 0, 9, 3);
    check_unary("Log", NULL, 0, 10, 2.3025851f);
    check_unary("Erf", NULL, 0, 0.5f, 0.5204999f);
    check_unary("Ceil", NULL, 0, -1.5f, -1);
    check_unary("Floor", NULL, 0, -1.5f, -2);
    check_unary("Round", NULL, 0, 2.5f, 2);
    check_unary("Round", NULL, 0, -3.5f, -4);
    check_unary("Sin", NULL, 0, 1, 0.8414710f);
    check_unary("Cos", NULL, 0, 1, 0.5403023f);
    check_unary("Tan", NULL, 0, 1, 1.5574077f);
    check_unary("Asin", NULL, 0, 0.5f, 0.5235988f);
    check_unary("Acos", NULL, 0, 0.5f, 1.0471976f);
    check_unary("Atan", NULL, 0, 1, 0.7853982f);
    check_unary("Sinh", NULL, 0, 1, 1.1752012f);
    check_unary("Cosh", NULL, 0, 1, 1.5430806f);
    check_unary("Asinh", NULL, 0, 1, 0.8813736f);
    check_unary("Acosh", NULL, 0, 2, 1.3169579f);
    check_unary("Atanh", NULL, 0, 0.5f, 0.5493061f);
    check_unary("Celu", NULL, 0, -1, -0.6321206f);
    check_unary("Celu", "alpha", 2, -2, -1.2642411f);
    check_unary("Elu", NULL, 0, -1, -0.6321206f);
    check_unary("Elu", "alpha", 2, -1, -1.2642411f);
}

static void test_unary_ints(void **state) {
    (void)state;
    begin(22);
    ints("x", SHAPE(3), INTS(-2, 0, INT64_MIN));
    op("Neg", "x");
    expect_ints(TSR_DTYPE_I64, SHAPE(3), INTS(2, 0, INT64_MIN));
    begin(22);
    ints("x", SHAPE(2), INTS(-2, 7));
    op("Relu", "x");
    expect_ints(TSR_DTYPE_I64, SHAPE(2), INTS(0, 7));
    begin(22); /* wraps in its own type */
    ints("x", SHAPE(2), INTS(-128, 127));
    onnx_set_int(writer, onnx_add_node(writer, "Cast", "cast", "x", "c"), "to",
                 tsr_dtype_to_onnx(TSR_DTYPE_I8));
    op("Neg", "c");
    expect_ints(TSR_DTYPE_I8, SHAPE(2), INTS(-128, -127));
}

static void test_layer_normalization(void **state) {
    (void)state;
    begin(17);
    floats("x", SHAPE(2, 2), FLOATS(1, 3, -5, 5));
    floats("s", SHAPE(2), FLOATS(2, 1));
    floats("b", SHAPE(2), FLOATS(0, 10));
    onnx_set_float(writer, op("LayerNormalization", "x,s,b"), "epsilon", 0);
    expect(SHAPE(2, 2), FLOATS(-2, 11, -2, 11));
}

static void check_reduction(const char *type, const float *y) {
    begin(18);
    floats("x", SHAPE(2, 3), FLOATS(1, -2, 3, 4, 5, -6));
    ints("a", SHAPE(1), INTS(1));
    onnx_set_int(writer, op(type, "x,a"), "keepdims", 0);
    expect(SHAPE(2), y);
}

static void test_reductions(void **state) {
    (void)state;
    check_reduction("ReduceSum", FLOATS(2, 3));
    check_reduction("ReduceMean", FLOATS(0.6666667f, 1));
    check_reduction("ReduceMax", FLOATS(3, 5));
    check_reduction("ReduceMin", FLOATS(-2, -6));
    check_reduction("ReduceProd", FLOATS(-6, -120));
    check_reduction("ReduceL1", FLOATS(6, 15));
    check_reduction("ReduceL2", FLOATS(3.7416575f, 8.774964f));
    check_reduction("ReduceSumSquare", FLOATS(14, 77));
    check_reduction("ReduceLogSum", FLOATS(0.6931472f, 1.0986123f));
    check_reduction("ReduceLogSumExp", FLOATS(3.1328452f, 5.3132740f));
    begin(18); /* over nothing */
    floats("x", SHAPE(2, 0), NULL);
    ints("a", SHAPE(1), INTS(1));
    op("ReduceProd", "x,a");
    expect(SHAPE(2, 1), FLOATS(1, 1));
    begin(18);
    floats("x", SHAPE(2, 2), FLOATS(-INFINITY, -INFINITY, 1000, 1000));
    ints("a", SHAPE(1), INTS(-1));
    op("ReduceLogSumExp", "x,a");
    expect(SHAPE(2, 1), FLOATS(-INFINITY, 1000.69315f));
    begin(18);
    ints("x", SHAPE(2, 2), INTS(INT64_MAX, 1, -7, 4));
    ints("a", SHAPE(1), INTS(1));
    op("ReduceSum", "x,a");
    expect_ints(TSR_DTYPE_I64, SHAPE(2, 1), INTS(INT64_MIN, -3));
    begin(18);
    ints("x", SHAPE(2, 2), INTS(3, 1, -7, 4));
    op("ReduceMin", "x");
    expect_ints(TSR_DTYPE_I64, SHAPE(1, 1), INTS(-7));
}

static void check_arg(const char *type, bool last, const int64_t *y) {
    begin(13);
    floats("x", SHAPE(3, 4), FLOATS(1, 3, 3, 1, NAN, 2, NAN, 1, -1, -INFINITY, -1, -2));
    Tsr__NodeProto *node = op(type, "x");
    onnx_set_int(writer, node, "axis", 1);
    onnx_set_int(writer, node, "select_last_index", last);
    expect_ints(TSR_DTYPE_I64, SHAPE(3, 1), y);
}

static void test_arg(void **state) {
    (void)state;
    check_arg("ArgMax", false, INTS(1, 0, 0));
    check_arg("ArgMax", true, INTS(2, 2, 2));
    check_arg("ArgMin", false, INTS(0, 0, 1));
    check_arg("ArgMin", true, INTS(3, 2, 1));
}

static void test_functions(void **state) {
    (void)state;
    begin(13);
    floats("x", SHAPE(2, 3), FLOATS(1, 3, 3, 2, 0, -1));
    op("Hardmax", "x");
    expect(SHAPE(2, 3), FLOATS(0, 1, 0, 1, 0, 0));
    begin(22);
    floats("x", SHAPE(2, 2), FLOATS(3, -4, 0, 0));
    op("LpNormalization", "x");
    expect(SHAPE(2, 2), FLOATS(0.6f, -0.8f, 0, 0));
    begin(13);
    floats("x", SHAPE(2, 2), FLOATS(1, 3, 5, 5));
    onnx_set_ints(writer, op("MeanVarianceNormalization", "x"), "axes", 1, INTS(1));
    expect(SHAPE(2, 2), FLOATS(-1, 1, 0, 0));
    begin(21);
    floats("x", SHAPE(1, 4, 1), FLOATS(1, 3, 5, 9));
    floats("s", SHAPE(4), FLOATS(1, 2, 3, 4));
    floats("b", SHAPE(4), FLOATS(0, 0, 0, 1));
    Tsr__NodeProto *node = op("GroupNormalization", "x,s,b");
    onnx_set_int(writer, node, "num_groups", 2);
    onnx_set_float(writer, node, "epsilon", 0);
    expect(SHAPE(1, 4, 1), FLOATS(-1, 2, -3, 5));
    begin(23);
    floats("x", SHAPE(1, 2), FLOATS(1, 7));
    floats("s", SHAPE(2), FLOATS(1, 2));
    onnx_set_float(writer, op("RMSNormalization", "x,s"), "epsilon", 0);
    expect(SHAPE(1, 2), FLOATS(0.2f, 2.8f));
    begin(13);
    floats("x", SHAPE(1, 3, 1, 1), FLOATS(1, 2, 3));
    node = op("LRN", "x");
    onnx_set_int(writer, node, "size", 2);
    onnx_set_float(writer, node, "alpha", 2);
    onnx_set_float(writer, node, "beta", 1);
    expect(SHAPE(1, 3, 1, 1), FLOATS(0.16666667f, 0.14285715f, 0.3f));
    begin(13);
    floats("x", SHAPE(2, 2), FLOATS(-1, -2, -3, -4));
    ints("t", SHAPE(2), INTS(1, 0));
    floats("w", SHAPE(2), FLOATS(1, 3));
    op("NegativeLogLikelihoodLoss", "x,t,w");
    expect(SCALAR, FLOATS(2.25f));
    begin(13);
    floats("x", SHAPE(2, 2), FLOATS(0, 0, 0, 0));
    ints("t", SHAPE(2), INTS(1, 0));
    onnx_set_string(writer, op("SoftmaxCrossEntropyLoss", "x,t"), "reduction", "none");
    expect(SHAPE(2), FLOATS(0.6931472f, 0.6931472f));
    begin(13);
    floats("x", SHAPE(1, 2), FLOATS(0, 1));
    op("LogSoftmax", "x");
    expect(SHAPE(1, 2), FLOATS(-1.3132617f, -0.3132617f));
}

static void test_indices(void **state) {
    (void)state;
    begin(13);
    floats("x", SHAPE(2, 3), FLOATS(1, 2, 3, 4, 5, 6));
    ints("i", SHAPE(1, 2), INTS(1, -2));
    op("GatherElements", "x,i");
    expect(SHAPE(1, 2), FLOATS(4, 2));
    begin(13);
    floats("x", SHAPE(2, 3), FLOATS(1, 2, 3, 4, 5, 6));
    ints("i", SHAPE(2, 1), INTS(-1, 0));
    op("GatherND", "x,i");
    expect(SHAPE(2, 3), FLOATS(4, 5, 6, 1, 2, 3));
    begin(13);
    floats("x", SHAPE(2, 2), FLOATS(1, 2, 3, 4));
    ints("i", SHAPE(2, 1), INTS(1, 0));
    onnx_set_int(writer, op("GatherND", "x,i"), "batch_dims", 1);
    expect(SHAPE(2), FLOATS(2, 3));
    begin(18);
    floats("x", SHAPE(3), FLOATS(1, 2, 3));
    ints("i", SHAPE(3), INTS(2, -1, 0));
    floats("u", SHAPE(3), FLOATS(10, 20, 30));
    onnx_set_string(writer, op("ScatterElements", "x,i,u"), "reduction", "add");
    expect(SHAPE(3), FLOATS(31, 2, 33));
    begin(18);
    floats("x", SHAPE(2, 2), FLOATS(1, 2, 3, 4));
    ints("i", SHAPE(1, 1), INTS(1));
    floats("u", SHAPE(1, 2), FLOATS(0, 9));
    onnx_set_string(writer, op("ScatterND", "x,i,u"), "reduction", "max");
    expect(SHAPE(2, 2), FLOATS(1, 2, 3, 9));
    begin(18);
    floats("x", SHAPE(2), FLOATS(1, 2));
    ints("i", SHAPE(1), INTS(2));
    op("GatherElements", "x,i");
    expect_failure(TSR_ERROR_INVALID_ARGUMENT);
}

static void test_top_k(void **state) {
    (void)state;
    begin(11);
    floats("x", SHAPE(4), FLOATS(1, 3, 3, -2));
    ints("k", SHAPE(1), INTS(3));
    onnx_add_node(writer, "TopK", "top", "x,k", "v,y");
    expect_ints(TSR_DTYPE_I64, SHAPE(3), INTS(1, 2, 0));
}

/* Two batches of one row of three; ONNX's example of a cache that wraps around. */
static void check_tensor_scatter(const char *mode, const int64_t *starts, const float *expected) {
    begin(24);
    floats("x", SHAPE(2, 1, 3, 1), FLOATS(1, 2, 3, 4, 5, 6));
    floats("u", SHAPE(2, 1, 2, 1), FLOATS(10, 20, 30, 40));
    if (starts)
        ints("i", SHAPE(2), starts);
    onnx_set_string(writer, op("TensorScatter", starts ? "x,u,i" : "x,u"), "mode", mode);
    if (expected)
        expect(SHAPE(2, 1, 3, 1), expected);
    else
        expect_failure(TSR_ERROR_INVALID_ARGUMENT);
}

static void test_tensor_scatter(void **state) {
    (void)state;
    check_tensor_scatter("linear", NULL, FLOATS(10, 20, 3, 30, 40, 6));
    check_tensor_scatter("linear", INTS(1, 0), FLOATS(1, 10, 20, 30, 40, 6));
    check_tensor_scatter("circular", INTS(2, 5), FLOATS(20, 2, 10, 40, 5, 30));
    check_tensor_scatter("circular", INTS(-1, 0), FLOATS(20, 2, 10, 30, 40, 6));
    check_tensor_scatter("linear", INTS(2, 0), NULL);
    check_tensor_scatter("linear", INTS(-1, 0), NULL);
    check_tensor_scatter("linear", INTS(INT64_MAX, 0), NULL);
}

static void check_products(int exclusive, int reverse, const float *expected) {
    begin(26);
    floats("x", SHAPE(3), FLOATS(2, 3, 4));
    ints("a", SHAPE(1), INTS(-1));
    Tsr__NodeProto *node = op("CumProd", "x,a");
    onnx_set_int(writer, node, "exclusive", exclusive);
    onnx_set_int(writer, node, "reverse", reverse);
    expect(SHAPE(3), expected);
}

static void test_products(void **state) {
    (void)state;
    check_products(0, 0, FLOATS(2, 6, 24));
    check_products(1, 0, FLOATS(1, 2, 6));
    check_products(0, 1, FLOATS(24, 12, 4));
    check_products(1, 1, FLOATS(12, 4, 1));
    begin(26);
    ints("x", SHAPE(2, 2), INTS(2, 3, -5, 7));
    ints("a", SHAPE(1), INTS(0));
    op("CumProd", "x,a");
    expect_ints(TSR_DTYPE_I64, SHAPE(2, 2), INTS(2, 3, -10, 21));
}

static void test_bit_cast(void **state) {
    (void)state;
    begin(26);
    floats("x", SHAPE(4), FLOATS(1, -2, 0, INFINITY));
    onnx_set_int(writer, op("BitCast", "x"), "to", tsr_dtype_to_onnx(TSR_DTYPE_I32));
    expect_ints(TSR_DTYPE_I32, SHAPE(4), INTS(0x3f800000, -0x40000000, 0, 0x7f800000));
    begin(26);
    floats("x", SHAPE(2), FLOATS(1, -2));
    onnx_set_int(writer, onnx_add_node(writer, "BitCast", "to", "x", "b"), "to",
                 tsr_dtype_to_onnx(TSR_DTYPE_U32));
    onnx_set_int(writer, op("BitCast", "b"), "to", tsr_dtype_to_onnx(TSR_DTYPE_F32));
    expect(SHAPE(2), FLOATS(1, -2));
    begin(26);
    floats("x", SHAPE(2), FLOATS(1, -2));
    onnx_set_int(writer, onnx_add_node(writer, "Cast", "half", "x", "h"), "to",
                 tsr_dtype_to_onnx(TSR_DTYPE_F16));
    onnx_set_int(writer, op("BitCast", "h"), "to", tsr_dtype_to_onnx(TSR_DTYPE_U16));
    expect_ints(TSR_DTYPE_U16, SHAPE(2), INTS(0x3c00, 0xc000));
}

static void test_sums_and_triangles(void **state) {
    (void)state;
    begin(14);
    floats("x", SHAPE(3), FLOATS(1, 2, 3));
    ints("a", SHAPE(1), INTS(0));
    op("CumSum", "x,a");
    expect(SHAPE(3), FLOATS(1, 3, 6));
    begin(14);
    floats("x", SHAPE(3), FLOATS(1, 2, 3));
    ints("a", SHAPE(1), INTS(0));
    Tsr__NodeProto *node = op("CumSum", "x,a");
    onnx_set_int(writer, node, "exclusive", 1);
    onnx_set_int(writer, node, "reverse", 1);
    expect(SHAPE(3), FLOATS(5, 3, 0));
    begin(14);
    floats("x", SHAPE(2, 3), FLOATS(1, 2, 3, 4, 5, 6));
    op("Trilu", "x");
    expect(SHAPE(2, 3), FLOATS(1, 2, 3, 0, 5, 6));
    begin(14);
    floats("x", SHAPE(2, 3), FLOATS(1, 2, 3, 4, 5, 6));
    ints("k", SHAPE(1), INTS(1));
    onnx_set_int(writer, op("Trilu", "x,k"), "upper", 0);
    expect(SHAPE(2, 3), FLOATS(1, 2, 0, 4, 5, 6));
}

static void test_made_tensors(void **state) {
    (void)state;
    begin(13);
    floats("x", SHAPE(2, 1), FLOATS(1, 2));
    ints("s", SHAPE(2), INTS(1, 3));
    op("Expand", "x,s");
    expect(SHAPE(2, 3), FLOATS(1, 1, 1, 2, 2, 2));
    begin(13);
    floats("x", SHAPE(1, 2), FLOATS(1, 2));
    ints("s", SHAPE(2), INTS(2, 2));
    op("Tile", "x,s");
    expect(SHAPE(2, 4), FLOATS(1, 2, 1, 2, 1, 2, 1, 2));
    begin(13);
    ints("x", SHAPE(2), INTS(1, -1));
    ints("d", SHAPE(1), INTS(3));
    floats("v", SHAPE(2), FLOATS(-1, 5));
    op("OneHot", "x,d,v");
    expect(SHAPE(2, 3), FLOATS(-1, 5, -1, -1, -1, 5));
    begin(11);
    ints("a", SHAPE(1), INTS(5));
    ints("e", SHAPE(1), INTS(0));
    ints("d", SHAPE(1), INTS(-2));
    op("Range", "a,e,d");
    expect_ints(TSR_DTYPE_I64, SHAPE(3), INTS(5, 3, 1));
    begin(11);
    floats("a", SCALAR, FLOATS(1));
    floats("e", SCALAR, FLOATS(1e9f));
    floats("d", SCALAR, FLOATS(1));
    op("Range", "a,e,d");
    expect_failure(TSR_ERROR_UNSUPPORTED);
    begin(13);
    floats("x", SHAPE(2, 3), FLOATS(1, 2, 3, 4, 5, 6));
    op("Size", "x");
    expect_ints(TSR_DTYPE_I64, SCALAR, INTS(6));
    begin(13);
    ints("s", SHAPE(2), INTS(1, 2));
    op("ConstantOfShape", "s");
    expect(SHAPE(1, 2), FLOATS(0, 0));
    begin(13);
    floats("x", SHAPE(2, 3), FLOATS(1, 2, 3, 4, 5, 6));
    onnx_set_int(writer, op("EyeLike", "x"), "k", 1);
    expect(SHAPE(2, 3), FLOATS(0, 1, 0, 0, 0, 1));
    begin(18);
    floats("x", SHAPE(4), FLOATS(1, 2, 3, 4));
    ints("s", SHAPE(1), INTS(2));
    op("CenterCropPad", "x,s");
    expect(SHAPE(2), FLOATS(2, 3));
    begin(22);
    floats("x", SHAPE(1, 1, 2), FLOATS(-1, 2));
    onnx_set_int(writer, op("GlobalLpPool", "x"), "p", 3);
    expect(SHAPE(1, 1, 1), FLOATS(2.0800838f));
}

static void test_not(void **state) {
    (void)state;
    begin(22);
    ints("x", SHAPE(2), INTS(0, 5));
    onnx_set_int(writer, onnx_add_node(writer, "Cast", "cast", "x", "c"), "to",
                 tsr_dtype_to_onnx(TSR_DTYPE_BOOL));
    op("Not", "c");
    expect_ints(TSR_DTYPE_BOOL, SHAPE(2), INTS(1, 0));
}

static void test_binary_broadcasts(void **state) {
    (void)state;
    begin(22);
    floats("a", SHAPE(2, 1), FLOATS(10, 20));
    floats("b", SHAPE(3), FLOATS(1, 2, 3));
    op("Sub", "a,b");
    expect(SHAPE(2, 3), FLOATS(9, 8, 7, 19, 18, 17));
    begin(22);
    floats("a", SHAPE(2, 2), FLOATS(1, 2, 3, 4));
    floats("b", SCALAR, FLOATS(2));
    op("Div", "b,a");
    expect(SHAPE(2, 2), FLOATS(2, 1, 0.6666667f, 0.5f));
    begin(22);
    floats("a", SHAPE(1, 2, 1, 2), FLOATS(1, 2, 3, 4));
    floats("b", SHAPE(2, 1), FLOATS(1, 10));
    op("Mul", "a,b");
    expect(SHAPE(1, 2, 2, 2), FLOATS(1, 2, 10, 20, 3, 4, 30, 40));
}

static void check_binary(const char *type, float a, float b, float y) {
    begin(22);
    floats("a", SHAPE(1), &a);
    floats("b", SHAPE(1), &b);
    Tsr__NodeProto *node = op(type, "a,b");
    if (!strcmp(type, "Mod"))
        onnx_set_int(writer, node, "fmod", 1);
    expect(SHAPE(1), &y);
}

static void check_comparison(const char *type, float a, float b, int64_t y) {
    begin(22);
    floats("a", SHAPE(1), &a);
    floats("b", SHAPE(1), &b);
    op(type, "a,b");
    expect_ints(TSR_DTYPE_BOOL, SHAPE(1), &y);
    begin(22);
    ints("a", SHAPE(1), INTS((int64_t)a));
    ints("b", SHAPE(1), INTS((int64_t)b));
    op(type, "a,b");
    expect_ints(TSR_DTYPE_BOOL, SHAPE(1), &y);
}

static void test_binary(void **state) {
    (void)state;
    check_binary("Pow", 3, 2, 9);
    check_binary("Pow", -2, 3, -8);
    check_binary("Pow", -2, 0.5f, NAN);
    check_binary("Pow", NAN, 0, 1);
    check_binary("Mod", -7.5f, 2, -1.5f);
    check_binary("Mod", 7.5f, -2, 1.5f);
    check_binary("Max", 1, NAN, NAN);
    check_binary("Max", -1, -2, -1);
    check_binary("Min", NAN, 1, NAN);
    check_binary("Min", 1, 2, 1);
    check_binary("Sum", 1, 2, 3);
    check_binary("Mean", 1, 2, 1.5f);
    static const float edges[] = {1, 2, 1};
    for (int i = 0; i < 2; i++) {
        float a = edges[i], b = edges[i + 1];
        check_comparison("Less", a, b, a < b);
        check_comparison("LessOrEqual", a, b, a <= b);
        check_comparison("Greater", a, b, a > b);
        check_comparison("GreaterOrEqual", a, b, a >= b);
        check_comparison("Equal", a, b, 0);
    }
    check_comparison("LessOrEqual", 2, 2, 1);
    check_comparison("GreaterOrEqual", 2, 2, 1);
    check_comparison("Less", 2, 2, 0);
    check_comparison("Equal", 2, 2, 1);
}

static void test_several_inputs(void **state) {
    (void)state;
    begin(22);
    floats("a", SHAPE(2, 1), FLOATS(1, 5));
    floats("b", SHAPE(3), FLOATS(0, 3, 9));
    floats("c", SCALAR, FLOATS(2));
    op("Max", "a,b,c");
    expect(SHAPE(2, 3), FLOATS(2, 3, 9, 5, 5, 9));
    begin(22);
    floats("a", SHAPE(2), FLOATS(1, 5));
    floats("b", SHAPE(2), FLOATS(2, 3));
    floats("c", SCALAR, FLOATS(3));
    op("Mean", "a,b,c");
    expect(SHAPE(2), FLOATS(2, 3.6666667f));
    begin(22);
    floats("a", SHAPE(2), FLOATS(1, 5));
    op("Sum", "a");
    expect(SHAPE(2), FLOATS(1, 5));
    begin(22);
    ints("a", SHAPE(2), INTS(INT64_MIN, 5));
    ints("b", SHAPE(2), INTS(2, 3));
    op("Min", "a,b");
    expect_ints(TSR_DTYPE_I64, SHAPE(2), INTS(INT64_MIN, 3));
}

static void cast_to(const char *from, const char *to, tsr_dtype dtype) {
    onnx_set_int(writer, onnx_add_node(writer, "Cast", to, from, to), "to",
                 tsr_dtype_to_onnx(dtype));
}

static void test_where(void **state) {
    (void)state;
    begin(22);
    ints("n", SHAPE(2, 1), INTS(0, 1));
    cast_to("n", "c", TSR_DTYPE_BOOL);
    floats("x", SHAPE(3), FLOATS(1, NAN, 3));
    floats("z", SCALAR, FLOATS(-1));
    op("Where", "c,x,z");
    expect(SHAPE(2, 3), FLOATS(-1, -1, -1, 1, NAN, 3));
}

static void check_bits(const char *type, const char *direction, int64_t y) {
    begin(22);
    ints("a", SHAPE(1), INTS(0xcc));
    ints("b", SHAPE(1), INTS(direction ? 3 : 0xaa));
    cast_to("a", "c", TSR_DTYPE_U8);
    cast_to("b", "d", TSR_DTYPE_U8);
    Tsr__NodeProto *node = op(type, "c,d");
    if (direction)
        onnx_set_string(writer, node, "direction", direction);
    expect_ints(TSR_DTYPE_U8, SHAPE(1), &y);
}

static void test_bits(void **state) {
    (void)state;
    check_bits("BitwiseAnd", NULL, 0x88);
    check_bits("BitwiseOr", NULL, 0xee);
    check_bits("BitwiseXor", NULL, 0x66);
    check_bits("BitShift", "LEFT", 0x60);
    check_bits("BitShift", "RIGHT", 0x19);
    begin(22);
    ints("a", SHAPE(1), INTS(0xcc));
    cast_to("a", "c", TSR_DTYPE_U8);
    op("BitwiseNot", "c");
    expect_ints(TSR_DTYPE_U8, SHAPE(1), INTS(0x33));
}

static void test_logic(void **state) {
    (void)state;
    static const struct {
        const char *type;
        int64_t of[4];
    } cases[] = {{"And", {0, 0, 0, 1}}, {"Or", {0, 1, 1, 1}}, {"Xor", {0, 1, 1, 0}}};
    for (int i = 0; i < 3; i++) {
        begin(22);
        ints("a", SHAPE(4), INTS(0, 0, 1, 1));
        ints("b", SHAPE(4), INTS(0, 1, 0, 1));
        cast_to("a", "c", TSR_DTYPE_BOOL);
        cast_to("b", "d", TSR_DTYPE_BOOL);
        op(cases[i].type, "c,d");
        expect_ints(TSR_DTYPE_BOOL, SHAPE(4), cases[i].of);
    }
}

static void test_float_tests(void **state) {
    (void)state;
    const float x[] = {-INFINITY, 3.4e38f, NAN, INFINITY};
    begin(22);
    floats("x", SHAPE(4), x);
    op("IsInf", "x");
    expect_ints(TSR_DTYPE_BOOL, SHAPE(4), INTS(1, 0, 0, 1));
    begin(22);
    floats("x", SHAPE(4), x);
    onnx_set_int(writer, op("IsInf", "x"), "detect_negative", 0);
    expect_ints(TSR_DTYPE_BOOL, SHAPE(4), INTS(0, 0, 0, 1));
    begin(22);
    floats("x", SHAPE(4), x);
    op("IsNaN", "x");
    expect_ints(TSR_DTYPE_BOOL, SHAPE(4), INTS(0, 0, 1, 0));
}

static void test_binary_ints(void **state) {
    (void)state;
    begin(22);
    ints("a", SHAPE(3), INTS(-7, 7, INT64_MIN));
    ints("b", SHAPE(3), INTS(2, -2, -1));
    op("Div", "a,b");
    expect_ints(TSR_DTYPE_I64, SHAPE(3), INTS(-3, -3, INT64_MIN));
    begin(22);
    ints("a", SHAPE(1), INTS(INT64_MAX));
    ints("b", SHAPE(2), INTS(1, -1));
    op("Add", "a,b");
    expect_ints(TSR_DTYPE_I64, SHAPE(2), INTS(INT64_MIN, INT64_MAX - 1));
    begin(22);
    ints("a", SHAPE(4), INTS(-7, 7, 6, INT64_MIN));
    ints("b", SHAPE(4), INTS(3, -3, -3, -1));
    op("Mod", "a,b");
    expect_ints(TSR_DTYPE_I64, SHAPE(4), INTS(2, -2, 0, 0));
    begin(22);
    ints("a", SHAPE(2), INTS(-7, 7));
    ints("b", SHAPE(2), INTS(3, -3));
    onnx_set_int(writer, op("Mod", "a,b"), "fmod", 1);
    expect_ints(TSR_DTYPE_I64, SHAPE(2), INTS(-1, 1));
    begin(22);
    ints("a", SHAPE(1), INTS(3));
    floats("b", SHAPE(2), FLOATS(2, -1));
    op("Pow", "a,b");
    expect_ints(TSR_DTYPE_I64, SHAPE(2), INTS(9, 0));
    begin(22);
    ints("a", SHAPE(1), INTS(1));
    ints("b", SHAPE(1), INTS(0));
    op("Mod", "a,b");
    expect_failure(TSR_ERROR_INVALID_ARGUMENT);
    begin(22);
    ints("a", SHAPE(1), INTS(1));
    ints("b", SHAPE(1), INTS(0));
    op("Div", "a,b");
    expect_failure(TSR_ERROR_INVALID_ARGUMENT);
}

static void test_prelu_and_clip(void **state) {
    (void)state;
    begin(22);
    floats("x", SHAPE(2, 2), FLOATS(-1, 2, -3, -4));
    floats("slope", SHAPE(2, 1), FLOATS(0.5f, 10));
    op("PRelu", "x,slope");
    expect(SHAPE(2, 2), FLOATS(-0.5f, 2, -30, -40));
    begin(22);
    floats("x", SHAPE(4), FLOATS(-INFINITY, -1, 3, NAN));
    floats("high", SCALAR, FLOATS(2));
    op("Clip", "x,,high");
    expect(SHAPE(4), FLOATS(-FLT_MAX, -1, 2, NAN)); /* ONNX's default bounds are finite */
    begin(22);
    ints("x", SHAPE(3), INTS(-5, 0, 5));
    ints("low", SCALAR, INTS(-1));
    ints("high", SCALAR, INTS(2));
    op("Clip", "x,low,high");
    expect_ints(TSR_DTYPE_I64, SHAPE(3), INTS(-1, 0, 2));
}

/* ---- sums of products ---- */

static const float ramp[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                             13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};
static const float ones[18] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static void test_conv(void **state) {
    (void)state;
    begin(22);
    floats("x", SHAPE(1, 1, 5, 5), ramp);
    floats("w", SHAPE(1, 1, 3, 3), ones);
    op("Conv", "x,w");
    expect(SHAPE(1, 1, 3, 3), FLOATS(54, 63, 72, 99, 108, 117, 144, 153, 162));

    begin(22); /* stride 2, padded above and below only */
    floats("x", SHAPE(1, 1, 5, 5), ramp);
    floats("w", SHAPE(1, 1, 3, 3), ones);
    floats("b", SHAPE(1), FLOATS(1));
    Tsr__NodeProto *node = op("Conv", "x,w,b");
    onnx_set_ints(writer, node, "strides", 2, INTS(2, 2));
    onnx_set_ints(writer, node, "pads", 4, INTS(1, 0, 1, 0));
    expect(SHAPE(1, 1, 3, 2), FLOATS(22, 34, 100, 118, 112, 124));

    begin(22); /* 1-D, dilated */
    floats("x", SHAPE(1, 1, 5), FLOATS(1, 2, 3, 4, 5));
    floats("w", SHAPE(1, 1, 2), FLOATS(1, 10));
    onnx_set_ints(writer, op("Conv", "x,w"), "dilations", 1, INTS(2));
    expect(SHAPE(1, 1, 3), FLOATS(31, 42, 53));
}

static void test_conv_groups(void **state) {
    (void)state;
    begin(22);
    floats("x", SHAPE(1, 2, 1, 2), FLOATS(1, 2, 3, 4));
    floats("w", SHAPE(4, 1, 1, 1), FLOATS(10, 20, 100, 200));
    floats("b", SHAPE(4), FLOATS(1, 2, 3, 4));
    onnx_set_int(writer, op("Conv", "x,w,b"), "group", 2);
    expect(SHAPE(1, 4, 1, 2), FLOATS(11, 21, 22, 42, 303, 403, 604, 804));
    begin(22);
    floats("x", SHAPE(1, 2, 1, 2), FLOATS(1, 2, 3, 4));
    floats("w", SHAPE(2, 2, 1, 1), FLOATS(10, 20, 100, 200));
    onnx_set_int(writer, op("ConvTranspose", "x,w"), "group", 2);
    expect(SHAPE(1, 4, 1, 2), FLOATS(10, 20, 20, 40, 300, 400, 600, 800));
}

static void test_conv_transpose(void **state) {
    (void)state;
    begin(22);
    floats("x", SHAPE(1, 1, 3, 3), ramp);
    floats("w", SHAPE(1, 2, 3, 3), ones);
    op("ConvTranspose", "x,w");
    static const float plane[] = {0,  1,  3, 3,  2,  3,  8,  15, 12, 7,  9,  21, 36,
                                  27, 15, 9, 20, 33, 24, 13, 6,  13, 21, 15, 8};
    float both[50];
    for (int i = 0; i < 50; i++)
        both[i] = plane[i % 25];
    expect(SHAPE(1, 2, 5, 5), both);

    begin(22);
    floats("x", SHAPE(1, 1, 2), FLOATS(1, 2));
    floats("w", SHAPE(1, 1, 3), FLOATS(1, 10, 100));
    Tsr__NodeProto *node = op("ConvTranspose", "x,w");
    onnx_set_ints(writer, node, "strides", 1, INTS(2));
    onnx_set_ints(writer, node, "output_padding", 1, INTS(1));
    expect(SHAPE(1, 1, 6), FLOATS(1, 10, 102, 20, 200, 0));

    begin(22);
    floats("x", SHAPE(1, 1, 2), FLOATS(1, 2));
    floats("w", SHAPE(1, 1, 3), FLOATS(1, 10, 100));
    node = op("ConvTranspose", "x,w");
    onnx_set_ints(writer, node, "strides", 1, INTS(2));
    onnx_set_ints(writer, node, "pads", 2, INTS(1, 0));
    expect(SHAPE(1, 1, 4), FLOATS(10, 102, 20, 200));
}

static void test_gemm(void **state) {
    (void)state;
    begin(22);
    floats("a", SHAPE(3, 2), FLOATS(1, 4, 2, 5, 3, 6));
    floats("b", SHAPE(2, 3), FLOATS(1, 0, 1, 0, 1, 0));
    floats("c", SHAPE(2, 1), FLOATS(10, 20));
    Tsr__NodeProto *node = op("Gemm", "a,b,c");
    onnx_set_int(writer, node, "transA", 1);
    onnx_set_int(writer, node, "transB", 1);
    onnx_set_float(writer, node, "alpha", 2);
    onnx_set_float(writer, node, "beta", 0.5f);
    expect(SHAPE(2, 2), FLOATS(13, 9, 30, 20));
}

static void test_matmul(void **state) {
    (void)state;
    begin(22); /* the left batch is broadcast to the right one */
    floats("a", SHAPE(1, 1, 2), FLOATS(1, 2));
    floats("b", SHAPE(2, 2, 1), FLOATS(1, 10, 100, 1000));
    op("MatMul", "a,b");
    expect(SHAPE(2, 1, 1), FLOATS(21, 2100));
    begin(22);
    floats("a", SHAPE(2), FLOATS(1, 2));
    floats("b", SHAPE(2, 3), FLOATS(1, 2, 3, 10, 20, 30));
    op("MatMul", "a,b");
    expect(SHAPE(3), FLOATS(21, 42, 63));
    begin(22);
    floats("a", SHAPE(2), FLOATS(1, 2));
    floats("b", SHAPE(2), FLOATS(3, 4));
    op("MatMul", "a,b");
    expect(SCALAR, FLOATS(11));
}

/* ---- normalizations, pools ---- */

static void test_normalizations(void **state) {
    (void)state;
    begin(22); /* sqrt(variance + epsilon) is 2 and 1 */
    floats("x", SHAPE(1, 2, 2), FLOATS(1, 2, 3, 4));
    floats("scale", SHAPE(2), FLOATS(2, 3));
    floats("bias", SHAPE(2), FLOATS(10, 20));
    floats("mean", SHAPE(2), FLOATS(1, 2));
    floats("variance", SHAPE(2), FLOATS(3.5f, 0.5f));
    onnx_set_float(writer, op("BatchNormalization", "x,scale,bias,mean,variance"), "epsilon", 0.5f);
    expect(SHAPE(1, 2, 2), FLOATS(10, 11, 23, 26));
    begin(22);
    floats("x", SHAPE(1, 2, 1, 3), FLOATS(-1, 0, 1, 2, 3, 4));
    floats("scale", SHAPE(2), FLOATS(1, 1.5f));
    floats("bias", SHAPE(2), FLOATS(0, 1));
    op("InstanceNormalization", "x,scale,bias");
    expect(SHAPE(1, 2, 1, 3), FLOATS(-1.2247357f, 0, 1.2247357f, -0.8371035f, 1, 2.8371036f));
}

static void test_softmax(void **state) {
    (void)state;
    begin(22);
    floats("x", SHAPE(1, 2, 2), FLOATS(1000, 0, 1000, logf(3)));
    onnx_set_int(writer, op("Softmax", "x"), "axis", 1);
    expect(SHAPE(1, 2, 2), FLOATS(0.5f, 0.25f, 0.5f, 0.75f));
    begin(11); /* over all axes from the given one on */
    floats("x", SHAPE(1, 2, 2), FLOATS(0, 0, 0, 0));
    onnx_set_int(writer, op("Softmax", "x"), "axis", 1);
    expect(SHAPE(1, 2, 2), FLOATS(0.25f, 0.25f, 0.25f, 0.25f));
}

static void test_max_pool(void **state) {
    (void)state;
    begin(22); /* the last column of windows reaches over the edge */
    floats("x", SHAPE(1, 1, 3, 3), FLOATS(1, 2, 3, 4, -5, 6, 7, 8, 9));
    Tsr__NodeProto *node = op("MaxPool", "x");
    onnx_set_ints(writer, node, "kernel_shape", 2, INTS(2, 2));
    onnx_set_ints(writer, node, "strides", 2, INTS(2, 2));
    onnx_set_int(writer, node, "ceil_mode", 1);
    expect(SHAPE(1, 1, 2, 2), FLOATS(4, 6, 8, 9));

    begin(22);
    floats("x", SHAPE(1, 1, 1, 4), FLOATS(-4, -3, -2, -1));
    node = op("MaxPool", "x");
    onnx_set_ints(writer, node, "kernel_shape", 2, INTS(1, 2));
    onnx_set_ints(writer, node, "dilations", 2, INTS(1, 2));
    onnx_set_ints(writer, node, "pads", 4, INTS(0, 1, 0, 1));
    expect(SHAPE(1, 1, 1, 4), FLOATS(-3, -2, -1, -2));

    begin(22); /* NaN wins */
    floats("x", SHAPE(1, 1, 4), FLOATS(1, NAN, -2, -3));
    onnx_set_ints(writer, op("MaxPool", "x"), "kernel_shape", 1, INTS(2));
    expect(SHAPE(1, 1, 3), FLOATS(NAN, NAN, -2));
}

static void check_pool_indices(int64_t storage_order, const int64_t *expected) {
    begin(22);
    floats("x", SHAPE(1, 2, 2, 3), FLOATS(1, 2, 3, 6, 5, 4, 0, 9, 0, 0, 0, 9));
    Tsr__NodeProto *node = onnx_add_node(writer, "MaxPool", "pool", "x", "max,y");
    onnx_set_ints(writer, node, "kernel_shape", 2, INTS(2, 2));
    onnx_set_int(writer, node, "storage_order", storage_order);
    expect_ints(TSR_DTYPE_I64, SHAPE(1, 2, 1, 2), expected);
}

static void test_max_pool_indices(void **state) {
    (void)state;
    check_pool_indices(0, INTS(3, 4, 7, 7));
    check_pool_indices(1, INTS(1, 3, 8, 8));
}

static void check_average_pool(int64_t count_include_pad, const float *expected) {
    begin(22);
    floats("x", SHAPE(1, 1, 4), FLOATS(2, 4, 6, 8));
    Tsr__NodeProto *node = op("AveragePool", "x");
    onnx_set_ints(writer, node, "kernel_shape", 1, INTS(3));
    onnx_set_ints(writer, node, "strides", 1, INTS(2));
    onnx_set_ints(writer, node, "pads", 2, INTS(1, 0));
    onnx_set_int(writer, node, "ceil_mode", 1);
    onnx_set_int(writer, node, "count_include_pad", count_include_pad);
    expect(SHAPE(1, 1, 2), expected);
}

static void test_average_pools(void **state) {
    (void)state;
    check_average_pool(0, FLOATS(3, 6));
    check_average_pool(1, FLOATS(2, 6));
    begin(22); /* what ceil_mode adds after the padding does not count */
    floats("x", SHAPE(1, 1, 4), FLOATS(2, 4, 6, 8));
    Tsr__NodeProto *node = op("AveragePool", "x");
    onnx_set_ints(writer, node, "kernel_shape", 1, INTS(3));
    onnx_set_ints(writer, node, "strides", 1, INTS(2));
    onnx_set_int(writer, node, "ceil_mode", 1);
    onnx_set_int(writer, node, "count_include_pad", 1);
    expect(SHAPE(1, 1, 2), FLOATS(4, 7));
    begin(22);
    floats("x", SHAPE(1, 2, 1, 2), FLOATS(1, 2, 3, 5));
    op("GlobalAveragePool", "x");
    expect(SHAPE(1, 2, 1, 1), FLOATS(1.5f, 4));
    begin(22);
    floats("x", SHAPE(1, 2, 1, 2), FLOATS(-3, -2, 5, NAN));
    op("GlobalMaxPool", "x");
    expect(SHAPE(1, 2, 1, 1), FLOATS(-2, NAN));
}

/* ---- moving elements ---- */

static void test_concat_and_split(void **state) {
    (void)state;
    begin(22);
    floats("a", SHAPE(2, 1), FLOATS(1, 2));
    floats("b", SHAPE(2, 2), FLOATS(3, 4, 5, 6));
    onnx_set_int(writer, op("Concat", "a,b"), "axis", -1);
    expect(SHAPE(2, 3), FLOATS(1, 3, 4, 2, 5, 6));
    begin(22);
    ints("x", SHAPE(2, 3), INTS(1, 2, 3, 4, 5, 6));
    ints("sizes", SHAPE(2), INTS(1, 2));
    onnx_set_int(writer, onnx_add_node(writer, "Split", "split", "x,sizes", "first,y"), "axis", 1);
    expect_ints(TSR_DTYPE_I64, SHAPE(2, 2), INTS(2, 3, 5, 6));
}

static void test_slice(void **state) {
    (void)state;
    begin(22);
    floats("x", SHAPE(2, 4), ramp);
    ints("starts", SHAPE(2), INTS(-1, 1));
    ints("ends", SHAPE(2), INTS(-100, 100));
    ints("axes", SHAPE(2), INTS(1, 0));
    ints("steps", SHAPE(2), INTS(-2, 1));
    op("Slice", "x,starts,ends,axes,steps");
    expect(SHAPE(1, 2), FLOATS(7, 5));
}

static void test_transpose(void **state) {
    (void)state;
    begin(22);
    ints("x", SHAPE(2, 3), INTS(1, 2, 3, 4, 5, 6));
    op("Transpose", "x");
    expect_ints(TSR_DTYPE_I64, SHAPE(3, 2), INTS(1, 4, 2, 5, 3, 6));
    begin(22);
    floats("x", SHAPE(1, 2, 3), ramp);
    onnx_set_ints(writer, op("Transpose", "x"), "perm", 3, INTS(2, 0, 1));
    expect(SHAPE(3, 1, 2), FLOATS(0, 3, 1, 4, 2, 5));
}

static void check_pad(const char *mode, const int64_t pads[2], int64_t length,
                      const float *expected) {
    begin(22);
    floats("x", SHAPE(3), FLOATS(1, 2, 3));
    ints("pads", SHAPE(2), pads);
    floats("fill", SCALAR, FLOATS(9));
    onnx_set_string(writer, op("Pad", "x,pads,fill"), "mode", mode);
    expect(SHAPE(length), expected);
}

static void test_pad(void **state) {
    (void)state;
    check_pad("constant", INTS(2, 1), 6, FLOATS(9, 9, 1, 2, 3, 9));
    check_pad("edge", INTS(2, 1), 6, FLOATS(1, 1, 1, 2, 3, 3));
    check_pad("reflect", INTS(2, 1), 6, FLOATS(3, 2, 1, 2, 3, 2));
    check_pad("constant", INTS(-1, 1), 3, FLOATS(2, 3, 9));
    check_pad("edge", INTS(1, -2), 2, FLOATS(1, 1));
}

static void test_gather(void **state) {
    (void)state;
    begin(22);
    floats("x", SHAPE(2, 3), ramp);
    ints("indices", SHAPE(1, 2), INTS(-1, 0));
    onnx_set_int(writer, op("Gather", "x,indices"), "axis", 1);
    expect(SHAPE(2, 1, 2), FLOATS(2, 0, 5, 3));
    begin(22);
    ints("x", SHAPE(3), INTS(10, 20, 30));
    ints("index", SCALAR, INTS(-3));
    op("Gather", "x,index");
    expect_ints(TSR_DTYPE_I64, SCALAR, INTS(10));
    begin(22);
    ints("x", SHAPE(3), INTS(10, 20, 30));
    ints("index", SCALAR, INTS(3));
    op("Gather", "x,index");
    expect_failure(TSR_ERROR_INVALID_MODEL);
}

/* An index that is not known before the run. */
static void test_gather_out_of_range(void **state) {
    (void)state;
    begin(22);
    floats("x", SHAPE(3), FLOATS(10, 20, 30));
    onnx_add_input(writer, "index", TSR_DTYPE_I64, SCALAR);
    op("Gather", "x,index");
    add_output(writer, "y", TSR_DTYPE_F32);
    tsr_graph *graph = prepare_graph(writer);
    const tsr_node *node = producer_of(graph, "y");
    float y = 0;
    void **elements = calloc((size_t)graph->value_count, sizeof *elements);
    assert_non_null(elements);
    elements[node->inputs[0]] = (void *)value_named(graph, "x")->data;
    elements[node->outputs[0]] = &y;
    elements[node->inputs[1]] = INTS(-1);
    assert_int_equal(tsr_cpu_eval(graph, node, elements), TSR_OK);
    assert_true(y == 30);
    elements[node->inputs[1]] = INTS(-4);
    assert_int_equal(tsr_cpu_eval(graph, node, elements), TSR_ERROR_INVALID_ARGUMENT);
    elements[node->inputs[1]] = INTS(INT64_MIN);
    assert_int_equal(tsr_cpu_eval(graph, node, elements), TSR_ERROR_INVALID_ARGUMENT);
    free(elements);
    tsr_graph_destroy(graph);
}

static void test_depth_and_space(void **state) {
    (void)state;
    begin(22); /* two pixels of eight channels: the block's position varies slowest */
    floats("x", SHAPE(1, 8, 1, 1), ramp);
    onnx_set_int(writer, op("DepthToSpace", "x"), "blocksize", 2);
    expect(SHAPE(1, 2, 2, 2), FLOATS(0, 2, 4, 6, 1, 3, 5, 7));
    begin(22);
    floats("x", SHAPE(1, 8, 1, 1), ramp);
    Tsr__NodeProto *node = op("DepthToSpace", "x");
    onnx_set_int(writer, node, "blocksize", 2);
    onnx_set_string(writer, node, "mode", "CRD");
    expect(SHAPE(1, 2, 2, 2), FLOATS(0, 1, 2, 3, 4, 5, 6, 7));
    begin(22);
    floats("x", SHAPE(1, 2, 2, 2), FLOATS(0, 2, 4, 6, 1, 3, 5, 7));
    onnx_set_int(writer, op("SpaceToDepth", "x"), "blocksize", 2);
    expect(SHAPE(1, 8, 1, 1), FLOATS(0, 1, 2, 3, 4, 5, 6, 7));
}

static void test_reshaping(void **state) {
    (void)state;
    begin(22);
    floats("x", SHAPE(2, 3), ramp);
    ints("shape", SHAPE(3), INTS(0, 1, -1));
    op("Reshape", "x,shape");
    expect(SHAPE(2, 1, 3), ramp);
    begin(22);
    floats("x", SHAPE(2, 1, 3), ramp);
    op("Flatten", "x");
    expect(SHAPE(2, 3), ramp);
    begin(22);
    floats("x", SHAPE(1, 2, 1), ramp);
    op("Squeeze", "x");
    expect(SHAPE(2), ramp);
    begin(22);
    ints("x", SHAPE(2), INTS(3, 4));
    ints("axes", SHAPE(2), INTS(0, -1));
    op("Unsqueeze", "x,axes");
    expect_ints(TSR_DTYPE_I64, SHAPE(1, 2, 1), INTS(3, 4));
    begin(22);
    floats("x", SHAPE(2), ramp);
    op("Identity", "x");
    expect(SHAPE(2), ramp);
}

/* ---- GridSample ---- */

/* Of the row [1, 2, 3, 4], at -0.5, 0, 1.5, 2.5, 3.5, 5.5 and NaN without align_corners. */
static void check_grid_sample(const char *mode, const char *padding, int align_corners,
                              const float *expected) {
    begin(22);
    floats("x", SHAPE(1, 1, 1, 4), ramp + 1);
    floats("grid", SHAPE(1, 1, 7, 2), FLOATS(-1, 0, -0.75f, 0, 0, 0, 0.5f, 0, 1, 0, 2, 0, 0, NAN));
    Tsr__NodeProto *node = op("GridSample", "x,grid");
    onnx_set_string(writer, node, "mode", mode);
    onnx_set_string(writer, node, "padding_mode", padding);
    onnx_set_int(writer, node, "align_corners", align_corners);
    expect(SHAPE(1, 1, 1, 7), expected);
}

static void test_grid_sample(void **state) {
    (void)state;
    check_grid_sample("linear", "zeros", 0, FLOATS(0.5f, 1, 2.5f, 3.5f, 2, 0, NAN));
    check_grid_sample("linear", "border", 0, FLOATS(1, 1, 2.5f, 3.5f, 4, 4, NAN));
    check_grid_sample("linear", "reflection", 0, FLOATS(1, 1, 2.5f, 3.5f, 4, 2.5f, NAN));
    check_grid_sample("linear", "reflection", 1, FLOATS(1, 1.375f, 2.5f, 3.25f, 4, 2.5f, NAN));
    /* Halves to even. */
    check_grid_sample("nearest", "zeros", 0, FLOATS(1, 1, 3, 3, 0, 0, NAN));
    check_grid_sample("nearest", "reflection", 0, FLOATS(1, 1, 3, 3, 4, 2, NAN));
    check_grid_sample("cubic", "zeros", 0, FLOATS(0.40625f, 1, 2.5f, 3.96875f, 2.09375f, 0, NAN));
}

/* Of the volume 0 to 7: x, y and z name columns, rows and depths. */
static void test_grid_sample_of_volumes(void **state) {
    (void)state;
    begin(20);
    floats("x", SHAPE(1, 1, 2, 2, 2), ramp);
    floats("grid", SHAPE(1, 1, 2, 2, 3), FLOATS(1, -1, -1, -1, 1, -1, -1, -1, 1, 0, 0, 0.5f));
    onnx_set_int(writer, op("GridSample", "x,grid"), "align_corners", 1);
    expect(SHAPE(1, 1, 1, 2, 2), FLOATS(1, 2, 4, 4.5f));
    begin(20); /* a quarter of the first pixel; a quarter of it, half outside */
    floats("x", SHAPE(1, 1, 1, 1, 2), FLOATS(8, 16));
    floats("grid", SHAPE(1, 1, 1, 2, 3), FLOATS(-0.5f, 1, 1, -1, 1, 0));
    op("GridSample", "x,grid");
    expect(SHAPE(1, 1, 1, 1, 2), FLOATS(2, 2));
    begin(20);
    floats("x", SHAPE(1, 1, 4), ramp + 1);
    floats("grid", SHAPE(1, 3, 1), FLOATS(-0.75f, 0, 1));
    op("GridSample", "x,grid");
    expect(SHAPE(1, 1, 3), FLOATS(1, 2.5f, 2));
}

/* ---- Resize ---- */

/* Resizes [1, 2, 3, ...] of the given length to another length. */
static Tsr__NodeProto *resize(int64_t length, int64_t size, const char *mode,
                              const char *transform) {
    begin(22);
    floats("x", SHAPE(length), ramp + 1);
    ints("size", SHAPE(1), &size);
    Tsr__NodeProto *node = op("Resize", "x,,,size");
    onnx_set_string(writer, node, "mode", mode);
    onnx_set_string(writer, node, "coordinate_transformation_mode", transform);
    return node;
}

static void test_resize_nearest(void **state) {
    (void)state;
    resize(2, 4, "nearest", "half_pixel");
    expect(SHAPE(4), FLOATS(1, 1, 2, 2));
    Tsr__NodeProto *node = resize(4, 2, "nearest", "asymmetric");
    onnx_set_string(writer, node, "nearest_mode", "floor");
    expect(SHAPE(2), FLOATS(1, 3));
    begin(22);
    ints("x", SHAPE(1, 1, 1, 2), INTS(7, 8));
    floats("scales", SHAPE(4), FLOATS(1, 1, 2, 1));
    op("Resize", "x,,scales");
    expect_ints(TSR_DTYPE_I64, SHAPE(1, 1, 2, 2), INTS(7, 8, 7, 8));
}

static void test_resize_linear(void **state) {
    (void)state;
    resize(2, 4, "linear", "half_pixel");
    expect(SHAPE(4), FLOATS(1, 1.25f, 1.75f, 2));
    resize(2, 4, "linear", "asymmetric");
    expect(SHAPE(4), FLOATS(1, 1.5f, 2, 2));
    resize(3, 5, "linear", "align_corners");
    expect(SHAPE(5), FLOATS(1, 1.5f, 2, 2.5f, 3));
    begin(22); /* three axes at once */
    floats("x", SHAPE(2, 2, 2), ramp);
    ints("sizes", SHAPE(3), INTS(3, 3, 2));
    Tsr__NodeProto *node = op("Resize", "x,,,sizes");
    onnx_set_string(writer, node, "mode", "linear");
    onnx_set_string(writer, node, "coordinate_transformation_mode", "align_corners");
    expect(SHAPE(3, 3, 2), FLOATS(0, 1, 1, 2, 2, 3, 2, 3, 3, 4, 4, 5, 4, 5, 5, 6, 6, 7));
}

static void test_resize_cubic(void **state) {
    (void)state;
    resize(4, 7, "cubic", "align_corners");
    expect(SHAPE(7), FLOATS(1, 1.40625f, 2, 2.5f, 3, 3.59375f, 4));
    Tsr__NodeProto *node = resize(4, 7, "cubic", "align_corners");
    onnx_set_int(writer, node, "exclude_outside", 1);
    expect(SHAPE(7), FLOATS(1, 1.3714286f, 2, 2.5f, 3, 3.6285715f, 4));
}

static void check_crop(const char *mode, const float *expected) {
    begin(22);
    floats("x", SHAPE(3), FLOATS(1, 2, 3));
    floats("roi", SHAPE(2), FLOATS(0.25f, 1.75f));
    ints("size", SHAPE(1), INTS(4));
    Tsr__NodeProto *node = op("Resize", "x,roi,,size");
    onnx_set_string(writer, node, "mode", mode);
    onnx_set_string(writer, node, "coordinate_transformation_mode", "tf_crop_and_resize");
    onnx_set_float(writer, node, "extrapolation_value", 10);
    expect(SHAPE(4), expected);
}

static void test_resize_crop(void **state) {
    (void)state;
    check_crop("linear", FLOATS(1.5f, 2.5f, 10, 10)); /* at 0.5, 1.5, 2.5, 3.5 */
    check_crop("nearest", FLOATS(1, 2, 10, 10));
}

/* The examples of ONNX's documentation: 1 to 16 in an image of 4 x 4. */
static void check_antialiased(const char *mode, float scale, int64_t size, const float *expected) {
    begin(22);
    floats("x", SHAPE(1, 1, 4, 4), ramp + 1);
    ints("sizes", SHAPE(4), INTS(1, 1, size, size));
    floats("scales", SHAPE(4), FLOATS(1, 1, scale, scale));
    Tsr__NodeProto *node = op("Resize", scale > 0 ? "x,,scales" : "x,,,sizes");
    onnx_set_string(writer, node, "mode", mode);
    onnx_set_int(writer, node, "antialias", 1);
    expect(SHAPE(1, 1, size, size), expected);
}

static void test_resize_antialiased(void **state) {
    (void)state;
    check_antialiased("linear", 0.6f, 2, FLOATS(2.875f, 4.5f, 9.375f, 11));
    check_antialiased("cubic", 0.6f, 2, FLOATS(2.5180721f, 4.2858863f, 9.589329f, 11.357142f));
    check_antialiased("linear", 0, 3,
                      FLOATS(2.3636363f, 3.590909f, 4.818182f, 7.2727275f, 8.5f, 9.727273f,
                             12.181818f, 13.409091f, 14.636364f));
    check_antialiased("cubic", 0, 3,
                      FLOATS(1.7750092f, 3.1200073f, 4.4650054f, 7.1550016f, 8.5f, 9.844998f,
                             12.534994f, 13.8799925f, 15.224991f));
    check_antialiased("linear", 1.5f, 6,
                      FLOATS(1, 1.5f, 2.1666667f, 2.8333333f, 3.5f, 4, 3, 3.5f, 4.1666667f,
                             4.8333335f, 5.5f, 6, 5.6666665f, 6.1666665f, 6.8333335f, 7.5f,
                             8.166667f, 8.666667f, 8.333333f, 8.833333f, 9.5f, 10.166667f,
                             10.833333f, 11.333333f, 11, 11.5f, 12.166667f, 12.833333f, 13.5f, 14,
                             13, 13.5f, 14.166667f, 14.833333f, 15.5f, 16));
    /* of [1, 2, 3, 4] at 1.5, without those beside: 1/4, 3/4, 3/4, 1/4 */
    Tsr__NodeProto *node = resize(4, 1, "linear", "half_pixel");
    onnx_set_int(writer, node, "antialias", 1);
    onnx_set_int(writer, node, "exclude_outside", 1);
    expect(SHAPE(1), FLOATS(2.5f));
}

/* ---- constants and types ---- */

static void check_cast(tsr_dtype to, const int64_t *expected) {
    begin(22);
    floats("x", SHAPE(6), FLOATS(-1.75f, 0.5f, 300, NAN, -INFINITY, 1e30f));
    onnx_set_int(writer, op("Cast", "x"), "to", tsr_dtype_to_onnx(to));
    expect_ints(to, SHAPE(6), expected);
}

static void test_cast(void **state) {
    (void)state;
    check_cast(TSR_DTYPE_I64, INTS(-1, 0, 300, 0, INT64_MIN, INT64_MAX));
    check_cast(TSR_DTYPE_I32, INTS(-1, 0, 300, 0, INT32_MIN, INT32_MAX));
    check_cast(TSR_DTYPE_U8, INTS(0, 0, 255, 0, 0, 255));
    check_cast(TSR_DTYPE_I16, INTS(-1, 0, 300, 0, INT16_MIN, INT16_MAX));
    check_cast(TSR_DTYPE_U16, INTS(0, 0, 300, 0, 0, UINT16_MAX));
    check_cast(TSR_DTYPE_U32, INTS(0, 0, 300, 0, 0, UINT32_MAX));
    check_cast(TSR_DTYPE_U64, INTS(0, 0, 300, 0, 0, -1));
    check_cast(TSR_DTYPE_BOOL, INTS(1, 1, 1, 1, 1, 1));
    begin(22);
    ints("x", SHAPE(3), INTS(-1, 258, 0));
    onnx_set_int(writer, op("Cast", "x"), "to", tsr_dtype_to_onnx(TSR_DTYPE_U8));
    expect_ints(TSR_DTYPE_U8, SHAPE(3), INTS(255, 2, 0));
    begin(22);
    floats("x", SHAPE(3), FLOATS(1.0001f, 2049, 1e6f));
    onnx_set_int(writer, op("Cast", "x"), "to", tsr_dtype_to_onnx(TSR_DTYPE_F16));
    add_output(writer, "y", TSR_DTYPE_F16);
    tsr_graph *graph = prepare_graph(writer);
    expect_floats(value_named(graph, "y")->data, FLOATS(1, 2048, INFINITY), 3, 0);
    tsr_graph_destroy(graph);
}

static void check_shape(int64_t start, int64_t end, int64_t count, const int64_t *expected) {
    begin(22);
    floats("x", SHAPE(1, 2, 3), ramp);
    Tsr__NodeProto *node = op("Shape", "x");
    onnx_set_int(writer, node, "start", start);
    onnx_set_int(writer, node, "end", end);
    expect_ints(TSR_DTYPE_I64, SHAPE(count), expected);
}

static void test_shape(void **state) {
    (void)state;
    check_shape(0, 3, 3, INTS(1, 2, 3));
    check_shape(-2, 100, 2, INTS(2, 3));
    check_shape(-100, -1, 2, INTS(1, 2));
}

static void test_dropout(void **state) {
    (void)state;
    begin(22);
    floats("x", SHAPE(3), ramp);
    op("Dropout", "x");
    expect(SHAPE(3), ramp);
    begin(22);
    floats("x", SHAPE(3), ramp);
    onnx_add_node(writer, "Dropout", "dropout", "x", "kept,y");
    expect_ints(TSR_DTYPE_BOOL, SHAPE(3), INTS(1, 1, 1));
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unary),
        cmocka_unit_test(test_unary_ints),
        cmocka_unit_test(test_not),
        cmocka_unit_test(test_layer_normalization),
        cmocka_unit_test(test_binary_broadcasts),
        cmocka_unit_test(test_binary_ints),
        cmocka_unit_test(test_indices),
        cmocka_unit_test(test_top_k),
        cmocka_unit_test(test_tensor_scatter),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_bit_cast),
        cmocka_unit_test(test_sums_and_triangles),
        cmocka_unit_test(test_made_tensors),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_arg),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_several_inputs),
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_logic),
        cmocka_unit_test(test_float_tests),
        cmocka_unit_test(test_prelu_and_clip),
        cmocka_unit_test(test_conv),
        cmocka_unit_test(test_conv_groups),
        cmocka_unit_test(test_conv_transpose),
        cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_matmul),
        cmocka_unit_test(test_normalizations),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_max_pool),
        cmocka_unit_test(test_max_pool_indices),
        cmocka_unit_test(test_average_pools),
        cmocka_unit_test(test_concat_and_split),
        cmocka_unit_test(test_slice),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_pad),
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_gather_out_of_range),
        cmocka_unit_test(test_depth_and_space),
        cmocka_unit_test(test_reshaping),
        cmocka_unit_test(test_grid_sample),
        cmocka_unit_test(test_grid_sample_of_volumes),
        cmocka_unit_test(test_resize_nearest),
        cmocka_unit_test(test_resize_linear),
        cmocka_unit_test(test_resize_cubic),
        cmocka_unit_test(test_resize_crop),
        cmocka_unit_test(test_resize_antialiased),
        cmocka_unit_test(test_cast),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_dropout),
    };
    return cmocka_run_group_tests_name("cpu", tests, NULL, NULL);
}
