/* What training with a discriminator changes and keeps: statistics, averages, states; refusals. */
#include "support/counted_memory.h"
#include "support/main.h"
#include "support/training.h"

#include <math.h>

static tsr_device *cpu(void) {
    return make_device(&(tsr_device_desc){.backend = "cpu"});
}

/* ---- statistics, averages, states ------------------------------------------------------------ */

/* Statistics follow targets, then outputs, with a momentum of 0.9. The model's output is its input:
 * the slope of what is negative is 1. */
static void test_statistics(void **state) {
    (void)state;
    enum { COUNT = 2 * 2 * 5 * 4, CHANNEL = 2 * 5 * 4, PLANE = 5 * 4 };
    float output[COUNT], target[COUNT];
    double means[2][2] = {{0}};
    random_source random = random_from(3);
    tsr_net *net;
    EXPECT_OK(tsr_net_create(NULL, &net));
    int x = tsr_net_input(net, "picture", &(tsr_shape){4, {2, 2, 5, 4}});
    tsr_net_output(net, "y", tsr_net_conv2d(net, tsr_net_batch_norm(net, x, NULL), 1, 3));
    tsr_model *discriminator, *model = make_model("PRelu x[2,2,5,4] w<1> -> y"), *trained;
    EXPECT_OK(tsr_net_finish(net, &discriminator));
    tsr_net_destroy(net);
    for (int i = 0; i < COUNT; i++) {
        means[0][i / PLANE % 2] += (target[i] = random_float(&random, 0, 1)) / CHANNEL;
        means[1][i / PLANE % 2] += (output[i] = random_float(&random, 0.5f, 1)) / CHANNEL;
    }
    tsr_device *device = cpu();
    tsr_trainer *trainer =
        make_trainer(device, model, &(tsr_trainer_desc){.discriminator = discriminator});
    EXPECT_OK(step_trainer(trainer, output, target, NULL));
    EXPECT_OK(tsr_trainer_discriminator(trainer, &trained));
    const float *found = model_weights(trained, "batch_norm1.mean", NULL);
    for (int c = 0; c < 2; c++)
        assert_true(fabs(found[c] - (0.09 * means[0][c] + 0.1 * means[1][c])) < 1e-6);
    tsr_model_free(trained);
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(discriminator);
    tsr_model_free(model);
}

typedef struct unet_sample {
    float image[UNET_IMAGE], target[UNET_IMAGE];
} unet_sample;

static unet_sample make_unet_sample(void) {
    unet_sample s;
    random_source random = random_from(2);
    for (int i = 0; i < UNET_IMAGE; i++)
        s.image[i] = s.target[UNET_IMAGE - 1 - i] = random_float(&random, 0, 0.9f);
    return s;
}

