#include "difference.h"

#include <math.h>

static double largest_finite(const float *values, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            largest = fmax(largest, fabs((double)values[i]));
    return largest;
}

static double error_of(double ours, double reference) {
    if (ours == reference || (isnan(ours) && isnan(reference)))
        return 0;
    return isfinite(ours) && isfinite(reference) ? fabs(ours - reference) : INFINITY;
}

difference measure(const float *ours, const float *reference, size_t count, tolerance allowed) {
    difference d = {.largest = largest_finite(reference, count), .count = count};
    double base = allowed.share * d.largest + allowed.atol;
    for (size_t i = 0; i < count; i++) {
        double b = reference[i], error = error_of(ours[i], b);
        /* if b is not finite the error is 0 or infinite: no tolerance applies */
        if (error > (isfinite(b) ? base + allowed.rtol * fabs(b) : 0))
            d.failed++;
        if (error > d.max_abs) {
            d.max_abs = error;
            d.worst = i;
        }
    }
    d.max_rel = d.max_abs == 0 ? 0 : d.max_abs / d.largest;
    return d;
}

size_t top_index(const float *values, size_t count) {
    size_t top = 0;
    for (size_t i = 1; i < count; i++)
        if (values[i] > values[top] || (isnan(values[top]) && !isnan(values[i])))
            top = i;
    return top;
}
