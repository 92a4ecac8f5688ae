#include "gpu/lower.h"

#include "base/error.h"

#include <limits.h>

tsr_lower_fn *const tsr_gpu_lower[TSR_OP_COUNT] = {
#define TSR_OP(Name, stem, ...) [TSR_OP_##Name] = tsr_lower_##stem,
#define TSR_UNARY(Name, stem, types) [TSR_OP_##Name] = tsr_lower_unary,
#define TSR_BINARY(Name, stem) [TSR_OP_##Name] = tsr_lower_binary,
#define TSR_VIEW(Name, stem, ...) [TSR_OP_##Name] = tsr_lower_view,
#define TSR_FOLDED(Name, stem, ...) /* removed by src/passes */
#include "graph/ops.def"
};

float tsr_const_float(const tsr_graph *graph, const tsr_node *node, int input, float otherwise) {
    const tsr_value *value = tsr_node_in(graph, node, input);
    return value && value->data ? *(const tsr_loose_float *)value->data : otherwise;
}

/* Rows follow each other in memory, so kernels that read a buffer need not know about them. */
static int buffer_blocks(tsr_plan *plan, tsr_pass *pass, int block, int64_t count) {
    if (count > INT_MAX / block ||
        (uint64_t)count * (uint64_t)block * 16 > plan->limits.max_buffer_bytes) {
        tsr_plan_fail(plan,
                      tsr_fail(TSR_LIMIT,
                               "weights of %lld texels need a buffer of %lld bytes, the device "
                               "binds at most %llu",
                               (long long)count * block, (long long)count * block * 16,
                               (unsigned long long)plan->limits.max_buffer_bytes));
        return 0;
    }
    pass->table_w = block * (int)count;
    pass->table_h = 1;
    return 30;
}

int tsr_table_blocks(tsr_plan *plan, tsr_pass *pass, int block, int64_t count) {
    int limit = plan->limits.max_texture_size, log2 = 0;
    if (plan->limits.max_buffer_bytes)
        return buffer_blocks(plan, pass, block, count);
    while (((int64_t)block << (log2 + 1)) <= limit &&
           ((int64_t)1 << log2) * ((int64_t)block << log2) < count)
        log2++;
    int64_t height = (count + ((int64_t)1 << log2) - 1) >> log2;
    if (block > limit || height > limit) {
        tsr_plan_fail(plan, tsr_fail(TSR_LIMIT, "%lld weight texels fit no texture of %d x %d",
                                     (long long)count * block, limit, limit));
        return 0;
    }
    pass->table_w = block << log2;
    pass->table_h = (int)height;
    return log2;
}

int tsr_sliced_output(tsr_plan *plan, int output, int64_t count) {
    const tsr_layout l = *tsr_plan_layout(plan, output);
    const tsr_shape shape = {4, {count * l.n, l.c, l.h, l.w}};
    return count == 1
               ? output
               : tsr_plan_tensor_make(plan, &shape, (tsr_layout_wish){l.planes, l.spread, false});
}

tsr_pass *tsr_add_slices(tsr_plan *plan, tsr_pass *pass, int output, int64_t count) {
    if (count == 1)
        return pass;
    int sums = pass->output;
    tsr_pass *add = tsr_plan_pass(plan, "slices", output);
    tsr_pass_ints(add, "slices", (int)count, 0, 0, 0);
    tsr_pass_source(plan, add, sums);
    return add;
}

void tsr_lower_per_channel(tsr_plan *plan, tsr_pass *pass, tsr_op op, const tsr_node *node,
                           int input) {
    const tsr_value *v = tsr_node_in(plan->graph, node, input);
    if (!v)
        return;
    tsr_shape shape = {4, {1, v->shape.dim[0], 1, 1}};
    tsr_pass_post_binary(plan, pass, op, tsr_plan_constant(plan, &shape, v->data), false);
}

void tsr_lower_window(tsr_pass *pass, const char *name, const tsr_window *w, int axis) {
    tsr_pass_ints(pass, name, (int)w->kernel[axis], (int)w->stride[axis], (int)w->dilation[axis],
                  (int)w->pad_begin[axis]);
}
