/* Training beside PyTorch's: one step of a small U-Net with batch normalization and ten steps of
 * Adam; then five steps with a discriminator. The figures are those of
 * tests/make_training_figures.py, which PyTorch 2.11 printed. */
#include "support/main.h"
#include "support/training.h"

#include <math.h>

enum { IMAGE = 2 * 3 * 16 * 12, STEPS = 10, PARAMETERS = 9, MOST = 10 * 7 * 16 };

/* Of a parameter: its elements are scale * sin(0.37 * i + 1.3 * seed) + add; the root of the sum of
 * squares of its gradient in the first step, and of its elements after the last one. */
static const struct {
    int seed;
    float scale, add;
    double gradient, trained;
} parameters[PARAMETERS] = {
    {2, 0.2f, 0, 0.42846080, 2.2129223},     {3, 0.1f, 0, 0.12602129, 0.23428335},
    {4, 0.2f, 0, 0.084611676, 3.6017935},    {5, 0.2f, 1, 0.025140970, 2.9559768},
    {6, 0.1f, 0, 0.020058696, 0.17823865},   {7, 0.2f, 0, 0.11372147, 3.3286592},
    {8, 0.1f, 0, 0.040952262, 0.20775127},   {9, 0.2f, 0, 0.27382942, 3.3356103},
    {10, 0.1f, 0, 0.034526058, 0.047845156},
};

static const double losses[STEPS] = {0.45203882, 0.32969514, 0.28415701, 0.24447586,  0.20573275,
                                     0.17257509, 0.14208205, 0.11553837, 0.094512634, 0.079154886};

static void fill(float *elements, int64_t count, int seed, float scale, float add) {
    for (int64_t i = 0; i < count; i++)
        elements[i] = scale * (float)sin(0.37 * (double)i + 1.3 * seed) + add;
}

/* Index of the net's parameter i: mean and variance are no parameters of PyTorch. */
static int index_of(int i) {
    return i < 5 ? i : i + 2;
}

static int64_t count_of(const tsr_net *net, int index) {
    tsr_tensor_info info;
    EXPECT_OK(tsr_net_parameter(net, index, &info));
    return tsr_shape_count(&info.shape);
}

static tsr_net *make_net(void) {
    static const tsr_window_desc half = {
        .kernel = {4, 4}, .strides = {2, 2}, .pads_begin = {1, 1}, .pads_end = {1, 1}};
    tsr_net *net;
    EXPECT_OK(tsr_net_create(NULL, &net));
    int x = tsr_net_input(net, "image", &(tsr_shape){4, {2, 3, 16, 12}});
    int e1 = tsr_net_conv(net, x, &(tsr_layer_desc){.outputs = 5, .window = half});
    int e2 = tsr_net_activation(net, e1, "LeakyRelu", 0.2f, NAN);
    e2 = tsr_net_conv(net, e2, &(tsr_layer_desc){.outputs = 7, .no_bias = true, .window = half});
    e2 = tsr_net_relu(net, tsr_net_batch_norm(net, e2, NULL));
    int d2 = tsr_net_conv_transpose(net, e2, &(tsr_layer_desc){.outputs = 5, .window = half});
    int d1 = tsr_net_relu(net, tsr_net_concat(net, 1, 2, (int[]){d2, e1}));
    d1 = tsr_net_conv_transpose(net, d1, &(tsr_layer_desc){.outputs = 3, .window = half});
    tsr_net_output(net, "picture", tsr_net_activation(net, d1, "Tanh", NAN, NAN));
    for (int i = 0; i < PARAMETERS; i++)
        fill(tsr_net_parameter_data(net, index_of(i)), count_of(net, index_of(i)),
             parameters[i].seed, parameters[i].scale, parameters[i].add);
    return net;
}

/* The elements of a weight, as an output of the trained model. */
static double read_norm(tsr_device *device, const tsr_model *model, const char *name,
                        const float *minus, int64_t count) {
    static float image[IMAGE], elements[MOST];
    double sum = 0;
    tsr_session *session = make_session(
        device, model, &(tsr_session_desc){.extra_outputs = &name, .extra_output_count = 1});
    EXPECT_OK(tsr_session_set_input(session, "image", image, IMAGE));
    EXPECT_OK(tsr_session_run(session));
    EXPECT_OK(tsr_session_get_output(session, name, elements, (size_t)count));
    for (int64_t i = 0; i < count; i++) {
        double element = (double)elements[i] - (minus ? (double)minus[i] : 0);
        sum += element * element;
    }
    tsr_session_destroy(session);
    return sqrt(sum);
}

static void expect_near(const char *what, double found, double expected) {
    if (fabs(found - expected) > 1e-4 * expected)
        fail_msg("%s: %.8g instead of %.8g", what, found, expected);
}

/* Steps; the weights are then compared, or their change. */
static void check(const tsr_trainer_desc *desc, int steps) {
    static float image[IMAGE], target[IMAGE];
    tsr_net *net = make_net();
    tsr_model *model, *trained;
    tsr_trainer *trainer;
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "cpu"});
    EXPECT_OK(tsr_net_finish(net, &model));
    EXPECT_OK(tsr_trainer_create(device, model, desc, &trainer));
    fill(image, IMAGE, 0, 1, 0);
    fill(target, IMAGE, 1, 0.8f, 0);
    for (int step = 0; step < steps; step++) {
        float loss;
        EXPECT_OK(step_trainer(trainer, image, target, &loss));
        expect_near("loss", loss, losses[step]);
    }
    EXPECT_OK(tsr_trainer_model(trainer, &trained));
    for (int i = 0; i < PARAMETERS; i++) {
        tsr_tensor_info info;
        EXPECT_OK(tsr_net_parameter(net, index_of(i), &info));
        const float *first = tsr_net_parameter_data(net, index_of(i));
        expect_near(info.name,
                    read_norm(device, trained, info.name, steps == 1 ? first : NULL,
                              tsr_shape_count(&info.shape)),
                    steps == 1 ? parameters[i].gradient : parameters[i].trained);
    }
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(trained);
    tsr_model_free(model);
    tsr_net_destroy(net);
}

/* With a learning rate of 1 weights change by their gradients. */
static void test_gradients(void **state) {
    (void)state;
    check(&(tsr_trainer_desc){.update = TSR_UPDATE_SGD, .learning_rate = 1}, 1);
}

static void test_adam(void **state) {
    (void)state;
    check(&(tsr_trainer_desc){.learning_rate = 0.01f}, STEPS);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_adam),
    };
    return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
