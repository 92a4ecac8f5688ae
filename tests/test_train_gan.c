/* Training with a discriminator, on the cpu backend: its updates and the model's are those of plain
 * trainers and of formulas. */
#include "support/main.h"
#include "support/training.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The model makes pictures of images, the discriminator 2 logits of both. */
enum { N = 2, HEIGHT = 5, WIDTH = 4, PLANE = HEIGHT * WIDTH };
enum { IMAGES = N * PLANE, PICTURES = 2 * N * PLANE, LOGITS = N * 2, PARAMETERS = 6 };

typedef struct sample {
    float images[2 * IMAGES], pictures[PICTURES];
} sample;

static tsr_device *cpu(void) {
    return make_device(&(tsr_device_desc){.backend = "cpu"});
}

static sample make_sample(uint32_t seed) {
    sample s;
    random_source random = random_from(seed);
    for (int i = 0; i < IMAGES; i++)
        s.images[i] = s.images[IMAGES + i] = random_float(&random, 0, 1);
    for (int i = 0; i < PICTURES; i++)
        s.pictures[i] = random_float(&random, 0, 0.9f);
    return s;
}

/* ---- networks -------------------------------------------------------------------------------- */

static int add_generator(tsr_net *net, int image) {
    static const tsr_window_desc same = {
        .kernel = {3, 3}, .pads_begin = {1, 1}, .pads_end = {1, 1}};
    int x =
        tsr_net_conv(net, image, &(tsr_layer_desc){.outputs = 2, .window = same, .name = "paint"});
    return tsr_net_activation(net, x, "Tanh", NAN, NAN);
}

static int add_discriminator(tsr_net *net, int image, int picture) {
    int x = tsr_net_concat(net, 1, 2, (int[]){image, picture});
    x = tsr_net_conv(net, x,
                     &(tsr_layer_desc){.outputs = 4, .window = {.kernel = {4, 4}}, .name = "look"});
    x = tsr_net_flatten(net, tsr_net_activation(net, x, "LeakyRelu", 0.2f, NAN));
    return tsr_net_dense(net, x, 2);
}

static tsr_net *make_net(uint32_t seed) {
    tsr_net *net;
    EXPECT_OK(tsr_net_create(&(tsr_net_desc){.seed = seed}, &net));
    return net;
}

static tsr_model *finish(tsr_net *net) {
    tsr_model *model;
    EXPECT_OK(tsr_net_finish(net, &model));
    tsr_net_destroy(net);
    return model;
}

static const tsr_shape image_shape = {4, {-1, 1, HEIGHT, WIDTH}},
                       picture_shape = {4, {-1, 2, HEIGHT, WIDTH}};

static tsr_model *make_generator(void) {
    tsr_net *net = make_net(1);
    tsr_net_output(net, "picture", add_generator(net, tsr_net_input(net, "image", &image_shape)));
    return finish(net);
}

/* Of each weight a singular value stands out, so that few iterations find it. */
static tsr_net *make_discriminator_net(void) {
    tsr_net *net = make_net(2);
    int image = tsr_net_input(net, "image", &image_shape),
        picture = tsr_net_input(net, "picture", &picture_shape);
    tsr_net_output(net, "logits", add_discriminator(net, image, picture));
    for (int i = 0; i < 4; i += 2) {
        tsr_tensor_info info;
        EXPECT_OK(tsr_net_parameter(net, i, &info));
        int64_t columns = tsr_shape_count(&info.shape) / info.shape.dim[0];
        for (int64_t c = 0; c < columns; c++)
            tsr_net_parameter_data(net, i)[c] *= 3;
    }
    return net;
}

