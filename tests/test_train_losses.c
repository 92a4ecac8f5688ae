/* Losses on the cpu backend, held against formulas in double: their values, their gradients, sums
 * of several, and what a step refuses. */
#include "support/main.h"
#include "support/training.h"

#include <math.h>
#include <stdio.h>

static tsr_device *cpu(void) {
    return make_device(&(tsr_device_desc){.backend = "cpu"});
}

/* ---- of all elements ------------------------------------------------------------------------- */

/* Of Identity of a PRelu, so that there is something to train. */
static char scored[8]; /* the tensor that the latest first_loss() was computed of */

static float first_loss(tsr_loss kind, const char *text, const float *x, const float *target) {
    tsr_model *model = make_model(text);
    tsr_device *device = cpu();
    tsr_trainer *trainer = make_trainer(device, model, &(tsr_trainer_desc){.loss = kind});
    float loss;
    EXPECT_OK(step_trainer(trainer, x, target, &loss));
    snprintf(scored, sizeof scored, "%s", tsr_trainer_scored(trainer, 0));
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
    return loss;
}

static void test_losses(void **state) {
    (void)state;
    static const char *const plain = "PRelu x[2,3] w<1> -> y",
                             *const softmax = "PRelu x[2,3] w<1> -> p; Softmax p -> y axis=1",
                             *const sigmoid = "PRelu x[2,3] w<1> -> p; Sigmoid p -> y",
                             *const viewed = "PRelu x[2,3] w<1> -> p; Sigmoid p -> s; "
                                             "Reshape s z(1,6) -> y";
    const float x[] = {0.5f, -1, 3, 2, 0, -0.25f}, t[] = {0, 1, 0, 0.25f, 0.5f, 0.25f};
    double mse = 0, l1 = 0, smooth = 0, entropy = 0, binary = 0;
    for (int i = 0; i < 6; i++) {
        double y = x[i], d = fabs(y - t[i]), sum = 0;
        for (int c = 0; c < 3; c++)
            sum += exp(x[i / 3 * 3 + c]);
        mse += d * d / 6;
        l1 += d / 6;
        smooth += (d < 1 ? d * d / 2 : d - 0.5) / 6;
        entropy -= t[i] * (y - log(sum)) / 2;
        binary -= (t[i] * log(1 / (1 + exp(-y))) + (1 - t[i]) * log(1 - 1 / (1 + exp(-y)))) / 6;
    }
    assert_true(fabs(first_loss(TSR_LOSS_MSE, plain, x, t) - mse) < 1e-6);
    assert_true(fabs(first_loss(TSR_LOSS_L1, plain, x, t) - l1) < 1e-6);
    assert_true(fabs(first_loss(TSR_LOSS_SMOOTH_L1, plain, x, t) - smooth) < 1e-6);
    assert_true(fabs(first_loss(TSR_LOSS_CROSS_ENTROPY, plain, x, t) - entropy) < 1e-6);
    assert_true(fabs(first_loss(TSR_LOSS_CROSS_ENTROPY, softmax, x, t) - entropy) < 1e-6);
    assert_true(fabs(first_loss(TSR_LOSS_BINARY_CROSS_ENTROPY, plain, x, t) - binary) < 1e-6);
    assert_true(fabs(first_loss(TSR_LOSS_BINARY_CROSS_ENTROPY, sigmoid, x, t) - binary) < 1e-6);
    assert_true(fabs(first_loss(TSR_LOSS_BINARY_CROSS_ENTROPY, viewed, x, t) - binary) < 1e-6);
    assert_string_equal(scored, "p");
    first_loss(TSR_LOSS_MSE, sigmoid, x, t);
    assert_string_equal(scored, "y");
}

/* ---- SSIM ------------------------------------------------------------------------------------ */

enum { WINDOW = 11, IMAGES = 2, CHANNELS = 3, HEIGHT = 13, WIDTH = 16 };
enum { PLANE = HEIGHT * WIDTH, PIXELS = IMAGES * CHANNELS * PLANE };

static double window_weights[WINDOW * WINDOW];

static void fill_window_weights(void) {
    double sum = 0;
    for (int i = 0; i < WINDOW * WINDOW; i++) {
        double y = i / WINDOW - WINDOW / 2, x = i % WINDOW - WINDOW / 2;
        sum += window_weights[i] = exp(-(y * y + x * x) / 4.5);
    }
    for (int i = 0; i < WINDOW * WINDOW; i++)
        window_weights[i] /= sum;
}

