/* Primitives on tensors of the caller's: each kind with random chains of post-ops against the same
 * model, unfused, on the cpu backend. */
#include "support/backends.h"
#include "support/main.h"
#include "support/memory.h"
#include "support/primitives.h"

#include <math.h>
#include <string.h>

enum { CASES = 12, CHAINS = 60, KINDS = TSR_PRIMITIVE_REDUCTION + 1 };

/* Operators of a chain are exact to a few units in the last place each. */
#define CHAIN_TOLERANCE 5e-5
#define HALF_CHAIN 0.03

static tsr_device *cpu;

static tsr_device *gpu(int environment) {
    static const backend_limits limits[] = {
        {0}, {.max_texture_size = 64, .max_draw_buffers = 1}, {.max_draw_buffers = 2}};
    return gpu_device(gpu_has_textures() ? limits[environment % 3] : limits[0]);
}

static void run_random(tsr_primitive_kind kind, int length, uint32_t seed) {
    primitive_case c;
    bool half = seed % 5 == 4 || gpu_is_half_only();
    begin_primitive(&c, kind, seed);
    for (int i = 0; i < length; i++)
        add_random_post(&c);
    expect_primitive(&c, gpu((int)seed), cpu, half ? TSR_DTYPE_F16 : TSR_DTYPE_F32,
                     half ? HALF_CHAIN : CHAIN_TOLERANCE);
}

static void test_kinds(void **state) {
    (void)state;
    need_gpu();
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < some_cases(CASES); i++)
            run_random((tsr_primitive_kind)kind, i % 4, (uint32_t)(1000 * kind + i));
}

static void test_chains(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(CHAINS); i++)
        run_random((tsr_primitive_kind)(i % KINDS), i % 3 ? 4 + i % 28 : TSR_MAX_POST_OPS,
                   (uint32_t)(100000 + i));
}

/* ---- operators ------------------------------------------------------------------------------- */

/* Each unary operator, as a primitive and as a post-op; of results from 0 to 1. */
static void test_unary_operators(void **state) {
    (void)state;
    static const char *const ops[] = {
#define TSR_UNARY(Name, ...) #Name,
#include "graph/ops.def"
    };
    need_gpu();
    double tolerance = gpu_is_half_only() ? HALF_CHAIN : CHAIN_TOLERANCE;
    for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        primitive_case c;
        begin_unary(&c, ops[i], i);
        expect_primitive(&c, gpu(0), cpu, TSR_DTYPE_F32, tolerance);
        begin_unary(&c, "Sigmoid", i);
        add_eltwise(&c, ops[i], NAN, NAN);
        expect_primitive(&c, gpu(0), cpu, TSR_DTYPE_F32, tolerance);
    }
}

