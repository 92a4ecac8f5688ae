/* Seeded random numbers: the same on every machine. */
#ifndef MAKE_MODELS_RANDOM_H
#define MAKE_MODELS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

typedef struct rng {
    uint64_t state; /* the seed */
} rng;

/* Does nothing where values is NULL. */
void fill_normal(rng *r, float *values, size_t count, double mean, double deviation);

#endif
