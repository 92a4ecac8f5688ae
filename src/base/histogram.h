/* How often which numbers occur, and the range of them that 8 bits are to hold. */
#ifndef TSR_BASE_HISTOGRAM_H
#define TSR_BASE_HISTOGRAM_H

#include <stdint.h>

enum { TSR_HISTOGRAM_BINS = 4096 };

/* Zeroed: empty. Bins of one width, half of them below zero; the width doubles when a number lies
 * outside all. */
typedef struct tsr_histogram {
    float low, high;                                /* the least and the largest number */
    double width;                                   /* 0: all numbers are 0 */
    int64_t count, zeros, bins[TSR_HISTOGRAM_BINS]; /* bins: of what is not zero */
} tsr_histogram;

typedef struct tsr_range {
    float low, high;
} tsr_range;

/* Adds numbers up to the first that is not finite; returns how many. */
int64_t tsr_histogram_add(tsr_histogram *h, const float *x, int64_t count);

/* All numbers; {0, 0} of none. */
tsr_range tsr_histogram_all(const tsr_histogram *h);
/* Without the least and the largest (100 - percentile) / 2 percent, by whole bins. */
tsr_range tsr_histogram_percentile(const tsr_histogram *h, double percentile);
/* What lies within the bound of which 256 levels have the smallest Kullback-Leibler divergence from
 * the numbers: S. Migacz, "8-bit Inference with TensorRT", GTC 2017; with the smoothing of ONNX
 * Runtime's quantization/calibrate.py. Zeros, which are a level in any case, do not count. All
 * numbers where there are too few of them. */
tsr_range tsr_histogram_entropy(const tsr_histogram *h);

#endif
