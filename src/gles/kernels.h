/* Which passes convolutions and matrix products become here. */
#ifndef TSR_GLES_KERNELS_H
#define TSR_GLES_KERNELS_H

#include "backend/backend.h"
#include "gpu/lower.h"

/* choice: not AUTO. */
const tsr_gpu_kernels *tsr_gles_kernels(tsr_kernel_choice choice);

/* For tsr_backend. */
void tsr_gles_offer_kernels(const tsr_backend_device *device, tsr_kernel_offer *offer);

#endif
