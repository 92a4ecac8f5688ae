#include "support/sessions.h"

#include "support/onnx_case.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void expect_failure(tsr_status status, tsr_status expected, const char *words) {
    if (status != expected || !strstr(tsr_last_error(), words))
        fail_msg("%s: \"%s\" instead of %s with \"%s\"", tsr_status_name(status), tsr_last_error(),
                 tsr_status_name(expected), words);
}

bool append_written(void *user, const char *bytes, size_t size) {
    written *w = user;
    if (size > sizeof w->bytes - w->size)
        return false;
    memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
    return true;
}

tsr_model *load_written(onnx_writer *writer) {
    size_t size;
    uint8_t *bytes = onnx_write_memory(writer, &size);
    tsr_model *model;
    EXPECT_OK(tsr_model_load_memory(bytes, size, &(tsr_model_desc){.name = "net.onnx"}, &model));
    free(bytes);
    onnx_writer_destroy(writer);
    return model;
}

typedef struct file {
    const char *bytes;
    size_t size;
} file;

static tsr_status get_file_size(void *user, const char *path, uint64_t *bytes) {
    (void)path;
    *bytes = ((const file *)user)->size;
    return TSR_OK;
}

static tsr_status read_file(void *user, const char *path, uint64_t offset, void *buffer,
                            size_t size) {
    (void)path;
    memcpy(buffer, ((const file *)user)->bytes + offset, size);
    return TSR_OK;
}

tsr_model *load_as_file(const void *bytes, size_t size) {
    file read = {bytes, size};
    tsr_model *model;
    EXPECT_OK(tsr_model_load(
        "net.onnx", &(tsr_model_desc){.files = {&read, get_file_size, read_file}}, &model));
    return model;
}

tsr_model *make_model(const char *text) {
    return load_written(onnx_case(13, text));
}

tsr_model *make_limited_model(const char *text, uint64_t max_bytes) {
    size_t size;
    uint8_t *bytes = onnx_case_bytes(13, text, &size);
    tsr_model *model;
    EXPECT_OK(
        tsr_model_load_memory(bytes, size, &(tsr_model_desc){.max_bytes = max_bytes}, &model));
    free(bytes);
    return model;
}

tsr_device *make_device(const tsr_device_desc *desc) {
    tsr_device *device;
    EXPECT_OK(tsr_device_create(desc, &device));
    return device;
}

tsr_session *make_session(tsr_device *device, const tsr_model *model,
                          const tsr_session_desc *desc) {
    tsr_session *session;
    EXPECT_OK(tsr_session_create(device, model, desc, &session));
    return session;
}

static elements allocate(const tsr_shape *shape) {
    elements e = {.count = (size_t)tsr_shape_count(shape)};
    e.values = malloc((e.count + 1) * sizeof *e.values);
    assert_non_null(e.values);
    return e;
}

void set_inputs(tsr_session *session, unsigned seed) {
    random_source random = random_from(seed);
    for (int i = 0; i < tsr_session_input_count(session); i++) {
        tsr_tensor_info info;
        EXPECT_OK(tsr_session_input(session, i, &info));
        elements input = allocate(&info.shape);
        for (size_t k = 0; k < input.count; k++)
            input.values[k] = random_float(&random, 0, 1);
        EXPECT_OK(tsr_session_set_input(session, info.name, input.values, input.count));
        free(input.values);
    }
}

elements get_output(tsr_session *session, const char *name) {
    tsr_tensor_info info = {0};
    for (int i = 0; i < tsr_session_output_count(session); i++) {
        EXPECT_OK(tsr_session_output(session, i, &info));
        if (strcmp(info.name, name) == 0)
            break;
    }
    elements output = allocate(&info.shape);
    EXPECT_OK(tsr_session_get_output(session, name, output.values, output.count));
    return output;
}

elements reference_output(const tsr_model *model, const char *name, unsigned seed) {
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "cpu"});
    tsr_session *session = make_session(device, model, NULL);
    set_inputs(session, seed);
    EXPECT_OK(tsr_session_run(session));
    elements output = get_output(session, name);
    tsr_session_destroy(session);
    tsr_device_destroy(device);
    return output;
}

void expect_close(elements actual, elements expected, double tolerance) {
    double largest = 0;
    assert_int_equal(actual.count, expected.count);
    for (size_t i = 0; i < expected.count; i++)
        largest = fmax(largest, fabs((double)expected.values[i]));
    for (size_t i = 0; i < expected.count; i++)
        if (!(fabs((double)actual.values[i] - expected.values[i]) <= tolerance * largest))
            fail_msg("element %zu of %zu is %g instead of %g, the largest is %g", i, expected.count,
                     actual.values[i], expected.values[i], largest);
}

