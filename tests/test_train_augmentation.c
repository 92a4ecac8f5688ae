/* Changes of pictures in training, on the cpu backend: where pixels come from, which colours they
 * get, what is refused. */
#include "support/main.h"
#include "support/training.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Weights stay as they are. */
static const float no_rate = 1e-30f;

typedef struct taught {
    tsr_model *model;
    tsr_device *device;
    tsr_trainer *trainer;
} taught;

static taught teach(const char *text, const tsr_trainer_desc *augmentation) {
    taught made = {make_model(text), make_device(&(tsr_device_desc){.backend = "cpu"}), NULL};
    tsr_trainer_desc desc = *augmentation;
    desc.learning_rate = no_rate;
    desc.seed = 5;
    made.trainer = make_trainer(made.device, made.model, &desc);
    return made;
}

static void end(taught *t) {
    tsr_trainer_destroy(t->trainer);
    tsr_device_destroy(t->device);
    tsr_model_free(t->model);
}

static float step(const taught *t, const float *input, const float *target) {
    float loss;
    EXPECT_OK(step_trainer(t->trainer, input, target, &loss));
    return loss;
}

static void fill(float *elements, int count) {
    random_source random = random_from(9);
    for (int i = 0; i < count; i++)
        elements[i] = random_float(&random, 0, 1);
}

/* ---- where pixels come from ------------------------------------------------------------------ */

enum { PLANES = 2, HEIGHT = 5, WIDTH = 7, PIXELS = PLANES * HEIGHT * WIDTH, CROP = 2 };

static int limited(int at, int size) {
    return at < 0 ? 0 : at < size ? at : size - 1;
}

typedef struct move {
    bool flip;
    int x, y;
} move;

/* The pixel at x, y is that at y + move.y and x + move.x, or mirrored x. */
static void move_pixels(const float *from, move by, bool last, float *to) {
    for (int p = 0; p < PLANES; p++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                int row = limited(y + by.y, HEIGHT),
                    column = limited((by.flip ? WIDTH - 1 - x : x) + by.x, WIDTH);
                int at = last ? (y * WIDTH + x) * PLANES + p : (p * HEIGHT + y) * WIDTH + x,
                    source = last ? (row * WIDTH + column) * PLANES + p
                                  : (p * HEIGHT + row) * WIDTH + column;
                to[at] = from[source];
            }
}

static move move_of(int i) {
    const int places = 2 * CROP + 1;
    return (move){i / (places * places) != 0, i % places - CROP, i / places % places - CROP};
}

/* The square of a sum of all pixels with weights of their own tells where they are. */
static void check_moves(const char *text, bool last) {
    enum { MOVES = 2 * (2 * CROP + 1) * (2 * CROP + 1), STEPS = 60 };
    const float zero = 0;
    float x[PIXELS], moved[PIXELS], known[MOVES], loss;
    int seen[2 + 2 * (2 * CROP + 1)] = {0};
    taught t = teach(text, &(tsr_trainer_desc){.flip = true, .crop = CROP, .channels_last = last}),
           plain = teach(text, &(tsr_trainer_desc){.flip = false});
    fill(x, PIXELS);
    for (int i = 0; i < MOVES; i++) {
        move_pixels(x, move_of(i), last, moved);
        known[i] = step(&plain, moved, &zero);
    }
    for (int s = 0; s < STEPS; s++) {
        int i = 0;
        loss = step(&t, x, &zero);
        while (i < MOVES && fabsf(known[i] - loss) > 1e-5f * (1 + loss))
            i++;
        if (i == MOVES)
            fail_msg("step %d: %.9g is the loss of no move", s, loss);
        const move by = move_of(i);
        seen[by.flip] = seen[2 + by.x + CROP] = seen[2 + 3 * CROP + 1 + by.y] = 1;
    }
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        assert_true(seen[i]);
    end(&t);
    end(&plain);
}

static void test_moves(void **state) {
    (void)state;
    check_moves("Flatten x[1,2,5,7] -> f; MatMul f w{70,1} -> y", false);
    check_moves("Flatten x[1,5,7,2] -> f; MatMul f w{70,1} -> y", true);
}

/* Each sample of a batch moves in its own way, and its target with it. */
static void test_targets_move_alike(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int times;
        bool last;
    } cases[] = {
        {"PRelu x[3,2,5,7] w<1> -> y", 1, false},
        {"PRelu x[3,5,7,2] w<1> -> y", 1, true},
        {"PRelu x[3,1,4,5] w<1> -> p; Concat p p p p -> c axis=1; DepthToSpace c -> y blocksize=2",
         2, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float x[3 * 80], y[3 * 80];
        taught t =
            teach(cases[i].text,
                  &(tsr_trainer_desc){.flip = true, .crop = 1, .channels_last = cases[i].last});
        fill(x, 3 * 80);
        memcpy(y, x, sizeof y);
        for (int p = 0; p < 3 * 80 && cases[i].times == 2; p++)
            y[p] = x[p / 80 * 20 + p % 80 / 20 * 5 + p % 10 / 2];
        for (int s = 0; s < 10; s++)
            assert_true(step(&t, x, y) == 0);
        y[0] += 1;
        assert_true(step(&t, x, y) > 0);
        end(&t);
    }
}

