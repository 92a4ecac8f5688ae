/* GLES devices: contexts of our own and of the caller, whose state stays as it was; what is missing
 * is said. */
#define _POSIX_C_SOURCE 200809L

#include "support/backends.h"
#include "support/gl_caller.h"
#include "support/main.h"
#include "support/sessions.h"

#include "api/device.h"
#include "gles/device.h"
#include "gles/state.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const tsr_session_desc poisoned = {.poison = true};
static const tsr_device_desc adopting = {.gles.platform = TSR_PLATFORM_CURRENT,
                                         .gles.get_proc_address = watched_proc_address};

/* The caller's context, current; skips the test where there is none. */
static EGLContext need_caller(caller_api api) {
    need_backend("gles");
    EGLContext context = make_caller_context(api);
    if (!context) {
        print_message("no context of the caller's kind here\n");
        skip();
    }
    return context;
}

/* ---- adopting -------------------------------------------------------------------------------- */

static void run_watching_state(tsr_session *session, const tsr_model *model, float tolerance) {
    set_inputs(session, 1);
    expect_remembered_state("set_input");
    EXPECT_OK(tsr_session_submit(session));
    expect_remembered_state("submit");
    tsr_status status = tsr_session_poll(session);
    assert_true(status == TSR_OK || status == TSR_NOT_READY);
    expect_remembered_state("poll");
    expect_output(session, model, "y", 1, tolerance);
    expect_remembered_state("get_output");
    EXPECT_OK(tsr_session_run(session));
    expect_remembered_state("run");
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    expect_remembered_state("report");
}

static void watch_session(tsr_device *device, const tsr_model *model, tsr_session_desc desc) {
    tsr_session *session = make_session(device, model, &desc);
    expect_remembered_state("session_create");
    run_watching_state(session, model, desc.precision == TSR_PRECISION_FP16 ? 4e-3f : 1e-5f);
    tsr_texture texture;
    if (desc.texture_outputs)
        EXPECT_OK(tsr_session_output_texture(session, "y", &texture));
    expect_remembered_state("output_texture");
    tsr_session_destroy(session);
    expect_remembered_state("session_destroy");
}

static void watch_failing_session(tsr_device *device, const tsr_model *model) {
    tsr_session *session;
    fail_framebuffers_from(3);
    expect_failure(tsr_session_create(device, model, NULL, &session), TSR_ERROR_DEVICE,
                   "does not render");
    fail_framebuffers_from(-1);
    expect_remembered_state("a failed session_create");
}

static void watch_state(const tsr_device_desc *desc, bool with_feedback) {
    EGLContext context = need_caller(CALLER_ES3);
    set_unusual_state(with_feedback);
    remember_state();
    tsr_device *device = make_device(desc);
    expect_remembered_state("device_create");
    tsr_model *model = make_model(MIXED_NET);
    watch_session(device, model, poisoned);
    watch_session(device, model,
                  (tsr_session_desc){.poison = true, .keep_tensors = true, .time_passes = true});
    watch_session(device, model,
                  (tsr_session_desc){
                      .texture_outputs = true, .precision = TSR_PRECISION_FP16, .tune_ms = 60000});
    if (desc->gles.get_proc_address)
        watch_failing_session(device, model);
    tsr_device_peaks peaks;
    EXPECT_OK(tsr_device_measure(device, &peaks));
    expect_remembered_state("measure");
    tsr_device_destroy(device);
    expect_remembered_state("device_destroy");
    tsr_model_free(model);
    if (with_feedback)
        gl.EndTransformFeedback(); /* Mesa loses its program otherwise */
    destroy_caller_context(context);
}

static void test_state_kept(void **state) {
    (void)state;
    watch_state(&adopting, false);
    watch_state(&(tsr_device_desc){.gles.platform = TSR_PLATFORM_CURRENT, .kernels = "blocks"},
                false);
}

static void test_state_kept_in_feedback(void **state) {
    (void)state;
    watch_state(&adopting, true);
}

static void test_error_of_caller(void **state) {
    (void)state;
    EGLContext context = need_caller(CALLER_ES3);
    gl.Enable(GL_NEVER);
    tsr_device *device = make_device(&adopting);
    tsr_model *model = make_model(MIXED_NET);
    gl.Enable(GL_NEVER);
    tsr_session *session = make_session(device, model, &poisoned);
    gl.Enable(GL_NEVER);
    set_inputs(session, 2);
    gl.Enable(GL_NEVER);
    EXPECT_OK(tsr_session_run(session));
    gl.Enable(GL_NEVER);
    expect_output(session, model, "y", 2, 1e-5);
    gl.Enable(GL_NEVER);
    tsr_session_destroy(session);
    tsr_device_destroy(device);
    tsr_model_free(model);
    destroy_caller_context(context);
}

