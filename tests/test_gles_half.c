/* GPUs that render to 16-bit floats, but to none of 32 bits: the driver's own, with what lies about
 * the others between, which refuses every framebuffer of 32-bit floats. */
#include "support/gl_caller.h"
#include "support/main.h"
#include "support/sessions.h"

#include "support/backends.h"

#include <math.h>
#include <string.h>

/* Chains of a few nodes, each of which rounds to 2^-12. */
#define TOLERANCE 6e-3

static EGLContext context;

static tsr_device *adopt(int float_bits) {
    limit_float_targets(float_bits);
    return make_device(&(tsr_device_desc){.gles.platform = TSR_PLATFORM_CURRENT,
                                          .gles.get_proc_address = watched_proc_address});
}

/* Skips the test where there is no such context. */
static tsr_device *need_half(void) {
    need_backend("gles");
    context = make_caller_context(CALLER_ES3);
    if (!context)
        skip();
    return adopt(16);
}

static void leave(tsr_device *device) {
    tsr_device_destroy(device);
    limit_float_targets(32);
    destroy_caller_context(context);
}

static tsr_report report_of(tsr_session *session) {
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    return report;
}

static int warnings;

static void count_warnings(void *user, tsr_log_level level, const char *message) {
    (void)user;
    warnings += level == TSR_LOG_WARN && strstr(message, "stored in 16 bits, not 32") != NULL;
}

/* What is asked for, and what is stored. */
static void test_precision(void **state) {
    (void)state;
    tsr_device *device = need_half();
    tsr_device_info info;
    EXPECT_OK(tsr_device_get_info(device, &info));
    assert_true(info.half_only);
    tsr_model *model = make_model(MIXED_NET);
    for (int half = 0; half < 2; half++) {
        warnings = 0;
        tsr_set_log(count_warnings, NULL);
        tsr_session *session = make_session(
            device, model,
            &(tsr_session_desc){.poison = true,
                                .precision = half ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32});
        tsr_set_log(NULL, NULL);
        assert_int_equal(warnings, !half);
        assert_int_equal(report_of(session).precision, TSR_PRECISION_FP16);
        set_inputs(session, 1);
        EXPECT_OK(tsr_session_run(session));
        expect_output(session, model, "y", 1, TOLERANCE);
        tsr_session_destroy(session);
    }
    tsr_model_free(model);
    leave(device);
}

/* The plan counts what is allocated: half of what 32 bits take, sums and all. */
static void test_memory(void **state) {
    (void)state;
    tsr_device *device = need_half();
    tsr_model *model =
        make_model("Conv x[1,8,32,32] w{8,8,3,3} -> c pads=1,1,1,1; InstanceNormalization c s{8} "
                   "b{8} -> n; Softmax n -> y axis=1");
    tsr_session *session = make_session(device, model, NULL);
    tsr_report half = report_of(session);
    tsr_session_destroy(session);
    tsr_device_destroy(device);
    device = adopt(32);
    session = make_session(device, model, NULL);
    tsr_report whole = report_of(session);
    assert_int_equal(whole.precision, TSR_PRECISION_FP32);
    assert_true(half.tensor_bytes <= whole.tensor_bytes / 2 + whole.tensor_bytes / 16);
    assert_true(half.live_bytes_bound <= whole.live_bytes_bound / 2 + whole.live_bytes_bound / 16);
    assert_true(half.weight_bytes <= whole.weight_bytes);
    tsr_session_destroy(session);
    tsr_model_free(model);
    leave(device);
}

/* Floats as their bits in textures of integers: the same results to the last bit, in 32 bits
 * whatever is asked for; textures of floats are not to be had. */
static void test_no_floats(void **state) {
    (void)state;
    tsr_device *device = need_half();
    tsr_device_destroy(device);
    tsr_model *model = make_model(MIXED_NET);
    elements y[2];
    for (int floats = 0; floats < 2; floats++) {
        device = adopt(floats ? 32 : 0);
        const tsr_precision asked = floats ? TSR_PRECISION_FP32 : TSR_PRECISION_FP16;
        tsr_session *session =
            make_session(device, model, &(tsr_session_desc){.poison = true, .precision = asked});
        assert_int_equal(report_of(session).precision, TSR_PRECISION_FP32);
        set_inputs(session, 1);
        EXPECT_OK(tsr_session_run(session));
        y[floats] = get_output(session, "y");
        tsr_session_destroy(session);
        if (!floats)
            expect_failure(tsr_session_create(device, model,
                                              &(tsr_session_desc){.texture_outputs = true},
                                              &session),
                           TSR_ERROR_UNSUPPORTED, "of floats, which this GPU does not render to");
        tsr_device_destroy(device);
    }
    assert_int_equal(y[0].count, y[1].count);
    assert_memory_equal(y[0].values, y[1].values, y[0].count * sizeof *y[0].values);
    free(y[0].values);
    free(y[1].values);
    tsr_model_free(model);
    limit_float_targets(32);
    destroy_caller_context(context);
}

static elements filled(size_t count, float value) {
    elements e = {count, malloc(count * sizeof(float))};
    assert_non_null(e.values);
    for (size_t i = 0; i < count; i++)
        e.values[i] = value;
    return e;
}

