/* What GLES sessions do with GL, in adopted contexts whose calls are watched: outputs as textures,
 * waits, contexts that are lost, objects left behind. */
#define _POSIX_C_SOURCE 200809L

#include "support/backends.h"
#include "support/gl_caller.h"
#include "support/main.h"
#include "support/sessions.h"

#include <string.h>
#include <time.h>

static const tsr_session_desc poisoned = {.poison = true};

typedef struct fixture {
    EGLContext context;
    tsr_device *device;
    tsr_model *model;
} fixture;

static const tsr_device_desc watched_device = {.gles.platform = TSR_PLATFORM_CURRENT,
                                               .gles.get_proc_address = watched_proc_address};

static fixture open_fixture(const char *text) {
    need_backend("gles");
    fixture f = {.context = make_caller_context(CALLER_ES3)};
    if (!f.context)
        skip();
    forget_live_objects(); /* of a test that failed */
    f.device = make_device(&watched_device);
    f.model = make_model(text);
    return f;
}

static void close_fixture(fixture *f) {
    tsr_model_free(f->model);
    tsr_device_destroy(f->device);
    assert_int_equal(live_objects(), 0);
    destroy_caller_context(f->context);
}

/* ---- cancelled ------------------------------------------------------------------------------- */

static bool count_down(void *calls, const char *what, double fraction) {
    (void)what;
    (void)fraction;
    return --*(int *)calls >= 0;
}

/* Wherever making a session is cancelled, it leaves no GL objects. */
static void test_cancelled(void **state) {
    (void)state;
    fixture f = open_fixture(MIXED_NET);
    int objects = live_objects_of_sessions();
    tsr_status status = TSR_ERROR_CANCELLED;
    for (int n = 0; status != TSR_OK; n++) {
        int calls = n;
        tsr_session *session;
        status = tsr_session_create(
            f.device, f.model, &(tsr_session_desc){.progress = {count_down, &calls}}, &session);
        if (status != TSR_OK)
            expect_failure(status, TSR_ERROR_CANCELLED, "cancelled while");
        assert_true((session != NULL) == (status == TSR_OK));
        tsr_session_destroy(session);
        assert_int_equal(live_objects_of_sessions(), objects);
    }
    close_fixture(&f);
}

/* ---- outputs as textures --------------------------------------------------------------------- */

/* RGBA texels of the texture, read with the caller's own GL; to be freed. */
static float *read_texture(const tsr_texture *t) {
    GLuint framebuffer;
    float *texels =
        malloc((size_t)t->texture_width * (size_t)t->texture_height * 4 * sizeof *texels);
    assert_non_null(texels);
    gl.GenFramebuffers(1, &framebuffer);
    gl.BindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    gl.FramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t->id, 0);
    assert_int_equal(gl.CheckFramebufferStatus(GL_READ_FRAMEBUFFER), GL_FRAMEBUFFER_COMPLETE);
    gl.ReadPixels(0, 0, t->texture_width, t->texture_height, GL_RGBA, GL_FLOAT, texels);
    gl.DeleteFramebuffers(1, &framebuffer);
    assert_int_equal(gl.GetError(), GL_NO_ERROR);
    return texels;
}

/* Every element is where tessera.h says. */
static void expect_texture(const tsr_texture *t, const tsr_shape *shape, elements expected) {
    float *texels = read_texture(t);
    int channels = (int)shape->dim[1];
    assert_int_equal(t->height, shape->dim[2]);
    assert_int_equal(t->width, shape->dim[3]);
    assert_int_equal(t->tiles, (channels + 3) / 4);
    size_t i = 0;
    for (int n = 0; n < (int)shape->dim[0]; n++)
        for (int c = 0; c < channels; c++)
            for (int y = 0; y < t->height; y++)
                for (int x = 0; x < t->width; x++, i++) {
                    int k = n * t->tiles + c / 4;
                    int column = k % t->columns * t->width + x;
                    int row = k / t->columns * t->height + y;
                    float texel = texels[(row * t->texture_width + column) * 4 + c % 4];
                    if (texel != expected.values[i])
                        fail_msg("image %d channel %d row %d column %d is %g instead of %g", n, c,
                                 y, x, texel, expected.values[i]);
                }
    free(texels);
}

static void check_texture_of(tsr_session *session, const char *name) {
    tsr_texture texture;
    tsr_tensor_info info;
    int index = 0;
    do
        EXPECT_OK(tsr_session_output(session, index++, &info));
    while (strcmp(info.name, name));
    int before = readback_calls();
    EXPECT_OK(tsr_session_output_texture(session, name, &texture));
    assert_int_equal(readback_calls(), before);
    elements output = get_output(session, name);
    assert_true(readback_calls() > before);
    expect_texture(&texture, &info.shape, output);
    free(output.values);
}