static tsr_model *make_discriminator(void) {
    return finish(make_discriminator_net());
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

static const tsr_dim_binding batch = {"batch", N}, two_batches = {"batch", 2 * N};

static void run_model(const tsr_model *model, const sample *s, const float *picture, float *out) {
    tsr_device *device = cpu();
    tsr_session *session =
        make_session(device, model, &(tsr_session_desc){.dims = &batch, .dim_count = 1});
    EXPECT_OK(tsr_session_set_input(session, "image", s->images, IMAGES));
    if (picture)
        EXPECT_OK(tsr_session_set_input(session, "picture", picture, PICTURES));
    EXPECT_OK(tsr_session_run(session));
    EXPECT_OK(tsr_session_get_output(session, picture ? "logits" : "picture", out,
                                     picture ? LOGITS : PICTURES));
    tsr_session_destroy(session);
    tsr_device_destroy(device);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Models after a step of the sample, the trainer's state as one, and the step's losses. */
typedef struct outcome {
    tsr_model *model, *discriminator, *state;
    float losses[3]; /* L1, adversarial, the discriminator's */
} outcome;

static outcome run_step(const tsr_model *discriminator, const sample *s, tsr_trainer_desc desc) {
    static written state;
    outcome o;
    float total;
    tsr_model *model = make_generator();
    tsr_device *device = cpu();
    desc.discriminator = discriminator;
    desc.dims = &batch;
    desc.dim_count = 1;
    tsr_trainer *trainer = make_trainer(device, model, &desc);
    assert_int_equal(tsr_trainer_loss_count(trainer), 3);
    EXPECT_OK(step_trainer(trainer, s->images, s->pictures, &total));
    EXPECT_OK(tsr_trainer_losses(trainer, o.losses, 3));
    EXPECT_OK(tsr_trainer_model(trainer, &o.model));
    EXPECT_OK(tsr_trainer_discriminator(trainer, &o.discriminator));
    state.size = 0;
    EXPECT_OK(tsr_trainer_save(trainer, append_written, &state));
    EXPECT_OK(tsr_model_load_memory(state.bytes, state.size, NULL, &o.state));
    float term = desc.loss_count ? desc.losses[0].weight : 1,
          weight = desc.adversarial_weight != 0 ? desc.adversarial_weight : 1;
    assert_true(fabsf(total - term * o.losses[0] - weight * o.losses[1]) <
                1e-5f * (1 + fabsf(total)));
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
    return o;
}

static void free_outcome(const outcome *o) {
    tsr_model_free(o->model);
    tsr_model_free(o->discriminator);
    tsr_model_free(o->state);
}

/* As the plain trainers below. */
static const tsr_loss_term l1 = {.loss = TSR_LOSS_L1, .weight = 10};
static const tsr_trainer_desc cross_entropy = {
    .losses = &l1, .loss_count = 1, .learning_rate = 0.01f, .adversarial_weight = 0.5f};

static const char *const discriminator_weights[] = {"look.weight", "look.bias", "dense1.weight",
                                                    "dense1.bias"};

/* The discriminator alone, with targets and outputs as a batch of labels 1 and 0. */
static tsr_model *train_discriminator(const tsr_model *discriminator, const sample *s,
                                      const float *fake) {
    float both[2 * PICTURES], labels[2 * LOGITS] = {0};
    tsr_model *trained;
    tsr_device *device = cpu();
    tsr_trainer *trainer =
        make_trainer(device, discriminator,
                     &(tsr_trainer_desc){.loss = TSR_LOSS_BINARY_CROSS_ENTROPY,
                                         .learning_rate = cross_entropy.learning_rate,
                                         .dims = &two_batches,
                                         .dim_count = 1});
    memcpy(both, s->pictures, sizeof s->pictures);
    memcpy(both + PICTURES, fake, sizeof s->pictures);
    for (int i = 0; i < LOGITS; i++)
        labels[i] = 1;
    const tsr_array inputs[] = {{.data = (void *)s->images, .count = 2 * IMAGES},
                                {.data = both, .count = 2 * PICTURES}},
                    target = {.data = labels, .count = 2 * LOGITS};
    EXPECT_OK(tsr_trainer_step(trainer, inputs, 2, &target, 1, NULL));
    EXPECT_OK(tsr_trainer_model(trainer, &trained));
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    return trained;
}

static void test_discriminator_step(void **state) {
    (void)state;
    const sample s = make_sample(5);
    float fake[PICTURES];
    tsr_model *model = make_generator(), *discriminator = make_discriminator();
    run_model(model, &s, NULL, fake);
    tsr_model *expected = train_discriminator(discriminator, &s, fake);
    outcome o = run_step(discriminator, &s, cross_entropy);
    for (int i = 0; i < 4; i++)
        expect_weights(o.discriminator, expected, discriminator_weights[i], 1e-5);
    free_outcome(&o);
    tsr_model_free(expected);
    tsr_model_free(model);
    tsr_model_free(discriminator);
}

/* The model, and after it a discriminator that stays, as one network. */
static tsr_model *train_generator(const tsr_model *discriminator, const sample *s) {
    static const char *const names[] = {"look*", "dense*"};
    const tsr_loss_term terms[] = {
        l1,
        {.output = "logits", .loss = TSR_LOSS_BINARY_CROSS_ENTROPY, .weight = 0.5f},
    };
    float labels[LOGITS];
    tsr_net *net = make_net(1);
    int image = tsr_net_input(net, "image", &image_shape), picture = add_generator(net, image);
    tsr_net_output(net, "picture", picture);
    tsr_net_output(net, "logits", add_discriminator(net, image, picture));
    for (int i = 0; i < 4; i++) {
        tsr_shape shape;
        const float *weights = model_weights(discriminator, discriminator_weights[i], &shape);
        memcpy(tsr_net_parameter_data(net, 2 + i), weights,
               (size_t)tsr_shape_count(&shape) * sizeof *weights);
    }
    tsr_model *model = finish(net), *trained;
    tsr_device *device = cpu();
    tsr_trainer *trainer =
        make_trainer(device, model,
                     &(tsr_trainer_desc){.losses = terms,
                                         .loss_count = 2,
                                         .learning_rate = cross_entropy.learning_rate,
                                         .freeze = names,
                                         .freeze_count = 2,
                                         .dims = &batch,
                                         .dim_count = 1});
    for (int i = 0; i < LOGITS; i++)
        labels[i] = 1;
    const tsr_array input = {.data = (void *)s->images, .count = IMAGES},
                    targets[] = {{.data = (void *)s->pictures, .count = PICTURES},
                                 {.data = labels, .count = LOGITS}};
    EXPECT_OK(tsr_trainer_step(trainer, &input, 1, targets, 2, NULL));
    EXPECT_OK(tsr_trainer_model(trainer, &trained));
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
    return trained;
}

static void test_generator_step(void **state) {
    (void)state;
    const sample s = make_sample(6);
    tsr_model *discriminator = make_discriminator();
    outcome o = run_step(discriminator, &s, cross_entropy);
    tsr_model *expected = train_generator(o.discriminator, &s);
    expect_weights(o.model, expected, "paint.weight", 1e-5);
    expect_weights(o.model, expected, "paint.bias", 1e-5);
    free_outcome(&o);
    tsr_model_free(expected);
    tsr_model_free(discriminator);
}

/* ---- formulas -------------------------------------------------------------------------------- */

static double judge(tsr_adversarial kind, double y, bool real) {
    switch (kind) {
    case TSR_ADVERSARIAL_CROSS_ENTROPY:
        return log(1 + exp(real ? -y : y)) / 2;
    case TSR_ADVERSARIAL_HINGE:
        return fmax(0, real ? 1 - y : 1 + y);
    default:
        return (real ? (y - 1) * (y - 1) : y * y) / 2;
    }
}

static double adversarial_loss(tsr_adversarial kind, double y) {
    return kind == TSR_ADVERSARIAL_HINGE           ? -y
           : kind == TSR_ADVERSARIAL_CROSS_ENTROPY ? 2 * judge(kind, y, true)
                                                   : judge(kind, y, true);
}

static double discriminator_loss(tsr_adversarial kind, const tsr_model *discriminator,
                                 const sample *s, const float *fake) {
    float of_real[LOGITS], of_fake[LOGITS];
    double sum = 0;
    run_model(discriminator, s, s->pictures, of_real);
    run_model(discriminator, s, fake, of_fake);
    for (int i = 0; i < LOGITS; i++)
        sum += judge(kind, of_real[i], true) + judge(kind, of_fake[i], false);
    return sum / LOGITS;
}

/* The largest singular value, by many iterations. */
static double largest_value(const float *matrix, int64_t rows, int64_t columns) {
    double left[64], right[64], norm = 0;
    assert_true(rows <= 64 && columns <= 64);
    for (int64_t r = 0; r < rows; r++)
        left[r] = 1 + 0.1 * (double)r;
    for (int i = 0; i < 1000; i++) {
        double length = 0;
        for (int64_t c = 0; c < columns; c++) {
            right[c] = 0;
            for (int64_t r = 0; r < rows; r++)
                right[c] += matrix[r * columns + c] * left[r];
            length += right[c] * right[c];
        }
        norm = 0;
        for (int64_t r = 0; r < rows; r++) {
            left[r] = 0;
            for (int64_t c = 0; c < columns; c++)
                left[r] += matrix[r * columns + c] * right[c] / sqrt(length);
            norm += left[r] * left[r];
        }
        norm = sqrt(norm);
    }
    return norm;
}

enum { MOST = 256 }; /* elements of a weight */

/* As the trainer reads the discriminator: weights normalized or not. */
static tsr_model *finish_normalized(tsr_net *net, bool spectral) {
    for (int i = 0; i < 4 && spectral; i += 2) { /* a weight and its bias */
        tsr_tensor_info info;
        EXPECT_OK(tsr_net_parameter(net, i, &info));
        float *weights = tsr_net_parameter_data(net, i);
        int64_t count = tsr_shape_count(&info.shape), rows = info.shape.dim[0];
        double norm = largest_value(weights, rows, count / rows);
        for (int64_t w = 0; w < count; w++)
            weights[w] = (float)(weights[w] / norm);
    }
    return finish(net);
}

/* The discriminator, weights moved by times the directions. */
static tsr_model *move_discriminator(float directions[4][MOST], double times, bool spectral) {
    tsr_net *net = make_discriminator_net();
    for (int i = 0; i < 4; i++) {
        tsr_tensor_info info;
        EXPECT_OK(tsr_net_parameter(net, i, &info));
        for (int64_t w = 0; w < tsr_shape_count(&info.shape); w++)
            tsr_net_parameter_data(net, i)[w] += (float)(times * directions[i][w]);
    }
    return finish_normalized(net, spectral);
}

/* What a step of SGD took from the discriminator's weights, for a rate of 1. */
static void read_gradients(const outcome *o, float rate, float gradients[4][MOST]) {
    tsr_net *net = make_discriminator_net();
    for (int i = 0; i < 4; i++) {
        char name[64];
        tsr_shape shape;
        snprintf(name, sizeof name, "%s.discriminator", discriminator_weights[i]);
        const float *after = model_weights(o->state, name, &shape);
        for (int64_t w = 0; w < tsr_shape_count(&shape); w++)
            gradients[i][w] = (tsr_net_parameter_data(net, i)[w] - after[w]) / rate;
    }
    tsr_net_destroy(net);
}

/* The first direction is the gradient itself; all have the length 1. */
static double choose_direction(random_source *random, int k, float gradients[4][MOST],
                               float along[4][MOST]) {
    double slope = 0, squares = 0;
    for (int i = 0; i < 4 * MOST; i++) {
        float *to = &along[i / MOST][i % MOST], gradient = gradients[i / MOST][i % MOST];
        *to = k ? random_float(random, 0, 1) : gradient;
        squares += (double)*to * *to;
    }
    for (int i = 0; i < 4 * MOST; i++) {
        float *to = &along[i / MOST][i % MOST];
        *to = (float)(*to / sqrt(squares));
        slope += (double)*to * gradients[i / MOST][i % MOST];
    }
    return slope;
}

/* Along any direction the loss has the slope that the gradient says. */
static void check_slopes(const tsr_trainer_desc *desc, const sample *s, const float *fake,
                         const outcome *o) {
    const double width = 1e-3;
    random_source random = random_from(9);
    static float gradients[4][MOST], along[4][MOST];
    read_gradients(o, desc->learning_rate, gradients);
    for (int k = 0; k < 5; k++) {
        double expected = choose_direction(&random, k, gradients, along), sides[2];
        for (int side = 0; side < 2; side++) {
            tsr_model *moved =
                move_discriminator(along, side ? width : -width, desc->spectral_norm);
            sides[side] = discriminator_loss(desc->adversarial, moved, s, fake);
            tsr_model_free(moved);
        }
        double slope = (sides[1] - sides[0]) / (2 * width);
        if (fabs(slope - expected) > 2e-3 * (1 + fabs(expected)))
            fail_msg("loss %d, direction %d: slope %g instead of %g", (int)desc->adversarial, k,
                     slope, expected);
    }
}

static void check_formulas(tsr_adversarial kind, bool spectral) {
    const sample s = make_sample(7);
    const tsr_trainer_desc desc = {.loss = TSR_LOSS_L1,
                                   .update = TSR_UPDATE_SGD,
                                   .learning_rate = 0.01f,
                                   .adversarial = kind,
                                   .spectral_norm = spectral};
    float fake[PICTURES], logits[LOGITS];
    double difference = 0, deceived = 0;
    tsr_model *model = make_generator(), *discriminator = make_discriminator(),
              *normalized = finish_normalized(make_discriminator_net(), spectral);
    run_model(model, &s, NULL, fake);
    outcome o = run_step(discriminator, &s, desc);
    run_model(o.discriminator, &s, fake, logits);
    for (int i = 0; i < PICTURES; i++)
        difference += fabs((double)fake[i] - s.pictures[i]) / PICTURES;
    for (int i = 0; i < LOGITS; i++)
        deceived += adversarial_loss(kind, logits[i]) / LOGITS;
    double judged = discriminator_loss(kind, normalized, &s, fake);
    assert_true(fabs(o.losses[0] - difference) < 1e-5);
    assert_true(fabs(o.losses[1] - deceived) < 1e-4 * (1 + fabs(deceived)));
    assert_true(fabs(o.losses[2] - judged) < 1e-4 * (1 + judged));
    check_slopes(&desc, &s, fake, &o);
    free_outcome(&o);
    tsr_model_free(normalized);
    tsr_model_free(discriminator);
    tsr_model_free(model);
}

static void test_losses(void **state) {
    (void)state;
    for (int kind = 0; kind <= TSR_ADVERSARIAL_LEAST_SQUARES; kind++)
        check_formulas((tsr_adversarial)kind, false);
}

static void test_spectral_norm(void **state) {
    (void)state;
    const sample s = make_sample(8);
    check_formulas(TSR_ADVERSARIAL_HINGE, true);
    check_formulas(TSR_ADVERSARIAL_CROSS_ENTROPY, true);
    tsr_model *discriminator = make_discriminator();
    outcome o = run_step(discriminator, &s, (tsr_trainer_desc){.spectral_norm = true});
    for (int i = 0; i < 4; i += 2) { /* what is given out is normalized */
        tsr_shape shape;
        const float *weights = model_weights(o.discriminator, discriminator_weights[i], &shape);
        int64_t rows = shape.dim[0];
        assert_true(fabs(largest_value(weights, rows, tsr_shape_count(&shape) / rows) - 1) < 1e-4);
    }
    free_outcome(&o);
    tsr_model_free(discriminator);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_discriminator_step),
        cmocka_unit_test(test_generator_step),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_spectral_norm),
    };
    return cmocka_run_group_tests_name("training with a discriminator", tests, NULL, NULL);
}