/* The caller changes everything and draws between the calls. */
static void test_caller_draws_between(void **state) {
    (void)state;
    EGLContext context = need_caller(CALLER_ES3);
    tsr_device *device = make_device(&adopting);
    tsr_model *model = make_model(MIXED_NET);
    tsr_session *session = make_session(device, model, &poisoned);
    for (unsigned seed = 0; seed < 3; seed++) {
        set_unusual_state(false);
        gl.DrawArrays(GL_TRIANGLES, 0, 3);
        set_inputs(session, seed);
        gl.Clear(GL_COLOR_BUFFER_BIT);
        EXPECT_OK(tsr_session_submit(session));
        gl.Disable(GL_RASTERIZER_DISCARD);
        gl.DrawArrays(GL_POINTS, 0, 3);
        expect_output(session, model, "y", seed, 1e-5);
    }
    tsr_session_destroy(session);
    tsr_device_destroy(device);
    tsr_model_free(model);
    destroy_caller_context(context);
}

static void expect_no_device(tsr_status status, const char *words) {
    expect_failure(status, TSR_ERROR_DEVICE, words);
}

/* Every call that takes the device or a session on it fails; texture: of the session's input. */
static void expect_no_context(tsr_device *device, const tsr_model *model, tsr_session *session,
                              const char *words) {
    static float values[5 * 18 * 28];
    tsr_session *other;
    tsr_texture texture;
    tsr_device_peaks peaks;
    expect_no_device(tsr_session_poll(session), words);
    expect_no_device(tsr_session_get_output(session, "y", values, 5 * 18 * 28), words);
    expect_no_device(tsr_session_output_texture(session, "y", &texture), words);
    expect_no_device(tsr_session_set_input(session, "x", values, 3 * 9 * 14), words);
    expect_no_device(tsr_session_set_weights(session, "w", values, 8 * 3 * 3 * 3), words);
    texture = (tsr_texture){.id = 1,
                            .width = 14,
                            .height = 9,
                            .columns = 1,
                            .tiles = 1,
                            .texture_width = 14,
                            .texture_height = 9};
    expect_no_device(tsr_session_set_input_texture(session, "x", &texture, 1, 0), words);
    expect_no_device(tsr_session_step(session, 1), words);
    expect_no_device(tsr_session_submit(session), words);
    expect_no_device(tsr_session_run(session), words);
    expect_no_device(tsr_session_create(device, model, NULL, &other), words);
    expect_no_device(tsr_device_measure(device, &peaks), words);
}

static void *proc_address_without_egl(const char *name) {
    return strncmp(name, "egl", 3) ? get_proc_address(name) : NULL;
}

/* egl: the loader finds eglGetCurrentContext(), which tells contexts apart. */
static void use_without_context(tsr_device_desc desc, bool egl) {
    EGLContext context = need_caller(CALLER_ES3);
    desc.gles.platform = TSR_PLATFORM_CURRENT;
    tsr_device *device = make_device(&desc);
    tsr_model *model = make_model(MIXED_NET);
    tsr_session *session =
        make_session(device, model, &(tsr_session_desc){.texture_outputs = true});
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    make_context_current(NULL);
    expect_no_context(device, model, session, "no GL context is current");
    if (egl) {
        make_context_current(context);
        EXPECT_OK(tsr_session_run(session));
        EGLContext other = make_caller_context(CALLER_ES3);
        expect_no_context(device, model, session, "another GL context is current");
        destroy_caller_context(other);
    }
    make_context_current(context);
    set_inputs(session, 2);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 2, 1e-5);
    make_context_current(NULL);
    tsr_session_destroy(session);
    tsr_device_destroy(device);
    tsr_model_free(model);
    make_context_current(context);
    destroy_caller_context(context);
}

static void test_no_context(void **state) {
    (void)state;
    use_without_context((tsr_device_desc){0}, true);
    use_without_context((tsr_device_desc){.gles.get_proc_address = get_proc_address}, true);
    use_without_context((tsr_device_desc){.gles.get_proc_address = proc_address_without_egl},
                        false);
}

/* tsr_gl_state is what tessera.h lists as changed: everything else stays. */
static void test_caller_restores_state(void **state) {
    (void)state;
    EGLContext context = need_caller(CALLER_ES3);
    tsr_device_desc desc = adopting;
    desc.gles.caller_restores_state = true;
    tsr_model *model = make_model(MIXED_NET);
    set_unusual_state(false);
    remember_state();
    tsr_gl_state before;
    tsr_gl = &gl;
    tsr_gl_state_save(&before);
    tsr_gl_state_restore(&before);
    tsr_device *device = make_device(&desc);
    tsr_session *session = make_session(device, model, NULL);
    for (unsigned seed = 1; seed < 3; seed++) {
        tsr_gl = &gl;
        tsr_gl_state_restore(&before);
        expect_remembered_state("the caller's restoring");
        int queries = state_queries();
        set_inputs(session, seed);
        tsr_gl = &gl;
        tsr_gl_state_restore(&before);
        EXPECT_OK(tsr_session_run(session));
        elements output = get_output(session, "y");
        free(output.values);
        assert_int_equal(state_queries(), queries);
        expect_output(session, model, "y", seed, 1e-5);
    }
    tsr_session_destroy(session);
    tsr_device_destroy(device);
    tsr_gl = &gl;
    tsr_gl_state_restore(&before);
    expect_remembered_state("the caller's restoring");
    tsr_model_free(model);
    destroy_caller_context(context);
}

