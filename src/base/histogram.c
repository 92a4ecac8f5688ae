#include "base/histogram.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { HALF = TSR_HISTOGRAM_BINS / 2, LEVELS = 256, STEP = 8 };

/* ---- counting -------------------------------------------------------------------------------- */

/* Bins of twice the width: of two neighbours, counted from zero, each. */
static void widen(tsr_histogram *h) {
    int64_t old[TSR_HISTOGRAM_BINS];
    memcpy(old, h->bins, sizeof old);
    memset(h->bins, 0, sizeof h->bins);
    for (int i = 0; i < HALF; i++) {
        h->bins[HALF + i / 2] += old[HALF + i];
        h->bins[HALF - 1 - i / 2] += old[HALF - 1 - i];
    }
    h->width *= 2;
}

static int bin_of(const tsr_histogram *h, double x) {
    double bin = h->width > 0 ? floor(x / h->width) + HALF : HALF;
    return bin < 0 ? 0 : bin >= TSR_HISTOGRAM_BINS ? TSR_HISTOGRAM_BINS - 1 : (int)bin;
}

static int64_t count_finite(const float *x, int64_t count) {
    int64_t i = 0;
    while (i < count && isfinite(x[i]))
        i++;
    return i;
}

int64_t tsr_histogram_add(tsr_histogram *h, const float *x, int64_t count) {
    count = count_finite(x, count);
    if (count && !h->count)
        h->low = h->high = x[0];
    for (int64_t i = 0; i < count; i++) {
        h->low = fminf(h->low, x[i]);
        h->high = fmaxf(h->high, x[i]);
    }
    double most = fmax(-(double)h->low, h->high);
    if (h->width == 0)
        h->width = most / HALF;
    while (most > h->width * HALF)
        widen(h);
    for (int64_t i = 0; i < count; i++) {
        if (x[i] == 0)
            h->zeros++;
        else
            h->bins[bin_of(h, x[i])]++;
    }
    h->count += count;
    return count;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* From the edge of a bin to that of another, as far as there are numbers. */
static tsr_range range_of(const tsr_histogram *h, int first, int last) {
    return (tsr_range){(float)fmax(h->low, (first - HALF) * h->width),
                       (float)fmin(h->high, (last - HALF) * h->width)};
}

tsr_range tsr_histogram_all(const tsr_histogram *h) {
    return (tsr_range){h->low, h->high};
}

static double count_in(const tsr_histogram *h, int bin) {
    return (double)(h->bins[bin] + (bin == HALF ? h->zeros : 0));
}

tsr_range tsr_histogram_percentile(const tsr_histogram *h, double percentile) {
    double cut = (double)h->count * (100 - percentile) / 200, below = 0, above = 0;
    int first = 0, last = TSR_HISTOGRAM_BINS;
    if (h->width == 0)
        return tsr_histogram_all(h);
    while (first < last && below + count_in(h, first) <= cut)
        below += count_in(h, first++);
    while (first < last && above + count_in(h, last - 1) <= cut)
        above += count_in(h, --last);
    return first < last ? range_of(h, first, last) : tsr_histogram_all(h);
}

/* ---- entropy --------------------------------------------------------------------------------- */

/* A distribution over bins of which the empty ones get a small share, which the others give, so
 * that its logarithm exists. */
typedef struct distribution {
    double sum;
    int empty, others;
} distribution;

static const double smallest = 1e-4;

static void count_bin(distribution *d, double x) {
    d->sum += x;
    d->empty += x == 0;
    d->others += x != 0;
}

static bool is_smooth(const distribution *d) {
    return d->others && smallest * d->empty / d->others < 1;
}

static double share(const distribution *d, double x) {
    return (x == 0 ? smallest : x - smallest * d->empty / d->others) / d->sum;
}

/* The bins first to last - 1, and the numbers that are below and above. */
typedef struct part {
    const tsr_histogram *histogram;
    int first, last;
    double below, above;
} part;

/* A bin, with what is outside in the first and in the last. */
static double bin_clipped(const part *p, int i) {
    return (double)p->histogram->bins[i] + (i == p->first ? p->below : 0) +
           (i == p->last - 1 ? p->above : 0);
}

/* The first bin of a level. */
static int level_begin(const part *p, int level, int levels) {
    return p->first + (int)((int64_t)(p->last - p->first) * level / levels);
}

/* Its numbers, spread evenly over those of its bins that have some. */
static double level_mean(const part *p, int begin, int end) {
    double sum = 0;
    int others = 0;
    for (int i = begin; i < end; i++) {
        sum += (double)p->histogram->bins[i];
        others += p->histogram->bins[i] != 0;
    }
    return others ? sum / others : 0;
}

/* The divergence of the levels from what is clipped; infinite if it has too few numbers. */
static double divergence(const part *p) {
    int levels = p->last - p->first < LEVELS ? p->last - p->first : LEVELS;
    distribution exact = {0}, coarse = {0};
    double sum = 0;
    for (int i = p->first; i < p->last; i++) {
        count_bin(&exact, bin_clipped(p, i));
        count_bin(&coarse, (double)p->histogram->bins[i]);
    }
    if (!is_smooth(&exact) || !is_smooth(&coarse))
        return INFINITY;
    for (int level = 0; level < levels; level++) {
        int begin = level_begin(p, level, levels), end = level_begin(p, level + 1, levels);
        double mean = level_mean(p, begin, end);
        for (int i = begin; i < end; i++) {
            double of = share(&exact, bin_clipped(p, i));
            sum += of * log(of / share(&coarse, p->histogram->bins[i] ? mean : 0));
        }
    }
    return sum;
}

static int clamp(int x, int low, int high) {
    return x < low ? low : x > high ? high : x;
}

/* The bins within a bound, in bins from zero, without those beyond zero and all numbers. */
static part part_of(const tsr_histogram *h, int bound) {
    part p = {.histogram = h,
              .first = clamp(bin_of(h, h->low), HALF - bound, HALF),
              .last = clamp(bin_of(h, h->high) + 1, HALF, HALF + bound)};
    for (int i = 0; i < p.first; i++)
        p.below += (double)h->bins[i];
    for (int i = p.last; i < TSR_HISTOGRAM_BINS; i++)
        p.above += (double)h->bins[i];
    return p;
}

tsr_range tsr_histogram_entropy(const tsr_histogram *h) {
    double least = INFINITY;
    tsr_range chosen = tsr_histogram_all(h);
    for (int bound = LEVELS / 2; bound <= HALF && h->width > 0; bound += STEP) {
        const part p = part_of(h, bound);
        double found = divergence(&p);
        if (found < least) {
            least = found;
            chosen = range_of(h, p.first, p.last);
        }
    }
    return chosen;
}
