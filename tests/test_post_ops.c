/* Chains of post-ops: made, inspected, refused; and what device tensors and primitives refuse. On
 * the cpu backend; tests/test_gpu_primitive.c has the results. */
#include "support/counted_memory.h"
#include "support/main.h"
#include "support/primitives.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const tsr_shape image = {4, {1, 3, 4, 5}};

static tsr_device *cpu(void) {
    return make_device(&(tsr_device_desc){.backend = "cpu"});
}

static tsr_post_ops *make_chain(void) {
    tsr_post_ops *posts;
    EXPECT_OK(tsr_post_ops_create(&posts));
    assert_int_equal(tsr_post_ops_length(posts), 0);
    return posts;
}

/* ---- chains ---------------------------------------------------------------------------------- */

static void test_inspected(void **state) {
    (void)state;
    tsr_post_ops *posts = make_chain();
    EXPECT_OK(tsr_post_ops_append_eltwise(posts, "HardSigmoid", NAN, 0.25f));
    EXPECT_OK(tsr_post_ops_append_sum(posts, 0.5f, -3));
    EXPECT_OK(tsr_post_ops_append_binary(posts, "Sub", &(tsr_shape){3, {3, 1, 1}}, true));
    EXPECT_OK(tsr_post_ops_append_prelu(posts, 1 << 1 | 1 << 3));
    EXPECT_OK(tsr_post_ops_append_depthwise_conv(posts, 3, 2, 1));
    EXPECT_OK(tsr_post_ops_append_eltwise(posts, "Clip", NAN, INFINITY));
    assert_int_equal(tsr_post_ops_length(posts), 6);
    tsr_post_op post = post_of(posts, 0);
    assert_int_equal(post.kind, TSR_POST_OP_ELTWISE);
    assert_string_equal(post.op, "HardSigmoid");
    assert_true(post.alpha == 0.2f && post.beta == 0.25f && post.operand.rank == -1);
    assert_true(!post.node && !post.tensor);
    post = post_of(posts, 1);
    assert_int_equal(post.kind, TSR_POST_OP_SUM);
    assert_true(post.scale == 0.5f && post.zero_point == -3);
    post = post_of(posts, 2);
    assert_int_equal(post.kind, TSR_POST_OP_BINARY);
    assert_string_equal(post.op, "Sub");
    assert_true(post.swapped && post.operand.rank == 3 && post.operand.dim[0] == 3);
    post = post_of(posts, 3);
    assert_int_equal(post.kind, TSR_POST_OP_PRELU);
    assert_int_equal(post.mask, 10);
    post = post_of(posts, 4);
    assert_int_equal(post.kind, TSR_POST_OP_DEPTHWISE_CONV);
    assert_true(post.kernel == 3 && post.stride == 2 && post.padding == 1);
    post = post_of(posts, 5);
    assert_true(post.alpha == -FLT_MAX && post.beta == FLT_MAX);
    expect_failure(tsr_post_ops_get(posts, 6, &post), TSR_ERROR_INVALID_ARGUMENT,
                   "no post-op 6 of 6");
    expect_failure(tsr_post_ops_get(posts, -1, &post), TSR_ERROR_INVALID_ARGUMENT, "no post-op -1");
    expect_failure(tsr_post_ops_get(posts, 0, NULL), TSR_ERROR_INVALID_ARGUMENT,
                   "tsr_post_ops_get");
    tsr_post_ops_destroy(posts);
}

/* A program of a newer header gets zeros for what the library does not know. */
static void test_sizes(void **state) {
    (void)state;
    struct {
        tsr_post_op known;
        uint64_t more;
    } newer = {.more = 7};
    tsr_post_ops *posts = make_chain();
    EXPECT_OK(tsr_post_ops_append_sum(posts, 1, 0));
    EXPECT_OK(tsr_post_ops_get_sized(posts, 0, &newer.known, sizeof newer));
    assert_true(newer.known.scale == 1 && newer.more == 0);
    tsr_post_ops_destroy(posts);
}

