/* Training with a discriminator, on the cpu backend: its updates and the model's are those of plain
 * trainers. */
#include "support/gan.h"
#include "support/main.h"

#include <math.h>
#include <string.h>

static tsr_device *cpu(void) {
    return make_device(&(tsr_device_desc){.backend = "cpu"});
}

static void expect_weights(const tsr_model *model, const tsr_model *expected, const char *name,
                           double tolerance) {
    tsr_shape shape, expected_shape;
    const float *a = model_weights(model, name, &shape),
                *b = model_weights(expected, name, &expected_shape);
    assert_int_equal(tsr_shape_count(&shape), tsr_shape_count(&expected_shape));
    for (int64_t i = 0; i < tsr_shape_count(&shape); i++)
        if (!(fabs((double)a[i] - b[i]) <= tolerance * (1 + fabs((double)b[i]))))
            fail_msg("%s[%d] is %.9g instead of %.9g", name, (int)i, a[i], b[i]);
}

static const tsr_dim_binding one_batch = {"batch", GAN_BATCH},
                             two_batches = {"batch", 2 * GAN_BATCH};

/* As the plain trainers below. */
static const tsr_loss_term l1 = {.loss = TSR_LOSS_L1, .weight = 10};
static const tsr_trainer_desc cross_entropy = {
    .losses = &l1, .loss_count = 1, .learning_rate = 0.01f, .adversarial_weight = 0.5f};

/* The discriminator alone, with targets and outputs as a batch of labels 1 and 0. */
static tsr_model *train_discriminator(const tsr_model *discriminator, const gan_sample *s,
                                      const float *fake) {
    float both[2 * GAN_PICTURES], labels[2 * GAN_LOGITS] = {0};
    tsr_model *trained;
    tsr_device *device = cpu();
    tsr_trainer *trainer =
        make_trainer(device, discriminator,
                     &(tsr_trainer_desc){.loss = TSR_LOSS_BINARY_CROSS_ENTROPY,
                                         .learning_rate = cross_entropy.learning_rate,
                                         .dims = &two_batches,
                                         .dim_count = 1});
    memcpy(both, s->pictures, sizeof s->pictures);
    memcpy(both + GAN_PICTURES, fake, sizeof s->pictures);
    for (int i = 0; i < GAN_LOGITS; i++)
        labels[i] = 1;
    const tsr_array inputs[] = {{.data = (void *)s->images, .count = 2 * GAN_IMAGES},
                                {.data = both, .count = 2 * GAN_PICTURES}},
                    target = {.data = labels, .count = 2 * GAN_LOGITS};
    EXPECT_OK(tsr_trainer_step(trainer, inputs, 2, &target, 1, NULL));
    EXPECT_OK(tsr_trainer_model(trainer, &trained));
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    return trained;
}

static void test_discriminator_step(void **state) {
    (void)state;
    const gan_sample s = make_gan_sample(5);
    float fake[GAN_PICTURES];
    tsr_model *model = make_gan_generator(),
              *discriminator = finish_gan_net(make_gan_discriminator_net());
    run_gan_model(model, &s, NULL, fake);
    tsr_model *expected = train_discriminator(discriminator, &s, fake);
    gan_outcome o = run_gan_step(discriminator, &s, cross_entropy);
    for (int i = 0; i < 4; i++)
        expect_weights(o.discriminator, expected, gan_discriminator_weights[i], 1e-5);
    free_gan_outcome(&o);
    tsr_model_free(expected);
    tsr_model_free(model);
    tsr_model_free(discriminator);
}

