/* Differences of two tensors. */
#ifndef TESSERA_DIFFERENCE_H
#define TESSERA_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>

/* An element passes if |a - b| <= share * max|reference| + atol + rtol * |b|, b the reference's.
 * Infinities have to be equal; NaN passes only where the reference has NaN. */
typedef struct tolerance {
    double share, atol, rtol;
} tolerance;

typedef struct difference {
    double largest;       /* finite |reference| */
    double max_abs;       /* infinite if NaN or infinity differs */
    double max_rel;       /* max_abs / largest */
    size_t worst;         /* element of max_abs */
    size_t failed, count; /* elements */
} difference;

difference measure(const float *ours, const float *reference, size_t count, tolerance allowed);

/* Index of the largest element; NaN loses. */
size_t top_index(const float *values, size_t count);

#endif
