/* Sessions on a GPU backend from their making to their end: what is asked of them, in every order;
 * nothing left behind. */
#define _POSIX_C_SOURCE 200809L

#include "onnx_writer.h"
#include "support/backends.h"
#include "support/main.h"
#include "support/memory.h"
#include "support/sessions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const tsr_session_desc poisoned = {.poison = true};

typedef struct fixture {
    tsr_device *device;
    tsr_model *model;
} fixture;

static tsr_device *make_device_of(const char *backend) {
    return make_device(&(tsr_device_desc){.backend = backend});
}

static fixture open_fixture(const char *text) {
    need_gpu();
    return (fixture){make_device_of(gpu_backend()), make_model(text)};
}

static void close_fixture(fixture *f) {
    tsr_model_free(f->model);
    tsr_device_destroy(f->device);
}

/* ---- not waiting ----------------------------------------------------------------------------- */

static void test_poll(void **state) {
    (void)state;
    fixture f = open_fixture(MIXED_NET);
    tsr_session *session = make_session(f.device, f.model, &poisoned);
    expect_failure(tsr_session_poll(session), TSR_ERROR_INVALID_ARGUMENT, "has not run");
    for (unsigned seed = 1; seed < 4; seed++) {
        set_inputs(session, seed);
        EXPECT_OK(tsr_session_submit(session));
        tsr_status status;
        while ((status = tsr_session_poll(session)) == TSR_NOT_READY)
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        assert_int_equal(status, TSR_OK);
        assert_int_equal(tsr_session_poll(session), TSR_OK);
        expect_output(session, f.model, "y", seed, 1e-5);
        assert_int_equal(tsr_session_poll(session), TSR_OK);
    }
    tsr_session_destroy(session);
    close_fixture(&f);
}

/* What is asked of a device happens in that order: an input set, or a run submitted, after a run
 * does not change its result. */
static void test_order(void **state) {
    (void)state;
    fixture f = open_fixture(MIXED_NET);
    tsr_session *session = make_session(f.device, f.model, &poisoned);
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_submit(session));
    set_inputs(session, 2);
    expect_output(session, f.model, "y", 1, 1e-5);
    expect_output(session, f.model, "y", 1, 1e-5);
    for (unsigned seed = 3; seed < 6; seed++) {
        set_inputs(session, seed);
        EXPECT_OK(tsr_session_submit(session));
    }
    set_inputs(session, 6);
    expect_output(session, f.model, "y", 5, 1e-5);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, f.model, "y", 6, 1e-5);
    tsr_session_destroy(session);
    session = make_session(f.device, f.model, &poisoned);
    set_inputs(session, 7);
    EXPECT_OK(tsr_session_submit(session));
    tsr_session_destroy(session); /* while it may still run */
    close_fixture(&f);
}

static void test_runs_in_flight(void **state) {
    (void)state;
    fixture f = open_fixture(MIXED_NET);
    const tsr_session_desc desc = {.poison = true, .runs_in_flight = 3};
    tsr_session *session = make_session(f.device, f.model, &desc);
    for (unsigned seed = 0; seed < 8; seed++) {
        set_inputs(session, seed);
        EXPECT_OK(tsr_session_submit(session));
        if (seed < 2)
            continue;
        set_inputs(session, 99); /* matters as little as what is submitted after a run */
        EXPECT_OK(tsr_session_select_run(session, 2));
        expect_output(session, f.model, "y", seed - 2, 1e-5);
    }
    for (int age = 0; age < 3; age++) {
        EXPECT_OK(tsr_session_select_run(session, age));
        while (tsr_session_poll(session) == TSR_NOT_READY)
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        EXPECT_OK(tsr_session_poll(session));
        expect_output(session, f.model, "y", 7 - (unsigned)age, 1e-5);
    }
    expect_failure(tsr_session_select_run(session, 3), TSR_ERROR_INVALID_ARGUMENT, "of 3 runs");
    EXPECT_OK(tsr_session_submit(session)); /* goes back to the latest */
    expect_output(session, f.model, "y", 99, 1e-5);
    EXPECT_OK(tsr_session_submit(session));
    tsr_session_destroy(session); /* while they may still run */
    close_fixture(&f);
}

