/* Nodes of which shapes are known only after a run: NonZero, Compress, Unique, NonMaxSuppression,
 * and what reads them; on the cpu backend. On GPUs: test_gpu_fallback.c. */
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/random.h"
#include "support/sessions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024 };

static tsr_device *cpu;

static int open_device(void **state) {
    (void)state;
    return tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &cpu);
}

static int close_device(void **state) {
    (void)state;
    tsr_device_destroy(cpu);
    return 0;
}

static tsr_session *open_session(const char *text, tsr_session_desc desc) {
    tsr_model *model = make_model(text);
    tsr_session *session = NULL;
    if (tsr_session_create(cpu, model, &desc, &session) != TSR_OK)
        fail_msg("%s", tsr_last_error());
    tsr_model_free(model);
    return session;
}

static void set(tsr_session *session, const char *name, const float *elements, size_t count) {
    if (tsr_session_set_input(session, name, elements, count) != TSR_OK)
        fail_msg("%s", tsr_last_error());
}

#define SET(session, name, ...)                                                                    \
    set(session, name, (const float[]){__VA_ARGS__}, sizeof((float[]){__VA_ARGS__}) / sizeof(float))

static void run(tsr_session *session) {
    if (tsr_session_run(session) != TSR_OK)
        fail_msg("%s", tsr_last_error());
}

static void expect(tsr_session *session, int output, const char *shape, const float *elements) {
    float got[MOST];
    char text[64] = "";
    tsr_tensor_info info;
    assert_int_equal(tsr_session_output(session, output, &info), TSR_OK);
    for (int i = 0; i < info.shape.rank; i++)
        sprintf(text + strlen(text), "%s%d", i ? "," : "", (int)info.shape.dim[i]);
    assert_string_equal(text, shape);
    size_t count = (size_t)tsr_shape_count(&info.shape);
    if (tsr_session_get_output(session, info.name, got, count) != TSR_OK)
        fail_msg("%s", tsr_last_error());
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(got[i] - elements[i]) <= 1e-6f))
            fail_msg("output %d, element %zu: %g instead of %g", output, i, (double)got[i],
                     (double)elements[i]);
}

#define EXPECT(session, output, shape, ...)                                                        \
    expect(session, output, shape, (const float[]){__VA_ARGS__})

/* Shapes change from run to run; outputs that do not depend on them are there, too. */
static void shapes_change(void **state) {
    (void)state;
    tsr_session *s = open_session("Relu x[2,3] -> r!; NonZero r -> i!; Shape i -> n; "
                                  "Transpose i -> t; GatherND r t -> y",
                                  (tsr_session_desc){0});
    tsr_tensor_info info;
    assert_int_equal(tsr_session_output_count(s), 3);
    assert_int_equal(tsr_session_output(s, 2, &info), TSR_OK);
    assert_string_equal(info.name, "y");
    assert_true(tsr_shape_count(&info.shape) < 0);
    SET(s, "x", 1, -1, 2, 0, -3, 4);
    run(s);
    EXPECT(s, 0, "2,3", 1, 0, 2, 0, 0, 4);
    EXPECT(s, 1, "2,3", 0, 0, 1, 0, 2, 2);
    EXPECT(s, 2, "3", 1, 2, 4);
    SET(s, "x", 0, 0, 0, 0, 5, 0);
    run(s);
    EXPECT(s, 1, "2,1", 1, 1);
    EXPECT(s, 2, "1", 5);
    SET(s, "x", 0, 0, 0, 0, 0, 0);
    run(s);
    EXPECT(s, 1, "2,0", 0);
    EXPECT(s, 2, "0", 0);
    tsr_session_destroy(s);
}