static void test_output_textures(void **state) {
    (void)state;
    fixture f = open_fixture("Conv x[2,3,9,14] w{6,3,3,3} -> c; Sigmoid c -> s; "
                             "MaxPool s -> y kernel_shape=2,2");
    const char *extra[] = {"s"};
    for (int precision = TSR_PRECISION_FP32; precision <= TSR_PRECISION_FP16; precision++) {
        tsr_session *session =
            make_session(f.device, f.model,
                         &(tsr_session_desc){.precision = (tsr_precision)precision,
                                             .texture_outputs = true,
                                             .poison = true,
                                             .extra_outputs = extra,
                                             .extra_output_count = 1});
        tsr_texture texture;
        EXPECT_OK(tsr_session_output_texture(session, "y", &texture));
        assert_int_equal(texture.internal_format, precision ? GL_RGBA16F : GL_RGBA32F);
        for (unsigned seed = 1; seed < 4; seed++) {
            int before = readback_calls();
            set_inputs(session, seed);
            EXPECT_OK(tsr_session_run(session));
            assert_int_equal(readback_calls(), before);
            check_texture_of(session, "y");
            check_texture_of(session, "s");
            expect_output(session, f.model, "y", seed, precision ? 4e-3 : 1e-5);
        }
        tsr_session_destroy(session);
    }
    close_fixture(&f);
}

/* While a run is under way in steps, a caller draws the pictures of the run before: they change
 * together, in the last step. */
static void test_texture_between_steps(void **state) {
    (void)state;
    fixture f = open_fixture(MIXED_NET);
    const char *extra[] = {"t"};
    tsr_session *session =
        make_session(f.device, f.model,
                     &(tsr_session_desc){
                         .texture_outputs = true, .extra_outputs = extra, .extra_output_count = 1});
    tsr_tensor_info info[2];
    tsr_texture textures[2];
    elements first[2];
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(tsr_session_output(session, i, &info[i]));
        EXPECT_OK(tsr_session_output_texture(session, info[i].name, &textures[i]));
        first[i] = get_output(session, info[i].name);
    }
    set_inputs(session, 2);
    tsr_status status;
    while ((status = tsr_session_step(session, 0)) == TSR_NOT_READY)
        for (int i = 0; i < 2; i++)
            expect_texture(&textures[i], &info[i].shape, first[i]);
    EXPECT_OK(status);
    for (int i = 0; i < 2; i++) {
        check_texture_of(session, info[i].name);
        free(first[i].values);
    }
    expect_output(session, f.model, "y", 2, 1e-5);
    tsr_session_destroy(session);
    close_fixture(&f);
}

static void test_no_texture(void **state) {
    (void)state;
    fixture f = open_fixture("Conv x[1,4,6,6] w{4,4,3,3} -> c; Relu c -> r; MaxPool r -> y "
                             "kernel_shape=2,2");
    tsr_texture texture;
    tsr_session *session = make_session(f.device, f.model, &poisoned);
    expect_failure(tsr_session_output_texture(session, "y", &texture), TSR_ERROR_INVALID_ARGUMENT,
                   "texture_outputs");
    tsr_session_destroy(session);
    session = make_session(f.device, f.model,
                           &(tsr_session_desc){.texture_outputs = true, .keep_tensors = true});
    expect_failure(tsr_session_output_texture(session, "r", &texture), TSR_ERROR_INVALID_ARGUMENT,
                   "'r' is not an output; the outputs are: 'y'");
    expect_failure(tsr_session_output_texture(session, "z", &texture), TSR_ERROR_INVALID_ARGUMENT,
                   "'z' is not an output");
    tsr_session_destroy(session);
    close_fixture(&f);
}

/* ---- not waiting ----------------------------------------------------------------------------- */

static void test_poll(void **state) {
    (void)state;
    fixture f = open_fixture(MIXED_NET);
    tsr_session *session = make_session(f.device, f.model, &poisoned);
    expect_failure(tsr_session_poll(session), TSR_ERROR_INVALID_ARGUMENT, "has not run");
    set_inputs(session, 1);
    hold_fences(true);
    int waits = blocking_calls();
    EXPECT_OK(tsr_session_submit(session));
    for (int i = 0; i < 3; i++)
        assert_int_equal(tsr_session_poll(session), TSR_NOT_READY);
    assert_int_equal(blocking_calls(), waits);
    hold_fences(false);
    while (tsr_session_poll(session) == TSR_NOT_READY)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    assert_int_equal(tsr_session_poll(session), TSR_OK);
    expect_output(session, f.model, "y", 1, 1e-5);
    assert_int_equal(blocking_calls(), waits);
    tsr_session_destroy(session);
    close_fixture(&f);
}

static void test_get_output_waits(void **state) {
    (void)state;
    fixture f = open_fixture(MIXED_NET);
    tsr_session *session = make_session(f.device, f.model, &poisoned);
    set_inputs(session, 1);
    hold_fences(true);
    EXPECT_OK(tsr_session_submit(session));
    expect_output(session, f.model, "y", 1, 1e-5);
    hold_fences(false);
    tsr_session_destroy(session);
    close_fixture(&f);
}

/* ---- a lost context -------------------------------------------------------------------------- */

