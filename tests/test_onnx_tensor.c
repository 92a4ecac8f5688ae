/* Tensors of ONNX files: every type in every form, constants, external data. */
#define _POSIX_C_SOURCE 200809L
#include "base/half.h"
#include "onnx/onnx.h"
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/refused.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- helpers ---- */

/* y = x + w, with w of shape [4] and zero in raw form. */
static onnx_writer *model_with(tsr_dtype dtype, Tsr__TensorProto **tensor) {
    onnx_writer *writer = onnx_case(13, "Add x[4] w -> y");
    *tensor = onnx_add_initializer(writer, "w", dtype, SHAPE(4));
    return writer;
}

static void without_raw_data(Tsr__TensorProto *tensor) {
    tensor->has_raw_data = false;
    tensor->raw_data.len = 0;
}

static void expect_elements(const tsr_value *value, tsr_dtype dtype, const double expected[4]) {
    assert_int_equal(value->dtype, dtype);
    expect_shape(value, SHAPE(4));
    for (int i = 0; i < 4; i++)
        assert_true(expected[i] == (tsr_dtype_is_float(dtype)
                                        ? (double)((const float *)value->data)[i]
                                        : (double)((const int64_t *)value->data)[i]));
}

static void expect_tensor(onnx_writer *writer, tsr_dtype dtype, const double expected[4]) {
    tsr_graph *graph = read_graph(writer);
    expect_elements(value_named(graph, "w"), dtype, expected);
    tsr_graph_destroy(graph);
}

/* ---- forms ---- */

static void raw_forms(void **state) {
    (void)state;
    const double all[] = {-2, 0, 1, 100}, natural[] = {0, 1, 2, 200}, truth[] = {0, 1, 1, 0};
    const struct {
        tsr_dtype dtype;
        const void *bytes;
        const double *expected;
    } forms[] = {
        {TSR_DTYPE_F32, (float[]){-2, 0, 1, 100}, all},
        {TSR_DTYPE_F64, (double[]){-2, 0, 1, 100}, all},
        {TSR_DTYPE_I64, (int64_t[]){-2, 0, 1, 100}, all},
        {TSR_DTYPE_I32, (int32_t[]){-2, 0, 1, 100}, all},
        {TSR_DTYPE_I8, (int8_t[]){-2, 0, 1, 100}, all},
        {TSR_DTYPE_U8, (uint8_t[]){0, 1, 2, 200}, natural},
        {TSR_DTYPE_BOOL, (uint8_t[]){0, 1, 255, 0}, truth},
        {TSR_DTYPE_F16, (uint16_t[]){0xc000, 0, 0x3c00, 0x5640}, all},
        {TSR_DTYPE_BF16, (uint16_t[]){0xc000, 0, 0x3f80, 0x42c8}, all},
        {TSR_DTYPE_I16, (int16_t[]){-2, 0, 1, 100}, all},
        {TSR_DTYPE_U16, (uint16_t[]){0, 1, 2, 200}, natural},
        {TSR_DTYPE_U32, (uint32_t[]){0, 1, 2, 200}, natural},
        {TSR_DTYPE_U64, (uint64_t[]){0, 1, 2, 200}, natural},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        Tsr__TensorProto *tensor;
        onnx_writer *writer = model_with(forms[i].dtype, &tensor);
        memcpy(tensor->raw_data.data, forms[i].bytes, tensor->raw_data.len);
        expect_tensor(writer, forms[i].dtype, forms[i].expected);
    }
}

