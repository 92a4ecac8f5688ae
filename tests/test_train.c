/* Training on the cpu backend: updates held against formulas, networks that learn, refusals. */
#include "support/classifiers.h"
#include "support/main.h"
#include "support/training.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tsr_device *cpu(void) {
    return make_device(&(tsr_device_desc){.backend = "cpu"});
}

/* ---- updates, by hand ------------------------------------------------------------------------ */

/* y = w0 * x0 + w1 * x1 + b, and the gradient of (y - t)^2. */
typedef struct line {
    double weights[3], first[3], second[3];
} line;

static const float line_input[] = {0.5f, -2};
static const float line_target = 1.5f;

static double line_loss(const line *l, double gradient[3]) {
    const double x[] = {line_input[0], line_input[1], 1};
    double difference = -line_target;
    for (int i = 0; i < 3; i++)
        difference += l->weights[i] * x[i];
    for (int i = 0; i < 3; i++)
        gradient[i] = 2 * difference * x[i];
    return difference * difference;
}

static void step_line(line *l, const tsr_trainer_desc *d, int step, double rate) {
    double gradient[3], norm = 0;
    line_loss(l, gradient);
    for (int i = 0; i < 3; i++)
        norm += gradient[i] * gradient[i];
    double factor = d->clip_norm > 0 ? d->clip_norm / fmax(sqrt(norm), d->clip_norm) : 1;
    for (int i = 0; i < 3; i++) {
        double w = l->weights[i], decay = i < 2 ? d->weight_decay : 0, change;
        double g = gradient[i] * factor + (d->update == TSR_UPDATE_ADAMW ? 0 : decay * w);
        if (d->update == TSR_UPDATE_SGD) {
            l->first[i] = d->momentum * l->first[i] + g;
            change = rate * (d->nesterov ? g + d->momentum * l->first[i] : l->first[i]);
        } else {
            l->first[i] = 0.9 * l->first[i] + 0.1 * g;
            l->second[i] = 0.99 * l->second[i] + 0.01 * g * g;
            change = rate * l->first[i] / (1 - pow(0.9, step)) /
                     (sqrt(l->second[i] / (1 - pow(0.99, step))) + 1e-8);
            if (d->update == TSR_UPDATE_ADAMW)
                change += rate * decay * w;
        }
        l->weights[i] = w - change;
    }
}

static tsr_model *make_line(const line *l) {
    tsr_net *net;
    tsr_model *model;
    EXPECT_OK(tsr_net_create(NULL, &net));
    int x = tsr_net_input(net, "x", &(tsr_shape){2, {1, 2}});
    tsr_net_output(net, "y", tsr_net_dense(net, x, 1));
    for (int i = 0; i < 3; i++)
        tsr_net_parameter_data(net, i / 2)[i % 2] = (float)l->weights[i];
    EXPECT_OK(tsr_net_finish(net, &model));
    tsr_net_destroy(net);
    return model;
}

/* Losses of 12 steps are those of the formulas. */
static void check_update(const tsr_trainer_desc *desc, const double *rates) {
    enum { STEPS = 12 };
    line l = {.weights = {0.3, -0.7, 0.2}};
    tsr_model *model = make_line(&l);
    tsr_device *device = cpu();
    tsr_trainer *trainer = make_trainer(device, model, desc);
    for (int step = 1; step <= STEPS; step++) {
        double unused[3], expected = line_loss(&l, unused);
        float loss;
        EXPECT_OK(step_trainer(trainer, line_input, &line_target, &loss));
        if (!(fabs(loss - expected) <= 1e-5 * (1 + expected)))
            fail_msg("step %d: loss %.9g instead of %.9g", step, loss, expected);
        step_line(&l, desc, step, rates ? rates[step - 1] : desc->learning_rate);
    }
    assert_int_equal(tsr_trainer_steps(trainer), STEPS);
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
}

