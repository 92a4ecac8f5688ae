/* WebGPU devices that are lost at any moment of a session's life. */
#include "support/backends.h"
#include "support/losses.h"
#include "support/main.h"
#include "support/sessions.h"
#include "support/webgpu_caller.h"

static webgpu_caller caller;
static bool destroys; /* the caller, rather than that the driver fails */

static tsr_device_desc open_caller(void) {
    open_webgpu_caller(&caller, &(caller_options){.no_callbacks = destroys});
    return adopting(&caller);
}

static void lose(void) {
    static const char reason[] = "a test took it";
    if (destroys)
        caller.api->DeviceDestroy(caller.device);
    else
        caller.api->DeviceForceLoss(caller.device, WGPUDeviceLostReason_Unknown,
                                    (WGPUStringView){reason, sizeof reason - 1});
    caller.losses = 1; /* whether or not it was told */
}

static void close_caller(void) {
    close_webgpu_caller(&caller);
}

/* Weights of several passes, each packed by threads. */
#define LARGE_NET                                                                                  \
    "Conv x[1,64,5,7] v{256,64,5,5} -> c pads=2,2,2,2; Conv c w{64,256,5,5} -> d pads=2,2,2,2; "   \
    "Conv d u{256,64,5,5} -> y pads=2,2,2,2"

static void test_losses(void **state) {
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        destroys = turn;
        lose_at_many_moments(&(losing_caller){open_caller, lose, close_caller}, MIXED_NET, some_cases(50));
        lose_at_many_moments(&(losing_caller){open_caller, lose, close_caller}, LARGE_NET, 4);
    }
}

int run_program(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_losses)};
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
