/* The public API above the backends: loading, binding, running, and what each says about bad use.
 * Runs on the cpu backend, which every build has. */
#define _POSIX_C_SOURCE 200809L

#include "tessera.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "onnx_writer.h"
#include "support/main.h"

/* x [batch, 2, h, w] -> Conv "mix" -> r -> Reshape by the input s -> y; outputs y, x and the
 * initializer k. */
static tsr_model *make_model(void) {
    onnx_writer *writer = onnx_writer_create(13);
    Tsr__ValueInfoProto *x =
        onnx_add_input(writer, "x", TSR_DTYPE_F32, 4, (const int64_t[]){-1, 2, -1, -1});
    onnx_set_dim_name(writer, x, 0, "batch");
    onnx_set_dim_name(writer, x, 2, "h");
    onnx_add_input(writer, "s", TSR_DTYPE_I64, 1, (const int64_t[]){2});
    onnx_add_ints(writer, "k", 1, (const int64_t[]){2}, (const int64_t[]){7, -8});
    onnx_add_floats(writer, "weights", 4, (const int64_t[]){1, 2, 1, 1}, (const float[]){1, -1});
    onnx_add_node(writer, "Conv", "mix", "x,weights", "c");
    onnx_add_node(writer, "Relu", "rectify", "c", "r");
    onnx_add_node(writer, "Reshape", "flat", "r,s", "y");
    onnx_add_output(writer, "y", TSR_DTYPE_F32, -1, NULL);
    onnx_add_output(writer, "x", TSR_DTYPE_F32, -1, NULL);
    onnx_add_output(writer, "k", TSR_DTYPE_I64, 1, (const int64_t[]){2});
    size_t size;
    uint8_t *bytes = onnx_write_memory(writer, &size);
    onnx_writer_destroy(writer);
    assert_non_null(bytes);
    tsr_model *model;
    if (tsr_model_load_memory(bytes, size, &(tsr_model_desc){.name = "net.onnx"}, &model) != TSR_OK)
        fail_msg("%s", tsr_last_error());
    free(bytes);
    return model;
}

static const int64_t flat[2] = {2, -1};
static const tsr_fixed_input fixed_s = {"s", TSR_DTYPE_I64, {1, {2}}, flat};
static const tsr_input_shape shape_x = {"x", {4, {1, 2, 2, 3}}};

/* Everything that the model leaves open, given. */
static tsr_session_desc complete(void) {
    return (tsr_session_desc){
        .shapes = &shape_x, .shape_count = 1, .fixed = &fixed_s, .fixed_count = 1};
}

typedef struct fixture {
    tsr_device *device;
    tsr_model *model;
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_int_equal(tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &f->device), TSR_OK);
    f->model = make_model();
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    tsr_model_free(f->model);
    tsr_device_destroy(f->device);
    free(f);
    return 0;
}

/* The call failed so, and the message has these words. */
static void assert_failed(tsr_status status, tsr_status expected, const char *words) {
    if (status != expected || !strstr(tsr_last_error(), words))
        fail_msg("%s: \"%s\" instead of %s with \"%s\"", tsr_status_name(status), tsr_last_error(),
                 tsr_status_name(expected), words);
}

static void assert_no_session(fixture *f, const tsr_session_desc *desc, tsr_status expected,
                              const char *words) {
    tsr_session *session = (tsr_session *)f;
    assert_failed(tsr_session_create(f->device, f->model, desc, &session), expected, words);
    assert_failed(expected, expected, "net.onnx: ");
    assert_null(session);
}

static tsr_session *make_session(fixture *f, const tsr_session_desc *desc) {
    tsr_session *session;
    if (tsr_session_create(f->device, f->model, desc, &session) != TSR_OK)
        fail_msg("%s", tsr_last_error());
    return session;
}

/* ---- devices and models ---------------------------------------------------------------------- */

static void count_cpu(void *user, const tsr_device_desc *desc, const tsr_device_info *info,
                      const char *reason) {
    assert_true((info == NULL) == (reason != NULL));
    if (info && strcmp(desc->backend, "cpu") == 0)
        ++*(int *)user;
}

