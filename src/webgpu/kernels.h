/* Which passes convolutions and matrix products become here. */
#ifndef TSR_WEBGPU_KERNELS_H
#define TSR_WEBGPU_KERNELS_H

#include "backend/backend.h"
#include "gpu/lower.h"

/* choice: not AUTO. */
const tsr_gpu_kernels *tsr_webgpu_kernels(tsr_kernel_choice choice);

/* For tsr_backend. */
void tsr_webgpu_offer_kernels(const tsr_backend_device *device, tsr_kernel_offer *offer);

#endif
