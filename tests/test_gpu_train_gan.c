/* Training with a discriminator on a GPU backend beside the cpu backend: all losses of the first
 * steps. */
#include "support/backends.h"
#include "support/main.h"
#include "support/training.h"

#include <math.h>

enum { MOST = 8, LOSSES = 3 };

static void run_steps(const char *backend, const tsr_trainer_desc *desc, int steps,
                      float losses[MOST][LOSSES]) {
    static float image[UNET_IMAGE], target[UNET_IMAGE];
    random_source random = random_from(11);
    tsr_device *device = make_device(&(tsr_device_desc){.backend = backend});
    tsr_model *model = make_small_unet(3, 0.1f);
    tsr_trainer *trainer = make_trainer(device, model, desc);
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < UNET_IMAGE; i++) {
            image[i] = random_float(&random, 0, 1);
            target[i] = random_float(&random, 0, 0.8f);
        }
        EXPECT_OK(step_trainer(trainer, image, target, NULL));
        EXPECT_OK(tsr_trainer_losses(trainer, losses[step], LOSSES));
    }
    tsr_trainer_destroy(trainer);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

static void check_steps(tsr_trainer_desc desc, bool norm) {
    float expected[MOST][LOSSES], losses[MOST][LOSSES];
    int steps = few_cases() ? 2 : MOST;
    tsr_model *discriminator = make_patch_discriminator(4, norm);
    desc.discriminator = discriminator;
    run_steps("cpu", &desc, steps, expected);
    run_steps(gpu_backend(), &desc, steps, losses);
    for (int i = 0; i < steps * LOSSES; i++) {
        float is = losses[i / LOSSES][i % LOSSES], should_be = expected[i / LOSSES][i % LOSSES];
        float room = 1e-3f * (float)(1 + i / LOSSES); /* Adam enlarges rounding from step to step */
        if (!(fabsf(is - should_be) <= room))
            fail_msg("step %d: loss %d is %.9g instead of %.9g", i / LOSSES, i % LOSSES, is,
                     should_be);
    }
    tsr_model_free(discriminator);
}

static void test_hinge(void **state) {
    (void)state;
    const tsr_loss_term term = {.loss = TSR_LOSS_L1, .weight = 100};
    need_gpu();
    check_steps((tsr_trainer_desc){.losses = &term,
                                   .loss_count = 1,
                                   .learning_rate = 2e-4f,
                                   .beta1 = 0.5f,
                                   .average_decay = 0.99f,
                                   .adversarial = TSR_ADVERSARIAL_HINGE,
                                   .spectral_norm = true},
                false);
}

static void test_batch_norm(void **state) {
    (void)state;
    need_gpu();
    check_steps((tsr_trainer_desc){.loss = TSR_LOSS_MSE, .clip_norm = 0.5f}, true);
    check_steps((tsr_trainer_desc){.loss = TSR_LOSS_L1,
                                   .update = TSR_UPDATE_SGD,
                                   .momentum = 0.5f,
                                   .learning_rate = 0.01f,
                                   .adversarial = TSR_ADVERSARIAL_LEAST_SQUARES,
                                   .adversarial_weight = 0.5f},
                true);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hinge),
        cmocka_unit_test(test_batch_norm),
    };
    return cmocka_run_group_tests_name("training with a discriminator", tests, NULL, close_backends);
}
