/* The reference operators on small cases worked by hand or taken from ONNX's text: sums of
 * products, normalizations, pools. */
#include "support/cpu_cases.h"
#include "support/main.h"

#include <math.h>

/* ---- sums of products ---- */

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

int run_program(void) {
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests_name("cpu_windows", tests, NULL, NULL);
}
