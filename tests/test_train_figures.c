/* Training beside PyTorch's: one step of a small U-Net with batch normalization and ten steps of
 * Adam; then five steps with a discriminator. The figures are those of
 * tests/make_training_figures.py, which PyTorch 2.11 printed. */
#include "support/main.h"
#include "support/training.h"

#include <math.h>

enum { IMAGE = 2 * 3 * 16 * 12, STEPS = 10, PARAMETERS = 9, TOLD = 5, LOSSES = 3 };

/* Of a parameter: its elements are scale * sin(0.37 * i + 1.3 * seed) + add. */
typedef struct start {
    int seed;
    float scale, add;
} start;

static const start generator_starts[PARAMETERS] = {
    {2, 0.2f, 0}, {3, 0.1f, 0}, {4, 0.2f, 0}, {5, 0.2f, 1},  {6, 0.1f, 0},
    {7, 0.2f, 0}, {8, 0.1f, 0}, {9, 0.2f, 0}, {10, 0.1f, 0},
};
enum { JUDGES = 7 };
static const start discriminator_starts[JUDGES] = {
    {11, 0.2f, 0}, {12, 0.1f, 0}, {13, 0.2f, 0}, {14, 0.2f, 1},
    {15, 0.1f, 0}, {16, 0.2f, 0}, {17, 0.1f, 0},
};

/* Roots of sums of squares: of gradients in the first step, of weights after the last one. */
static const double gradients[PARAMETERS] = {0.42846082,  0.12602129,  0.084611682,
                                             0.025140968, 0.020058697, 0.11372147,
                                             0.040952263, 0.27382943,  0.034526058},
                    trained[PARAMETERS] = {2.2129226, 0.2342832, 3.6017968, 2.9559761,  0.1782388,
                                           3.3286603, 0.2077514, 3.3356143, 0.047844904},
                    losses[STEPS] = {0.45203883, 0.3296945,  0.28415746, 0.24447485,  0.20573167,
                                     0.17257394, 0.14208078, 0.11553719, 0.094511625, 0.0791541};

/* Of steps with a discriminator: L1, the adversarial loss, the discriminator's; and weights. */
typedef struct adversarial {
    tsr_adversarial kind;
    double losses[TOLD][LOSSES], generator[PARAMETERS], discriminator[JUDGES];
} adversarial;

static const adversarial with_discriminator[] = {
    {TSR_ADVERSARIAL_CROSS_ENTROPY,
     {{0.55192954, 0.76525209, 0.73536931},
      {0.53602928, 0.78225655, 0.71195907},
      {0.52056546, 0.79984575, 0.69450888},
      {0.5051085, 0.8031334, 0.68323632},
      {0.48856284, 0.79747302, 0.67824173}},
     {2.1728784, 0.21274664, 3.3563354, 3.022067, 0.16607093, 3.326173, 0.18230017, 3.0706171,
      0.11605945},
     {3.3918383, 0.18323245, 3.6757092, 2.8374366, 0.20863269, 1.116033, 0.0010338207}},
    {TSR_ADVERSARIAL_HINGE,
     {{0.55192954, 0.15946936, 2.1247812},
      {0.53602988, 0.22324101, 2.0348974},
      {0.52057949, 0.28644545, 1.9648935},
      {0.50516811, 0.325219, 1.9165818},
      {0.4886186, 0.35211835, 1.8891972}},
     {2.1722988, 0.21258349, 3.3569719, 3.0221359, 0.16622351, 3.3273145, 0.18217078, 3.0703366,
      0.11572104},
     {3.3920738, 0.18142094, 3.6764754, 2.8435911, 0.20594205, 1.1393322, 0.01086366}},
    {TSR_ADVERSARIAL_LEAST_SQUARES,
     {{0.55192954, 0.58389628, 0.81224598},
      {0.53601588, 0.53841956, 0.71090946},
      {0.52054888, 0.49910317, 0.63658534},
      {0.50508069, 0.45051313, 0.57870101},
      {0.48852525, 0.41553492, 0.51602652}},
     {2.1726797, 0.21272851, 3.3566539, 3.0219856, 0.16572667, 3.3266332, 0.18214891, 3.0707428,
      0.11622512},
     {3.397091, 0.18548166, 3.6697326, 2.8405314, 0.20483662, 1.1214098, 0.0013853684}},
};

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

static void fill_parameters(tsr_net *net, const start *starts, int count) {
    for (int i = 0; i < count; i++)
        fill(tsr_net_parameter_data(net, index_of(i)), count_of(net, index_of(i)), starts[i].seed,
             starts[i].scale, starts[i].add);
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
    fill_parameters(net, generator_starts, PARAMETERS);
    return net;
}

static tsr_net *make_discriminator(void) {
    static const tsr_window_desc half = {.kernel = {4, 4},
                                         .strides = {2, 2},
                                         .pads_begin = {1, 1},
                                         .pads_end = {1, 1}},
                                 same = {
                                     .kernel = {3, 3}, .pads_begin = {1, 1}, .pads_end = {1, 1}};
    const tsr_shape shape = {4, {2, 3, 16, 12}};
    tsr_net *net;
    EXPECT_OK(tsr_net_create(NULL, &net));
    int both[] = {tsr_net_input(net, "image", &shape), tsr_net_input(net, "picture", &shape)};
    int x = tsr_net_conv(net, tsr_net_concat(net, 1, 2, both),
                         &(tsr_layer_desc){.outputs = 6, .window = half});
    x = tsr_net_activation(net, x, "LeakyRelu", 0.2f, NAN);
    x = tsr_net_conv(net, x, &(tsr_layer_desc){.outputs = 7, .no_bias = true, .window = half});
    x = tsr_net_activation(net, tsr_net_batch_norm(net, x, NULL), "LeakyRelu", 0.2f, NAN);
    x = tsr_net_conv(net, x, &(tsr_layer_desc){.outputs = 1, .window = same});
    tsr_net_output(net, "logits", x);
    fill_parameters(net, discriminator_starts, JUDGES);
    return net;
}

