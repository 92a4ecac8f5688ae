/* Adversarial losses and spectral norms, on the cpu backend, held against formulas in double. */
#include "support/gan.h"
#include "support/main.h"

#include "api/trainer.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
                                 const gan_sample *s, const float *fake) {
    float of_real[GAN_LOGITS], of_fake[GAN_LOGITS];
    double sum = 0;
    run_gan_model(discriminator, s, s->pictures, of_real);
    run_gan_model(discriminator, s, fake, of_fake);
    for (int i = 0; i < GAN_LOGITS; i++)
        sum += judge(kind, of_real[i], true) + judge(kind, of_fake[i], false);
    return sum / GAN_LOGITS;
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

/* What weights are divided by: nothing, their largest singular value, or, where few iterations do
 * not find that, the length of weights times the vector that those of a step end with. */
typedef enum norms { NONE, LARGEST, OF_VECTORS } norms;
static double vectors[4][MOST];

/* Iterations of a trainer of seed 0: 15 at first, and one of the step. */
enum { ITERATIONS = 16 };

static void draw_left(double *left, int64_t rows) {
    tsr_random random;
    tsr_random_seed(&random, 0);
    for (int64_t r = 0; r < rows; r++)
        left[r] = tsr_random_normal(&random);
}

/* Orthogonal rows: their lengths are the singular values, and such that of each as much is left in
 * the vector, however far it is from that of the largest one. */
static void mix_rows(float *weights, int64_t rows, int64_t columns) {
    double left[64], lengths[64];
    draw_left(left, rows);
    for (int64_t r = 0; r < rows; r++) {
        float *row = weights + r * columns;
        double squares = 0;
        lengths[r] = pow(fabs(left[r]), -1.0 / (2 * ITERATIONS));
        for (int64_t other = 0; other < r; other++) {
            double product = 0;
            for (int64_t c = 0; c < columns; c++)
                product += (double)row[c] * weights[other * columns + c];
            for (int64_t c = 0; c < columns; c++)
                row[c] -= (float)(product / (lengths[other] * lengths[other])) *
                          weights[other * columns + c];
        }
        for (int64_t c = 0; c < columns; c++)
            squares += (double)row[c] * row[c];
        for (int64_t c = 0; c < columns; c++)
            row[c] *= (float)(lengths[r] / sqrt(squares));
    }
}

static void find_vector(const float *weights, int64_t rows, int64_t columns, double *right) {
    double left[64];
    draw_left(left, rows);
    for (int i = 0; i < ITERATIONS; i++)
        tsr_spectral_iterate(weights, rows, columns, left, right);
}

static tsr_net *make_net(norms kind) {
    tsr_net *net = make_gan_discriminator_net();
    for (int i = 0; i < 4 && kind == OF_VECTORS; i += 2) { /* a weight and its bias */
        tsr_tensor_info info;
        EXPECT_OK(tsr_net_parameter(net, i, &info));
        int64_t rows = info.shape.dim[0], columns = tsr_shape_count(&info.shape) / rows;
        mix_rows(tsr_net_parameter_data(net, i), rows, columns);
        find_vector(tsr_net_parameter_data(net, i), rows, columns, vectors[i]);
    }
    return net;
}

static double length_of_product(const float *weights, int64_t rows, int64_t columns,
                                const double *right) {
    double squares = 0;
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        for (int64_t c = 0; c < columns; c++)
            sum += weights[r * columns + c] * right[c];
        squares += sum * sum;
    }
    return sqrt(squares);
}

/* As the trainer reads the discriminator: weights normalized or not. */
static tsr_model *finish_normalized(tsr_net *net, norms kind) {
    for (int i = 0; i < 4 && kind != NONE; i += 2) {
        tsr_tensor_info info;
        EXPECT_OK(tsr_net_parameter(net, i, &info));
        float *weights = tsr_net_parameter_data(net, i);
        int64_t count = tsr_shape_count(&info.shape), rows = info.shape.dim[0];
        double norm = kind == LARGEST ? largest_value(weights, rows, count / rows)
                                      : length_of_product(weights, rows, count / rows, vectors[i]);
        for (int64_t w = 0; w < count; w++)
            weights[w] = (float)(weights[w] / norm);
    }
    return finish_gan_net(net);
}

