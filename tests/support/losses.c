#include "support/losses.h"

#include "support/sessions.h"

#include <limits.h>
#include <string.h>

typedef struct life {
    const losing_caller *caller;
    tsr_device_desc desc;
    tsr_device *device;
    const tsr_model *model;
    tsr_session *session; /* NULL: not yet made */
    bool whole_runs;      /* else in steps */
} life;

static const losing_caller *losing;
static long moments, fatal; /* passed; the one at which it is lost, or -1 */

void pass_moment(void) {
    if (losing && moments++ == fatal)
        losing->lose();
}

static bool pass_progress(void *user, const char *what, double fraction) {
    (void)user, (void)what, (void)fraction;
    pass_moment();
    return true;
}

/* Calls until one fails; NOT_READY: calls again. How long a driver takes changes: just the first
 * calls are moments. */
#define GO_ON(call)                                                                                \
    do {                                                                                           \
        tsr_status go_on_;                                                                         \
        for (int again = 0; (go_on_ = (call)) == TSR_NOT_READY; again++)                           \
            if (again < 8)                                                                         \
                pass_moment();                                                                     \
        if (go_on_ != TSR_OK)                                                                      \
            return go_on_;                                                                         \
        pass_moment();                                                                             \
    } while (0)

static tsr_status set_all_inputs(tsr_session *session) {
    for (int i = 0; i < tsr_session_input_count(session); i++) {
        tsr_tensor_info info;
        EXPECT_OK(tsr_session_input(session, i, &info));
        size_t count = (size_t)tsr_shape_count(&info.shape);
        float *values = malloc(count * sizeof *values);
        assert_non_null(values);
        for (size_t k = 0; k < count; k++)
            values[k] = (float)((k * 37 + (size_t)i) % 101) / 50 - 1;
        tsr_status status = tsr_session_set_input(session, info.name, values, count);
        free(values);
        if (status != TSR_OK)
            return status;
        pass_moment();
    }
    return TSR_OK;
}

/* From making the session to its output. */
static tsr_status live(life *l, elements *y) {
    if (!l->session) {
        const tsr_session_desc desc = {.prepare_in_steps = true, .progress = {pass_progress, NULL}};
        GO_ON(tsr_session_create(l->device, l->model, &desc, &l->session));
    }
    GO_ON(tsr_session_prepare(l->session, 0));
    GO_ON(set_all_inputs(l->session));
    GO_ON(l->whole_runs ? tsr_session_run(l->session) : tsr_session_step(l->session, 0));
    tsr_tensor_info info;
    EXPECT_OK(tsr_session_output(l->session, 0, &info));
    y->count = (size_t)tsr_shape_count(&info.shape);
    y->values = calloc(y->count, sizeof *y->values);
    assert_non_null(y->values);
    return tsr_session_get_output(l->session, info.name, y->values, y->count);
}

static void open_device(life *l) {
    l->desc = l->caller->open();
    EXPECT_OK(tsr_device_create(&l->desc, &l->device));
}

/* What a session says after the first call has failed. */
static void expect_lost(life *l) {
    tsr_session *none;
    expect_failure(tsr_session_create(l->device, l->model, NULL, &none), TSR_ERROR_DEVICE_LOST,
                   "lost");
    if (!l->session)
        return;
    expect_failure(set_all_inputs(l->session), TSR_ERROR_DEVICE_LOST, "lost");
    tsr_status status = tsr_session_run(l->session);
    assert_true(status == TSR_ERROR_DEVICE_LOST ||
                status == TSR_ERROR_INVALID_ARGUMENT); /* an input was not set before */
}

/* A device in the place of the lost one, on which the session continues. */
static void recover(life *l) {
    tsr_device *lost = l->device;
    losing = NULL;
    l->caller->close();
    open_device(l);
    if (l->session)
        EXPECT_OK(tsr_session_recover(l->session, l->device));
    tsr_device_destroy(lost);
}

/* Lost at this moment; returns whether a call noticed. */
static bool lose_once(life *l, long moment, elements expected) {
    elements y = {0};
    losing = l->caller;
    moments = 0;
    fatal = moment;
    tsr_status status = live(l, &y);
    bool noticed = status != TSR_OK;
    if (noticed) {
        expect_failure(status, TSR_ERROR_DEVICE_LOST, "lost");
        expect_lost(l);
        recover(l);
        free(y.values);
        y.values = NULL;
        EXPECT_OK(live(l, &y));
    }
    losing = NULL;
    assert_int_equal(y.count, expected.count);
    assert_memory_equal(y.values, expected.values, y.count * sizeof *y.values);
    free(y.values);
    return noticed;
}

enum { WHOLE_LIVES = 3 };

void lose_at_many_moments(const losing_caller *caller, const char *text, int times) {
    tsr_model *model = make_model(text);
    elements expected = {0};
    long all = LONG_MAX; /* moments of the shortest life: polls vary with the machine's load */
    int noticed = 0;
    for (int i = -WHOLE_LIVES; i < times; i++) {
        life l = {.caller = caller, .model = model, .whole_runs = i % 3 == 0};
        open_device(&l);
        if (i < 0) { /* nothing is lost */
            free(expected.values);
            losing = caller;
            moments = 0;
            fatal = -1;
            EXPECT_OK(live(&l, &expected));
            losing = NULL;
            all = moments < all ? moments : all;
        } else {
            noticed += lose_once(&l, (all * i + all * (i * 7 % 10) / 10) / times, expected);
        }
        tsr_session_destroy(l.session);
        tsr_device_destroy(l.device);
        caller->close();
    }
    print_message("%d of %d losses were noticed, at %ld moments\n", noticed, times, all);
    assert_true(noticed > times / 20);
    free(expected.values);
    tsr_model_free(model);
}