static void test_lost(void **state) {
    (void)state;
    fixture f = open_fixture(MIXED_NET);
    tsr_device_info info;
    EXPECT_OK(tsr_device_get_info(f.device, &info));
    assert_true(info.has_robust_reset);
    tsr_session *session = make_session(f.device, f.model, &poisoned);
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_submit(session));
    set_reset_status(GL_INNOCENT_CONTEXT_RESET_KHR);
    static float output[5 * 18 * 28];
    expect_failure(tsr_session_poll(session), TSR_ERROR_DEVICE_LOST, "lost");
    expect_failure(tsr_session_get_output(session, "y", output, 5 * 18 * 28), TSR_ERROR_DEVICE_LOST,
                   "lost");
    expect_all_lost(f.device, f.model, session);
    set_reset_status(GL_NO_ERROR); /* the reset is over; what was lost stays lost */
    expect_all_lost(f.device, f.model, session);
    set_reset_status(GL_GUILTY_CONTEXT_RESET_KHR);
    int live = live_objects();
    tsr_session_destroy(session);
    tsr_device_destroy(f.device);
    assert_int_equal(objects_deleted_after_reset(), 0);
    assert_int_equal(live_objects(), live);
    set_reset_status(GL_NO_ERROR);
    /* Built anew from the model, in a new context. */
    destroy_caller_context(f.context);
    assert_non_null(f.context = make_caller_context(CALLER_ES3));
    f.device = make_device(&watched_device);
    session = make_session(f.device, f.model, &poisoned);
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, f.model, "y", 1, 1e-5);
    tsr_session_destroy(session);
    tsr_device_destroy(f.device);
    assert_int_equal(live_objects(), live);
    tsr_model_free(f.model);
    destroy_caller_context(f.context);
}

/* ---- nothing left behind --------------------------------------------------------------------- */

static void test_every_object_deleted(void **state) {
    (void)state;
    enum { HALF = 3 };
    fixture f = open_fixture(MIXED_NET);
    live_one_session(f.device, f.model, HALF); /* the device keeps its program of roundings */
    int objects = live_objects_of_sessions();
    for (unsigned i = 0; i < 60; i++) {
        live_one_session(f.device, f.model, i);
        assert_int_equal(live_objects_of_sessions(), objects);
    }
    close_fixture(&f);
}

/* A session whose making fails at any step leaves nothing behind. */
static void fail_at_every(fixture *f, void (*fail_from)(int call), tsr_status expected,
                          const char *words) {
    int before = live_objects_of_sessions(), failed = 0;
    tsr_session *session = NULL;
    while (!session) {
        fail_from(failed);
        tsr_status status =
            tsr_session_create(f->device, f->model, &(tsr_session_desc){.tune_ms = -1}, &session);
        fail_from(-1);
        if (status == TSR_OK)
            break;
        expect_failure(status, expected, words);
        assert_int_equal(live_objects_of_sessions(), before);
        failed++;
    }
    assert_true(failed >= 3);
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, f->model, "y", 1, 1e-5);
    tsr_session_destroy(session);
    assert_int_equal(live_objects_of_sessions(), before);
}

static void test_failing_halfway(void **state) {
    (void)state;
    fixture f = open_fixture(MIXED_NET);
    /* First, since the device keeps what was linked. */
    fail_at_every(&f, fail_links_from, TSR_ERROR_DEVICE, "the driver refused kernel");
    fail_at_every(&f, fail_textures_from, TSR_ERROR_OUT_OF_MEMORY, "");
    fail_at_every(&f, fail_framebuffers_from, TSR_ERROR_DEVICE, "does not render to");
    close_fixture(&f);
}

/* ---- GPU timers ------------------------------------------------------------------------------ */

static void test_timers(void **state) {
    (void)state;
    rename_renderer(true);
    fixture f = open_fixture(MIXED_NET);
    rename_renderer(false);
    tsr_device_info info;
    EXPECT_OK(tsr_device_get_info(f.device, &info));
    if (!info.has_timer) {
        close_fixture(&f);
        skip();
    }
    const tsr_session_desc desc = {.time_passes = true, .poison = true};
    tsr_session *session = make_session(f.device, f.model, &desc);
    for (unsigned seed = 0; seed < 3; seed++) {
        int waits = blocking_calls();
        set_inputs(session, seed);
        EXPECT_OK(tsr_session_submit(session));
        EXPECT_OK(tsr_session_submit(session));
        assert_int_equal(blocking_calls(), waits);
        expect_output(session, f.model, "y", seed, 1e-5);
        expect_report(session, "gles", &desc);
    }
    tsr_session_destroy(session);
    close_fixture(&f);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_output_textures),
        cmocka_unit_test(test_texture_between_steps),
        cmocka_unit_test(test_no_texture),
        cmocka_unit_test(test_poll),
        cmocka_unit_test(test_get_output_waits),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_every_object_deleted),
        cmocka_unit_test(test_failing_halfway),
        cmocka_unit_test(test_timers),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