/* Of weights and statistics, the decay rising from 2 / 11 to 1 / 2. */
static void test_average(void **state) {
    (void)state;
    enum { STEPS = 10 };
    static const char *const names[] = {"conv1.weight", "batch_norm1.mean", "batch_norm1.scale"};
    const unet_sample s = make_unet_sample();
    double averages[3] = {0};
    tsr_device *device = cpu();
    tsr_model *model = make_small_unet(1, 0.1f), *trained;
    tsr_trainer *plain = make_trainer(device, model, NULL),
                *averaging =
                    make_trainer(device, model, &(tsr_trainer_desc){.average_decay = 0.5f});
    for (int i = 0; i < 3; i++)
        averages[i] = model_weights(model, names[i], NULL)[0];
    for (int t = 1; t <= STEPS; t++) {
        double decay = fmin(0.5, (1.0 + t) / (10.0 + t));
        float losses[2];
        EXPECT_OK(step_trainer(plain, s.image, s.target, &losses[0]));
        EXPECT_OK(step_trainer(averaging, s.image, s.target, &losses[1]));
        assert_true(losses[0] == losses[1]);
        EXPECT_OK(tsr_trainer_model(plain, &trained));
        for (int i = 0; i < 3; i++)
            averages[i] += (1 - decay) * (model_weights(trained, names[i], NULL)[0] - averages[i]);
        tsr_model_free(trained);
    }
    EXPECT_OK(tsr_trainer_model(averaging, &trained));
    for (int i = 0; i < 3; i++)
        assert_true(fabs(model_weights(trained, names[i], NULL)[0] - averages[i]) < 1e-5);
    tsr_model_free(trained);
    tsr_trainer_destroy(plain);
    tsr_trainer_destroy(averaging);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

/* A trainer goes on from another's state, to the last bit. */
static void test_resumed(void **state) {
    (void)state;
    static written saved;
    const unet_sample s = make_unet_sample();
    float losses[2][3], total;
    tsr_device *device = cpu();
    tsr_model *model = make_small_unet(1, 0.2f), *discriminator = make_patch_discriminator(2, true);
    tsr_trainer *trainers[2];
    for (int i = 0; i < 2; i++)
        trainers[i] = make_trainer(device, model,
                                   &(tsr_trainer_desc){.loss = TSR_LOSS_L1,
                                                       .discriminator = discriminator,
                                                       .spectral_norm = true,
                                                       .average_decay = 0.9f});
    for (int i = 0; i < 3; i++)
        EXPECT_OK(step_trainer(trainers[0], s.image, s.target, NULL));
    EXPECT_OK(tsr_trainer_save(trainers[0], append_written, &saved));
    EXPECT_OK(tsr_trainer_load(trainers[1], saved.bytes, saved.size));
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 2; i++) {
            EXPECT_OK(step_trainer(trainers[i], s.image, s.target, &total));
            EXPECT_OK(tsr_trainer_losses(trainers[i], losses[i], 3));
        }
        assert_memory_equal(losses[0], losses[1], sizeof losses[0]);
    }
    for (int i = 0; i < 2; i++)
        tsr_trainer_destroy(trainers[i]);
    tsr_model_free(discriminator);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void expect_refused(const char *discriminator, tsr_trainer_desc desc, tsr_status status,
                           const char *words) {
    tsr_model *model = make_model("Conv x[2,1,5,4] w{2,1,3,3} -> y"),
              *other = discriminator ? make_model(discriminator) : NULL;
    tsr_device *device = cpu();
    tsr_trainer *trainer;
    desc.discriminator = other;
    expect_failure(tsr_trainer_create(device, model, &desc, &trainer), status, words);
    assert_null(trainer);
    tsr_device_destroy(device);
    tsr_model_free(other);
    tsr_model_free(model);
}

static void test_refused(void **state) {
    (void)state;
    static const char *const good = "Conv p[2,2,3,2] v{1,2,2,2} -> y";
    const tsr_trainer_desc plain = {.loss_count = 0};
    const tsr_status bad = TSR_ERROR_INVALID_ARGUMENT;
    expect_refused(
        "Conv p[2,2,3,3] v{1,2,2,2} -> y", plain, TSR_ERROR_SHAPE,
        "the discriminator: net.onnx: input 'p' has the shape [2, 2, 3, 3] in the model, which "
        "[2, 2, 3, 2] does not fit");
    expect_refused("Flatten p[2,2,3,2] -> f; Concat f x[2,20] -> c axis=1; Gemm c v{32,1} -> y",
                   plain, TSR_ERROR_SHAPE, "input 'p' has the shape [2, 2, 3, 2] in the model");
    expect_refused("Concat p[2,2,3,2] q[2,2,3,2] r[2,2,3,2] -> c axis=1; Conv c v{1,6,2,2} -> y",
                   plain, bad,
                   "a discriminator has 2 inputs, those of the model and a picture, or "
                   "1, the picture; not 3");
    expect_refused("Cast p:int32[2,2,3,2] -> f to=1; Conv f v{1,2,2,2} -> y", plain,
                   TSR_ERROR_UNSUPPORTED, "the discriminator: net.onnx: input 'p' is int32");
    expect_refused("Conv p[2,2,3,2] v{1,2,2,2} -> c; Cast c -> y to=7", plain,
                   TSR_ERROR_UNSUPPORTED, "output 'y' of shape [2, 1, 2, 1] and type int64");
    expect_refused("Relu p[2,2,3,2] -> y", plain, bad, "there is no weight to be trained");
    expect_refused("Conv p[2,2,3,2] v{1,2,2,2} -> c; Floor c -> y", plain, bad,
                   "no differentiable path leads from 'v.discriminator'");
    expect_refused("PRelu p[2,2,3,2] v<1> -> y", (tsr_trainer_desc){.spectral_norm = true}, bad,
                   "Conv, Gemm and MatMul read no weights");
    expect_refused(good, (tsr_trainer_desc){.adversarial = 3}, bad, "no adversarial loss 3");
    expect_refused(good, (tsr_trainer_desc){.adversarial_weight = -1}, bad, "adversarial_weight");
    expect_refused(good, (tsr_trainer_desc){.average_decay = 1}, bad, "average_decay");
    expect_refused(NULL, (tsr_trainer_desc){.spectral_norm = true}, bad,
                   "spectral_norm are for a discriminator");
    expect_refused(NULL, (tsr_trainer_desc){.hold_steps = 1}, bad, "hold_steps is for a schedule");
    expect_refused(
        NULL,
        (tsr_trainer_desc){
            .schedule = TSR_SCHEDULE_LINEAR, .steps = 5, .warmup_steps = 3, .hold_steps = 2},
        bad, "a schedule needs more of them");
}