/* ---- colours --------------------------------------------------------------------------------- */

typedef struct range {
    float least, most;
} range;

/* Of w0 * red + w1 * green + w2 * blue of a picture of one colour, over some steps. Without a sign:
 * the loss is its square. */
static range range_of(const char *weights, const tsr_trainer_desc *augmentation,
                      const float color[3]) {
    char text[128];
    float x[2 * 2 * 3];
    const float zero = 0;
    tsr_trainer_desc a = *augmentation;
    range found = {INFINITY, 0};
    for (int i = 0; i < 12; i++)
        x[i] = color[i % 3];
    snprintf(
        text, sizeof text,
        "Mul x[1,2,2,3] k<%s> -> m; ReduceMean m -> r axes=1,2,3 keepdims=0; PRelu r w<1> -> y",
        weights);
    a.channels_last = true;
    taught t = teach(text, &a);
    for (int s = 0; s < 40; s++) {
        float sum = 3 * sqrtf(step(&t, x, &zero));
        found.least = fminf(found.least, sum);
        found.most = fmaxf(found.most, sum);
    }
    end(&t);
    return found;
}

static void expect_range(range found, double least, double most) {
    double room = 0.1 * (most - least) + 1e-5;
    if (fabs(found.least - least) > room || fabs(found.most - most) > room ||
        found.least < least - 1e-5 || found.most > most + 1e-5)
        fail_msg("%.9g to %.9g instead of %.9g to %.9g", found.least, found.most, least, most);
}

static const char *const red = "1,0,0", *const red_green = "1,-1,0",
                         *const luma = "0.299,0.587,0.114";

static void test_brightness(void **state) {
    (void)state;
    const tsr_trainer_desc a = {.brightness = 0.5f},
                           wide = {.brightness = 0.5f, .input_colors = {{-1, -1, -1}, {1, 1, 1}}};
    expect_range(range_of(red, &a, (float[]){0.4f, 0.2f, 0}), 0.2, 0.6);
    expect_range(range_of(red, &a, (float[]){1, 1, 1}), 0.5, 1); /* limited */
    expect_range(range_of(red, &wide, (float[]){-1, -1, -1}), 1, 1);
    expect_range(range_of(red, &wide, (float[]){1, 1, 1}), 0, 1);
}

static void test_contrast(void **state) {
    (void)state;
    const tsr_trainer_desc a = {.contrast = 0.25f};
    expect_range(range_of(red, &a, (float[]){0.5f, 0.5f, 0.5f}), 0.5, 0.5);
    expect_range(range_of(red, &a, (float[]){0.9f, 0.5f, 0.5f}), 0.8, 1);
}

static void test_saturation(void **state) {
    (void)state;
    const tsr_trainer_desc a = {.saturation = 0.5f};
    const float color[] = {0.6f, 0.4f, 0.5f};
    expect_range(range_of(red_green, &a, color), 0.1, 0.3);
    expect_range(range_of(luma, &a, color), 0.4712, 0.4712);
    expect_range(range_of(red, &a, (float[]){0.7f, 0.7f, 0.7f}), 0.7, 0.7);
}

/* With white and black of their own, channels change as if they were 0 to 1. */
static void test_color_range(void **state) {
    (void)state;
    tsr_trainer_desc a = {.brightness = 0.2f, .contrast = 0.2f, .saturation = 0.2f};
    const float color[] = {0.2f, 0.7f, 0.4f}, black[] = {-2, 1, 0}, white[] = {2, -1, 10};
    float mapped[3];
    range plain = range_of("4,0,0", &a, color), other;
    for (int c = 0; c < 3; c++) {
        a.input_colors.black[c] = black[c] + 2 * (c == 0);
        a.input_colors.white[c] = white[c] + 2 * (c == 0);
        mapped[c] = a.input_colors.black[c] +
                    color[c] * (a.input_colors.white[c] - a.input_colors.black[c]);
    }
    other = range_of(red, &a, mapped);
    assert_true(fabsf(plain.least - other.least) < 1e-5f);
    assert_true(fabsf(plain.most - other.most) < 1e-5f);
}

static void test_target_colors(void **state) {
    (void)state;
    static const char *const text = "PRelu x[2,3,2,2] w<1> -> y";
    tsr_trainer_desc a = {.brightness = 0.3f, .contrast = 0.3f, .saturation = 0.3f};
    float x[24];
    fill(x, 24);
    for (int i = 0; i < 24; i++)
        x[i] = fabsf(x[i]);
    taught without = teach(text, &a);
    assert_true(step(&without, x, x) > 1e-4f);
    end(&without);
    a.recolor_targets = true;
    taught with = teach(text, &a);
    for (int s = 0; s < 5; s++)
        assert_true(step(&with, x, x) == 0);
    end(&with);
}

/* Black and white of other channels are not looked at. Where pictures move very far, all that they
 * show is their border. */
