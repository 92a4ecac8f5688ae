/* Texts of Conv and ConvTranspose of random shapes, and what they run in. */
#ifndef TESTS_SUPPORT_CONV_TEXT_H
#define TESTS_SUPPORT_CONV_TEXT_H

#include "support/backends.h"
#include "support/case_text.h"
#include "support/random.h"

/* What a case runs on, and what it must have. */
typedef struct conv_environment {
    backend_limits limits;
    tsr_precision precision;
    int axis, low, high; /* input size of this axis; high 0: any */
    bool far;
    int channels; /* the most of a group; 0: a few */
} conv_environment;

typedef struct conv_environments {
    int count;
    const conv_environment *list;
} conv_environments;

/* Those of the backend under test. */
conv_environments conv_environments_here(void);

/* One that is small enough for a quick run; computed: its weights and bias are inputs. */
case_text draw_convolution(random_source *r, bool transposed, bool computed,
                           const conv_environment *e);

/* Runs it on both backends; whether the device could. */
bool run_convolution(const char *text, const conv_environment *e);

#endif
