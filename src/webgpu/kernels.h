/* Which passes convolutions and matrix products become here. */
#ifndef TSR_WEBGPU_KERNELS_H
#define TSR_WEBGPU_KERNELS_H

#include "gpu/lower.h"

/* choice: not AUTO. */
const tsr_gpu_kernels *tsr_webgpu_kernels(tsr_kernel_choice choice);

#endif