/* What has to be constant elsewhere: shapes, bounds, trip counts, conditions. */
static void run_time_parameters(void **state) {
    (void)state;
    tsr_session *s = open_session("Reshape x[6] n:int64[2] -> y", (tsr_session_desc){0});
    SET(s, "x", 1, 2, 3, 4, 5, 6);
    SET(s, "n", 3, -1);
    run(s);
    EXPECT(s, 0, "3,2", 1, 2, 3, 4, 5, 6);
    SET(s, "n", 1, 6);
    run(s);
    EXPECT(s, 0, "1,6", 1, 2, 3, 4, 5, 6);
    SET(s, "n", 4, 4);
    assert_int_equal(tsr_session_run(s), TSR_ERROR_SHAPE);
    assert_non_null(strstr(tsr_last_error(), "Reshape"));
    SET(s, "n", 2, 3);
    run(s);
    EXPECT(s, 0, "2,3", 1, 2, 3, 4, 5, 6);
    tsr_session_destroy(s);
    s = open_session("Loop k:int64[] b:bool[] v[2] -> y body=@1 @ Identity i:int64[] -> j; "
                     "Identity g:bool[] -> h!; Add u[2] u -> t",
                     (tsr_session_desc){0});
    SET(s, "k", 3);
    SET(s, "b", 1);
    SET(s, "v", 1, -2);
    run(s);
    EXPECT(s, 0, "2", 8, -16);
    SET(s, "k", 0);
    run(s);
    EXPECT(s, 0, "2", 1, -2);
    tsr_session_destroy(s);
}

static void compress_and_unique(void **state) {
    (void)state;
    tsr_session *s = open_session("Compress x[2,3] c:bool[2] -> y axis=1", (tsr_session_desc){0});
    SET(s, "x", 1, 2, 3, 4, 5, 6);
    SET(s, "c", 0, 1);
    run(s);
    EXPECT(s, 0, "2,1", 2, 5);
    tsr_session_destroy(s);
    s = open_session("Unique x[7] -> y i j n", (tsr_session_desc){0});
    SET(s, "x", 3, 1, 3, 2, 1, 3, 0);
    run(s);
    EXPECT(s, 0, "4", 0, 1, 2, 3);
    EXPECT(s, 1, "4", 6, 1, 3, 0);
    EXPECT(s, 2, "7", 3, 1, 3, 2, 1, 3, 0);
    EXPECT(s, 3, "4", 1, 2, 1, 3);
    tsr_session_destroy(s);
    s = open_session("Unique x[7] -> y i j n sorted=0", (tsr_session_desc){0});
    SET(s, "x", 3, 1, 3, 2, 1, 3, 0);
    run(s);
    EXPECT(s, 0, "4", 3, 1, 2, 0);
    EXPECT(s, 1, "4", 0, 1, 3, 6);
    EXPECT(s, 2, "7", 0, 1, 0, 2, 1, 0, 3);
    EXPECT(s, 3, "4", 3, 2, 1, 1);
    tsr_session_destroy(s);
    s = open_session("Unique x[3,2] -> y axis=0", (tsr_session_desc){0});
    SET(s, "x", 2, 1, 0, 5, 2, 1);
    run(s);
    EXPECT(s, 0, "2,2", 0, 5, 2, 1);
    tsr_session_destroy(s);
}

/* Of random numbers: what is unique is sorted, and the inverse rebuilds the tensor. */
static void unique_property(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < 300; seed++) {
        random_source r = random_from(seed);
        int count = random_int(&r, 1, 40), kinds = random_int(&r, 1, 12);
        char text[64];
        float x[40], y[40], inverse[40], repeated[40];
        snprintf(text, sizeof text, "Unique x[%d] -> y i j n", count);
        tsr_session *s = open_session(text, (tsr_session_desc){0});
        for (int i = 0; i < count; i++)
            x[i] = (float)random_int(&r, 0, kinds);
        set(s, "x", x, (size_t)count);
        run(s);
        tsr_tensor_info info;
        assert_int_equal(tsr_session_output(s, 0, &info), TSR_OK);
        size_t different = (size_t)info.shape.dim[0];
        assert_int_equal(tsr_session_get_output(s, "y", y, different), TSR_OK);
        assert_int_equal(tsr_session_get_output(s, "j", inverse, (size_t)count), TSR_OK);
        assert_int_equal(tsr_session_get_output(s, "n", repeated, different), TSR_OK);
        for (size_t i = 1; i < different; i++)
            assert_true(y[i - 1] < y[i]);
        for (int i = 0; i < count; i++) {
            assert_true(x[i] == y[(int)inverse[i]]);
            repeated[(int)inverse[i]] -= 1;
        }
        for (size_t i = 0; i < different; i++)
            assert_true(repeated[i] == 0);
        tsr_session_destroy(s);
    }
}