static void test_full(void **state) {
    (void)state;
    tsr_post_ops *posts = make_chain();
    for (int i = 0; i < TSR_MAX_POST_OPS; i++)
        EXPECT_OK(tsr_post_ops_append_eltwise(posts, "Relu", 0, 0));
    const tsr_shape scalar = {.rank = 0};
    const char *words = "at most 32";
    expect_failure(tsr_post_ops_append_eltwise(posts, "Relu", 0, 0), TSR_ERROR_LIMIT, words);
    expect_failure(tsr_post_ops_append_sum(posts, 1, 0), TSR_ERROR_LIMIT, words);
    expect_failure(tsr_post_ops_append_binary(posts, "Add", &scalar, false), TSR_ERROR_LIMIT,
                   words);
    expect_failure(tsr_post_ops_append_prelu(posts, 2), TSR_ERROR_LIMIT, words);
    expect_failure(tsr_post_ops_append_depthwise_conv(posts, 3, 1, 1), TSR_ERROR_LIMIT, words);
    assert_int_equal(tsr_post_ops_length(posts), TSR_MAX_POST_OPS);
    tsr_post_ops_destroy(posts);
}

static void test_bad_posts(void **state) {
    (void)state;
    const tsr_status bad = TSR_ERROR_INVALID_ARGUMENT;
    const tsr_shape scalar = {.rank = 0}, deep = {.rank = 9}, unknown = {2, {3, -1}};
    static const char *const no_unary[] = {"relu", "",    "Add",   "Conv",
                                           "Not",  "Max", "Where", "LeakyReluGrad"};
    static const char *const no_binary[] = {"Relu",   "Equal", "And", "Sum",
                                            "MatMul", "Clip",  "add", "LeakyReluGrad"};
    tsr_post_ops *posts = make_chain();
    for (int i = 0; i < 8; i++) {
        expect_failure(tsr_post_ops_append_eltwise(posts, no_unary[i], 0, 0), bad,
                       "no operator of one tensor");
        expect_failure(tsr_post_ops_append_binary(posts, no_binary[i], &scalar, false), bad,
                       "no operator of two tensors");
    }
    expect_failure(tsr_post_ops_append_eltwise(posts, NULL, 0, 0), bad, "(NULL)");
    expect_failure(tsr_post_ops_append_eltwise(posts, "Relu", 0.5f, 0), bad, "Relu has no alpha");
    expect_failure(tsr_post_ops_append_eltwise(posts, "Relu", 0, -1), bad, "Relu has no beta");
    expect_failure(tsr_post_ops_append_eltwise(posts, "LeakyRelu", 0.1f, 2), bad,
                   "has no beta: it is neither 0 nor NaN");
    expect_failure(tsr_post_ops_append_eltwise(posts, "Selu", 1, INFINITY), bad,
                   "beta (gamma) is not finite");
    expect_failure(tsr_post_ops_append_sum(posts, NAN, 0), bad, "scale is not finite");
    expect_failure(tsr_post_ops_append_sum(posts, 1, INFINITY), bad, "zero_point is not finite");
    expect_failure(tsr_post_ops_append_binary(posts, NULL, &scalar, false), bad, "(NULL)");
    expect_failure(tsr_post_ops_append_binary(posts, "Add", NULL, false), bad, "operand is NULL");
    expect_failure(tsr_post_ops_append_binary(posts, "Add", &deep, false), bad, "rank 9");
    expect_failure(tsr_post_ops_append_binary(posts, "Add", &unknown, false), TSR_ERROR_SHAPE,
                   "axis 1");
    expect_failure(tsr_post_ops_append_prelu(posts, 1 << 8), bad, "mask 0x100");
    expect_failure(tsr_post_ops_append_depthwise_conv(posts, 0, 1, 1), bad, "kernel 0");
    expect_failure(tsr_post_ops_append_depthwise_conv(posts, 3, 0, 1), bad, "stride 0");
    expect_failure(tsr_post_ops_append_depthwise_conv(posts, 3, 1, -1), bad, "padding -1");
    expect_failure(tsr_post_ops_append_sum(NULL, 1, 0), bad, "posts is NULL");
    expect_failure(tsr_post_ops_create(NULL), bad, "posts is NULL");
    expect_failure(tsr_session_post_ops(NULL, 0, NULL), bad, "posts is NULL");
    expect_failure(tsr_session_post_ops(NULL, 0, &(tsr_post_ops *){NULL}), bad, "no node 0 of 0");
    assert_int_equal(tsr_post_ops_length(posts), 0);
    assert_int_equal(tsr_post_ops_length(NULL), 0);
    tsr_post_ops_destroy(posts);
    tsr_post_ops_destroy(NULL);
}