static void test_one_channel(void **state) {
    (void)state;
    const tsr_color_range range = {{-1}, {1}};
    float x[40];
    taught t = teach("PRelu x[2,1,4,5] w<1> -> y", &(tsr_trainer_desc){.contrast = 0.3f,
                                                                       .crop = INT64_MAX,
                                                                       .input_colors = range,
                                                                       .target_colors = range,
                                                                       .recolor_targets = true});
    fill(x, 40);
    for (int s = 0; s < 5; s++)
        assert_true(step(&t, x, x) == 0);
    end(&t);
}

/* The model gives its input, which is the target, too: a discriminator that reads all of them as
 * they are augmented has the same logit of both, which its loss and the model's tell. */
static void test_discriminator(void **state) {
    (void)state;
    taught t = {make_model("PRelu x[1,3,4,5] w<1> -> y"),
                make_device(&(tsr_device_desc){.backend = "cpu"}), NULL};
    tsr_model *discriminator = make_model(
        "Concat x[1,3,4,5] p[1,3,4,5] -> c axis=1; Flatten c -> f; MatMul f w{120,1} -> l");
    t.trainer = make_trainer(t.device, t.model,
                             &(tsr_trainer_desc){.learning_rate = no_rate,
                                                 .flip = true,
                                                 .crop = 2,
                                                 .brightness = 0.4f,
                                                 .recolor_targets = true,
                                                 .discriminator = discriminator});
    float x[60], losses[4];
    fill(x, 60);
    for (int i = 0; i < 60; i++)
        x[i] = fabsf(x[i]);
    for (int s = 0; s < 10; s++) {
        step(&t, x, x);
        assert_int_equal(tsr_trainer_loss_count(t.trainer), 3);
        EXPECT_OK(tsr_trainer_losses(t.trainer, losses, 3));
        double logit = -log(expm1((double)losses[1]));
        double expected = (log1p(exp(-logit)) + log1p(exp(logit))) / 2;
        assert_true(losses[0] == 0 && fabs(losses[2] - expected) < 1e-4 * (1 + expected));
    }
    tsr_model_free(discriminator);
    end(&t);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void expect_refused(const char *text, const tsr_trainer_desc *a, const char *words) {
    tsr_model *model = make_model(text);
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "cpu"});
    tsr_trainer *trainer = NULL;
    tsr_status status = tsr_trainer_create(device, model, a, &trainer);
    assert_null(trainer);
    assert_int_not_equal(status, TSR_OK);
    if (!strstr(tsr_last_error(), words))
        fail_msg("'%s' is not in: %s", words, tsr_last_error());
    tsr_device_destroy(device);
    tsr_model_free(model);
}

static void test_refused(void **state) {
    (void)state;
    static const char *const picture = "PRelu x[1,3,4,4] w<1> -> y",
                             *const two = "PRelu x[1,2,4,4] w<1> -> y",
                             *const smaller = "MaxPool x[1,3,4,4] -> p kernel_shape=2,2 "
                                              "strides=2,2; PRelu p w<1> -> y",
                             *const vector = "PRelu x[1,3] w<1> -> y",
                             *const pixel = "PRelu x[2,1,1,5] w<1> -> y",
                             *const other = "Relu s[1,3,4,4] -> r; PRelu x[2,3,4,4] w<1> -> p; "
                                            "Add p r -> y";
    expect_refused(vector, &(tsr_trainer_desc){.flip = true}, "no input is a picture");
    expect_refused(pixel, &(tsr_trainer_desc){.flip = true, .channels_last = true},
                   "no input is a picture");
    expect_refused(other, &(tsr_trainer_desc){.contrast = 0.1f},
                   "'x' of shape [2, 3, 4, 4] has not as many samples as 's' of shape");
    expect_refused(two, &(tsr_trainer_desc){.contrast = 0.1f}, "1 or 3 channels, not of 'x'");
    expect_refused(smaller, &(tsr_trainer_desc){.crop = 1}, "no multiple of the pixels of 'x'");
    expect_refused(picture, &(tsr_trainer_desc){.crop = -1}, "crop is negative");
    expect_refused(picture, &(tsr_trainer_desc){.brightness = 1.5f}, "brightness is not in 0..1");
    expect_refused(picture, &(tsr_trainer_desc){.saturation = NAN}, "saturation is not in 0..1");
    expect_refused(picture, &(tsr_trainer_desc){.flip = true, .recolor_targets = true},
                   "recolor_targets needs");
    expect_refused(picture,
                   &(tsr_trainer_desc){.contrast = 0.1f, .input_colors = {{0, 1, 2}, {1, 1, 3}}},
                   "black and white of channel 1 of 'x' are the same");
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),         cmocka_unit_test(test_targets_move_alike),
        cmocka_unit_test(test_brightness),    cmocka_unit_test(test_contrast),
        cmocka_unit_test(test_saturation),    cmocka_unit_test(test_color_range),
        cmocka_unit_test(test_target_colors), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_discriminator), cmocka_unit_test(test_one_channel),
    };
    return cmocka_run_group_tests_name("train_augmentation", tests, NULL, NULL);
}
