/* Inputs from GL textures of the caller's, and runs in steps in its context: held against the cpu
 * backend on random input, in textures that hold NaN wherever nothing is to be read. */
#include "support/backends.h"
#include "support/gl_caller.h"
#include "support/main.h"
#include "support/random.h"
#include "support/sessions.h"

#include <math.h>
#include <string.h>

typedef struct fixture {
    EGLContext context;
    tsr_device *device;
    tsr_model *model;
} fixture;

static fixture open_fixture(const char *text) {
    need_backend("gles");
    fixture f = {.context = make_caller_context(CALLER_ES3)};
    if (!f.context)
        skip();
    f.device = make_device(&(tsr_device_desc){.gles.platform = TSR_PLATFORM_CURRENT,
                                              .gles.get_proc_address = get_proc_address});
    f.model = make_model(text);
    return f;
}

static void close_fixture(fixture *f) {
    tsr_model_free(f->model);
    tsr_device_destroy(f->device);
    destroy_caller_context(f->context);
}

/* Where tessera.h says that element (n, c, y, x) is. */
static size_t place_of(const tsr_texture *t, int n, int c, int y, int x) {
    int k = n * t->tiles + c / 4;
    size_t column = (size_t)(k % t->columns * t->width + x);
    size_t row = (size_t)(k / t->columns * t->height + y);
    return (row * (size_t)t->texture_width + column) * 4 + (size_t)(c % 4);
}

/* A texture that holds what set_inputs() makes of the seed, a column and a row larger than needed;
 * complete only where nothing is filtered. */
static tsr_texture make_texture(const tsr_shape *shape, int columns, unsigned seed) {
    const int64_t *dim = shape->dim;
    tsr_texture t = {.columns = columns, .width = (int)dim[3], .height = (int)dim[2]};
    t.tiles = (int)(dim[1] + 3) / 4;
    t.texture_width = columns * t.width + 1;
    t.texture_height = ((int)dim[0] * t.tiles + columns - 1) / columns * t.height + 1;
    size_t floats = (size_t)t.texture_width * (size_t)t.texture_height * 4;
    float *texels = malloc(floats * sizeof *texels);
    assert_non_null(texels);
    for (size_t i = 0; i < floats; i++)
        texels[i] = NAN;
    random_source random = random_from(seed);
    for (int n = 0; n < (int)dim[0]; n++)
        for (int c = 0; c < (int)dim[1]; c++)
            for (int y = 0; y < t.height; y++)
                for (int x = 0; x < t.width; x++)
                    texels[place_of(&t, n, c, y, x)] = random_float(&random, 0, 1);
    gl.GenTextures(1, &t.id);
    gl.BindTexture(GL_TEXTURE_2D, t.id);
    gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, t.texture_width, t.texture_height, 0, GL_RGBA,
                  GL_FLOAT, texels);
    free(texels);
    return t;
}

static const char *const nets[] = {
    "Conv x[1,3,9,14] w{5,3,3,3} -> y pads=1,1,1,1",
    "Conv x[2,6,7,5] w{4,6,3,3} -> y",
    "Conv x[3,9,4,17] w{3,9,1,1} -> y",
    "Sigmoid x[1,1,1,1] -> y",
    "ConvTranspose x[2,5,6,7] v{5,3,4,4} -> y strides=2,2 pads=1,1,1,1",
};

static void test_every_layout(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof nets / sizeof *nets; i++)
        for (unsigned run = 0; run < 4; run++) {
            fixture f = open_fixture(nets[i]);
            const tsr_session_desc desc = {.poison = true, .precision = run == 3};
            tsr_session *session = make_session(f.device, f.model, &desc);
            tsr_tensor_info info;
            EXPECT_OK(tsr_session_input(session, 0, &info));
            set_inputs(session, 99); /* is replaced */
            tsr_texture texture = make_texture(&info.shape, (int)run % 3 + 1, run);
            set_unusual_state(false);
            remember_state();
            EXPECT_OK(tsr_session_set_input_texture(session, "x", &texture, 1, 0));
            expect_remembered_state("tsr_session_set_input_texture");
            gl.DeleteTextures(1, &texture.id);
            EXPECT_OK(tsr_session_run(session));
            expect_output(session, f.model, "y", run, desc.precision ? 4e-3 : 1e-5);
            tsr_session_destroy(session);
            close_fixture(&f);
        }
}

