/* Networks built in code: shapes, weights, messages, files. */
#include "support/main.h"
#include "support/random.h"
#include "support/sessions.h"

#include "tessera_build.h"
#include "tessera_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tsr_net *make_net(uint32_t seed) {
    tsr_net *net;
    EXPECT_OK(tsr_net_create(&(tsr_net_desc){.seed = seed, .name = "test"}, &net));
    return net;
}

static tsr_model *finish(tsr_net *net) {
    tsr_model *model;
    EXPECT_OK(tsr_net_finish(net, &model));
    return model;
}

/* The classifier of signals that tessera_build.h shows. */
static tsr_net *make_classifier(uint32_t seed, int64_t batch) {
    tsr_net *net = make_net(seed);
    int x = tsr_net_input(net, "signal", &(tsr_shape){3, {batch, 1, 64}});
    x = tsr_net_max_pool(net, tsr_net_relu(net, tsr_net_conv1d(net, x, 8, 5)), 2);
    x = tsr_net_max_pool(net, tsr_net_relu(net, tsr_net_conv1d(net, x, 16, 3)), 2);
    x = tsr_net_relu(net, tsr_net_dense(net, tsr_net_flatten(net, x), 32));
    x = tsr_net_softmax(net, tsr_net_dense(net, x, 5), 1);
    tsr_net_output(net, "classes", x);
    return net;
}

static void run_signal(const tsr_model *model, int64_t batch, const float *signal, float *classes) {
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "cpu"});
    const tsr_dim_binding binding = {"batch", batch};
    tsr_session *session =
        make_session(device, model, &(tsr_session_desc){.dims = &binding, .dim_count = 1});
    EXPECT_OK(tsr_session_set_input(session, "signal", signal, (size_t)batch * 64));
    EXPECT_OK(tsr_session_run(session));
    EXPECT_OK(tsr_session_get_output(session, "classes", classes, (size_t)batch * 5));
    tsr_session_destroy(session);
    tsr_device_destroy(device);
}

/* ---- networks -------------------------------------------------------------------------------- */

static void test_classifier(void **state) {
    (void)state;
    static const struct {
        const char *name;
        tsr_shape shape;
    } expected[] = {{"conv1.weight", {3, {8, 1, 5}}},  {"conv1.bias", {1, {8}}},
                    {"conv2.weight", {3, {16, 8, 3}}}, {"conv2.bias", {1, {16}}},
                    {"dense1.weight", {2, {32, 224}}}, {"dense1.bias", {1, {32}}},
                    {"dense2.weight", {2, {5, 32}}},   {"dense2.bias", {1, {5}}}};
    tsr_net *net = make_classifier(1, -1);
    assert_int_equal(tsr_net_parameter_count(net), 8);
    for (int i = 0; i < 8; i++) {
        tsr_tensor_info info;
        EXPECT_OK(tsr_net_parameter(net, i, &info));
        assert_string_equal(info.name, expected[i].name);
        assert_memory_equal(&info.shape, &expected[i].shape, sizeof info.shape);
    }
    tsr_model *model = finish(net);
    tsr_net_destroy(net);
    tsr_tensor_info input;
    EXPECT_OK(tsr_model_input(model, 0, &input));
    assert_int_equal(input.shape.dim[0], -1);
    assert_string_equal(input.dim_name[0], "batch");
    assert_int_equal(tsr_model_parameter_count(model), 40 + 8 + 384 + 16 + 7168 + 32 + 160 + 5);
    float signal[3 * 64], classes[3 * 5], alone[5];
    random_source random = random_from(7);
    for (int i = 0; i < 3 * 64; i++)
        signal[i] = random_float(&random, 0, 1);
    run_signal(model, 3, signal, classes);
    run_signal(model, 1, signal + 64, alone);
    for (int i = 0; i < 5; i++)
        assert_true(fabsf(alone[i] - classes[5 + i]) < 1e-6f);
    float sum = alone[0] + alone[1] + alone[2] + alone[3] + alone[4];
    assert_true(fabsf(sum - 1) < 1e-5f);
    tsr_model_free(model);
}

/* Convolutions of a net beside sums by hand, whose axes have kernels, strides, pads of their own.
 */
