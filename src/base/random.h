/* Random numbers from a seed: the same on every platform. They are those of NumPy's RandomState,
 * which ONNX's reference uses: MT19937 (Matsumoto, Nishimura 1998), doubles of 53 bits, normal
 * numbers by the polar form of Box-Muller's method (Marsaglia, Bray 1964). */
#ifndef TSR_BASE_RANDOM_H
#define TSR_BASE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

enum { TSR_RANDOM_WORDS = 624 };

typedef struct tsr_random {
    uint32_t words[TSR_RANDOM_WORDS];
    int next;
    double second; /* of two normal numbers, which are made together */
    bool has_second;
} tsr_random;

void tsr_random_seed(tsr_random *random, uint32_t seed);
/* From 0 to below 1. */
double tsr_random_uniform(tsr_random *random);
/* Of mean 0 and variance 1. */
double tsr_random_normal(tsr_random *random);

#endif
