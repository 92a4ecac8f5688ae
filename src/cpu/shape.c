/* Views, Dropout, Cast, and Shape. */
#include "cpu/call.h"

#include "base/half.h"

#include <string.h>

tsr_status tsr_cpu_view(const tsr_cpu_call *call) {
    memcpy(tsr_call_out(call, 0), tsr_call_in(call, 0),
           tsr_cpu_bytes(tsr_node_out(call->graph, call->node, 0)));
    return TSR_OK;
}

/* In inference: a copy, and a mask of ones. */
tsr_status tsr_cpu_dropout(const tsr_cpu_call *call) {
    int64_t *mask = tsr_call_out(call, 1), count = tsr_shape_count(tsr_call_out_shape(call, 0));
    for (int64_t i = 0; mask && i < count; i++)
        mask[i] = 1;
    return tsr_cpu_view(call);
}

/* ---- Cast ---- */

static float float_of(tsr_dtype dtype, float x) {
    return dtype == TSR_DTYPE_F16    ? tsr_round_to_half(x)
           : dtype == TSR_DTYPE_BF16 ? tsr_bfloat16_to_float(tsr_float_to_bfloat16(x))
                                     : x;
}

tsr_status tsr_cpu_cast(const tsr_cpu_call *call) {
    tsr_dtype from = tsr_node_in(call->graph, call->node, 0)->dtype;
    tsr_dtype to = tsr_node_out(call->graph, call->node, 0)->dtype;
    int64_t count = tsr_shape_count(tsr_call_out_shape(call, 0));
    const float *x_float = tsr_call_in(call, 0);
    const int64_t *x_int = tsr_call_in(call, 0);
    float *y_float = tsr_call_out(call, 0);
    int64_t *y_int = tsr_call_out(call, 0);
    bool from_float = tsr_dtype_is_float(from), to_float = tsr_dtype_is_float(to);
    if (from_float &&
        (to == TSR_DTYPE_F32 || to == TSR_DTYPE_F64)) { /* all are stored in 32 bits */
        memcpy(y_float, x_float, (size_t)count * sizeof *y_float);
        return TSR_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        if (to_float)
            y_float[i] =
                float_of(to, from_float ? x_float[i] : (float)tsr_dtype_number(from, x_int[i]));
        else
            y_int[i] =
                from_float ? tsr_dtype_int_of_float(to, x_float[i]) : tsr_dtype_wrap(to, x_int[i]);
    }
    return TSR_OK;
}

/* ---- BitCast ---- */

/* An element's bits are those that it has in a file. */
tsr_status tsr_cpu_bit_cast(const tsr_cpu_call *call) {
    tsr_dtype from = tsr_node_in(call->graph, call->node, 0)->dtype;
    tsr_dtype to = tsr_node_out(call->graph, call->node, 0)->dtype;
    size_t from_size = tsr_stored_size(from), to_size = tsr_stored_size(to);
    int64_t count = tsr_shape_count(tsr_call_out_shape(call, 0));
    const char *x = tsr_call_in(call, 0);
    char *y = tsr_call_out(call, 0);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        tsr_dtype_store(from, x + (size_t)i * from_size, 1, &bits);
        tsr_dtype_load(to, &bits, 1, y + (size_t)i * to_size);
    }
    return TSR_OK;
}

/* ---- Shape ---- */

tsr_status tsr_cpu_shape(const tsr_cpu_call *call) {
    const tsr_shape *shape = tsr_call_in_shape(call, 0);
    int64_t start = tsr_attr_int(call->node, "start", 0);
    if (start < 0)
        start += shape->rank;
    int64_t *out = tsr_call_out(call, 0), count = tsr_call_out_shape(call, 0)->dim[0];
    for (int64_t i = 0; i < count; i++)
        out[i] = shape->dim[(start < 0 ? 0 : start) + i];
    return TSR_OK;
}
