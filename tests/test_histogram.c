/* Ranges that 8 bits are to hold, of numbers whose distribution is known. */
#include "base/histogram.h"
#include "passes/activations.h"
#include "support/main.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 100000 };

static tsr_histogram h;
static float numbers[MANY];

static void count(int64_t n) {
    assert_int_equal(tsr_histogram_add(&h, numbers, n), n);
}

static void expect_range(tsr_range range, double low, double high, double tolerance) {
    if (fabs(range.low - low) > tolerance || fabs(range.high - high) > tolerance)
        fail_msg("%g to %g instead of %g to %g", range.low, range.high, low, high);
}

/* From low to high, evenly. */
static void uniform(int64_t n, double low, double high) {
    for (int64_t i = 0; i < n; i++)
        numbers[i] = (float)(low + (high - low) * (double)i / (double)(n - 1));
}

/* Of mean 0 and deviation 1, nearly: sums of twelve even ones. */
static void normal(int64_t n) {
    unsigned state = 1;
    for (int64_t i = 0; i < n; i++) {
        double sum = -6;
        for (int k = 0; k < 12; k++)
            sum += (double)((state = state * 1664525u + 1013904223u) >> 8) / 16777216;
        numbers[i] = (float)sum;
    }
}

static void begin(void) {
    memset(&h, 0, sizeof h);
}

static void all_numbers(void **state) {
    (void)state;
    begin();
    expect_range(tsr_histogram_all(&h), 0, 0, 0);
    uniform(MANY, -3, 7);
    count(MANY);
    expect_range(tsr_histogram_all(&h), -3, 7, 0);
    uniform(1000, 500, 1000); /* the bins become wider */
    count(1000);
    expect_range(tsr_histogram_all(&h), -3, 1000, 0);
    int64_t sum = h.zeros;
    for (int i = 0; i < TSR_HISTOGRAM_BINS; i++)
        sum += h.bins[i];
    assert_int_equal(sum, MANY + 1000);
    begin();
    numbers[0] = 5;
    count(1);
    expect_range(tsr_histogram_all(&h), 5, 5, 0);
}

static void percentiles(void **state) {
    (void)state;
    begin();
    uniform(MANY, -1, 1);
    count(MANY);
    expect_range(tsr_histogram_percentile(&h, 100), -1, 1, 0);
    expect_range(tsr_histogram_percentile(&h, 99), -0.99, 0.99, 0.001);
    expect_range(tsr_histogram_percentile(&h, 90), -0.9, 0.9, 0.001);
    numbers[0] = -100; /* fewer than are left out */
    numbers[1] = 50;
    count(2);
    expect_range(tsr_histogram_all(&h), -100, 50, 0);
    expect_range(tsr_histogram_percentile(&h, 99.9), -0.999, 0.999, 0.1);
    begin();
    normal(MANY);
    count(MANY);
    expect_range(tsr_histogram_percentile(&h, 95.45), -2, 2, 0.03);
    expect_range(tsr_histogram_percentile(&h, 99.73), -3, 3, 0.1);
    begin();
    memset(numbers, 0, sizeof numbers); /* as behind a Relu */
    numbers[0] = 1;
    count(MANY);
    expect_range(tsr_histogram_percentile(&h, 99.99), 0, 0.0005, 0.0005);
    expect_range(tsr_histogram_percentile(&h, 99.999), 0, 1, 0);
}

static void entropy(void **state) {
    (void)state;
    begin();
    uniform(MANY, -1, 1); /* nothing can be left out */
    count(MANY);
    expect_range(tsr_histogram_entropy(&h), -1, 1, 0.01);
    begin();
    uniform(MANY, 0, 2); /* of one sign */
    count(MANY);
    expect_range(tsr_histogram_entropy(&h), 0, 2, 0.01);
    begin();
    normal(MANY);
    count(MANY);
    tsr_range range = tsr_histogram_entropy(&h);
    assert_true(range.high > 2.5 && range.high < 5 && range.low < -2.5 && range.low > -5);
    memset(numbers, 0, sizeof numbers); /* zeros change nothing */
    count(MANY);
    expect_range(tsr_histogram_entropy(&h), range.low, range.high, 0);
    numbers[0] = 100; /* a lone number far away is left out */
    count(1);
    range = tsr_histogram_entropy(&h);
    assert_true(range.high > 2.5 && range.high < 25 && range.low < -2.5 && range.low > -6);
    begin();
    numbers[0] = 3;
    numbers[1] = -1;
    count(2); /* too few for a distribution */
    expect_range(tsr_histogram_entropy(&h), -1, 3, 0);
}

static void no_numbers(void **state) {
    (void)state;
    begin();
    memset(numbers, 0, sizeof numbers);
    count(10);
    expect_range(tsr_histogram_percentile(&h, 99), 0, 0, 0);
    expect_range(tsr_histogram_entropy(&h), 0, 0, 0);
    numbers[7] = NAN;
    assert_int_equal(tsr_histogram_add(&h, numbers, 10), 7);
    numbers[3] = -INFINITY;
    assert_int_equal(tsr_histogram_add(&h, numbers, 10), 3);
    assert_int_equal(h.count, 20);
}

/* Zero is a level, and both ends are near one. */
static void scales(void **state) {
    (void)state;
    static const struct {
        tsr_range range;
        float scale;
        int zero_point;
    } cases[] = {
        {{0, 0}, 1, 0},
        {{0, 255}, 1, 0},
        {{100, 255}, 1, 0},
        {{-255, 0}, 1, 255},
        {{-255, -7}, 1, 255},
        {{-1, 3}, 4 / 255.0f, 64},
        {{-128, 127}, 1, 128},
        {{0, 1e-44f}, FLT_MIN, 0},
        {{-FLT_MAX, FLT_MAX}, (float)(2.0 / 255 * FLT_MAX), 128},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float scale;
        int zero_point;
        tsr_scale_of_range(cases[i].range, &scale, &zero_point);
        if (scale != cases[i].scale || zero_point != cases[i].zero_point)
            fail_msg("case %d: scale %g, zero point %d", (int)i, scale, zero_point);
    }
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_numbers), cmocka_unit_test(percentiles), cmocka_unit_test(entropy),
        cmocka_unit_test(no_numbers),  cmocka_unit_test(scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
