/* Inputs from buffers of the caller's and outputs to them, on its device, held against the cpu
 * backend, which has arrays. */
#include "support/backends.h"
#include "support/main.h"
#include "support/random.h"
#include "support/sessions.h"
#include "support/webgpu_caller.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static webgpu_caller caller;
static tsr_device *adopted, *cpu;

/* In every test, for all of them. */
static void need_devices(void) {
    if (adopted)
        return;
    open_webgpu_caller(&caller, &(caller_options){0});
    const tsr_device_desc desc = adopting(&caller);
    adopted = make_device(&desc);
    cpu = make_device(&(tsr_device_desc){.backend = "cpu"});
}

static int close_devices(void **state) {
    tsr_device_destroy(cpu);
    if (adopted) {
        tsr_device_destroy(adopted);
        close_webgpu_caller(&caller);
    }
    return close_backends(state);
}

/* The same model on both. */
typedef struct both {
    tsr_model *model;
    tsr_session *gpu, *cpu;
    size_t in, out; /* elements of x and y */
} both;

static both open_both(const char *text, const tsr_session_desc *desc) {
    both b = {.model = make_model(text)};
    tsr_tensor_info info;
    b.gpu = make_session(adopted, b.model, desc);
    b.cpu = make_session(cpu, b.model, &(tsr_session_desc){.runs_in_flight = desc->runs_in_flight});
    EXPECT_OK(tsr_session_input(b.gpu, 0, &info));
    b.in = (size_t)tsr_shape_count(&info.shape);
    EXPECT_OK(tsr_session_output(b.gpu, 0, &info));
    b.out = (size_t)tsr_shape_count(&info.shape);
    return b;
}

static void close_both(both *b) {
    tsr_session_destroy(b->gpu);
    tsr_session_destroy(b->cpu);
    tsr_model_free(b->model);
}

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes + 1);
    assert_non_null(memory);
    return memory;
}

/* ---- elements -------------------------------------------------------------------------------- */

