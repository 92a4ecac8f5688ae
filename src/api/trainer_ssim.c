/* SSIM: means, variances and covariance by windows, which are convolutions with a Gaussian. */
#include "api/trainer.h"

#include <math.h>

static void fill_gaussian(float *weights, int64_t channels) {
    double sum = 0, gaussian[TSR_SSIM_WINDOW];
    for (int i = 0; i < TSR_SSIM_WINDOW; i++) {
        double distance = i - TSR_SSIM_WINDOW / 2;
        gaussian[i] = exp(-distance * distance / (2 * 1.5 * 1.5));
        sum += gaussian[i];
    }
    for (int64_t i = 0; i < channels * TSR_SSIM_WINDOW; i++)
        weights[i] = (float)(gaussian[i % TSR_SSIM_WINDOW] / sum);
}

/* Weights of a window of one row, and of one column: the two after each other are the window. */
typedef struct gaussian {
    int64_t channels;
    int row, column;
} gaussian;

static gaussian build_gaussian(tsr_builder *b, int64_t channels) {
    float *weights = tsr_build_elements(b, channels * TSR_SSIM_WINDOW, sizeof *weights);
    if (!weights)
        return (gaussian){channels, TSR_NONE, TSR_NONE};
    fill_gaussian(weights, channels);
    const tsr_shape row = {4, {channels, 1, 1, TSR_SSIM_WINDOW}},
                    column = {4, {channels, 1, TSR_SSIM_WINDOW, 1}};
    return (gaussian){channels, tsr_build_floats(b, &row, weights),
                      tsr_build_floats(b, &column, weights)};
}

static int mean(tsr_builder *b, const gaussian *g, int value) {
    const tsr_attr group = tsr_int_attr("group", g->channels);
    int rows = tsr_build_with(b, TSR_OP_Conv, 2, (int[]){value, g->row}, 1, &group);
    return tsr_build_with(b, TSR_OP_Conv, 2, (int[]){rows, g->column}, 1, &group);
}

static int twice(tsr_builder *b, int value) {
    return TSR_BUILD(b, TSR_OP_Add, value, value);
}

static int sum_of_squares(tsr_builder *b, int x, int y) {
    return TSR_BUILD(b, TSR_OP_Add, TSR_BUILD(b, TSR_OP_Mul, x, x), TSR_BUILD(b, TSR_OP_Mul, y, y));
}

/* (2 * mx * my + c1) * (2 * cov + c2) / ((mx^2 + my^2 + c1) * (vx + vy + c2)) */
int tsr_training_build_ssim(tsr_builder *b, const tsr_training_term *term) {
    int x = term->output, y = term->target;
    double l = term->range;
    const gaussian g = build_gaussian(b, b->graph->values[x].shape.dim[1]);
    int mx = mean(b, &g, x), my = mean(b, &g, y), product = TSR_BUILD(b, TSR_OP_Mul, mx, my),
        squares = sum_of_squares(b, mx, my);
    int covariance = TSR_BUILD(b, TSR_OP_Sub, mean(b, &g, TSR_BUILD(b, TSR_OP_Mul, x, y)), product),
        variances = TSR_BUILD(b, TSR_OP_Sub, mean(b, &g, sum_of_squares(b, x, y)), squares);
    int c1 = tsr_build_number(b, (float)(0.01 * 0.01 * l * l)),
        c2 = tsr_build_number(b, (float)(0.03 * 0.03 * l * l));
    int above = TSR_BUILD(b, TSR_OP_Mul, TSR_BUILD(b, TSR_OP_Add, twice(b, product), c1),
                          TSR_BUILD(b, TSR_OP_Add, twice(b, covariance), c2)),
        below = TSR_BUILD(b, TSR_OP_Mul, TSR_BUILD(b, TSR_OP_Add, squares, c1),
                          TSR_BUILD(b, TSR_OP_Add, variances, c2));
    return TSR_BUILD(b, TSR_OP_Sub, tsr_build_number(b, 1), TSR_BUILD(b, TSR_OP_Div, above, below));
}
