#include "cpu/call.h"

#include "base/allocator.h"
#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const void *tsr_call_in(const tsr_cpu_call *call, int i) {
    return tsr_node_in(call->graph, call->node, i) ? call->data[call->node->inputs[i]] : NULL;
}

void *tsr_call_out(const tsr_cpu_call *call, int i) {
    return tsr_node_out(call->graph, call->node, i) ? call->data[call->node->outputs[i]] : NULL;
}

const tsr_shape *tsr_call_in_shape(const tsr_cpu_call *call, int i) {
    const tsr_value *value = tsr_node_in(call->graph, call->node, i);
    return value ? &value->shape : NULL;
}

const tsr_shape *tsr_call_out_shape(const tsr_cpu_call *call, int i) {
    const tsr_value *value = tsr_node_out(call->graph, call->node, i);
    return value ? &value->shape : NULL;
}

size_t tsr_call_element_size(const tsr_cpu_call *call) {
    return tsr_stored_size(tsr_node_in(call->graph, call->node, 0)->dtype);
}

void *tsr_cpu_scratch(int64_t count, size_t size) {
    void *memory = NULL;
    if (count >= 0 && (uint64_t)count < SIZE_MAX / 2 / size)
        memory = tsr_malloc((size_t)count * size + !count);
    if (!memory)
        tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "out of memory for %" PRId64 " elements of %zu bytes",
                 count, size);
    return memory;
}

void tsr_call_store_sums(const tsr_cpu_call *call, int64_t first, int64_t count,
                         const double *sums) {
    const tsr_dtype dtype = tsr_node_out(call->graph, call->node, 0)->dtype;
    if (tsr_dtype_is_float(dtype)) {
        float *out = (float *)tsr_call_out(call, 0) + first;
        for (int64_t i = 0; i < count; i++)
            out[i] = (float)sums[i];
        return;
    }
    int64_t *out = (int64_t *)tsr_call_out(call, 0) + first;
    for (int64_t i = 0; i < count; i++)
        out[i] = tsr_dtype_wrap(dtype, (int64_t)sums[i]);
}

void tsr_cpu_strides(const tsr_shape *shape, int64_t stride[TSR_MAX_RANK]) {
    int64_t step = 1;
    for (int i = shape->rank - 1; i >= 0; i--) {
        stride[i] = step;
        step *= shape->dim[i];
    }
}

/* ---- broadcasting ---- */

void tsr_broadcast_begin(tsr_broadcast_iterator *it, const tsr_shape *shape, const tsr_shape *a,
                         const tsr_shape *b) {
    const tsr_shape *operand[2] = {a, b};
    *it = (tsr_broadcast_iterator){.rank = shape->rank};
    memcpy(it->dim, shape->dim, sizeof it->dim);
    for (int k = 0; k < 2; k++) {
        int64_t stride[TSR_MAX_RANK];
        tsr_cpu_strides(operand[k], stride);
        int lead = shape->rank - operand[k]->rank; /* axes that the operand lacks */
        for (int i = 0; i < operand[k]->rank; i++)
            it->stride[k][lead + i] = operand[k]->dim[i] == 1 ? 0 : stride[i];
    }
}

bool tsr_broadcast_next(tsr_broadcast_iterator *it) {
    for (int i = it->rank - 1; i >= 0; i--) {
        bool carry = ++it->index[i] == it->dim[i];
        for (int k = 0; k < 2; k++)
            it->offset[k] += it->stride[k][i] * (carry ? 1 - it->dim[i] : 1);
        if (!carry)
            return true;
        it->index[i] = 0;
    }
    return false;
}

/* ---- index tables ---- */

tsr_status tsr_remap_create(tsr_remap *remap, const tsr_shape *shape) {
    *remap = (tsr_remap){.rank = shape->rank};
    int64_t total = 0;
    for (int i = 0; i < shape->rank; i++) {
        remap->count[i] = shape->dim[i];
        total += shape->dim[i];
    }
    int64_t *table = tsr_cpu_scratch(total, sizeof *table);
    if (!table)
        return TSR_ERROR_OUT_OF_MEMORY;
    remap->offset[0] = table;
    for (int i = 1; i < shape->rank; i++)
        remap->offset[i] = remap->offset[i - 1] + remap->count[i - 1];
    return TSR_OK;
}

/* Copies the elements of one index of the axes before `axis`: base is their input offset,
 * negative for the fill. Returns the end of what was written. */
static char *remap_axis(const tsr_remap *remap, int axis, int64_t base, size_t size, const char *in,
                        const void *fill, char *out) {
    if (axis == remap->rank) {
        memcpy(out, base < 0 ? (const char *)fill : in + (size_t)base * size, size);
        return out + size;
    }
    for (int64_t i = 0; i < remap->count[axis]; i++) {
        int64_t offset = remap->offset[axis][i];
        int64_t next = base < 0 || offset < 0 ? -1 : base + offset;
        out = remap_axis(remap, axis + 1, next, size, in, fill, out);
    }
    return out;
}

void tsr_remap_run(tsr_remap *remap, const tsr_cpu_call *call, const void *fill) {
    remap_axis(remap, 0, 0, tsr_call_element_size(call), tsr_call_in(call, 0), fill,
               tsr_call_out(call, 0));
    tsr_free(remap->offset[0]);
}