static const tsr_dtype dtypes[] = {TSR_DTYPE_F32, TSR_DTYPE_F16, TSR_DTYPE_U8, TSR_DTYPE_BOOL};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static size_t round_up(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

/* Random ones that a float and 16 bits hold exactly. */
static void fill(void *data, tsr_dtype dtype, size_t count, random_source *random) {
    for (size_t i = 0; i < count; i++) {
        int v = random_int(random, -120, 120);
        if (dtype == TSR_DTYPE_F32)
            ((float *)data)[i] = (float)v / 8;
        else if (dtype == TSR_DTYPE_F16)
            ((uint16_t *)data)[i] = (uint16_t)((v < 0 ? 0x8000 : 0) | 0x4000 | (v & 1023));
        else
            ((uint8_t *)data)[i] = dtype == TSR_DTYPE_U8 ? (uint8_t)(v + 121) : v > 0;
    }
}

/* On the CPU from memory, on the GPU from the middle of a buffer that is gone after the call. */
static void set_both(const both *b, tsr_dtype dtype, bool last, random_source *random) {
    size_t bytes = b->in * tsr_dtype_size(dtype), padded = round_up(bytes, 4);
    size_t offset = 256 * (size_t)random_int(random, 0, 3),
           after = (size_t)random_int(random, 0, 1) * 8;
    char *whole = allocate(offset + padded + after);
    memset(whole, 0xa5, offset + padded + after);
    fill(whole + offset, dtype, b->in, random);
    WGPUBuffer buffer =
        make_caller_buffer(&caller, WGPUBufferUsage_Storage, whole, offset + padded + after);
    EXPECT_OK(tsr_session_set_input_buffer(b->gpu, "x",
                                           &(tsr_buffer){.buffer = buffer,
                                                         .offset = offset,
                                                         .bytes = padded + after,
                                                         .count = b->in,
                                                         .dtype = dtype,
                                                         .channels_last = last}));
    caller.api->BufferRelease(buffer);
    EXPECT_OK(
        tsr_session_set_input_array(b->cpu, "x", &(tsr_array){whole + offset, b->in, dtype, last}));
    free(whole);
}

static void expect_untouched(const char *bytes, size_t count, const char *where, const char *what) {
    for (size_t i = 0; i < count; i++)
        if ((unsigned char)bytes[i] != 0xa5)
            fail_msg("%s: byte %zu %s the output was written", what, i, where);
}

/* The bytes of the latest runs; those before and after stay as they were. */
static void compare(const both *b, tsr_dtype dtype, bool last, random_source *random,
                    const char *what) {
    size_t bytes = b->out * tsr_dtype_size(dtype);
    size_t padded = round_up(bytes, dtype == TSR_DTYPE_F32 ? 16 : 4);
    size_t offset = 256 * (size_t)random_int(random, 0, 3), size = offset + padded + 32;
    char *actual = allocate(size), *expected = allocate(bytes);
    WGPUBuffer buffer = make_caller_buffer(&caller, WGPUBufferUsage_Storage, NULL, size);
    EXPECT_OK(tsr_session_get_output_buffer(b->gpu, "y",
                                            &(tsr_buffer){.buffer = buffer,
                                                          .offset = offset,
                                                          .bytes = size - offset,
                                                          .count = b->out,
                                                          .dtype = dtype,
                                                          .channels_last = last}));
    EXPECT_OK(
        tsr_session_get_output_array(b->cpu, "y", &(tsr_array){expected, b->out, dtype, last}));
    read_caller_buffer(&caller, buffer, actual, size);
    caller.api->BufferRelease(buffer);
    for (size_t i = 0; i < bytes; i++)
        if (actual[offset + i] != expected[i])
            fail_msg("%s: byte %zu of %zu in %s%s is %d instead of %d", what, i, bytes,
                     tsr_dtype_name(dtype), last ? ", channels last," : "", actual[offset + i],
                     expected[i]);
    expect_untouched(actual, offset, "before", what);
    expect_untouched(actual + offset + padded, 32, "after", what);
    free(actual);
    free(expected);
}

/* ---- every type and order -------------------------------------------------------------------- */

static const char *const shapes[] = {"",         "1",         "7",          "3,5",
                                     "5,1",      "2,3,4",     "1,6,7",      "1,1,1,1",
                                     "1,3,5,7",  "2,4,3,8",   "3,5,1,1",    "1,9,16,12",
                                     "2,1,33,5", "1,3,64,65", "1,13,3,130", "2,5,3,2,6"};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void try_all(const char *text, bool orders, const tsr_session_desc *desc, uint32_t seed) {
    both b = open_both(text, desc);
    random_source random = random_from(seed);
    for (int i = 0; i < 2 * DTYPES; i++) {
        set_both(&b, dtypes[i / 2], orders && i % 2, &random);
        EXPECT_OK(tsr_session_submit(b.gpu));
        EXPECT_OK(tsr_session_run(b.cpu));
        for (int k = i; k < 2 * DTYPES; k += 3)
            compare(&b, dtypes[k / 2], orders && k % 2, &random, text);
    }
    close_both(&b);
}

static void test_all(void **state) {
    (void)state;
    need_devices();
    for (int s = 0; s < SHAPES; s++) {
        char text[64];
        snprintf(text, sizeof text, "Neg x[%s] -> y", shapes[s]);
        try_all(text, strchr(shapes[s], ','), &(tsr_session_desc){.poison = true}, (uint32_t)s);
    }
}

static void test_in_half(void **state) {
    (void)state;
    need_devices();
    try_all("Neg x[2,5,6,7] -> y", true,
            &(tsr_session_desc){.poison = true, .precision = TSR_PRECISION_FP16}, 1);
}

/* Arrays and buffers in turns: neither disturbs what the other has prepared. */
static void test_in_turns(void **state) {
    (void)state;
    need_devices();
    both b = open_both("Neg x[1,5,6,7] -> y", &(tsr_session_desc){.poison = true});
    random_source random = random_from(3);
    float data[5 * 6 * 7], values[2][5 * 6 * 7];
    for (int i = 0; i < 20; i++) {
        if (random_one_in(&random, 2)) {
            set_both(&b, dtypes[random_int(&random, 0, 3)], random_one_in(&random, 2), &random);
        } else {
            fill(data, TSR_DTYPE_F32, b.in, &random);
            EXPECT_OK(tsr_session_set_input(b.gpu, "x", data, b.in));
            EXPECT_OK(tsr_session_set_input(b.cpu, "x", data, b.in));
        }
        EXPECT_OK(tsr_session_submit(b.gpu));
        EXPECT_OK(tsr_session_run(b.cpu));
        if (random_one_in(&random, 2))
            compare(&b, dtypes[random_int(&random, 0, 3)], random_one_in(&random, 2), &random,
                    "in turns");
        EXPECT_OK(tsr_session_get_output(b.gpu, "y", values[0], b.out));
        EXPECT_OK(tsr_session_get_output(b.cpu, "y", values[1], b.out));
        assert_memory_equal(values[0], values[1], sizeof values[0]);
    }
    close_both(&b);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* What the caller writes after the call comes after it; an output is the next run's input, and with
 * several runs in flight the latest one's. */
static void test_order(void **state) {
    (void)state;
    need_devices();
    enum { COUNT = 24, BYTES = COUNT * sizeof(float) };
    tsr_model *model = make_model("Add x[1,4,2,3] b{1,4,1,1} -> y");
    tsr_session *s = make_session(adopted, model, &(tsr_session_desc){.runs_in_flight = 3}),
                *alone = make_session(cpu, model, NULL);
    float first[COUNT], other[COUNT], actual[COUNT], expected[COUNT];
    random_source random = random_from(5);
    fill(first, TSR_DTYPE_F32, COUNT, &random);
    fill(other, TSR_DTYPE_F32, COUNT, &random);
    WGPUBuffer buffer = make_caller_buffer(&caller, WGPUBufferUsage_Storage, first, BYTES);
    const tsr_buffer b = {.buffer = buffer, .bytes = BYTES, .count = COUNT};
    for (int i = 0; i < 4; i++) {
        EXPECT_OK(tsr_session_set_input_buffer(s, "x", &b));
        caller.api->QueueWriteBuffer(caller.queue, buffer, 0, other, BYTES);
        EXPECT_OK(tsr_session_submit(s));
        EXPECT_OK(tsr_session_get_output_buffer(s, "y", &b));
    }
    EXPECT_OK(tsr_session_select_run(s, 2));
    EXPECT_OK(tsr_session_get_output_buffer(s, "y", &b));
    read_caller_buffer(&caller, buffer, actual, BYTES);
    caller.api->BufferRelease(buffer);
    memcpy(expected, first, BYTES);
    for (int i = 0; i < 4; i++) {
        EXPECT_OK(tsr_session_set_input(alone, "x", expected, COUNT));
        EXPECT_OK(tsr_session_run(alone));
        EXPECT_OK(tsr_session_get_output(alone, "y", expected, COUNT));
    }
    for (int i = 0; i < COUNT; i++)
        assert_true(fabsf(actual[i] - expected[i]) <= 1e-5f * 16);
    tsr_session_destroy(s);
    tsr_session_destroy(alone);
    tsr_model_free(model);
}

/* Nodes on the CPU read what the buffer had. */
static void test_with_fallback(void **state) {
    (void)state;
    need_devices();
    const tsr_session_desc desc = {.allow_cpu_fallback = true, .poison = true};
    try_all(
        "Neg x[1,2,5,5] -> k; Conv x k -> a auto_pad=SAME_UPPER; MaxPool a -> y kernel_shape=2,2",
        true, &desc, 1);
}

/* ---- wrong use ------------------------------------------------------------------------------- */

typedef struct wrong_use {
    tsr_buffer buffer; /* in place of zeros */
    tsr_status status;
    const char *words;
} wrong_use;

static void expect_wrong(tsr_session *session, const tsr_buffer *b, tsr_status status,
                         const char *words) {
    expect_failure(tsr_session_set_input_buffer(session, "x", b), status, words);
    assert_non_null(strstr(tsr_last_error(), "'x'"));
    expect_failure(tsr_session_get_output_buffer(session, "y", b), status, words);
    assert_non_null(strstr(tsr_last_error(), "'y'"));
}

static void test_wrong_arguments(void **state) {
    (void)state;
    need_devices();
    WGPUBuffer good = make_caller_buffer(&caller, WGPUBufferUsage_Storage, NULL, 1024);
    const wrong_use uses[] = {
        {{NULL, 0, 1024, 105, TSR_DTYPE_F32, false}, TSR_ERROR_INVALID_ARGUMENT, "is NULL"},
        {{good, 0, 1024, 104, TSR_DTYPE_F32, false}, TSR_ERROR_SHAPE, "not 104"},
        {{good, 0, 1024, 105, TSR_DTYPE_I64, false}, TSR_ERROR_UNSUPPORTED, "not int64"},
        {{good, 0, 1024, 105, TSR_DTYPE_I8, false}, TSR_ERROR_UNSUPPORTED, "not int8"},
        {{good, 0, 1024, 105, (tsr_dtype)77, false}, TSR_ERROR_INVALID_ARGUMENT, "77"},
        {{good, 128, 896, 105, TSR_DTYPE_F32, false},
         TSR_ERROR_INVALID_ARGUMENT,
         "multiple of 256"},
        {{good, 0, 419, 105, TSR_DTYPE_F32, false}, TSR_ERROR_INVALID_ARGUMENT, "not 419"},
        {{good, 0, 107, 105, TSR_DTYPE_U8, false}, TSR_ERROR_INVALID_ARGUMENT, "108 bytes"},
        {{good, 1024, 420, 105, TSR_DTYPE_BOOL, false}, TSR_ERROR_DEVICE, "buffer: "},
    };
    both b = open_both("Neg x[1,3,5,7] -> y", &(tsr_session_desc){.poison = true});
    random_source random = random_from(1);
    const tsr_buffer right = {good, 0, 432, 105, TSR_DTYPE_F32, false};
    expect_failure(tsr_session_get_output_buffer(b.gpu, "y", &right), TSR_ERROR_INVALID_ARGUMENT,
                   "has not run");
    set_both(&b, TSR_DTYPE_F32, false, &random);
    EXPECT_OK(tsr_session_run(b.gpu));
    EXPECT_OK(tsr_session_run(b.cpu));
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        expect_wrong(b.gpu, &uses[i].buffer, uses[i].status, uses[i].words);
    expect_failure(tsr_session_set_input_buffer(b.gpu, "y", &right), TSR_ERROR_INVALID_ARGUMENT,
                   "no input 'y'");
    expect_failure(tsr_session_get_output_buffer(b.gpu, "x", &right), TSR_ERROR_INVALID_ARGUMENT,
                   "is not an output");
    expect_failure(tsr_session_set_input_buffer(b.gpu, "x", NULL), TSR_ERROR_INVALID_ARGUMENT,
                   "NULL");
    expect_failure(tsr_session_get_output_buffer(b.gpu, NULL, &right), TSR_ERROR_INVALID_ARGUMENT,
                   "NULL");
    expect_failure(tsr_session_set_input_buffer(b.cpu, "x", &right), TSR_ERROR_UNSUPPORTED,
                   "'cpu' has no buffers");
    expect_failure(tsr_session_get_output_buffer(b.cpu, "y", &right), TSR_ERROR_UNSUPPORTED,
                   "'cpu' has no buffers");
    compare(&b, TSR_DTYPE_F32, false, &random, "after failures");
    caller.api->BufferRelease(good);
    close_both(&b);
}

static void expect_unsupported(const char *text, const tsr_session_desc *desc, const char *input,
                               const char *output, const char *words) {
    tsr_model *model = make_model(text);
    tsr_session *session = make_session(adopted, model, desc);
    WGPUBuffer buffer = make_caller_buffer(&caller, WGPUBufferUsage_Storage, NULL, 1024);
    if (output) {
        set_inputs(session, 1);
        EXPECT_OK(tsr_session_run(session));
    }
    const tsr_buffer b = {buffer, 0, 1024, 30, TSR_DTYPE_F32, false};
    if (input)
        expect_failure(tsr_session_set_input_buffer(session, input, &b), TSR_ERROR_UNSUPPORTED,
                       words);
    if (output)
        expect_failure(tsr_session_get_output_buffer(session, output, &b), TSR_ERROR_UNSUPPORTED,
                       words);
    caller.api->BufferRelease(buffer);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

static void test_unsupported(void **state) {
    (void)state;
    need_devices();
    static const char *const x = "x", *const k = "k";
    const tsr_session_desc plain = {0}, input = {.extra_outputs = &x, .extra_output_count = 1},
                           constant = {.extra_outputs = &k, .extra_output_count = 1},
                           fallback = {.allow_cpu_fallback = true};
    expect_unsupported("Cast x:int32[2,3,5] -> y to=1", &plain, "x", NULL, "is int32");
    expect_unsupported("Neg x[2,3,5] -> y", &input, "x", NULL, "also an output");
    expect_unsupported("Neg x[2,3,5] -> y", &input, NULL, "x", "a constant or an input");
    expect_unsupported("Add x[2,3,5] k{2,3,5} -> y", &constant, NULL, "k",
                       "a constant or an input");
    expect_unsupported("Neg x[] -> k; Pad d{1,1,4,5} p(0,0,1,0,0,0,0,1) k -> y", &fallback, NULL,
                       "y", "on the CPU");
}

/* What only the device knows to be wrong; its input and the caller's error callback get nothing. */
static void test_refused_by_device(void **state) {
    (void)state;
    need_devices();
    webgpu_caller other;
    open_webgpu_caller(&other, &(caller_options){0});
    both b = open_both("Neg x[1,3,5,7] -> y", &(tsr_session_desc){0});
    random_source random = random_from(2);
    set_both(&b, TSR_DTYPE_F32, false, &random);
    EXPECT_OK(tsr_session_run(b.gpu));
    EXPECT_OK(tsr_session_run(b.cpu));
    const WGPUBuffer wrong[] = {
        make_caller_buffer(&caller, WGPUBufferUsage_Uniform, NULL, 1024),
        make_caller_buffer(&caller, WGPUBufferUsage_Storage, NULL, 256),
        make_caller_buffer(&caller, WGPUBufferUsage_Storage, NULL, 1024),
        make_caller_buffer(&other, WGPUBufferUsage_Storage, NULL, 1024),
    };
    caller.api->BufferDestroy(wrong[2]);
    static const char *const words[] = {"Storage", "256", "destroyed", "evice"};
    for (int i = 0; i < 4; i++) {
        const tsr_buffer buffer = {wrong[i], 0, 1024, 105, TSR_DTYPE_F32, false};
        expect_wrong(b.gpu, &buffer, TSR_ERROR_DEVICE, words[i]);
        caller.api->BufferRelease(wrong[i]);
    }
    EXPECT_OK(tsr_session_run(b.gpu));
    compare(&b, TSR_DTYPE_F32, false, &random, "after failures");
    assert_int_equal(caller.errors, 0);
    close_both(&b);
    close_webgpu_caller(&other);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),           cmocka_unit_test(test_in_half),
        cmocka_unit_test(test_in_turns),      cmocka_unit_test(test_order),
        cmocka_unit_test(test_with_fallback), cmocka_unit_test(test_wrong_arguments),
        cmocka_unit_test(test_unsupported),   cmocka_unit_test(test_refused_by_device),
    };
    return cmocka_run_group_tests(tests, NULL, close_devices);
}
