/* IEEE 754 binary16 <-> binary32, round to nearest even, NaN and infinities kept. */
#ifndef TSR_BASE_HALF_H
#define TSR_BASE_HALF_H

#include <stdint.h>

float tsr_half_to_float(uint16_t half);
uint16_t tsr_float_to_half(float value);

#endif