static void test_window(void **state) {
    (void)state;
    enum { C = 4, M = 6, GROUP = 2, H = 7, W = 9, KH = 3, KW = 2, OH = 4, OW = 5 };
    tsr_net *net = make_net(3);
    int x = tsr_net_input(net, "x", &(tsr_shape){4, {1, C, H, W}});
    const tsr_layer_desc desc = {.outputs = M,
                                 .group = GROUP,
                                 .no_bias = true,
                                 .name = "layer",
                                 .window = {.kernel = {KH, KW},
                                            .strides = {2, 2},
                                            .dilations = {1, 2},
                                            .pads_begin = {1, 0},
                                            .pads_end = {2, 2}}};
    tsr_net_output(net, "y", tsr_net_conv(net, x, &desc));
    const float *w = tsr_net_parameter_data(net, 0);
    tsr_model *model = finish(net);
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "cpu"});
    tsr_session *session = make_session(device, model, NULL);
    float in[C * H * W], out[M * OH * OW];
    random_source random = random_from(5);
    for (int i = 0; i < C * H * W; i++)
        in[i] = random_float(&random, 0, 1);
    EXPECT_OK(tsr_session_set_input(session, "x", in, C * H * W));
    EXPECT_OK(tsr_session_run(session));
    EXPECT_OK(tsr_session_get_output(session, "y", out, M * OH * OW));
    for (int m = 0; m < M; m++)
        for (int at = 0; at < OH * OW; at++) {
            double sum = 0;
            for (int i = 0; i < C / GROUP * KH * KW; i++) {
                int c = m / (M / GROUP) * (C / GROUP) + i / (KH * KW);
                int row = at / OW * 2 + i / KW % KH - 1, column = at % OW * 2 + i % KW * 2;
                if (row >= 0 && row < H && column < W)
                    sum +=
                        (double)w[m * (C / GROUP * KH * KW) + i] * in[(c * H + row) * W + column];
            }
            assert_true(fabs(sum - out[m * OH * OW + at]) < 1e-5);
        }
    tsr_session_destroy(session);
    tsr_device_destroy(device);
    tsr_model_free(model);
    tsr_net_destroy(net);
}

/* Every layer: the shape that the model tells. */
static void test_layers(void **state) {
    (void)state;
    tsr_net *net = make_net(1);
    int x = tsr_net_input(net, "x", &(tsr_shape){4, {2, 3, 16, 12}});
    const tsr_layer_desc down = {
        .outputs = 8,
        .window = {.kernel = {4, 4}, .strides = {2, 2}, .pads_begin = {1, 1}, .pads_end = {1, 1}}};
    tsr_layer_desc up = down;
    up.outputs = 5;
    int a = tsr_net_conv(net, x, &down); /* [2, 8, 8, 6] */
    int b = tsr_net_activation(net, tsr_net_batch_norm(net, a, NULL), "LeakyRelu", 0.2f, NAN);
    int c = tsr_net_conv_transpose(net, b, &up); /* [2, 5, 16, 12] */
    int d = tsr_net_concat(net, 1, 2, (int[]){tsr_net_instance_norm(net, c, NULL), x});
    int e = tsr_net_average_pool(net, d, 2); /* [2, 8, 8, 6] */
    int f = tsr_net_binary(net, "Mul", tsr_net_add(net, a, e), tsr_net_global_average_pool(net, e));
    int g = tsr_net_layer_norm(net, f, NULL);
    int h = tsr_net_activation(net, tsr_net_dropout(net, g, 0.3f), "Clip", -1, 1);
    int i = tsr_net_reshape(net, h, &(tsr_shape){2, {4, -1}}); /* [2, 4, 96] */
    tsr_net_output(net, "y", tsr_net_softmax(net, i, -1));
    tsr_model *model = finish(net);
    tsr_net_destroy(net);
    tsr_tensor_info info;
    EXPECT_OK(tsr_model_output(model, 0, &info));
    assert_memory_equal(&info.shape, &((tsr_shape){3, {2, 4, 96}}), sizeof info.shape);
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "cpu"});
    tsr_session *session = make_session(device, model, NULL);
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    tsr_session_destroy(session);
    tsr_device_destroy(device);
    tsr_model_free(model);
}

