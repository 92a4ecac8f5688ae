/* Arrays and pictures that the public API refuses, for inputs and for outputs: the status, and a
 * message with the tensor's name and the sizes that do not fit. On the cpu backend: the checks are
 * above the backends. */
#include "support/main.h"
#include "support/sessions.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A session that has run, of a model whose output y is its input x. */
typedef struct fixture {
    tsr_device *device;
    tsr_model *model;
    tsr_session *session;
} fixture;

static fixture open_fixture(const char *text) {
    fixture f = {.device = make_device(&(tsr_device_desc){.backend = "cpu"}),
                 .model = make_model(text)};
    f.session = make_session(f.device, f.model, NULL);
    static const float zeros[2 * 3 * 4 * 6]; /* the largest x below; whole numbers */
    tsr_tensor_info x;
    EXPECT_OK(tsr_session_input(f.session, 0, &x));
    EXPECT_OK(tsr_session_set_input(f.session, "x", zeros, (size_t)tsr_shape_count(&x.shape)));
    EXPECT_OK(tsr_session_run(f.session));
    return f;
}

static void close_fixture(fixture *f) {
    tsr_session_destroy(f->session);
    tsr_model_free(f->model);
    tsr_device_destroy(f->device);
}

/* ---- pictures -------------------------------------------------------------------------------- */

static unsigned char bytes[64];

/* Fits a picture tensor of any size. */
static tsr_pixels good_pixels(void) {
    return (tsr_pixels){.data = bytes, .bytes = 40, .width = 5, .height = 2};
}

/* Both ways; the message also has the tensor's name and shape. */
static void refuse_pixels(fixture *f, tsr_pixels p, tsr_status status, const char *words) {
    expect_failure(tsr_session_set_input_pixels(f->session, "x", &p), status, "tensor 'x' [");
    expect_failure(status, status, words);
    expect_failure(tsr_session_get_output_pixels(f->session, "y", &p), status, "tensor 'y' [");
    expect_failure(status, status, words);
}

static void test_rows(void **state) {
    (void)state;
    fixture f = open_fixture("Identity x[2,3,4,6] -> y");
    const tsr_status bad = TSR_ERROR_INVALID_ARGUMENT;
    tsr_pixels p = good_pixels();
    EXPECT_OK(tsr_session_set_input_pixels(f.session, "x", &p));
    EXPECT_OK(tsr_session_get_output_pixels(f.session, "y", &p));
    p.data = NULL;
    refuse_pixels(&f, p, bad, "5 x 2 pixels need 40 bytes");
    p = good_pixels();
    p.bytes = 39;
    refuse_pixels(&f, p, bad, "5 x 2 pixels need 40 bytes, there are 39");
    p.bytes = 0;
    refuse_pixels(&f, p, bad, "there are 0");
    p.bytes = 43; /* the last row needs no gap */
    p.stride = 24;
    refuse_pixels(&f, p, bad, "5 x 2 pixels need 44 bytes, there are 43");
    p.bytes = 44;
    EXPECT_OK(tsr_session_set_input_pixels(f.session, "x", &p));
    p.bytes = SIZE_MAX;
    p.stride = 19;
    refuse_pixels(&f, p, bad, "a stride of 19 bytes for 2 rows of 20 bytes");
    p.stride = -20;
    refuse_pixels(&f, p, bad, "a stride of -20 bytes");
    p.stride = INT64_MIN;
    refuse_pixels(&f, p, bad, "for 2 rows of 20 bytes");
    p.stride = INT64_MAX;
    refuse_pixels(&f, p, bad, "for 2 rows of 20 bytes");
    close_fixture(&f);
}

