/* Convolutions of small images as products (src/gles/products.h) of what groups of output pixels
 * see of the input. */
#ifndef TSR_GLES_WINDOWS_H
#define TSR_GLES_WINDOWS_H

#include "gles/phases.h"
#include "gles/products.h"

/* The phases of a transposed convolution share the windows. */
typedef struct tsr_windows {
    tsr_products products;
    tsr_phases p;
    int64_t pad[2]; /* by which the first window begins before the image */
} tsr_windows;

/* False if they cannot be made. */
bool tsr_windows_make(const tsr_plan *plan, const tsr_phases *phases, tsr_windows *windows);
/* The pass returned writes `output`. */
tsr_pass *tsr_windows_passes(tsr_plan *plan, const tsr_windows *windows, int input, int output);

#endif