static void expect_layer(tsr_net *net, int layer, const tsr_shape *out, int weight,
                         const tsr_shape *weights) {
    tsr_tensor_info info;
    tsr_net_output(net, "out", layer);
    tsr_model *model = finish(net);
    EXPECT_OK(tsr_model_output(model, 0, &info));
    assert_memory_equal(&info.shape, out, sizeof *out);
    EXPECT_OK(tsr_net_parameter(net, weight, &info));
    assert_memory_equal(&info.shape, weights, sizeof *weights);
    tsr_model_free(model);
    tsr_net_destroy(net);
}

/* Of windows that differ by axis, of two and three axes; sizes are those of ONNX's formulas. */
static void test_windows(void **state) {
    (void)state;
    tsr_net *net = make_net(1);
    tsr_layer_desc desc = {.outputs = 6,
                           .group = 2,
                           .window = {.kernel = {4, 3},
                                      .strides = {2, 3},
                                      .dilations = {1, 2},
                                      .pads_begin = {1, 0},
                                      .pads_end = {2, 1},
                                      .output_padding = {1, 2}}};
    int x = tsr_net_input(net, "x", &(tsr_shape){4, {1, 4, 7, 5}});
    expect_layer(net, tsr_net_conv_transpose(net, x, &desc), &(tsr_shape){4, {1, 6, 14, 18}}, 0,
                 &(tsr_shape){4, {4, 3, 4, 3}});
    net = make_net(1);
    desc = (tsr_layer_desc){.outputs = 5,
                            .window = {.kernel = {1, 2, 3},
                                       .strides = {1, 2, 2},
                                       .dilations = {1, 3, 1},
                                       .pads_end = {0, 1, 2}}};
    x = tsr_net_input(net, "x", &(tsr_shape){5, {1, 2, 4, 9, 8}});
    expect_layer(net, tsr_net_conv(net, x, &desc), &(tsr_shape){5, {1, 5, 4, 4, 4}}, 1,
                 &(tsr_shape){1, {5}});
}

/* A model is a copy: the net goes on without it. */
static void test_extended(void **state) {
    (void)state;
    tsr_net *net = make_classifier(1, -1);
    tsr_model *first = finish(net);
    tsr_net_parameter_data(net, 0)[0] = 100;
    tsr_net_output(net, "more", tsr_net_relu(net, 0));
    tsr_model *second = finish(net);
    assert_int_equal(tsr_model_output_count(first), 1);
    assert_int_equal(tsr_model_output_count(second), 2);
    float signal[2 * 64] = {1}, classes[2][10];
    run_signal(first, 2, signal, classes[0]);
    run_signal(second, 2, signal, classes[1]);
    assert_memory_not_equal(classes[0], classes[1], sizeof classes[0]);
    tsr_model_free(second);
    tsr_model_free(first);
    tsr_net_destroy(net);
}

static void test_saved(void **state) {
    (void)state;
    static written saved;
    tsr_net *net = make_classifier(9, -1);
    tsr_model *model = finish(net), *loaded;
    tsr_net_destroy(net);
    EXPECT_OK(tsr_model_write(model, NULL, append_written, &saved));
    EXPECT_OK(tsr_model_load_memory(saved.bytes, saved.size, NULL, &loaded));
    float signal[2 * 64] = {1, 2, 3}, classes[2][10];
    run_signal(model, 2, signal, classes[0]);
    run_signal(loaded, 2, signal, classes[1]);
    assert_memory_equal(classes[0], classes[1], sizeof classes[0]);
    tsr_model_free(loaded);
    tsr_model_free(model);
}

/* An attribute that only later opsets have. */
static void test_later_opset(void **state) {
    (void)state;
    tsr_net *net = make_net(1);
    int x = tsr_net_input(net, "x", &(tsr_shape){4, {1, 2, 9, 9}});
    const tsr_layer_desc desc = {.window = {.kernel = {2, 2}, .dilations = {3, 2}}};
    tsr_net_output(net, "y", tsr_net_pool(net, x, "AveragePool", &desc));
    tsr_model_free(finish(net));
    tsr_net_destroy(net);
}