/* ---- tensors --------------------------------------------------------------------------------- */

static void test_tensors(void **state) {
    (void)state;
    tsr_device *device = cpu();
    const uint8_t bytes[2 * 3] = {1, 2, 3, 4, 5, 6};
    const float expected[2 * 3] = {1, 4, 2, 5, 3, 6}; /* [1, 2, 3], of [1, 3, 2] in memory */
    float elements[2 * 3] = {1};
    tsr_device_tensor *tensor =
        make_tensor(device, &(tsr_shape){3, {1, 2, 3}}, TSR_DTYPE_F16, NULL);
    tsr_tensor_info info;
    EXPECT_OK(tsr_device_tensor_read(tensor, elements, 6));
    assert_true(elements[0] == 0); /* zeros at first */
    EXPECT_OK(tsr_device_tensor_describe(tensor, &info));
    assert_true(info.dtype == TSR_DTYPE_F16 && info.shape.rank == 3 && info.shape.dim[2] == 3);
    /* the bytes are [1, 3, 2]: channels are last */
    const uint8_t last[2 * 3] = {1, 4, 2, 5, 3, 6};
    EXPECT_OK(tsr_device_tensor_write_array(tensor, &(tsr_array){.data = (void *)last,
                                                                 .count = 6,
                                                                 .dtype = TSR_DTYPE_U8,
                                                                 .channels_last = true}));
    EXPECT_OK(tsr_device_tensor_read(tensor, elements, 6));
    for (int i = 0; i < 6; i++)
        assert_true(elements[i] == bytes[i]);
    EXPECT_OK(tsr_device_tensor_read_array(
        tensor,
        &(tsr_array){.data = elements, .count = 6, .dtype = TSR_DTYPE_F32, .channels_last = true}));
    assert_memory_equal(elements, expected, sizeof expected);
    tsr_device_destroy(device); /* the tensor has a reference */
    EXPECT_OK(tsr_device_tensor_read(tensor, elements, 6));
    tsr_device_tensor_destroy(tensor);
}

static void test_bad_tensors(void **state) {
    (void)state;
    const tsr_status bad = TSR_ERROR_INVALID_ARGUMENT;
    tsr_device *device = cpu();
    tsr_device_tensor *tensor;
    float x[60] = {0};
    expect_failure(tsr_device_tensor_create(NULL, &image, TSR_DTYPE_F32, &tensor), bad,
                   "device is NULL");
    expect_failure(tsr_device_tensor_create(device, NULL, TSR_DTYPE_F32, &tensor), bad,
                   "shape is NULL");
    expect_failure(tsr_device_tensor_create(device, &image, TSR_DTYPE_F32, NULL), bad,
                   "tensor is NULL");
    expect_failure(tsr_device_tensor_create(device, &image, TSR_DTYPE_I32, &tensor),
                   TSR_ERROR_UNSUPPORTED, "not int32");
    expect_failure(tsr_device_tensor_create(device, &image, (tsr_dtype)99, &tensor),
                   TSR_ERROR_UNSUPPORTED, "float32 or float16");
    expect_failure(
        tsr_device_tensor_create(device, &(tsr_shape){2, {3, 0}}, TSR_DTYPE_F32, &tensor),
        TSR_ERROR_SHAPE, "axis 1");
    expect_failure(
        tsr_device_tensor_create(device, &(tsr_shape){.rank = -1}, TSR_DTYPE_F32, &tensor), bad,
        "rank -1");
    const tsr_shape huge = {4, {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}};
    expect_failure(tsr_device_tensor_create(device, &huge, TSR_DTYPE_F32, &tensor),
                   TSR_ERROR_OUT_OF_MEMORY, "too large");
    const tsr_shape large = {3, {INT32_MAX, 1 << 20, 1}};
    expect_failure(tsr_device_tensor_create(device, &large, TSR_DTYPE_F32, &tensor),
                   TSR_ERROR_OUT_OF_MEMORY, "");
    assert_null(tensor);
    tensor = make_tensor(device, &image, TSR_DTYPE_F32, NULL);
    expect_failure(tsr_device_tensor_write(tensor, x, 59), TSR_ERROR_SHAPE, "60 elements, not 59");
    expect_failure(tsr_device_tensor_write(tensor, NULL, 60), bad, "data is NULL");
    expect_failure(tsr_device_tensor_write(NULL, x, 60), bad, "tensor is NULL");
    expect_failure(tsr_device_tensor_read(tensor, x, 61), TSR_ERROR_SHAPE, "60 elements, not 61");
    expect_failure(tsr_device_tensor_read(NULL, x, 60), bad, "tensor is NULL");
    expect_failure(tsr_device_tensor_read_array(tensor, NULL), bad, "array is NULL");
    expect_failure(tsr_device_tensor_write_array(tensor, NULL), bad, "array is NULL");
    expect_failure(tsr_device_tensor_describe(tensor, NULL), bad, "info is NULL");
    expect_failure(tsr_device_tensor_write_texture(tensor, &(tsr_texture){.id = 1}, 1, 0),
                   TSR_ERROR_UNSUPPORTED, "no textures");
    tsr_device_tensor_destroy(tensor);
    tsr_device_tensor_destroy(NULL);
    tsr_device_destroy(device);
}