static void typed_forms(void **state) {
    (void)state;
    const double all[] = {-2, 0, 1, 100}, truth[] = {0, 1, 1, 0};
    Tsr__TensorProto *tensor;
    onnx_writer *writer = model_with(TSR_DTYPE_F32, &tensor);
    without_raw_data(tensor);
    tensor->n_float_data = 4;
    tensor->float_data = (float[]){-2, 0, 1, 100};
    expect_tensor(writer, TSR_DTYPE_F32, all);
    writer = model_with(TSR_DTYPE_F64, &tensor);
    without_raw_data(tensor);
    tensor->n_double_data = 4;
    tensor->double_data = (double[]){-2, 0, 1, 100};
    expect_tensor(writer, TSR_DTYPE_F64, all);
    writer = model_with(TSR_DTYPE_I64, &tensor);
    without_raw_data(tensor);
    tensor->n_int64_data = 4;
    tensor->int64_data = (int64_t[]){-2, 0, 1, 100};
    expect_tensor(writer, TSR_DTYPE_I64, all);
    for (int i = 0; i < 2; i++) { /* one field for both */
        tsr_dtype dtype = i ? TSR_DTYPE_U64 : TSR_DTYPE_U32;
        writer = model_with(dtype, &tensor);
        without_raw_data(tensor);
        tensor->n_uint64_data = 4;
        tensor->uint64_data = (uint64_t[]){0, 1, 1, 0};
        expect_tensor(writer, dtype, truth);
    }
    const struct {
        tsr_dtype dtype;
        int32_t *elements;
        const double *expected;
    } forms[] = {
        {TSR_DTYPE_I32, (int32_t[]){-2, 0, 1, 100}, all},
        {TSR_DTYPE_I8, (int32_t[]){-2, 0, 1, 100}, all},
        {TSR_DTYPE_BOOL, (int32_t[]){0, 1, 1, 0}, truth},
        {TSR_DTYPE_F16, (int32_t[]){0xc000, 0, 0x3c00, 0x5640}, all},
        {TSR_DTYPE_BF16, (int32_t[]){0xc000, 0, 0x3f80, 0x42c8}, all},
        {TSR_DTYPE_I16, (int32_t[]){-2, 0, 1, 100}, all},
        {TSR_DTYPE_U16, (int32_t[]){0, 1, 1, 0}, truth},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        writer = model_with(forms[i].dtype, &tensor);
        without_raw_data(tensor);
        tensor->n_int32_data = 4;
        tensor->int32_data = forms[i].elements;
        expect_tensor(writer, forms[i].dtype, forms[i].expected);
    }
}

static void wrong_sizes(void **state) {
    (void)state;
    Tsr__TensorProto *tensor;
    onnx_writer *writer = model_with(TSR_DTYPE_F32, &tensor);
    tensor->raw_data.len = 15;
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "tensor \"w\"|15 bytes|4 elements|float32");
    writer = model_with(TSR_DTYPE_F32, &tensor);
    without_raw_data(tensor);
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "tensor \"w\"|0 elements");
    writer = model_with(TSR_DTYPE_F32, &tensor);
    without_raw_data(tensor);
    tensor->n_float_data = 3;
    tensor->float_data = (float[]){1, 2, 3};
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "tensor \"w\"|3 elements");
    writer = model_with(TSR_DTYPE_F32, &tensor);
    tensor->n_float_data = 4;
    tensor->float_data = (float[]){1, 2, 3, 4};
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "tensor \"w\"|twice");
    writer = model_with(TSR_DTYPE_F32, &tensor);
    without_raw_data(tensor);
    tensor->n_int64_data = 4;
    tensor->int64_data = (int64_t[]){1, 2, 3, 4};
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "tensor \"w\"|another type");
    writer = model_with(TSR_DTYPE_U8, &tensor);
    without_raw_data(tensor);
    tensor->n_int32_data = 4;
    tensor->int32_data = (int32_t[]){1, 2, -3, 4};
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "tensor \"w\"|element 2, -3, is no uint8");
}