/* The first element of y, x being one value everywhere but in its first element. */
static float first_of(tsr_device *device, const char *text, size_t count, float first,
                      float value) {
    tsr_model *model = make_model(text);
    tsr_session *session = make_session(device, model, &(tsr_session_desc){.poison = true});
    elements x = filled(count, value);
    x.values[0] = first;
    EXPECT_OK(tsr_session_set_input(session, "x", x.values, x.count));
    EXPECT_OK(tsr_session_run(session));
    elements y = get_output(session, "y");
    float result = y.values[0];
    free(x.values);
    free(y.values);
    tsr_session_destroy(session);
    tsr_model_free(model);
    return result;
}

static void expect_near(float actual, double expected) {
    if (!(fabs((double)actual - expected) <= TOLERANCE * fabs(expected)))
        fail_msg("%g instead of %g", (double)actual, expected);
}

/* Sums that 16 bits do not hold, of what they hold. */
static void test_large_sums(void **state) {
    (void)state;
    tsr_device *device = need_half();
    const size_t side = 300, count = side * side;
    expect_near(first_of(device, "GlobalAveragePool x[1,1,300,300] -> y", count, 700, 700), 700);
    expect_near(first_of(device, "Softmax x[1,1,300,300] -> y axis=3", count, 0, 0), 1.0 / side);
    expect_near(first_of(device, "Softmax x[1,90000] -> y axis=1", count, 11, 0),
                exp(11) / (exp(11) + (double)count - 1));
    /* A mean of 200 and a deviation of 200: the squares' sum is 3.6e9. */
    tsr_model *model = make_model("InstanceNormalization x[1,1,300,300] s<1> b<0> -> y");
    tsr_session *session = make_session(device, model, &(tsr_session_desc){.poison = true});
    elements x = filled(count, 0), y;
    for (size_t i = 0; i < count; i += 2)
        x.values[i] = 400;
    EXPECT_OK(tsr_session_set_input(session, "x", x.values, x.count));
    EXPECT_OK(tsr_session_run(session));
    y = get_output(session, "y");
    for (size_t i = 0; i < count; i++)
        expect_near(y.values[i], i % 2 ? -1 : 1);
    free(x.values);
    free(y.values);
    tsr_session_destroy(session);
    tsr_model_free(model);
    leave(device);
}

static void expect_refused(tsr_device *device, const char *text, const char *words) {
    tsr_model *model = make_model(text);
    tsr_session *session;
    expect_failure(tsr_session_create(device, model, NULL, &session), TSR_ERROR_UNSUPPORTED, words);
    assert_null(session);
    tsr_model_free(model);
}

/* Exactly what cpu computes, with nodes on the CPU. */
static void expect_exact(tsr_device *device, const char *text, elements x) {
    tsr_device *cpu = make_device(&(tsr_device_desc){.backend = "cpu"}), *devices[] = {device, cpu};
    tsr_model *model = make_model(text);
    elements y[2];
    for (int i = 0; i < 2; i++) {
        tsr_session *session =
            make_session(devices[i], model, &(tsr_session_desc){.allow_cpu_fallback = true});
        EXPECT_OK(tsr_session_set_input(session, "x", x.values, x.count));
        EXPECT_OK(tsr_session_run(session));
        y[i] = get_output(session, "y");
        tsr_session_destroy(session);
    }
    expect_close(y[0], y[1], 0);
    free(y[0].values);
    free(y[1].values);
    tsr_model_free(model);
    tsr_device_destroy(cpu);
}

/* Integers above 2048, which 16 bits round. */
static void test_integers(void **state) {
    (void)state;
    static float values[] = {2047, 2049, -4097, 3001, 70001, -1};
    tsr_device *device = need_half();
    const elements x = {6, values};
    const char *words = "16-bit floats only, which hold integers up to 2048 exactly";
    expect_refused(device, "Transpose x:int64[2,3] -> y", words);
    expect_refused(device, "Relu x[2,3] -> r; Cast r -> y to=6", words);
    assert_non_null(strstr(tsr_last_error(), "[2, 3]"));
    assert_non_null(strstr(tsr_last_error(), "(Cast)"));
    expect_refused(device, "MaxPool x[1,3,64,64] -> y i kernel_shape=2,2", "Indices");
    expect_exact(device, "Transpose x:int64[2,3] -> y", x);
    expect_exact(device, "Transpose x:int32[2,3] -> t; Cast t -> y to=7", x);
    expect_exact(device, "Gather x:int32[6] i(5,1,1,0,3) -> y", x);
    tsr_model *model = make_model("Concat x:uint8[2,3] x -> y axis=1"); /* bytes are exact */
    tsr_session *session = make_session(device, model, NULL);
    tsr_session_destroy(session);
    tsr_model_free(model);
    leave(device);
}

/* Every option of a session, and the measured peaks. */
static void test_options(void **state) {
    (void)state;
    tsr_device *device = need_half();
    tsr_model *model = make_model(MIXED_NET);
    for (unsigned seed = 0; seed < 12; seed++)
        live_one_session(device, model, seed);
    tsr_device_peaks peaks;
    EXPECT_OK(tsr_device_measure(device, &peaks));
    assert_true(peaks.copy_gbs > 0 && peaks.readback_gbs > 0);
    tsr_session *session =
        make_session(device, model, &(tsr_session_desc){.texture_outputs = true});
    tsr_texture texture;
    EXPECT_OK(tsr_session_output_texture(session, "y", &texture));
    assert_int_equal(texture.internal_format, GL_RGBA16F);
    tsr_session_destroy(session);
    tsr_model_free(model);
    leave(device);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precision), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_no_floats), cmocka_unit_test(test_large_sums),
        cmocka_unit_test(test_integers),  cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
