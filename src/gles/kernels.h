/* Which passes convolutions and matrix products become here. */
#ifndef TSR_GLES_KERNELS_H
#define TSR_GLES_KERNELS_H

#include "gpu/lower.h"

extern const tsr_gpu_kernels tsr_gles_kernels;

#endif