static void expect_not_adopted(const tsr_device_desc *desc, const char *words) {
    tsr_device *device;
    expect_failure(tsr_device_create(desc, &device), TSR_ERROR_NO_DEVICE, words);
    assert_null(device);
}

static void test_unfit_contexts(void **state) {
    (void)state;
    const tsr_device_desc current = {.gles.platform = TSR_PLATFORM_CURRENT};
    const tsr_device_desc given = {.gles.platform = TSR_PLATFORM_CURRENT,
                                   .gles.get_proc_address = get_proc_address};
    EGLContext context = need_caller(CALLER_ES3);
    destroy_caller_context(context);
    expect_not_adopted(&current, "no OpenGL ES context is current");
    expect_not_adopted(&given, "no OpenGL ES context is current");
    context = need_caller(CALLER_DESKTOP);
    expect_not_adopted(&current, "OpenGL ES 3.0 is needed");
    expect_not_adopted(&given, "OpenGL ES 3.0 is needed");
    destroy_caller_context(context);
}

/* Mesa gives contexts of ES 3 to those who ask for ES 2: a version text says otherwise here. */
static const GLubyte *GLAD_API_PTR es2_string(GLenum name) {
    return name == GL_VERSION ? (const GLubyte *)"OpenGL ES 2.0 of a test" : gl.GetString(name);
}

static void *es2_proc_address(const char *name) {
    union {
        const GLubyte *(GLAD_API_PTR *function)(GLenum name);
        void *object;
    } proc = {es2_string};
    if (strcmp(name, "glGetString") == 0)
        return proc.object;
    return strstr("glGetError glGetIntegerv", name) ? get_proc_address(name) : NULL;
}

static void test_es2_context(void **state) {
    (void)state;
    EGLContext context = need_caller(CALLER_ES3);
    remember_state();
    expect_not_adopted(&(tsr_device_desc){.gles.platform = TSR_PLATFORM_CURRENT,
                                          .gles.get_proc_address = es2_proc_address},
                       "OpenGL ES 2.0 of a test: OpenGL ES 3.0 is needed");
    destroy_caller_context(context);
}

static void *incomplete_proc_address(const char *name) {
    return strcmp(name, "glFenceSync") ? get_proc_address(name) : NULL;
}

static void test_incomplete_loader(void **state) {
    (void)state;
    EGLContext context = need_caller(CALLER_ES3);
    expect_not_adopted(&(tsr_device_desc){.gles.platform = TSR_PLATFORM_CURRENT,
                                          .gles.get_proc_address = incomplete_proc_address},
                       "finds no glFenceSync");
    destroy_caller_context(context);
}

static void test_no_float_targets(void **state) {
    (void)state;
    EGLContext context = need_caller(CALLER_ES3);
    int before = live_objects();
    remember_state();
    limit_float_targets(0);
    tsr_device *device;
    tsr_device_info info;
    EXPECT_OK(tsr_device_create(&adopting, &device));
    EXPECT_OK(tsr_device_get_info(device, &info));
    assert_true(info.bits_only);
    assert_false(info.half_only);
    limit_float_targets(32);
    expect_remembered_state("an adopted context");
    tsr_device_destroy(device);
    assert_int_equal(live_objects(), before);
    destroy_caller_context(context);
}

/* ---- contexts of our own --------------------------------------------------------------------- */

static void test_current_context_restored(void **state) {
    (void)state;
    EGLContext context = need_caller(CALLER_ES3);
    set_unusual_state(false);
    remember_state();
    tsr_device *device = make_device(NULL);
    assert_ptr_equal(current_context(), context);
    tsr_model *model = make_model(MIXED_NET);
    tsr_session *session = make_session(device, model, &poisoned);
    assert_ptr_equal(current_context(), context);
    run_watching_state(session, model, 1e-5f);
    assert_ptr_equal(current_context(), context);
    tsr_session_destroy(session);
    assert_ptr_equal(current_context(), context);
    make_context_current(NULL);
    session = make_session(device, model, &poisoned);
    assert_null(current_context());
    set_inputs(session, 3);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 3, 1e-5);
    assert_null(current_context());
    tsr_session_destroy(session);
    tsr_device_destroy(device);
    assert_null(current_context());
    tsr_model_free(model);
    make_context_current(context);
    expect_remembered_state("all of it");
    destroy_caller_context(context);
}