static void test_sizes(void **state) {
    (void)state;
    static const struct {
        int width, height;
        const char *words;
    } cases[] = {{0, 2, "0 x 2 pixels"},
                 {5, 0, "5 x 0 pixels"},
                 {-5, 2, "-5 x 2 pixels"},
                 {5, INT_MIN, "[2, 3, 4, 6]"},
                 {16385, 1, "16385 x 1 pixels; sides can be 1 to 16384"},
                 {INT_MAX, INT_MAX, "[2, 3, 4, 6]"}};
    fixture f = open_fixture("Identity x[2,3,4,6] -> y");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_pixels p = good_pixels();
        p.width = cases[i].width;
        p.height = cases[i].height;
        refuse_pixels(&f, p, TSR_ERROR_INVALID_ARGUMENT, cases[i].words);
    }
    tsr_pixels p = good_pixels();
    p.image = 2;
    refuse_pixels(&f, p, TSR_ERROR_INVALID_ARGUMENT, "[2, 3, 4, 6] has no image 2");
    p.image = -1;
    refuse_pixels(&f, p, TSR_ERROR_INVALID_ARGUMENT, "[2, 3, 4, 6] has no image -1");
    expect_failure(tsr_session_set_input_pixels(f.session, "x", NULL), TSR_ERROR_INVALID_ARGUMENT,
                   "pixels is NULL");
    close_fixture(&f);
}

static void test_formats(void **state) {
    (void)state;
    fixture f = open_fixture("Identity x[2,3,4,6] -> y");
    const tsr_status bad = TSR_ERROR_INVALID_ARGUMENT;
    tsr_pixels p = good_pixels();
    p.format = TSR_PIXELS_GRAY8 + 1;
    refuse_pixels(&f, p, bad, "no pixel format 5");
    p.format = (tsr_pixel_format)-1;
    refuse_pixels(&f, p, bad, "no pixel format -1");
    p = good_pixels();
    p.filter = TSR_FILTER_NEAREST + 1;
    refuse_pixels(&f, p, bad, "no pixel filter 3");
    p = good_pixels();
    p.scale[0] = p.scale[2] = 1;
    refuse_pixels(&f, p, bad, "scale of channel 1 is 0");
    p.scale[1] = INFINITY;
    refuse_pixels(&f, p, bad, "scale of channel 1 is not finite");
    p.scale[1] = 1; /* and none for the alpha, which the tensor does not have */
    EXPECT_OK(tsr_session_set_input_pixels(f.session, "x", &p));
    p.mean[2] = NAN;
    refuse_pixels(&f, p, bad, "mean of channel 2 is not finite");
    close_fixture(&f);
}

