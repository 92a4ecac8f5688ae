/* Plans without a device: what a plan needs, where elements lie. */
#include "support/graphs.h"
#include "support/main.h"

#include "base/divide.h"
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tsr_status lower_copy(tsr_plan *plan, const tsr_node *node) {
    int input = tsr_plan_value(plan, node->inputs[0]);
    tsr_plan_copy(plan, input, tsr_plan_output(plan, node, 0));
    return plan->status;
}

static tsr_lower_fn *const lowerings[TSR_OP_COUNT] = {[TSR_OP_Relu] = lower_copy};

/* x -> r0 -> ... -> y */
static tsr_graph *make_chain(int length, int channels, int height, int width) {
    onnx_writer *writer = onnx_writer_create(22);
    onnx_add_input(writer, "x", TSR_DTYPE_F32, SHAPE(1, channels, height, width));
    char name[16] = "x", next[16];
    for (int i = 0; i < length; i++) {
        snprintf(next, sizeof next, "r%d", i);
        if (i + 1 == length)
            strcpy(next, "y");
        onnx_add_node(writer, "Relu", next, name, next);
        memcpy(name, next, sizeof name);
    }
    add_output(writer, "y", TSR_DTYPE_F32);
    return prepare_graph(writer);
}

static tsr_plan_options options_of(uint64_t max_bytes) {
    return (tsr_plan_options){.limits = {.max_texture_size = 256, .max_planes = 4},
                              .max_bytes = max_bytes,
                              .lower = lowerings};
}

static void test_too_little_memory_is_refused(void **state) {
    (void)state;
    tsr_graph *graph = make_chain(3, 4, 8, 8);
    tsr_plan_options unlimited = options_of(0);
    tsr_plan *plan;
    assert_int_equal(tsr_plan_create(graph, &unlimited, &plan), TSR_OK);
    uint64_t needed = plan->tensor_bytes + plan->constant_bytes;
    tsr_plan_destroy(plan);
    tsr_plan_options enough = options_of(needed), less = options_of(needed - 1);
    assert_int_equal(tsr_plan_create(graph, &enough, &plan), TSR_OK);
    tsr_plan_destroy(plan);
    assert_int_equal(tsr_plan_create(graph, &less, &plan), TSR_ERROR_OUT_OF_MEMORY);
    tsr_graph_destroy(graph);
}

/* ---- layouts ---- */

static const tsr_layout_limits small = {.max_texture_size = 64, .max_planes = 8};

/* Elements come back as they were; every texel that holds none is padding or zero. */
static void check_layout(const tsr_shape *shape, tsr_layout_hint hint, bool linear) {
    tsr_layout l;
    assert_int_equal(tsr_layout_make(shape, &small, hint, &l), TSR_OK);
    assert_int_equal(l.linear, linear);
    assert_true(l.texture_w <= small.max_texture_size);
    assert_true(l.texture_h + TSR_ZERO_ROWS <= small.max_texture_size);
    size_t count = (size_t)tsr_shape_count(shape);
    size_t texels = (size_t)l.texture_w * (size_t)l.texture_h * (size_t)l.planes * 4;
    float *elements = calloc(count, sizeof *elements), *back = calloc(count, sizeof *back);
    float *packed = calloc(texels, sizeof *packed);
    for (size_t i = 0; i < count; i++)
        elements[i] = (float)(i + 1);
    tsr_layout_pack(&l, elements, -1, packed);
    tsr_layout_unpack(&l, packed, back);
    assert_memory_equal(back, elements, count * sizeof *back);
    size_t held = 0;
    for (size_t i = 0; i < texels; i++)
        held += packed[i] > 0;
    assert_int_equal(held, count); /* none overlaps another */
    free(elements);
    free(back);
    free(packed);
}