static void hostile_shapes(void **state) {
    (void)state;
    Tsr__TensorProto *tensor;
    onnx_writer *writer = model_with(TSR_DTYPE_F32, &tensor);
    tensor->dims[0] = -4;
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "tensor \"w\"|-4");
    writer = model_with(TSR_DTYPE_F32, &tensor);
    tensor->dims[0] = INT64_MAX;
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "tensor \"w\"");
    writer = model_with(TSR_DTYPE_F32, &tensor);
    tensor->n_dims = 3;
    tensor->dims = (int64_t[]){(int64_t)1 << 32, (int64_t)1 << 31, 2};
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "tensor \"w\"|overflows");
    writer = model_with(TSR_DTYPE_F32, &tensor);
    tensor->n_dims = 9;
    tensor->dims = (int64_t[]){1, 1, 1, 1, 1, 1, 1, 1, 4};
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "rank 9 (1 tensor, 'w')");
}

static void types(void **state) {
    (void)state;
    const struct {
        int32_t type;
        tsr_status status;
        const char *text;
    } refused[] = {
        {0, TSR_ERROR_INVALID_MODEL, "type 0"},      {8, TSR_ERROR_UNSUPPORTED, "string"},
        {17, TSR_ERROR_UNSUPPORTED, "float8e4m3fn"}, {23, TSR_ERROR_UNSUPPORTED, "float4e2m1"},
        {24, TSR_ERROR_UNSUPPORTED, "float8e8m0"},   {26, TSR_ERROR_UNSUPPORTED, "int2"},
        {1000, TSR_ERROR_UNSUPPORTED, "newer"},      {-1, TSR_ERROR_INVALID_MODEL, "type -1"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        Tsr__TensorProto *tensor;
        onnx_writer *writer = model_with(TSR_DTYPE_F32, &tensor);
        tensor->data_type = refused[i].type;
        expect_refused(writer, refused[i].status, refused[i].text);
    }
    Tsr__TensorProto *tensor;
    onnx_writer *writer = model_with(TSR_DTYPE_F32, &tensor);
    tensor->name = NULL;
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "initializer 0");
    writer = model_with(TSR_DTYPE_F32, &tensor);
    tensor->has_segment = true;
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "stored in segments (1 tensor, 'w')");
}

/* ---- Constant nodes ---- */

static void constants(void **state) {
    (void)state;
    tsr_graph *graph =
        read_graph(onnx_case(13, "Constant -> c value_floats=1.5,2.5; Constant -> d value_int=-7; "
                                 "Constant -> e value_ints=3,; Constant -> f value_float=0.5; "
                                 "Concat c d e f -> y axis=0"));
    assert_int_equal(graph->node_count, 1);
    const tsr_value *c = value_named(graph, "c"), *d = value_named(graph, "d");
    expect_shape(c, SHAPE(2));
    assert_true(((const float *)c->data)[1] == 2.5f);
    expect_shape(d, SCALAR);
    assert_int_equal(*(const int64_t *)d->data, -7);
    expect_shape(value_named(graph, "e"), SHAPE(1));
    assert_true(*(const float *)value_named(graph, "f")->data == 0.5f);
    tsr_graph_destroy(graph);
}

static void constant_tensor(void **state) {
    (void)state;
    onnx_writer *writer = onnx_case(13, "Constant -> w; Add x[4] w -> y");
    Tsr__TensorProto *tensor = onnx_new_tensor(writer, "other name", TSR_DTYPE_F32, SHAPE(4));
    memcpy(tensor->raw_data.data, FLOATS(1, 2, 3, 4), 16);
    onnx_set_tensor(writer, onnx_writer_model(writer)->graph->node[0], "value", tensor);
    expect_tensor(writer, TSR_DTYPE_F32, (double[]){1, 2, 3, 4});
}

static void bad_constants(void **state) {
    (void)state;
    expect_refused_case(13, "Constant -> y", TSR_ERROR_INVALID_MODEL,
                        "node 0 (Constant)|0 attributes");
    expect_refused_case(13, "Constant -> y value_int=1 value_ints=1,", TSR_ERROR_INVALID_MODEL,
                        "Constant");
    expect_refused_case(13, "Constant -> y value_string=text", TSR_ERROR_UNSUPPORTED,
                        "value_string");
    expect_refused_case(13, "Constant -> y value_int=1.0", TSR_ERROR_UNSUPPORTED, "value_int");
    expect_refused_case(13, "Constant -> y z value_int=1", TSR_ERROR_INVALID_MODEL, "2 outputs");
    expect_refused_case(13, "Constant -> x value_int=1; Relu x[1] -> y", TSR_ERROR_INVALID_MODEL,
                        "\"x\"");
}