void expect_output(tsr_session *session, const tsr_model *model, const char *name, unsigned seed,
                   double tolerance) {
    elements actual = get_output(session, name);
    elements expected = reference_output(model, name, seed);
    expect_close(actual, expected, tolerance);
    free(actual.values);
    free(expected.values);
}

int nodes_on(tsr_session *session, const char *backend) {
    tsr_report report;
    int nodes = 0;
    EXPECT_OK(tsr_session_report(session, &report));
    for (int i = 0; i < report.node_count; i++) {
        tsr_node_report node;
        EXPECT_OK(tsr_session_node_report(session, i, &node));
        nodes += strcmp(node.backend, backend) == 0;
    }
    return nodes;
}

int count_passes_of(tsr_session *session, const char *op) {
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    int passes = 0;
    for (int i = 0; i < report.node_count; i++) {
        tsr_node_report node;
        EXPECT_OK(tsr_session_node_report(session, i, &node));
        if (strncmp(node.op, op, strlen(op)) == 0)
            passes += node.passes;
    }
    return passes;
}

void expect_report(tsr_session *session, const char *backend, const tsr_session_desc *desc) {
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    assert_string_equal(report.backend, backend);
    assert_true(report.live_bytes_bound > 0 && report.live_bytes_bound <= report.tensor_bytes);
    assert_true(report.weight_bytes > 0);
    if (desc->plan_only) {
        assert_int_equal(report.allocated_bytes, 0);
        assert_int_equal(report.program_count, 0);
    } else {
        assert_true(report.allocated_bytes >= report.tensor_bytes + report.weight_bytes);
        assert_true(report.program_count > 0 &&
                    report.program_count <= report.pass_count + tsr_session_input_count(session) +
                                                tsr_session_output_count(session));
    }
    int passes = 0;
    int64_t macs = 0;
    for (int i = 0; i < report.node_count; i++) {
        tsr_node_report node;
        EXPECT_OK(tsr_session_node_report(session, i, &node));
        passes += node.passes;
        macs += node.macs;
        assert_string_equal(node.backend, node.passes ? backend : "view");
        assert_true((node.ms >= 0) == (desc->time_passes && !desc->plan_only && node.passes));
    }
    int copies = desc->texture_outputs ? tsr_session_output_count(session) : 0; /* no node's */
    assert_int_equal(passes + copies, report.pass_count);
    assert_int_equal(macs, report.macs);
}

void live_one_session(tsr_device *device, const tsr_model *model, unsigned seed) {
    tsr_device_info info;
    EXPECT_OK(tsr_device_get_info(device, &info));
    const tsr_session_desc desc = {.poison = seed % 2 == 0,
                                   .keep_tensors = seed % 3 == 0,
                                   .texture_outputs = seed % 5 == 0 && info.max_texture_size > 0,
                                   .time_passes = seed % 7 == 0,
                                   .precision =
                                       seed % 4 == 3 ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32,
                                   .tune_ms = seed % 11 == 10 ? 60000 : -1};
    tsr_session *session = make_session(device, model, &desc);
    set_inputs(session, seed);
    EXPECT_OK(tsr_session_run(session));
    elements output = get_output(session, "y");
    free(output.values);
    tsr_session_destroy(session);
}

void expect_all_lost(tsr_device *device, const tsr_model *model, tsr_session *session) {
    static const float input[3 * 9 * 14];
    static float output[5 * 18 * 28];
    tsr_session *other;
    tsr_device_peaks peaks;
    expect_failure(tsr_session_set_input(session, "x", input, 3 * 9 * 14), TSR_ERROR_DEVICE_LOST,
                   "lost");
    expect_failure(tsr_session_submit(session), TSR_ERROR_DEVICE_LOST, "net.onnx");
    expect_failure(tsr_session_step(session, 1), TSR_ERROR_DEVICE_LOST, "net.onnx");
    expect_failure(tsr_session_run(session), TSR_ERROR_DEVICE_LOST, "lost");
    expect_failure(tsr_session_create(device, model, NULL, &other), TSR_ERROR_DEVICE_LOST, "lost");
    expect_failure(tsr_device_measure(device, &peaks), TSR_ERROR_DEVICE_LOST, "lost");
    EXPECT_OK(tsr_session_create(device, model, &(tsr_session_desc){.plan_only = true}, &other));
    tsr_session_destroy(other);
    assert_int_not_equal(tsr_session_get_output(session, "y", output, 5 * 18 * 28), TSR_OK);
}
