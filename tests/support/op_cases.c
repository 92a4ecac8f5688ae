#include "support/op_cases.h"

#include "support/main.h"

#include <stdio.h>

static case_environments environments_here(void) {
    static const backend_case textures[] = {
        {.limits = {0}},
        {.limits.kernels = TSR_KERNELS_BLOCKS},
        {.limits.max_draw_buffers = 2},
        {.limits.max_texture_size = 32, .limits.max_draw_buffers = 1},
        {.precision = TSR_FP16},
    };
    return environments_or_buffers(textures, sizeof textures / sizeof *textures);
}

static void run_in(const backend_case *environment, backend_case c) {
    c.limits = environment->limits;
    c.precision = environment->precision;
    c.keep_tensors = environment->keep_tensors;
    run_case(&c);
}

static bool fits(const op_case *c, const backend_case *environment) {
    return !(c->big && environment->limits.max_texture_size) &&
           !(c->no_half && environment->precision == TSR_FP16);
}

void run_op_cases(const op_case *cases, size_t count) {
    need_gpu();
    const case_environments here = environments_here();
    for (size_t i = 0; i < count; i++)
        for (int e = 0; e < here.count; e++)
            if (fits(&cases[i], &here.list[e]))
                run_in(&here.list[e], (backend_case){.opset = cases[i].opset,
                                                     .text = cases[i].text,
                                                     .mean = cases[i].mean,
                                                     .range = cases[i].range,
                                                     .weights_mean = cases[i].weights_mean,
                                                     .nans = cases[i].nans,
                                                     .infinities = cases[i].infinities,
                                                     .tolerance = cases[i].tolerance});
    expect_no_failed_case();
}

/* FNV-1a. */
static uint32_t hash(const char *text) {
    uint32_t h = 2166136261u;
    while (*text)
        h = (h ^ (unsigned char)*text++) * 16777619u;
    return h;
}

void check(backend_case c, const char *format, ...) {
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    c.text = text;
    const case_environments here = environments_here();
    int only = all_cases() ? -1 : (int)(hash(text) >> 8) % here.count;
    for (int e = 0; e < here.count; e++)
        if (only < 0 || e == only)
            run_in(&here.list[e], c);
}
