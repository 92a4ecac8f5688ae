/* Concat and Split, of elements of any type. */
#include "cpu/call.h"

#include "base/error.h"

#include <string.h>

tsr_status tsr_cpu_concat(const tsr_cpu_call *call) {
    const tsr_shape *out_shape = tsr_call_out_shape(call, 0);
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(call->node, "axis", 0), out_shape->rank, &axis));
    size_t size = tsr_call_element_size(call);
    char *out = tsr_call_out(call, 0);
    int64_t outer = tsr_dim_product(out_shape, 0, axis);
    for (int64_t o = 0; o < outer; o++) {
        for (int i = 0; i < call->node->input_count; i++) {
            const tsr_shape *shape = tsr_call_in_shape(call, i);
            size_t bytes = (size_t)tsr_dim_product(shape, axis, shape->rank) * size;
            if (bytes)
                memcpy(out, (const char *)tsr_call_in(call, i) + (size_t)o * bytes, bytes);
            out += bytes;
        }
    }
    return TSR_OK;
}

tsr_status tsr_cpu_split(const tsr_cpu_call *call) {
    const tsr_shape *in_shape = tsr_call_in_shape(call, 0);
    int axis;
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(call->node, "axis", 0), in_shape->rank, &axis));
    size_t size = tsr_call_element_size(call);
    const char *in = tsr_call_in(call, 0);
    int64_t outer = tsr_dim_product(in_shape, 0, axis);
    for (int64_t o = 0; o < outer; o++) {
        for (int i = 0; i < call->node->output_count; i++) {
            const tsr_shape *shape = tsr_call_out_shape(call, i);
            size_t bytes = (size_t)tsr_dim_product(shape, axis, shape->rank) * size;
            if (bytes)
                memcpy((char *)tsr_call_out(call, i) + (size_t)o * bytes, in, bytes);
            in += bytes;
        }
    }
    return TSR_OK;
}
