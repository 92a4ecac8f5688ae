/* Which part of a picture a result depends on, by the walk through the graph, against what changes
 * if a row or a column of the picture does; and what the walk refuses. */
#include "api/picture.h"
#include "base/allocator.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/case_text.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/random.h"

typedef struct fixture {
    tsr_model *model;
    tsr_session *session;
    tsr_tensor_info input, output;
    int axes[TSR_PICTURE_AXES];
    tsr_picture_report report;
    size_t count, results;
    float *picture, *before, *after;
} fixture;

static tsr_device *device;

static tsr_model *load(const char *text) {
    size_t size;
    tsr_model *model;
    uint8_t *bytes = onnx_case_bytes(18, text, &size);
    if (tsr_model_load_memory(bytes, size, NULL, &model) != TSR_OK)
        fail_msg("%s: %s", text, tsr_last_error());
    free(bytes);
    return model;
}

/* Rows are the first axis of more than 4 elements: channels are fewer. */
static void find_axes(const tsr_shape *shape, int axes[TSR_PICTURE_AXES]) {
    int rows = 0;
    while (shape->dim[rows] <= 4)
        rows++;
    axes[0] = rows;
    axes[1] = rows + 1;
}

static tsr_status look(fixture *f) {
    assert_int_equal(tsr_model_input(f->model, 0, &f->input), TSR_OK);
    find_axes(&f->input.shape, f->axes);
    return tsr_model_picture(f->model, &(tsr_session_desc){0}, f->input.name, f->axes, &f->report);
}

static void run(fixture *f, float *results) {
    assert_int_equal(tsr_session_set_input(f->session, f->input.name, f->picture, f->count),
                     TSR_OK);
    assert_int_equal(tsr_session_run(f->session), TSR_OK);
    assert_int_equal(tsr_session_get_output(f->session, f->output.name, results, f->results),
                     TSR_OK);
}

/* Index along an axis of an element. */
static int64_t index_of(const tsr_shape *shape, int axis, size_t element) {
    for (int i = shape->rank - 1; i > axis; i--)
        element /= (size_t)shape->dim[i];
    return (int64_t)(element % (size_t)shape->dim[axis]);
}

/* Changes all elements at `at` of an axis; where the result changes, the field has to have it.
 * Fields that reach beyond the picture are left out: borders may mirror it. */
static void check_line(const char *text, fixture *f, int a, int64_t at) {
    const tsr_field *field = &f->report.outputs[0].map.axis[a];
    int64_t size = f->input.shape.dim[f->axes[a]];
    float *kept = malloc(f->count * sizeof *kept);
    memcpy(kept, f->picture, f->count * sizeof *kept);
    for (size_t i = 0; i < f->count; i++)
        if (index_of(&f->input.shape, f->axes[a], i) == at)
            f->picture[i] += i % 2 ? 3.0f : -2.0f;
    run(f, f->after);
    for (size_t i = 0; i < f->results; i++) {
        int64_t o = index_of(&f->output.shape, field->axis, i), low = o * field->step + field->low,
                high = o * field->step + field->high;
        bool inside = low >= 0 && high <= (size - 1) * field->unit,
             has = low <= at * field->unit && at * field->unit <= high;
        if (inside && !has && f->before[i] != f->after[i])
            fail_msg("%s: axis %d: element %d depends on %d", text, a, (int)o, (int)at);
    }
    memcpy(f->picture, kept, f->count * sizeof *kept);
    free(kept);
}

