/* Training on a GPU backend beside the cpu backend: the losses of the first steps. */
#include "support/backends.h"
#include "support/main.h"
#include "support/training.h"

#include <math.h>
#include <string.h>

typedef struct lesson {
    tsr_model *model;
    tsr_trainer_desc desc;
    const char *kernels; /* of the GPU */
    int steps;
    double tolerance; /* of losses: rounding grows from step to step */
} lesson;

typedef void fill_fn(random_source *random, float *input, float *target);

/* saved: weights and states after the last step; NULL: not wanted. */
static void run_lesson(const tsr_device_desc *on, const lesson *l, fill_fn *fill, float *losses,
                       written *saved) {
    static float input[1 << 15], target[1 << 15];
    tsr_device *device = make_device(on);
    tsr_trainer *trainer;
    random_source random = random_from(11);
    EXPECT_OK(tsr_trainer_create(device, l->model, &l->desc, &trainer));
    for (int i = 0; i < l->steps; i++) {
        fill(&random, input, target);
        EXPECT_OK(step_trainer(trainer, input, target, &losses[i]));
    }
    if (saved)
        EXPECT_OK(tsr_trainer_save(trainer, append_written, saved));
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
}

static void check_lesson(const lesson *l, fill_fn *fill) {
    float expected[64], losses[64];
    run_lesson(&(tsr_device_desc){.backend = "cpu"}, l, fill, expected, NULL);
    run_lesson(&(tsr_device_desc){.backend = gpu_backend(), .kernels = l->kernels}, l, fill, losses,
               NULL);
    for (int i = 0; i < l->steps; i++)
        if (!(fabsf(losses[i] - expected[i]) <= l->tolerance))
            fail_msg("step %d: loss %.9g instead of %.9g", i, losses[i], expected[i]);
    tsr_model_free(l->model);
}

enum { BATCH = 8 };

static void fill_signals(random_source *random, float *input, float *target) {
    make_signals(random, BATCH, input, target);
}

static void test_classifier(void **state) {
    (void)state;
    static const tsr_dim_binding batch = {"batch", BATCH};
    need_gpu();
    check_lesson(&(lesson){.model = make_signal_classifier(1),
                           .desc = {.loss = TSR_LOSS_CROSS_ENTROPY,
                                    .learning_rate = 0.005f,
                                    .dims = &batch,
                                    .dim_count = 1},
                           .steps = few_cases() ? 5 : 50,
                           .tolerance = 1e-3},
                 fill_signals);
}

static void fill_images(random_source *random, float *input, float *target) {
    for (int i = 0; i < UNET_IMAGE; i++) {
        input[i] = random_float(random, 0, 1);
        target[i] = random_float(random, 0, 0.8f);
    }
}

/* Wide enough for the loops over columns of weight gradients to be unrolled as far as they are. */
static void test_wide(void **state) {
    (void)state;
    need_gpu();
    check_lesson(
        &(lesson){
            .model = make_model(
                "Mul x[1,3,4,96] k<0.0003> -> s; Conv s w{8,3,4,4} -> c strides=2,2 pads=1,1,1,1; "
                "LeakyRelu c -> l alpha=0.2; "
                "Conv l u{8,8,4,4} -> d strides=2,2 pads=1,1,1,1; Relu d -> r; "
                "ConvTranspose r t{8,8,4,4} -> e strides=2,2 pads=1,1,1,1; Relu e -> q; "
                "ConvTranspose q v{8,3,4,4} -> y strides=2,2 pads=1,1,1,1"),
            .desc = {.loss = TSR_LOSS_MSE, .learning_rate = 0.01f},
            .steps = few_cases() ? 2 : 8,
            .tolerance = 1e-3},
        fill_images);
}

/* Operators that others replace before the gradients are made. */
static void test_operators(void **state) {
    (void)state;
    static const char *const models[] = {
        "LSTM x[3,2,5] w{2,28,5} r{2,28,7} b{2,56} _ _ _ p{2,21} -> h hidden_size=7 "
        "direction=bidirectional; Conv h u{3,2,1,1} -> y",
        "GRU x[4,3,5] w{1,18,5} r{1,18,6} b{1,36} -> y hidden_size=6",
        "RNN x[2,3,5] w{1,6,5} r{1,6,6} -> y hidden_size=6 direction=reverse",
        "DeformConv x[2,5,6,7] w{6,5,2,3} o{2,12,5,5} b{6} -> y",
    };
    need_gpu();
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        check_lesson(&(lesson){.model = make_model(models[i]),
                               .desc = {.loss = TSR_LOSS_MSE, .learning_rate = 0.01f},
                               .steps = few_cases() ? 2 : 8,
                               .tolerance = 1e-4},
                     fill_images);
}