/* What runs do not transfer is there when it is asked for, of the latest run. */
static void test_no_transfer(void **state) {
    (void)state;
    fixture f = open_fixture(MIXED_NET);
    const tsr_session_desc desc = {.poison = true, .runs_in_flight = 2};
    tsr_session *session = make_session(f.device, f.model, &desc);
    float y[5 * 18 * 28];
    expect_failure(tsr_session_transfer_outputs(NULL, false), TSR_ERROR_INVALID_ARGUMENT, "NULL");
    for (unsigned seed = 0; seed < 4; seed++) {
        EXPECT_OK(tsr_session_transfer_outputs(session, seed == 2));
        set_inputs(session, seed);
        EXPECT_OK(tsr_session_submit(session));
    }
    expect_output(session, f.model, "y", 3, 1e-5);
    EXPECT_OK(tsr_session_select_run(session, 1));
    expect_output(session, f.model, "y", 2, 1e-5);
    EXPECT_OK(tsr_session_submit(session));
    EXPECT_OK(tsr_session_submit(session));
    EXPECT_OK(tsr_session_select_run(session, 1));
    expect_failure(tsr_session_get_output(session, "y", y, sizeof y / sizeof *y),
                   TSR_ERROR_INVALID_ARGUMENT, "'y' of an earlier run was not transferred");
    tsr_session_destroy(session);
    close_fixture(&f);
}

static void test_sessions_in_turns(void **state) {
    (void)state;
    fixture f = open_fixture(MIXED_NET);
    tsr_session *sessions[4];
    for (unsigned i = 0; i < 4; i++) {
        sessions[i] = make_session(f.device, f.model, &poisoned);
        set_inputs(sessions[i], i);
    }
    for (int i = 3; i >= 0; i--)
        EXPECT_OK(tsr_session_submit(sessions[i]));
    for (unsigned i = 0; i < 4; i++)
        expect_output(sessions[i], f.model, "y", i, 1e-5);
    tsr_session_destroy(sessions[1]);
    EXPECT_OK(tsr_session_run(sessions[2]));
    expect_output(sessions[2], f.model, "y", 2, 1e-5);
    tsr_session_destroy(sessions[0]);
    tsr_session_destroy(sessions[3]);
    tsr_session_destroy(sessions[2]);
    close_fixture(&f);
}

/* ---- nothing left behind --------------------------------------------------------------------- */

static void live_in_fixture(void *context, unsigned i) {
    const fixture *f = context;
    live_one_session(f->device, f->model, i);
}

/* A driver's caches of compiled programs come and go by about 1 MiB. Were it a leak of 200
 * sessions, a fifth of a session's 100 KiB would be seen; what Tessera itself allocates,
 * test_gpu_allocations.c counts. */
static void test_no_growth(void **state) {
    (void)state;
    fixture f = open_fixture("Conv x[1,3,9,14] w{8,3,3,3} -> c; MaxPool c -> y kernel_shape=2,2");
    expect_no_growth(
        &(growth_limit){.warm_up = 42, .lives = 200, .allocated_mib = 4, .resident_mib = 16},
        live_in_fixture, &f);
    close_fixture(&f);
}

static void live_one_device(void *model, unsigned i) {
    tsr_device *device = make_device_of(gpu_backend());
    tsr_session *session = make_session(device, model, &poisoned);
    set_inputs(session, i);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", i, 0);
    tsr_session_destroy(session);
    tsr_device_destroy(device);
}

/* A session keeps its device until it is destroyed. */
static void test_device_destroyed_first(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_model(MIXED_NET);
    tsr_device *device = make_device_of(gpu_backend());
    tsr_session *sessions[2];
    for (int i = 0; i < 2; i++)
        sessions[i] = make_session(device, model, &poisoned);
    tsr_device_destroy(device);
    for (unsigned i = 0; i < 2; i++) {
        set_inputs(sessions[i], i);
        EXPECT_OK(tsr_session_run(sessions[i]));
        expect_output(sessions[i], model, "y", i, 1e-5);
        tsr_session_destroy(sessions[i]);
    }
    tsr_model_free(model);
}

