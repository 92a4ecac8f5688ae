/* tsr_model_desc.files: models and their external data come from the caller's functions, only what
 * is needed is read, and what they say about failures arrives. */
#include "api/model.h"
#include "base/half.h"
#include "support/counted_memory.h"
#include "support/main.h"
#include "support/sessions.h"

#include <string.h>

enum { WEIGHTS_AT = 12, WEIGHTS = 6 };

typedef struct archive {
    const uint8_t *model;
    size_t model_size;
    float weights[WEIGHTS_AT / 4 + WEIGHTS];
    const char *model_path, *weights_path;
    uint64_t claimed; /* size of the model; 0: the true one */
    tsr_status size_status, read_status;
    int reads;
    uint64_t least, most; /* range of the weights that was read */
} archive;

static const void *find(const archive *a, const char *path, uint64_t *size) {
    bool weights = !strcmp(path, a->weights_path);
    if (!weights && strcmp(path, a->model_path))
        return NULL;
    *size = weights ? sizeof a->weights : a->claimed ? a->claimed : a->model_size;
    return weights ? (const void *)a->weights : a->model;
}

static tsr_status get_size(void *user, const char *path, uint64_t *bytes) {
    archive *a = user;
    if (a->size_status != TSR_OK)
        return tsr_fail(a->size_status, "the archive is closed");
    return find(a, path, bytes) ? TSR_OK : tsr_fail(TSR_ERROR_IO, "no member %s", path);
}

static tsr_status read_range(void *user, const char *path, uint64_t offset, void *buffer,
                             size_t size) {
    archive *a = user;
    uint64_t file_size = 0;
    const char *file = find(a, path, &file_size);
    assert_non_null(file);
    assert_true(offset <= file_size && size <= file_size - offset);
    a->reads++;
    if (a->read_status != TSR_OK)
        return tsr_fail(a->read_status, "the archive is damaged");
    if (file == (const char *)a->weights) {
        a->least = offset < a->least ? offset : a->least;
        a->most = offset + size > a->most ? offset + size : a->most;
    }
    memcpy(buffer, file + offset, size);
    return TSR_OK;
}

static void add_entry(onnx_writer *writer, Tsr__TensorProto *tensor, const char *key,
                      const char *value) {
    Tsr__StringStringEntryProto *entry = onnx_alloc(writer, 1, sizeof *entry);
    tsr__string_string_entry_proto__init(entry);
    entry->key = onnx_copy(writer, key);
    entry->value = onnx_copy(writer, value);
    onnx_append(writer, &tensor->external_data, &tensor->n_external_data, entry);
}

/* y = x + w, w being 6 floats at byte 12 of the external file. */
static uint8_t *make_model_file(const char *location, size_t *size) {
    onnx_writer *writer = onnx_writer_create(13);
    onnx_add_input(writer, "x", TSR_DTYPE_F32, 1, (const int64_t[]){WEIGHTS});
    Tsr__TensorProto *tensor =
        onnx_add_initializer(writer, "w", TSR_DTYPE_F32, 1, (const int64_t[]){WEIGHTS});
    tensor->has_raw_data = false;
    tensor->has_data_location = true;
    tensor->data_location = TSR__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    add_entry(writer, tensor, "location", location);
    add_entry(writer, tensor, "offset", "12");
    onnx_add_node(writer, "Add", "sum", "x,w", "y");
    onnx_add_output(writer, "y", TSR_DTYPE_F32, -1, NULL);
    uint8_t *bytes = onnx_write_memory(writer, size);
    onnx_writer_destroy(writer);
    assert_non_null(bytes);
    return bytes;
}

static archive make_archive(const char *location, const char *model_path,
                            const char *weights_path) {
    archive a = {.model_path = model_path, .weights_path = weights_path, .least = UINT64_MAX};
    a.model = make_model_file(location, &a.model_size);
    for (int i = 0; i < WEIGHTS; i++)
        a.weights[WEIGHTS_AT / 4 + i] = (float)i;
    return a;
}