/* Weights and vectors that are parts of one tensor: some begin within a row of its tiles, whose
 * grid has to stay as it is. */
static void test_parts_of_tensors(void **state) {
    (void)state;
    static const tsr_trainer_desc descs[] = {
        {.loss = TSR_LOSS_MSE, .learning_rate = 0.01f, .average_decay = 0.9f},
        {.loss = TSR_LOSS_L1, .update = TSR_UPDATE_SGD, .learning_rate = 0.01f, .clip_norm = 0.5f}};
    need_gpu();
    for (size_t i = 0; i < sizeof descs / sizeof *descs; i++)
        check_lesson(
            &(lesson){.model = make_model(
                          "Conv x[1,36,4,8] w{40,36,1,1} b{40} -> c; "
                          "Conv x v{1000,36,1,1} d{1000} -> e; Conv x u{4,36,1,1} g{4} -> h; "
                          "Conv x t{4,36,1,1} f{4} -> j; Concat c e h j -> a axis=1; "
                          "GlobalAveragePool a -> y"),
                      .desc = descs[i],
                      .steps = few_cases() ? 2 : 8,
                      .tolerance = 1e-3},
            fill_images);
}

static void test_unet(void **state) {
    (void)state;
    static const tsr_trainer_desc descs[] = {
        {.loss = TSR_LOSS_MSE, .update = TSR_UPDATE_SGD, .learning_rate = 0.05f, .momentum = 0.5f},
        {.loss = TSR_LOSS_L1, .clip_norm = 0.5f, .weight_decay = 0.01f, .flip = true, .crop = 3},
        {.loss = TSR_LOSS_SMOOTH_L1, .update = TSR_UPDATE_ADAMW, .weight_decay = 0.01f},
        {.loss = TSR_LOSS_BINARY_CROSS_ENTROPY,
         .update = TSR_UPDATE_SGD,
         .learning_rate = 0.05f,
         .momentum = 0.5f,
         .nesterov = true,
         .schedule = TSR_SCHEDULE_COSINE,
         .steps = 8,
         .warmup_steps = 2},
        {.loss = TSR_LOSS_SSIM,
         .range = 2,
         .learning_rate = 0.003f,
         .flip = true,
         .brightness = 0.3f,
         .contrast = 0.2f,
         .saturation = 0.4f,
         .recolor_targets = true,
         .input_colors = {{-1, -1, -1}, {1, 1, 1}},
         .target_colors = {{-1, -1, -0.8f}, {1, 1, 1}}},
    };
    need_gpu();
    for (size_t i = 0; i < sizeof descs / sizeof *descs; i++)
        check_lesson(&(lesson){.model = make_small_unet(3, 0.1f),
                               .desc = descs[i],
                               .steps = few_cases() ? 2 : 8,
                               .tolerance = 1e-3},
                     fill_images);
}

enum { LARGE_SIDE = 96, LARGE_IMAGE = 3 * LARGE_SIDE * LARGE_SIDE };

static void fill_large(random_source *random, float *input, float *target) {
    for (int i = 0; i < LARGE_IMAGE; i++) {
        input[i] = random_float(random, 0, 1);
        target[i] = random_float(random, 0, 0.8f);
    }
}

/* Three convolutions down, three up: so large that a driver's threads still work on passes while
 * later ones are submitted. */
static tsr_model *make_large_unet(void) {
    enum { DEPTH = 3 };
    static const tsr_window_desc half = {
        .kernel = {4, 4}, .strides = {2, 2}, .pads_begin = {1, 1}, .pads_end = {1, 1}};
    tsr_net *net;
    tsr_model *model;
    EXPECT_OK(tsr_net_create(&(tsr_net_desc){.seed = 3, .name = "large"}, &net));
    int x = tsr_net_input(net, "image", &(tsr_shape){4, {1, 3, LARGE_SIDE, LARGE_SIDE}});
    int skipped[DEPTH];
    for (int i = 0; i < DEPTH; i++) {
        x = tsr_net_conv(net, x, &(tsr_layer_desc){.outputs = 16 << i, .window = half});
        x = skipped[i] = tsr_net_activation(net, x, "LeakyRelu", 0.2f, NAN);
    }
    for (int i = DEPTH - 2; i >= 0; i--) {
        x = tsr_net_conv_transpose(net, x, &(tsr_layer_desc){.outputs = 16 << i, .window = half});
        x = tsr_net_concat(net, 1, 2, (int[]){tsr_net_relu(net, x), skipped[i]});
    }
    x = tsr_net_conv_transpose(net, x, &(tsr_layer_desc){.outputs = 3, .window = half});
    tsr_net_output(net, "picture", x);
    EXPECT_OK(tsr_net_finish(net, &model));
    tsr_net_destroy(net);
    return model;
}

