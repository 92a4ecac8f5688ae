#include "support/op_cases.h"

#include "support/main.h"

#include <stdio.h>
#include <string.h>

static case_environments environments_here(void) {
    static const backend_case textures[] = {
        {.limits = {0}},
        {.limits.kernels = "blocks"},
        {.limits.kernels = "small"},
        {.limits.kernels = "midgard"},
        {.limits.max_draw_buffers = 2, .limits.no_float_targets = true},
        {.limits.max_texture_size = 32, .limits.max_draw_buffers = 1},
        {.precision = TSR_PRECISION_FP16},
    };
    return environments_or_buffers(textures, sizeof textures / sizeof *textures);
}

static bool fits(const op_case *c, const backend_case *environment) {
    return !(c->big && environment->limits.max_texture_size) &&
           !(c->no_half && (environment->precision == TSR_PRECISION_FP16 || gpu_is_half_only()));
}

static void run_in(const backend_case *environment, const op_case *c) {
    run_case(&(backend_case){.opset = c->opset,
                             .text = c->text,
                             .mean = c->mean,
                             .range = c->range,
                             .weights_mean = c->weights_mean,
                             .nans = c->nans,
                             .infinities = c->infinities,
                             .tolerance = c->tolerance,
                             .limits = environment->limits,
                             .precision = environment->precision,
                             .keep_tensors = environment->keep_tensors});
}

static void run_everywhere(const op_case *c) {
    const case_environments here = environments_here();
    for (int e = 0; e < here.count; e++)
        if (fits(c, &here.list[e]))
            run_in(&here.list[e], c);
}

/* FNV-1a. */
static uint32_t hash(const char *text) {
    uint32_t h = 2166136261u;
    while (*text)
        h = (h ^ (unsigned char)*text++) * 16777619u;
    return h;
}

/* The text decides; the first environment fits every case, unless nothing holds its 32 bits. */
static void run_somewhere(const op_case *c) {
    const case_environments here = environments_here();
    const backend_case *environment = &here.list[(hash(c->text) >> 8) % (uint32_t)here.count];
    if (!fits(c, environment))
        environment = here.list;
    if (fits(c, environment))
        run_in(environment, c);
}

void run_op_cases(const op_case *cases, size_t count) {
    need_gpu();
    for (size_t i = 0; i < count; i++)
        (few_cases() ? run_somewhere : run_everywhere)(&cases[i]);
    expect_no_failed_case();
}

void check(op_case c, const char *format, ...) {
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    c.text = text;
    if (few_cases() && hash(text) % 4)
        return;
    (all_cases() ? run_everywhere : run_somewhere)(&c);
}

bool is_steep(const char *text) {
    static const char *const names[] = {
        "Sign",       "Ceil", "Floor", "Round", "Shrink", "ThresholdedRelu",
        "Reciprocal", "Log",  "Sin",   "Cos",   "Tan",    "Asin",
        "Acos",       "Sinh", "Cosh",  "Acosh", "Atanh",  "Sqrt"};
    size_t length = strcspn(text, " ");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], text, length))
            return true;
    return false;
}
