#define _XOPEN_SOURCE 700
#include "mosaic.h"
#include "tool.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TARGET_SIZE = 1200, /* small maps are enlarged to about this size */
    LARGEST_SIZE = 16384,
    GAP = 2,
    RAMP_SIZE = 256,
};

/* This quantile of |values| has full colour, so that a few outliers do not darken everything. */
static const double FULL_SHARE = 0.995;
static const unsigned char gap_colour[3] = {62, 64, 72};

typedef unsigned char ramp[RAMP_SIZE][3];

/* ---- colours --------------------------------------------------------------------------------- */

static unsigned char to_srgb(double linear) {
    double clamped = fmin(fmax(linear, 0), 1);
    double encoded = clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * pow(clamped, 1 / 2.4) - 0.055;
    return (unsigned char)(encoded * 255 + 0.5);
}

/* Oklab (Ottosson 2020) from lightness, chroma and hue in degrees. */
static void oklch_to_rgb(double lightness, double chroma, double hue, unsigned char rgb[3]) {
    double a = chroma * cos(hue * M_PI / 180), b = chroma * sin(hue * M_PI / 180);
    double l = pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    double m = pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    double s = pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    rgb[0] = to_srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
    rgb[1] = to_srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
    rgb[2] = to_srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
}

/* A ramp from dark to light with uniform steps of lightness and changing hue. */
static void make_ramp(double first_hue, double last_hue, ramp made) {
    for (int i = 0; i < RAMP_SIZE; i++) {
        double t = i / (RAMP_SIZE - 1.0);
        oklch_to_rgb(0.16 + 0.81 * t, 0.17 * sin(M_PI * pow(t, 0.8)),
                     first_hue + (last_hue - first_hue) * t, made[i]);
    }
}

/* ---- arrangement ----------------------------------------------------------------------------- */

static tsr_status read_shape(const tensor *t, mosaic *m) {
    const int64_t *dim = t->shape.dim;
    int rank = t->shape.rank;
    if (rank < 1 || rank > 4)
        return fail(TSR_ERROR_SHAPE, "a tensor %s cannot be drawn: its rank is not 1 to 4",
                    shape_label(&t->shape).text);
    int64_t channels = rank == 1 ? dim[0] : dim[1];
    int64_t height = rank == 4 ? dim[2] : 1, width = rank == 4 ? dim[3] : rank == 3 ? dim[2] : 1;
    if (t->count == 0)
        return fail(TSR_ERROR_SHAPE, "a tensor %s has no elements to draw",
                    shape_label(&t->shape).text);
    if (channels > INT_MAX || height > LARGEST_SIZE || width > LARGEST_SIZE)
        return fail(TSR_ERROR_SHAPE, "a tensor %s is too large to draw",
                    shape_label(&t->shape).text);
    m->channels = (int)channels;
    m->height = (int)height;
    m->width = (int)width;
    return TSR_OK;
}

/* Lower is better: near-square, rather wide than tall, few empty cells. */
static double badness(const mosaic *m, int columns) {
    int rows = (m->channels - 1) / columns + 1;
    double aspect = log((double)columns * m->width / ((double)rows * m->height));
    double empty = 1 - m->channels / ((double)columns * rows);
    return (aspect > 0 ? 0.5 : -1) * aspect + 10 * empty;
}