/* Of the window that begins at these pixels. */
static double window_ssim(const double *x, const double *y, double range) {
    double mx = 0, my = 0, vx = 0, vy = 0, covariance = 0;
    for (int i = 0; i < WINDOW * WINDOW; i++) {
        int at = i / WINDOW * WIDTH + i % WINDOW;
        mx += window_weights[i] * x[at];
        my += window_weights[i] * y[at];
    }
    for (int i = 0; i < WINDOW * WINDOW; i++) {
        int at = i / WINDOW * WIDTH + i % WINDOW;
        double weight = window_weights[i];
        vx += weight * (x[at] - mx) * (x[at] - mx);
        vy += weight * (y[at] - my) * (y[at] - my);
        covariance += weight * (x[at] - mx) * (y[at] - my);
    }
    double c1 = pow(0.01 * range, 2), c2 = pow(0.03 * range, 2);
    return (2 * mx * my + c1) * (2 * covariance + c2) / ((mx * mx + my * my + c1) * (vx + vy + c2));
}

static double ssim_loss(const double *x, const double *y, double range) {
    const int rows = HEIGHT - WINDOW + 1, columns = WIDTH - WINDOW + 1;
    double sum = 0;
    for (int p = 0; p < IMAGES * CHANNELS; p++)
        for (int i = 0; i < rows * columns; i++) {
            int at = p * PLANE + i / columns * WIDTH + i % columns;
            sum += window_ssim(x + at, y + at, range);
        }
    return 1 - sum / (IMAGES * CHANNELS * rows * columns);
}

/* The output is its weights, negated. */
static const char *const own_pixels = "PRelu x[2,3,13,16] w{2,3,13,16} -> y";

static void read_pixels(const tsr_model *model, float *pixels) {
    static float ones[PIXELS];
    tsr_device *device = cpu();
    tsr_session *session = make_session(device, model, NULL);
    for (int i = 0; i < PIXELS; i++)
        ones[i] = -1;
    EXPECT_OK(tsr_session_set_input(session, "x", ones, PIXELS));
    EXPECT_OK(tsr_session_run(session));
    EXPECT_OK(tsr_session_get_output(session, "y", pixels, PIXELS));
    tsr_session_destroy(session);
    tsr_device_destroy(device);
}

/* The loss, and its gradient with respect to pixels: weights change by -1 times theirs. */
static void run_ssim(float range, const float *target, float *before, float *loss,
                     double *gradient) {
    static float ones[PIXELS], after[PIXELS];
    tsr_model *model = make_model(own_pixels), *trained;
    tsr_device *device = cpu();
    tsr_trainer *trainer = make_trainer(
        device, model,
        &(tsr_trainer_desc){
            .loss = TSR_LOSS_SSIM, .range = range, .update = TSR_UPDATE_SGD, .learning_rate = 64});
    for (int i = 0; i < PIXELS; i++)
        ones[i] = -1;
    EXPECT_OK(step_trainer(trainer, ones, target, loss));
    EXPECT_OK(tsr_trainer_model(trainer, &trained));
    read_pixels(model, before);
    read_pixels(trained, after);
    for (int i = 0; i < PIXELS; i++)
        gradient[i] = ((double)before[i] - (double)after[i]) / 64;
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(trained);
    tsr_model_free(model);
}

static void check_ssim(float range) {
    static float target[PIXELS], pixels[PIXELS];
    static double gradient[PIXELS], x[PIXELS], y[PIXELS];
    const double step = 1e-5;
    float loss;
    random_source random = random_from(4);
    fill_window_weights();
    for (int i = 0; i < PIXELS; i++)
        target[i] = random_float(&random, -0.5f, 0.5f);
    run_ssim(range, target, pixels, &loss, gradient);
    for (int i = 0; i < PIXELS; i++) {
        x[i] = pixels[i];
        y[i] = target[i];
    }
    double expected = ssim_loss(x, y, range != 0 ? range : 1);
    if (!(fabs(loss - expected) <= 1e-5))
        fail_msg("a loss of %.9g instead of %.9g", loss, expected);
    for (int i = 0; i < PIXELS; i += 7) {
        x[i] = pixels[i] + step;
        double above = ssim_loss(x, y, range != 0 ? range : 1);
        x[i] = pixels[i] - step;
        double slope = (above - ssim_loss(x, y, range != 0 ? range : 1)) / (2 * step);
        x[i] = pixels[i];
        if (!(fabs(gradient[i] - slope) <= 1e-6 + 1e-3 * fabs(slope)))
            fail_msg("pixel %d: a gradient of %.9g instead of %.9g", i, gradient[i], slope);
    }
}

static void test_ssim(void **state) {
    (void)state;
    check_ssim(0);
    check_ssim(2);
}

static void test_ssim_of_equals(void **state) {
    (void)state;
    static float pixels[PIXELS], unused[PIXELS];
    static double gradient[PIXELS];
    float loss;
    tsr_model *model = make_model(own_pixels);
    read_pixels(model, pixels);
    tsr_model_free(model);
    run_ssim(1, pixels, unused, &loss, gradient);
    assert_true(fabsf(loss) < 1e-6f);
}

