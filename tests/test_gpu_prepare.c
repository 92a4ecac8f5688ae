/* Sessions that are prepared in steps, on each GPU backend and on cpu. */
#define _POSIX_C_SOURCE 200809L

#include "support/backends.h"
#include "support/counted_memory.h"
#include "support/main.h"
#include "support/sessions.h"

#include <time.h>

static const tsr_session_desc in_steps = {.prepare_in_steps = true, .poison = true};

/* Steps of that many milliseconds until it is prepared, at most `most`. */
static int prepare(tsr_session *session, double ms, int most) {
    int steps = 0;
    tsr_status status = TSR_NOT_READY;
    while (steps < most && (status = tsr_session_prepare(session, ms)) == TSR_NOT_READY) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        steps++;
    }
    if (steps < most)
        EXPECT_OK(status);
    return steps;
}

enum { UNTIL_PREPARED = 1000000 };

static void check_run(tsr_session *session, const tsr_model *model, unsigned seed) {
    set_inputs(session, seed);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", seed, 1e-5);
}

static void check_backend(const char *backend) {
    tsr_device *device = make_device(&(tsr_device_desc){.backend = backend});
    tsr_model *model = make_model(MIXED_NET);
    for (int i = 0; i < 2; i++) {
        tsr_session *session = make_session(device, model, &in_steps);
        assert_int_equal(tsr_session_output_count(session), 1);
        prepare(session, i ? 1000 : 0, UNTIL_PREPARED);
        EXPECT_OK(tsr_session_prepare(session, 0));
        check_run(session, model, 1);
        tsr_session_destroy(session);
    }
    tsr_session *whole = make_session(device, model, NULL);
    EXPECT_OK(tsr_session_prepare(whole, 0));
    tsr_session_destroy(whole);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

static void test_results(void **state) {
    (void)state;
    need_gpu();
    check_backend("cpu");
    check_backend(gpu_backend());
    expect_failure(tsr_session_prepare(NULL, 0), TSR_ERROR_INVALID_ARGUMENT, "NULL");
}

static void test_too_early(void **state) {
    (void)state;
    need_gpu();
    const float x[1] = {0};
    float y[1];
    tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend()});
    tsr_model *model = make_model(MIXED_NET);
    tsr_session *session = make_session(device, model, &in_steps);
    for (int i = 0; i < 2; i++) {
        expect_failure(tsr_session_set_input(session, "x", x, 1), TSR_ERROR_INVALID_ARGUMENT,
                       "net.onnx: the session is not prepared yet");
        expect_failure(tsr_session_run(session), TSR_ERROR_INVALID_ARGUMENT, "not prepared yet");
        expect_failure(tsr_session_step(session, 1), TSR_ERROR_INVALID_ARGUMENT,
                       "not prepared yet");
        expect_failure(tsr_session_get_output(session, "y", y, 1), TSR_ERROR_INVALID_ARGUMENT,
                       "not run yet");
        prepare(session, 0, 1);
    }
    prepare(session, 0, UNTIL_PREPARED);
    check_run(session, model, 3);
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

/* Two sessions share weights and programs; the first goes after each number of steps. */
static void test_together(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_model(MIXED_NET);
    int all = UNTIL_PREPARED;
    for (int n = 0; n <= all; n += 1 + n / 4) {
        tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend()});
        tsr_session *first = make_session(device, model, &in_steps),
                    *second = make_session(device, model, &in_steps);
        int steps = prepare(first, 0, n);
        prepare(second, 0, n / 2);
        if (steps < n) {
            all = n;
            check_run(first, model, 2);
        }
        tsr_session_destroy(first);
        prepare(second, 0, UNTIL_PREPARED);
        check_run(second, model, 1);
        tsr_session_destroy(second);
        tsr_device_destroy(device);
    }
    tsr_model_free(model);
}

static bool refuse(void *user, const char *what, double fraction) {
    int *left = user;
    (void)what, (void)fraction;
    return (*left)-- > 0;
}

static void test_failure(void **state) {
    (void)state;
    need_gpu();
    tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend()});
    tsr_model *model = make_model(MIXED_NET);
    int reports = 3;
    tsr_session_desc desc = in_steps;
    desc.progress = (tsr_progress){refuse, &reports};
    tsr_session *session = make_session(device, model, &desc);
    tsr_status status;
    while ((status = tsr_session_prepare(session, 0)) == TSR_NOT_READY)
        ;
    expect_failure(status, TSR_ERROR_CANCELLED, "net.onnx: cancelled while ");
    expect_failure(tsr_session_prepare(session, 0), TSR_ERROR_INVALID_ARGUMENT,
                   "net.onnx: the session could not be prepared");
    expect_failure(tsr_session_run(session), TSR_ERROR_INVALID_ARGUMENT, "could not be prepared");
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_too_early),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_failure),
    };
    count_memory();
    int failed = cmocka_run_group_tests(tests, NULL, close_backends);
    return failed ? failed : live_blocks() != 0;
}
