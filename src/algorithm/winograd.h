/* What both forms of Winograd's algorithm share: src/algorithm/conv_winograd.c explains it. */
#ifndef TSR_ALGORITHM_WINOGRAD_H
#define TSR_ALGORITHM_WINOGRAD_H

#include "algorithm/phases.h"

/* The phases of a convolution whose weights are constant floats, and the taps of their rows and
 * columns modulo the stride: 2 or 3. False for other weights or taps, with groups, dilation or
 * phases without taps, or if the output fits no texture. */
bool tsr_winograd_phases(const tsr_plan *plan, const tsr_problem *problem, tsr_phases *phases,
                         int64_t *taps);
/* The factor of a tap in position k of the transformed filter, of F(pixels, taps): 2 pixels of 2 or
 * 3 taps, or 3 of 2. */
double tsr_winograd_filter(int64_t pixels, int64_t taps, int64_t k, int64_t tap);
/* "F(2x2,3x3)", of the same pixels and taps. */
const char *tsr_winograd_tile(int64_t pixels, int64_t taps);

#endif