/* ---- several --------------------------------------------------------------------------------- */

/* y = a * w, z = y + b * v */
static const char *const two_of_each =
    "MatMul a[2,3] w{3,2} -> y!; MatMul b[2,1] v{1,2} -> c; Add c y -> z";

typedef struct pair {
    float a[6], b[2], y[4], z[4];
} pair;

static void read_two(const tsr_model *model, const pair *p, float *y, float *z) {
    tsr_device *device = cpu();
    tsr_session *session = make_session(device, model, NULL);
    EXPECT_OK(tsr_session_set_input(session, "a", p->a, 6));
    EXPECT_OK(tsr_session_set_input(session, "b", p->b, 2));
    EXPECT_OK(tsr_session_run(session));
    EXPECT_OK(tsr_session_get_output(session, "y", y, 4));
    EXPECT_OK(tsr_session_get_output(session, "z", z, 4));
    tsr_session_destroy(session);
    tsr_device_destroy(device);
}

/* Of MSE(z) + 0.5 * L1(y) + 0.25 * MSE(y), and where w goes by its gradient: y changes by
 * -a * a' * (dL/dz + dL/dy). */
static double sum_of_losses(const pair *p, const float *y, const float *z, double *gradient) {
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double dz = z[i] - p->z[i], dy = y[i] - p->y[i];
        sum += (dz * dz + 0.5 * fabs(dy) + 0.25 * dy * dy) / 4;
        gradient[i] = (2 * dz + 0.5 * (dy > 0 ? 1 : -1) + 0.5 * dy) / 4;
    }
    return sum;
}

static void check_change(const pair *p, const double *gradient, const float *before,
                         const float *after, double rate) {
    for (int i = 0; i < 4; i++) {
        double expected = before[i];
        for (int row = 0; row < 2; row++)
            for (int k = 0; k < 3; k++)
                expected -=
                    rate * p->a[i / 2 * 3 + k] * p->a[row * 3 + k] * gradient[row * 2 + i % 2];
        if (!(fabs(expected - after[i]) <= 1e-5))
            fail_msg("y[%d] becomes %.9g instead of %.9g", i, after[i], expected);
    }
}

static const tsr_loss_term three_terms[] = {
    {.output = "z"},
    {.output = "y", .loss = TSR_LOSS_L1, .weight = 0.5f},
    {.output = "y", .weight = 0.25f},
};

static void test_several(void **state) {
    (void)state;
    pair p;
    float before[4], after[4], z[4], unused[4], loss;
    double gradient[4];
    random_source random = random_from(5);
    for (size_t i = 0; i < sizeof p / sizeof(float); i++)
        ((float *)&p)[i] = random_float(&random, -1, 1);
    const tsr_array inputs[] = {{.data = p.a, .count = 6}, {.data = p.b, .count = 2}},
                    targets[] = {{.data = p.z, .count = 4},
                                 {.data = p.y, .count = 4},
                                 {.data = p.y, .count = 4}};
    tsr_model *model = make_model(two_of_each), *trained;
    tsr_device *device = cpu();
    tsr_trainer *trainer = make_trainer(device, model,
                                        &(tsr_trainer_desc){.losses = three_terms,
                                                            .loss_count = 3,
                                                            .update = TSR_UPDATE_SGD,
                                                            .learning_rate = 0.25f});
    assert_int_equal(tsr_trainer_target_count(trainer), 3);
    assert_string_equal(tsr_trainer_scored(trainer, 1), "y");
    assert_null(tsr_trainer_scored(trainer, 3));
    EXPECT_OK(tsr_trainer_step(trainer, inputs, 2, targets, 3, &loss));
    EXPECT_OK(tsr_trainer_model(trainer, &trained));
    read_two(model, &p, before, z);
    read_two(trained, &p, after, unused);
    double expected = sum_of_losses(&p, before, z, gradient);
    assert_true(fabs(loss - expected) < 1e-6);
    check_change(&p, gradient, before, after, 0.25);
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(trained);
    tsr_model_free(model);
}

/* Bytes become floats, and NHWC becomes NCHW. */
static void test_other_arrays(void **state) {
    (void)state;
    uint8_t bytes[12];
    float floats[12], target[12] = {0}, losses[2];
    tsr_model *model = make_model("PRelu x[1,3,2,2] w<1> -> y");
    tsr_device *device = cpu();
    tsr_trainer *trainer = make_trainer(device, model, &(tsr_trainer_desc){.learning_rate = 1e-9f});
    for (int i = 0; i < 12; i++) {
        bytes[i] = (uint8_t)(20 * i);
        floats[i % 3 * 4 + i / 3] = (float)bytes[i];
        target[i] = (float)i;
    }
    const tsr_array given = {
        .data = bytes, .count = 12, .dtype = TSR_DTYPE_U8, .channels_last = true};
    const tsr_array wanted = {.data = target, .count = 12};
    EXPECT_OK(tsr_trainer_step(trainer, &given, 1, &wanted, 1, &losses[0]));
    EXPECT_OK(step_trainer(trainer, floats, target, &losses[1]));
    assert_true(losses[0] == losses[1]);
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
}

