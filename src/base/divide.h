/* Integer arithmetic. */
#ifndef TSR_BASE_DIVIDE_H
#define TSR_BASE_DIVIDE_H

#include <stdint.h>

/* a / b, rounded up; a not negative, b positive. */
static inline int64_t tsr_divide_up(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

static inline int64_t tsr_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t tsr_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

#endif
