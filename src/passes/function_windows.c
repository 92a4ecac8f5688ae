/* Windows of signals: a constant, since their length is. */
#include "passes/functions.h"

#include "base/error.h"
#include "graph/rules.h"

#include <math.h>

/* a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n); n is the length if the window is periodic, and one
 * less if it is symmetric. */
static void build_window(tsr_builder *b, double a0, double a1, double a2) {
    const double two_pi = 6.283185307179586;
    const int64_t *length;
    int64_t count;
    tsr_dtype dtype = TSR_DTYPE_F32;
    int64_t number = tsr_attr_int(b->node, "output_datatype", tsr_dtype_to_onnx(dtype));
    tsr_build_fail(b, tsr_node_const_ints(b->graph, b->node, 0, &length, &count));
    if (b->status == TSR_OK && (count != 1 || *length < 0 || *length > TSR_MAX_DIM))
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "a length of %lld",
                                   count == 1 ? (long long)*length : -1LL));
    if (b->status == TSR_OK && (!tsr_dtype_from_onnx(number, &dtype) || !tsr_dtype_is_float(dtype)))
        tsr_build_fail(b, tsr_fail(TSR_ERROR_UNSUPPORTED,
                                   "output_datatype %lld: only floating "
                                   "types are supported",
                                   (long long)number));
    float *elements = b->status == TSR_OK ? tsr_build_elements(b, *length, sizeof *elements) : NULL;
    if (!elements)
        return;
    double n = (double)*length - (tsr_attr_int(b->node, "periodic", 1) ? 0 : 1);
    for (int64_t i = 0; i < *length; i++) {
        double angle = n > 0 ? two_pi * (double)i / n : 0;
        elements[i] = (float)(a0 - a1 * cos(angle) + a2 * cos(2 * angle));
    }
    TSR_BUILD(b, TSR_OP_Identity,
              tsr_add_constant(b->graph, b->node->name, "window", dtype, &(tsr_shape){1, {*length}},
                               elements));
}

void tsr_build_hann_window(tsr_builder *b) {
    build_window(b, 0.5, 0.5, 0);
}

void tsr_build_hamming_window(tsr_builder *b) {
    build_window(b, 25.0 / 46, 21.0 / 46, 0);
}

void tsr_build_blackman_window(tsr_builder *b) {
    build_window(b, 0.42, 0.5, 0.08);
}