/* The discriminator, weights moved by times the directions. */
static tsr_model *move_discriminator(float directions[4][MOST], double times, norms kind) {
    tsr_net *net = make_net(kind);
    for (int i = 0; i < 4; i++) {
        tsr_tensor_info info;
        EXPECT_OK(tsr_net_parameter(net, i, &info));
        for (int64_t w = 0; w < tsr_shape_count(&info.shape); w++)
            tsr_net_parameter_data(net, i)[w] += (float)(times * directions[i][w]);
    }
    return finish_normalized(net, kind);
}

/* What a step of SGD took from the discriminator's weights, for a rate of 1. */
static void read_gradients(const gan_outcome *o, float rate, norms kind, float gradients[4][MOST]) {
    tsr_net *net = make_net(kind);
    for (int i = 0; i < 4; i++) {
        char name[64];
        tsr_shape shape;
        snprintf(name, sizeof name, "%s.discriminator", gan_discriminator_weights[i]);
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
static void check_slopes(const tsr_trainer_desc *desc, const gan_sample *s, const float *fake,
                         norms kind, const gan_outcome *o) {
    /* a vector that is not held adds a part of 1e-4 */
    const double width = 1e-3, tolerance = kind == OF_VECTORS ? 3e-5 : 2e-3;
    random_source random = random_from(9);
    static float gradients[4][MOST], along[4][MOST];
    read_gradients(o, desc->learning_rate, kind, gradients);
    for (int k = 0; k < 5; k++) {
        double expected = choose_direction(&random, k, gradients, along), sides[2];
        for (int side = 0; side < 2; side++) {
            tsr_model *moved = move_discriminator(along, side ? width : -width, kind);
            sides[side] = discriminator_loss(desc->adversarial, moved, s, fake);
            tsr_model_free(moved);
        }
        double slope = (sides[1] - sides[0]) / (2 * width);
        if (!(fabs(slope - expected) <= tolerance * (1 + fabs(expected))))
            fail_msg("loss %d, direction %d: slope %g instead of %g", (int)desc->adversarial, k,
                     slope, expected);
    }
}

static void check_formulas(tsr_adversarial kind, norms divided) {
    const gan_sample s = make_gan_sample(7);
    const tsr_trainer_desc desc = {.loss = TSR_LOSS_L1,
                                   .update = TSR_UPDATE_SGD,
                                   .learning_rate = 0.01f,
                                   .adversarial = kind,
                                   .spectral_norm = divided != NONE};
    float fake[GAN_PICTURES], logits[GAN_LOGITS];
    double difference = 0, deceived = 0;
    tsr_model *model = make_gan_generator(), *discriminator = finish_gan_net(make_net(divided)),
              *normalized = finish_normalized(make_net(divided), divided);
    run_gan_model(model, &s, NULL, fake);
    gan_outcome o = run_gan_step(discriminator, &s, desc);
    run_gan_model(o.discriminator, &s, fake, logits);
    for (int i = 0; i < GAN_PICTURES; i++)
        difference += fabs((double)fake[i] - s.pictures[i]) / GAN_PICTURES;
    for (int i = 0; i < GAN_LOGITS; i++)
        deceived += adversarial_loss(kind, logits[i]) / GAN_LOGITS;
    double judged = discriminator_loss(kind, normalized, &s, fake);
    assert_true(fabs(o.losses[0] - difference) < 1e-5);
    /* what is given out is divided after more iterations */
    assert_true(divided == OF_VECTORS ||
                fabs(o.losses[1] - deceived) < 1e-4 * (1 + fabs(deceived)));
    assert_true(fabs(o.losses[2] - judged) < 1e-4 * (1 + judged));
    check_slopes(&desc, &s, fake, divided, &o);
    free_gan_outcome(&o);
    tsr_model_free(normalized);
    tsr_model_free(discriminator);
    tsr_model_free(model);
}

static void test_losses(void **state) {
    (void)state;
    for (int kind = 0; kind <= TSR_ADVERSARIAL_LEAST_SQUARES; kind++)
        check_formulas((tsr_adversarial)kind, NONE);
}

static void test_spectral_norm(void **state) {
    (void)state;
    const gan_sample s = make_gan_sample(8);
    check_formulas(TSR_ADVERSARIAL_HINGE, LARGEST);
    check_formulas(TSR_ADVERSARIAL_CROSS_ENTROPY, LARGEST);
    check_formulas(TSR_ADVERSARIAL_CROSS_ENTROPY, OF_VECTORS); /* which are held */
    tsr_model *discriminator = finish_gan_net(make_gan_discriminator_net());
    gan_outcome o = run_gan_step(discriminator, &s, (tsr_trainer_desc){.spectral_norm = true});
    for (int i = 0; i < 4; i += 2) { /* what is given out is normalized */
        tsr_shape shape;
        const float *weights = model_weights(o.discriminator, gan_discriminator_weights[i], &shape);
        int64_t rows = shape.dim[0];
        assert_true(fabs(largest_value(weights, rows, tsr_shape_count(&shape) / rows) - 1) < 1e-4);
    }
    free_gan_outcome(&o);
    tsr_model_free(discriminator);
}

/* Weights may be the first factor. */
static void test_spectral_norm_of_first(void **state) {
    (void)state;
    const gan_sample s = make_gan_sample(8);
    tsr_shape shape;
    tsr_model *discriminator = make_model("Concat image[N,1,5,4] picture[N,2,5,4] -> c axis=1; "
                                          "Reshape c z(6,20) -> f; MatMul w{3,6} f -> y");
    gan_outcome o = run_gan_step(discriminator, &s, (tsr_trainer_desc){.spectral_norm = true});
    const float *weights = model_weights(o.discriminator, "w", &shape);
    assert_true(fabs(largest_value(weights, shape.dim[0], shape.dim[1]) - 1) < 1e-2);
    free_gan_outcome(&o);
    tsr_model_free(discriminator);
}

/* A Sigmoid at the end, or a view behind it, changes nothing of the cross entropy. */
static void test_sigmoid(void **state) {
    (void)state;
    static const char *const texts[] = {
        "Concat image[N,1,5,4] picture[N,2,5,4] -> c axis=1; Conv c w{2,3,4,3} -> y",
        "Concat image[N,1,5,4] picture[N,2,5,4] -> c axis=1; Conv c w{2,3,4,3} -> l; "
        "Sigmoid l -> y",
        "Concat image[N,1,5,4] picture[N,2,5,4] -> c axis=1; Conv c w{2,3,4,3} -> l; "
        "Sigmoid l -> s; Flatten s -> y",
    };
    const gan_sample s = make_gan_sample(8);
    float losses[3];
    for (int i = 0; i < 3; i++) {
        tsr_model *discriminator = make_model(texts[i]);
        gan_outcome o = run_gan_step(discriminator, &s, (tsr_trainer_desc){.loss = TSR_LOSS_L1});
        if (i == 0)
            memcpy(losses, o.losses, sizeof losses);
        assert_memory_equal(losses, o.losses, sizeof losses);
        free_gan_outcome(&o);
        tsr_model_free(discriminator);
    }
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_sigmoid),
        cmocka_unit_test(test_spectral_norm),
        cmocka_unit_test(test_spectral_norm_of_first),
    };
    return cmocka_run_group_tests_name("adversarial losses", tests, NULL, NULL);
}
