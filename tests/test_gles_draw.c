/* Outputs drawn into textures and framebuffers of the caller's, held against the same outputs read
 * as pixels. */
#include "support/backends.h"
#include "support/gl_caller.h"
#include "support/main.h"
#include "support/sessions.h"

#include <string.h>

enum { WIDTH = 40, HEIGHT = 30 }; /* of the targets */

typedef struct fixture {
    EGLContext context;
    tsr_device *device;
    tsr_model *model;
    tsr_session *session;
    GLuint texture, framebuffer;
} fixture;

static fixture open_fixture(const char *text, GLenum format) {
    need_backend("gles");
    fixture f = {.context = make_caller_context(CALLER_ES3)};
    if (!f.context)
        skip();
    f.device = make_device(&(tsr_device_desc){.gles.platform = TSR_PLATFORM_CURRENT,
                                              .gles.get_proc_address = get_proc_address});
    f.model = make_model(text);
    f.session = make_session(f.device, f.model, &(tsr_session_desc){.poison = true});
    gl.GenTextures(1, &f.texture);
    gl.BindTexture(GL_TEXTURE_2D, f.texture);
    gl.TexStorage2D(GL_TEXTURE_2D, 1, format, WIDTH, HEIGHT);
    gl.GenFramebuffers(1, &f.framebuffer);
    gl.BindFramebuffer(GL_FRAMEBUFFER, f.framebuffer);
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, f.texture, 0);
    gl.ClearColor(0, 0, 1, 0);
    gl.Clear(GL_COLOR_BUFFER_BIT);
    set_inputs(f.session, 3);
    EXPECT_OK(tsr_session_run(f.session));
    return f;
}

static void close_fixture(fixture *f) {
    gl.DeleteFramebuffers(1, &f->framebuffer);
    gl.DeleteTextures(1, &f->texture);
    tsr_session_destroy(f->session);
    tsr_model_free(f->model);
    tsr_device_destroy(f->device);
    destroy_caller_context(f->context);
}

/* Pixel (x, y) of the target is this one of the picture; what is outside stays as it was. */
static void expect_pixel(const unsigned char *texel, const unsigned char *picture,
                         const tsr_draw_target *t, int x, int y) {
    static const unsigned char cleared[4] = {0, 0, 255, 0};
    int column = x - t->x, row = y - t->y;
    bool inside = column >= 0 && column < t->width && row >= 0 && row < t->height;
    row = t->flip ? t->height - 1 - row : row;
    const unsigned char *expected = inside ? picture + (row * t->width + column) * 4 : cleared;
    for (int i = 0; i < 4; i++)
        if (abs(texel[i] - expected[i]) > 1)
            fail_msg("channel %d of pixel (%d, %d) is %d instead of %d", i, x, y, texel[i],
                     expected[i]);
}

static void expect_drawn(const fixture *f, const tsr_draw_target *t) {
    unsigned char drawn[WIDTH * HEIGHT * 4], picture[WIDTH * HEIGHT * 4];
    tsr_pixels p = {.data = picture,
                    .bytes = sizeof picture,
                    .width = t->width,
                    .height = t->height,
                    .filter = t->filter,
                    .channels_last = t->channels_last,
                    .bgr = t->bgr,
                    .image = t->image};
    memcpy(p.mean, t->mean, sizeof p.mean);
    memcpy(p.scale, t->scale, sizeof p.scale);
    set_unusual_state(false);
    remember_state();
    EXPECT_OK(tsr_session_draw_output(f->session, "y", t));
    expect_remembered_state("tsr_session_draw_output");
    EXPECT_OK(tsr_session_get_output_pixels(f->session, "y", &p));
    gl.BindFramebuffer(GL_READ_FRAMEBUFFER, f->framebuffer);
    gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    gl.PixelStorei(GL_PACK_ALIGNMENT, 4);
    gl.PixelStorei(GL_PACK_ROW_LENGTH, 0);
    gl.PixelStorei(GL_PACK_SKIP_ROWS, 0);
    gl.PixelStorei(GL_PACK_SKIP_PIXELS, 0);
    gl.ReadBuffer(GL_COLOR_ATTACHMENT0);
    gl.ReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, drawn);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            expect_pixel(drawn + (y * WIDTH + x) * 4, picture, t, x, y);
}

