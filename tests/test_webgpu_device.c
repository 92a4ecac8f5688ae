/* WebGPU devices: the choice of an adapter, its limits, what is refused and what that says, and
 * devices that are lost. Missing libraries and adapters are check_bad_input.sh's. */
#define _POSIX_C_SOURCE 200809L

#include "api/device.h"
#include "support/backends.h"
#include "support/main.h"
#include "support/sessions.h"
#include "webgpu/device.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const tsr_session_desc poisoned = {.poison = true};

/* ---- adapters -------------------------------------------------------------------------------- */

static void expect_no_device(tsr_device_desc desc, tsr_status status, const char *words) {
    tsr_device *device;
    desc.backend = "webgpu";
    expect_failure(tsr_device_create(&desc, &device), status, words);
    assert_null(device);
}

static void expect_name(const tsr_device_desc *desc, const char *name) {
    tsr_device *device = make_device(desc);
    tsr_device_info info;
    EXPECT_OK(tsr_device_get_info(device, &info));
    assert_string_equal(info.name, name);
    tsr_device_destroy(device);
}

static void choose_listed(void *user, const tsr_device_desc *desc, const tsr_device_info *info,
                          const char *reason) {
    (void)reason;
    if (!info || strcmp(info->backend, "webgpu"))
        return;
    int *count = user;
    assert_int_equal(desc->gpu, ++*count);
    expect_name(desc, info->name);
    char part[256]; /* of the name, in another case */
    snprintf(part, sizeof part, "%s", info->name + 1);
    for (char *c = part; *c; c++)
        *c = (char)(islower((unsigned char)*c) ? toupper(*c) : tolower(*c));
    expect_name(&(tsr_device_desc){.backend = "webgpu", .webgpu.adapter = part}, info->name);
}