/* What does not fit is refused before anything is done: the next step is the first. */
static void test_wrong_arrays(void **state) {
    (void)state;
    float x[6] = {0}, loss;
    tsr_array inputs[] = {{.data = x, .count = 6}, {.data = x, .count = 2}},
              targets[] = {{.data = x, .count = 4}, {.data = x, .count = 5}};
    tsr_model *model = make_model(two_of_each);
    tsr_device *device = cpu();
    tsr_trainer *trainer =
        make_trainer(device, model, &(tsr_trainer_desc){.losses = three_terms, .loss_count = 2});
    expect_failure(tsr_trainer_step(trainer, inputs, 1, targets, 2, &loss),
                   TSR_ERROR_INVALID_ARGUMENT,
                   "1 inputs and 2 targets are given, a step takes 2 and 2");
    expect_failure(tsr_trainer_step(trainer, inputs, 2, targets, 2, &loss), TSR_ERROR_SHAPE,
                   "tensor 'y.target' [2, 2] has 4 elements, not 5");
    targets[1].count = 4;
    inputs[1].count = 1;
    expect_failure(tsr_trainer_step(trainer, inputs, 2, targets, 2, &loss), TSR_ERROR_SHAPE,
                   "tensor 'b' [2, 1] has 2 elements, not 1");
    inputs[1] = (tsr_array){.count = 2};
    expect_failure(tsr_trainer_step(trainer, inputs, 2, targets, 2, &loss),
                   TSR_ERROR_INVALID_ARGUMENT, "tensor 'b' [2, 1]: data is NULL");
    expect_failure(tsr_trainer_step(trainer, NULL, 2, targets, 2, &loss),
                   TSR_ERROR_INVALID_ARGUMENT, "inputs is NULL");
    assert_int_equal(tsr_trainer_steps(trainer), 0);
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
}

static void test_refused(void **state) {
    (void)state;
    const tsr_loss_term negative = {.weight = -1}, absent = {.output = "q"};
    expect_no_trainer("PRelu x[1,3,16,10] w<1> -> y", &(tsr_trainer_desc){.loss = TSR_LOSS_SSIM},
                      TSR_ERROR_UNSUPPORTED,
                      "output 'y' of shape [1, 3, 16, 10] is smaller than SSIM's windows");
    expect_no_trainer("PRelu x[3,16,16] w<1> -> y", &(tsr_trainer_desc){.loss = TSR_LOSS_SSIM},
                      TSR_ERROR_UNSUPPORTED, "output 'y' of shape [3, 16, 16] and type float32");
    expect_no_trainer("PRelu x[3] w<1> -> y", &(tsr_trainer_desc){.range = 2},
                      TSR_ERROR_INVALID_ARGUMENT, "range is for TSR_LOSS_SSIM");
    expect_no_trainer("PRelu x[3] w<1> -> y",
                      &(tsr_trainer_desc){.loss = TSR_LOSS_SSIM, .range = -1},
                      TSR_ERROR_INVALID_ARGUMENT, "range of a loss has to be 0 or more");
    expect_no_trainer("PRelu x[3] w<1> -> y", &(tsr_trainer_desc){.loss = (tsr_loss)99},
                      TSR_ERROR_INVALID_ARGUMENT, "there is no loss 99");
    expect_no_trainer("PRelu x[3] w<1> -> y",
                      &(tsr_trainer_desc){.losses = &negative, .loss_count = 1},
                      TSR_ERROR_INVALID_ARGUMENT, "weight of a loss has to be above 0");
    expect_no_trainer("PRelu x[3] w<1> -> y",
                      &(tsr_trainer_desc){.losses = &absent, .loss_count = 1},
                      TSR_ERROR_INVALID_ARGUMENT, "the model has no output 'q'");
    expect_no_trainer("PRelu x[3] w<1> -> y",
                      &(tsr_trainer_desc){.output = "y", .losses = three_terms, .loss_count = 1},
                      TSR_ERROR_INVALID_ARGUMENT, "are for a loss of one term");
    expect_no_trainer("PRelu x[3] w<1> -> y", &(tsr_trainer_desc){.loss_count = 1},
                      TSR_ERROR_INVALID_ARGUMENT, "losses");
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses),         cmocka_unit_test(test_ssim),
        cmocka_unit_test(test_ssim_of_equals), cmocka_unit_test(test_several),
        cmocka_unit_test(test_other_arrays),   cmocka_unit_test(test_wrong_arrays),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("losses", tests, NULL, NULL);
}