/* The model, and after it a discriminator that stays, as one network. */
static tsr_model *train_generator(const tsr_model *discriminator, const gan_sample *s) {
    static const char *const names[] = {"look*", "dense*"};
    const tsr_loss_term terms[] = {
        l1,
        {.output = "logits", .loss = TSR_LOSS_BINARY_CROSS_ENTROPY, .weight = 0.5f},
    };
    float labels[GAN_LOGITS];
    tsr_net *net = make_gan_net(1);
    int image = tsr_net_input(net, "image", &gan_image_shape),
        picture = add_gan_generator(net, image);
    tsr_net_output(net, "picture", picture);
    tsr_net_output(net, "logits", add_gan_discriminator(net, image, picture));
    for (int i = 0; i < 4; i++) {
        tsr_shape shape;
        const float *weights = model_weights(discriminator, gan_discriminator_weights[i], &shape);
        memcpy(tsr_net_parameter_data(net, 2 + i), weights,
               (size_t)tsr_shape_count(&shape) * sizeof *weights);
    }
    tsr_model *model = finish_gan_net(net), *trained;
    tsr_device *device = cpu();
    tsr_trainer *trainer =
        make_trainer(device, model,
                     &(tsr_trainer_desc){.losses = terms,
                                         .loss_count = 2,
                                         .learning_rate = cross_entropy.learning_rate,
                                         .freeze = names,
                                         .freeze_count = 2,
                                         .dims = &one_batch,
                                         .dim_count = 1});
    for (int i = 0; i < GAN_LOGITS; i++)
        labels[i] = 1;
    const tsr_array input = {.data = (void *)s->images, .count = GAN_IMAGES},
                    targets[] = {{.data = (void *)s->pictures, .count = GAN_PICTURES},
                                 {.data = labels, .count = GAN_LOGITS}};
    EXPECT_OK(tsr_trainer_step(trainer, &input, 1, targets, 2, NULL));
    EXPECT_OK(tsr_trainer_model(trainer, &trained));
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
    return trained;
}

static void test_generator_step(void **state) {
    (void)state;
    const gan_sample s = make_gan_sample(6);
    tsr_model *discriminator = finish_gan_net(make_gan_discriminator_net());
    gan_outcome o = run_gan_step(discriminator, &s, cross_entropy);
    tsr_model *expected = train_generator(o.discriminator, &s);
    expect_weights(o.model, expected, "paint.weight", 1e-5);
    expect_weights(o.model, expected, "paint.bias", 1e-5);
    free_gan_outcome(&o);
    tsr_model_free(expected);
    tsr_model_free(discriminator);
}

/* The root of the sum of squares of what weights have changed by. */
static double distance(const tsr_model *a, const tsr_model *b, int count,
                       const char *const names[]) {
    double squares = 0;
    for (int i = 0; i < count; i++) {
        tsr_shape shape;
        const float *of_a = model_weights(a, names[i], &shape),
                    *of_b = model_weights(b, names[i], NULL);
        for (int64_t w = 0; w < tsr_shape_count(&shape); w++)
            squares += ((double)of_a[w] - of_b[w]) * ((double)of_a[w] - of_b[w]);
    }
    return sqrt(squares);
}

/* Gradients of the model and those of the discriminator are clipped each for themselves. */
static void test_clipped(void **state) {
    (void)state;
    static const char *const names[] = {"paint.weight", "paint.bias"};
    const gan_sample s = make_gan_sample(6);
    const tsr_trainer_desc desc = {
        .loss = TSR_LOSS_L1, .update = TSR_UPDATE_SGD, .learning_rate = 0.5f, .clip_norm = 0.01f};
    tsr_model *model = make_gan_generator(),
              *discriminator = finish_gan_net(make_gan_discriminator_net());
    gan_outcome o = run_gan_step(discriminator, &s, desc);
    assert_true(fabs(distance(o.model, model, 2, names) - 0.005) < 1e-5);
    assert_true(
        fabs(distance(o.discriminator, discriminator, GAN_PARAMETERS, gan_discriminator_weights) -
             0.005) < 1e-5);
    free_gan_outcome(&o);
    tsr_model_free(discriminator);
    tsr_model_free(model);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_discriminator_step),
        cmocka_unit_test(test_generator_step),
        cmocka_unit_test(test_clipped),
    };
    return cmocka_run_group_tests_name("training with a discriminator", tests, NULL, NULL);
}