static tsr_status load(archive *a, tsr_model_desc desc, tsr_model **model) {
    desc.files = (tsr_files){a, get_size, read_range};
    return tsr_model_load(a->model_path, &desc, model);
}

static void expect_sum(const tsr_model *model) {
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "cpu"});
    tsr_session *session = make_session(device, model, NULL);
    float y[WEIGHTS];
    EXPECT_OK(tsr_session_set_input(session, "x", (const float[]){1, 1, 1, 1, 1, 1}, WEIGHTS));
    EXPECT_OK(tsr_session_run(session));
    EXPECT_OK(tsr_session_get_output(session, "y", y, WEIGHTS));
    for (int i = 0; i < WEIGHTS; i++)
        assert_true(y[i] == (float)(i + 1));
    tsr_session_destroy(session);
    tsr_device_destroy(device);
}

enum { HALVES = 100001 };

/* y = w, w being float16 in the model's file. */
static archive make_archive_of_halves(const uint16_t *halves) {
    archive a = {.model_path = "net.onnx", .weights_path = "none"};
    onnx_writer *writer = onnx_writer_create(13);
    Tsr__TensorProto *w =
        onnx_add_initializer(writer, "w", TSR_DTYPE_F16, 1, (const int64_t[]){HALVES});
    memcpy(w->raw_data.data, halves, w->raw_data.len);
    onnx_add_node(writer, "Identity", "same", "w", "y");
    onnx_add_output(writer, "y", TSR_DTYPE_F16, -1, NULL);
    a.model = onnx_write_memory(writer, &a.model_size);
    onnx_writer_destroy(writer);
    return a;
}

static void expect_halves(const tsr_model *model, const uint16_t *halves) {
    const float *w = model->graph->values[tsr_graph_find_value(model->graph, "w")].data;
    for (int i = 0; i < HALVES; i++)
        assert_true(w[i] == tsr_half_to_float(halves[i]));
}

/* Large float16 constants of a file in memory are widened by tsr_model_load(), or in steps. */
static void test_halves_are_widened(void **state) {
    (void)state;
    uint16_t *halves = test_malloc(HALVES * sizeof *halves);
    for (int i = 0; i < HALVES; i++)
        halves[i] = (uint16_t)(i * 7 % 0x7c00 | i % 2 << 15);
    archive a = make_archive_of_halves(halves);
    tsr_model *model;
    EXPECT_OK(load(&a, (tsr_model_desc){0}, &model));
    expect_halves(model, halves);
    tsr_model_free(model);
    tsr_model_desc desc = {.files = {&a, get_size, read_range}};
    EXPECT_OK(tsr_model_read("net.onnx", &desc, sizeof desc, sizeof *desc.custom_ops, &model));
    assert_false(tsr_graph_widen(model->graph, 0)); /* 65536 elements at once */
    assert_true(tsr_graph_widen(model->graph, 0));
    expect_halves(model, halves);
    tsr_model_free(model);
    free((void *)a.model);
    test_free(halves);
}

static void test_paths(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"w.bin", "net.onnx", "w.bin"},
        {"w.bin", "assets/net.onnx", "assets/w.bin"},
        {"sub/w.bin", "zip:/net.onnx", "zip:/sub/w.bin"},
        {"w.bin", "/net.onnx", "/w.bin"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        archive a = make_archive(cases[i][0], cases[i][1], cases[i][2]);
        tsr_model *model;
        EXPECT_OK(load(&a, (tsr_model_desc){0}, &model));
        free((void *)a.model);
        assert_true(a.reads == 2 && a.least == WEIGHTS_AT && a.most == sizeof a.weights);
        expect_sum(model);
        tsr_model_free(model);
    }
}

/* A model in memory, its external data not. */
static void test_model_in_memory(void **state) {
    (void)state;
    archive a = make_archive("w.bin", "", "data/w.bin");
    tsr_model_desc desc = {.external_data_dir = "data", .files = {&a, get_size, read_range}};
    tsr_model *model;
    EXPECT_OK(tsr_model_load_memory(a.model, a.model_size, &desc, &model));
    assert_int_equal(a.reads, 1);
    expect_sum(model);
    tsr_model_free(model);
    free((void *)a.model);
}

