/* Peaks are measured by waiting for the GPU, which a page cannot do. */
#include "gles/device.h"

#include "base/error.h"

tsr_status tsr_gles_measure(tsr_backend_device *device, tsr_device_peaks *peaks) {
    (void)device, (void)peaks;
    return tsr_fail(TSR_ERROR_UNSUPPORTED, "a page cannot measure its GPU");
}