/* reach: pixels that the field of an output's element has along rows; in 1 / unit. */
static void check_field(const char *text, int64_t unit, int64_t step, int64_t reach) {
    fixture f = {.model = load(text)};
    if (look(&f) != TSR_OK || !f.report.is_local)
        fail_msg("%s: %s", text, f.report.is_local ? tsr_last_error() : f.report.why);
    const tsr_field *field = &f.report.outputs[0].map.axis[0];
    if (field->unit * step != unit * field->step ||
        (field->high - field->low) * unit != reach * field->unit)
        fail_msg("%s: unit %d, step %d, from %d to %d", text, (int)field->unit, (int)field->step,
                 (int)field->low, (int)field->high);
    assert_int_equal(tsr_session_create(device, f.model, NULL, &f.session), TSR_OK);
    assert_int_equal(tsr_session_output(f.session, 0, &f.output), TSR_OK);
    f.count = (size_t)tsr_shape_count(&f.input.shape);
    f.results = (size_t)tsr_shape_count(&f.output.shape);
    f.picture = malloc(f.count * sizeof(float));
    f.before = malloc(f.results * sizeof(float));
    f.after = malloc(f.results * sizeof(float));
    random_source random = random_from(7);
    for (size_t i = 0; i < f.count; i++)
        f.picture[i] = random_float(&random, 0, 1);
    run(&f, f.before);
    for (int a = 0; a < TSR_PICTURE_AXES; a++)
        for (int64_t at = 0; at < f.input.shape.dim[f.axes[a]]; at++)
            check_line(text, &f, a, at);
    tsr_free(f.report.outputs);
    tsr_session_destroy(f.session);
    tsr_model_free(f.model);
    free(f.picture);
    free(f.before);
    free(f.after);
}

static void test_fields(void **state) {
    (void)state;
    check_field("Conv x[1,3,12,14] w{2,3,3,3} -> y pads=1,1,1,1", 1, 1, 2);
    check_field("Conv x[1,3,12,14] w{2,3,3,5} -> y dilations=2,1", 1, 1, 4);
    check_field("Conv x[1,3,12,14] w{2,3,4,4} -> a strides=2,2 pads=1,1,1,1; Relu a -> y", 1, 2, 3);
    check_field("Conv x[1,3,12,14] w{2,3,3,3} -> y strides=3,3 auto_pad=SAME_UPPER", 1, 3, 2);
    check_field("ConvTranspose x[1,3,12,14] w{3,2,4,4} -> y strides=2,2 pads=1,1,1,1", 2, 1, 3);
    check_field("ConvTranspose x[1,3,12,14] w{3,2,3,3} -> y strides=3,3 output_padding=1,1", 3, 1,
                2);
    check_field("MaxPool x[1,3,12,14] -> a kernel_shape=3,3 strides=2,2; AveragePool a -> y "
                "kernel_shape=2,2",
                1, 2, 4);
    check_field("DepthToSpace x[1,4,12,14] -> y blocksize=2", 2, 1, 1);
    check_field("SpaceToDepth x[1,1,12,14] -> y blocksize=2", 1, 2, 1);
    check_field("Reshape x[1,4,12,14] s(1,1,2,2,12,14) -> a; Transpose a -> b perm=0,1,4,2,5,3; "
                "Reshape b t(1,1,24,28) -> y",
                2, 1, 1);
    check_field("Resize x[1,1,12,14] _ s<1,1,2,2> -> y mode=linear", 2, 1, 4);
    check_field("Resize x[1,1,12,14] _ s<1,1,0.5,0.5> -> y mode=cubic", 1, 2, 4);
    check_field("Resize x[1,1,12,14] _ s<1,1,0.5,0.5> -> y mode=linear antialias=1", 1, 2, 6);
    check_field("Resize x[1,1,12,14] _ s<1,1,1.5,1.5> -> y mode=nearest "
                "coordinate_transformation_mode=asymmetric",
                3, 2, 6);
    check_field("Resize x[1,1,12,14] _ s<1,1,2,2> -> y mode=nearest "
                "coordinate_transformation_mode=tf_half_pixel_for_nn",
                2, 1, 4);
    check_field("Resize x[1,1,12,14] _ s<1,1,3,3> -> y mode=cubic "
                "coordinate_transformation_mode=pytorch_half_pixel",
                3, 1, 12);
    check_field("Slice x[1,3,12,14] s(1,2) e(11,13) a(2,3) p(2,1) -> y", 1, 2, 0);
    check_field("Pad x[1,3,12,14] p(0,0,2,2,0,0,2,2) -> a mode=reflect; Conv a w{2,3,5,5} -> y", 1,
                1, 4);
    check_field("Transpose x[1,12,14,3] -> a perm=0,3,1,2; Conv a w{2,3,3,3} -> b; Transpose b -> "
                "y perm=0,2,3,1",
                1, 1, 2);
    check_field("Conv x[1,3,12,14] w{2,3,3,3} -> a pads=1,1,1,1; Conv x v{2,3,1,5} -> b "
                "pads=0,2,0,2; Concat a b -> c axis=1; Softmax c -> d axis=1; ReduceMean d r(1) "
                "-> y keepdims=1",
                1, 1, 2);
    check_field("MatMul x[1,12,14,3] w{3,4} -> a; LayerNormalization a b{4} -> y", 1, 1, 0);
    check_field("Conv x[1,3,12,14] w{2,3,3,3} -> a strides=2,2 pads=1,1,1,1; ConvTranspose a "
                "v{2,3,2,2} -> b strides=2,2; Add b x -> y",
                1, 1, 3);
    check_field("Conv x[3,12,14] w{2,12,3} -> a; Identity x -> y", 1, 1, 0);
}

