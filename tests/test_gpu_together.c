/* Devices beside each other, of one backend and of several, in turns and on threads. */
#define _POSIX_C_SOURCE 200809L

#include "backend/backend.h"
#include "support/backends.h"
#include "support/main.h"
#include "support/sessions.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TOGETHER = 8, ROUNDS = 8, INPUTS = 3 * 9 * 14, OUTPUTS = 5 * 18 * 28 }; /* MIXED_NET */

static const tsr_session_desc poisoned = {.poison = true};

/* Two of the backend under test and one of each other that has a device here. */
static int choose_backends(const char *names[MAX_TOGETHER]) {
    int count = 0;
    names[count++] = gpu_backend();
    for (int i = 0; tsr_backends[i]; i++) {
        tsr_device *device;
        if (tsr_device_create(&(tsr_device_desc){.backend = tsr_backends[i]->name}, &device) !=
            TSR_OK)
            continue;
        tsr_device_destroy(device);
        assert_true(count < MAX_TOGETHER);
        names[count++] = tsr_backends[i]->name;
    }
    assert_true(count > 2);
    return count;
}

/* ---- in turns -------------------------------------------------------------------------------- */

static void test_devices_in_turns(void **state) {
    (void)state;
    need_gpu();
    const char *names[MAX_TOGETHER];
    tsr_device *devices[MAX_TOGETHER];
    tsr_session *sessions[MAX_TOGETHER];
    tsr_model *model = make_model(MIXED_NET);
    unsigned count = (unsigned)choose_backends(names);
    for (unsigned i = 0; i < count; i++) {
        devices[i] = make_device(&(tsr_device_desc){.backend = names[i]});
        sessions[i] = make_session(devices[i], model, &poisoned);
    }
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < count; i++)
            set_inputs(sessions[i], 10 * round + i);
        for (unsigned i = 0; i < count; i++)
            EXPECT_OK(tsr_session_submit(sessions[i]));
        for (unsigned i = 0; i < count; i++)
            expect_output(sessions[i], model, "y", 10 * round + i, 1e-5);
    }
    for (unsigned i = 0; i < count; i++) {
        tsr_session_destroy(sessions[i]);
        tsr_device_destroy(devices[i]);
    }
    tsr_model_free(model);
}

/* ---- on threads ------------------------------------------------------------------------------ */

/* Makes the same device, session and run again and again. cmocka's assertions work on the main
 * thread only: what goes wrong is written down for it. */
typedef struct worker {
    const char *backend;
    const tsr_model *model;
    float input[INPUTS], expected[OUTPUTS], output[OUTPUTS];
    char device[256];
    int round;
    char failure[1024]; /* "" as long as all is well */
} worker;

static tsr_status note(worker *w, const char *call, tsr_status status) {
    if (status != TSR_OK)
        snprintf(w->failure, sizeof w->failure, "%s: %s: %s", call, tsr_status_name(status),
                 tsr_last_error());
    return status;
}

#define TRY(worker, call)                                                                          \
    do {                                                                                           \
        tsr_status try_ = note(worker, #call, call);                                               \
        if (try_ != TSR_OK)                                                                        \
            return try_;                                                                           \
    } while (0)

static tsr_status run_session(worker *w, tsr_session *session) {
    TRY(w, tsr_session_set_input(session, "x", w->input, INPUTS));
    TRY(w, tsr_session_run(session));
    TRY(w, tsr_session_get_output(session, "y", w->output, OUTPUTS));
    return TSR_OK;
}

static tsr_status run_device(worker *w, tsr_device *device) {
    tsr_device_info info;
    tsr_session *session;
    TRY(w, tsr_device_get_info(device, &info));
    snprintf(w->device, sizeof w->device, "%s: %s, %s", w->backend, info.name, info.version);
    TRY(w, tsr_session_create(device, w->model, &poisoned, &session));
    tsr_status status = run_session(w, session);
    tsr_session_destroy(session);
    return status;
}

static tsr_status run_once(worker *w) {
    tsr_device *device;
    TRY(w, tsr_device_create(&(tsr_device_desc){.backend = w->backend}, &device));
    tsr_status status = run_device(w, device);
    tsr_device_destroy(device);
    return status;
}

static void compare(worker *w) {
    int first = -1, differing = 0;
    for (int i = 0; i < OUTPUTS; i++) {
        bool differs = memcmp(&w->output[i], &w->expected[i], sizeof(float)) != 0;
        first = differs && first < 0 ? i : first;
        differing += differs;
    }
    if (differing)
        snprintf(w->failure, sizeof w->failure,
                 "%d of %d elements are others than before; number %d is %.9g instead of %.9g",
                 differing, OUTPUTS, first, w->output[first], w->expected[first]);
}

static void *work(void *user) {
    worker *w = user;
    for (w->round = 1; w->round <= ROUNDS; w->round++) {
        if (run_once(w) == TSR_OK)
            compare(w);
        if (*w->failure)
            return NULL;
    }
    return NULL;
}

/* Its results are those of a first run, here and now. */
static void prepare(worker *w, const char *backend, const tsr_model *model, unsigned seed) {
    *w = (worker){.backend = backend, .model = model};
    for (unsigned i = 0; i < INPUTS; i++)
        w->input[i] = (float)((i * seed) % 17) / 17;
    if (run_once(w) != TSR_OK)
        fail_msg("%s, alone: %s", w->device, w->failure);
    memcpy(w->expected, w->output, sizeof w->expected);
}

static void test_threads(void **state) {
    (void)state;
    need_gpu();
    const char *names[MAX_TOGETHER];
    pthread_t threads[MAX_TOGETHER];
    static worker workers[MAX_TOGETHER];
    tsr_model *model = make_model(MIXED_NET);
    unsigned count = (unsigned)choose_backends(names), failed = 0;
    for (unsigned i = 0; i < count; i++)
        prepare(&workers[i], names[i], model, i + 2);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < count; i++) {
        const worker *w = &workers[i];
        if (*w->failure)
            print_error("thread %u (%s), round %d: %s\n", i, w->device, w->round, w->failure);
        failed += *w->failure != '\0';
    }
    assert_int_equal(failed, 0);
    tsr_model_free(model);
}

/* ---- those that are listed ------------------------------------------------------------------- */

static void create_listed(void *user, const tsr_device_desc *desc, const tsr_device_info *info,
                          const char *reason) {
    assert_true((info == NULL) == (reason != NULL));
    if (!info || strcmp(info->backend, gpu_backend()))
        return;
    tsr_device *device = make_device(desc);
    tsr_device_info again;
    EXPECT_OK(tsr_device_get_info(device, &again));
    assert_string_equal(again.name, info->name);
    tsr_device_destroy(device);
    ++*(int *)user;
}

static void test_listed_devices_work(void **state) {
    (void)state;
    need_gpu();
    int count = 0;
    tsr_list_devices(create_listed, &count);
    assert_true(count >= 1);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices_in_turns),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_listed_devices_work),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
