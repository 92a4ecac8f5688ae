/* The reference operators on small cases worked by hand or taken from ONNX's text: element by
 * element, reductions, functions, indices, types. tests/test_cpu_*.c have the others. */
#include "support/cpu_cases.h"
#include "support/main.h"

#include <float.h>
#include <math.h>
#include <string.h>

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
    ints("a", SHAPE(1), INTS(-INT64_MAX));
    ints("e", SHAPE(1), INTS(INT64_MAX));
    ints("d", SHAPE(1), INTS(INT64_MAX / 2 + 1));
    op("Range", "a,e,d");
    expect_ints(TSR_DTYPE_I64, SHAPE(4), INTS(-INT64_MAX, -(INT64_MAX / 2), 1, INT64_MAX / 2 + 2));
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
        cmocka_unit_test(test_cast),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_dropout),
    };
    return cmocka_run_group_tests_name("cpu", tests, NULL, NULL);
}