static void check_refused(const char *text, const char *why) {
    fixture f = {.model = load(text)};
    if (look(&f) != TSR_OK || f.report.is_local || !strstr(f.report.why, why))
        fail_msg("%s: %s", text, f.report.why[0] ? f.report.why : tsr_last_error());
    tsr_free(f.report.outputs);
    tsr_model_free(f.model);
}

/* Two branches of the same scale in all, resized by different primes: the numbers of a grid that
 * both are on are too large. */
static void test_large_numbers(void **state) {
    (void)state;
    static const int primes[2][4] = {{61, 59, 53, 47}, {43, 41, 37, 31}};
    case_text text = {""};
    text_add(&text, "Relu x[1,1,12,14] -> a0; Relu x -> b0; ");
    for (int i = 0; i < 8; i++) {
        const int prime = primes[i / 4][i % 4], branch = i < 4 ? 'a' : 'b', at = i % 4;
        const double down = (double)nextafterf(1.0f / (float)prime, 1); /* no row is lost */
        text_add(&text, "Resize %c%d _ u%d<1,1,%d,%d> -> %c_%d mode=linear; ", branch, at, i, prime,
                 prime, branch, at);
        text_add(&text, "Resize %c_%d _ d%d<1,1,%.9g,%.9g> -> %c%d mode=linear; ", branch, at, i,
                 down, down, branch, at + 1);
    }
    text_add(&text, "Add a4 b4 -> y");
    check_refused(text.text, "depends on too large a part of the picture");
}

static void test_refused(void **state) {
    (void)state;
    check_refused("GlobalAveragePool x[1,3,12,14] -> y", "'GlobalAveragePool0' (GlobalAver");
    check_refused("Relu x[1,3,12,14] -> a; ReduceMax a r(2) -> y", "'ReduceMax1' (ReduceMax) red");
    check_refused("Softmax x[1,3,12,14] -> y axis=3", "whole rows or columns");
    check_refused("Flatten x[1,3,12,14] -> y", "joins rows or columns");
    check_refused("MatMul x[1,3,12,14] w{14,5} -> y", "sums over rows or columns");
    check_refused("Add x[1,3,12,14] w{12,14} -> y", "has a constant for each pixel");
    check_refused("Resize x[1,1,12,14] _ s<1,1,2,2> -> y mode=linear "
                  "coordinate_transformation_mode=align_corners",
                  "depend on the picture's size");
    check_refused("Conv x[1,3,12,14] w{3,3,3,3} -> a strides=2,2 pads=1,1,1,1; Slice x s(0,0) "
                  "e(6,7) q(2,3) -> b; Add a b -> y",
                  "different scales");
    check_refused("Concat x[1,3,12,14] x -> y axis=3", "side by side");
    check_refused("CumSum x[1,3,12,14] k(2) -> y", "may read the whole picture");
}

static void test_normalization(void **state) {
    (void)state;
    fixture f = {.model = load("InstanceNormalization x[1,3,12,14] s{3} b{3} -> a; Relu a -> y")};
    assert_int_equal(look(&f), TSR_OK);
    assert_true(f.report.is_local && f.report.normalizes);
    assert_non_null(strstr(f.report.why, "'InstanceNormalization0'"));
    assert_true(f.report.live_bytes == 2 * 4 * 12 * 14 * sizeof(float));
    tsr_free(f.report.outputs);
    tsr_model_free(f.model);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_large_numbers),
        cmocka_unit_test(test_normalization),
    };
    if (tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &device) != TSR_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tsr_device_destroy(device);
    return failed;
}
