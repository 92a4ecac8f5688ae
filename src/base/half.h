/* IEEE 754 binary16 <-> binary32, round to nearest even, NaN and infinities kept. */
#ifndef TSR_BASE_HALF_H
#define TSR_BASE_HALF_H

#include <stdint.h>
#include <string.h>

static inline float tsr_float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Inline: models have millions of them. */
static inline float tsr_half_to_float(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, magnitude = (uint32_t)(half & 0x7fff) << 13;
    if (magnitude >= 0x0f800000) /* infinity or NaN */
        return tsr_float_of_bits(sign | 0x7f800000 | magnitude);
    if (magnitude >= 0x00800000)
        return tsr_float_of_bits(sign | (magnitude + 0x38000000));
    float small = (float)(half & 0x3ff) * 0x1p-24f; /* zero and subnormal: exact */
    return sign ? -small : small;
}

uint16_t tsr_float_to_half(float value);

/* The nearest 16-bit float. */
static inline float tsr_round_to_half(float value) {
    return tsr_half_to_float(tsr_float_to_half(value));
}

/* The upper half of a float: bfloat16. */
static inline float tsr_bfloat16_to_float(uint16_t bits) {
    return tsr_float_of_bits((uint32_t)bits << 16);
}

uint16_t tsr_float_to_bfloat16(float value);

#endif