static void test_layouts_keep_elements(void **state) {
    (void)state;
    const tsr_shape shapes[] = {{0, {0}},
                                {1, {7}},
                                {2, {3, 5}},
                                {3, {2, 5, 9}},
                                {4, {1, 1, 1, 1}},
                                {4, {2, 9, 3, 5}},
                                {4, {3, 6, 1, 64}},
                                {4, {1, 4, 63, 64}},
                                {5, {2, 5, 2, 3, 9}},
                                {8, {2, 3, 1, 2, 2, 1, 3, 5}}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int planes = 0; planes <= 8; planes = planes ? planes * 2 : 1)
            for (int pixel_stride = 0; pixel_stride < 4; pixel_stride++)
                check_layout(&shapes[i],
                             (tsr_layout_hint){.planes = planes, .pixel_stride = pixel_stride},
                             false);
    check_layout(&(tsr_shape){4, {1, 4, 100, 3}}, (tsr_layout_hint){.planes = 1}, true);
    check_layout(&(tsr_shape){4, {1, 4, 2, 1000}}, (tsr_layout_hint){.planes = 1}, true);
}

/* Of the element at `index` of a shape, with this axis in the texel: N, C, H, W. */
static void place_of(const tsr_shape *shape, int channel_axis, int64_t index, int64_t at[4]) {
    int64_t size[4] = {1, 1, 1, 1};
    memset(at, 0, 4 * sizeof *at);
    for (int i = shape->rank - 1; i >= 0; i--) {
        int a = i < channel_axis ? 0 : i == channel_axis ? 1 : i == shape->rank - 1 ? 3 : 2;
        at[a] += index % shape->dim[i] * size[a];
        size[a] *= shape->dim[i];
        index /= shape->dim[i];
    }
}

/* A buffer's texels hold four elements along the axis each; strides lead to them. */
static void check_channel_axis(const tsr_shape *shape, int channel_axis) {
    const tsr_layout_limits buffers = {.max_planes = 1, .max_buffer_bytes = 1 << 20};
    const tsr_shape folded = tsr_layout_fold(shape, channel_axis);
    tsr_layout l;
    int64_t count = tsr_shape_count(shape), stride[4], at[4];
    assert_int_equal(tsr_layout_make(&folded, &buffers, (tsr_layout_hint){0}, &l), TSR_OK);
    tsr_layout_strides(&l, stride);
    float *elements = calloc((size_t)count, sizeof *elements);
    float *texels = calloc(tsr_layout_floats(&l), sizeof *texels);
    for (int64_t i = 0; i < count; i++)
        elements[i] = (float)i;
    tsr_layout_pack(&l, elements, 0, texels);
    for (int64_t i = 0; i < count; i++) {
        place_of(shape, channel_axis, i, at);
        int64_t tile = at[0] * l.tiles + at[1] / 4, texel = (tile * l.h + at[2]) * l.w + at[3];
        assert_true(texels[texel * 4 + at[1] % 4] == (float)i);
        assert_int_equal(
            at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2] + at[3] * stride[3], i);
    }
    free(elements);
    free(texels);
}

static void test_channel_axes(void **state) {
    (void)state;
    static const int64_t dims[TSR_MAX_RANK] = {2, 3, 5, 2, 1, 3, 2, 3};
    for (int rank = 1; rank <= TSR_MAX_RANK; rank++)
        for (int axis = 0; axis < rank; axis++) {
            const tsr_shape shape = tsr_shape_make(rank, dims);
            check_channel_axis(&shape, axis);
        }
}

/* At most half of the columns again are wasted. */
static void test_planes_pay(void **state) {
    (void)state;
    static const int planes[] = {0, 1, 2, 4, 4, 2, 8, 8, 8};
    for (int w = 1; w <= 8; w++) {
        tsr_layout l;
        const tsr_shape shape = {4, {1, 4, 2, w}};
        assert_int_equal(tsr_layout_make(&shape, &small, (tsr_layout_hint){0}, &l), TSR_OK);
        assert_int_equal(l.planes, planes[w]);
    }
}

