/* Runs in steps, on each GPU backend and on cpu. */
#define _POSIX_C_SOURCE 200809L

#include "support/backends.h"
#include "support/main.h"
#include "support/sessions.h"

#include <string.h>
#include <time.h>

/* Steps of that many milliseconds that a run needs. */
static int count_steps(tsr_session *session, double ms) {
    int steps = 1;
    tsr_status status;
    while ((status = tsr_session_step(session, ms)) == TSR_NOT_READY) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        steps++;
    }
    EXPECT_OK(status);
    return steps;
}

static tsr_session *open_session(const char *backend, const tsr_session_desc *desc,
                                 tsr_device **device, tsr_model **model) {
    *device = make_device(&(tsr_device_desc){.backend = backend});
    *model = make_model(MIXED_NET);
    return make_session(*device, *model, desc);
}

static void check_backend(const char *backend, const tsr_session_desc *desc) {
    tsr_device *device;
    tsr_model *model;
    tsr_session *session = open_session(backend, desc, &device, &model);
    for (unsigned seed = 1; seed < 6; seed++) {
        set_inputs(session, seed);
        count_steps(session, seed % 2 ? 0 : 1000);
        expect_output(session, model, "y", seed, 1e-5);
        EXPECT_OK(tsr_session_poll(session));
    }
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

static void test_results(void **state) {
    (void)state;
    need_gpu();
    check_backend(gpu_backend(), &(tsr_session_desc){.poison = true});
    check_backend(gpu_backend(), &(tsr_session_desc){.time_passes = true});
    check_backend("cpu", NULL);
}

/* Other calls in the middle of a run. */
static void test_interruptions(void **state) {
    (void)state;
    need_gpu();
    tsr_device *device;
    tsr_model *model;
    tsr_session *session =
        open_session(gpu_backend(), &(tsr_session_desc){.poison = true}, &device, &model);
    expect_failure(tsr_session_step(session, 1), TSR_ERROR_INVALID_ARGUMENT, "has not been set");
    expect_failure(tsr_session_step(NULL, 1), TSR_ERROR_INVALID_ARGUMENT, "NULL");
    set_inputs(session, 1);
    tsr_session_step(session, 0);
    set_inputs(session, 2); /* begins anew */
    count_steps(session, 0);
    expect_output(session, model, "y", 2, 1e-5);
    tsr_session_step(session, 0);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 2, 1e-5);
    tsr_session_step(session, 0);
    tsr_session_destroy(session);
    session = make_session(device, model, &(tsr_session_desc){.runs_in_flight = 2});
    set_inputs(session, 1);
    expect_failure(tsr_session_step(session, 1), TSR_ERROR_INVALID_ARGUMENT,
                   "several runs in flight");
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

/* On gles a step without time is one pass, one with much time is the whole run. */
static void test_budget(void **state) {
    (void)state;
    need_gpu();
    if (strcmp(gpu_backend(), "gles"))
        skip();
    tsr_device *device;
    tsr_model *model;
    tsr_session *session = open_session("gles", NULL, &device, &model);
    tsr_report report;
    static float y[5 * 18 * 28];
    EXPECT_OK(tsr_session_report(session, &report));
    assert_true(report.pass_count > 2);
    set_inputs(session, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(count_steps(session, 0), report.pass_count);
    for (int i = 0; i < 3; i++)
        assert_int_equal(count_steps(session, 60000), 1);
    assert_int_equal(tsr_session_step(session, 0), TSR_NOT_READY);
    expect_failure(tsr_session_get_output(session, "y", y, sizeof y / sizeof *y),
                   TSR_ERROR_INVALID_ARGUMENT, "not complete yet");
    expect_failure(tsr_session_poll(session), TSR_ERROR_INVALID_ARGUMENT, "not complete yet");
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_interruptions),
        cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