static void test_devices(void **state) {
    (void)state;
    tsr_device *device;
    assert_failed(tsr_device_create(&(tsr_device_desc){.backend = "abacus"}, &device),
                  TSR_ERROR_NO_DEVICE, "'cpu'");
    assert_null(device);
    assert_failed(tsr_device_create(&(tsr_device_desc){.gpu = -1}, &device),
                  TSR_ERROR_INVALID_ARGUMENT, "negative");
    assert_failed(tsr_device_create(NULL, NULL), TSR_ERROR_INVALID_ARGUMENT, "NULL");
    int found = 0;
    tsr_list_devices(count_cpu, &found);
    assert_int_equal(found, 1);
    tsr_device_destroy(NULL);
}

static void test_model_questions(void **state) {
    tsr_model *model = ((fixture *)*state)->model;
    tsr_tensor_info info;
    assert_int_equal(tsr_model_input_count(model), 2);
    assert_int_equal(tsr_model_input(model, 0, &info), TSR_OK);
    assert_string_equal(info.name, "x");
    assert_string_equal(info.dim_name[0], "batch");
    assert_null(info.dim_name[1]);
    assert_int_equal(info.shape.dim[0], -1);
    assert_int_equal(info.shape.dim[1], 2);
    assert_false(tsr_model_input_is_parameter(model, 0));
    assert_true(tsr_model_input_is_parameter(model, 1));
    assert_false(tsr_model_input_is_parameter(model, 2));
    assert_failed(tsr_model_input(model, 2, &info), TSR_ERROR_INVALID_ARGUMENT, "input 2 of 2");
    assert_int_equal(tsr_model_output_count(model), 3);
    assert_int_equal(tsr_model_output(model, 2, &info), TSR_OK);
    assert_string_equal(info.name, "k");
    assert_int_equal(tsr_model_parameter_count(model), 2);
    assert_int_equal(tsr_model_opset(model), 13);
    const char *op;
    int count, kinds = 0;
    while (tsr_model_op(model, kinds, &op, &count)) {
        assert_int_equal(count, 1);
        kinds++;
    }
    assert_int_equal(kinds, 3);
    tsr_model_free(NULL);
}

static void test_model_files(void **state) {
    (void)state;
    tsr_model *model;
    assert_failed(tsr_model_load("/no/such.onnx", NULL, &model), TSR_ERROR_IO, "/no/such.onnx");
    assert_failed(tsr_model_load("/", NULL, &model), TSR_ERROR_IO, "directory");
    assert_failed(tsr_model_load("/dev/null", NULL, &model), TSR_ERROR_IO, "/dev/null");
    char path[] = "/tmp/tessera-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "wb");
    assert_non_null(file);
    assert_failed(tsr_model_load(path, NULL, &model), TSR_ERROR_INVALID_MODEL, "empty");
    fputs("no protobuf\n", file);
    fclose(file);
    assert_failed(tsr_model_load(path, NULL, &model), TSR_ERROR_INVALID_MODEL, path);
    assert_failed(tsr_model_load(path, &(tsr_model_desc){.max_bytes = 4}, &model),
                  TSR_ERROR_OUT_OF_MEMORY, "max_bytes is 4");
    remove(path);
    assert_null(model);
    assert_failed(tsr_model_load_memory("", 0, NULL, &model), TSR_ERROR_INVALID_ARGUMENT,
                  "no bytes");
    assert_failed(tsr_model_load_memory("12345", 5, &(tsr_model_desc){.max_bytes = 4}, &model),
                  TSR_ERROR_OUT_OF_MEMORY, "max_bytes is 4");
    assert_failed(tsr_model_load(NULL, NULL, &model), TSR_ERROR_INVALID_ARGUMENT, "NULL");
}

/* ---- binding --------------------------------------------------------------------------------- */

