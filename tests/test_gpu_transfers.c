/* Arrays of every element type and order, and pixels, as inputs and outputs: a GPU backend held
 * against the cpu backend, which converts them in loops. */
#include "base/dtype.h"
#include "support/backends.h"
#include "support/main.h"
#include "support/random.h"
#include "support/sessions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The same model on both backends. */
typedef struct both {
    tsr_model *model;
    tsr_device *cpu;
    tsr_session *sessions[2]; /* of the GPU, of the CPU */
} both;

static both open_both(const char *text, const tsr_session_desc *desc) {
    need_gpu();
    both b = {.model = make_model(text), .cpu = make_device(&(tsr_device_desc){.backend = "cpu"})};
    tsr_session_desc cpu_desc = *desc;
    cpu_desc.poison = false;
    cpu_desc.precision = TSR_PRECISION_FP32;
    b.sessions[0] = make_session(gpu_device((backend_limits){0}), b.model, desc);
    b.sessions[1] = make_session(b.cpu, b.model, &cpu_desc);
    return b;
}

static void close_both(both *b) {
    for (int i = 0; i < 2; i++)
        tsr_session_destroy(b->sessions[i]);
    tsr_device_destroy(b->cpu);
    tsr_model_free(b->model);
}

static void run_both(const both *b) {
    for (int i = 0; i < 2; i++)
        EXPECT_OK(tsr_session_run(b->sessions[i]));
}

static size_t count_of(const both *b, bool output) {
    tsr_tensor_info info;
    EXPECT_OK(output ? tsr_session_output(b->sessions[0], 0, &info)
                     : tsr_session_input(b->sessions[0], 0, &info));
    return (size_t)tsr_shape_count(&info.shape);
}

static void *allocate(size_t bytes) {
    void *memory = malloc(bytes + 16);
    assert_non_null(memory);
    memset(memory, 0xa5, bytes + 16);
    return memory;
}

/* Fails where floats of both sessions differ by more than the tolerance. */
static void compare_floats(const both *b, double tolerance, const char *what) {
    size_t count = count_of(b, true);
    float *values[2];
    for (int i = 0; i < 2; i++) {
        values[i] = allocate(count * sizeof(float));
        EXPECT_OK(tsr_session_get_output(b->sessions[i], "y", values[i], count));
    }
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)values[0][i] - (double)values[1][i]) <= tolerance))
            fail_msg("%s: element %zu is %g instead of %g", what, i, (double)values[0][i],
                     (double)values[1][i]);
    free(values[0]);
    free(values[1]);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Random elements that a float and 16 bits hold exactly. */
static void fill(tsr_array *a, random_source *random) {
    bool is_float = tsr_dtype_is_float(a->dtype), is_byte = tsr_dtype_is_byte(a->dtype);
    for (size_t i = 0; i < a->count; i++) {
        int v = random_int(random, 0, 120), sign = random_int(random, 0, 1) ? 1 : -1;
        if (!is_float && (tsr_dtype_is_unsigned(a->dtype) || a->dtype == TSR_DTYPE_BOOL))
            sign = 1;
        float real = (float)(sign * v) / 8;
        int64_t whole = a->dtype == TSR_DTYPE_BOOL ? v > 60 : sign * v * (is_byte ? 1 : 16);
        tsr_dtype_store(a->dtype, is_float ? (const void *)&real : &whole, 1,
                        (char *)a->data + i * tsr_dtype_size(a->dtype));
    }
}

static void set_array(const both *b, tsr_dtype dtype, bool channels_last, random_source *random) {
    tsr_array a = {.count = count_of(b, false), .dtype = dtype, .channels_last = channels_last};
    a.data = allocate(a.count * tsr_dtype_size(dtype));
    fill(&a, random);
    for (int i = 0; i < 2; i++)
        EXPECT_OK(tsr_session_set_input_array(b->sessions[i], "x", &a));
    free(a.data);
}

/* The bytes of both sessions, and what follows them. */
static void compare_arrays(const both *b, tsr_dtype dtype, bool channels_last, const char *what) {
    unsigned char *bytes[2];
    tsr_array a = {.count = count_of(b, true), .dtype = dtype, .channels_last = channels_last};
    size_t size = a.count * tsr_dtype_size(dtype);
    for (int i = 0; i < 2; i++) {
        a.data = bytes[i] = allocate(size);
        EXPECT_OK(tsr_session_get_output_array(b->sessions[i], "y", &a));
        for (int k = 0; k < 16; k++)
            assert_int_equal(bytes[i][size + (size_t)k], 0xa5);
    }
    for (size_t i = 0; i < size; i++)
        if (bytes[0][i] != bytes[1][i])
            fail_msg("%s: byte %zu of %zu in %s is %d instead of %d", what, i, size,
                     tsr_dtype_name(dtype), bytes[0][i], bytes[1][i]);
    free(bytes[0]);
    free(bytes[1]);
}

