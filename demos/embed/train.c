/* A network is built, trained and saved: signals of five classes, a sine, a square wave, a saw
 * tooth, a burst, a step, in noise.
 *
 *     train gles|webgpu|cpu [STEPS [FILE.onnx]]
 *
 * Prints the loss on the way, and how many signals that it has not seen are told apart. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tessera_build.h>
#include <tessera_train.h>
#include <tessera_write.h>

enum { LENGTH = 64, CLASSES = 5, BATCH = 32, HELD_OUT = 20 * BATCH };

static float signals[BATCH * LENGTH], classes[BATCH * CLASSES], found[BATCH * CLASSES];

static void require(tsr_status status) {
    if (status == TSR_OK)
        return;
    fprintf(stderr, "%s\n", tsr_last_error());
    exit(1);
}

/* ---- data ---- */

/* From -1 to 1 (Knuth's MMIX generator). */
static double noise(void) {
    static uint64_t state = 1;
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (double)(state >> 33) / (1u << 30) - 1;
}

static double wave(int class, double place, double phase) {
    const double pi = 3.14159265358979;
    double turns = 4 * place + phase, part = turns - floor(turns), middle = 0.5 + 0.2 * phase;
    switch (class) {
    case 0:
        return sin(2 * pi * turns);
    case 1:
        return part < 0.5 ? 1 : -1;
    case 2:
        return 2 * part - 1;
    case 3:
        return fabs(place - middle) < 0.1 ? sin(40 * pi * place) : 0;
    default:
        return place < middle ? -1 : 1;
    }
}

static void make_batch(void) {
    for (int i = 0; i < BATCH; i++) {
        int class = (int)((noise() + 1) * CLASSES) / 2;
        double phase = noise(), height = 1 + 0.3 * noise();
        for (int c = 0; c < CLASSES; c++)
            classes[i * CLASSES + c] = c == class;
        for (int s = 0; s < LENGTH; s++)
            signals[i * LENGTH + s] =
                (float)(height * wave(class, (double)s / LENGTH, phase) + 0.2 * noise());
    }
}

/* ---- the network ---- */

static tsr_model *build(void) {
    tsr_net *net;
    tsr_model *model;
    require(tsr_net_create(&(tsr_net_desc){.seed = 1}, &net));
    int x = tsr_net_input(net, "signal", &(tsr_shape){3, {-1, 1, LENGTH}});
    x = tsr_net_max_pool(net, tsr_net_relu(net, tsr_net_conv1d(net, x, 8, 5)), 2);
    x = tsr_net_max_pool(net, tsr_net_relu(net, tsr_net_conv1d(net, x, 16, 3)), 2);
    x = tsr_net_relu(net, tsr_net_dense(net, tsr_net_flatten(net, x), 32));
    x = tsr_net_softmax(net, tsr_net_dense(net, x, CLASSES), 1);
    tsr_net_output(net, "classes", x);
    require(tsr_net_finish(net, &model));
    tsr_net_destroy(net);
    return model;
}

static tsr_model *train(tsr_device *device, const tsr_model *model, int steps) {
    const tsr_dim_binding batch = {"batch", BATCH};
    const tsr_trainer_desc desc = {
        .loss = TSR_LOSS_CROSS_ENTROPY, .learning_rate = 0.005f, .dims = &batch, .dim_count = 1};
    const tsr_array input = {.data = signals, .count = BATCH * LENGTH},
                    target = {.data = classes, .count = BATCH * CLASSES};
    tsr_trainer *trainer;
    tsr_model *trained;
    float loss;
    require(tsr_trainer_create(device, model, &desc, &trainer));
    for (int i = 0; i < steps; i++) {
        bool tells = i % 50 == 0 || i == steps - 1;
        make_batch();
        require(tsr_trainer_step(trainer, &input, 1, &target, 1, tells ? &loss : NULL));
        if (tells)
            printf("step %3d: loss %.4f\n", i + 1, loss);
    }
    require(tsr_trainer_model(trainer, &trained));
    tsr_trainer_destroy(trainer);
    return trained;
}

static int best(const float *scores) {
    int most = 0;
    for (int c = 1; c < CLASSES; c++)
        most = scores[c] > scores[most] ? c : most;
    return most;
}

static int count_right(tsr_device *device, const tsr_model *model) {
    const tsr_dim_binding batch = {"batch", BATCH};
    tsr_session *session;
    int right = 0;
    require(tsr_session_create(device, model, &(tsr_session_desc){.dims = &batch, .dim_count = 1},
                               &session));
    for (int done = 0; done < HELD_OUT; done += BATCH) {
        make_batch();
        require(tsr_session_set_input(session, "signal", signals, BATCH * LENGTH));
        require(tsr_session_run(session));
        require(tsr_session_get_output(session, "classes", found, BATCH * CLASSES));
        for (int i = 0; i < BATCH; i++)
            right += best(found + i * CLASSES) == best(classes + i * CLASSES);
    }
    tsr_session_destroy(session);
    return right;
}

static bool write_bytes(void *file, const char *bytes, size_t length) {
    return fwrite(bytes, 1, length, file) == length;
}

static void save(const tsr_model *model, const char *path) {
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    require(tsr_model_write(model, NULL, write_bytes, file));
    if (fclose(file)) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv) {
    tsr_device *device;
    int steps = argc > 2 ? atoi(argv[2]) : 200;
    if (argc < 2 || argc > 4 || steps < 1) {
        fprintf(stderr, "usage: train gles|webgpu|cpu [STEPS [FILE.onnx]]\n");
        return 2;
    }
    require(tsr_device_create(&(tsr_device_desc){.backend = argv[1]}, &device));
    tsr_model *model = build(), *trained = train(device, model, steps);
    printf("%d of %d signals are right\n", count_right(device, trained), HELD_OUT);
    if (argc > 3)
        save(trained, argv[3]);
    tsr_model_free(trained);
    tsr_model_free(model);
    tsr_device_destroy(device);
    return 0;
}
