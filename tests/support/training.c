#include "support/training.h"

#include "api/model.h"

#include <math.h>
#include <string.h>

tsr_trainer *make_trainer(tsr_device *device, const tsr_model *model,
                          const tsr_trainer_desc *desc) {
    tsr_trainer *trainer;
    EXPECT_OK(tsr_trainer_create(device, model, desc, &trainer));
    return trainer;
}

void expect_no_trainer(const char *text, const tsr_trainer_desc *desc, tsr_status status,
                       const char *words) {
    tsr_model *model = make_model(text);
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "cpu"});
    tsr_trainer *trainer;
    expect_failure(tsr_trainer_create(device, model, desc, &trainer), status, words);
    assert_null(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
}

static tsr_array whole(const tsr_tensor_info *info, const float *data) {
    return (tsr_array){.data = (void *)data, .count = (size_t)tsr_shape_count(&info->shape)};
}

tsr_status step_trainer(tsr_trainer *trainer, const float *input, const float *target,
                        float *loss) {
    tsr_tensor_info x, t;
    EXPECT_OK(tsr_trainer_input(trainer, 0, &x));
    EXPECT_OK(tsr_trainer_target(trainer, 0, &t));
    const tsr_array inputs = whole(&x, input), targets = whole(&t, target);
    return tsr_trainer_step(trainer, &inputs, 1, &targets, 1, loss);
}

const float *model_weights(const tsr_model *model, const char *name, tsr_shape *shape) {
    int value = tsr_graph_find_value(model->graph, name);
    if (value == TSR_NONE || !model->graph->values[value].data)
        fail_msg("there is no constant '%s'", name);
    if (shape)
        *shape = model->graph->values[value].shape;
    return model->graph->values[value].data;
}

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

tsr_model *make_patch_discriminator(uint32_t seed, bool norm) {
    static const tsr_window_desc half = {
        .kernel = {4, 4}, .strides = {2, 2}, .pads_begin = {1, 1}, .pads_end = {1, 1}};
    static const tsr_window_desc same = {
        .kernel = {4, 3}, .pads_begin = {1, 1}, .pads_end = {1, 0}};
    const tsr_shape shape = {4, {-1, 3, 16, 12}};
    tsr_net *net;
    EXPECT_OK(tsr_net_create(&(tsr_net_desc){.seed = seed, .name = "patches"}, &net));
    int both[] = {tsr_net_input(net, "image", &shape), tsr_net_input(net, "picture", &shape)};
    int x = tsr_net_concat(net, 1, 2, both);
    x = tsr_net_conv(net, x, &(tsr_layer_desc){.outputs = 6, .window = half});
    x = tsr_net_activation(net, x, "LeakyRelu", 0.2f, NAN);
    x = tsr_net_conv(net, x, &(tsr_layer_desc){.outputs = 9, .window = half, .no_bias = norm});
    if (norm)
        x = tsr_net_dropout(net, tsr_net_batch_norm(net, x, NULL), 0.2f);
    x = tsr_net_activation(net, x, "LeakyRelu", 0.2f, NAN);
    x = tsr_net_conv(net, x, &(tsr_layer_desc){.outputs = 1, .window = same});
    tsr_net_output(net, "logits", x);
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