static void test_many_devices(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_model("Relu x[1,4,3,5] -> y");
    expect_no_growth(
        &(growth_limit){.warm_up = 10, .lives = 20, .allocated_mib = 2, .resident_mib = 16},
        live_one_device, model);
    tsr_model_free(model);
}

/* x -> Softmax -> Softmax -> ... */
static tsr_model *make_long_model(int length, const int64_t shape[4]) {
    onnx_writer *writer = onnx_writer_create(13);
    char input[16] = "x", output[16];
    onnx_add_input(writer, "x", TSR_DTYPE_F32, 4, shape);
    for (int i = 0; i < length; i++) {
        snprintf(output, sizeof output, "t%d", i);
        onnx_add_node(writer, "Softmax", output, input, output);
        memcpy(input, output, sizeof input);
    }
    onnx_add_output(writer, output, TSR_DTYPE_F32, -1, NULL);
    size_t size;
    uint8_t *bytes = onnx_write_memory(writer, &size);
    onnx_writer_destroy(writer);
    assert_non_null(bytes);
    tsr_model *model;
    EXPECT_OK(tsr_model_load_memory(bytes, size, NULL, &model));
    free(bytes);
    return model;
}

/* 400 tensors of 0.85 GiB each. */
static void test_more_than_memory(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_long_model(400, (const int64_t[]){1, 4, 8192, 7000});
    tsr_session *session;
    expect_failure(tsr_session_create(gpu_device((backend_limits){0}), model,
                                      &(tsr_session_desc){.keep_tensors = true}, &session),
                   TSR_ERROR_OUT_OF_MEMORY, "MiB");
    assert_null(session);
    tsr_model_free(model);
}

/* ---- options --------------------------------------------------------------------------------- */

static void run_with(fixture *f, const tsr_session_desc *desc) {
    tsr_session *session = make_session(f->device, f->model, desc);
    double tolerance = desc->precision == TSR_PRECISION_FP16 ? 4e-3 : 1e-5;
    if (desc->plan_only) {
        expect_failure(tsr_session_submit(session), TSR_ERROR_INVALID_ARGUMENT, "plan");
    } else {
        for (unsigned seed = 0; seed < 2; seed++) {
            set_inputs(session, seed);
            EXPECT_OK(tsr_session_run(session));
            expect_output(session, f->model, "y", seed, tolerance);
        }
        if (desc->extra_output_count)
            free(get_output(session, desc->extra_outputs[0]).values);
    }
    expect_report(session, gpu_backend(), desc);
    tsr_session_destroy(session);
}

static void test_every_mix_of_options(void **state) {
    (void)state;
    fixture f = open_fixture(MIXED_NET);
    const char *extra[] = {"r"};
    int mixes = gpu_has_textures() ? 128 : 64;
    for (int mix = 0; mix < mixes; mix++) {
        const tsr_session_desc desc = {.keep_tensors = mix & 1,
                                       .time_passes = mix >> 1 & 1,
                                       .precision =
                                           mix >> 2 & 1 ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32,
                                       .plan_only = mix >> 3 & 1,
                                       .poison = mix >> 4 & 1,
                                       .extra_outputs = extra,
                                       .extra_output_count = mix >> 5 & 1,
                                       .texture_outputs = mix >> 6 & 1};
        run_with(&f, &desc);
    }
    close_fixture(&f);
}

static void expect_same_outputs(tsr_session *session, tsr_session *expected) {
    static const char *const names[] = {"v", "y"};
    set_inputs(session, 1);
    set_inputs(expected, 1);
    EXPECT_OK(tsr_session_run(session));
    EXPECT_OK(tsr_session_run(expected));
    for (int i = 0; i < 2; i++) {
        elements a = get_output(session, names[i]), b = get_output(expected, names[i]);
        expect_close(a, b, 1e-6);
        free(a.values);
        free(b.values);
    }
}