/* A picture that is NaN changes nothing, and is told where losses are read. */
static void test_not_finite(void **state) {
    (void)state;
    unet_sample s = make_unet_sample();
    float before[3], after[3], total;
    tsr_model *model = make_small_unet(1, 0), *discriminator = make_patch_discriminator(2, false),
              *none;
    tsr_device *device = cpu();
    tsr_trainer *trainer = make_trainer(device, model,
                                        &(tsr_trainer_desc){.loss = TSR_LOSS_L1,
                                                            .adversarial = TSR_ADVERSARIAL_HINGE,
                                                            .discriminator = discriminator,
                                                            .spectral_norm = true,
                                                            .learning_rate = 1e-9f});
    expect_failure(tsr_trainer_losses(trainer, before, 3), TSR_ERROR_INVALID_ARGUMENT,
                   "no step has been made");
    EXPECT_OK(step_trainer(trainer, s.image, s.target, NULL));
    EXPECT_OK(tsr_trainer_losses(trainer, before, 3));
    float kept = s.target[3];
    s.target[3] = NAN;
    EXPECT_OK(step_trainer(trainer, s.image, s.target, NULL));
    expect_failure(step_trainer(trainer, s.image, s.target, &total), TSR_ERROR_INVALID_ARGUMENT,
                   "step 3: the loss is NaN");
    s.target[3] = kept;
    EXPECT_OK(step_trainer(trainer, s.image, s.target, &total));
    EXPECT_OK(tsr_trainer_losses(trainer, after, 3));
    for (int i = 0; i < 3; i++)
        assert_true(fabsf(after[i] - before[i]) < 1e-5f);
    expect_failure(tsr_trainer_losses(trainer, after, 2), TSR_ERROR_INVALID_ARGUMENT,
                   "room for 2 of 3 losses");
    tsr_trainer_destroy(trainer);
    trainer = make_trainer(device, model, NULL);
    expect_failure(tsr_trainer_discriminator(trainer, &none), TSR_ERROR_INVALID_ARGUMENT,
                   "the trainer has no discriminator");
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(discriminator);
    tsr_model_free(model);
}

/* Whichever allocation fails, the trainer is not made. */
static void test_out_of_memory(void **state) {
    (void)state;
    tsr_model *model = make_small_unet(1, 0.2f), *discriminator = make_patch_discriminator(2, true);
    tsr_device *device = cpu();
    const tsr_trainer_desc desc = {
        .discriminator = discriminator, .spectral_norm = true, .average_decay = 0.9f};
    long after = 0;
    for (bool failed = true; failed; after++) {
        tsr_trainer *trainer;
        fail_allocation(after);
        tsr_status status = tsr_trainer_create(device, model, &desc, &trainer);
        failed = has_allocation_failed();
        fail_allocation(-1);
        assert_int_equal(status, failed ? TSR_ERROR_OUT_OF_MEMORY : TSR_OK);
        tsr_trainer_destroy(trainer);
    }
    assert_true(after > 50);
    tsr_device_destroy(device);
    tsr_model_free(discriminator);
    tsr_model_free(model);
}

int run_program(void) {
    count_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statistics), cmocka_unit_test(test_average),
        cmocka_unit_test(test_resumed),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_not_finite), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("states of a discriminator", tests, NULL, NULL);
}