static tsr_status arrange(mosaic *m, const tsr_shape *shape) {
    m->columns = 1;
    int most = m->channels < LARGEST_SIZE ? m->channels : LARGEST_SIZE;
    for (int columns = 2; columns <= most; columns++)
        if (badness(m, columns) < badness(m, m->columns))
            m->columns = columns;
    m->rows = (m->channels - 1) / m->columns + 1;
    int64_t width = (int64_t)m->columns * m->width, height = (int64_t)m->rows * m->height;
    int64_t longer = width > height ? width : height;
    m->zoom = longer < TARGET_SIZE ? (int)(TARGET_SIZE / longer) : 1;
    width = width * m->zoom + (int64_t)GAP * (m->columns + 1);
    height = height * m->zoom + (int64_t)GAP * (m->rows + 1);
    if (width > LARGEST_SIZE || height > LARGEST_SIZE)
        return fail(TSR_ERROR_SHAPE, "a mosaic of tensor %s would be %lld x %lld pixels",
                    shape_label(shape).text, (long long)width, (long long)height);
    m->picture_width = (int)width;
    m->picture_height = (int)height;
    return TSR_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static int compare_floats(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The FULL_SHARE quantile of |value| of the finite elements; 1 if all are zero. */
static double full_colour(const float *values, size_t count, float *scratch) {
    size_t finite = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            scratch[finite++] = fabsf(values[i]);
    if (!finite)
        return 1;
    qsort(scratch, finite, sizeof *scratch, compare_floats);
    double full = scratch[(size_t)((double)(finite - 1) * FULL_SHARE)];
    if (full == 0)
        full = scratch[finite - 1];
    return full > 0 ? full : 1;
}

static void find_range(const float *values, size_t count, mosaic *m) {
    m->low = INFINITY;
    m->high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            m->not_finite = true;
            continue;
        }
        m->low = fmin(m->low, values[i]);
        m->high = fmax(m->high, values[i]);
    }
}

/* ---- drawing --------------------------------------------------------------------------------- */

typedef struct palette {
    ramp warm, cool;
} palette;

static void draw_channel(mosaic *m, const palette *colours, const float *values, int channel,
                         double full) {
    static const unsigned char not_finite[3] = {255, 0, 255};
    int left = GAP + channel % m->columns * (m->width * m->zoom + GAP);
    int top = GAP + channel / m->columns * (m->height * m->zoom + GAP);
    for (int y = 0; y < m->height * m->zoom; y++) {
        unsigned char *pixel =
            m->rgb + ((size_t)(top + y) * (size_t)m->picture_width + (size_t)left) * 3;
        const float *row = values + (size_t)(y / m->zoom) * (size_t)m->width;
        for (int x = 0; x < m->width * m->zoom; x++, pixel += 3) {
            double share = row[x / m->zoom] / full;
            int step = (int)(fmin(fabs(share), 1) * (RAMP_SIZE - 1) + 0.5);
            const unsigned char *colour = !isfinite(share) ? not_finite
                                          : share < 0      ? colours->cool[step]
                                                           : colours->warm[step];
            memcpy(pixel, colour, 3);
        }
    }
}

static void draw_all(mosaic *m, const float *values, bool per_channel, float *scratch) {
    palette colours;
    make_ramp(25, 95, colours.warm);
    make_ramp(270, 200, colours.cool);
    size_t plane = (size_t)m->width * (size_t)m->height, total = plane * (size_t)m->channels;
    size_t pixels = (size_t)m->picture_width * (size_t)m->picture_height;
    for (size_t i = 0; i < pixels; i++)
        memcpy(m->rgb + 3 * i, gap_colour, 3);
    double full = per_channel ? 0 : full_colour(values, total, scratch);
    m->full = full;
    for (int c = 0; c < m->channels; c++) {
        const float *channel = values + (size_t)c * plane;
        if (per_channel)
            full = full_colour(channel, plane, scratch);
        m->full = fmax(m->full, full);
        draw_channel(m, &colours, channel, c, full);
    }
}

tsr_status mosaic_draw(const tensor *t, bool per_channel, mosaic *made) {
    *made = (mosaic){0};
    TRY(read_shape(t, made));
    TRY(arrange(made, &t->shape));
    size_t total = (size_t)made->channels * (size_t)made->height * (size_t)made->width;
    made->rgb = malloc((size_t)made->picture_width * (size_t)made->picture_height * 3);
    float *scratch = calloc(total, sizeof *scratch);
    bool good = made->rgb && scratch;
    if (good) {
        find_range(t->values, total, made);
        draw_all(made, t->values, per_channel, scratch);
    }
    free(scratch);
    if (good)
        return TSR_OK;
    mosaic_free(made);
    return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for a mosaic of %d x %d pixels",
                made->picture_width, made->picture_height);
}

void mosaic_free(mosaic *m) {
    free(m->rgb);
    m->rgb = NULL;
}