static void test_layouts_have_limits(void **state) {
    (void)state;
    tsr_layout l, half;
    assert_int_equal(
        tsr_layout_make(&(tsr_shape){4, {1, 4, 64, 1000}}, &small, (tsr_layout_hint){0}, &l),
        TSR_ERROR_LIMIT);
    assert_int_equal(
        tsr_layout_make(&(tsr_shape){4, {1, 4, 0, 1}}, &small, (tsr_layout_hint){0}, &l),
        TSR_ERROR_UNSUPPORTED);
    assert_int_equal(
        tsr_layout_make(&(tsr_shape){4, {1, 4, 8, 8}}, &small, (tsr_layout_hint){0}, &l), TSR_OK);
    assert_int_equal(tsr_layout_make(&(tsr_shape){4, {1, 4, 8, 8}}, &small,
                                     (tsr_layout_hint){.format = TSR_TEXEL_F16}, &half),
                     TSR_OK);
    assert_true(tsr_layout_same(&l, &l));
    assert_false(tsr_layout_same(&l, &half));
    assert_int_equal(tsr_layout_bytes(&l), 2 * tsr_layout_bytes(&half));
    /* indices of elements are 32-bit integers in shaders */
    const tsr_layout_limits large = {.max_texture_size = 16384, .max_planes = 8};
    const tsr_shape many = {4, {1, 4, 16000, 16000}};
    assert_int_equal(tsr_layout_make(&many, &large, (tsr_layout_hint){0}, &half), TSR_ERROR_LIMIT);
}

static int64_t squares_of(const tsr_layout *l, int side) {
    return tsr_divide_up(l->texture_w, side) * tsr_divide_up(l->texture_h, side);
}

/* Small tiles of many channels fill the squares that a device stores whole. */
static void test_grids_fill_squares(void **state) {
    (void)state;
    const tsr_layout_limits tiled = {.max_texture_size = 4096, .max_planes = 4, .shaded = 16},
                            any = {.max_texture_size = 4096, .max_planes = 4};
    const tsr_shape shapes[] = {{4, {1, 256, 4, 16}}, {4, {9, 64, 8, 8}}};
    const int64_t squares[] = {4, 9};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        tsr_layout l, narrow;
        assert_int_equal(tsr_layout_make(&shapes[i], &tiled, (tsr_layout_hint){0}, &l), TSR_OK);
        assert_int_equal(squares_of(&l, tiled.shaded), squares[i]);
        assert_int_equal(tsr_layout_make(&shapes[i], &any, (tsr_layout_hint){0}, &narrow), TSR_OK);
        assert_true(squares_of(&narrow, tiled.shaded) > squares[i]);
    }
}

/* Blocks of 16x16 texels that a chain's tensors take, and the bytes of these. */
static int64_t blocks_of_chain(bool software, uint64_t *bytes) {
    tsr_graph *graph = make_chain(2, 256, 9, 4);
    tsr_plan_options options = options_of(0);
    options.device.software = software;
    tsr_plan *plan;
    assert_int_equal(tsr_plan_create(graph, &options, &plan), TSR_OK);
    int64_t blocks = 0;
    for (int t = 0; t < plan->tensor_count; t++)
        blocks += squares_of(&plan->tensors[t].layout, 16);
    *bytes = plan->tensor_bytes;
    tsr_plan_destroy(plan);
    tsr_graph_destroy(graph);
    return blocks;
}

/* Software rasterisers get the same tensors in fewer blocks, in hardly more memory. */
static void test_grids_fill_blocks(void **state) {
    (void)state;
    uint64_t bytes, software_bytes;
    int64_t blocks = blocks_of_chain(false, &bytes),
            software_blocks = blocks_of_chain(true, &software_bytes);
    assert_true(2 * software_blocks < blocks);
    assert_true(100 * software_bytes <= 102 * bytes);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_too_little_memory_is_refused),
        cmocka_unit_test(test_layouts_keep_elements),
        cmocka_unit_test(test_channel_axes),
        cmocka_unit_test(test_planes_pay),
        cmocka_unit_test(test_grids_fill_squares),
        cmocka_unit_test(test_grids_fill_blocks),
        cmocka_unit_test(test_layouts_have_limits),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
