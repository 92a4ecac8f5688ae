/* Random numbers that depend on nothing but the seed. */
#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct random_source {
    uint64_t state;
} random_source;

random_source random_from(uint32_t seed);
/* low .. high, both included. */
int random_int(random_source *random, int low, int high);
/* True in one of `odds` calls. */
bool random_one_in(random_source *random, int odds);
/* mean - range .. mean + range */
float random_float(random_source *random, float mean, float range);

#endif