/* An output that is another tensor in another shape, read by the caller alone or by nodes, too. */
static void test_reshaped_outputs(void **state) {
    (void)state;
    static const char *const texts[] = {
        "Relu x[2,1,6,7] -> r; Reshape r s(2,6,7,1) -> v; Neg r -> y",
        "Relu x[2,1,6,7] -> r; Reshape r s(2,6,7,1) -> v; Neg v -> y",
        "Relu x[2,1,6,7] -> r; Reshape r s(2,6,7,1) -> v; "
        "Conv q[2,6,7,1] w{6,6,1,1} -> c; Add c v -> y",
        "Relu x[3,5,6,7] -> r; Flatten r -> v; Flatten v -> y axis=0",
        "Flatten x[3,5,6,7] -> v; Flatten v -> y axis=0",
    };
    const char *extra[] = {"v"};
    tsr_device *cpu = make_device(&(tsr_device_desc){.backend = "cpu"});
    for (size_t i = 0; i < 2 * (sizeof texts / sizeof *texts); i++) {
        fixture f = open_fixture(texts[i / 2]);
        tsr_session_desc desc = {.poison = true, .extra_outputs = extra, .extra_output_count = 1};
        tsr_session *expected = make_session(cpu, f.model, &desc);
        desc.texture_outputs = i % 2 && gpu_has_textures();
        tsr_session *session = make_session(f.device, f.model, &desc);
        expect_same_outputs(session, expected);
        tsr_session_destroy(session);
        tsr_session_destroy(expected);
        close_fixture(&f);
    }
    tsr_device_destroy(cpu);
}

/* A Pad whose value is no constant is on the CPU: beside the rest, before it, of five axes. */
static void test_corners_of_fallback(void **state) {
    (void)state;
    static const char *const texts[] = {
        "Pad q[1,1,1,5] p(0,0,0,1,0,0,0,0) k[] -> r!; Relu x[1,3,4,4] -> y",
        "Pad q[1,2,2,3,2] p(0,0,0,1,0,0,0,0,0,0) k[] -> r; Softmax r -> s! axis=2; MaxPool "
        "x[1,3,4,4] -> y "
        "kernel_shape=2,2",
        "Pad x[1,2,2,3,2] p(0,1,0,0,0,0,0,0,0,0) k[] -> y",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fixture f = open_fixture(texts[i]);
        tsr_session *session = make_session(
            f.device, f.model, &(tsr_session_desc){.allow_cpu_fallback = true, .poison = true});
        assert_int_equal(nodes_on(session, "cpu"), 1);
        set_inputs(session, 1);
        EXPECT_OK(tsr_session_run(session));
        expect_output(session, f.model, "y", 1, 1e-5);
        tsr_session_destroy(session);
        close_fixture(&f);
    }
}

/* ---- half precision -------------------------------------------------------------------------- */

/* What leaves the range of 16 bits (65504) becomes an infinity, the largest number or NaN, as the
 * driver has it; the others stay right. */
static void test_half_overflow(void **state) {
    (void)state;
    fixture f = open_fixture("Mul x[1,4,2,2] k<0.5 -> m; Exp m -> y");
    tsr_session *session = make_session(
        f.device, f.model, &(tsr_session_desc){.precision = TSR_PRECISION_FP16, .poison = true});
    float input[16], output[16];
    for (int i = 0; i < 16; i++)
        input[i] = (float)(4 * i) - 20; /* exp(-10) .. exp(20) */
    EXPECT_OK(tsr_session_set_input(session, "x", input, 16));
    EXPECT_OK(tsr_session_run(session));
    EXPECT_OK(tsr_session_get_output(session, "y", output, 16));
    for (int i = 0; i < 16; i++) {
        double expected = exp(input[i] / 2.0);
        if (expected > 65504)
            assert_true(!(output[i] < 65000));
        else
            assert_true(fabs(output[i] - expected) <= 1e-3 * expected + 6e-8);
    }
    tsr_session_destroy(session);
    close_fixture(&f);
}