/* Each operator of two tensors, of positive numbers, with operands of each kind, swapped, too. */
static void test_binary_operators(void **state) {
    (void)state;
    static const char *const ops[] = {"Add", "Sub",   "Mul", "Div", "Mod",
                                      "Pow", "PRelu", "Max", "Min"};
    need_gpu();
    for (uint32_t i = 0; i < 9; i++)
        for (int k = 0; k < 8; k++) {
            primitive_case c;
            begin_unary(&c, "Sigmoid", i);
            const tsr_shape r = c.result, operands[] = {{.rank = 0},
                                                        {3, {r.dim[1], 1, 1}},
                                                        r,
                                                        {4, {r.dim[0], 1, 1, r.dim[3]}}};
            bool swapped = k > 3;
            add_binary(&c, ops[i], &operands[k % 4], swapped, 2, 0.5f);
            if (swapped && !strcmp(ops[i], "PRelu")) { /* its slope cannot be the larger one */
                free_primitive(&c);
                onnx_writer_destroy(c.writer);
                continue;
            }
            expect_primitive(&c, gpu(k), cpu, TSR_DTYPE_F32,
                             gpu_is_half_only() ? HALF_CHAIN : CHAIN_TOLERANCE);
        }
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* In the order appended: between other post-ops, several times, on the result of the run before. */
static void test_sums(void **state) {
    (void)state;
    need_gpu();
    for (int kind = 0; kind < KINDS; kind++)
        for (int order = 0; order < 4; order++) {
            primitive_case c;
            begin_primitive(&c, (tsr_primitive_kind)kind, (uint32_t)(7 * kind + order));
            if (order & 1)
                add_eltwise(&c, "Tanh", NAN, NAN);
            add_sum(&c, 0.5f, -1.25f);
            if (order & 2)
                add_eltwise(&c, "LeakyRelu", 0.5f, 0);
            if (order == 3)
                add_sum(&c, -0.25f, 3);
            expect_primitive(&c, gpu(order), cpu, TSR_DTYPE_F32,
                             gpu_is_half_only() ? HALF_CHAIN : CHAIN_TOLERANCE);
        }
}

/* One tensor as source, other, operands and destination. */
static void test_one_tensor(void **state) {
    (void)state;
    need_gpu();
    tsr_device *devices[] = {gpu(0), cpu};
    const tsr_shape shape = {4, {2, 5, 3, 7}};
    random_source random = random_from(3);
    elements x = random_elements(&random, &shape, 0, 1);
    tsr_post_ops *posts;
    EXPECT_OK(tsr_post_ops_create(&posts));
    EXPECT_OK(tsr_post_ops_append_binary(posts, "Sub", &shape, true)); /* x - 2 x */
    EXPECT_OK(tsr_post_ops_append_sum(posts, 3, 0.5f));                /* -x + 3 (x - 0.5) */
    for (int d = 0; d < 2; d++) {
        tsr_primitive *primitive;
        tsr_device_tensor *tensor = make_tensor(devices[d], &shape, TSR_DTYPE_F32, x.values);
        EXPECT_OK(tsr_primitive_create(devices[d],
                                       &(tsr_primitive_desc){.kind = TSR_PRIMITIVE_BINARY,
                                                             .op = "Add",
                                                             .source = shape,
                                                             .other = shape,
                                                             .posts = posts},
                                       &primitive));
        const tsr_primitive_args args = {
            .source = tensor, .other = tensor, .destination = tensor, .operands = {tensor}};
        for (int run = 0; run < 3; run++)
            EXPECT_OK(tsr_primitive_execute(primitive, &args));
        elements y = read_tensor(tensor);
        for (size_t i = 0; i < y.count; i++) {
            float expected = 8 * x.values[i] - 10.5f; /* 2 x - 1.5, three times */
            assert_true(fabsf(y.values[i] - expected) < (gpu_is_half_only() ? 0.05f : 1e-4f));
        }
        free(y.values);
        tsr_primitive_destroy(primitive);
        tsr_device_tensor_destroy(tensor);
    }
    tsr_post_ops_destroy(posts);
    free(x.values);
}

/* ---- more than one pass ---------------------------------------------------------------------- */

static tsr_status create(const primitive_case *c, bool fused_only, tsr_primitive **primitive) {
    tsr_primitive_desc desc = c->desc;
    desc.posts = c->posts;
    desc.fused_only = fused_only;
    return tsr_primitive_create(gpu(0), &desc, primitive);
}

/* As many operands as there may be: a pass reads fewer. */
static void test_many_operands(void **state) {
    (void)state;
    static const char *const ops[] = {"Add", "Mul", "Sub"};
    tsr_primitive *primitive;
    tsr_primitive_report report;
    primitive_case c;
    need_gpu();
    begin_primitive(&c, TSR_PRIMITIVE_CONV, 5);
    for (int i = 0; i < TSR_MAX_POST_OPS; i++) {
        const tsr_shape operand = random_operand(&c);
        add_binary(&c, ops[i % 3], &operand, i % 2, 0, 1);
    }
    EXPECT_OK(create(&c, false, &primitive));
    EXPECT_OK(tsr_primitive_get_report(primitive, &report));
    assert_true(report.passes > 2);
    assert_true(report.macs > 0 && report.weight_bytes > 0 && *report.kernel);
    assert_int_equal(tsr_post_ops_length(tsr_primitive_post_ops(primitive)), TSR_MAX_POST_OPS);
    tsr_primitive_destroy(primitive);
    expect_failure(create(&c, true, &primitive), TSR_ERROR_UNSUPPORTED, "one tensor too many");
    assert_null(primitive);
    expect_primitive(&c, gpu(0), cpu, TSR_DTYPE_F32,
                     gpu_is_half_only() ? HALF_CHAIN : CHAIN_TOLERANCE);
}

/* A chain without operands is fused, whatever its length; depthwise convolutions are not. */
static void test_fused_only(void **state) {
    (void)state;
    tsr_primitive *primitive;
    tsr_primitive_report report;
    need_gpu();
    for (int kind = 0; kind < KINDS; kind++) {
        primitive_case c;
        begin_primitive(&c, (tsr_primitive_kind)kind, 20);
        EXPECT_OK(create(&c, true, &primitive));
        EXPECT_OK(tsr_primitive_get_report(primitive, &report));
        int passes = report.passes;
        tsr_primitive_destroy(primitive);
        while (tsr_post_ops_length(c.posts) < TSR_MAX_POST_OPS - 1)
            add_eltwise(&c, "LeakyRelu", 0.75f, NAN);
        EXPECT_OK(create(&c, true, &primitive));
        EXPECT_OK(tsr_primitive_get_report(primitive, &report));
        assert_int_equal(report.passes, passes);
        tsr_primitive_destroy(primitive);
        EXPECT_OK(tsr_post_ops_append_depthwise_conv(c.posts, 3, 1, 1));
        expect_failure(create(&c, false, &primitive), TSR_ERROR_UNSUPPORTED,
                       "depthwise convolution");
        onnx_writer_destroy(c.writer);
        free_primitive(&c);
    }
}

/* Measuring, too, has tensors of its own, as making has; what they are is counted. */
static void test_reports(void **state) {
    (void)state;
    need_gpu();
    const tsr_shape shape = {4, {1, 6, 9, 8}};
    float weights[6 * 6] = {1};
    tsr_post_ops *posts;
    EXPECT_OK(tsr_post_ops_create(&posts));
    tsr_primitive_desc desc = {.kind = TSR_PRIMITIVE_CONV,
                               .source = shape,
                               .weights = {{4, {6, 6, 1, 1}}, weights},
                               .posts = posts,
                               .tune_ms = 2000};
    tsr_primitive_report plain, sum;
    for (int i = 0; i < 2; i++) {
        tsr_primitive *primitive;
        EXPECT_OK(tsr_primitive_create(gpu(0), &desc, &primitive));
        EXPECT_OK(tsr_primitive_get_report(primitive, i ? &sum : &plain));
        tsr_primitive_destroy(primitive);
        EXPECT_OK(tsr_post_ops_append_sum(posts, 1, 0));
    }
    tsr_post_ops_destroy(posts);
    assert_int_equal(plain.macs, 6 * 6 * 9 * 8);
    assert_true(tsr_shape_count(&plain.destination) == 6 * 9 * 8 && plain.passes >= 1);
    assert_true(plain.weight_bytes > 0 && plain.allocated_bytes >= plain.weight_bytes);
    /* of two tiles of four channels, in 16 or 32 bits */
    assert_true(sum.allocated_bytes >= plain.allocated_bytes + 2 * 9 * 8 * 4 * 2);
}

/* ---- in a row -------------------------------------------------------------------------------- */

enum { LAYERS = 3 };

/* A 1x1 convolution, a depthwise one of its result, both with post-ops, which a primitive refuses
 * to fuse; and a transposed one, whose kernel writes another layout. */
static const char *const row_model =
    "Conv x[2,3,9,7] w0[5,3,1,1] -> a; Relu a -> b; "
    "Conv b w1[5,1,3,3] -> c pads=1,1,1,1 group=5; Sigmoid c -> d; "
    "ConvTranspose d w2[5,6,4,4] -> y strides=2,2 pads=1,1,1,1";
static const tsr_shape row_shapes[LAYERS + 1] = {
    {4, {2, 3, 9, 7}}, {4, {2, 5, 9, 7}}, {4, {2, 5, 9, 7}}, {4, {2, 6, 18, 14}}};
static const tsr_primitive_desc row_layers[LAYERS] = {
    {.kind = TSR_PRIMITIVE_CONV, .weights.shape = {4, {5, 3, 1, 1}}},
    {.kind = TSR_PRIMITIVE_CONV,
     .weights.shape = {4, {5, 1, 3, 3}},
     .window = {.pads_begin = {1, 1}, .pads_end = {1, 1}, .group = 5}},
    {.kind = TSR_PRIMITIVE_CONV_TRANSPOSE,
     .weights.shape = {4, {5, 6, 4, 4}},
     .window = {.pads_begin = {1, 1}, .pads_end = {1, 1}, .strides = {2, 2}}},
};
static const char *const row_posts[LAYERS] = {"Relu", "Sigmoid", NULL};

static void execute_layer(tsr_device *device, int i, const float *weights, tsr_device_tensor *from,
                          tsr_device_tensor *to) {
    tsr_primitive_desc desc = row_layers[i];
    tsr_primitive *primitive;
    tsr_post_ops *posts;
    EXPECT_OK(tsr_post_ops_create(&posts));
    if (row_posts[i])
        EXPECT_OK(tsr_post_ops_append_eltwise(posts, row_posts[i], NAN, NAN));
    desc.posts = posts;
    desc.source = row_shapes[i];
    desc.weights.data = weights;
    EXPECT_OK(tsr_primitive_create(device, &desc, &primitive));
    tsr_post_ops_destroy(posts);
    EXPECT_OK(
        tsr_primitive_execute(primitive, &(tsr_primitive_args){.source = from, .destination = to}));
    tsr_primitive_destroy(primitive);
}

static elements run_layers(tsr_device *device, elements x, const elements weights[LAYERS]) {
    tsr_device_tensor *tensors[LAYERS + 1];
    for (int i = 0; i <= LAYERS; i++)
        tensors[i] = make_tensor(device, &row_shapes[i], TSR_DTYPE_F32, i ? NULL : x.values);
    for (int i = 0; i < LAYERS; i++)
        execute_layer(device, i, weights[i].values, tensors[i], tensors[i + 1]);
    elements y = read_tensor(tensors[LAYERS]);
    for (int i = 0; i <= LAYERS; i++)
        tsr_device_tensor_destroy(tensors[i]);
    return y;
}

static void test_in_a_row(void **state) {
    (void)state;
    need_gpu();
    static const char *const names[LAYERS] = {"w0", "w1", "w2"};
    tsr_model *model = make_model(row_model);
    tsr_device *devices[] = {gpu(0), gpu(1), cpu};
    random_source random = random_from(11);
    elements x = random_elements(&random, &row_shapes[0], 0, 1), weights[LAYERS];
    tsr_fixed_input fixed[LAYERS];
    for (int i = 0; i < LAYERS; i++) {
        const tsr_shape *shape = &row_layers[i].weights.shape;
        weights[i] = random_elements(&random, shape, 0, 1);
        fixed[i] = (tsr_fixed_input){names[i], TSR_DTYPE_F32, *shape, weights[i].values};
    }
    for (int d = 0; d < 3; d++) {
        tsr_session *session = make_session(
            devices[d], model, &(tsr_session_desc){.fixed = fixed, .fixed_count = LAYERS});
        EXPECT_OK(tsr_session_set_input(session, "x", x.values, x.count));
        EXPECT_OK(tsr_session_run(session));
        elements expected = get_output(session, "y"), actual = run_layers(devices[d], x, weights);
        expect_close(actual, expected, gpu_is_half_only() ? HALF_CHAIN : SUM_TOLERANCE);
        free(actual.values);
        free(expected.values);
        tsr_session_destroy(session);
    }
    for (int i = 0; i < LAYERS; i++)
        free(weights[i].values);
    free(x.values);
    tsr_model_free(model);
}

/* ---- of a session ---------------------------------------------------------------------------- */

/* What a session fused, a primitive takes. */
static void test_session_chain(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_model(
        "Conv x[1,3,9,9] w{5,3,3,3} -> c; LeakyRelu c -> l alpha=0.25; Sub z[5,7,7] l -> s; "
        "PRelu s p{5,1,1} -> q; Clip q a<-0.5 b<0.75 -> y");
    tsr_session *session = make_session(gpu(0), model, NULL);
    tsr_post_ops *posts;
    tsr_report report;
    tsr_primitive *primitive;
    tsr_shape shape;
    EXPECT_OK(tsr_session_report(session, &report));
    EXPECT_OK(tsr_session_post_ops(session, report.node_count - 1, &posts));
    assert_int_equal(tsr_post_ops_length(posts), 4);
    assert_int_equal(post_of(posts, 0).kind, TSR_POST_OP_ELTWISE);
    assert_string_equal(post_of(posts, 0).op, "LeakyRelu");
    assert_true(post_of(posts, 0).alpha == 0.25f && !post_of(posts, 0).tensor &&
                *post_of(posts, 0).node);
    assert_int_equal(post_of(posts, 1).kind, TSR_POST_OP_BINARY);
    assert_true(post_of(posts, 1).swapped && post_of(posts, 1).operand.rank == 3);
    assert_string_equal(post_of(posts, 1).tensor, "z");
    assert_int_equal(post_of(posts, 2).kind, TSR_POST_OP_PRELU);
    assert_int_equal(post_of(posts, 2).mask, 1 << 1);
    assert_string_equal(post_of(posts, 2).tensor, "p");
    assert_true(post_of(posts, 3).alpha == -0.5f && post_of(posts, 3).beta == 0.75f);
    tsr_post_ops_destroy(posts);
    expect_failure(tsr_session_post_ops(session, report.node_count, &posts),
                   TSR_ERROR_INVALID_ARGUMENT, "there is no node");
    assert_null(posts);
    EXPECT_OK(tsr_session_post_ops(session, report.node_count - 1, &posts));
    tsr_session_destroy(session);
    tsr_model_free(model);
    EXPECT_OK(tsr_primitive_create(gpu(0),
                                   &(tsr_primitive_desc){.kind = TSR_PRIMITIVE_ELTWISE,
                                                         .op = "Relu",
                                                         .source = {4, {1, 5, 7, 7}},
                                                         .posts = posts},
                                   &primitive));
    EXPECT_OK(tsr_primitive_operand_shape(primitive, 2, &shape));
    assert_true(shape.rank == 4 && shape.dim[1] == 5 && shape.dim[2] == 1);
    assert_null(post_of(tsr_primitive_post_ops(primitive), 2).tensor);
    tsr_primitive_destroy(primitive);
    tsr_post_ops_destroy(posts);
}

/* Also a post-op that tsr_post_ops_append_binary() does not make: with its alpha, and an operand of
 * the result's shape alone. */
static void test_session_chain_of_training(void **state) {
    (void)state;
    need_gpu();
    const tsr_shape shape = {2, {1, 3}}, two = {2, {2, 3}};
    tsr_model *model = make_model("Sin x[1,3] -> s; LeakyReluGrad s g[1,3] -> y alpha=0.25");
    tsr_session *session = make_session(gpu(0), model, NULL);
    tsr_post_ops *posts;
    EXPECT_OK(tsr_session_post_ops(session, 0, &posts));
    tsr_session_destroy(session);
    tsr_model_free(model);
    assert_int_equal(tsr_post_ops_length(posts), 1);
    assert_int_equal(post_of(posts, 0).kind, TSR_POST_OP_BINARY);
    assert_true(post_of(posts, 0).alpha == 0.25f);
    tsr_device *const devices[] = {gpu(0), cpu};
    for (int i = 0; i < 2; i++) {
        tsr_primitive_desc desc = {
            .kind = TSR_PRIMITIVE_ELTWISE, .op = "Relu", .source = shape, .posts = posts};
        tsr_primitive *primitive;
        tsr_device_tensor *x = make_tensor(devices[i], &shape, TSR_DTYPE_F32, (float[]){1, 2, -3}),
                          *g = make_tensor(devices[i], &shape, TSR_DTYPE_F32, (float[]){1, -1, 1});
        EXPECT_OK(tsr_primitive_create(devices[i], &desc, &primitive));
        EXPECT_OK(tsr_primitive_execute(
            primitive, &(tsr_primitive_args){.source = x, .destination = x, .operands = {g}}));
        elements y = read_tensor(x);
        assert_true(y.values[0] == 1 && y.values[1] == 0.5f && y.values[2] == 0);
        free(y.values);
        tsr_primitive_destroy(primitive);
        tsr_device_tensor_destroy(g);
        tsr_device_tensor_destroy(x);
        desc.source = two;
        expect_failure(tsr_primitive_create(devices[i], &desc, &primitive), TSR_ERROR_SHAPE,
                       "an operand of shape [1, 3] cannot be broadcast to [2, 3]");
    }
    tsr_post_ops_destroy(posts);
}

/* ---- lives ----------------------------------------------------------------------------------- */

static void live(void *context, unsigned i) {
    primitive_case *c = context;
    elements y = run_primitive(c, gpu(0), i % 2 ? TSR_DTYPE_F16 : TSR_DTYPE_F32, 2);
    free(y.values);
}

static void test_no_growth(void **state) {
    (void)state;
    primitive_case c;
    need_gpu();
    begin_primitive(&c, TSR_PRIMITIVE_CONV, 1);
    add_sum(&c, 0.5f, 1);
    add_prelu(&c, 1 << 1);
    close_primitive(&c);
    expect_no_growth(
        &(growth_limit){.warm_up = 40, .lives = 200, .allocated_mib = 2, .resident_mib = 8}, live,
        &c);
    free_primitive(&c);
}

static int open_cpu(void **state) {
    (void)state;
    cpu = make_device(&(tsr_device_desc){.backend = "cpu"});
    return 0;
}

static int close_all(void **state) {
    tsr_device_destroy(cpu);
    return close_backends(state);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_unary_operators),
        cmocka_unit_test(test_binary_operators),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_one_tensor),
        cmocka_unit_test(test_many_operands),
        cmocka_unit_test(test_fused_only),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_in_a_row),
        cmocka_unit_test(test_session_chain),
        cmocka_unit_test(test_session_chain_of_training),
        cmocka_unit_test(test_no_growth),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_all);
}
