/* WebGPU devices of the caller's: adopted, shared with its own work, lost, refused. */
#include "support/backends.h"
#include "support/main.h"
#include "support/sessions.h"
#include "support/webgpu_caller.h"

#include <string.h>

/* ---- adopting -------------------------------------------------------------------------------- */

static void run_mixed(tsr_device *device, bool timed) {
    tsr_model *model = make_model(MIXED_NET);
    tsr_session *session =
        make_session(device, model, &(tsr_session_desc){.poison = true, .time_passes = timed});
    for (unsigned seed = 1; seed < 4; seed++) {
        set_inputs(session, seed);
        EXPECT_OK(tsr_session_run(session));
        expect_output(session, model, "y", seed, 1e-5);
    }
    tsr_session_destroy(session);
    tsr_model_free(model);
}

/* The caller's own device works before, between and after. */
static void use_own(const webgpu_caller *c) {
    static const char sent[] = "still the caller's own device!";
    _Static_assert(sizeof sent % 4 == 3, "a multiple of 4 with one byte more");
    char padded[sizeof sent + 1] = "", received[sizeof padded];
    memcpy(padded, sent, sizeof sent);
    WGPUBuffer buffer = make_caller_buffer(c, WGPUBufferUsage_Storage, padded, sizeof padded);
    read_caller_buffer(c, buffer, received, sizeof received);
    assert_string_equal(received, sent);
    c->api->BufferRelease(buffer);
}

static void test_adopted(void **state) {
    (void)state;
    for (int turn = 0; turn < 4; turn++) {
        webgpu_caller c;
        open_webgpu_caller(&c,
                           &(caller_options){.no_callbacks = turn & 1, .no_timestamps = turn & 2});
        const tsr_device_desc desc = adopting(&c);
        for (int again = 0; again < 2; again++) {
            tsr_device *device = make_device(&desc);
            tsr_device_info info;
            EXPECT_OK(tsr_device_get_info(device, &info));
            if (turn & 2)
                assert_false(info.has_timer);
            assert_int_equal(info.max_buffer_bytes, 128 << 20); /* what a device has by default */
            use_own(&c);
            run_mixed(device, again);
            tsr_device_destroy(device);
            use_own(&c);
        }
        close_webgpu_caller(&c);
    }
}

/* The caller's references may go first: Tessera has its own. */
static void test_retained(void **state) {
    (void)state;
    webgpu_caller c;
    open_webgpu_caller(&c, &(caller_options){.no_callbacks = true});
    const tsr_device_desc desc = adopting(&c);
    tsr_device *device = make_device(&desc);
    c.api->QueueRelease(c.queue);
    c.api->DeviceRelease(c.device);
    c.api->InstanceRelease(c.instance);
    run_mixed(device, false);
    tsr_device_destroy(device);
}

/* An error scope that is open around calls gets nothing, and is still the innermost one. */
static void receive_scope(WGPUPopErrorScopeStatus status, WGPUErrorType type,
                          WGPUStringView message, void *received, void *unused) {
    (void)message, (void)unused;
    *(WGPUErrorType *)received = status == WGPUPopErrorScopeStatus_Success ? type : 0;
}

static WGPUErrorType pop_scope(const webgpu_caller *c) {
    WGPUErrorType type = 0;
    WGPUFutureWaitInfo info = {
        .future = c->api->DevicePopErrorScope(
            c->device, (WGPUPopErrorScopeCallbackInfo){.mode = WGPUCallbackMode_WaitAnyOnly,
                                                       .callback = receive_scope,
                                                       .userdata1 = &type})};
    assert_int_equal(c->api->InstanceWaitAny(c->instance, 1, &info, UINT64_MAX),
                     WGPUWaitStatus_Success);
    return type;
}

static void test_scopes(void **state) {
    (void)state;
    webgpu_caller c;
    open_webgpu_caller(&c, &(caller_options){0});
    const tsr_device_desc desc = adopting(&c);
    c.api->DevicePushErrorScope(c.device, WGPUErrorFilter_Validation);
    tsr_device *device = make_device(&desc);
    run_mixed(device, false);
    tsr_device_destroy(device);
    assert_int_equal(pop_scope(&c), WGPUErrorType_NoError);
    c.api->DevicePushErrorScope(c.device, WGPUErrorFilter_Validation);
    const WGPUBufferDescriptor wrong = {.usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_Storage,
                                        .size = 4};
    c.api->BufferRelease(c.api->DeviceCreateBuffer(c.device, &wrong));
    device = make_device(&desc);
    run_mixed(device, false);
    tsr_device_destroy(device);
    assert_int_equal(pop_scope(&c), WGPUErrorType_Validation);
    close_webgpu_caller(&c);
}