static void expect_refused(archive a, tsr_model_desc desc, int reads, tsr_status status,
                           const char *words) {
    tsr_model *model;
    expect_failure(load(&a, desc, &model), status, words);
    expect_failure(status, status, a.model_path);
    assert_null(model);
    assert_int_equal(a.reads, reads);
    free((void *)a.model);
    assert_int_equal(live_blocks(), 0);
}

static void test_failures(void **state) {
    (void)state;
    archive a = make_archive("w.bin", "net.onnx", "w.bin");
    a.size_status = TSR_ERROR_IO;
    expect_refused(a, (tsr_model_desc){0}, 0, TSR_ERROR_IO, "the archive is closed");
    a = make_archive("w.bin", "net.onnx", "w.bin");
    a.read_status = TSR_ERROR_DEVICE_LOST;
    expect_refused(a, (tsr_model_desc){0}, 1, TSR_ERROR_DEVICE_LOST, "the archive is damaged");
    a = make_archive("v.bin", "net.onnx", "w.bin");
    expect_refused(a, (tsr_model_desc){0}, 1, TSR_ERROR_IO, "no member v.bin");
    for (const char *const *out = (const char *const[]){"../w.bin", "/w.bin", "a/../w.bin", NULL};
         *out; out++) {
        a = make_archive(*out, "net.onnx", *out);
        expect_refused(a, (tsr_model_desc){0}, 1, TSR_ERROR_INVALID_MODEL,
                       "no path inside the model's folder");
    }
    tsr_model *model;
    expect_failure(tsr_model_load("net.onnx", &(tsr_model_desc){.files.size = get_size}, &model),
                   TSR_ERROR_INVALID_ARGUMENT, "size or read is NULL");
}

/* What is too large is not read: there would be no memory for it. */
static void test_limits(void **state) {
    (void)state;
    archive a = make_archive("w.bin", "net.onnx", "w.bin");
    a.claimed = UINT64_MAX;
    expect_refused(a, (tsr_model_desc){0}, 0, TSR_ERROR_OUT_OF_MEMORY, "max_bytes is");
    a = make_archive("w.bin", "net.onnx", "w.bin");
    expect_refused(a, (tsr_model_desc){.max_bytes = a.model_size - 1}, 0, TSR_ERROR_OUT_OF_MEMORY,
                   "max_bytes is");
    a = make_archive("w.bin", "net.onnx", "w.bin");
    expect_refused(a, (tsr_model_desc){.max_bytes = a.model_size + 4 * WEIGHTS - 1}, 1,
                   TSR_ERROR_OUT_OF_MEMORY, "more than max_bytes");
    a = make_archive("w.bin", "net.onnx", "w.bin");
    tsr_model *model;
    EXPECT_OK(load(&a, (tsr_model_desc){.max_bytes = a.model_size + 4 * WEIGHTS}, &model));
    tsr_model_free(model);
    free((void *)a.model);
}

static void test_each_allocation_fails(void **state) {
    (void)state;
    archive a = make_archive("w.bin", "net.onnx", "w.bin");
    bool failed = true;
    for (long i = 0; failed; i++) {
        tsr_model *model;
        fail_allocation(i);
        tsr_status status = load(&a, (tsr_model_desc){0}, &model);
        failed = has_allocation_failed();
        fail_allocation(-1);
        assert_int_equal(status, failed ? TSR_ERROR_OUT_OF_MEMORY : TSR_OK);
        tsr_model_free(model);
        assert_int_equal(live_blocks(), 0);
    }
    free((void *)a.model);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),           cmocka_unit_test(test_halves_are_widened),
        cmocka_unit_test(test_model_in_memory), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_limits),          cmocka_unit_test(test_each_allocation_fails),
    };
    count_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
