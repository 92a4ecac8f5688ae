#include "support/classifiers.h"

#include "support/digits.h"
#include "support/main.h"

enum { BATCH = 16, MOST = 1024, HELD_OUT = 640 };

static const tsr_dim_binding batch = {"batch", BATCH};

const classifier signal_classifier = {make_signal_classifier, make_signals, SIGNAL_LENGTH,
                                      SIGNAL_CLASSES,         250,          0.98};

static tsr_model *make_digit_classifier(uint32_t seed) {
    tsr_net *net;
    tsr_model *model;
    EXPECT_OK(tsr_net_create(&(tsr_net_desc){.seed = seed, .name = "digits"}, &net));
    int x = tsr_net_input(net, "picture", &(tsr_shape){4, {-1, 1, DIGIT_SIZE, DIGIT_SIZE}});
    x = tsr_net_max_pool(net, tsr_net_relu(net, tsr_net_conv2d(net, x, 8, 3)), 2);
    x = tsr_net_max_pool(net, tsr_net_relu(net, tsr_net_conv2d(net, x, 16, 3)), 2);
    x = tsr_net_dense(net, tsr_net_flatten(net, x), DIGIT_CLASSES);
    tsr_net_output(net, "classes", tsr_net_softmax(net, x, 1));
    EXPECT_OK(tsr_net_finish(net, &model));
    tsr_net_destroy(net);
    return model;
}

const classifier digit_classifier = {make_digit_classifier, make_digits, DIGIT_PIXELS,
                                     DIGIT_CLASSES,         800,         0.97};

static tsr_model *train(tsr_device *device, const tsr_model *model, const classifier *c) {
    static float inputs[BATCH * MOST], targets[BATCH * MOST];
    const tsr_array input = {.data = inputs, .count = (size_t)(BATCH * c->elements)},
                    target = {.data = targets, .count = (size_t)(BATCH * c->classes)};
    random_source random = random_from(3);
    tsr_model *trained;
    tsr_trainer *trainer;
    EXPECT_OK(tsr_trainer_create(device, model,
                                 &(tsr_trainer_desc){.loss = TSR_LOSS_CROSS_ENTROPY,
                                                     .learning_rate = 0.005f,
                                                     .dims = &batch,
                                                     .dim_count = 1},
                                 &trainer));
    for (int i = 0; i < c->steps; i++) {
        c->fill(&random, BATCH, inputs, targets);
        EXPECT_OK(tsr_trainer_step(trainer, &input, 1, &target, 1, NULL));
    }
    EXPECT_OK(tsr_trainer_model(trainer, &trained));
    tsr_trainer_destroy(trainer);
    return trained;
}

static int find_largest(const float *elements, int count) {
    int best = 0;
    for (int i = 1; i < count; i++)
        best = elements[i] > elements[best] ? i : best;
    return best;
}

static int count_right(tsr_device *device, const tsr_model *model, const classifier *c) {
    static float inputs[BATCH * MOST], targets[BATCH * MOST], found[BATCH * MOST];
    tsr_session *session =
        make_session(device, model, &(tsr_session_desc){.dims = &batch, .dim_count = 1});
    tsr_tensor_info input;
    random_source random = random_from(1000);
    int right = 0;
    EXPECT_OK(tsr_session_input(session, 0, &input));
    for (int done = 0; done < HELD_OUT; done += BATCH) {
        c->fill(&random, BATCH, inputs, targets);
        EXPECT_OK(
            tsr_session_set_input(session, input.name, inputs, (size_t)(BATCH * c->elements)));
        EXPECT_OK(tsr_session_run(session));
        EXPECT_OK(tsr_session_get_output(session, "classes", found, (size_t)(BATCH * c->classes)));
        for (int b = 0; b < BATCH; b++)
            right +=
                targets[b * c->classes + find_largest(&found[b * c->classes], c->classes)] == 1;
    }
    tsr_session_destroy(session);
    return right;
}

void expect_learns(const char *backend, const classifier *c) {
    if (few_cases() || (c == &digit_classifier && !open_digits()))
        skip();
    tsr_device *device = make_device(&(tsr_device_desc){.backend = backend});
    tsr_model *model = c->make(1), *trained = train(device, model, c);
    int right = count_right(device, trained, c);
    print_message("%d of %d are right\n", right, HELD_OUT);
    if (right < c->share * HELD_OUT)
        fail_msg("%d of %d are right", right, HELD_OUT);
    tsr_model_free(trained);
    tsr_model_free(model);
    tsr_device_destroy(device);
}