static void test_choice(void **state) {
    (void)state;
    need_backend("webgpu");
    int count = 0;
    tsr_list_devices(choose_listed, &count);
    assert_true(count >= 1);
    tsr_device_info info;
    EXPECT_OK(tsr_device_get_info(gpu_device((backend_limits){0}), &info));
    expect_no_device((tsr_device_desc){.gpu = 1000}, TSR_ERROR_NO_DEVICE, "1000");
    assert_non_null(strstr(tsr_last_error(), info.name));
    expect_no_device((tsr_device_desc){.webgpu.adapter = "no such"}, TSR_ERROR_NO_DEVICE,
                     "'no such'");
    assert_non_null(strstr(tsr_last_error(), info.name));
    expect_no_device((tsr_device_desc){.webgpu.adapter = "a", .gpu = 1}, TSR_ERROR_INVALID_ARGUMENT,
                     "give one");
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void test_limits_reported(void **state) {
    (void)state;
    need_backend("webgpu");
    tsr_device_info info;
    EXPECT_OK(tsr_device_get_info(gpu_device((backend_limits){0}), &info));
    assert_true(info.max_buffer_bytes >= 128 << 20); /* WebGPU's own least */
    assert_true(info.max_workgroup_invocations >= 256);
    assert_true(info.max_workgroup_bytes >= 16 << 10);
    assert_true(info.max_storage_buffers >= 8);
    assert_int_equal(info.max_texture_size, 0);
    uint64_t most = info.max_buffer_bytes;
    const uint64_t caps[] = {1 << 16, most, most + 1};
    for (int i = 0; i < 3; i++) {
        tsr_device *device = make_device(
            &(tsr_device_desc){.backend = "webgpu", .webgpu.max_buffer_bytes = caps[i]});
        EXPECT_OK(tsr_device_get_info(device, &info));
        assert_int_equal(info.max_buffer_bytes, caps[i] < most ? caps[i] : most);
        tsr_device_destroy(device);
    }
}

/* On a device whose buffers hold 4096 texels of 32-bit channels. */
static void try_bound(tsr_device *device, const char *text, tsr_precision precision,
                      const char *refusal) {
    tsr_model *model = make_model(text);
    tsr_session *session;
    const tsr_session_desc desc = {.precision = precision, .poison = true};
    if (refusal) {
        expect_failure(tsr_session_create(device, model, &desc, &session), TSR_ERROR_LIMIT,
                       refusal);
        assert_null(session);
    } else {
        session = make_session(device, model, &desc);
        set_inputs(session, 1);
        EXPECT_OK(tsr_session_run(session));
        expect_output(session, model, "y", 1, precision == TSR_PRECISION_FP16 ? 4e-3 : 1e-5);
        tsr_session_destroy(session);
    }
    tsr_model_free(model);
}

static void test_binding_limit(void **state) {
    (void)state;
    need_backend("webgpu");
    tsr_device *device =
        make_device(&(tsr_device_desc){.backend = "webgpu", .webgpu.max_buffer_bytes = 65536});
    try_bound(device, "MaxPool x[1,4,64,64] -> y kernel_shape=1,1", TSR_PRECISION_FP32, NULL);
    try_bound(device,
              "Concat x[1,4,64,64] x -> m axis=2; MaxPool m -> y kernel_shape=2,1 strides=2,1",
              TSR_PRECISION_FP16, NULL);
    const char *tensor = "needs a buffer of 66560 bytes, the device binds at most 65536";
    try_bound(device, "MaxPool x[1,4,64,65] -> y kernel_shape=1,1", TSR_PRECISION_FP32, tensor);
    try_bound(device, "MaxPool x[1,4,64,65] -> m kernel_shape=64,65; Exp m -> y",
              TSR_PRECISION_FP32, tensor);
    try_bound(device,
              "Concat x[1,4,65,64] x -> m axis=2; MaxPool m -> y kernel_shape=2,1 strides=2,1",
              TSR_PRECISION_FP16, tensor);
    try_bound(device, "Conv x[1,64,1,1] w{64,64,1,1} -> y", TSR_PRECISION_FP32, NULL);
    try_bound(device, "Conv x[1,64,3,3] w{64,64,3,3} -> y", TSR_PRECISION_FP32,
              "the device binds at most 65536");
    try_bound(device, "Add x[1,4,1,1] w{1,4,64,65} -> y", TSR_PRECISION_FP32, tensor);
    try_bound(device, "Resize x[1,1,1,40] _ s<1,1,1,100> -> y mode=linear", TSR_PRECISION_FP32,
              "the device allows 1024");
    tsr_device_destroy(device);
}

/* More workgroups than one dimension holds; and products of nothing, which are no crash. */
static void test_many_workgroups(void **state) {
    (void)state;
    need_backend("webgpu");
    static const char *const right[] = {
        "Conv x[2,262148,1,1] w{262148,4,1,1} -> y group=65537",
        "MatMul a[65537,3,4] b[65537,4,5] -> y",
        "MatMul a[2,0] b[0,3] -> y",
        "Gemm a[2,0] b{0,3} -> y",
        "Conv x[1,0,4,4] w{4,0,1,1} -> y",
    };
    const backend_limits shared = {.kernels = "shared"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        run_case(&(backend_case){.text = right[i], .limits = shared});
    assert_false(run_case(&(backend_case){.text = "Gemm a[2,0] b{0,3} c[3] -> y",
                                          .limits = shared,
                                          .refusal = TSR_ERROR_UNSUPPORTED}));
    expect_no_failed_case();
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void test_no_textures(void **state) {
    (void)state;
    need_backend("webgpu");
    tsr_model *model = make_model("Relu x[1,4,3,5] -> y");
    tsr_device *device = gpu_device((backend_limits){0});
    tsr_session *session;
    expect_failure(
        tsr_session_create(device, model, &(tsr_session_desc){.texture_outputs = true}, &session),
        TSR_ERROR_UNSUPPORTED, "webgpu");
    assert_null(session);
    session = make_session(device, model, &poisoned);
    tsr_texture texture;
    assert_int_not_equal(tsr_session_output_texture(session, "y", &texture), TSR_OK);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

/* The message of a kernel that does not compile has its name, its constants and the compiler's
 * words; the device goes on. */
static void test_broken_kernels(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"fn nothing(", "expected"},
        {"@compute @workgroup_size(64) fn main() { var a: i32 = 1.5; }", "i32"},
        {"@compute @workgroup_size(64) fn other() {}", "main"},
        {"@compute @workgroup_size(100000) fn main() {}", "100000"},
    };
    need_backend("webgpu");
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "webgpu"});
    const tsr_field width = {"WIDTH", TSR_FIELD_LITERAL, TSR_WGSL, false, false};
    const tsr_kernel kernel = {.stem = "frobnicate", .field_count = 1, .fields = &width};
    const tsr_arg arg = {.i = TSR_INT(17)};
    const tsr_pass pass = {.kernel = &kernel, .args = &arg};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *text = strdup(texts[i][0]);
        assert_non_null(text);
        tsr_pipeline *pipeline = NULL;
        tsr_status status = tsr_pipeline_acquire_text(device->impl, text, &pass, &pipeline);
        if (status == TSR_OK)
            status = tsr_pipeline_finish(device->impl, pipeline, &pass, UINT64_MAX);
        expect_failure(status, TSR_ERROR_DEVICE, "frobnicate");
        assert_non_null(strstr(tsr_last_error(), "WIDTH 17"));
        if (!strstr(tsr_last_error(), texts[i][1]))
            fail_msg("\"%s\" lacks '%s'", tsr_last_error(), texts[i][1]);
        tsr_pipeline_release(device->impl, pipeline);
    }
    tsr_model *model = make_model(MIXED_NET);
    tsr_session *session = make_session(device, model, &poisoned);
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 1, 1e-5);
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