/* ---- external data ---- */

static char folder[] = "/tmp/tsr_test_onnx_XXXXXX";

static void path_in(char path[256], const char *name) {
    snprintf(path, 256, "%s/%s", folder, name);
}

static int make_folder(void **state) {
    (void)state;
    char path[256];
    if (!mkdtemp(folder))
        return -1;
    path_in(path, "data.bin");
    FILE *file = fopen(path, "wb");
    if (!file)
        return -1;
    fwrite((float[]){9, 1, 2, 3, 4, 9}, 4, 6, file);
    fclose(file);
    path_in(path, "out");
    if (symlink("/etc/passwd", path) != 0)
        return -1;
    path_in(path, "pipe");
    if (mkfifo(path, 0600) != 0)
        return -1;
    path_in(path, "sub");
    return mkdir(path, 0700);
}

static int remove_folder(void **state) {
    (void)state;
    static const char *const names[] = {"data.bin", "out", "pipe", "sub"};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_in(path, names[i]);
        remove(path);
    }
    return remove(folder);
}

static tsr_status read_external(const char *location, const char *offset, const char *length,
                                const char *dir, uint64_t fallback_kernels, tsr_graph **graph) {
    static const char *const keys[] = {"location", "offset", "length"};
    const char *const values[] = {location, offset, length};
    Tsr__TensorProto *tensor;
    onnx_writer *writer = model_with(TSR_DTYPE_F32, &tensor);
    without_raw_data(tensor);
    tensor->has_data_location = true;
    tensor->data_location = TSR__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    for (int i = 0; i < 3; i++) {
        Tsr__StringStringEntryProto *entry = onnx_alloc(writer, 1, sizeof *entry);
        tsr__string_string_entry_proto__init(entry);
        entry->key = onnx_copy(writer, keys[i]);
        entry->value = values[i] ? onnx_copy(writer, values[i]) : NULL;
        if (values[i])
            onnx_append(writer, &tensor->external_data, &tensor->n_external_data, entry);
    }
    size_t size;
    uint8_t *bytes = onnx_write_memory(writer, &size);
    onnx_writer_destroy(writer);
    const tsr_model_desc desc = {
        .name = "file.onnx", .external_data_dir = dir, .max_bytes = size + fallback_kernels};
    tsr_maps maps = {0};
    tsr_status status = tsr_onnx_read(bytes, size, &desc, &maps, NULL, graph);
    tsr_maps_close(&maps); /* tensors this small are copied */
    free(bytes);
    return status;
}

static void external_data(void **state) {
    (void)state;
    const char *const good[][3] = {
        {"data.bin", "4", "16"}, {"data.bin", "4", NULL}, {"./data.bin", "4", "16"}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        tsr_graph *graph;
        tsr_status status = read_external(good[i][0], good[i][1], good[i][2], folder, 16, &graph);
        if (status != TSR_OK)
            fail_msg("%s", tsr_last_error());
        expect_elements(value_named(graph, "w"), TSR_DTYPE_F32, (double[]){1, 2, 3, 4});
        tsr_graph_destroy(graph);
    }
}

