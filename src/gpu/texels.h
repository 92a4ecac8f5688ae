/* Texels of a layout between floats in memory and the form in which a device stores them. */
#ifndef TSR_GPU_TEXELS_H
#define TSR_GPU_TEXELS_H

#include "plan/layout.h"

/* Elements of `count` floats to 16 or 8 bits each, in place and dense. What integers do not hold
 * becomes some integer. */
void tsr_texels_narrow(tsr_texel_format format, float *texels, size_t count);

/* Row-major elements from texels as they are stored; wide: 8-bit integers are there as 32-bit ones,
 * halves as floats. Those of a view (tsr_plan_tensor.view_of) are what it dequantizes. */
tsr_status tsr_texels_unpack(const tsr_layout *layout, const void *texels, bool wide,
                             float *elements);

#endif