/* ---- lost devices ---------------------------------------------------------------------------- */

static void lose(const webgpu_caller *c, bool by_caller) {
    static const char reason[] = "a test took it";
    if (by_caller)
        c->api->DeviceDestroy(c->device);
    else
        c->api->DeviceForceLoss(c->device, WGPUDeviceLostReason_Unknown,
                                (WGPUStringView){reason, sizeof reason - 1});
}

/* Lost between calls and in mid-run; with callbacks of the caller's, which it gets, and without. */
static void test_lost(void **state) {
    (void)state;
    tsr_model *model = make_model(MIXED_NET);
    for (int turn = 0; turn < 8; turn++) {
        webgpu_caller c;
        open_webgpu_caller(&c, &(caller_options){.no_callbacks = turn & 1});
        const tsr_device_desc desc = adopting(&c);
        tsr_device *device = make_device(&desc), *none;
        tsr_session *session = make_session(device, model, NULL);
        set_inputs(session, 1);
        EXPECT_OK(tsr_session_submit(session));
        if (turn & 2)
            expect_output(session, model, "y", 1, 1e-5);
        lose(&c, turn & 4);
        static float output[5 * 18 * 28];
        expect_failure(tsr_session_get_output(session, "y", output, 5 * 18 * 28),
                       TSR_ERROR_DEVICE_LOST, "the caller's");
        expect_all_lost(device, model, session);
        const tsr_buffer buffer = {.buffer = &c, .bytes = 1512, .count = 3 * 9 * 14};
        expect_failure(tsr_session_set_input_buffer(session, "x", &buffer), TSR_ERROR_DEVICE_LOST,
                       "lost");
        expect_failure(tsr_device_create(&desc, &none), TSR_ERROR_DEVICE_LOST, "lost");
        tsr_session_destroy(session);
        tsr_device_destroy(device);
        c.api->InstanceProcessEvents(c.instance);
        assert_int_equal(c.losses, turn & 1 ? 0 : 1);
        c.losses = 1; /* for what comes now */
        close_webgpu_caller(&c);
    }
    tsr_model_free(model);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void expect_refused(tsr_device_desc desc, tsr_status status, const char *words) {
    tsr_device *device;
    expect_failure(tsr_device_create(&desc, &device), status, words);
    assert_null(device);
}

static void test_refused(void **state) {
    (void)state;
    webgpu_caller c, other;
    open_webgpu_caller(&c, &(caller_options){0});
    open_webgpu_caller(&other, &(caller_options){0});
    tsr_device_desc desc = adopting(&c);
    desc.webgpu.device = NULL;
    expect_refused(desc, TSR_ERROR_INVALID_ARGUMENT, "give both");
    desc = adopting(&c);
    desc.webgpu.instance = NULL;
    expect_refused(desc, TSR_ERROR_INVALID_ARGUMENT, "give both");
    desc = adopting(&c);
    desc.gpu = 1;
    expect_refused(desc, TSR_ERROR_INVALID_ARGUMENT, "excludes the choice");
    desc = adopting(&c);
    desc.webgpu.adapter = "a";
    expect_refused(desc, TSR_ERROR_INVALID_ARGUMENT, "excludes the choice");
    desc = adopting(&c);
    desc.webgpu.instance = other.instance;
    expect_refused(desc, TSR_ERROR_INVALID_ARGUMENT, "not of that instance");
    use_own(&c);
    close_webgpu_caller(&c);
    close_webgpu_caller(&other);
}

static void test_insufficient(void **state) {
    (void)state;
    webgpu_caller c;
    open_webgpu_caller(&c, &(caller_options){.no_timed_waits = true});
    expect_refused(adopting(&c), TSR_ERROR_NO_DEVICE, "TimedWaitAny");
    close_webgpu_caller(&c);
    open_webgpu_caller(&c, &(caller_options){.compatibility = true});
    expect_refused(adopting(&c), TSR_ERROR_NO_DEVICE, "maxComputeInvocationsPerWorkgroup 128");
    close_webgpu_caller(&c);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adopted), cmocka_unit_test(test_retained),
        cmocka_unit_test(test_scopes),  cmocka_unit_test(test_lost),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_insufficient),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