static void test_updates(void **state) {
    (void)state;
    const tsr_trainer_desc descs[] = {
        {.update = TSR_UPDATE_SGD, .learning_rate = 0.02f},
        {.update = TSR_UPDATE_SGD, .learning_rate = 0.02f, .momentum = 0.5f},
        {.update = TSR_UPDATE_SGD, .learning_rate = 0.02f, .momentum = 0.5f, .nesterov = true},
        {.update = TSR_UPDATE_SGD, .learning_rate = 0.02f, .weight_decay = 0.1f},
        {.update = TSR_UPDATE_SGD, .learning_rate = 0.1f, .clip_norm = 0.75f},
        {.update = TSR_UPDATE_ADAM, .learning_rate = 0.05f, .beta2 = 0.99f},
        {.update = TSR_UPDATE_ADAM, .learning_rate = 0.05f, .beta2 = 0.99f, .weight_decay = 0.2f},
        {.update = TSR_UPDATE_ADAMW, .learning_rate = 0.05f, .beta2 = 0.99f, .weight_decay = 0.2f},
    };
    for (size_t i = 0; i < sizeof descs / sizeof *descs; i++)
        check_update(&descs[i], NULL);
}

static void test_schedules(void **state) {
    (void)state;
    double linear[12], cosine[12];
    for (int i = 0; i < 12; i++) { /* of 10 steps, 3 of them to warm up */
        double part = i < 10 ? (i - 3) / 7.0 : 1;
        linear[i] = 0.02 * (i < 3 ? (i + 1) / 4.0 : 1 - part);
        cosine[i] = 0.02 * (i < 3 ? (i + 1) / 4.0 : (1 + cos(3.14159265358979 * part)) / 2);
    }
    tsr_trainer_desc desc = {.update = TSR_UPDATE_SGD,
                             .learning_rate = 0.02f,
                             .schedule = TSR_SCHEDULE_LINEAR,
                             .steps = 10,
                             .warmup_steps = 3};
    check_update(&desc, linear);
    desc.schedule = TSR_SCHEDULE_COSINE;
    check_update(&desc, cosine);
    for (int i = 0; i < 12; i++) /* and 2 before it falls, for 5 */
        linear[i] = 0.02 * (i < 3 ? (i + 1) / 4.0 : i < 5 ? 1 : i < 10 ? 1 - (i - 5) / 5.0 : 0);
    desc.schedule = TSR_SCHEDULE_LINEAR;
    desc.hold_steps = 2;
    check_update(&desc, linear);
}

/* ---- networks -------------------------------------------------------------------------------- */

static void test_signals(void **state) {
    (void)state;
    expect_learns("cpu", &signal_classifier);
}

static void test_digits(void **state) {
    (void)state;
    expect_learns("cpu", &digit_classifier);
}

/* Every kind of layer: it learns one pair by heart, and Dropout's numbers are those of the seed. */
static void test_unet(void **state) {
    (void)state;
    float image[UNET_IMAGE], target[UNET_IMAGE], losses[2][60];
    random_source random = random_from(2);
    tsr_device *device = cpu();
    for (int i = 0; i < UNET_IMAGE; i++) {
        image[i] = random_float(&random, 0, 1);
        target[i] = random_float(&random, 0, 0.8f);
    }
    for (int run = 0; run < 2; run++) {
        tsr_model *model = make_small_unet(1, 0.1f);
        tsr_trainer *trainer = make_trainer(
            device, model,
            &(tsr_trainer_desc){.loss = TSR_LOSS_L1, .learning_rate = 0.01f, .seed = 5});
        assert_int_equal(tsr_trainer_parameter_count(trainer), 13);
        for (int i = 0; i < 60; i++)
            EXPECT_OK(step_trainer(trainer, image, target, &losses[run][i]));
        tsr_trainer_destroy(trainer);
        tsr_model_free(model);
    }
    assert_true(losses[0][59] < 0.6f * losses[0][0]);
    assert_memory_equal(losses[0], losses[1], sizeof losses[0]);
    tsr_device_destroy(device);
}