static const char *const shapes[] = {"",        "1",         "7",        "3,5",       "5,1",
                                     "2,3,4",   "1,6,7",     "1,1,1,1",  "1,3,5,7",   "2,4,3,8",
                                     "3,5,1,1", "1,9,16,12", "2,1,33,5", "1,3,64,65", "1,13,3,130"};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void test_arrays(void **state) {
    (void)state;
    for (int s = 0; s < SHAPES; s += few_cases() ? 4 : 1) {
        char text[64];
        snprintf(text, sizeof text, "Neg x[%s] -> y", shapes[s]);
        both b = open_both(text, &(tsr_session_desc){.poison = true});
        random_source random = random_from((uint32_t)s);
        for (int i = 0; i < 2 * TSR_DTYPE_COUNT; i++) {
            bool last = i % 2 && strchr(shapes[s], ',');
            set_array(&b, (tsr_dtype)(i / 2), last, &random);
            run_both(&b);
            compare_floats(&b, 0, shapes[s]);
            for (int k = 0; k < 2 * TSR_DTYPE_COUNT; k++)
                if (k % 2 == 0 || strchr(shapes[s], ','))
                    compare_arrays(&b, (tsr_dtype)(k / 2), k % 2, shapes[s]);
        }
        close_both(&b);
    }
}

/* 16-bit storage holds these values exactly. */
static void test_arrays_in_half(void **state) {
    (void)state;
    both b = open_both("Neg x[2,5,6,7] -> y",
                       &(tsr_session_desc){.poison = true, .precision = TSR_PRECISION_FP16});
    random_source random = random_from(1);
    for (int i = 0; i < TSR_DTYPE_COUNT; i++) {
        if ((tsr_dtype)i == TSR_DTYPE_I32 || (tsr_dtype)i == TSR_DTYPE_I64)
            continue; /* beyond 2048 */
        set_array(&b, (tsr_dtype)i, i % 2, &random);
        run_both(&b);
        compare_arrays(&b, TSR_DTYPE_F16, false, "half");
        compare_arrays(&b, TSR_DTYPE_F32, true, "half");
    }
    close_both(&b);
}

/* ---- pixels ---------------------------------------------------------------------------------- */

typedef struct picture_case {
    const char *text;
    bool channels_last;
    int images;
} picture_case;

static const picture_case pictures[] = {
    {"Neg x[1,3,24,31] -> y", false, 1}, {"Neg x[2,3,17,8] -> y", false, 2},
    {"Neg x[1,1,9,40] -> y", false, 1},  {"Neg x[3,4,5,6] -> y", false, 3},
    {"Neg x[1,12,21,3] -> y", true, 1},  {"Neg x[2,7,9,4] -> y", true, 2},
    {"Neg x[1,6,5,1] -> y", true, 1},    {"Neg x[3,13,10] -> y", false, 1},
    {"Neg x[11,14,3] -> y", true, 1},    {"Neg x[16,9] -> y", false, 1},
    {"Neg x[1,3,1,1] -> y", false, 1},   {"Neg x[1,3,64,64] -> y", false, 1},
};
enum { PICTURES = sizeof pictures / sizeof *pictures };

static tsr_pixels random_pixels(const picture_case *c, random_source *random) {
    static const int bytes[] = {4, 4, 3, 3, 1};
    tsr_pixels p = {.width = random_int(random, 1, 90),
                    .height = random_int(random, 1, 70),
                    .format = (tsr_pixel_format)random_int(random, 0, 4),
                    .filter = (tsr_pixel_filter)random_int(random, 0, 2),
                    .channels_last = c->channels_last,
                    .bgr = random_one_in(random, 2),
                    .image = random_int(random, 0, c->images - 1)};
    if (random_one_in(random, 2))
        p.stride = p.width * bytes[p.format] + random_int(random, 0, 9);
    for (int i = 0; i < 4 && random_one_in(random, 3) == false; i++) {
        p.mean[i] = random_float(random, 110, 20);
        p.scale[i] = random_float(random, 0.02f, 0.01f);
    }
    for (int i = 0; i < 4 && p.scale[0] != 0; i++)
        p.scale[i] = p.scale[i] == 0 ? 0.01f : p.scale[i];
    int64_t stride = p.stride ? p.stride : p.width * bytes[p.format];
    p.bytes = (size_t)(stride * (p.height - 1) + p.width * bytes[p.format]);
    return p;
}

