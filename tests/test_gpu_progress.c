/* What long calls tell of their progress, and that they can be cancelled at every report. */
#include "support/backends.h"
#include "support/counted_memory.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/sessions.h"

#include <string.h>

static const char *const texts[] = {"reading weights", "measuring", "compiling", "packing weights"};
enum { TEXTS = sizeof texts / sizeof *texts };

typedef struct listener {
    int left; /* reports before it cancels; negative: never */
    int reports, of[TEXTS];
    double fraction;
} listener;

static bool listen(void *user, const char *what, double fraction) {
    listener *l = user;
    int known = 0;
    while (known < TEXTS && strcmp(texts[known], what))
        known++;
    assert_true(known < TEXTS);
    assert_true(fraction >= l->fraction && fraction <= 1);
    l->of[known]++;
    l->reports++;
    l->fraction = fraction;
    return l->left < 0 || l->left-- > 0;
}

static void test_model(void **state) {
    (void)state;
    size_t size;
    uint8_t *bytes = onnx_case_bytes(13, MIXED_NET, &size);
    tsr_status status = TSR_ERROR_CANCELLED;
    for (int n = 0; status != TSR_OK; n++) {
        listener l = {.left = n};
        tsr_model *model;
        status = tsr_model_load_memory(
            bytes, size, &(tsr_model_desc){.name = "net.onnx", .progress = {listen, &l}}, &model);
        assert_true((model != NULL) == (status == TSR_OK));
        tsr_model_free(model);
        if (status != TSR_OK)
            expect_failure(status, TSR_ERROR_CANCELLED, "net.onnx: cancelled while reading");
        else
            assert_true(l.of[0] == l.reports && l.reports == 4 && l.fraction == 1);
    }
    free(bytes);
}

static void test_session_of(const char *backend, tsr_session_desc desc, const bool reported[TEXTS],
                            int step) {
    need_gpu();
    tsr_model *model = make_model(MIXED_NET);
    tsr_status status = TSR_ERROR_CANCELLED;
    for (int n = 0; status != TSR_OK; n += step) {
        /* A new device each time: one that was measured is not measured again. */
        tsr_device *device = make_device(&(tsr_device_desc){.backend = backend});
        listener l = {.left = n};
        tsr_session *session;
        desc.progress = (tsr_progress){listen, &l};
        status = tsr_session_create(device, model, &desc, &session);
        assert_true((session != NULL) == (status == TSR_OK));
        if (status != TSR_OK) {
            expect_failure(status, TSR_ERROR_CANCELLED, "net.onnx: ");
            assert_int_equal(l.reports, n + 1);
        } else {
            set_inputs(session, 1);
            EXPECT_OK(tsr_session_run(session));
            expect_output(session, model, "y", 1, 1e-5);
            assert_true(l.fraction == 1);
            for (int i = 0; i < TEXTS; i++)
                assert_int_equal(l.of[i] > 0, reported[i]);
        }
        tsr_session_destroy(session);
        tsr_device_destroy(device);
    }
    tsr_model_free(model);
}

static void test_cpu_session(void **state) {
    (void)state;
    test_session_of("cpu", (tsr_session_desc){0}, (bool[]){true, false, false, false}, 1);
}

static void test_session(void **state) {
    (void)state;
    test_session_of(gpu_backend(), (tsr_session_desc){0}, (bool[]){false, false, true, true}, 5);
}

static void test_tuned_session(void **state) {
    (void)state;
    test_session_of(gpu_backend(), (tsr_session_desc){.tune_ms = 600000},
                    (bool[]){false, true, true, true}, 31);
}

static void test_fallback_session(void **state) {
    (void)state;
    test_session_of(gpu_backend(), (tsr_session_desc){.allow_cpu_fallback = true},
                    (bool[]){true, false, true, true}, 9);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_cpu_session),
        cmocka_unit_test(test_session),
        cmocka_unit_test(test_tuned_session),
        cmocka_unit_test(test_fallback_session),
    };
    count_memory(); /* cancelled calls leave nothing */
    int failed = cmocka_run_group_tests(tests, NULL, close_backends);
    return failed ? failed : live_blocks() != 0;
}
