/* Convolutions of small images by im2col: products (src/algorithm/im2col_gemm.h) of what groups of
 * output pixels read of the input. */
#ifndef TSR_ALGORITHM_CONV_IM2COL_H
#define TSR_ALGORITHM_CONV_IM2COL_H

#include "algorithm/phases.h"
#include "algorithm/im2col_gemm.h"

/* The phases of a transposed convolution share the im2col blocks. */
typedef struct tsr_conv_im2col {
    tsr_im2col_gemm gemm;
    tsr_phases p;
    int64_t pad[2]; /* by which the first window begins before the image */
} tsr_conv_im2col;

/* False if they cannot be made. */
bool tsr_conv_im2col_make(const tsr_plan *plan, const tsr_phases *phases, tsr_conv_im2col *conv);
/* The pass returned writes `output`. */
tsr_pass *tsr_conv_im2col_passes(tsr_plan *plan, const tsr_conv_im2col *conv, int input,
                                 int output);

#endif
