#include "support/random.h"

/* Steele, Lea and Flood's SplitMix64. */
static uint32_t next(random_source *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32);
}

random_source random_from(uint32_t seed) {
    return (random_source){seed};
}

int random_int(random_source *random, int low, int high) {
    return low + (int)(next(random) % (uint32_t)(high - low + 1));
}

bool random_one_in(random_source *random, int odds) {
    return random_int(random, 1, odds) == 1;
}

float random_float(random_source *random, float mean, float range) {
    return mean + range * ((float)(next(random) >> 8) / 8388608.0f - 1);
}
