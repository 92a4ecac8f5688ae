/* A GPU backend held against the cpu backend through the public API, one small model at a time. The
 * environment variable TSR_TEST_BACKEND names it: CTest runs every test_gpu_*.c once for each that
 * was built. */
#ifndef TESTS_SUPPORT_BACKENDS_H
#define TESTS_SUPPORT_BACKENDS_H

#include "tessera.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct backend_limits {
    /* 0: the driver's; of backends with textures */
    int max_texture_size, max_draw_buffers, max_uniform_block_bytes;
    bool no_float_targets; /* likewise */
    const char *kernels;
} backend_limits;

typedef struct backend_case {
    int opset;        /* 0: 13 */
    const char *text; /* for onnx_case() */
    /* More outputs, of the model and of the session: names separated by commas, NULL for none. */
    const char *outputs, *extra_outputs;
    float mean, range;    /* inputs lie in mean - range .. mean + range; range 0: 1 */
    int nans, infinities; /* of one in that many elements of the inputs; 0: of none */
    float weights_mean;   /* initializers in braces in weights_mean - 1 .. weights_mean + 1 */
    backend_limits limits;
    tsr_precision precision;
    bool keep_tensors;  /* compare every tensor that both backends kept */
    tsr_status refusal; /* the GPU may fail so instead: TSR_ERROR_LIMIT, TSR_ERROR_UNSUPPORTED */
    const char *reason; /* then the message has these words; NULL: any */
    double tolerance;   /* relative to a tensor's largest element; 0: SUM_TOLERANCE */
} backend_case;

/* A sum of n products in float32 is off by at most n * 2^-24 of the sum of their magnitudes, in
 * practice by a random walk of sqrt(n) such steps while the sum itself grows as sqrt(n) too: a few
 * 2^-24 of the largest element, however long. exp and division of GLSL ES 3.00 and WGSL may add a
 * few units in the last place. 1e-5 leaves room for both; an element read from a wrong place is off
 * by far more. */
#define SUM_TOLERANCE 1e-5
/* Inputs are about 1 large: where they cancel out in every element, their rounding does not. */
#define CANCELLED 0.1
/* Storage of 16 bits rounds inputs and results to 2^-12 each; sums of rounded inputs as above. */
#define HALF_TOLERANCE 4e-3
/* The same of cases made for 32 bits, on a GPU without these: chains of convolutions among them. */
#define HALF_CHAIN_TOLERANCE 6e-3
/* "small" kernels round products and sums of four of them to 16 bits, too. */
#define HALF_PRODUCTS_TOLERANCE 8e-3

/* Ends a test for want of what it needs here: a skip, a failure if TSR_REQUIRE_DRIVER=1. */
void lacking(const char *what);
/* First in every test: the backend under test has to have a device here. */
void need_gpu(void);
/* The same of a test of one backend, whatever the environment says. */
void need_backend(const char *name);
/* The backend under test; gles if the environment names none. */
const char *gpu_backend(void);
/* One device of the backend under test for each set of limits, kept until close_backends(), a
 * group teardown. */
tsr_device *gpu_device(backend_limits limits);
/* Has it render targets of 16-bit floats alone? Then cases have the tolerance of 16 bits, and those
 * with integers may be refused. */
bool gpu_is_half_only(void);
/* Do its tensors lie in textures or in buffers? */
bool gpu_has_textures(void);

/* Cases that only give what other cases run in: limits, precision, whether every tensor is kept. */
typedef struct case_environments {
    int count;
    const backend_case *list;
} case_environments;
/* The given ones on a backend of textures; on one of buffers its own kernels, those of a GPU with
 * every tensor kept, and 16 bits. */
case_environments environments_or_buffers(const backend_case *textures, int count);
/* Does case number i of a test run in environment e of that many? In each; in one of few_cases().
 */
bool runs_in(size_t i, int e, int count);
int close_backends(void **state);

/* Cases are numbered in each test, 0 first. TSR_CASE=N in the environment runs only that one. The
 * number seeds weights and inputs. True if the case ran here, on both backends. A difference is
 * printed in one line and counted. */
bool run_case(const backend_case *c);
/* The number of the next case: seeds what makes up cases at random. */
int next_case(void);
bool is_replay(void); /* TSR_CASE is set */
/* Ends a test: fails it if one of its cases failed. */
void expect_no_failed_case(void);

/* Has a case with a node of this operator run? */
bool was_covered(const char *op);

#endif