/* ---- weights --------------------------------------------------------------------------------- */

static double variance(const float *elements, int count) {
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++) {
        sum += elements[i];
        squares += (double)elements[i] * elements[i];
    }
    assert_true(fabs(sum / count) < 0.01);
    return squares / count - sum / count * (sum / count);
}

/* Those of one seed are the same everywhere: of NumPy's RandomState(1).randn(), times sqrt(2 / 5).
 */
static void test_seed(void **state) {
    (void)state;
    static const double normal[] = {1.6243453636632417, -0.6117564136500754, -0.5281717522634557,
                                    -1.0729686221561705, 0.8654076293246785};
    tsr_net *nets[] = {make_classifier(1, 1), make_classifier(1, 1), make_classifier(2, 1)};
    const float *weights[3];
    for (int i = 0; i < 3; i++)
        weights[i] = tsr_net_parameter_data(nets[i], 0);
    for (int i = 0; i < 5; i++)
        assert_true(weights[0][i] == (float)(normal[i] * sqrt(2.0 / 5)));
    assert_memory_equal(weights[0], weights[1], 40 * sizeof(float));
    assert_memory_not_equal(weights[0], weights[2], 40 * sizeof(float));
    for (int i = 0; i < 3; i++)
        tsr_net_destroy(nets[i]);
}

/* 2 / (in * kh * kw); Glorot's uniform numbers have the variance 2 / (fan_in + fan_out). */
static void test_variance(void **state) {
    (void)state;
    tsr_net *net = make_net(4);
    int x = tsr_net_input(net, "x", &(tsr_shape){4, {1, 32, 16, 16}});
    tsr_layer_desc desc = {.outputs = 64, .group = 2, .window = {.kernel = {3, 5}}};
    tsr_net_conv(net, x, &desc);
    desc.weights.kind = TSR_INITIALIZER_GLOROT_UNIFORM;
    tsr_net_conv(net, x, &desc);
    tsr_layer_desc up = {
        .outputs = 32, .no_bias = true, .window = {.kernel = {4, 4}, .strides = {2, 2}}};
    desc.weights = (tsr_initializer){TSR_INITIALIZER_CONSTANT, 0.5f};
    desc.bias = (tsr_initializer){TSR_INITIALIZER_NORMAL, 2};
    tsr_net_conv(net, x, &desc);
    const int count = 64 * 16 * 15;
    double he = variance(tsr_net_parameter_data(net, 0), count),
           glorot = variance(tsr_net_parameter_data(net, 2), count);
    assert_true(fabs(he / (2.0 / (16 * 15)) - 1) < 0.03);
    assert_true(fabs(glorot / (2.0 / (16 * 15 + 32 * 15)) - 1) < 0.03);
    assert_true(tsr_net_parameter_data(net, 4)[count - 1] == 0.5f);
    assert_true(tsr_net_parameter_data(net, 1)[63] == 0 && tsr_net_parameter_data(net, 5)[63] != 0);
    assert_null(tsr_net_parameter_data(net, 6));
    tsr_net_conv_transpose(net, x, &up); /* an output's element is a sum of 32 * 2 * 2 products */
    double spread = variance(tsr_net_parameter_data(net, 6), 32 * 32 * 16);
    assert_true(fabs(spread / (2.0 / (32 * 4)) - 1) < 0.03);
    tsr_net_destroy(net);
}

/* ---- failures -------------------------------------------------------------------------------- */

/* The first failure is kept, and told at the end. */
static void expect_refused(tsr_net *net, tsr_status status, const char *words) {
    tsr_model *model;
    assert_int_equal(tsr_net_relu(net, 0), TSR_NET_NONE);
    expect_failure(tsr_net_finish(net, &model), status, words);
    assert_null(model);
    tsr_net_destroy(net);
}

static tsr_net *net_of_image(void) {
    tsr_net *net = make_net(1);
    tsr_net_input(net, "x", &(tsr_shape){4, {1, 6, 8, 8}});
    return net;
}

