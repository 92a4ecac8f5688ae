/* Custom operators whose functions are JavaScript (custom.mjs). They are added one by one, and
 * belong to the model that is read next. */
#include "web/custom.h"

#include "base/allocator.h"

#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name))) name
#define IMPORT(name) __attribute__((import_module("tessera"), import_name(#name)))

/* Calls the function of operator number `op`: that of shapes, or (computes) of elements; false if
 * it failed, after tsr_web_call_fail(). */
IMPORT(callOperator) bool tsr_web_call_operator(int op, int computes, tsr_custom_call *call);

static tsr_custom_op *ops;
static int count;

static tsr_status call_operator(tsr_custom_call *call, int computes) {
    return tsr_web_call_operator((int)(intptr_t)call->user, computes, call) ? TSR_OK
                                                                            : TSR_ERROR_UNSUPPORTED;
}

static tsr_status find_shape(tsr_custom_call *call) {
    return call_operator(call, 0);
}

static tsr_status compute(tsr_custom_call *call) {
    return call_operator(call, 1);
}

/* texts: name, domain, GLSL and WGSL body (or ""), names of attributes. numbers: operator, least
 * and most inputs, has it a function of shapes?, attributes. The texts and values have to stay
 * until the model was read. False without memory. */
bool EXPORT(tsr_web_add_operator)(const char *texts, const int numbers[5], const float *values) {
    tsr_custom_op *more = tsr_realloc(ops, ((size_t)count + 1) * sizeof *ops);
    tsr_custom_attr *attrs = tsr_calloc((size_t)numbers[4] + 1, sizeof *attrs);
    const char *parts[4];
    if (more)
        ops = more;
    if (!more || !attrs) {
        tsr_free(attrs);
        return false;
    }
    for (int i = 0; i < 4; i++) {
        parts[i] = *texts ? texts : NULL;
        texts += strlen(texts) + 1;
    }
    for (int i = 0; i < numbers[4]; i++) {
        attrs[i] = (tsr_custom_attr){texts, values[i]};
        texts += strlen(texts) + 1;
    }
    ops[count++] = (tsr_custom_op){.name = parts[0],
                                   .domain = parts[1],
                                   .min_inputs = numbers[1],
                                   .max_inputs = numbers[2],
                                   .shape = numbers[3] ? find_shape : NULL,
                                   .compute = compute,
                                   .glsl = parts[2],
                                   .wgsl = parts[3],
                                   .attrs = attrs,
                                   .attr_count = numbers[4],
                                   .user = (void *)(intptr_t)numbers[0]};
    return true;
}

const tsr_custom_op *tsr_web_operators(int *number) {
    *number = count;
    return ops;
}

/* Once the model was read. */
void EXPORT(tsr_web_clear_operators)(void) {
    for (int i = 0; i < count; i++)
        tsr_free((void *)(uintptr_t)ops[i].attrs);
    tsr_free(ops);
    ops = NULL;
    count = 0;
}

/* ---- calls: input i, or the output, which is input -1 -----------------------------------------
 */

static const tsr_shape *shape_of(const tsr_custom_call *call, int i) {
    return i < 0 ? &call->output_shape : &call->input_shape[i];
}

int EXPORT(tsr_web_call_inputs)(const tsr_custom_call *call) {
    return call->input_count;
}

int EXPORT(tsr_web_call_rank)(const tsr_custom_call *call, int i) {
    return shape_of(call, i)->rank;
}

int EXPORT(tsr_web_call_dim)(const tsr_custom_call *call, int i, int axis) {
    return (int)shape_of(call, i)->dim[axis];
}

/* NULL for the function of shapes, and for an input that is absent. */
const float *EXPORT(tsr_web_call_elements)(const tsr_custom_call *call, int i) {
    return i < 0 ? call->output : call->input[i];
}

float EXPORT(tsr_web_call_attribute)(const tsr_custom_call *call, const char *name, float value) {
    return tsr_attr_float(call->node, name, value);
}

void EXPORT(tsr_web_call_set_shape)(tsr_custom_call *call, int rank, const int *dims) {
    call->output_shape.rank = rank;
    for (int axis = 0; axis < rank; axis++)
        call->output_shape.dim[axis] = dims[axis];
}

void EXPORT(tsr_web_call_fail)(const char *message) {
    tsr_fail(TSR_ERROR_UNSUPPORTED, "%s", message);
}