static void set_pixels(const both *b, const picture_case *c, random_source *random) {
    for (int image = 0; image < c->images; image++) {
        tsr_pixels p = random_pixels(c, random);
        p.image = image;
        p.data = allocate(p.bytes);
        for (size_t i = 0; i < p.bytes; i++)
            ((unsigned char *)p.data)[i] = (unsigned char)random_int(random, 0, 255);
        for (int i = 0; i < 2; i++)
            EXPECT_OK(tsr_session_set_input_pixels(b->sessions[i], "x", &p));
        free(p.data);
    }
}

/* Bytes between rows and after them are not written; a value may be rounded up here, down there. */
static void compare_pixels(const both *b, const picture_case *c, random_source *random) {
    unsigned char *bytes[2];
    tsr_pixels p = random_pixels(c, random);
    for (int i = 0; i < 4; i++) /* outputs are negative */
        p.scale[i] = p.scale[i] == 0 ? -1.0f / 255 : -p.scale[i];
    for (int i = 0; i < 2; i++) {
        p.data = bytes[i] = allocate(p.bytes);
        EXPECT_OK(tsr_session_get_output_pixels(b->sessions[i], "y", &p));
    }
    size_t off = 0;
    for (size_t i = 0; i < p.bytes + 16; i++) {
        int difference = abs(bytes[0][i] - bytes[1][i]);
        off += difference != 0;
        if (difference > 1)
            fail_msg("%s: byte %zu of %d x %d pixels of format %d, filter %d is %d instead of %d",
                     c->text, i, p.width, p.height, (int)p.format, (int)p.filter, bytes[0][i],
                     bytes[1][i]);
    }
    assert_true(off <= 2 + p.bytes / 100);
    free(bytes[0]);
    free(bytes[1]);
}

/* Elements of a picture are at most about 5, of default scale 1. */
static void test_pixels(void **state) {
    (void)state;
    for (int c = 0; c < PICTURES; c++) {
        both b = open_both(pictures[c].text, &(tsr_session_desc){.poison = true});
        random_source random = random_from((uint32_t)c);
        for (int i = 0; i < (few_cases() ? 3 : 12); i++) {
            set_pixels(&b, &pictures[c], &random);
            run_both(&b);
            compare_floats(&b, 1e-5, pictures[c].text);
            compare_pixels(&b, &pictures[c], &random);
        }
        close_both(&b);
    }
}

/* A form of each kind after each other, set and read in turns. */
static void test_forms_in_turns(void **state) {
    (void)state;
    const picture_case *c = &pictures[0];
    both b = open_both(c->text, &(tsr_session_desc){.poison = true});
    random_source random = random_from(7);
    for (int i = 0; i < 24; i++) {
        if (random_one_in(&random, 2))
            set_pixels(&b, c, &random);
        else
            set_array(&b, (tsr_dtype)random_int(&random, 0, 1), random_one_in(&random, 2), &random);
        run_both(&b);
        for (int k = random_int(&random, 0, 3); k > 0; k--) {
            if (random_one_in(&random, 3))
                compare_pixels(&b, c, &random);
            else
                compare_floats(&b, 1e-5, "in turns");
        }
    }
    close_both(&b);
}

/* An older run has what was transferred when it was submitted: floats become any form. */
static void test_runs_in_flight(void **state) {
    (void)state;
    const picture_case *c = &pictures[0];
    enum { RUNS = 3 };
    both b = open_both(c->text, &(tsr_session_desc){.runs_in_flight = RUNS});
    random_source random = random_from(9);
    for (int i = 0; i < RUNS; i++) {
        set_array(&b, TSR_DTYPE_F32, false, &random);
        for (int k = 0; k < 2; k++)
            EXPECT_OK(tsr_session_submit(b.sessions[k]));
    }
    for (int age = RUNS - 1; age >= 0; age--) {
        for (int k = 0; k < 2; k++)
            EXPECT_OK(tsr_session_select_run(b.sessions[k], age));
        compare_arrays(&b, TSR_DTYPE_F16, true, "older");
        compare_arrays(&b, TSR_DTYPE_I32, false, "older");
        compare_arrays(&b, TSR_DTYPE_F64, true, "older");
        compare_floats(&b, 0, "older");
        compare_pixels(&b, c, &random);
    }
    for (int i = 0; i < RUNS; i++) /* as pixels from now on */
        EXPECT_OK(tsr_session_submit(b.sessions[0]));
    EXPECT_OK(tsr_session_select_run(b.sessions[0], 1));
    size_t count = count_of(&b, true);
    float *floats = allocate(count * sizeof *floats);
    expect_failure(tsr_session_get_output(b.sessions[0], "y", floats, count),
                   TSR_ERROR_INVALID_ARGUMENT, "another form");
    free(floats);
    close_both(&b);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays),         cmocka_unit_test(test_arrays_in_half),
        cmocka_unit_test(test_pixels),         cmocka_unit_test(test_forms_in_turns),
        cmocka_unit_test(test_runs_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
