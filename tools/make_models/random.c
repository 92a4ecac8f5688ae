/* splitmix64, and Box and Muller's normal pairs. */
#include "make_models/random.h"

#include <math.h>

static uint64_t next_u64(rng *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* In (0, 1]. */
static double next_unit(rng *r) {
    return (double)((next_u64(r) >> 11) + 1) * 0x1p-53;
}

void fill_normal(rng *r, float *values, size_t count, double mean, double deviation) {
    for (size_t i = 0; values && i < count; i += 2) {
        double radius = sqrt(-2 * log(next_unit(r))), angle = 6.283185307179586 * next_unit(r);
        values[i] = (float)(mean + deviation * radius * cos(angle));
        if (i + 1 < count)
            values[i + 1] = (float)(mean + deviation * radius * sin(angle));
    }
}