/* ---- lost devices ---------------------------------------------------------------------------- */

static void run_beside(const tsr_model *model, unsigned seed) {
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "webgpu"});
    tsr_session *session = make_session(device, model, &poisoned);
    set_inputs(session, seed);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", seed, 1e-5);
    tsr_session_destroy(session);
    tsr_device_destroy(device);
}

static void lose(tsr_device *device) {
    static const char reason[] = "a test took it";
    device->impl->api->DeviceForceLoss(device->impl->device, WGPUDeviceLostReason_Unknown,
                                       (WGPUStringView){reason, sizeof reason - 1});
}

/* Lost between calls and in mid-run; with GPU timers and without. */
static void test_lost(void **state) {
    (void)state;
    need_backend("webgpu");
    tsr_model *model = make_model(MIXED_NET);
    for (int turn = 0; turn < 4; turn++) {
        tsr_device *device = make_device(&(tsr_device_desc){.backend = "webgpu"});
        if (!device->impl->api->DeviceForceLoss)
            fail_msg("the library has no wgpuDeviceForceLoss");
        tsr_session *session = make_session(
            device, model, &(tsr_session_desc){.poison = true, .time_passes = turn % 2 == 1});
        set_inputs(session, 1);
        EXPECT_OK(tsr_session_submit(session));
        if (turn < 2)
            expect_output(session, model, "y", 1, 1e-5);
        lose(device);
        static float output[5 * 18 * 28];
        expect_failure(tsr_session_poll(session), TSR_ERROR_DEVICE_LOST, "lost");
        expect_failure(tsr_session_get_output(session, "y", output, 5 * 18 * 28),
                       TSR_ERROR_DEVICE_LOST, "a test took it");
        expect_all_lost(device, model, session);
        run_beside(model, 2);
        expect_all_lost(device, model, session);
        tsr_session_destroy(session);
        tsr_device_destroy(device);
    }
    tsr_model_free(model);
}

/* ---- drivers --------------------------------------------------------------------------------- */

/* They are not pulled away from under others that use them when the last device goes. */
static void test_drivers_stay(void **state) {
    need_backend("webgpu");
    tsr_device_info info;
    EXPECT_OK(tsr_device_get_info(gpu_device((backend_limits){0}), &info));
    bool vulkan = strncmp(info.version, "Vulkan", 6) == 0;
    close_backends(state);
    if (!vulkan)
        skip();
    void *loader = dlopen("libvulkan.so.1", RTLD_LAZY | RTLD_NOLOAD);
    assert_non_null(loader);
    dlclose(loader);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),        cmocka_unit_test(test_limits_reported),
        cmocka_unit_test(test_binding_limit), cmocka_unit_test(test_many_workgroups),
        cmocka_unit_test(test_no_textures),   cmocka_unit_test(test_broken_kernels),
        cmocka_unit_test(test_lost),          cmocka_unit_test(test_drivers_stay),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
