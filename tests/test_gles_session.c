/* GLES sessions from their making to their end: what is asked of them, in every order; contexts
 * that are lost; nothing left behind. Each test works in an adopted context whose calls are
 * watched. */
#define _GNU_SOURCE /* mallinfo2 */

#include "support/backends.h"
#include "support/gl_caller.h"
#include "support/sessions.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char net[] = "Conv x[1,3,9,14] w{8,3,3,3} b{8} -> c pads=1,1,1,1; Relu c -> r; "
                          "ConvTranspose r v{8,5,4,4} -> t strides=2,2 pads=1,1,1,1; "
                          "GlobalAveragePool t -> m; Mul t m -> y";

static const tsr_session_desc poisoned = {.poison = true};

typedef struct fixture {
    EGLContext context;
    tsr_device *device;
    tsr_model *model;
} fixture;

static const tsr_device_desc watched_device = {.platform = TSR_PLATFORM_CURRENT,
                                               .get_proc_address = watched_proc_address};

static fixture open_fixture(const char *text) {
    need_gles();
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

/* Every element lies where tessera.h says. */
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
    for (int precision = TSR_FP32; precision <= TSR_FP16; precision++) {
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

static void test_no_texture(void **state) {
    (void)state;
    fixture f = open_fixture("Conv x[1,4,6,6] w{4,4,3,3} -> c; Relu c -> r; MaxPool r -> y "
                             "kernel_shape=2,2");
    tsr_texture texture;
    tsr_session *session = make_session(f.device, f.model, &poisoned);
    expect_failure(tsr_session_output_texture(session, "y", &texture), TSR_INVALID_ARGUMENT,
                   "texture_outputs");
    tsr_session_destroy(session);
    session = make_session(f.device, f.model,
                           &(tsr_session_desc){.texture_outputs = true, .keep_tensors = true});
    expect_failure(tsr_session_output_texture(session, "r", &texture), TSR_INVALID_ARGUMENT,
                   "'r' is no output; the outputs are: 'y'");
    expect_failure(tsr_session_output_texture(session, "z", &texture), TSR_INVALID_ARGUMENT,
                   "'z' is no output");
    tsr_session_destroy(session);
    close_fixture(&f);
}

/* ---- not waiting ----------------------------------------------------------------------------- */

static void test_poll(void **state) {
    (void)state;
    fixture f = open_fixture(net);
    tsr_session *session = make_session(f.device, f.model, &poisoned);
    expect_failure(tsr_session_poll(session), TSR_INVALID_ARGUMENT, "has not run");
    set_inputs(session, 1);
    hold_fences(true);
    int waits = blocking_calls();
    EXPECT_OK(tsr_session_submit(session));
    for (int i = 0; i < 3; i++)
        assert_int_equal(tsr_session_poll(session), TSR_NOT_READY);
    assert_int_equal(blocking_calls(), waits);
    hold_fences(false);
    while (tsr_session_poll(session) == TSR_NOT_READY)
        usleep(100);
    assert_int_equal(tsr_session_poll(session), TSR_OK);
    expect_output(session, f.model, "y", 1, 1e-5);
    assert_int_equal(blocking_calls(), waits);
    tsr_session_destroy(session);
    close_fixture(&f);
}

static void test_get_output_waits(void **state) {
    (void)state;
    fixture f = open_fixture(net);
    tsr_session *session = make_session(f.device, f.model, &poisoned);
    set_inputs(session, 1);
    hold_fences(true);
    EXPECT_OK(tsr_session_submit(session));
    expect_output(session, f.model, "y", 1, 1e-5);
    hold_fences(false);
    tsr_session_destroy(session);
    close_fixture(&f);
}

/* GL orders what is asked of it: an input set, or a run submitted, behind a run does not change its
 * result. */
static void test_order(void **state) {
    (void)state;
    fixture f = open_fixture(net);
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

static void test_sessions_in_turns(void **state) {
    (void)state;
    fixture f = open_fixture(net);
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

/* ---- a lost context -------------------------------------------------------------------------- */

static void expect_all_lost(fixture *f, tsr_session *session) {
    static const float input[3 * 9 * 14];
    static float output[5 * 18 * 28];
    tsr_session *other;
    double gflops;
    expect_failure(tsr_session_set_input(session, "x", input, 3 * 9 * 14), TSR_DEVICE_LOST, "lost");
    expect_failure(tsr_session_submit(session), TSR_DEVICE_LOST, "net.onnx");
    expect_failure(tsr_session_run(session), TSR_DEVICE_LOST, "lost");
    expect_failure(tsr_session_create(f->device, f->model, NULL, &other), TSR_DEVICE_LOST, "lost");
    expect_failure(tsr_device_measure_peak(f->device, &gflops), TSR_DEVICE_LOST, "lost");
    EXPECT_OK(
        tsr_session_create(f->device, f->model, &(tsr_session_desc){.plan_only = true}, &other));
    tsr_session_destroy(other);
    assert_int_not_equal(tsr_session_get_output(session, "y", output, 5 * 18 * 28), TSR_OK);
}

static void test_lost(void **state) {
    (void)state;
    fixture f = open_fixture(net);
    tsr_device_info info;
    EXPECT_OK(tsr_device_get_info(f.device, &info));
    assert_true(info.has_robust_reset);
    tsr_session *session = make_session(f.device, f.model, &poisoned);
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_submit(session));
    set_reset_status(GL_INNOCENT_CONTEXT_RESET_KHR);
    static float output[5 * 18 * 28];
    expect_failure(tsr_session_poll(session), TSR_DEVICE_LOST, "lost");
    expect_failure(tsr_session_get_output(session, "y", output, 5 * 18 * 28), TSR_DEVICE_LOST,
                   "lost");
    expect_all_lost(&f, session);
    set_reset_status(GL_NO_ERROR); /* the reset is over; what was lost stays lost */
    expect_all_lost(&f, session);
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

static long resident_kib(void) {
    long size, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void live_once(tsr_device *device, const tsr_model *model, unsigned seed) {
    const tsr_session_desc desc = {.poison = seed % 2 == 0,
                                   .keep_tensors = seed % 3 == 0,
                                   .texture_outputs = seed % 5 == 0,
                                   .time_passes = seed % 7 == 0,
                                   .precision = seed % 4 == 3 ? TSR_FP16 : TSR_FP32};
    tsr_session *session = make_session(device, model, &desc);
    set_inputs(session, seed);
    EXPECT_OK(tsr_session_run(session));
    elements output = get_output(session, "y");
    free(output.values);
    tsr_session_destroy(session);
}

static void test_no_growth(void **state) {
    (void)state;
    fixture f = open_fixture(net);
    for (unsigned i = 0; i < 50; i++)
        live_once(f.device, f.model, i);
    int objects = live_objects();
    size_t bytes = mallinfo2().uordblks;
    long resident = resident_kib();
    for (unsigned i = 0; i < 200; i++)
        live_once(f.device, f.model, i);
    assert_int_equal(live_objects(), objects);
    long growth = (long)(mallinfo2().uordblks - bytes), resident_growth = resident_kib() - resident;
    print_message("200 sessions: %ld bytes and %ld KiB resident more\n", growth, resident_growth);
    /* The driver's caches of compiled programs come and go by about 1 MiB. Were it a leak of 200
     * sessions, a fifth of a session's 100 KiB would be seen; what Tessera itself allocates,
     * test_gles_allocations.c counts. */
    if (bytes ==
        0) { /* a sanitizer's allocator, which keeps what was freed, and looks for leaks itself */
        close_fixture(&f);
        return;
    }
    assert_true(growth < 4 << 20);
    assert_true(resident_growth < 16 << 10);
    close_fixture(&f);
}

/* A session whose making fails at any step leaves nothing behind. */
static void fail_at_every(fixture *f, void (*fail_from)(int call), tsr_status expected,
                          const char *words) {
    int before = live_objects(), failed = 0;
    tsr_session *session = NULL;
    while (!session) {
        fail_from(failed);
        tsr_status status = tsr_session_create(f->device, f->model, NULL, &session);
        fail_from(-1);
        if (status == TSR_OK)
            break;
        expect_failure(status, expected, words);
        assert_int_equal(live_objects(), before);
        failed++;
    }
    assert_true(failed >= 3);
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, f->model, "y", 1, 1e-5);
    tsr_session_destroy(session);
    assert_int_equal(live_objects(), before);
}

static void test_failing_halfway(void **state) {
    (void)state;
    fixture f = open_fixture(net);
    fail_at_every(&f, fail_textures_from, TSR_OUT_OF_MEMORY, "");
    fail_at_every(&f, fail_framebuffers_from, TSR_DEVICE, "does not render to");
    fail_at_every(&f, fail_links_from, TSR_DEVICE, "the driver refused kernel");
    close_fixture(&f);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void test_too_large(void **state) {
    (void)state;
    need_gles();
    EGLContext context = make_caller_context(CALLER_ES3);
    tsr_device_desc desc = watched_device;
    desc.max_texture_size = 64;
    tsr_device *device = make_device(&desc);
    int before = live_objects();
    tsr_session *session;
    tsr_model *model = make_model("MaxPool x[1,4,1000,1000] -> y kernel_shape=3,3");
    expect_failure(tsr_session_create(device, model, &poisoned, &session), TSR_LIMIT,
                   "[1, 4, 1000, 1000]");
    assert_non_null(strstr(tsr_last_error(), "64 x 63"));
    assert_null(session);
    assert_int_equal(live_objects(), before);
    tsr_model_free(model);
    /* Too large side by side, not row by row. */
    model = make_model("MaxPool x[1,4,3,500] -> y kernel_shape=2,2");
    session = make_session(device, model, &poisoned);
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 1, 0);
    tsr_session_destroy(session);
    /* No plain texture is wrapped. */
    expect_failure(
        tsr_session_create(device, model, &(tsr_session_desc){.texture_outputs = true}, &session),
        TSR_LIMIT, "'y'");
    assert_int_equal(live_objects(), before);
    tsr_model_free(model);
    tsr_device_destroy(device);
    destroy_caller_context(context);
}

/* A tensor as high as the largest texture. */
static void test_as_large_as_possible(void **state) {
    (void)state;
    fixture f = open_fixture("MaxPool x[1,4,N,1] -> y kernel_shape=1,1");
    tsr_device_info info;
    EXPECT_OK(tsr_device_get_info(f.device, &info));
    for (int less = -1; less < 2; less++) {
        const tsr_dim_binding rows = {"N", info.max_texture_size - less};
        tsr_session *session = make_session(
            f.device, f.model, &(tsr_session_desc){.poison = true, .dims = &rows, .dim_count = 1});
        tsr_tensor_info input;
        EXPECT_OK(tsr_session_input(session, 0, &input));
        set_inputs(session, 1);
        EXPECT_OK(tsr_session_run(session));
        elements output = get_output(session, "y");
        assert_int_equal(output.count, 4 * rows.size);
        for (size_t i = 0; i < output.count; i++)
            assert_true(fabsf(output.values[i]) <= 1);
        free(output.values);
        tsr_session_destroy(session);
    }
    close_fixture(&f);
}

/* 50 tensors of 8 GiB each. */
static void test_more_than_memory(void **state) {
    (void)state;
    static char text[2048] = "MaxPool x[4,1,8192,16000] -> a0 kernel_shape=2,2";
    for (int i = 0; i < 49; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "; MaxPool a%d -> a%d kernel_shape=2,2", i,
                 i + 1);
    }
    fixture f = open_fixture(text);
    int before = live_objects();
    tsr_session *session;
    expect_failure(
        tsr_session_create(f.device, f.model, &(tsr_session_desc){.keep_tensors = true}, &session),
        TSR_OUT_OF_MEMORY, "MiB");
    assert_int_equal(live_objects(), before);
    close_fixture(&f);
}

/* ---- options --------------------------------------------------------------------------------- */

static void check_report(tsr_session *session, const tsr_session_desc *desc) {
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    assert_string_equal(report.backend, "gles");
    assert_true(report.live_bytes_bound > 0 && report.live_bytes_bound <= report.tensor_bytes);
    assert_true(report.weight_bytes > 0);
    if (desc->plan_only) {
        assert_int_equal(report.allocated_bytes, 0);
        assert_int_equal(report.program_count, 0);
    } else {
        assert_true(report.allocated_bytes >= report.tensor_bytes + report.weight_bytes);
        assert_true(report.program_count > 0 && report.program_count <= report.pass_count);
    }
    int passes = 0;
    int64_t macs = 0;
    for (int i = 0; i < report.node_count; i++) {
        tsr_node_report node;
        EXPECT_OK(tsr_session_node_report(session, i, &node));
        passes += node.passes;
        macs += node.macs;
        assert_string_equal(node.backend, node.passes ? "gles" : "view");
        assert_true((node.ms >= 0) == (desc->time_passes && !desc->plan_only && node.passes));
    }
    int copies = desc->texture_outputs ? tsr_session_output_count(session) : 0; /* no node's */
    assert_int_equal(passes + copies, report.pass_count);
    assert_int_equal(macs, report.macs);
}

static void run_with(fixture *f, const tsr_session_desc *desc) {
    tsr_session *session = make_session(f->device, f->model, desc);
    float tolerance = desc->precision == TSR_FP16 ? 4e-3f : 1e-5f;
    if (desc->plan_only) {
        expect_failure(tsr_session_submit(session), TSR_INVALID_ARGUMENT, "plan");
    } else {
        for (unsigned seed = 0; seed < 2; seed++) {
            set_inputs(session, seed);
            EXPECT_OK(tsr_session_run(session));
            expect_output(session, f->model, "y", seed, tolerance);
            if (desc->texture_outputs)
                check_texture_of(session, "y");
        }
        if (desc->extra_output_count)
            free(get_output(session, desc->extra_outputs[0]).values);
    }
    check_report(session, desc);
    tsr_session_destroy(session);
}

static void test_every_mix_of_options(void **state) {
    (void)state;
    fixture f = open_fixture(net);
    int before = live_objects();
    const char *extra[] = {"r"};
    for (int mix = 0; mix < 128; mix++) {
        const tsr_session_desc desc = {.keep_tensors = mix & 1,
                                       .time_passes = mix >> 1 & 1,
                                       .texture_outputs = mix >> 2 & 1,
                                       .precision = mix >> 3 & 1 ? TSR_FP16 : TSR_FP32,
                                       .plan_only = mix >> 4 & 1,
                                       .poison = mix >> 5 & 1,
                                       .extra_outputs = extra,
                                       .extra_output_count = mix >> 6 & 1};
        run_with(&f, &desc);
        assert_int_equal(live_objects(), before);
    }
    close_fixture(&f);
}

/* Integers and tensors of five axes or of no elements stay on the CPU. */
static void test_corners_of_fallback(void **state) {
    (void)state;
    static const char *const texts[] = {
        "Relu q[1,1,1,1,5] -> r; Relu x[1,3,4,4] -> y",
        "Concat q[1,0,2,2,2] x[1,3,2,2,2] -> y axis=1",
        "Relu q[1,2,2,3,2] -> r; Softmax r -> s axis=2; MaxPool x[1,3,4,4] -> y kernel_shape=2,2",
        "Softmax x[1,2,2,3,2] -> y axis=3",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fixture f = open_fixture(texts[i]);
        tsr_session *session = make_session(
            f.device, f.model, &(tsr_session_desc){.allow_cpu_fallback = true, .poison = true});
        set_inputs(session, 1);
        EXPECT_OK(tsr_session_run(session));
        expect_output(session, f.model, "y", 1, 1e-5);
        tsr_session_destroy(session);
        close_fixture(&f);
    }
}

/* ---- GPU timers ------------------------------------------------------------------------------ */

static void test_timers(void **state) {
    (void)state;
    rename_renderer(true);
    fixture f = open_fixture(net);
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
        check_report(session, &desc);
    }
    tsr_session_destroy(session);
    close_fixture(&f);
}

/* ---- half precision -------------------------------------------------------------------------- */

/* What leaves the range of 16 bits (65504) becomes an infinity, the largest number or NaN, as the
 * driver has it; the others stay right. */
static void test_half_overflow(void **state) {
    (void)state;
    fixture f = open_fixture("Mul x[1,4,2,2] k<0.5 -> m; Exp m -> y");
    tsr_session *session =
        make_session(f.device, f.model, &(tsr_session_desc){.precision = TSR_FP16, .poison = true});
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_textures),
        cmocka_unit_test(test_no_texture),
        cmocka_unit_test(test_poll),
        cmocka_unit_test(test_get_output_waits),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_sessions_in_turns),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_no_growth),
        cmocka_unit_test(test_failing_halfway),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_as_large_as_possible),
        cmocka_unit_test(test_more_than_memory),
        cmocka_unit_test(test_every_mix_of_options),
        cmocka_unit_test(test_corners_of_fallback),
        cmocka_unit_test(test_timers),
        cmocka_unit_test(test_half_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
