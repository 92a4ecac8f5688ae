/* Packed weights, shared by sessions on one device: src/gpu/weights.h stores them. */
#ifndef TSR_ALGORITHM_PACKED_WEIGHTS_H
#define TSR_ALGORITHM_PACKED_WEIGHTS_H

#include "algorithm/algorithm.h"

/* Numbers that the texels depend on, besides the weights and their window. */
enum { TSR_MAX_LAYOUT_NUMBERS = 16 };

typedef struct tsr_weight_layout {
    const char *tag; /* of the order of texels: equal tags, numbers and weights: equal texels */
    int64_t numbers[TSR_MAX_LAYOUT_NUMBERS];
} tsr_weight_layout;

/* Packs weights for kernels with dot products: of texels i * stride, from four of an input channel
 * each they become four of an output channel each. */
void tsr_weights_for_dots(float *texels, int64_t stride);

/* Gives the latest pass a table of a convolution's packed weights; `size` bytes of data, of which
 * conv is a part, are copied. It is shared if the weights are a constant of the model. Weights that
 * are computed are packed by a pass before it. Returns the latest pass, which may have moved. */
tsr_pass *tsr_pass_packed_weights(tsr_plan *plan, tsr_pass *pass, const tsr_convolution *conv,
                                  const tsr_weight_layout *layout, tsr_table table,
                                  const void *data, size_t size);

#endif
