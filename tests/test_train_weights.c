/* Which constants are trained: behind views, in 16 bits, in functions and bodies of other nodes; in
 * files. */
#include "support/main.h"
#include "support/model_function.h"
#include "support/onnx_case.h"
#include "support/training.h"

#include "tessera_write.h"

#include "base/dtype.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 80 };

static tsr_device *cpu(void) {
    return make_device(&(tsr_device_desc){.backend = "cpu"});
}

static const tsr_trainer_desc sgd = {.update = TSR_UPDATE_SGD, .learning_rate = 0.02f};

static void expect_parameters(const tsr_trainer *trainer, const char *names) {
    char found[256] = "";
    for (int i = 0; i < tsr_trainer_parameter_count(trainer); i++) {
        tsr_tensor_info info;
        EXPECT_OK(tsr_trainer_parameter(trainer, i, &info));
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", i ? " " : "",
                 info.name);
    }
    assert_string_equal(found, names);
}

static tsr_model *write_and_load(const tsr_model *model) {
    static written file;
    tsr_model *loaded;
    file.size = 0;
    EXPECT_OK(tsr_model_write(model, &(tsr_write_desc){.keep_nodes = true}, append_written, &file));
    EXPECT_OK(tsr_model_load_memory(file.bytes, file.size, NULL, &loaded));
    return loaded;
}

static float first_loss(tsr_device *device, const tsr_model *model, const float *x,
                        const float *target) {
    float loss;
    tsr_trainer *trainer = make_trainer(device, model, &sgd);
    EXPECT_OK(step_trainer(trainer, x, target, &loss));
    tsr_trainer_destroy(trainer);
    return loss;
}

/* These weights are trained, the loss falls, and a file of the trained model has its loss. */
static void check_model(tsr_model *model, const char *names) {
    float x[MOST], target[MOST], losses[16];
    random_source random = random_from(3);
    tsr_device *device = cpu();
    tsr_trainer *trainer = make_trainer(device, model, &sgd);
    tsr_model *trained, *loaded;
    expect_parameters(trainer, names);
    for (int i = 0; i < MOST; i++) {
        x[i] = random_float(&random, -1, 1);
        target[i] = random_float(&random, -1, 1);
    }
    for (int i = 0; i < 16; i++)
        EXPECT_OK(step_trainer(trainer, x, target, &losses[i]));
    for (int i = 1; i < 16; i++)
        if (!(losses[i] < losses[i - 1]))
            fail_msg("step %d: a loss of %.9g after %.9g", i, losses[i], losses[i - 1]);
    EXPECT_OK(tsr_trainer_model(trainer, &trained));
    EXPECT_OK(step_trainer(trainer, x, target, &losses[0]));
    loaded = write_and_load(trained);
    assert_true(first_loss(device, loaded, x, target) == losses[0]);
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(loaded);
    tsr_model_free(trained);
    tsr_model_free(model);
}

static void test_views(void **state) {
    (void)state;
    check_model(make_model("Transpose w{3,4} -> v perm=1,0; MatMul x[2,4] v -> y"), "w");
    check_model(make_model("Reshape w{54} s(3,2,3,3) -> v; Conv x[1,2,5,5] v b{3} -> y"), "w b");
    check_model(make_model("Unsqueeze w{3,2,3} a(2) -> u; Identity u -> v; Conv x[1,2,4,5] v -> y"),
                "w");
    check_model(
        make_model("Squeeze w{1,4,3} a(0) -> v; Cast v -> f to=1; Squeeze b{1,3} d(0) -> c; "
                   "Gemm x[2,4] f c -> y"),
        "w b");
    check_model(make_model("MatMul x[2,4] w{4,3} -> p; Identity b{3} -> c; Add c p -> y"), "w b");
    /* A weight that is read twice is one. */
    check_model(make_model("Transpose w{4,4} -> v perm=1,0; MatMul x[3,4] v -> p; MatMul p w -> y"),
                "w");
    check_model(make_model("Conv x[2,2,5,4] w{3,2,3,3} -> c; Identity s{3} -> t; "
                           "BatchNormalization c t b{3} m{3} v<1,2,1> -> y"),
                "w s b");
}

