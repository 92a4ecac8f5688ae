#include "support/training.h"

#include <math.h>
#include <string.h>

static tsr_model *finish(tsr_net *net) {
    tsr_model *model;
    EXPECT_OK(tsr_net_finish(net, &model));
    tsr_net_destroy(net);
    return model;
}

tsr_model *make_signal_classifier(uint32_t seed) {
    tsr_net *net;
    EXPECT_OK(tsr_net_create(&(tsr_net_desc){.seed = seed, .name = "signals"}, &net));
    int x = tsr_net_input(net, "signal", &(tsr_shape){3, {-1, 1, SIGNAL_LENGTH}});
    x = tsr_net_max_pool(net, tsr_net_relu(net, tsr_net_conv1d(net, x, 8, 5)), 2);
    x = tsr_net_max_pool(net, tsr_net_relu(net, tsr_net_conv1d(net, x, 16, 3)), 2);
    x = tsr_net_relu(net, tsr_net_dense(net, tsr_net_flatten(net, x), 32));
    x = tsr_net_softmax(net, tsr_net_dense(net, x, SIGNAL_CLASSES), 1);
    tsr_net_output(net, "classes", x);
    return finish(net);
}

static double signal_at(int kind, double place, double phase) {
    double turns = 4 * place + phase, part = turns - floor(turns);
    switch (kind) {
    case 0:
        return sin(2 * 3.14159265358979 * turns);
    case 1:
        return part < 0.5 ? 1 : -1;
    case 2:
        return 2 * part - 1;
    case 3: /* a burst in the middle third */
        return fabs(place - 0.3 - 0.4 * phase) < 0.1 ? sin(40 * 3.14159265358979 * place) : 0;
    default:
        return place < 0.3 + 0.4 * phase ? -1 : 1;
    }
}

void make_signals(random_source *random, int count, float *signals, float *classes) {
    memset(classes, 0, (size_t)count * SIGNAL_CLASSES * sizeof *classes);
    for (int i = 0; i < count; i++) {
        int kind = random_int(random, 0, SIGNAL_CLASSES - 1);
        double phase = (double)random_float(random, 0.5f, 0.5f),
               height = (double)random_float(random, 1, 0.3f);
        classes[i * SIGNAL_CLASSES + kind] = 1;
        for (int s = 0; s < SIGNAL_LENGTH; s++)
            signals[i * SIGNAL_LENGTH + s] =
                (float)(height * signal_at(kind, (double)s / SIGNAL_LENGTH, phase)) +
                random_float(random, 0, 0.2f);
    }
}

tsr_model *make_small_unet(uint32_t seed, float dropout) {
    static const tsr_window_desc half = {
        .kernel = {4, 4}, .strides = {2, 2}, .pads_begin = {1, 1}, .pads_end = {1, 1}};
    tsr_net *net;
    EXPECT_OK(tsr_net_create(&(tsr_net_desc){.seed = seed, .name = "unet"}, &net));
    int x = tsr_net_input(net, "image", &(tsr_shape){4, {2, 3, 16, 12}});
    int e1 = tsr_net_conv(net, x, &(tsr_layer_desc){.outputs = 5, .window = half});
    int e2 = tsr_net_activation(net, e1, "LeakyRelu", 0.2f, NAN);
    e2 = tsr_net_conv(net, e2, &(tsr_layer_desc){.outputs = 10, .no_bias = true, .window = half});
    e2 = tsr_net_activation(net, tsr_net_batch_norm(net, e2, NULL), "LeakyRelu", 0.2f, NAN);
    e2 = tsr_net_conv(net, e2,
                      &(tsr_layer_desc){.outputs = 10,
                                        .group = 5,
                                        .window = {.kernel = {3, 3},
                                                   .dilations = {1, 2},
                                                   .pads_begin = {1, 2},
                                                   .pads_end = {1, 2}}});
    int d2 = tsr_net_relu(net, tsr_net_instance_norm(net, e2, NULL));
    d2 = tsr_net_conv_transpose(net, d2, &(tsr_layer_desc){.outputs = 6, .window = half});
    if (dropout > 0)
        d2 = tsr_net_dropout(net, d2, dropout);
    int d1 = tsr_net_relu(net, tsr_net_concat(net, 1, 2, (int[]){d2, e1}));
    d1 = tsr_net_conv_transpose(net, d1, &(tsr_layer_desc){.outputs = 3, .window = half});
    tsr_net_output(net, "picture", tsr_net_activation(net, d1, "Tanh", NAN, NAN));
    return finish(net);
}

tsr_model *make_deep_network(uint32_t seed) {
    static const tsr_window_desc same = {
        .kernel = {3, 3}, .pads_begin = {1, 1}, .pads_end = {1, 1}};
    tsr_net *net;
    EXPECT_OK(tsr_net_create(&(tsr_net_desc){.seed = seed, .name = "deep"}, &net));
    int x = tsr_net_input(net, "images", &(tsr_shape){4, {2, 3, 16, 16}});
    for (int i = 0; i < 16; i++) {
        x = tsr_net_conv(net, x, &(tsr_layer_desc){.outputs = 8, .window = same});
        x = tsr_net_relu(net, tsr_net_batch_norm(net, x, NULL));
        if (i == 8)
            x = tsr_net_dropout(net, x, 0.1f);
    }
    x = tsr_net_flatten(net, tsr_net_global_average_pool(net, x));
    tsr_net_output(net, "classes", tsr_net_dense(net, x, 4));
    return finish(net);
}