static void test_open_shapes(void **state) {
    tsr_session_desc desc = {.fixed = &fixed_s, .fixed_count = 1};
    assert_no_session(*state, &desc, TSR_ERROR_SHAPE, "[batch, 2, h, ?]");
    desc.dims = &(tsr_dim_binding){"width", 1};
    desc.dim_count = 1;
    assert_no_session(*state, &desc, TSR_ERROR_INVALID_ARGUMENT, "'batch', 'h'");
    desc.dims = &(tsr_dim_binding){"batch", 0};
    assert_no_session(*state, &desc, TSR_ERROR_INVALID_ARGUMENT, "the size 0");
    desc.dims = &(tsr_dim_binding){"batch", 3};
    assert_no_session(*state, &desc, TSR_ERROR_SHAPE, "[3, 2, h, ?]");
    desc.shape_count = 1;
    assert_no_session(*state, &desc, TSR_ERROR_INVALID_ARGUMENT, "shapes");
    desc.shapes = &(tsr_input_shape){"z", {0}};
    assert_no_session(*state, &desc, TSR_ERROR_INVALID_ARGUMENT, "'x', 's'");
    desc.shapes = &(tsr_input_shape){"x", {4, {3, 3, 2, 2}}};
    assert_no_session(*state, &desc, TSR_ERROR_SHAPE, "[3, 3, 2, 2]");
    desc.shapes = &(tsr_input_shape){"x", {4, {3, 2, INT64_MAX, 2}}};
    assert_no_session(*state, &desc, TSR_ERROR_SHAPE, "is impossible");
}

/* The model fixes two channels, which its Conv needs. */
static void test_overridden_shapes(void **state) {
    static const tsr_input_shape shape = {"x", {4, {1, 1, 2, 2}}};
    tsr_session_desc desc = complete();
    desc.shapes = &shape;
    assert_no_session(*state, &desc, TSR_ERROR_SHAPE, "does not fit");
    desc.override_shapes = true;
    assert_no_session(*state, &desc, TSR_ERROR_SHAPE, "node 'mix' (Conv");
    desc.shapes = &(tsr_input_shape){"x", {3, {1, 2, 2}}};
    assert_no_session(*state, &desc, TSR_ERROR_SHAPE, "does not fit");
}

static void test_fixed_inputs(void **state) {
    tsr_session_desc desc = {.shapes = &shape_x, .shape_count = 1};
    tsr_session_destroy(make_session(*state, &desc)); /* the CPU reshapes after each run */
    desc.fixed_count = 1;
    desc.fixed = &(tsr_fixed_input){"s", TSR_DTYPE_I32, {1, {2}}, flat};
    assert_no_session(*state, &desc, TSR_ERROR_INVALID_ARGUMENT, "int64");
    desc.fixed = &(tsr_fixed_input){"s", TSR_DTYPE_I64, {1, {3}}, flat};
    assert_no_session(*state, &desc, TSR_ERROR_SHAPE, "[3]");
    desc.fixed = &(tsr_fixed_input){"s", TSR_DTYPE_I64, {1, {2}}, NULL};
    assert_no_session(*state, &desc, TSR_ERROR_INVALID_ARGUMENT, "no data");
    desc.fixed = &(tsr_fixed_input){"s", TSR_DTYPE_I64, {1, {2}}, (const int64_t[]){4, 5}};
    assert_no_session(*state, &desc, TSR_ERROR_SHAPE, "'flat' (Reshape");
}