static void bad_external_data(void **state) {
    (void)state;
    const struct {
        const char *location, *offset, *length;
        tsr_status status;
        const char *text;
    } bad[] = {
        {NULL, "0", "16", TSR_ERROR_INVALID_MODEL, "location"},
        {"", "0", "16", TSR_ERROR_INVALID_MODEL, "inside"},
        {"/etc/passwd", "0", "16", TSR_ERROR_INVALID_MODEL, "/etc/passwd"},
        {"../data.bin", "0", "16", TSR_ERROR_INVALID_MODEL, "../data.bin"},
        {"sub/../data.bin", "0", "16", TSR_ERROR_INVALID_MODEL, "inside"},
        {"sub/..", "0", "16", TSR_ERROR_INVALID_MODEL, "inside"},
        {"out", "0", "16", TSR_ERROR_INVALID_MODEL, "leads out"},
        {"pipe", "0", "16", TSR_ERROR_IO, "not a file"},
        {"sub", "0", "16", TSR_ERROR_IO, "not a file"},
        {"absent.bin", "0", "16", TSR_ERROR_IO, "absent.bin"},
        {"data.bin", "12", "16", TSR_ERROR_INVALID_MODEL, "24 bytes"},
        {"data.bin", "99", "16", TSR_ERROR_INVALID_MODEL, "99"},
        {"data.bin", "9223372036854775807", "16", TSR_ERROR_INVALID_MODEL, "offset"},
        {"data.bin", "99999999999999999999999", "16", TSR_ERROR_INVALID_MODEL, "offset"},
        {"data.bin", "-4", "16", TSR_ERROR_INVALID_MODEL, "offset"},
        {"data.bin", "", "16", TSR_ERROR_INVALID_MODEL, "offset"},
        {"data.bin", "0", "12", TSR_ERROR_INVALID_MODEL, "length 12"},
        {"data.bin", "0", "x", TSR_ERROR_INVALID_MODEL, "length"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsr_graph *graph;
        tsr_status status =
            read_external(bad[i].location, bad[i].offset, bad[i].length, folder, 1000, &graph);
        if (status != bad[i].status || !strstr(tsr_last_error(), bad[i].text) ||
            !strstr(tsr_last_error(), "file.onnx: tensor \"w\""))
            fail_msg("case %zu: %s: %s", i, tsr_status_name(status), tsr_last_error());
    }
}

static void external_data_without_folder_or_room(void **state) {
    (void)state;
    tsr_graph *graph;
    assert_int_equal(read_external("data.bin", "4", "16", NULL, 1000, &graph),
                     TSR_ERROR_UNSUPPORTED);
    assert_int_equal(read_external("data.bin", "4", "16", folder, 15, &graph),
                     TSR_ERROR_OUT_OF_MEMORY);
    assert_int_equal(read_external("data.bin", "4", "16", "/nonexistent", 99, &graph),
                     TSR_ERROR_IO);
}

/* ---- tensor files ---- */

static void tensor_file(void **state) {
    (void)state;
    onnx_writer *writer = onnx_writer_create(13);
    Tsr__TensorProto *tensor = onnx_new_tensor(writer, "w", TSR_DTYPE_F32, SHAPE(4));
    memcpy(tensor->raw_data.data, FLOATS(1, 2, 3, 4), 16);
    uint8_t bytes[256];
    size_t size = tsr__tensor_proto__pack(tensor, bytes);
    onnx_writer_destroy(writer);
    tsr_graph *graph;
    int value;
    assert_int_equal(tsr_onnx_read_tensor(bytes, size, "t.pb", &graph, &value), TSR_OK);
    assert_string_equal(graph->values[value].name, "w");
    expect_elements(&graph->values[value], TSR_DTYPE_F32, (double[]){1, 2, 3, 4});
    tsr_graph_destroy(graph);
    assert_int_equal(tsr_onnx_read_tensor(bytes, size - 3, "t.pb", &graph, &value),
                     TSR_ERROR_INVALID_MODEL);
    assert_non_null(strstr(tsr_last_error(), "t.pb"));
    assert_null(graph);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_forms),
        cmocka_unit_test(typed_forms),
        cmocka_unit_test(wrong_sizes),
        cmocka_unit_test(hostile_shapes),
        cmocka_unit_test(types),
        cmocka_unit_test(constants),
        cmocka_unit_test(constant_tensor),
        cmocka_unit_test(bad_constants),
        cmocka_unit_test(external_data),
        cmocka_unit_test(bad_external_data),
        cmocka_unit_test(external_data_without_folder_or_room),
        cmocka_unit_test(tensor_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
