/* GL calls of a run, each of which costs microseconds in a page, and of a training step. */
#include "support/backends.h"
#include "support/case_text.h"
#include "support/gl_count.h"
#include "support/main.h"
#include "support/sessions.h"
#include "support/training.h"

#include <stdio.h>

static tsr_session *make_run(tsr_device *device, const tsr_model *model) {
    tsr_session *session = make_session(device, model, NULL);
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    return session;
}

/* Calls of a run that is not the first, and how many of them draw. */
static int calls_of_run(const char *kernels, const char *text, int *draws) {
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "gles", .kernels = kernels});
    tsr_model *model = make_model(text);
    tsr_session *session = make_run(device, model);
    count_gl_calls(device);
    EXPECT_OK(tsr_session_run(session));
    int calls = gl_calls(NULL);
    *draws = gl_calls("glDrawArrays");
    expect_output(session, model, "y", 1, SUM_TOLERANCE);
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
    return calls;
}

/* Of layers alike, one after the other, each a draw: a source, weights and a target are bound, with
 * two active units, at most a program, its parameters and a viewport beside them. */
static void test_layers(void **state) {
    (void)state;
    enum { FEW = 3, MORE = 9, MOST = 7 };
    need_backend("gles");
    int calls[2], draws[2];
    for (int i = 0; i < 2; i++) {
        int count = i ? MORE : FEW;
        case_text text = {"Conv x[1,8,16,16] w0{8,8,3,3} -> c0 pads=1,1,1,1"};
        for (int k = 1; k < count; k++)
            text_add(&text, "; Conv c%d w%d{8,8,3,3} -> c%d pads=1,1,1,1", k - 1, k, k);
        text_add(&text, "; Relu c%d -> y", count - 1);
        calls[i] = calls_of_run("direct", text.text, &draws[i]);
    }
    assert_int_equal(draws[1] - draws[0], MORE - FEW);
    if (calls[1] - calls[0] > MOST * (MORE - FEW))
        fail_msg("%d layers take %d calls", MORE - FEW, calls[1] - calls[0]);
}

/* A layer of 50 output tiles with few multiply-adds each: one uniform block holds the weights of
 * many tiles, so a few draw calls write them all. */
static void test_tiles(void **state) {
    (void)state;
    need_backend("gles");
    int draws;
    int calls = calls_of_run("blocks", "Conv x[1,16,20,20] w{200,16,1,1} -> y", &draws);
    if (draws > 3 || calls > 37)
        fail_msg("50 tiles of a layer take %d draws, %d calls", draws, calls);
}

/* Parameters stay in a program: runs set them again only where another pass had it in between. Both
 * networks have textures of one kind: src/gles/variant.h. */
static void test_parameters(void **state) {
    (void)state;
    need_backend("gles");
    static const char *const texts[] = {"Conv x[1,8,16,24] w{8,8,3,3} -> y pads=1,1,1,1",
                                        "Conv x[1,8,24,20] w{8,8,3,3} -> y pads=1,1,1,1"};
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "gles", .kernels = "direct"});
    tsr_model *models[2];
    tsr_session *sessions[2];
    for (int i = 0; i < 2; i++) {
        models[i] = make_model(texts[i]);
        sessions[i] = make_run(device, models[i]);
    }
    count_gl_calls(device);
    EXPECT_OK(tsr_session_run(sessions[1]));
    assert_int_equal(gl_calls("glUniform4iv"), 0);
    for (int i = 0; i < 4; i++) {
        set_inputs(sessions[i % 2], (unsigned)i);
        EXPECT_OK(tsr_session_run(sessions[i % 2]));
        assert_true(gl_calls("glUniform4iv") > 0);
        expect_output(sessions[i % 2], models[i % 2], "y", (unsigned)i, SUM_TOLERANCE);
        forget_gl_calls();
    }
    for (int i = 0; i < 2; i++) {
        tsr_session_destroy(sessions[i]);
        tsr_model_free(models[i]);
    }
    tsr_device_destroy(device);
}

/* Of the device's tensors a training step reads nothing; where the loss is asked for, that and
 * whether gradients are finite. */
static void test_training(void **state) {
    (void)state;
    need_backend("gles");
    float image[UNET_IMAGE] = {1}, target[UNET_IMAGE] = {0.5f}, loss = 0;
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "gles"});
    tsr_model *model = make_small_unet(1, 0.1f);
    tsr_trainer *trainer = make_trainer(
        device, model, &(tsr_trainer_desc){.clip_norm = 1, .flip = true, .average_decay = 0.9f});
    EXPECT_OK(step_trainer(trainer, image, target, NULL));
    count_gl_calls(device);
    for (int i = 0; i < 2; i++)
        EXPECT_OK(step_trainer(trainer, image, target, NULL));
    assert_true(gl_calls("glDrawArrays") > 0);
    assert_int_equal(gl_calls("glReadPixels"), 0);
    EXPECT_OK(step_trainer(trainer, image, target, &loss));
    assert_int_equal(gl_calls("glReadPixels"), 2);
    assert_true(loss > 0);
    tsr_trainer_destroy(trainer);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_training),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
