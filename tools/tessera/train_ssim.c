/* SSIM of samples that are held out. */
#include "train.h"

#include <math.h>
#include <stdlib.h>

enum { WINDOW = 11 };

typedef struct planes {
    size_t height, width;
    double gaussian[WINDOW], c1, c2;
    double *rows; /* means by row, of each column where a window begins */
} planes;

/* What is averaged over a window. */
typedef enum moment { X, Y, XX_YY, XY, MOMENTS } moment;

static double element(moment m, double x, double y) {
    switch (m) {
    case X:
        return x;
    case Y:
        return y;
    case XX_YY:
        return x * x + y * y;
    default:
        return x * y;
    }
}

static void average_rows(const planes *p, const float *x, const float *y, moment m) {
    size_t columns = p->width - WINDOW + 1;
    for (size_t row = 0; row < p->height; row++)
        for (size_t i = 0; i < columns; i++) {
            const float *xs = x + row * p->width + i, *ys = y + row * p->width + i;
            double sum = 0;
            for (int k = 0; k < WINDOW; k++)
                sum += p->gaussian[k] * element(m, xs[k], ys[k]);
            p->rows[(row * columns + i) * MOMENTS + m] = sum;
        }
}

/* Of the window that begins at a place of `rows`. */
static double window_ssim(const planes *p, const double *rows) {
    size_t step = (p->width - WINDOW + 1) * MOMENTS;
    double mean[MOMENTS] = {0};
    for (int k = 0; k < WINDOW; k++)
        for (int m = 0; m < MOMENTS; m++)
            mean[m] += p->gaussian[k] * rows[(size_t)k * step + (size_t)m];
    double product = mean[X] * mean[Y], squares = mean[X] * mean[X] + mean[Y] * mean[Y];
    return (2 * product + p->c1) * (2 * (mean[XY] - product) + p->c2) /
           ((squares + p->c1) * (mean[XX_YY] - squares + p->c2));
}

static double plane_ssim(const planes *p, const float *x, const float *y) {
    size_t windows = (p->height - WINDOW + 1) * (p->width - WINDOW + 1);
    double sum = 0;
    for (int m = 0; m < MOMENTS; m++)
        average_rows(p, x, y, (moment)m);
    for (size_t i = 0; i < windows; i++)
        sum += window_ssim(p, p->rows + i * MOMENTS);
    return sum / (double)windows;
}

static void fill(planes *p, double range) {
    double sum = 0;
    for (int k = 0; k < WINDOW; k++)
        sum += p->gaussian[k] = exp(-pow(k - WINDOW / 2, 2) / (2 * 1.5 * 1.5));
    for (int k = 0; k < WINDOW; k++)
        p->gaussian[k] /= sum;
    p->c1 = pow(0.01 * range, 2);
    p->c2 = pow(0.03 * range, 2);
}

bool train_ssim_loss(const tsr_shape *shape, const float *y, const float *t, double range,
                     double *loss) {
    planes p = {.height = (size_t)shape->dim[2], .width = (size_t)shape->dim[3]};
    size_t plane = p.height * p.width, channels = (size_t)shape->dim[1];
    double sum = 0;
    p.rows = malloc(plane * MOMENTS * sizeof *p.rows);
    if (!p.rows)
        return false;
    fill(&p, range);
    for (size_t c = 0; c < channels; c++)
        sum += plane_ssim(&p, y + c * plane, t + c * plane);
    free(p.rows);
    *loss = 1 - sum / (double)channels;
    return true;
}
