/* The reference operators on small cases worked by hand or taken from ONNX's text: what moves
 * elements, GridSample, Resize. */
#include "support/cpu_cases.h"
#include "support/main.h"

#include <math.h>
#include <stdlib.h>

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

int run_program(void) {
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests_name("cpu_movement", tests, NULL, NULL);
}