/* GL_KHR_context_flush_control. */
enum { RELEASE_BEHAVIOR = 0x82FB };

/* Ours flushes by itself before it stops being current: EGL need not, where it can be told. */
static void test_release_behavior(void **state) {
    (void)state;
    need_backend("gles");
    tsr_device *device = make_device(NULL);
    GLint behavior = -1;
    EXPECT_OK(tsr_gles_begin(device->impl));
    const char *extensions = eglQueryString(eglGetCurrentDisplay(), EGL_EXTENSIONS);
    bool offered = extensions && strstr(extensions, "EGL_KHR_context_flush_control");
    tsr_gl->GetIntegerv(RELEASE_BEHAVIOR, &behavior);
    EXPECT_OK(tsr_gles_end(device->impl, TSR_OK));
    tsr_device_destroy(device);
    if (!offered)
        skip();
    assert_int_equal(behavior, GL_NONE);
}

static void test_gpu_numbers(void **state) {
    (void)state;
    need_backend("gles");
    tsr_device *device;
    expect_failure(tsr_device_create(&(tsr_device_desc){.gpu = 1000}, &device), TSR_ERROR_NO_DEVICE,
                   "GPU 1000");
    expect_failure(
        tsr_device_create(&(tsr_device_desc){.gles.platform = TSR_PLATFORM_DEVICE, .gpu = 99},
                          &device),
        TSR_ERROR_NO_DEVICE, "GPU 99");
    expect_failure(
        tsr_device_create(&(tsr_device_desc){.gles.platform = TSR_PLATFORM_SURFACELESS, .gpu = 1},
                          &device),
        TSR_ERROR_INVALID_ARGUMENT, "device platform");
    expect_failure(
        tsr_device_create(&(tsr_device_desc){.gles.platform = (tsr_platform)77}, &device),
        TSR_ERROR_INVALID_ARGUMENT, "77");
}

static void test_own_and_adopted_in_turns(void **state) {
    (void)state;
    EGLContext context = need_caller(CALLER_ES3);
    tsr_device *devices[3] = {make_device(NULL), make_device(&adopting), make_device(NULL)};
    tsr_model *model = make_model(MIXED_NET);
    tsr_session *sessions[3];
    for (int i = 0; i < 3; i++)
        sessions[i] = make_session(devices[i], model, &poisoned);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 3; i++)
            set_inputs(sessions[i], 10 * round + i);
        for (unsigned i = 0; i < 3; i++)
            EXPECT_OK(tsr_session_submit(sessions[i]));
        for (unsigned i = 0; i < 3; i++)
            expect_output(sessions[i], model, "y", 10 * round + i, 1e-5);
    }
    for (int i = 0; i < 3; i++) {
        tsr_session_destroy(sessions[i]);
        tsr_device_destroy(devices[i]);
    }
    tsr_model_free(model);
    destroy_caller_context(context);
}

/* ---- without a driver ------------------------------------------------------------------------ */

/* Runs the tool in a child with one more environment variable; its exit code, output in text. */
static int run_tool(const char *variable, const char *value, const char *arguments, char *text,
                    size_t size) {
    char command[512];
    snprintf(command, sizeof command, "%s=%s %s/tessera %s 2>&1", variable, value, TSR_BUILD_DIR,
             arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(text, 1, size - 1, pipe);
    text[length] = 0;
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_no_driver(void **state) {
    (void)state;
    need_backend("gles");
    char text[4096];
    int code =
        run_tool("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent", "devices", text, sizeof text);
    assert_int_equal(code, 0);
    assert_non_null(strstr(text, "EGL offers neither"));
    assert_non_null(strstr(text, "cpu"));
    code = run_tool("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent", "bench /dev/null", text,
                    sizeof text);
    assert_int_not_equal(code, 0);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state_kept),
        cmocka_unit_test(test_state_kept_in_feedback),
        cmocka_unit_test(test_error_of_caller),
        cmocka_unit_test(test_caller_draws_between),
        cmocka_unit_test(test_no_context),
        cmocka_unit_test(test_caller_restores_state),
        cmocka_unit_test(test_unfit_contexts),
        cmocka_unit_test(test_es2_context),
        cmocka_unit_test(test_incomplete_loader),
        cmocka_unit_test(test_no_float_targets),
        cmocka_unit_test(test_current_context_restored),
        cmocka_unit_test(test_release_behavior),
        cmocka_unit_test(test_gpu_numbers),
        cmocka_unit_test(test_own_and_adopted_in_turns),
        cmocka_unit_test(test_no_driver),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
