/* steps signal|image: trains a network for which compare_tfjs.mjs asks. For each line
 * "STEPS READS" of standard input it trains so many steps, reads the loss of each, or of the last
 * one only, and prints a line of JSON: ms a step, and the latest loss. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera_build.h>
#include <tessera_train.h>
#include <time.h>

enum { BATCH = 32 };

static void need(tsr_status status) {
    if (status == TSR_OK)
        return;
    fprintf(stderr, "%s\n", tsr_last_error());
    exit(1);
}

/* The layers that compare_tfjs.mjs makes of TF.js. */
static tsr_model *make_model(bool image, int classes) {
    const tsr_shape signal = {3, {BATCH, 1, 64}}, picture = {4, {BATCH, 1, 28, 28}};
    tsr_net *net;
    tsr_model *model;
    need(tsr_net_create(&(tsr_net_desc){.seed = 1}, &net));
    int x = tsr_net_input(net, "x", image ? &picture : &signal);
    x = image ? tsr_net_conv2d(net, x, 8, 3) : tsr_net_conv1d(net, x, 8, 5);
    x = tsr_net_max_pool(net, tsr_net_relu(net, x), 2);
    x = image ? tsr_net_conv2d(net, x, 16, 3) : tsr_net_conv1d(net, x, 16, 3);
    x = tsr_net_flatten(net, tsr_net_max_pool(net, tsr_net_relu(net, x), 2));
    if (!image)
        x = tsr_net_relu(net, tsr_net_dense(net, x, 32));
    tsr_net_output(net, "y", tsr_net_softmax(net, tsr_net_dense(net, x, classes), 1));
    need(tsr_net_finish(net, &model));
    tsr_net_destroy(net);
    return model;
}

/* Standard input as at the top. */
static void answer(tsr_trainer *trainer, const tsr_array *inputs, const tsr_array *targets) {
    int steps, reads;
    float loss = 0;
    while (scanf("%d %d", &steps, &reads) == 2) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int i = 0; i < steps; i++)
            need(tsr_trainer_step(trainer, inputs, 1, targets, 1,
                                  reads || i == steps - 1 ? &loss : NULL));
        clock_gettime(CLOCK_MONOTONIC, &to);
        double ms =
            1e3 * difftime(to.tv_sec, from.tv_sec) + 1e-6 * (double)(to.tv_nsec - from.tv_nsec);
        printf("{\"ms\": %f, \"loss\": %f}\n", ms / steps, (double)loss);
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    static float inputs[BATCH * 28 * 28], targets[BATCH * 10];
    const bool image = argc > 1 && !strcmp(argv[1], "image");
    const size_t classes = image ? 10 : 5, each = image ? 28 * 28 : 64;
    const tsr_array given = {.data = inputs, .count = BATCH * each},
                    wanted = {.data = targets, .count = BATCH * classes};
    tsr_device *device;
    tsr_trainer *trainer;
    tsr_device_info info;
    for (size_t i = 0; i < given.count; i++)
        inputs[i] = (float)(i * 7919 % 1000) / 500 - 1;
    for (size_t i = 0; i < BATCH; i++)
        targets[i * classes + i % classes] = 1;
    need(tsr_device_create(&(tsr_device_desc){.backend = "gles"}, &device));
    need(tsr_device_get_info(device, &info));
    tsr_model *model = make_model(image, (int)classes);
    const tsr_trainer_desc desc = {.loss = TSR_LOSS_CROSS_ENTROPY};
    need(tsr_trainer_create(device, model, &desc, &trainer));
    printf("{\"device\": \"%s (%s)\"}\n", info.backend, info.name);
    fflush(stdout);
    answer(trainer, &given, &wanted);
    tsr_trainer_destroy(trainer);
    tsr_model_free(model);
    tsr_device_destroy(device);
    return 0;
}