/* Four channels share a texel, and in buffers two share a word. */
static void test_half_neighbours(void **state) {
    (void)state;
    const float beyond[] = {NAN, INFINITY, -INFINITY, 1e30f};
    fixture f = open_fixture("Neg x[1,4,1,1] -> y");
    tsr_session *session =
        make_session(f.device, f.model, &(tsr_session_desc){.precision = TSR_PRECISION_FP16});
    for (int i = 0; i < 16; i++) {
        float input[] = {1, 0, 1, 0}, output[4];
        input[i % 4] = beyond[i / 4];
        EXPECT_OK(tsr_session_set_input(session, "x", input, 4));
        EXPECT_OK(tsr_session_run(session));
        EXPECT_OK(tsr_session_get_output(session, "y", output, 4));
        for (int k = 0; k < 4; k++)
            assert_true(k == i % 4 || output[k] == -input[k]);
    }
    tsr_session_destroy(session);
    close_fixture(&f);
}

/* ---- figures --------------------------------------------------------------------------------- */

static void test_measure(void **state) {
    (void)state;
    need_gpu();
    tsr_device *device = make_device_of(gpu_backend()), *cpu = make_device_of("cpu");
    tsr_device_peaks peaks;
    EXPECT_OK(tsr_device_measure(device, &peaks));
    const double figures[] = {peaks.gflops, peaks.gfetches, peaks.copy_gbs, peaks.upload_gbs,
                              peaks.readback_gbs};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        assert_true(isfinite(figures[i]) && figures[i] > 0);
    expect_failure(tsr_device_measure(cpu, &peaks), TSR_ERROR_UNSUPPORTED, "cpu measures no peaks");
    assert_true(peaks.gflops == 0);
    expect_failure(tsr_device_measure(device, NULL), TSR_ERROR_INVALID_ARGUMENT, "peaks is NULL");
    expect_failure(tsr_device_measure(NULL, &peaks), TSR_ERROR_INVALID_ARGUMENT, "device is NULL");
    tsr_device_destroy(cpu);
    tsr_device_destroy(device);
}

static void expect_bytes(const fixture *f, tsr_precision precision, int index, uint64_t bytes) {
    tsr_session *session = make_session(
        f->device, f->model, &(tsr_session_desc){.precision = precision, .plan_only = true});
    tsr_node_report node;
    EXPECT_OK(tsr_session_node_report(session, index, &node));
    assert_int_equal(node.bytes, bytes);
    tsr_session_destroy(session);
}

static void test_bytes(void **state) {
    (void)state;
    /* x, weights, the fused operand, which is read once, and the output; then a view. */
    fixture f = open_fixture("Conv x[1,3,4,4] w{2,3,1,1} -> c; Add c z[1,2,4,4] -> s; "
                             "Mul s z -> m; GlobalAveragePool m -> p; Flatten p -> y");
    expect_bytes(&f, TSR_PRECISION_FP32, 0, (48 + 6 + 32 + 32) * 4);
    expect_bytes(&f, TSR_PRECISION_FP16, 0, (48 + 6 + 32 + 32) * 2);
    expect_bytes(&f, TSR_PRECISION_FP32, 1, (32 + 2) * 4);
    expect_bytes(&f, TSR_PRECISION_FP32, 2, 0);
    close_fixture(&f);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poll),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_runs_in_flight),
        cmocka_unit_test(test_no_transfer),
        cmocka_unit_test(test_sessions_in_turns),
        cmocka_unit_test(test_no_growth),
        cmocka_unit_test(test_device_destroyed_first),
        cmocka_unit_test(test_many_devices),
        cmocka_unit_test(test_more_than_memory),
        cmocka_unit_test(test_every_mix_of_options),
        cmocka_unit_test(test_reshaped_outputs),
        cmocka_unit_test(test_corners_of_fallback),
        cmocka_unit_test(test_half_overflow),
        cmocka_unit_test(test_half_neighbours),
        cmocka_unit_test(test_measure),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