static void test_extra_outputs(void **state) {
    tsr_session_desc desc = complete();
    desc.extra_output_count = 1;
    desc.extra_outputs = (const char *const[]){"weigths"};
    assert_no_session(*state, &desc, TSR_ERROR_INVALID_ARGUMENT, "'weights'");
    desc.extra_outputs = (const char *const[]){"c", "y", "weights"};
    desc.extra_output_count = 3;
    tsr_session *session = make_session(*state, &desc);
    assert_int_equal(tsr_session_output_count(session), 5);
    tsr_tensor_info info;
    assert_int_equal(tsr_session_output(session, 3, &info), TSR_OK);
    assert_string_equal(info.name, "c");
    assert_int_equal(info.shape.dim[3], 3);
    tsr_session_destroy(session);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static const float x_data[12] = {1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1};

static void assert_output(tsr_session *session, const char *name, int count,
                          const float *expected) {
    float got[12];
    if (tsr_session_get_output(session, name, got, (size_t)count) != TSR_OK)
        fail_msg("%s", tsr_last_error());
    assert_memory_equal(got, expected, (size_t)count * sizeof *got);
}

/* Set anew for every run: whole numbers of the type, which floats hold exactly. */
static void test_integer_inputs(void **state) {
    const fixture *f = *state;
    onnx_writer *writer = onnx_writer_create(13);
    onnx_add_input(writer, "b", TSR_DTYPE_I8, 1, (const int64_t[]){2});
    onnx_add_input(writer, "i", TSR_DTYPE_I32, 1, (const int64_t[]){2});
    onnx_add_node(writer, "Neg", "negate", "b", "m");
    onnx_add_node(writer, "Neg", "negate_int", "i", "n");
    onnx_add_output(writer, "m", TSR_DTYPE_I8, -1, NULL);
    onnx_add_output(writer, "n", TSR_DTYPE_I32, -1, NULL);
    size_t size;
    uint8_t *bytes = onnx_write_memory(writer, &size);
    tsr_model *model;
    tsr_session *session;
    tsr_node_report report;
    assert_int_equal(tsr_model_load_memory(bytes, size, NULL, &model), TSR_OK);
    assert_false(tsr_model_input_is_parameter(model, 0));
    assert_int_equal(tsr_session_create(f->device, model, NULL, &session), TSR_OK);
    for (float x = 5; x < 7; x++) {
        assert_int_equal(tsr_session_set_input(session, "b", (const float[]){-128, x}, 2), TSR_OK);
        assert_int_equal(tsr_session_set_input(session, "i", (const float[]){x, 1 << 24}, 2),
                         TSR_OK);
        assert_int_equal(tsr_session_run(session), TSR_OK);
        assert_output(session, "m", 2, (const float[]){-128, -x});
        assert_output(session, "n", 2, (const float[]){-x, -(1 << 24)});
    }
    assert_failed(tsr_session_set_input(session, "b", (const float[]){0, 128}, 2),
                  TSR_ERROR_INVALID_ARGUMENT, "element 1 cannot be 128");
    assert_failed(tsr_session_set_input(session, "b", (const float[]){0.5f, 1}, 2),
                  TSR_ERROR_INVALID_ARGUMENT, "is no integer");
    assert_failed(tsr_session_set_input(session, "b", (const float[]){0, NAN}, 2),
                  TSR_ERROR_INVALID_ARGUMENT, "element 1");
    assert_failed(tsr_session_set_input(session, "i", (const float[]){0, 1 << 25}, 2),
                  TSR_ERROR_INVALID_ARGUMENT, "beyond 2^24");
    assert_int_equal(tsr_session_node_report(session, 0, &report), TSR_OK);
    assert_int_equal(report.dtype, TSR_DTYPE_I8);
    tsr_session_destroy(session);
    tsr_model_free(model);
    free(bytes);
    onnx_writer_destroy(writer);
}

static void test_run(void **state) {
    fixture *f = *state;
    tsr_session_desc desc = complete();
    tsr_session *session = make_session(f, &desc);
    tsr_model_free(f->model); /* the session keeps what it needs */
    f->model = NULL;
    assert_int_equal(tsr_session_input_count(session), 1);
    assert_failed(tsr_session_poll(session), TSR_ERROR_INVALID_ARGUMENT, "not run");
    assert_failed(tsr_session_run(session), TSR_ERROR_INVALID_ARGUMENT,
                  "'x' [1, 2, 2, 3] has not been set");
    assert_failed(tsr_session_set_input(session, "s", x_data, 2), TSR_ERROR_INVALID_ARGUMENT,
                  "inputs are: 'x'");
    assert_failed(tsr_session_set_input(session, "x", x_data, 11), TSR_ERROR_SHAPE, "[1, 2, 2, 3]");
    assert_failed(tsr_session_set_input(session, "x", NULL, 12), TSR_ERROR_INVALID_ARGUMENT,
                  "NULL");
    assert_int_equal(tsr_session_set_input(session, "x", x_data, 12), TSR_OK);
    assert_int_equal(tsr_session_run(session), TSR_OK);
    assert_int_equal(tsr_session_poll(session), TSR_OK);
    assert_output(session, "y", 6, (const float[]){0, 0, 0, 1, 3, 5});
    assert_output(session, "k", 2, (const float[]){7, -8});
    /* An output that is an input shows what the run saw, not what was set since. */
    assert_int_equal(tsr_session_set_input(session, "x", (const float[12]){0}, 12), TSR_OK);
    assert_output(session, "x", 12, x_data);
    float got[12];
    assert_failed(tsr_session_get_output(session, "r", got, 6), TSR_ERROR_INVALID_ARGUMENT,
                  "neither an output");
    assert_failed(tsr_session_get_output(session, "?", got, 6), TSR_ERROR_INVALID_ARGUMENT,
                  "'y', 'x', 'k'");
    assert_failed(tsr_session_get_output(session, "y", got, 5), TSR_ERROR_SHAPE,
                  "[2, 3] has 6 elements");
    tsr_texture texture;
    assert_failed(tsr_session_output_texture(session, "y", &texture), TSR_ERROR_UNSUPPORTED,
                  "no textures");
    tsr_session_destroy(session);
    tsr_session_destroy(NULL);
}

static void run_on(tsr_session *session, float first) {
    float x[12] = {first};
    assert_int_equal(tsr_session_set_input(session, "x", x, 12), TSR_OK);
    assert_int_equal(tsr_session_run(session), TSR_OK);
}

/* The output x is the input; y a computed one. */
static void assert_run(tsr_session *session, int age, float first) {
    const float x[12] = {first};
    float y[6], alone[6];
    assert_int_equal(tsr_session_select_run(session, age), TSR_OK);
    assert_int_equal(tsr_session_poll(session), TSR_OK);
    assert_output(session, "x", 12, x);
    assert_output(session, "k", 2, (const float[]){7, -8});
    assert_int_equal(tsr_session_get_output(session, "y", y, 6), TSR_OK);
    run_on(session, first); /* now the latest, and selected */
    assert_int_equal(tsr_session_get_output(session, "y", alone, 6), TSR_OK);
    assert_memory_equal(y, alone, sizeof y);
}

static void test_runs_in_flight(void **state) {
    tsr_session_desc desc = complete();
    desc.runs_in_flight = 3;
    tsr_session *session = make_session(*state, &desc);
    assert_failed(tsr_session_select_run(session, 0), TSR_ERROR_INVALID_ARGUMENT, "not run");
    run_on(session, 10);
    assert_failed(tsr_session_select_run(session, 1), TSR_ERROR_INVALID_ARGUMENT, "of 1 runs");
    run_on(session, 20);
    run_on(session, 30);
    run_on(session, 40);
    assert_failed(tsr_session_select_run(session, 3), TSR_ERROR_INVALID_ARGUMENT, "of 3 runs");
    assert_failed(tsr_session_select_run(session, -1), TSR_ERROR_INVALID_ARGUMENT, "of 3 runs");
    assert_failed(tsr_session_select_run(NULL, 0), TSR_ERROR_INVALID_ARGUMENT, "NULL");
    assert_run(session, 2, 20); /* 30 is the earliest of 30, 40, 20 then */
    assert_run(session, 2, 30);
    assert_run(session, 2, 40);
    assert_run(session, 0, 40);
    tsr_session_destroy(session);

    desc.runs_in_flight = 17;
    assert_no_session(*state, &desc, TSR_ERROR_INVALID_ARGUMENT, "1 to 16");
    desc.runs_in_flight = -1;
    assert_no_session(*state, &desc, TSR_ERROR_INVALID_ARGUMENT, "1 to 16");
    desc.runs_in_flight = 2;
    desc.keep_tensors = true;
    assert_no_session(*state, &desc, TSR_ERROR_INVALID_ARGUMENT, "several runs in flight");
}

static void test_keep_tensors(void **state) {
    tsr_session_desc desc = complete();
    desc.keep_tensors = true;
    tsr_session *session = make_session(*state, &desc);
    assert_int_equal(tsr_session_set_input(session, "x", x_data, 12), TSR_OK);
    assert_int_equal(tsr_session_run(session), TSR_OK);
    assert_output(session, "c", 6, (const float[]){-5, -3, -1, 1, 3, 5});
    tsr_session_destroy(session);
}

static void test_memory(void **state) {
    fixture *f = *state;
    static const tsr_input_shape huge = {"x", {4, {1, 2, 1 << 20, 1 << 20}}};
    static const int64_t square[2] = {1 << 20, 1 << 20};
    static const tsr_fixed_input fixed = {"s", TSR_DTYPE_I64, {1, {2}}, square};
    tsr_session_desc desc = complete();
    tsr_session *session;
    desc.shapes = &huge;
    desc.fixed = &fixed;
    assert_failed(tsr_session_create(f->device, f->model, &desc, &session), TSR_ERROR_OUT_OF_MEMORY,
                  "max_bytes is");
    assert_null(session);
}

/* A session keeps its device and its model until it is destroyed. */
static void test_device_destroyed_first(void **state) {
    (void)state;
    fixture *f;
    setup((void **)&f);
    tsr_session_desc desc = complete();
    tsr_session *session = make_session(f, &desc);
    teardown((void **)&f);
    float y[6];
    assert_int_equal(tsr_session_set_input(session, "x", (const float[12]){1, 2}, 12), TSR_OK);
    assert_int_equal(tsr_session_run(session), TSR_OK);
    assert_int_equal(tsr_session_get_output(session, "y", y, 6), TSR_OK);
    assert_true(y[0] == 1 && y[1] == 2 && y[2] == 0);
    tsr_session_destroy(session);
}

static void test_nothing_to_recover(void **state) {
    fixture *f = *state;
    tsr_device *other;
    tsr_session_desc desc = complete();
    tsr_session *session = make_session(f, &desc);
    assert_int_equal(tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &other), TSR_OK);
    assert_failed(tsr_session_recover(NULL, other), TSR_ERROR_INVALID_ARGUMENT, "is NULL");
    assert_failed(tsr_session_recover(session, NULL), TSR_ERROR_INVALID_ARGUMENT, "is NULL");
    assert_failed(tsr_session_recover(session, other), TSR_ERROR_INVALID_ARGUMENT, "is not lost");
    tsr_device_destroy(other);
    tsr_session_destroy(session);
}

