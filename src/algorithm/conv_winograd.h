/* Winograd's minimal filtering (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks,
 * 2015, arXiv:1509.09308): 2x2 output pixels of r x r taps from (r + 1)^2 products, for r = 2
 * and 3. One phase of a transposed convolution is such a filter, and so is what a convolution of
 * stride s does to each of the s^2 images that its input's pixels make modulo s; their products add
 * up. The products are those of src/algorithm/im2col_gemm.h, a pixel being a position of a
 * transformed tile. */
#ifndef TSR_ALGORITHM_CONV_WINOGRAD_H
#define TSR_ALGORITHM_CONV_WINOGRAD_H

#include "algorithm/phases.h"
#include "algorithm/im2col_gemm.h"

typedef struct tsr_conv_winograd {
    tsr_im2col_gemm gemm;
    tsr_phases p;
    int64_t taps; /* r */
} tsr_conv_winograd;

/* False if the kernel is no such filter, or tiles are too few for a group. */
bool tsr_conv_winograd_make(const tsr_plan *plan, const tsr_phases *phases,
                            tsr_conv_winograd *conv);
/* The pass returned writes `output`. */
tsr_pass *tsr_conv_winograd_passes(tsr_plan *plan, const tsr_conv_winograd *conv, int input,
                                   int output);

#endif