static void test_operators(void **state) {
    (void)state;
    check_model(make_model("LSTM x[3,2,4] w{1,12,4} r{1,12,3} b{1,24} _ _ _ p{1,9} -> y "
                           "hidden_size=3"),
                "w r b p");
    check_model(make_model("GRU x[3,2,4] w{2,9,4} r{2,9,3} b{2,18} -> y hidden_size=3 "
                           "direction=bidirectional linear_before_reset=1"),
                "w r b");
    check_model(make_model("RNN x[3,2,4] w{1,3,4} r{1,3,3} -> y hidden_size=3"), "w r");
    check_model(make_model("DeformConv x[1,2,5,4] w{3,2,2,2} o{1,8,4,3} b{3} -> y"), "w b");
    check_model(make_model("ArgMax x[3,5] -> i axis=1 keepdims=0; Gather t{5,4} i -> g; "
                           "MatMul g w{4,3} -> y"),
                "w");
}

/* Statistics of a normalization whose scale is behind a view, and stays, are those that it has. */
static void test_frozen_behind_view(void **state) {
    (void)state;
    const char *const freeze[] = {"s", "b"};
    float x[40], target[12] = {0}, loss;
    for (int i = 0; i < 40; i++)
        x[i] = (float)(i % 7);
    tsr_model *model = make_model("Conv x[1,2,5,4] w{2,2,3,3} -> c; Identity s{2} -> t; "
                                  "BatchNormalization c t b{2} m<0,0> v<1,1> -> y epsilon=0.0"),
              *plain = make_model("Conv x[1,2,5,4] w{2,2,3,3} -> c; Reshape s{2} z(2,1,1) -> t; "
                                  "Reshape b{2} k(2,1,1) -> u; Mul c t -> d; Add d u -> y");
    tsr_device *device = cpu();
    tsr_trainer *trainer =
        make_trainer(device, model, &(tsr_trainer_desc){.freeze = freeze, .freeze_count = 2});
    expect_parameters(trainer, "w");
    EXPECT_OK(step_trainer(trainer, x, target, &loss));
    assert_true(loss == first_loss(device, plain, x, target));
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(plain);
    tsr_model_free(model);
}

/* Every float initializer in 16 bits, of which a float's upper ones are a bfloat16. */
static tsr_model *make_half_model(const char *text) {
    onnx_writer *writer = onnx_case(13, text);
    const Tsr__GraphProto *graph = onnx_writer_model(writer)->graph;
    for (size_t i = 0; i < graph->n_initializer; i++) {
        Tsr__TensorProto *tensor = graph->initializer[i];
        if (tensor->data_type != tsr_dtype_to_onnx(TSR_DTYPE_F32))
            continue;
        tensor->data_type = tsr_dtype_to_onnx(TSR_DTYPE_BF16);
        tensor->raw_data.len /= 2;
        for (size_t e = 0; e < tensor->raw_data.len; e++)
            tensor->raw_data.data[e] = tensor->raw_data.data[e / 2 * 4 + 2 + e % 2];
    }
    return load_written(writer);
}