static void test_plan_only(void **state) {
    tsr_session_desc desc = complete();
    desc.plan_only = true;
    tsr_session *session = make_session(*state, &desc);
    assert_failed(tsr_session_set_input(session, "x", x_data, 12), TSR_ERROR_INVALID_ARGUMENT,
                  "plan only");
    assert_failed(tsr_session_run(session), TSR_ERROR_INVALID_ARGUMENT, "plan only");
    tsr_report report;
    assert_int_equal(tsr_session_report(session, &report), TSR_OK);
    assert_int_equal(report.allocated_bytes, 0);
    tsr_session_destroy(session);
}

static void test_reports(void **state) {
    tsr_session_desc desc = complete();
    tsr_session *session = make_session(*state, &desc);
    assert_int_equal(tsr_session_set_input(session, "x", x_data, 12), TSR_OK);
    assert_int_equal(tsr_session_run(session), TSR_OK);
    tsr_report report;
    assert_int_equal(tsr_session_report(session, &report), TSR_OK);
    assert_string_equal(report.backend, "cpu");
    assert_int_equal(report.node_count, 3);
    assert_int_equal(report.macs, 12);
    assert_int_equal(report.weight_bytes, 2 * 4 + 2 * 8 + 2 * 8); /* weights, s, k */
    assert_int_equal(report.tensor_bytes, (12 + 6 + 6) * 4);      /* x with c and r */
    tsr_node_report node;
    assert_int_equal(tsr_session_node_report(session, 0, &node), TSR_OK);
    assert_string_equal(node.name, "mix");
    assert_string_equal(node.op, "Conv");
    assert_string_equal(node.output, "c");
    assert_string_equal(node.backend, "cpu");
    assert_int_equal(node.shape.dim[1], 1);
    assert_true(node.ms >= 0);
    assert_int_equal(node.bytes, (12 + 2 + 6) * 4); /* x, weights, c */
    assert_failed(tsr_session_node_report(session, 3, &node), TSR_ERROR_INVALID_ARGUMENT,
                  "node 3 of 3");
    tsr_session_destroy(session);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices),
        cmocka_unit_test_setup_teardown(test_model_questions, setup, teardown),
        cmocka_unit_test(test_model_files),
        cmocka_unit_test_setup_teardown(test_open_shapes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_overridden_shapes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fixed_inputs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_extra_outputs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_integer_inputs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_runs_in_flight, setup, teardown),
        cmocka_unit_test_setup_teardown(test_keep_tensors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
        cmocka_unit_test(test_device_destroyed_first),
        cmocka_unit_test_setup_teardown(test_nothing_to_recover, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plan_only, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reports, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