/* 0..255 becomes -1..1. */
static void test_bytes(void **state) {
    (void)state;
    fixture f = open_fixture("Relu x[1,3,5,6] -> r; Neg x -> n; Relu n -> m; Sub r m -> y");
    tsr_session *session = make_session(f.device, f.model, &(tsr_session_desc){.poison = true});
    unsigned char bytes[5 * 6][4];
    for (int i = 0; i < 5 * 6; i++)
        for (int c = 0; c < 4; c++)
            bytes[i][c] = (unsigned char)(i * 37 + c * 91);
    tsr_texture texture = {
        .width = 6, .height = 5, .columns = 1, .tiles = 1, .texture_width = 6, .texture_height = 5};
    gl.GenTextures(1, &texture.id);
    gl.BindTexture(GL_TEXTURE_2D, texture.id);
    gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 6, 5, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    EXPECT_OK(tsr_session_set_input_texture(session, "x", &texture, 2, -1));
    EXPECT_OK(tsr_session_run(session));
    elements y = get_output(session, "y");
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 5 * 6; i++)
            assert_float_equal(y.values[c * 30 + i], bytes[i][c] / 255.0 * 2 - 1, 1e-6);
    free(y.values);
    gl.DeleteTextures(1, &texture.id);
    tsr_session_destroy(session);
    close_fixture(&f);
}

/* One session's output texture is the next one's input, though each works in steps. */
static void test_chain(void **state) {
    (void)state;
    fixture f = open_fixture("Conv x[1,6,8,9] w{6,6,3,3} -> c pads=1,1,1,1; Tanh c -> y");
    const tsr_session_desc desc = {.texture_outputs = true, .poison = true};
    tsr_session *first = make_session(f.device, f.model, &desc);
    tsr_session *second = make_session(f.device, f.model, &desc);
    tsr_texture texture;
    set_inputs(first, 5);
    while (tsr_session_step(first, 0) == TSR_NOT_READY)
        ;
    EXPECT_OK(tsr_session_output_texture(first, "y", &texture));
    EXPECT_OK(tsr_session_set_input_texture(second, "x", &texture, 1, 0));
    while (tsr_session_step(second, 0) == TSR_NOT_READY)
        ;
    elements between = get_output(first, "y"), result = get_output(second, "y");
    EXPECT_OK(tsr_session_set_input(first, "x", between.values, between.count));
    EXPECT_OK(tsr_session_run(first));
    elements expected = get_output(first, "y");
    expect_close(result, expected, 1e-6);
    free(between.values);
    free(result.values);
    free(expected.values);
    tsr_session_destroy(second);
    tsr_session_destroy(first);
    close_fixture(&f);
}

static void expect_refused(tsr_session *session, tsr_texture texture, const char *words) {
    expect_failure(tsr_session_set_input_texture(session, "x", &texture, 1, 0), TSR_ERROR_SHAPE,
                   words);
}

static void test_refusals(void **state) {
    (void)state;
    fixture f = open_fixture("Relu x[2,6,5,7] -> y");
    tsr_session *session = make_session(f.device, f.model, NULL);
    tsr_tensor_info info;
    EXPECT_OK(tsr_session_input(session, 0, &info));
    tsr_texture good = make_texture(&info.shape, 3, 1), t = good;
    t.width = 8;
    expect_refused(session, t, "does not hold 2 images of 6 channels of 7 x 5");
    t = good, t.tiles = 1;
    expect_refused(session, t, "1 per image");
    t = good, t.columns = 0;
    expect_refused(session, t, "0 side by side");
    t = good, t.texture_width = 20;
    expect_refused(session, t, "20 x");
    t = good, t.texture_height = 9;
    expect_refused(session, t, "9 texels");
    t = good, t.id = 12345;
    expect_failure(tsr_session_set_input_texture(session, "x", &t, 1, 0),
                   TSR_ERROR_INVALID_ARGUMENT, "input 'x': the context has no texture 12345");
    expect_failure(tsr_session_set_input_texture(session, "z", &good, 1, 0),
                   TSR_ERROR_INVALID_ARGUMENT, "no input 'z'");
    expect_failure(tsr_session_set_input_texture(session, "x", NULL, 1, 0),
                   TSR_ERROR_INVALID_ARGUMENT, "NULL");
    expect_failure(tsr_session_run(session), TSR_ERROR_INVALID_ARGUMENT, "has not been set");
    EXPECT_OK(tsr_session_set_input_texture(session, "x", &good, 1, 0));
    EXPECT_OK(tsr_session_run(session));
    gl.DeleteTextures(1, &good.id);
    tsr_session_destroy(session);
    close_fixture(&f);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_layout),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
