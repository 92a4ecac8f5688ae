/* Weights as integers of 8 bits with a scale for each output channel, which is applied after the
 * sum, or of 4 or 8 bits in blocks (src/algorithm/block_weights.h): what a convolution computes
 * does not change but for the rounding of its weights. */
#ifndef TSR_ALGORITHM_INTEGER_WEIGHTS_H
#define TSR_ALGORITHM_INTEGER_WEIGHTS_H

#include "algorithm/algorithm.h"

/* If the plan's weights are to be integers, and these can be: makes them so, and returns what each
 * output channel's sums are to be multiplied by, NULL if blocks have the scales. Else NULL, and the
 * convolution stays. */
const float *tsr_make_integers(tsr_plan *plan, tsr_convolution *conv);
/* By output channel: the sum of its integers, times a factor. NULL when out of memory. */
const float *tsr_sum_integers(tsr_plan *plan, const tsr_convolution *conv, int factor);
/* Multiplies the result of the pass, of this many channels, by the scales times a common factor. */
void tsr_scale_sums(tsr_plan *plan, tsr_pass *pass, const float *scale, float factor,
                    int64_t channels);
/* Weights of the convolution. */
int64_t tsr_count_weights(const tsr_convolution *conv);

#endif
