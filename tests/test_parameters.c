/* What the operators' parameters resolve to: windows, slices, pads, Resize's coordinates,
 * multiply-adds. */
#include "node_text.h"

#include "graph/infer.h"
#include "support/main.h"

#include <math.h>
#include <stdio.h>

/* ---- windows, slices, pads ---- */

static void test_window(void **state) {
    (void)state;
    static const struct {
        const char *op, *inputs, *attrs;
        int64_t pads[4], out[2], output_padding[2]; /* pads: begins, ends */
    } cases[] = {
        {"Conv", "f[1,1,5,8] f[1,1,3,3]", "pads=1,2,3,4", {1, 2, 3, 4}, {7, 12}, {0, 0}},
        {"Conv", "f[1,1,8] f[1,1,4]", "pads=1,2", {0, 1, 0, 2}, {1, 8}, {0, 0}},
        {"Conv", "f[1,1,8,8] f[1,1,4,4]", "auto_pad=SAME_UPPER", {1, 1, 2, 2}, {8, 8}, {0, 0}},
        {"Conv", "f[1,1,8,8] f[1,1,4,4]", "auto_pad=SAME_LOWER", {2, 2, 1, 1}, {8, 8}, {0, 0}},
        {"Conv",
         "f[1,1,8,8] f[1,1,3,2]",
         "auto_pad=SAME_UPPER dilations=2,2 strides=2,2",
         {1, 0, 2, 1},
         {4, 4},
         {0, 0}},
        {"Conv",
         "f[1,1,8,8] f[1,1,4,4]",
         "auto_pad=VALID pads=1,1,1,1",
         {0, 0, 0, 0},
         {5, 5},
         {0, 0}},
        {"ConvTranspose",
         "f[1,1,3,3] f[1,1,3,3]",
         "auto_pad=SAME_UPPER strides=2,2",
         {0, 0, 1, 1},
         {6, 6},
         {0, 0}},
        {"ConvTranspose",
         "f[1,1,3,3] f[1,1,3,3]",
         "auto_pad=SAME_LOWER strides=2,2",
         {1, 1, 0, 0},
         {6, 6},
         {0, 0}},
        {"ConvTranspose",
         "f[1,1,3,3] f[1,1,4,4]",
         "output_shape=5,3",
         {1, 2, 0, 1},
         {5, 3},
         {0, 0}},
        {"ConvTranspose",
         "f[1,1,3,3] f[1,1,3,3]",
         "strides=3,2 output_shape=10,8 output_padding=0,1",
         {0, 0, 0, 0},
         {10, 8},
         {1, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tsr_graph *graph = make_node(cases[i].op, cases[i].inputs, cases[i].attrs, 1);
        tsr_window w;
        assert_int_equal(tsr_node_window(graph, &graph->nodes[0], &w), TSR_OK);
        for (int axis = 0; axis < 2; axis++) {
            assert_int_equal(w.pad_begin[axis], cases[i].pads[axis]);
            assert_int_equal(w.pad_end[axis], cases[i].pads[2 + axis]);
            assert_int_equal(w.out[axis], cases[i].out[axis]);
            assert_int_equal(w.output_padding[axis], cases[i].output_padding[axis]);
        }
        tsr_graph_destroy(graph);
    }
}

static void test_slice(void **state) {
    (void)state;
    tsr_graph *graph =
        make_node("Slice", "f[4,6,5] i[2]=-2,100 i[2]=-100,-9 i[2]=1,0 i[2]=-2,-3", "", 1);
    tsr_slice slice;
    assert_int_equal(tsr_node_slice(graph, &graph->nodes[0], &slice), TSR_OK);
    static const int64_t expected[3][3] = {{3, -3, 2}, {4, -2, 3}, {0, 1, 5}};
    for (int axis = 0; axis < 3; axis++) {
        assert_int_equal(slice.start[axis], expected[axis][0]);
        assert_int_equal(slice.step[axis], expected[axis][1]);
        assert_int_equal(slice.count[axis], expected[axis][2]);
    }
    tsr_graph_destroy(graph);
}

static void test_pads(void **state) {
    (void)state;
    tsr_graph *graph = make_node("Pad", "f[4,6,5] i[4]=1,2,3,-4 - i[2]=-1,0", "", 1);
    int64_t begin[TSR_MAX_RANK], end[TSR_MAX_RANK];
    assert_int_equal(tsr_node_pads(graph, &graph->nodes[0], begin, end), TSR_OK);
    static const int64_t expected[3][2] = {{2, -4}, {0, 0}, {1, 3}};
    for (int axis = 0; axis < 3; axis++) {
        assert_int_equal(begin[axis], expected[axis][0]);
        assert_int_equal(end[axis], expected[axis][1]);
    }
    tsr_graph_destroy(graph);
}

/* ---- Resize's coordinates, of the only axis ---- */

static void test_resize_coordinates(void **state) {
    (void)state;
    static const struct {
        const char *inputs, *transform;
        float expected[3]; /* of outputs 0, 1, 2 */
    } cases[] = {
        {"f[4] - f[1]=2", "half_pixel", {-0.25f, 0.25f, 0.75f}},
        {"f[4] - - i[1]=3", "half_pixel", {1.0f / 6, 1.5f, 17.0f / 6}},
        {"f[4] - f[1]=2", "asymmetric", {0, 0.5f, 1}},
        {"f[4] - - i[1]=7", "align_corners", {0, 0.5f, 1}},
        {"f[4] - f[1]=0.6", "align_corners", {0, 3 / 1.4f, 6 / 1.4f}}, /* length 2.4, not 2 */
        {"f[4] - f[1]=0.25", "align_corners", {0, 0, 0}},
        {"f[4] - f[1]=0.25", "pytorch_half_pixel", {0, 0, 0}},
        {"f[4] - f[1]=2", "pytorch_half_pixel", {-0.25f, 0.25f, 0.75f}},
        {"f[4] - f[1]=2", "tf_half_pixel_for_nn", {0.25f, 0.75f, 1.25f}},
        {"f[4] - f[1]=0.6", "half_pixel_symmetric", {2.0f / 3, 7.0f / 3, 4}},
        {"f[4] - - i[1]=4", "tf_half_pixel_for_nn", {0, 1, 2}},
        {"f[5] f[2]=0.25,0.75 - i[1]=3", "tf_crop_and_resize", {1, 2, 3}},
        {"f[5] f[2]=0.25,0.75 - i[1]=1", "tf_crop_and_resize", {2, 2, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char attrs[80];
        snprintf(attrs, sizeof attrs, "coordinate_transformation_mode=%s", cases[i].transform);
        tsr_graph *graph = make_node("Resize", cases[i].inputs, attrs, 1);
        int64_t in = graph->values[0].shape.dim[0];
        tsr_resize resize;
        assert_int_equal(tsr_node_resize(graph, &graph->nodes[0], &resize), TSR_OK);
        for (int x = 0; x < 3; x++) {
            float got = tsr_resize_coordinate(&resize, 0, in, x);
            if (!(fabsf(got - cases[i].expected[x]) <= 1e-6f))
                fail_msg("%s, %s: output %d reads %g", cases[i].inputs, attrs, x, (double)got);
        }
        tsr_graph_destroy(graph);
    }
}

static void test_resize_nearest(void **state) {
    (void)state;
    static const struct {
        const char *inputs, *attrs;
        int64_t expected[4]; /* of outputs 0 to 3 */
    } cases[] = {
        {"f[4] - f[1]=2", "coordinate_transformation_mode=asymmetric", {0, 0, 1, 1}},
        {"f[4] - f[1]=2",
         "coordinate_transformation_mode=asymmetric nearest_mode=round_prefer_ceil",
         {0, 1, 1, 2}},
        {"f[4] - f[1]=2",
         "coordinate_transformation_mode=asymmetric nearest_mode=ceil",
         {0, 1, 1, 2}},
        {"f[4] - f[1]=2",
         "coordinate_transformation_mode=asymmetric nearest_mode=floor",
         {0, 0, 1, 1}},
        {"f[2] - f[1]=2", "nearest_mode=ceil", {0, 1, 1, 1}},
        {"f[2] - f[1]=2", "nearest_mode=floor", {0, 0, 0, 1}},
        {"f[5] f[2]=-0.25,0.5 - i[1]=4",
         "coordinate_transformation_mode=tf_crop_and_resize",
         {-1, 0, 1, 2}},
        {"f[5] f[2]=0.5,1.25 - i[1]=4",
         "coordinate_transformation_mode=tf_crop_and_resize",
         {2, 3, 4, -1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tsr_graph *graph = make_node("Resize", cases[i].inputs, cases[i].attrs, 1);
        int64_t in = graph->values[0].shape.dim[0];
        tsr_resize resize;
        assert_int_equal(tsr_node_resize(graph, &graph->nodes[0], &resize), TSR_OK);
        for (int x = 0; x < 4; x++)
            assert_int_equal(tsr_resize_nearest_index(&resize, 0, in, x), cases[i].expected[x]);
        tsr_graph_destroy(graph);
    }
}

/* ---- multiply-adds ---- */

static void test_macs(void **state) {
    (void)state;
    static const struct {
        const char *op, *inputs, *attrs;
        int64_t macs;
    } cases[] = {
        {"Conv", "f[2,6,8,8] f[4,3,3,3]", "group=2", 2 * 4 * 6 * 6 * 3 * 9},
        {"ConvTranspose", "f[2,6,8,8] f[6,2,4,4]", "group=3 strides=2,2", 2 * 6 * 8 * 8 * 2 * 16},
        {"Gemm", "f[5,2] f[3,5]", "transA=1 transB=1", 2 * 3 * 5},
        {"MatMul", "f[7,2,5] f[5,3]", "", 7 * 2 * 3 * 5},
        {"MatMul", "f[2,0] f[0,3]", "", 0},
        {"Add", "f[2] f[2]", "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tsr_graph *graph = make_node(cases[i].op, cases[i].inputs, cases[i].attrs, 1);
        assert_int_equal(tsr_infer_node(graph, &graph->nodes[0]), TSR_OK);
        assert_int_equal(tsr_node_macs(graph, &graph->nodes[0]), cases[i].macs);
        tsr_graph_destroy(graph);
    }
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window),         cmocka_unit_test(test_slice),
        cmocka_unit_test(test_pads),           cmocka_unit_test(test_resize_coordinates),
        cmocka_unit_test(test_resize_nearest), cmocka_unit_test(test_macs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