static void expect_refused(tsr_model *model, const tsr_trainer_desc *desc, const char *words) {
    tsr_device *device = cpu();
    tsr_trainer *trainer;
    expect_failure(tsr_trainer_create(device, model, desc, &trainer), TSR_ERROR_UNSUPPORTED, words);
    assert_null(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
}

static void test_halves(void **state) {
    (void)state;
    check_model(make_half_model("Cast w{4,3} -> v to=1; MatMul x[2,4] v -> y"), "v");
    check_model(make_half_model("Transpose w{3,4} -> v perm=1,0; Cast v -> f to=1; "
                                "MatMul x[2,4] f -> y"),
                "w");
    check_model(make_half_model("Cast w{3,4} -> v to=1; Transpose v -> f perm=1,0; "
                                "MatMul x[2,4] f -> y"),
                "v");
    expect_refused(make_half_model("Transpose w{3,4} -> v perm=1,0; Cast v -> f to=1; "
                                   "MatMul x[2,4] f -> p; Cast v -> d to=11; Cast d -> g to=1; "
                                   "ReduceSum g -> q; Mul p q -> y"),
                   NULL, "node 'MatMul2' (MatMul): its weight 'w' is bfloat16");
}

/* What bodies read of the graph around them, and their own initializers. */
static void test_bodies(void **state) {
    (void)state;
    check_model(make_model("Loop n(2) _ x[2,4] -> y body=@1; @ Identity i:int64[] -> j; "
                           "Identity c:bool[] -> g!; MatMul s[2,4] w{4,4} -> t"),
                "Loop0.1/w");
    check_model(make_model("Transpose w{4,4} -> v perm=1,0; Relu x[2,4] -> r; "
                           "ReduceMax x -> m keepdims=0; Greater m k<0 -> c; "
                           "If c -> y then_branch=@1 else_branch=@2; MatMul r v -> p; Add p y -> z "
                           "@ MatMul x v -> a @ MatMul x u{4,4} -> a"),
                "w If4.2/u");
}

static void test_bodies_refused(void **state) {
    (void)state;
    static const char *const norm =
        "Conv x[1,2,5,5] w{3,2,3,3} -> c; Loop n(2) _ c -> y body=@1; @ Identity i:int64[] -> j; "
        "Identity q:bool[] -> g!; BatchNormalization h[1,3,3,3] s{3} b{3} m{3} v<1,2,1> -> t";
    const char *const freeze[] = {"*/s", "*/b"};
    const tsr_trainer_desc frozen = {.freeze = freeze, .freeze_count = 2};
    float x[MOST] = {1}, target[27] = {0}, loss;
    onnx_writer *writer = onnx_case(13, "MatMul x[2,4] v{4,4} -> z; local:F z w{4,4} -> y");
    add_function(writer, 13, "F", "x,w", "y", "MatMul x w -> y", NULL);
    expect_refused(load_written(writer), NULL, "node 'local:F1' calls a function of the model");
    expect_refused(make_model(norm), NULL,
                   "(BatchNormalization) cannot be trained in the body of another node");
    tsr_device *device = cpu();
    tsr_model *model = make_model(norm);
    tsr_trainer *trainer = make_trainer(device, model, &frozen);
    expect_parameters(trainer, "w");
    EXPECT_OK(step_trainer(trainer, x, target, &loss));
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
}

/* ---- weights that stay in a file ---- */

/* Of the constant s: where it is in the file, as the remainder by a float's size. */
static int remainder_of(const uint8_t *bytes, size_t size, const tsr_model *model) {
    const float *elements = model_weights(model, "s", NULL);
    size_t at = 0;
    while (memcmp(bytes + at, elements, 1024))
        assert_true(++at + 1024 <= size);
    return (int)(at % sizeof *elements);
}

static float first_loss_with_frozen(tsr_device *device, const tsr_model *model, const float *x,
                                    const float *target) {
    const char *const freeze = "s";
    float loss;
    tsr_trainer *trainer =
        make_trainer(device, model, &(tsr_trainer_desc){.freeze = &freeze, .freeze_count = 1});
    EXPECT_OK(step_trainer(trainer, x, target, &loss));
    tsr_trainer_destroy(trainer);
    return loss;
}

/* s has 64 KiB, which stay, at a byte that the length of the result's name decides. */
static void check_unaligned(int opset, const char *text) {
    enum { COUNT = 128 * 128 };
    static float x[COUNT], target[COUNT];
    int remainders = 0;
    random_source random = random_from(4);
    for (int i = 0; i < COUNT; i++)
        x[i] = random_float(&random, -1, 1);
    tsr_device *device = cpu();
    for (int length = 1; length <= 4; length++) {
        char named[200];
        size_t size;
        snprintf(named, sizeof named, "%s%.*s", text, length, "yyyy");
        uint8_t *bytes = onnx_case_bytes(opset, named, &size);
        tsr_model *model = load_written(onnx_case(opset, named)),
                  *in_file = load_as_file(bytes, size);
        assert_true(first_loss_with_frozen(device, in_file, x, target) ==
                    first_loss(device, model, x, target));
        remainders |= 1 << remainder_of(bytes, size, model);
        tsr_model_free(in_file);
        tsr_model_free(model);
        free(bytes);
    }
    assert_int_equal(remainders, 15);
    tsr_device_destroy(device);
}

static void test_unaligned(void **state) {
    (void)state;
    check_unaligned(13, "Conv x[1,128,1,1] s{128,128,1,1} b{128} -> ");
    check_unaligned(21, "QuantizeLinear x[128,128] s{128,128} -> q axis=1 block_size=1; "
                        "DequantizeLinear q s -> d axis=1 block_size=1; MatMul d w{128,1} -> ");
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_frozen_behind_view),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_bodies_refused),
        cmocka_unit_test(test_unaligned),
    };
    return cmocka_run_group_tests_name("weights", tests, NULL, NULL);
}
