/* Winograd's minimal filtering (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks,
 * 2015, arXiv:1509.09308): 2x2 output pixels of r x r taps from (r + 1)^2 products, for r = 2
 * and 3. One phase of a transposed convolution is such a filter, and so is what a convolution of
 * stride s does to each of the s^2 images that its input's pixels make modulo s; their products add
 * up. The products are those of src/gles/products.h, a pixel being a position of a transformed
 * tile. */
#ifndef TSR_GLES_WINOGRAD_H
#define TSR_GLES_WINOGRAD_H

#include "gles/phases.h"
#include "gles/products.h"

typedef struct tsr_winograd {
    tsr_products products;
    tsr_phases p;
    int64_t taps; /* r */
} tsr_winograd;

/* False if the kernel is no such filter, or tiles are too few for a group. */
bool tsr_winograd_make(const tsr_plan *plan, const tsr_phases *phases, tsr_winograd *winograd);
/* The pass returned writes `output`. */
tsr_pass *tsr_winograd_passes(tsr_plan *plan, const tsr_winograd *winograd, int input, int output);

#endif
