/* Cases of operators, each in several environments: the driver's limits, fewer render targets and
 * textures so small that tensors of more than 32 rows or columns wrap, where there are textures;
 * kernels with workgroup memory, every tensor kept, where there are buffers; 16-bit storage. */
#ifndef TESTS_SUPPORT_OP_CASES_H
#define TESTS_SUPPORT_OP_CASES_H

#include "support/backends.h"

typedef struct op_case {
    int opset;
    const char *text;
    float mean, range, weights_mean; /* as in backend_case */
    int nans, infinities;            /* as in backend_case */
    double tolerance;
    bool big;     /* does not fit the small textures */
    bool no_half; /* 16 bits are too few for it */
} op_case;

#define CASE(number, ...)                                                                          \
    { .opset = number, .text = __VA_ARGS__ }

/* Has the operator that the text begins with jumps, poles or slopes where rounding to 16 bits
 * shows? */
bool is_steep(const char *text);

/* A whole test: every case in every environment; in one where there are to be few_cases(). */
void run_op_cases(const op_case *cases, size_t count);
#define RUN_CASES(cases) run_op_cases(cases, sizeof(cases) / sizeof *(cases))

/* A case made up by a loop, in one environment, which its text decides, or in all: all_cases(). Of
 * few_cases() the texts choose a quarter. c gives all but the text. */
void check(op_case c, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define OPSET(number) ((op_case){.opset = number})

#endif