static void test_targets(void **state) {
    (void)state;
    static const struct {
        const char *text;
        tsr_draw_target target;
    } cases[] = {
        {"Sigmoid x[1,3,30,40] -> y", {.width = 40, .height = 30}},
        {"Sigmoid x[1,3,30,40] -> y", {.width = 40, .height = 30, .flip = true}},
        {"Sigmoid x[2,4,9,13] -> y", {.x = 3, .y = 5, .width = 31, .height = 17, .image = 1}},
        {"Sigmoid x[1,1,20,20] -> y", {.x = 39, .y = 29, .width = 1, .height = 1}},
        {"Tanh x[1,3,50,61] -> y",
         {.width = 33,
          .height = 30,
          .flip = true,
          .bgr = true,
          .mean = {127.5f, 127.5f, 127.5f, 0},
          .scale = {2 / 255.f, 2 / 255.f, 2 / 255.f, 0}}},
        {"Sigmoid x[1,8,11,3] -> y",
         {.x = 1, .width = 11, .height = 8, .channels_last = true, .filter = TSR_FILTER_NEAREST}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int own = 0; own < 2; own++) {
            fixture f = open_fixture(cases[i].text, GL_RGBA8);
            tsr_draw_target target = cases[i].target;
            *(own ? &target.framebuffer : &target.texture) = own ? f.framebuffer : f.texture;
            expect_drawn(&f, &target);
            close_fixture(&f);
        }
}

/* Elements as they are: neither rounded nor limited. */
static void test_floats(void **state) {
    (void)state;
    fixture f = open_fixture("Neg x[1,3,30,40] -> y", GL_RGBA32F);
    const tsr_draw_target target = {.texture = f.texture, .width = WIDTH, .height = HEIGHT};
    EXPECT_OK(tsr_session_draw_output(f.session, "y", &target));
    float *drawn = malloc(sizeof *drawn * WIDTH * HEIGHT * 4);
    assert_non_null(drawn);
    gl.BindFramebuffer(GL_READ_FRAMEBUFFER, f.framebuffer);
    gl.ReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_FLOAT, drawn);
    elements y = get_output(f.session, "y");
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        for (int c = 0; c < 3; c++)
            assert_float_equal(drawn[4 * i + c], y.values[c * WIDTH * HEIGHT + i], 1e-6);
        assert_float_equal(drawn[4 * i + 3], 1, 0);
    }
    free(drawn);
    free(y.values);
    close_fixture(&f);
}

static void refuse(const fixture *f, tsr_draw_target target, const char *words) {
    expect_failure(tsr_session_draw_output(f->session, "y", &target), TSR_ERROR_INVALID_ARGUMENT,
                   words);
    assert_int_equal(gl.GetError(), GL_NO_ERROR);
}

static void test_refused(void **state) {
    (void)state;
    fixture f = open_fixture("Sigmoid x[1,3,30,40] -> y", GL_RGBA8);
    tsr_draw_target good = {.texture = f.texture, .width = WIDTH, .height = HEIGHT}, bad = good;
    bad.texture = 12345;
    refuse(&f, bad, "no texture 12345");
    bad = good;
    bad.texture = 0;
    bad.framebuffer = 4321;
    refuse(&f, bad, "no framebuffer 4321");
    bad = good;
    bad.width = 0;
    refuse(&f, bad, "0 x 30");
    bad = good;
    bad.x = -1;
    refuse(&f, bad, "(-1, 0)");
    bad = good;
    bad.image = 1;
    refuse(&f, bad, "no image 1");
    bad = good;
    bad.wgpu_texture = &bad;
    expect_failure(tsr_session_draw_output(f.session, "y", &bad), TSR_ERROR_UNSUPPORTED,
                   "'gles' has no WebGPU textures");
    EXPECT_OK(tsr_session_draw_output(f.session, "y", &good));
    expect_failure(tsr_session_draw_output(f.session, "x", &good), TSR_ERROR_INVALID_ARGUMENT,
                   "not an output");
    close_fixture(&f);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