static void boxes(void **state) {
    (void)state;
    /* One box over another, one apart, one without area, one of a low score. */
    tsr_session *s = open_session("NonMaxSuppression b[1,5,4] c[1,1,5] most(3) o<0.5 l<0.1 -> y",
                                  (tsr_session_desc){0});
    SET(s, "b", 0, 0, 2, 2, 0, 0.2f, 2, 2.2f, 5, 5, 4, 4, 1, 1, 1, 1, 8, 8, 9, 9);
    SET(s, "c", 0.5f, 0.9f, 0.3f, 0.2f, 0.1f);
    run(s);
    EXPECT(s, 0, "3,3", 0, 0, 1, 0, 0, 2, 0, 0, 3);
    SET(s, "c", 0, 0, 0, 0, 0);
    run(s);
    EXPECT(s, 0, "0,3", 0);
    tsr_session_destroy(s);
    /* With what detectors do next. */
    s = open_session(
        "NonMaxSuppression b[1,3,4] c[1,2,3] most(2) o<0.5 -> k; Slice k f(2) t(3) a(1) "
        "-> i; Squeeze i a -> j; Squeeze b z(0) -> q; Gather q j -> y axis=0",
        (tsr_session_desc){0});
    SET(s, "b", 0, 0, 1, 1, 0, 0, 1, 1.1f, 3, 3, 4, 4);
    SET(s, "c", 0.9f, 0.8f, 0.7f, 0.1f, 0.6f, 0.2f);
    run(s);
    EXPECT(s, 0, "4,4", 0, 0, 1, 1, 3, 3, 4, 4, 0, 0, 1, 1.1f, 3, 3, 4, 4);
    tsr_session_destroy(s);
}

static int nodes_after(const tsr_session *session) {
    tsr_report report;
    int nodes = 0;
    assert_int_equal(tsr_session_report(session, &report), TSR_OK);
    for (int i = 0; i < report.node_count; i++) {
        tsr_node_report node;
        assert_int_equal(tsr_session_node_report(session, i, &node), TSR_OK);
        nodes += tsr_shape_count(&node.shape) < 0;
    }
    return nodes;
}

static void edges(void **state) {
    (void)state;
    /* Nothing follows a run where all is constant, or nothing reads it. */
    tsr_session *s = open_session("NonZero f<0,1,2> -> i; Cast i -> c to=1; Mul x[2] c -> y",
                                  (tsr_session_desc){0});
    assert_int_equal(nodes_after(s), 0);
    SET(s, "x", 1, 2);
    run(s);
    EXPECT(s, 0, "1,2", 1, 4);
    tsr_session_destroy(s);
    s = open_session("NonZero x[2] -> i; Relu x -> y", (tsr_session_desc){0});
    assert_int_equal(nodes_after(s), 0);
    tsr_session_destroy(s);
    s = open_session("NonZero x[2] -> i; Relu x -> y", (tsr_session_desc){.plan_only = true});
    tsr_session_destroy(s);
    s = open_session("NonZero x[2] -> i; Cast i -> y to=1", (tsr_session_desc){0});
    assert_int_equal(nodes_after(s), 2);
    float elements[4];
    assert_int_equal(tsr_session_get_output(s, "y", elements, 1), TSR_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(tsr_last_error(), "has not run yet"));
    SET(s, "x", 0, 3);
    run(s);
    assert_int_equal(tsr_session_get_output(s, "y", elements, 3), TSR_ERROR_SHAPE);
    EXPECT(s, 0, "1,1", 1);
    tsr_session_destroy(s);
    tsr_model *model = make_model("NonZero x[2] -> y");
    assert_int_equal(tsr_session_create(cpu, model, &(tsr_session_desc){.runs_in_flight = 2}, &s),
                     TSR_ERROR_UNSUPPORTED);
    assert_non_null(strstr(tsr_last_error(), "several runs in flight"));
    tsr_model_free(model);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_change),
        cmocka_unit_test(run_time_parameters),
        cmocka_unit_test(compress_and_unique),
        cmocka_unit_test(unique_property),
        cmocka_unit_test(boxes),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