/* Inputs that are NaN, in a step whose loss is not read, change neither weights nor statistics. */
static void test_nan(void **state) {
    (void)state;
    float image[UNET_IMAGE], target[UNET_IMAGE], losses[2];
    random_source random = random_from(2);
    tsr_device *device = cpu();
    tsr_model *model = make_small_unet(1, 0);
    for (int run = 0; run < 2; run++) {
        tsr_trainer *trainer =
            make_trainer(device, model, &(tsr_trainer_desc){.update = TSR_UPDATE_SGD});
        random = random_from(2);
        for (int i = 0; i < UNET_IMAGE; i++)
            image[i] = target[UNET_IMAGE - 1 - i] = random_float(&random, 0, 1);
        EXPECT_OK(step_trainer(trainer, image, target, NULL));
        float kept = image[7];
        image[7] = NAN;
        if (run == 1)
            EXPECT_OK(step_trainer(trainer, image, target, NULL));
        image[7] = kept;
        EXPECT_OK(step_trainer(trainer, image, target, &losses[run]));
        tsr_model *trained;
        EXPECT_OK(tsr_trainer_model(trainer, &trained));
        tsr_session *session = make_session(device, trained, NULL);
        static float out[2][UNET_IMAGE];
        EXPECT_OK(tsr_session_set_input(session, "image", image, UNET_IMAGE));
        EXPECT_OK(tsr_session_run(session));
        EXPECT_OK(tsr_session_get_output(session, "picture", out[run], UNET_IMAGE));
        if (run == 1)
            assert_memory_equal(out[0], out[1], sizeof out[0]);
        tsr_session_destroy(session);
        tsr_model_free(trained);
        tsr_trainer_destroy(trainer);
    }
    assert_true(losses[0] == losses[1]);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

static void expect_lost(const char *text, tsr_loss kind, const float *x, const char *words) {
    const float target[2] = {0};
    float loss;
    tsr_model *model = make_model(text);
    tsr_device *device = cpu();
    tsr_trainer *trainer = make_trainer(device, model, &(tsr_trainer_desc){.loss = kind});
    expect_failure(step_trainer(trainer, x, target, &loss), TSR_ERROR_INVALID_ARGUMENT, words);
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
}

static void test_lost(void **state) {
    (void)state;
    const float mixed[] = {4, -1}, large[] = {1e20f, 1e20f}, none[] = {1, NAN};
    expect_lost("PRelu x[1,2] w<1> -> p; Sqrt p -> q; Neg q -> y", TSR_LOSS_MSE, mixed,
                "step 1: the loss is NaN: node 'Sqrt1' (Sqrt of 'p') is the first that computes "
                "NaN; the weights");
    expect_lost("MatMul x[1,2] w{2,2} -> p; Exp p -> y", TSR_LOSS_MSE, large,
                "node 'Exp1' (Exp of 'p') is the first that computes infinity");
    expect_lost("MatMul x[1,2] w{2,2} -> y", TSR_LOSS_MSE, none,
                "the loss is NaN: input 'x' holds NaN; the");
    expect_lost("PRelu x[1,2] a<1,1> -> p; PRelu p b<1,nan> -> y", TSR_LOSS_MSE, mixed,
                "the loss is NaN: input 'b' holds NaN; the");
    expect_lost("MatMul x[1,2] w{2,2} -> y", TSR_LOSS_L1, large,
                "node 'update' (ReduceSumSquare of 'w.gradient') is the first that computes");
}

/* The loss is finite, the slope of a root at 0 is not. */
static void test_gradient_not_finite(void **state) {
    (void)state;
    const float zeros[2] = {0}, target[2] = {1, 1};
    float loss;
    tsr_model *model = make_model("PRelu x[1,2] w<1> -> p; Sqrt p -> y");
    tsr_device *device = cpu();
    tsr_trainer *trainer = make_trainer(device, model, NULL);
    tsr_tensor_info info;
    EXPECT_OK(tsr_trainer_input(trainer, 0, &info));
    assert_int_equal(info.shape.dim[1], 2);
    EXPECT_OK(tsr_trainer_target(trainer, 0, &info));
    assert_int_equal(info.shape.dim[1], 2);
    expect_failure(step_trainer(trainer, zeros, target, &loss), TSR_ERROR_INVALID_ARGUMENT,
                   "step 1: the loss is finite, but a gradient");
    assert_true(loss == 1);
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
}

/* A trainer goes on from another's state, to the last bit. */
static void test_resumed(void **state) {
    (void)state;
    static written saved;
    float image[UNET_IMAGE], target[UNET_IMAGE], losses[2];
    random_source random = random_from(2);
    tsr_device *device = cpu();
    tsr_model *model = make_small_unet(1, 0.2f);
    tsr_trainer *trainers[2];
    for (int i = 0; i < UNET_IMAGE; i++)
        image[i] = target[UNET_IMAGE - 1 - i] = random_float(&random, 0, 1);
    for (int i = 0; i < 2; i++)
        trainers[i] = make_trainer(device, model, &(tsr_trainer_desc){.seed = 7});
    for (int i = 0; i < 3; i++)
        EXPECT_OK(step_trainer(trainers[0], image, target, NULL));
    EXPECT_OK(tsr_trainer_save(trainers[0], append_written, &saved));
    expect_failure(tsr_trainer_load(trainers[1], saved.bytes, saved.size / 2),
                   TSR_ERROR_INVALID_MODEL, "training state");
    EXPECT_OK(tsr_trainer_load(trainers[1], saved.bytes, saved.size));
    assert_int_equal(tsr_trainer_steps(trainers[1]), 3);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 2; i++)
            EXPECT_OK(step_trainer(trainers[i], image, target, &losses[i]));
        assert_true(losses[0] == losses[1]);
    }
    tsr_trainer *other = make_trainer(
        device, model, &(tsr_trainer_desc){.update = TSR_UPDATE_SGD, .momentum = 0.5f});
    expect_failure(tsr_trainer_load(other, saved.bytes, saved.size), TSR_ERROR_INVALID_ARGUMENT,
                   "it has 25 tensors, the trainer 20");
    tsr_trainer_destroy(other);
    for (int i = 0; i < 2; i++)
        tsr_trainer_destroy(trainers[i]);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