/* Of a weight of the trained model, or of its change. */
static double read_norm(const tsr_model *model, const char *name, const float *minus) {
    tsr_shape shape;
    const float *elements = model_weights(model, name, &shape);
    double sum = 0;
    for (int64_t i = 0; i < tsr_shape_count(&shape); i++) {
        double element = (double)elements[i] - (minus ? (double)minus[i] : 0);
        sum += element * element;
    }
    return sqrt(sum);
}

static void expect_near(const char *what, double found, double expected) {
    if (!(fabs(found - expected) <= 1e-4 * expected))
        fail_msg("%s: %.8g instead of %.8g", what, found, expected);
}

static void expect_norms(const tsr_net *net, const tsr_model *model, int count,
                         const double *expected) {
    for (int i = 0; i < count; i++) {
        tsr_tensor_info info;
        EXPECT_OK(tsr_net_parameter(net, index_of(i), &info));
        expect_near(info.name, read_norm(model, info.name, NULL), expected[i]);
    }
}

typedef struct lesson {
    float image[IMAGE], target[IMAGE];
    tsr_net *net;
    tsr_model *model;
    tsr_device *device;
    tsr_trainer *trainer;
} lesson;

static void begin(lesson *l, const tsr_trainer_desc *desc) {
    l->net = make_net();
    l->device = make_device(&(tsr_device_desc){.backend = "cpu"});
    EXPECT_OK(tsr_net_finish(l->net, &l->model));
    l->trainer = make_trainer(l->device, l->model, desc);
    fill(l->image, IMAGE, 0, 1, 0);
    fill(l->target, IMAGE, 1, 0.8f, 0);
}

static tsr_model *end(lesson *l) {
    tsr_model *model;
    EXPECT_OK(tsr_trainer_model(l->trainer, &model));
    tsr_trainer_destroy(l->trainer);
    tsr_device_destroy(l->device);
    tsr_model_free(l->model);
    return model;
}

/* With a learning rate of 1 weights change by their gradients. */
static void test_gradients(void **state) {
    (void)state;
    static lesson l;
    float loss;
    begin(&l, &(tsr_trainer_desc){.update = TSR_UPDATE_SGD, .learning_rate = 1});
    EXPECT_OK(step_trainer(l.trainer, l.image, l.target, &loss));
    expect_near("loss", loss, losses[0]);
    tsr_model *model = end(&l);
    for (int i = 0; i < PARAMETERS; i++) {
        tsr_tensor_info info;
        EXPECT_OK(tsr_net_parameter(l.net, index_of(i), &info));
        expect_near(info.name,
                    read_norm(model, info.name, tsr_net_parameter_data(l.net, index_of(i))),
                    gradients[i]);
    }
    tsr_model_free(model);
    tsr_net_destroy(l.net);
}

static void test_adam(void **state) {
    (void)state;
    static lesson l;
    begin(&l, &(tsr_trainer_desc){.learning_rate = 0.01f});
    for (int step = 0; step < STEPS; step++) {
        float loss;
        EXPECT_OK(step_trainer(l.trainer, l.image, l.target, &loss));
        expect_near("loss", loss, losses[step]);
    }
    tsr_model *model = end(&l);
    expect_norms(l.net, model, PARAMETERS, trained);
    tsr_model_free(model);
    tsr_net_destroy(l.net);
}

static void check_adversarial(const adversarial *a) {
    static lesson l;
    static const tsr_loss_term l1 = {.loss = TSR_LOSS_L1, .weight = 100};
    tsr_net *net = make_discriminator();
    tsr_model *discriminator, *judge;
    EXPECT_OK(tsr_net_finish(net, &discriminator));
    begin(&l, &(tsr_trainer_desc){.losses = &l1,
                                  .loss_count = 1,
                                  .learning_rate = 0.002f,
                                  .beta1 = 0.5f,
                                  .discriminator = discriminator,
                                  .adversarial = a->kind});
    for (int step = 0; step < TOLD; step++) {
        float told[LOSSES];
        EXPECT_OK(step_trainer(l.trainer, l.image, l.target, NULL));
        EXPECT_OK(tsr_trainer_losses(l.trainer, told, LOSSES));
        for (int i = 0; i < LOSSES; i++)
            expect_near("loss", told[i], a->losses[step][i]);
    }
    EXPECT_OK(tsr_trainer_discriminator(l.trainer, &judge));
    tsr_model *model = end(&l);
    expect_norms(l.net, model, PARAMETERS, a->generator);
    expect_norms(net, judge, JUDGES, a->discriminator);
    tsr_model_free(model);
    tsr_model_free(judge);
    tsr_model_free(discriminator);
    tsr_net_destroy(l.net);
    tsr_net_destroy(net);
}

static void test_adversarial(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof with_discriminator / sizeof *with_discriminator; i++)
        check_adversarial(&with_discriminator[i]);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_adam),
        cmocka_unit_test(test_adversarial),
    };
    return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