static void test_tensors_that_are_no_pictures(void **state) {
    (void)state;
    static const struct {
        const char *model, *words;
        bool channels_last;
    } cases[] = {
        {"Identity x[1,2,4,6] -> y", "[1, 2, 4, 6] is no picture of 1, 3 or 4 channels", false},
        {"Identity x[1,5,4,6] -> y", "[1, 5, 4, 6] is no picture", false},
        {"Identity x[1,3,4,6] -> y", "which are its last axis", true},
        {"Identity x[6] -> y", "[6] is no picture", false},
        {"Identity x[6] -> y", "[6] is no picture", true},
        {"Identity x[] -> y", "is no picture", false},
        {"Identity x[1,3,1,4,6] -> y", "[1, 3, 1, 4, 6] is no picture", false},
        {"Identity x[1,1,4,6,3] -> y", "[1, 1, 4, 6, 3] is no picture", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = open_fixture(cases[i].model);
        tsr_pixels p = good_pixels();
        p.channels_last = cases[i].channels_last;
        refuse_pixels(&f, p, TSR_ERROR_SHAPE, cases[i].words);
        close_fixture(&f);
    }
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static double storage[24];

static void refuse_array(fixture *f, tsr_array a, tsr_status status, const char *words) {
    expect_failure(tsr_session_set_input_array(f->session, "x", &a), status, "tensor 'x'");
    expect_failure(status, status, words);
    expect_failure(tsr_session_get_output_array(f->session, "y", &a), status, "tensor 'y'");
    expect_failure(status, status, words);
}

static void test_arrays(void **state) {
    (void)state;
    fixture f = open_fixture("Identity x[2,3,4] -> y");
    const tsr_status bad = TSR_ERROR_INVALID_ARGUMENT;
    tsr_array a = {.data = NULL, .count = 24};
    refuse_array(&f, a, bad, "data is NULL");
    a.data = storage;
    a.count = 23;
    refuse_array(&f, a, TSR_ERROR_SHAPE, "[2, 3, 4] has 24 elements, not 23");
    a.count = 0;
    refuse_array(&f, a, TSR_ERROR_SHAPE, "[2, 3, 4] has 24 elements, not 0");
    a.count = SIZE_MAX;
    refuse_array(&f, a, TSR_ERROR_SHAPE, "[2, 3, 4] has 24 elements");
    a.count = 24;
    a.dtype = TSR_DTYPE_U4 + 1;
    refuse_array(&f, a, bad, "no element type 15");
    a.dtype = (tsr_dtype)-1;
    refuse_array(&f, a, bad, "no element type -1");
    expect_failure(tsr_session_set_input_array(f.session, "x", NULL), TSR_ERROR_INVALID_ARGUMENT,
                   "array is NULL");
    close_fixture(&f);
}

/* In an array of their type integers need not be floats. */
static void test_large_integers(void **state) {
    (void)state;
    fixture f = open_fixture("Mul x:int64[2] k(16777217) -> y!; Sub k j(0) -> z");
    const int64_t x[2] = {1, 1 << 23};
    int64_t y[2];
    const tsr_array in = {.data = (void *)x, .count = 2, .dtype = TSR_DTYPE_I64};
    tsr_array out = {.data = y, .count = 2, .dtype = TSR_DTYPE_I64};
    EXPECT_OK(tsr_session_set_input_array(f.session, "x", &in));
    EXPECT_OK(tsr_session_run(f.session));
    EXPECT_OK(tsr_session_get_output_array(f.session, "y", &out));
    assert_int_equal(y[0], 16777217);
    assert_int_equal(y[1], ((int64_t)1 << 47) + (1 << 23));
    out.count = 1; /* a constant */
    EXPECT_OK(tsr_session_get_output_array(f.session, "z", &out));
    assert_int_equal(y[0], 16777217);
    close_fixture(&f);
}

static void test_alignment(void **state) {
    (void)state;
    fixture f = open_fixture("Identity x[2,3] -> y");
    for (tsr_dtype dtype = TSR_DTYPE_F32; dtype <= TSR_DTYPE_U4; dtype++) {
        size_t size = tsr_dtype_size(dtype);
        tsr_array a = {.data = (char *)storage + 1, .count = 6, .dtype = dtype};
        if (size == 1) {
            EXPECT_OK(tsr_session_set_input_array(f.session, "x", &a));
            continue;
        }
        char words[64];
        snprintf(words, sizeof words, "not aligned for elements of %zu bytes", size);
        refuse_array(&f, a, TSR_ERROR_INVALID_ARGUMENT, words);
    }
    close_fixture(&f);
}

static void test_no_channels_to_be_last(void **state) {
    (void)state;
    fixture f = open_fixture("Identity x[6] -> y");
    refuse_array(&f, (tsr_array){.data = storage, .count = 6, .channels_last = true},
                 TSR_ERROR_SHAPE, "[6] has no channels");
    close_fixture(&f);
}

/* ---- integers, names, what a refusal leaves -------------------------------------------------- */

static void test_integers(void **state) {
    (void)state;
    const struct {
        const char *type;
        tsr_array array;
        const char *words;
    } cases[] = {
        {"int8", {(int32_t[]){0, 128}, 2, TSR_DTYPE_I32, false}, "element 1 cannot be 128"},
        {"int8", {(int64_t[]){-129, 0}, 2, TSR_DTYPE_I64, false}, "element 0 cannot be -129"},
        {"int8", {(uint8_t[]){200, 0}, 2, TSR_DTYPE_U8, false}, "cannot be 200"},
        {"uint8", {(int8_t[]){0, -1}, 2, TSR_DTYPE_I8, false}, "element 1 cannot be -1"},
        {"bool", {(uint8_t[]){2, 0}, 2, TSR_DTYPE_U8, false}, "element 0 cannot be 2"},
        {"int32", {(double[]){0, 0.5}, 2, TSR_DTYPE_F64, false}, "element 1 is no integer"},
        {"int32", {(double[]){0, NAN}, 2, TSR_DTYPE_F64, false}, "element 1"},
        {"int64", {(double[]){0, 1e300}, 2, TSR_DTYPE_F64, false}, "beyond 2^24"},
        {"int64", {(int64_t[]){INT64_MIN, 0}, 2, TSR_DTYPE_I64, false}, "beyond 2^24"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64], name[64];
        snprintf(text, sizeof text, "Identity x:%s[2] -> y", cases[i].type);
        snprintf(name, sizeof name, "input 'x' is %s", cases[i].type);
        fixture f = open_fixture(text);
        expect_failure(tsr_session_set_input_array(f.session, "x", &cases[i].array),
                       TSR_ERROR_INVALID_ARGUMENT, name);
        expect_failure(TSR_ERROR_INVALID_ARGUMENT, TSR_ERROR_INVALID_ARGUMENT, cases[i].words);
        close_fixture(&f);
    }
    fixture f = open_fixture("Identity x:uint8[3,4,6] -> y");
    tsr_pixels p = good_pixels();
    expect_failure(tsr_session_set_input_pixels(f.session, "x", &p), TSR_ERROR_UNSUPPORTED,
                   "input 'x' is uint8: pixels become floats only");
    close_fixture(&f);
}

static void test_names(void **state) {
    (void)state;
    fixture f = open_fixture("Identity x[3,4,6] -> y");
    const tsr_status bad = TSR_ERROR_INVALID_ARGUMENT;
    tsr_pixels p = good_pixels();
    tsr_array a = {.data = storage, .count = 72};
    expect_failure(tsr_session_set_input_pixels(f.session, "y", &p), bad, "inputs are: 'x'");
    expect_failure(tsr_session_set_input_array(f.session, "z", &a), bad, "inputs are: 'x'");
    expect_failure(tsr_session_get_output_pixels(f.session, "z", &p), bad, "outputs are: 'y'");
    expect_failure(tsr_session_get_output_array(f.session, "z", &a), bad, "outputs are: 'y'");
    expect_failure(tsr_session_set_input_pixels(f.session, NULL, &p), bad, "name is NULL");
    expect_failure(tsr_session_get_output_array(f.session, NULL, &a), bad, "name is NULL");
    expect_failure(tsr_session_set_input_array(NULL, "x", &a), bad, "session is NULL");
    expect_failure(tsr_session_get_output_pixels(NULL, "y", &p), bad, "session is NULL");
    close_fixture(&f);
}

/* An input that was refused has not been set, and an output that was refused is not written. */
static void test_refused_changes_nothing(void **state) {
    (void)state;
    fixture f = open_fixture("Identity x[3,4,6] -> y");
    tsr_session *other = make_session(f.device, f.model, NULL);
    tsr_pixels p = good_pixels();
    p.stride = 19;
    memset(bytes, 77, sizeof bytes);
    expect_failure(tsr_session_set_input_pixels(other, "x", &p), TSR_ERROR_INVALID_ARGUMENT,
                   "a stride of 19");
    expect_failure(tsr_session_run(other), TSR_ERROR_INVALID_ARGUMENT, "has not been set");
    expect_failure(tsr_session_get_output_pixels(f.session, "y", &p), TSR_ERROR_INVALID_ARGUMENT,
                   "a stride of 19");
    for (size_t i = 0; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], 77);
    tsr_session_destroy(other);
    close_fixture(&f);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_tensors_that_are_no_pictures),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_large_integers),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_no_channels_to_be_last),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