/* Are weights of several convolutions packed by one pass, for uniform blocks? */
static void expect_joined(const tsr_device_desc *on, const lesson *l) {
    tsr_device *device = make_device(on);
    tsr_trainer *trainer = make_trainer(device, l->model, &l->desc);
    tsr_report report;
    int joined = 0;
    EXPECT_OK(tsr_trainer_report(trainer, &report));
    for (int i = 0; i < report.node_count; i++) {
        tsr_node_report node;
        EXPECT_OK(tsr_trainer_node_report(trainer, i, &node));
        joined += strncmp(node.kernel, "conv_uniform_block", 18) == 0;
    }
    assert_true(joined > 0);
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
}

/* The same steps give the same bits, also where textures are copied to uniform blocks within a
 * step, and the losses are the CPU's. */
static void test_same_bits(void **state) {
    (void)state;
    static written saved[2];
    float losses[3];
    need_gpu();
    const tsr_device_desc gpu = {.backend = gpu_backend(),
                                 .kernels = gpu_has_textures() ? "blocks" : NULL};
    const lesson l = {
        .model = make_large_unet(),
        .desc = {.loss = TSR_LOSS_MSE, .update = TSR_UPDATE_SGD, .learning_rate = 0.05f},
        .kernels = gpu.kernels,
        .steps = 3,
        .tolerance = 1e-3};
    if (gpu.kernels)
        expect_joined(&gpu, &l);
    for (int i = 0; i < 2; i++)
        run_lesson(&gpu, &l, fill_large, losses, &saved[i]);
    assert_int_equal(saved[0].size, saved[1].size);
    assert_memory_equal(saved[0].bytes, saved[1].bytes, saved[0].size);
    check_lesson(&l, fill_large);
}

static void expect_lost(const char *text, const float *input, const char *words) {
    const float target[6] = {0};
    float loss;
    tsr_model *model = make_model(text);
    tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend()});
    tsr_trainer *trainer = make_trainer(device, model, NULL);
    expect_failure(step_trainer(trainer, input, target, &loss), TSR_ERROR_INVALID_ARGUMENT, words);
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
}

/* The node is named also where it became part of another. Not every driver computes NaN and
 * infinities: these are beyond all floats. */
static void test_lost(void **state) {
    (void)state;
    const float x[6] = {1e30f, -1e30f, 1e30f, 1e30f, -1e30f, 1e30f};
    need_gpu();
    expect_lost("Conv x[1,2,3,1] w{2,2,1,1} -> c; Relu c -> r; Mul r k<1e25 -> m; Neg m -> y", x,
                "node 'Mul2' (Mul of 'r') is the first that computes infinity");
    expect_lost("MatMul x[2,3] w{3,3} -> y", x,
                "node 'loss' (ReduceSumSquare of 'loss.part') is the first that computes infinity");
}

/* What a step needs is known before anything is allocated. */
static void test_memory(void **state) {
    (void)state;
    tsr_report report;
    tsr_trainer *trainer;
    need_gpu();
    tsr_model *model = make_small_unet(3, 0);
    tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend()});
    EXPECT_OK(tsr_trainer_create(device, model, NULL, &trainer));
    EXPECT_OK(tsr_trainer_report(trainer, &report));
    tsr_trainer_destroy(trainer);
    const tsr_trainer_desc desc = {.max_bytes = report.tensor_bytes / 2};
    expect_failure(tsr_trainer_create(device, model, &desc, &trainer), TSR_ERROR_OUT_OF_MEMORY,
                   "MiB, max_bytes is");
    assert_null(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classifier),
        cmocka_unit_test(test_unet),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_parts_of_tensors),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests_name("training", tests, NULL, close_backends);
}