static void test_refused(void **state) {
    (void)state;
    tsr_model *model;
    tsr_net *net = make_net(1);
    expect_failure(tsr_net_finish(net, &model), TSR_ERROR_INVALID_ARGUMENT, "it has no input");
    tsr_net_input(net, "x", &(tsr_shape){2, {-1, 3}});
    expect_failure(tsr_net_finish(net, &model), TSR_ERROR_INVALID_ARGUMENT, "it has no output");
    tsr_net_input(net, "z", &(tsr_shape){2, {2, 3}});
    expect_refused(net, TSR_ERROR_SHAPE,
                   "test: input 'z' [2, 3]: inputs before have another batch");
    net = net_of_image();
    tsr_net_conv2d(net, 0, 8, 9);
    expect_refused(net, TSR_ERROR_SHAPE, "node 'conv1' (Conv of [1, 6, 8, 8]");
    net = net_of_image();
    tsr_net_conv(net, 0, &(tsr_layer_desc){.outputs = 8, .group = 4, .window = {.kernel = {1, 1}}});
    expect_refused(net, TSR_ERROR_SHAPE, "layer 'conv1': 6 channels to 8 in 4 groups");
    net = net_of_image();
    tsr_net_conv2d(net, 0, 1 << 20, 1 << 13);
    expect_refused(net, TSR_ERROR_OUT_OF_MEMORY, "layer 'conv1', weight");
    net = net_of_image();
    tsr_net_dense(net, 0, 10);
    expect_refused(net, TSR_ERROR_SHAPE,
                   "layer 'dense1': its input is [1, 6, 8, 8], it needs a batch and features");
    net = net_of_image();
    tsr_net_concat(net, 0, 2, (int[]){0, 0});
    expect_refused(net, TSR_ERROR_SHAPE, "has the batch along that axis");
    net = net_of_image();
    tsr_net_softmax(net, 0, 4);
    expect_refused(net, TSR_ERROR_INVALID_MODEL, "'softmax1' (Softmax of");
    net = net_of_image();
    tsr_net_activation(net, 0, "Gemm", NAN, NAN);
    expect_refused(net, TSR_ERROR_INVALID_ARGUMENT, "'Gemm'");
    net = net_of_image();
    tsr_net_add(net, 0, 77);
    expect_refused(net, TSR_ERROR_INVALID_ARGUMENT,
                   "layer 'add1' (Add): its input 1 is 77, which is no tensor of the net");
    net = net_of_image();
    tsr_net_conv(net, 0,
                 &(tsr_layer_desc){.outputs = 1, .window = {.kernel = {1, 1}}, .name = "x"});
    expect_refused(net, TSR_ERROR_INVALID_ARGUMENT, "the name 'x' of a layer (conv) is there");
    net = net_of_image();
    tsr_net_add(net, 0, tsr_net_flatten(net, 0));
    expect_refused(net, TSR_ERROR_SHAPE, "both need as many axes");
    net = net_of_image();
    tsr_net_dropout(net, 0, 1);
    expect_refused(net, TSR_ERROR_INVALID_ARGUMENT, "layer 'dropout1': its ratio");
    net = net_of_image();
    tsr_net_reshape(net, 0, &(tsr_shape){1, {7}});
    expect_refused(net, TSR_ERROR_SHAPE, "'reshape1' (Reshape of");
    net = net_of_image();
    tsr_net_conv(net, 0,
                 &(tsr_layer_desc){.outputs = 1,
                                   .window = {.kernel = {1, 1}},
                                   .weights = {TSR_INITIALIZER_CONSTANT, INFINITY}});
    expect_refused(net, TSR_ERROR_INVALID_ARGUMENT, "the initializer's value is not finite");
    assert_int_equal(tsr_net_relu(NULL, 0), TSR_NET_NONE);
    assert_int_equal(tsr_net_concat(NULL, 1, 2, NULL), TSR_NET_NONE);
    tsr_net_destroy(NULL);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classifier),  cmocka_unit_test(test_window),
        cmocka_unit_test(test_layers),      cmocka_unit_test(test_windows),
        cmocka_unit_test(test_extended),    cmocka_unit_test(test_saved),
        cmocka_unit_test(test_later_opset), cmocka_unit_test(test_seed),
        cmocka_unit_test(test_variance),    cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("build", tests, NULL, NULL);
}
