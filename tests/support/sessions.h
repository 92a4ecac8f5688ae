/* Models, sessions and runs in one line each; what goes wrong on the way fails the test. */
#ifndef TESTS_SUPPORT_SESSIONS_H
#define TESTS_SUPPORT_SESSIONS_H

#include "onnx_writer.h"
#include "tessera.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* The call failed so, and the message has these words. */
void expect_failure(tsr_status status, tsr_status expected, const char *words);
#define EXPECT_OK(call)                                                                            \
    do {                                                                                           \
        tsr_status expect_ok_ = (call);                                                            \
        if (expect_ok_ != TSR_OK)                                                                  \
            fail_msg("%s:%d: %s: %s", __FILE__, __LINE__, tsr_status_name(expect_ok_),             \
                     tsr_last_error());                                                            \
    } while (0)

/* Convolutions, a transposed one, sums over the image, a second input: most kinds of pass. The
 * input x has 3 * 9 * 14 elements, the output y 5 * 18 * 28; r is an inner tensor. */
#define MIXED_NET                                                                                  \
    "Conv x[1,3,9,14] w{8,3,3,3} b{8} -> c pads=1,1,1,1; Relu c -> r; "                            \
    "ConvTranspose r v{8,5,4,4} -> t strides=2,2 pads=1,1,1,1; "                                   \
    "GlobalAveragePool t -> m; Mul t m -> y"

/* Bytes that a tsr_write_fn, append_written(), was given; it fails for more. */
typedef struct written {
    char bytes[1 << 19];
    size_t size;
} written;
bool append_written(void *user, const char *bytes, size_t size);

/* Of what was written; frees the writer. */
tsr_model *load_written(onnx_writer *writer);
/* Of bytes that are read as a caller's file is: large weights stay where they are in it. */
tsr_model *load_as_file(const void *bytes, size_t size);
/* Of onnx_case() text, opset 13. */
tsr_model *make_model(const char *text);
/* The same, loaded with this tsr_model_desc.max_bytes; 0: the default. */
tsr_model *make_limited_model(const char *text, uint64_t max_bytes);
tsr_device *make_device(const tsr_device_desc *desc);
tsr_session *make_session(tsr_device *device, const tsr_model *model, const tsr_session_desc *desc);

/* Fills every input; the seed gives the elements. */
void set_inputs(tsr_session *session, unsigned seed);

typedef struct elements {
    size_t count;
    float *values; /* to be freed */
} elements;

elements get_output(tsr_session *session, const char *name);
/* What the cpu backend computes from the inputs of this seed. */
elements reference_output(const tsr_model *model, const char *name, unsigned seed);
/* Differences relative to the largest expected element; frees neither. */
void expect_close(elements actual, elements expected, double tolerance);
/* get_output() against reference_output(). */
void expect_output(tsr_session *session, const tsr_model *model, const char *name, unsigned seed,
                   double tolerance);
/* Nodes that its report says ran there. */
int nodes_on(tsr_session *session, const char *backend);
/* Passes of the nodes whose operator, with what is fused after it, begins so. */
int count_passes_of(tsr_session *session, const char *op);
/* The report of a session on a GPU backend agrees with its nodes' and with the description. */
void expect_report(tsr_session *session, const char *backend, const tsr_session_desc *desc);

/* Makes, runs and destroys a session of a model with the output y; the seed gives the description,
 * too: every option is on in some. On a GPU backend. */
void live_one_session(tsr_device *device, const tsr_model *model, unsigned seed);
/* Every call on a lost device, and on a session of MIXED_NET there, says so. */
void expect_all_lost(tsr_device *device, const tsr_model *model, tsr_session *session);

#endif
