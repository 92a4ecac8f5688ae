#include "api/half_noise.h"

#include "base/half.h"

#include <math.h>

/* Half of the largest 16-bit float: other inputs may have elements twice as large. */
#define LARGE 32752.0f

typedef struct moments {
    double count, sum, squares, noise;
} moments;

static moments measure(const float *x, int64_t count) {
    moments m = {0};
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(x[i]))
            continue;
        double error = (double)tsr_round_to_half(x[i]) - x[i];
        m.count++;
        m.sum += x[i];
        m.squares += (double)x[i] * x[i];
        m.noise += error * error;
    }
    return m;
}

/* Per element; 0 of no element. */
static double variance(const moments *m) {
    double mean = m->count ? m->sum / m->count : 0,
           found = m->count ? m->squares / m->count - mean * mean : 0;
    return found > 0 ? found : 0;
}

static bool comes_near_the_largest(const float *x, int64_t count) {
    bool large = false;
    for (int64_t i = 0; i < count && !large; i++)
        large = fabsf(x[i]) > LARGE && isfinite(x[i]);
    return large;
}

double tsr_half_noise(const float *x, const tsr_shape *shape) {
    enum { FEW_PIXELS = 16 };
    int64_t count = tsr_shape_count(shape),
            planes = shape->rank > 2 ? shape->dim[0] * shape->dim[1] : 1;
    if (count == 0)
        return 0;
    if (comes_near_the_largest(x, count))
        return INFINITY;
    if (count / planes < FEW_PIXELS)
        planes = 1;
    const int64_t pixels = count / planes;
    double noise = 0, usual = 0;
    for (int64_t p = 0; p < planes; p++) {
        const moments m = measure(x + p * pixels, pixels);
        usual += variance(&m) / (double)planes;
    }
    const double least = usual * 1e-3; /* channels that hardly change are no signal */
    for (int64_t p = 0; p < planes && usual > 0; p++) {
        const moments m = measure(x + p * pixels, pixels);
        double signal = variance(&m);
        if (m.count)
            noise += m.noise / m.count / (signal > least ? signal : least);
    }
    return noise / (double)planes;
}