/* ---- primitives ------------------------------------------------------------------------------ */

static const float weights[6 * 3 * 3 * 3];

/* A description that is refused, and words of why. */
typedef struct refused {
    tsr_primitive_desc desc;
    tsr_status status;
    const char *words;
} refused;

#define CONV(...)                                                                                  \
    {                                                                                              \
        .kind = TSR_PRIMITIVE_CONV, .source = {4, {1, 3, 4, 5}},                                   \
        .weights = {{4, {6, 3, 3, 3}}, weights}, __VA_ARGS__                                       \
    }
#define OF_KIND(which, ...)                                                                        \
    { .kind = TSR_PRIMITIVE_##which, .source = {4, {1, 3, 4, 5}}, __VA_ARGS__ }

static const refused refused_list[] = {
    {CONV(.op = "Conv"), TSR_ERROR_INVALID_ARGUMENT, "op: this kind of primitive has none"},
    {CONV(.alpha = 1), TSR_ERROR_INVALID_ARGUMENT, "alpha, beta"},
    {CONV(.bias = {{1, {5}}, weights}), TSR_ERROR_SHAPE, "node 'conv' (Conv of"},
    {CONV(.window.group = 2), TSR_ERROR_SHAPE, "2 groups"},
    {CONV(.window.group = -1), TSR_ERROR_INVALID_MODEL, "group is -1"},
    {CONV(.window.strides = {-1, 1}), TSR_ERROR_INVALID_MODEL, "strides[0] is -1"},
    {CONV(.window.pads_end = {0, -1}), TSR_ERROR_INVALID_MODEL, "pads[3] is -1"},
    {CONV(.window.dilations = {2, 1}), TSR_ERROR_SHAPE, "node 'conv' (Conv of"},
    {CONV(.dtype = TSR_DTYPE_I8), TSR_ERROR_UNSUPPORTED, "not int8"},
    {OF_KIND(CONV, .op = NULL), TSR_ERROR_INVALID_ARGUMENT,
     "weights: this kind of primitive needs"},
    {{.kind = TSR_PRIMITIVE_CONV, .source = {2, {1, 3}}, .weights = {{2, {6, 3}}, weights}},
     TSR_ERROR_SHAPE,
     "has no window"},
    {OF_KIND(CONV, .weights = {{4, {6, 3, 0, 3}}, weights}), TSR_ERROR_SHAPE, "weights: shape"},
    {OF_KIND(POOL, .op = "LpPool"), TSR_ERROR_INVALID_ARGUMENT, "no operator 'LpPool'"},
    {OF_KIND(POOL, .op = NULL), TSR_ERROR_INVALID_ARGUMENT, "no operator '(NULL)'"},
    {OF_KIND(POOL, .op = "MaxPool"), TSR_ERROR_INVALID_MODEL, "kernel_shape[0] is 0"},
    {OF_KIND(POOL, .op = "MaxPool", .weights = {{1, {1}}, weights}), TSR_ERROR_INVALID_ARGUMENT,
     "weights: this kind of primitive has none"},
    {OF_KIND(ELTWISE, .op = "Add"), TSR_ERROR_INVALID_ARGUMENT, "no operator of one tensor"},
    {OF_KIND(ELTWISE, .op = "Relu", .beta = 1), TSR_ERROR_INVALID_ARGUMENT, "has no beta"},
    {OF_KIND(BINARY, .op = "Relu"), TSR_ERROR_INVALID_ARGUMENT, "no operator of two tensors"},
    {OF_KIND(BINARY, .op = "Add", .other = {1, {4}}), TSR_ERROR_SHAPE, "node 'binary' (Add of"},
    {OF_KIND(MATMUL, .other = {2, {4, 5}}), TSR_ERROR_SHAPE, "node 'matmul' (MatMul of"},
    {OF_KIND(REDUCTION, .op = "ArgMax"), TSR_ERROR_INVALID_ARGUMENT, "no operator 'ArgMax'"},
    {OF_KIND(REDUCTION, .op = "ReduceSum", .axis_count = 1, .axes = {4}), TSR_ERROR_INVALID_MODEL,
     "node 'reduction' (ReduceSum of"},
    {OF_KIND(REDUCTION, .op = "ReduceSum", .axis_count = 9), TSR_ERROR_INVALID_ARGUMENT,
     "axis_count is 9"},
    {{.kind = (tsr_primitive_kind)7}, TSR_ERROR_INVALID_ARGUMENT, "no kind 7"},
    {{.kind = TSR_PRIMITIVE_ELTWISE, .op = "Relu", .source = {2, {3, 0}}},
     TSR_ERROR_SHAPE,
     "source: shape [3, 0]"},
};

static void test_bad_descriptions(void **state) {
    (void)state;
    tsr_device *device = cpu();
    tsr_primitive *primitive;
    for (size_t i = 0; i < sizeof refused_list / sizeof *refused_list; i++) {
        expect_failure(tsr_primitive_create(device, &refused_list[i].desc, &primitive),
                       refused_list[i].status, refused_list[i].words);
        assert_null(primitive);
    }
    expect_failure(tsr_primitive_create(NULL, &refused_list[0].desc, &primitive),
                   TSR_ERROR_INVALID_ARGUMENT, "device is NULL");
    expect_failure(tsr_primitive_create(device, NULL, &primitive), TSR_ERROR_INVALID_ARGUMENT,
                   "desc is NULL");
    expect_failure(tsr_primitive_create(device, &refused_list[0].desc, NULL),
                   TSR_ERROR_INVALID_ARGUMENT, "primitive is NULL");
    tsr_primitive_destroy(NULL);
    tsr_device_destroy(device);
}

/* A chain that does not fit the result. */
static void expect_refused_chain(tsr_device *device, tsr_post_ops *posts, tsr_status status,
                                 const char *words) {
    tsr_primitive *primitive;
    const tsr_primitive_desc desc = OF_KIND(ELTWISE, .op = "Relu", .posts = posts);
    expect_failure(tsr_primitive_create(device, &desc, &primitive), status, words);
    assert_null(primitive);
    tsr_post_ops_destroy(posts);
}

static void test_chains_that_do_not_fit(void **state) {
    (void)state;
    const tsr_shape shapes[] = {{1, {4}}, {5, {1, 1, 3, 4, 5}}, {4, {2, 3, 4, 5}}, {3, {3, 4, 4}}};
    tsr_device *device = cpu();
    tsr_post_ops *posts;
    for (int i = 0; i < 4; i++) {
        posts = make_chain();
        EXPECT_OK(tsr_post_ops_append_eltwise(posts, "Relu", 0, 0));
        EXPECT_OK(tsr_post_ops_append_binary(posts, "Mul", &shapes[i], false));
        expect_refused_chain(device, posts, TSR_ERROR_SHAPE,
                             "post-op 1 (Mul): an operand of shape");
    }
    posts = make_chain();
    EXPECT_OK(tsr_post_ops_append_prelu(posts, 1 << 4));
    expect_refused_chain(device, posts, TSR_ERROR_SHAPE, "post-op 0 (PRelu): mask 0x10");
    posts = make_chain();
    EXPECT_OK(tsr_post_ops_append_depthwise_conv(posts, 3, 1, 1));
    expect_refused_chain(device, posts, TSR_ERROR_UNSUPPORTED,
                         "post-op 0 (Conv): no kernel computes a depthwise convolution");
    tsr_device_destroy(device);
}

/* ---- executing ------------------------------------------------------------------------------- */

typedef struct execution {
    tsr_device *device, *other_device;
    tsr_primitive *primitive; /* Relu, Add of [3, 1, 1], PReLU of [1, 3, 1, 1], a sum */
    tsr_device_tensor *source, *destination, *summand, *slopes;
    tsr_primitive_args args;
} execution;

static void open_execution(execution *e) {
    tsr_post_ops *posts = make_chain();
    const tsr_shape channels = {3, {3, 1, 1}}, slopes = {4, {1, 3, 1, 1}};
    EXPECT_OK(tsr_post_ops_append_binary(posts, "Add", &channels, false));
    EXPECT_OK(tsr_post_ops_append_prelu(posts, 1 << 1));
    EXPECT_OK(tsr_post_ops_append_sum(posts, 1, 0));
    *e = (execution){.device = cpu(), .other_device = cpu()};
    const tsr_primitive_desc desc = OF_KIND(ELTWISE, .op = "Relu", .posts = posts);
    EXPECT_OK(tsr_primitive_create(e->device, &desc, &e->primitive));
    tsr_post_ops_destroy(posts);
    e->source = make_tensor(e->device, &image, TSR_DTYPE_F32, NULL);
    e->destination = make_tensor(e->device, &image, TSR_DTYPE_F32, NULL);
    e->summand = make_tensor(e->device, &channels, TSR_DTYPE_F32, NULL);
    e->slopes = make_tensor(e->device, &slopes, TSR_DTYPE_F32, NULL);
    e->args = (tsr_primitive_args){
        .source = e->source, .destination = e->destination, .operands = {e->summand, e->slopes}};
}

static void close_execution(execution *e) {
    tsr_primitive_destroy(e->primitive);
    tsr_device_tensor_destroy(e->source);
    tsr_device_tensor_destroy(e->destination);
    tsr_device_tensor_destroy(e->summand);
    tsr_device_tensor_destroy(e->slopes);
    tsr_device_destroy(e->device);
    tsr_device_destroy(e->other_device);
}

/* Executing with this tensor in that place fails so; then it is put back. */
static void expect_refused_tensor(execution *e, tsr_device_tensor **place,
                                  tsr_device_tensor *tensor, tsr_status status, const char *words) {
    tsr_device_tensor *right = *place;
    *place = tensor;
    expect_failure(tsr_primitive_execute(e->primitive, &e->args), status, words);
    *place = right;
    if (tensor != e->source && tensor != e->slopes)
        tsr_device_tensor_destroy(tensor);
}

static void test_bad_arguments(void **state) {
    (void)state;
    const tsr_status bad = TSR_ERROR_INVALID_ARGUMENT;
    execution e;
    open_execution(&e);
    tsr_primitive_args *args = &e.args;
    EXPECT_OK(tsr_primitive_execute(e.primitive, args));
    expect_refused_tensor(&e, &args->source, NULL, bad, "source: the tensor is NULL");
    expect_refused_tensor(&e, &args->destination, NULL, bad, "destination: the tensor is NULL");
    expect_refused_tensor(&e, &args->operands[1], NULL, bad,
                          "post-op 1: its operand: the tensor is NULL");
    expect_refused_tensor(&e, &args->operands[2], e.source, bad,
                          "post-op 2: its operand: the primitive reads no such tensor");
    expect_refused_tensor(&e, &args->operands[31], e.source, bad, "post-op 31");
    expect_refused_tensor(&e, &args->other, e.source, bad, "other: the primitive reads no such");
    expect_refused_tensor(&e, &args->source,
                          make_tensor(e.other_device, &image, TSR_DTYPE_F32, NULL), bad,
                          "source: the tensor is of another device");
    expect_refused_tensor(&e, &args->destination,
                          make_tensor(e.device, &image, TSR_DTYPE_F16, NULL), bad,
                          "destination: the tensor is float16, the primitive's are float32");
    expect_refused_tensor(&e, &args->operands[0], e.slopes, TSR_ERROR_SHAPE,
                          "post-op 0: its operand: the tensor is [1, 3, 1, 1]");
    expect_refused_tensor(&e, &args->destination, e.slopes, TSR_ERROR_SHAPE,
                          "the primitive's [1, 3, 4, 5]");
    expect_failure(tsr_primitive_execute(e.primitive, NULL), bad, "args is NULL");
    expect_failure(tsr_primitive_execute(NULL, args), bad, "primitive is NULL");
    expect_failure(tsr_primitive_get_report(e.primitive, NULL), bad, "report is NULL");
    expect_failure(tsr_primitive_get_report(NULL, &(tsr_primitive_report){0}), bad,
                   "primitive is NULL");
    expect_failure(tsr_primitive_operand_shape(e.primitive, 2, &(tsr_shape){0}), bad,
                   "no post-op 2");
    expect_failure(tsr_primitive_operand_shape(e.primitive, 3, &(tsr_shape){0}), bad,
                   "no post-op 3");
    expect_failure(tsr_primitive_operand_shape(e.primitive, 0, NULL), bad, "shape is NULL");
    assert_int_equal(tsr_post_ops_length(tsr_primitive_post_ops(NULL)), 0);
    EXPECT_OK(tsr_primitive_execute(e.primitive, args));
    close_execution(&e);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Makes, executes and destroys all of it. */
static tsr_status live(tsr_device *device) {
    tsr_post_ops *posts = NULL;
    tsr_device_tensor *source = NULL, *destination = NULL;
    tsr_primitive *primitive = NULL;
    float x[60] = {0};
    tsr_status status = tsr_post_ops_create(&posts);
    if (status == TSR_OK)
        status = tsr_post_ops_append_sum(posts, 1, 0);
    if (status == TSR_OK)
        status = tsr_device_tensor_create(device, &image, TSR_DTYPE_F32, &source);
    if (status == TSR_OK)
        status = tsr_device_tensor_create(device, &image, TSR_DTYPE_F32, &destination);
    const tsr_primitive_desc desc = OF_KIND(ELTWISE, .op = "Clip", .posts = posts);
    if (status == TSR_OK)
        status = tsr_primitive_create(device, &desc, &primitive);
    const tsr_primitive_args args = {.source = source, .destination = destination};
    if (status == TSR_OK)
        status = tsr_primitive_execute(primitive, &args);
    if (status == TSR_OK)
        status = tsr_device_tensor_read(destination, x, 60);
    tsr_primitive_destroy(primitive);
    tsr_device_tensor_destroy(source);
    tsr_device_tensor_destroy(destination);
    tsr_post_ops_destroy(posts);
    return status;
}

/* Every allocation fails once: the call says so, and nothing is left. */
static void test_out_of_memory(void **state) {
    (void)state;
    tsr_device *device = cpu();
    EXPECT_OK(live(device));
    long blocks = live_blocks();
    for (long after = 0;; after++) {
        fail_allocation(after);
        tsr_status status = live(device);
        bool failed = has_allocation_failed();
        fail_allocation(-1);
        assert_int_equal(live_blocks(), blocks);
        if (!failed)
            break;
        assert_int_equal(status, TSR_ERROR_OUT_OF_MEMORY);
    }
    tsr_device_destroy(device);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inspected),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_bad_posts),
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_bad_tensors),
        cmocka_unit_test(test_bad_descriptions),
        cmocka_unit_test(test_chains_that_do_not_fit),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_out_of_memory),
    };
    count_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
