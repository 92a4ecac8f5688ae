#include "base/random.h"

#include <math.h>

enum { WORDS = TSR_RANDOM_WORDS, MIDDLE = 397 };

void tsr_random_seed(tsr_random *r, uint32_t seed) {
    for (uint32_t i = 0; i < WORDS; i++) {
        r->words[i] = seed;
        seed = 1812433253u * (seed ^ (seed >> 30)) + i + 1;
    }
    r->next = WORDS;
    r->has_second = false;
}

static void twist(tsr_random *r) {
    for (int i = 0; i < WORDS; i++) {
        uint32_t y = (r->words[i] & 0x80000000u) | (r->words[(i + 1) % WORDS] & 0x7fffffffu);
        r->words[i] = r->words[(i + MIDDLE) % WORDS] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    r->next = 0;
}

static uint32_t next_word(tsr_random *r) {
    if (r->next == WORDS)
        twist(r);
    uint32_t y = r->words[r->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

double tsr_random_uniform(tsr_random *r) {
    double high = next_word(r) >> 5, low = next_word(r) >> 6;
    return (high * 0x1p26 + low) / 0x1p53;
}

/* Of numbers above 0. C libraries differ in the last bit of log(); sums and products are exact
 * everywhere, as long as no statement has both, which a compiler may fuse. With m the fraction
 * between sqrt(1/2) and sqrt(2), log m = 2 atanh((m - 1) / (m + 1)). */
static double portable_log(double x) {
    enum { TERMS = 12 };
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        exponent--;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int k = TERMS; k >= 0; k--) {
        double product = sum * square;
        sum = product + 1.0 / (2 * k + 1);
    }
    double of_fraction = 2 * s * sum, of_exponent = exponent * 0x1.62e42fefa39efp-1;
    return of_fraction + of_exponent;
}

double tsr_random_normal(tsr_random *r) {
    double x, y, square;
    r->has_second = !r->has_second;
    if (!r->has_second)
        return r->second;
    do {
        x = 2 * tsr_random_uniform(r) - 1;
        y = 2 * tsr_random_uniform(r) - 1;
        double xx = x * x, yy = y * y;
        square = xx + yy;
    } while (square >= 1 || square == 0);
    double factor = sqrt(-2 * portable_log(square) / square);
    r->second = factor * x;
    return factor * y;
}