/* Statistics follow with a momentum of 0.9: of images that are 3 everywhere, the mean of a 1x1
 * convolution by 2 becomes 6 * 0.1, then 6 * 0.19; its variance 0.9, 0.81. */
static void test_statistics(void **state) {
    (void)state;
    float ones[18], target[18] = {0}, out[18];
    tsr_net *net;
    tsr_model *model, *trained;
    tsr_device *device = cpu();
    EXPECT_OK(tsr_net_create(NULL, &net));
    const tsr_layer_desc twice = {.outputs = 1,
                                  .no_bias = true,
                                  .window = {.kernel = {1, 1}},
                                  .weights = {TSR_INITIALIZER_CONSTANT, 2}};
    int x = tsr_net_input(net, "x", &(tsr_shape){4, {2, 1, 3, 3}});
    tsr_net_output(net, "y", tsr_net_batch_norm(net, tsr_net_conv(net, x, &twice), NULL));
    EXPECT_OK(tsr_net_finish(net, &model));
    tsr_net_destroy(net);
    for (int i = 0; i < 18; i++)
        ones[i] = 3;
    const char *const freeze[] = {"conv?.*"};
    tsr_trainer *trainer = make_trainer(
        device, model,
        &(tsr_trainer_desc){.learning_rate = 1e-9f, .freeze = freeze, .freeze_count = 1});
    assert_int_equal(tsr_trainer_parameter_count(trainer), 2);
    for (int i = 0; i < 2; i++)
        EXPECT_OK(step_trainer(trainer, ones, target, NULL));
    EXPECT_OK(tsr_trainer_model(trainer, &trained));
    tsr_session *session = make_session(device, trained, NULL);
    EXPECT_OK(tsr_session_set_input(session, "x", ones, 18));
    EXPECT_OK(tsr_session_run(session));
    EXPECT_OK(tsr_session_get_output(session, "y", out, 18));
    assert_true(fabs(out[0] - (6 - 6 * 0.19) / sqrt(0.81 + 1e-5)) < 1e-4);
    tsr_session_destroy(session);
    tsr_trainer_destroy(trainer);
    tsr_model_free(trained);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

/* With a momentum of 0.75 and images that are 3 everywhere, the mean goes in two steps from 4 to 3
 * + 0.5625, the variance from 9 to 9 * 0.5625. */
static void test_momentum_of_statistics(void **state) {
    (void)state;
    float threes[18], target[18] = {0}, out[18];
    tsr_device *device = cpu();
    tsr_model *trained, *model = make_model("BatchNormalization x[2,1,3,3] s<2> b<1> m<4> v<9> -> "
                                            "y momentum=0.75");
    for (int i = 0; i < 18; i++)
        threes[i] = 3;
    tsr_trainer *trainer = make_trainer(device, model, &(tsr_trainer_desc){.learning_rate = 1e-9f});
    for (int i = 0; i < 2; i++)
        EXPECT_OK(step_trainer(trainer, threes, target, NULL));
    EXPECT_OK(tsr_trainer_model(trainer, &trained));
    tsr_session *session = make_session(device, trained, NULL);
    EXPECT_OK(tsr_session_set_input(session, "x", threes, 18));
    EXPECT_OK(tsr_session_run(session));
    EXPECT_OK(tsr_session_get_output(session, "y", out, 18));
    assert_true(fabs(out[0] - (1 - 2 * 0.5625 / sqrt(9 * 0.5625 + 1e-5))) < 1e-4);
    tsr_session_destroy(session);
    tsr_trainer_destroy(trainer);
    tsr_model_free(trained);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void test_refused(void **state) {
    (void)state;
    static const char *const conv = "Conv x[1,2,5,5] w{3,2,3,3} -> y";
    const char *const all[] = {"*"}, *const none[] = {"nothing?"};
    expect_no_trainer(conv, &(tsr_trainer_desc){.freeze = all, .freeze_count = 1},
                      TSR_ERROR_INVALID_ARGUMENT,
                      "there is no weight to be trained: all are frozen");
    expect_no_trainer(conv, &(tsr_trainer_desc){.freeze = none, .freeze_count = 1},
                      TSR_ERROR_INVALID_ARGUMENT, "no weight has a name like 'nothing?'");
    expect_no_trainer("Relu x[4] -> y", NULL, TSR_ERROR_INVALID_ARGUMENT,
                      "there is no weight to be trained");
    expect_no_trainer(conv, &(tsr_trainer_desc){.output = "z"}, TSR_ERROR_INVALID_ARGUMENT,
                      "the model has no output 'z'");
    expect_no_trainer(conv, &(tsr_trainer_desc){.learning_rate = -1}, TSR_ERROR_INVALID_ARGUMENT,
                      "learning_rate");
    expect_no_trainer(conv, &(tsr_trainer_desc){.schedule = TSR_SCHEDULE_LINEAR},
                      TSR_ERROR_INVALID_ARGUMENT, "a schedule needs more of them");
    expect_no_trainer(conv, &(tsr_trainer_desc){.momentum = 0.5f}, TSR_ERROR_INVALID_ARGUMENT,
                      "momentum and nesterov are for TSR_UPDATE_SGD");
    expect_no_trainer(conv, &(tsr_trainer_desc){.nesterov = true, .update = TSR_UPDATE_ADAMW},
                      TSR_ERROR_INVALID_ARGUMENT, "momentum and nesterov are for TSR_UPDATE_SGD");
    expect_no_trainer(conv, &(tsr_trainer_desc){.nesterov = true, .update = TSR_UPDATE_SGD},
                      TSR_ERROR_INVALID_ARGUMENT, "nesterov needs a momentum");
    expect_no_trainer(conv, &(tsr_trainer_desc){.beta2 = 0.5f, .update = TSR_UPDATE_SGD},
                      TSR_ERROR_INVALID_ARGUMENT, "beta1, beta2 and epsilon are for");
    expect_no_trainer(conv, &(tsr_trainer_desc){.steps = 100}, TSR_ERROR_INVALID_ARGUMENT,
                      "steps are for a schedule that is not constant");
    expect_no_trainer("Cast x:int32[1,3] -> f to=1; PRelu f w<1> -> y", NULL, TSR_ERROR_UNSUPPORTED,
                      "input 'x' is int32");
    expect_no_trainer("PRelu x[2,3,4] w<1> -> p; Softmax p -> y axis=2",
                      &(tsr_trainer_desc){.loss = TSR_LOSS_CROSS_ENTROPY}, TSR_ERROR_UNSUPPORTED,
                      "(Softmax) along others");
    expect_no_trainer("Conv x[1,2,5,5] w{3,2,3,3} -> c; Floor c -> y", NULL,
                      TSR_ERROR_INVALID_ARGUMENT, "no differentiable path leads from 'w'");
}

/* The plan's bytes are enough, one less is refused. */
static void test_memory(void **state) {
    (void)state;
    tsr_report report;
    tsr_model *model = make_model("Conv x[8,16,63,65] w{16,16,3,3} -> y");
    tsr_device *device = cpu();
    tsr_trainer *trainer = make_trainer(device, model, NULL);
    EXPECT_OK(tsr_trainer_report(trainer, &report));
    tsr_trainer_destroy(trainer);
    tsr_trainer_desc desc = {.max_bytes = report.tensor_bytes + report.weight_bytes};
    trainer = make_trainer(device, model, &desc);
    tsr_trainer_destroy(trainer);
    desc.max_bytes--;
    expect_failure(tsr_trainer_create(device, model, &desc, &trainer), TSR_ERROR_OUT_OF_MEMORY,
                   "MiB, max_bytes is");
    tsr_device_destroy(device);
    tsr_model_free(model);
}

/* A loss that is infinite is told; the weights are those from before. */
static void test_not_finite(void **state) {
    (void)state;
    line l = {.weights = {0.3, -0.7, 0.2}};
    const float huge[] = {1e30f, 1e30f};
    float before, after;
    tsr_model *model = make_line(&l);
    tsr_device *device = cpu();
    tsr_trainer *trainer = make_trainer(device, model, NULL);
    EXPECT_OK(step_trainer(trainer, line_input, &line_target, NULL));
    EXPECT_OK(step_trainer(trainer, line_input, &line_target, &before));
    expect_failure(step_trainer(trainer, huge, &line_target, &after), TSR_ERROR_INVALID_ARGUMENT,
                   "step 3: the loss is infinite");
    assert_int_equal(tsr_trainer_steps(trainer), 2);
    EXPECT_OK(step_trainer(trainer, huge, &line_target, NULL));
    EXPECT_OK(step_trainer(trainer, line_input, &line_target, &after));
    assert_true(after < before);
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_updates),    cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_signals),    cmocka_unit_test(test_digits),
        cmocka_unit_test(test_unet),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_not_finite), cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_nan),        cmocka_unit_test(test_gradient_not_finite),
        cmocka_unit_test(test_statistics), cmocka_unit_test(test_momentum_of_statistics),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests_name("train", tests, NULL, NULL);
}
