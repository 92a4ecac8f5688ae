/* What storing a tensor in 16 bits costs. */
#ifndef TSR_API_HALF_NOISE_H
#define TSR_API_HALF_NOISE_H

#include "tessera.h"

/* The power of the rounding errors relative to the power with which the elements deviate from
 * their mean, which is what normalizations, differences and thresholds make of them; of images the
 * mean over all channels. Infinite if elements come near the largest 16-bit float. What is not
 * finite in 32 bits is left out. */
double tsr_half_noise(const float *elements, const tsr_shape *shape);

#endif
