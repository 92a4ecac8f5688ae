/* Weights that stay in the model's file, at any address and with a batch norm folded beside them:
 * the results of a model in memory. */
#define _POSIX_C_SOURCE 200809L

#include "onnx/onnx.h"
#include "support/backends.h"
#include "support/folder.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/sessions.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 1024 };
enum { MIN_KEPT_BYTES = 64 * 1024 };

/* Of 64 KiB and more are the weights. The input's name stands in front of them and moves them on by
 * its length. "Mul v v" is a variance, positive. */
static const char *const models[] = {
    "Mul v{128} v -> u; Conv %s[1,64,6,7] w{128,64,3,3} b{128} -> c; "
    "BatchNormalization c s{128} o{128} m{128} u -> n; Mul k{64} k -> l; "
    "ConvTranspose n t{128,64,4,4} -> d strides=2,2 pads=1,1,1,1; "
    "BatchNormalization d p{64} q{64} r{64} l -> y",
    "Mul v{4096} v -> u; Conv %s[1,4096,3,3] w{4096,1,3,3} -> c group=4096; "
    "BatchNormalization c s{4096} o{4096} m{4096} u -> y",
    "Mul v{96} v -> u; Conv %s[1,96,5,5] w{96,48,3,3} -> c group=2; "
    "BatchNormalization c s{96} o{96} m{96} u -> n; "
    "BatchNormalization n p{96} q{96} r{96} u -> y",
    "Gemm %s[3,200] w{150,200} b{150} -> g alpha=0.5 transB=1; MatMul g m{150,120} -> y",
    "Add %s[1,16,40,40] w{1,16,40,40} -> a; Mul p{16,40,40} p -> s; Mul a s -> y",
};

/* A Pad of a value that is no constant runs on the CPU. */
static const char on_cpu[] = "Pad k{1,16,40,40} p(0,0,1,0,0,0,1,2) %s[] -> y";

static const char *const names[] = {"x", "xx", "xxx", "xxxx"};

static uint8_t *make_bytes(const char *model, int shift, size_t *size) {
    char text[TEXT];
    snprintf(text, sizeof text, model, names[shift]);
    return onnx_case_bytes(13, text, size);
}

static void compare(const char *model, int shift, const tsr_session_desc *desc) {
    char folder[FOLDER_PATH], path[FOLDER_PATH + 16];
    size_t size;
    uint8_t *bytes = make_bytes(model, shift, &size);
    tsr_model *in_memory, *in_file;
    make_cache_folder(folder);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    write_bytes(path, bytes, size);
    EXPECT_OK(tsr_model_load_memory(bytes, size, NULL, &in_memory));
    EXPECT_OK(tsr_model_load(path, NULL, &in_file));
    free(bytes);
    remove_cache_folder(folder); /* deleted, it stays mapped */
    tsr_session *session = make_session(gpu_device((backend_limits){0}), in_file, desc);
    tsr_model_free(in_file);
    assert_int_equal(nodes_on(session, "cpu"), model == on_cpu);
    set_inputs(session, 3);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, in_memory, "y", 3, SUM_TOLERANCE);
    tsr_session_destroy(session);
    tsr_model_free(in_memory);
}

static void test_every_address(void **state) {
    (void)state;
    need_gpu();
    for (int model = 0; model < (int)(sizeof models / sizeof *models); model++)
        for (int shift = 0; shift < 4; shift++)
            compare(models[model], shift, NULL);
}

static void test_with_fallback(void **state) {
    (void)state;
    need_gpu();
    for (int shift = 0; shift < 2; shift++)
        compare(on_cpu, shift, &(tsr_session_desc){.allow_cpu_fallback = true});
}

/* A file of the caller's has no pages that could be released. */
static void test_file_of_caller(void **state) {
    (void)state;
    need_gpu();
    size_t size;
    uint8_t *bytes = make_bytes(models[0], 1, &size);
    tsr_model *model = load_as_file(bytes, size);
    free(bytes);
    tsr_session *session = make_session(gpu_device((backend_limits){0}), model, NULL);
    set_inputs(session, 3);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 3, SUM_TOLERANCE);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

static void test_on_cpu(void **state) {
    (void)state;
    char folder[FOLDER_PATH], path[FOLDER_PATH + 16];
    size_t size;
    uint8_t *bytes = make_bytes(models[0], 1, &size);
    make_cache_folder(folder);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    write_bytes(path, bytes, size);
    tsr_model *in_memory, *in_file;
    EXPECT_OK(tsr_model_load_memory(bytes, size, NULL, &in_memory));
    EXPECT_OK(tsr_model_load(path, NULL, &in_file));
    elements expected = reference_output(in_memory, "y", 3),
             actual = reference_output(in_file, "y", 3);
    expect_close(actual, expected, 0);
    free(expected.values);
    free(actual.values);
    free(bytes);
    remove_cache_folder(folder);
    tsr_model_free(in_memory);
    tsr_model_free(in_file);
}

/* The shifts do what they are for: large constants lie in the bytes, at four addresses; small ones
 * do not. */
static void test_addresses(void **state) {
    (void)state;
    unsigned seen = 0;
    for (int shift = 0; shift < 4; shift++) {
        size_t size;
        uint8_t *bytes = make_bytes(models[0], shift, &size);
        tsr_graph *graph;
        tsr_map map = {.bytes = bytes, .size = size};
        tsr_maps maps = {&map, 1, 1};
        const tsr_model_desc desc = {
            .name = "kept", .max_bytes = UINT64_MAX, .max_work = UINT64_MAX};
        EXPECT_OK(tsr_onnx_read(bytes, size, &desc, &maps, NULL, &graph));
        for (int v = 0; v < graph->value_count; v++) {
            const tsr_value *value = &graph->values[v];
            uintptr_t offset = (uintptr_t)value->data - (uintptr_t)bytes;
            bool large = value->data &&
                         tsr_shape_count(&value->shape) * (int64_t)sizeof(float) >= MIN_KEPT_BYTES;
            assert_int_equal(large, value->data && offset < size);
            if (large)
                seen |= 1u << offset % 4;
        }
        tsr_graph_destroy(graph);
        free(bytes);
    }
    assert_int_equal(seen, 15);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),      cmocka_unit_test(test_on_cpu),
        cmocka_unit_test(test_every_address),  cmocka_unit_test(test_with_fallback),
        cmocka_unit_test(test_file_of_caller),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
