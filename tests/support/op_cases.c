#include "support/op_cases.h"

#include <stdio.h>

static const backend_case environments[] = {
    {.limits = {0, 0}},
    {.limits = {0, 2}},
    {.limits = {32, 1}},
    {.precision = TSR_FP16},
};
enum { ENVIRONMENT_COUNT = sizeof environments / sizeof *environments };

static void run_in(int environment, backend_case c) {
    c.limits = environments[environment].limits;
    c.precision = environments[environment].precision;
    run_case(&c);
}

static bool fits(const op_case *c, int environment) {
    const backend_case *e = &environments[environment];
    return !(c->big && e->limits.max_texture_size) && !(c->no_half && e->precision == TSR_FP16);
}

void run_op_cases(const op_case *cases, size_t count) {
    need_gles();
    for (size_t i = 0; i < count; i++)
        for (int e = 0; e < ENVIRONMENT_COUNT; e++)
            if (fits(&cases[i], e))
                run_in(e, (backend_case){.opset = cases[i].opset,
                                         .text = cases[i].text,
                                         .mean = cases[i].mean,
                                         .range = cases[i].range,
                                         .weights_mean = cases[i].weights_mean,
                                         .tolerance = cases[i].tolerance});
    expect_no_failed_case();
}

void check(backend_case c, const char *format, ...) {
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    c.text = text;
    run_in(next_case() % ENVIRONMENT_COUNT, c);
}
