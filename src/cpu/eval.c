#include "cpu/call.h"

#include "base/allocator.h"
#include "base/error.h"

#include <string.h>

static tsr_cpu_fn *const op_table[TSR_OP_COUNT] = {
#define TSR_OP(Name, stem, ...) [TSR_OP_##Name] = tsr_cpu_##stem,
#define TSR_UNARY(Name, stem, types) [TSR_OP_##Name] = tsr_cpu_unary,
#define TSR_BINARY(Name, stem, kind) [TSR_OP_##Name] = tsr_cpu_binary,
#define TSR_NARY(Name, stem, types) [TSR_OP_##Name] = tsr_cpu_nary,
#define TSR_REDUCE(Name, stem, types) [TSR_OP_##Name] = tsr_cpu_reduce,
#define TSR_VIEW(Name, stem, ...) [TSR_OP_##Name] = tsr_cpu_view,
#define TSR_FUNCTION(Name, ...) /* replaced by src/passes */
#include "graph/ops.def"
};

size_t tsr_cpu_bytes(const tsr_value *value) {
    int64_t count = tsr_shape_count(&value->shape);
    size_t size = tsr_stored_size(value->dtype);
    return count < 0 || (uint64_t)count > SIZE_MAX / size ? SIZE_MAX : (size_t)count * size;
}

void tsr_cpu_store(const tsr_value *value, const float *floats, void *data) {
    int64_t *ints = data, count = tsr_shape_count(&value->shape);
    if (count > 0 && tsr_dtype_is_float(value->dtype)) {
        memcpy(data, floats, tsr_cpu_bytes(value));
        return;
    }
    for (int64_t i = 0; i < count; i++)
        ints[i] = (int64_t)floats[i];
}

void tsr_cpu_load(const tsr_value *value, const void *data, float *floats) {
    const int64_t *ints = data;
    int64_t count = tsr_shape_count(&value->shape);
    if (count > 0 && tsr_dtype_is_float(value->dtype)) {
        memcpy(floats, data, tsr_cpu_bytes(value));
        return;
    }
    for (int64_t i = 0; i < count; i++)
        floats[i] = (float)tsr_dtype_number(value->dtype, ints[i]);
}

/* Is there any element to compute? */
static bool has_work(const tsr_graph *graph, const tsr_node *node) {
    for (int i = 0; i < node->output_count; i++) {
        const tsr_value *out = tsr_node_out(graph, node, i);
        if (out && tsr_shape_count(&out->shape) > 0)
            return true;
    }
    return false;
}

/* other: of as many elements. */
static void add_scaled(const tsr_post *post, const float *other, int64_t count, float *x) {
    for (int64_t i = 0; i < count; i++)
        x[i] += post->param[0] * (other[i] - post->param[1]);
}

static void apply_post(const tsr_cpu_call *call, const tsr_post *post) {
    float *x = tsr_call_out(call, 0);
    const tsr_shape *shape = tsr_call_out_shape(call, 0);
    const int64_t count = tsr_shape_count(shape);
    if (post->operand == TSR_NONE) {
        tsr_cpu_apply_unary(post->op, post->param, x, count, x);
        return;
    }
    const float *other = call->data[post->operand], *a = post->swapped ? other : x,
                *b = post->swapped ? x : other;
    const tsr_shape *other_shape = &call->graph->values[post->operand].shape;
    if (post->scaled)
        add_scaled(post, other, count, x);
    else if (tsr_binary_has_params(post->op))
        tsr_cpu_apply_leaky_relu_grad(post->param[0], a, b, count, x);
    else
        tsr_cpu_apply_binary(post->op, a, post->swapped ? other_shape : shape, b,
                             post->swapped ? shape : other_shape, x, shape);
}

/* Computes the node, without post-ops, of its input 0 after the operator before. */
static tsr_status eval_after(const tsr_cpu_call *call, const tsr_before *before) {
    int input = call->node->inputs[0];
    void *read = call->data[input];
    int64_t count = tsr_shape_count(&call->graph->values[input].shape);
    float *applied = tsr_malloc((size_t)count * sizeof *applied + 1);
    if (!applied)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the result of '%s'",
                        before->node_name);
    tsr_cpu_apply_unary(before->op, before->param, read, count, applied);
    call->data[input] = applied;
    tsr_status status = op_table[call->node->op](call);
    call->data[input] = read;
    tsr_free(applied);
    return status;
}

static tsr_status eval(const tsr_cpu_call *call) {
    const tsr_before *before = call->node->before;
    if (!has_work(call->graph, call->node))
        return TSR_OK;
    TSR_TRY(before ? eval_after(call, before) : op_table[call->node->op](call));
    for (int i = 0; i < call->node->post_count; i++)
        apply_post(call, &call->node->posts[i]);
    return TSR_OK;
}

tsr_status tsr_cpu_eval(const tsr_graph *graph, const tsr_node *node, void **data) {
    tsr_status status = eval(&(tsr_cpu_call){graph, node, data});
    return tsr_fail_context(status, "%s: node '%s' (%s)", graph->file, node->name,
                            tsr_node_op_name(node));
}
