/* The graph of a primitive. */
#include "api/primitive.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cpu/cpu.h"
#include "passes/edit.h"

enum { MAX_INPUTS = 3, MAX_ATTRS = 8 };

typedef struct maker {
    const tsr_primitive_desc *desc;
    tsr_primitive_graph *made;
    tsr_graph *graph;
    tsr_op op;
    int input_count, attr_count;
    int inputs[MAX_INPUTS];
    tsr_attr attrs[MAX_ATTRS];
} maker;

static tsr_status out_of_memory(void) {
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a primitive");
}

/* ---- values ---------------------------------------------------------------------------------- */

static tsr_status add_value(tsr_graph *graph, const char *name, const tsr_shape *shape,
                            int *value) {
    TSR_TRY(tsr_fail_context(tsr_check_tensor_shape(shape), "%s", name));
    *value = tsr_graph_add_value(graph, name);
    if (*value == TSR_NONE)
        return out_of_memory();
    graph->values[*value].shape = *shape;
    return TSR_OK;
}

/* A tensor that is given when the primitive is executed. */
static tsr_status add_tensor(tsr_graph *graph, const char *name, const tsr_shape *shape,
                             int *value) {
    TSR_TRY(add_value(graph, name, shape, value));
    graph->inputs[graph->input_count++] = *value;
    return TSR_OK;
}

static tsr_status add_source(maker *m, const char *name, const tsr_shape *shape, int *value) {
    TSR_TRY(add_tensor(m->graph, name, shape, value));
    m->inputs[m->input_count++] = *value;
    return TSR_OK;
}

/* Another input of the node. */
static tsr_status add_constant(maker *m, const char *name, tsr_dtype dtype, const tsr_shape *shape,
                               const void *data, size_t size) {
    int value;
    TSR_TRY(add_value(m->graph, name, shape, &value));
    size_t count = (size_t)tsr_shape_count(shape);
    void *copy = tsr_arena_alloc(m->graph->arena, count, size);
    if (!copy)
        return out_of_memory();
    memcpy(copy, data, count * size);
    m->graph->values[value].dtype = dtype;
    m->graph->values[value].data = copy;
    m->inputs[m->input_count++] = value;
    return TSR_OK;
}

static tsr_status add_weights(maker *m, const char *name, const tsr_primitive_weights *weights) {
    return add_constant(m, name, TSR_DTYPE_F32, &weights->shape, weights->data,
                        sizeof *weights->data);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void add_int(maker *m, const char *name, int64_t i) {
    m->attrs[m->attr_count++] = (tsr_attr){.name = name, .kind = TSR_ATTR_INT, .i = i};
}

static void add_float(maker *m, const char *name, float f) {
    m->attrs[m->attr_count++] = (tsr_attr){.name = name, .kind = TSR_ATTR_FLOAT, .f = f};
}

/* One of a window's lists, for each spatial axis; `instead` of 0. */
static tsr_status add_axes(maker *m, const char *name, const int64_t *first, const int64_t *second,
                           int64_t instead) {
    int axes = m->desc->source.rank - 2, count = second ? 2 * axes : axes;
    int64_t *ints = TSR_NEW(m->graph->arena, count, int64_t);
    if (!ints)
        return out_of_memory();
    for (int i = 0; i < count; i++) {
        int64_t given = i < axes ? first[i] : second[i - axes];
        ints[i] = given ? given : instead;
    }
    m->attrs[m->attr_count++] =
        (tsr_attr){.name = name, .kind = TSR_ATTR_INTS, .count = count, .ints = ints};
    return TSR_OK;
}

static tsr_status add_window(maker *m) {
    const tsr_primitive_window *w = &m->desc->window;
    int rank = m->desc->source.rank;
    if (rank < 3 || rank > 5)
        return tsr_fail(TSR_ERROR_SHAPE,
                        "source %s has no window: it needs one to three axes after its channels",
                        tsr_shape_text(&m->desc->source));
    TSR_TRY(add_axes(m, "strides", w->strides, NULL, 1));
    TSR_TRY(add_axes(m, "dilations", w->dilations, NULL, 1));
    return add_axes(m, "pads", w->pads_begin, w->pads_end, 0);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static tsr_status require(bool given, bool needed, const char *what) {
    if (given == needed)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: this kind of primitive %s", what,
                    needed ? "needs them" : "has none");
}

static tsr_status make_convolution(maker *m) {
    const tsr_primitive_desc *d = m->desc;
    bool is_transposed = d->kind == TSR_PRIMITIVE_CONV_TRANSPOSE;
    m->op = is_transposed ? TSR_OP_ConvTranspose : TSR_OP_Conv;
    TSR_TRY(require(d->weights.data, true, "weights"));
    TSR_TRY(add_weights(m, "weights", &d->weights));
    if (d->bias.data)
        TSR_TRY(add_weights(m, "bias", &d->bias));
    TSR_TRY(add_window(m));
    if (is_transposed)
        TSR_TRY(add_axes(m, "output_padding", d->window.output_padding, NULL, 0));
    add_int(m, "group", d->window.group ? d->window.group : 1);
    return TSR_OK;
}

static tsr_status make_matmul(maker *m) {
    m->op = TSR_OP_MatMul;
    return m->desc->weights.data ? add_weights(m, "weights", &m->desc->weights)
                                 : add_source(m, "other", &m->desc->other, &m->made->other);
}

/* One of the operators of these names; op: of the description. */
static tsr_status find_op(maker *m, const tsr_op *ops, int count) {
    for (int i = 0; m->desc->op && i < count; i++)
        if (!strcmp(m->desc->op, tsr_op_get_info(ops[i])->name)) {
            m->op = ops[i];
            return TSR_OK;
        }
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "op: this kind of primitive has no operator '%s'",
                    m->desc->op ? m->desc->op : "(NULL)");
}

static tsr_status make_pool(maker *m) {
    static const tsr_op pools[] = {TSR_OP_MaxPool, TSR_OP_AveragePool, TSR_OP_GlobalMaxPool,
                                   TSR_OP_GlobalAveragePool};
    TSR_TRY(find_op(m, pools, 4));
    if (m->op == TSR_OP_GlobalMaxPool || m->op == TSR_OP_GlobalAveragePool)
        return TSR_OK;
    TSR_TRY(add_window(m));
    TSR_TRY(add_axes(m, "kernel_shape", m->desc->window.kernel, NULL, 0));
    add_int(m, "ceil_mode", m->desc->window.ceil_mode);
    if (m->op == TSR_OP_AveragePool)
        add_int(m, "count_include_pad", m->desc->window.count_include_pad);
    return TSR_OK;
}

static tsr_status make_eltwise(maker *m) {
    const tsr_shape scalar = {.rank = 0};
    float param[2];
    int count, next = 0;
    TSR_TRY(tsr_find_eltwise(m->desc->op, (float[]){m->desc->alpha, m->desc->beta}, &m->op, param));
    const tsr_attr_info *attrs = tsr_op_attrs(m->op, &count);
    for (int i = 0; i < count && next < 2; i++)
        if (attrs[i].is_param)
            add_float(m, attrs[i].name, param[next++]);
    if (m->op != TSR_OP_Clip)
        return TSR_OK;
    TSR_TRY(add_constant(m, "min", TSR_DTYPE_F32, &scalar, &param[0], sizeof *param));
    return add_constant(m, "max", TSR_DTYPE_F32, &scalar, &param[1], sizeof *param);
}

static tsr_status make_binary(maker *m) {
    TSR_TRY(tsr_find_binary(m->desc->op, &m->op));
    if (m->op == TSR_OP_Mod)
        add_int(m, "fmod", 1);
    return add_source(m, "other", &m->desc->other, &m->made->other);
}

static tsr_status make_reduction(maker *m) {
    static const tsr_op reductions[] = {
#define TSR_REDUCE(Name, stem, types) TSR_OP_##Name,
#include "graph/ops.def"
    };
    const tsr_primitive_desc *d = m->desc;
    const tsr_shape list = {1, {d->axis_count}};
    TSR_TRY(find_op(m, reductions, sizeof reductions / sizeof *reductions));
    if (d->axis_count < 0 || d->axis_count > TSR_MAX_RANK)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "axis_count is %d", d->axis_count);
    add_int(m, "keepdims", !d->drop_axes);
    if (d->axis_count == 0)
        return TSR_OK;
    return add_constant(m, "axes", TSR_DTYPE_I64, &list, d->axes, sizeof *d->axes);
}

static const struct {
    const char *name;
    tsr_status (*make)(maker *m);
    bool has_op, has_weights, has_bias, has_params;
} kinds[] = {
    [TSR_PRIMITIVE_CONV] = {"conv", make_convolution, .has_weights = true, .has_bias = true},
    [TSR_PRIMITIVE_CONV_TRANSPOSE] = {"conv_transpose", make_convolution, .has_weights = true,
                                      .has_bias = true},
    [TSR_PRIMITIVE_MATMUL] = {"matmul", make_matmul, .has_weights = true},
    [TSR_PRIMITIVE_POOL] = {"pool", make_pool, .has_op = true},
    [TSR_PRIMITIVE_ELTWISE] = {"eltwise", make_eltwise, .has_op = true, .has_params = true},
    [TSR_PRIMITIVE_BINARY] = {"binary", make_binary, .has_op = true},
    [TSR_PRIMITIVE_REDUCTION] = {"reduction", make_reduction, .has_op = true},
};

/* Does the description have what another kind has? */
static tsr_status check_unused(const tsr_primitive_desc *d) {
    bool has_params = (d->alpha != 0 && !isnan(d->alpha)) || (d->beta != 0 && !isnan(d->beta));
    if (!kinds[d->kind].has_op)
        TSR_TRY(require(d->op, false, "op"));
    if (!kinds[d->kind].has_weights)
        TSR_TRY(require(d->weights.data, false, "weights"));
    if (!kinds[d->kind].has_bias)
        TSR_TRY(require(d->bias.data, false, "bias"));
    return kinds[d->kind].has_params ? TSR_OK : require(has_params, false, "alpha, beta");
}

/* ---- post-ops -------------------------------------------------------------------------------- */

/* LeakyReluGrad, of a session's chain, has an operand of the result's shape. */
static tsr_status check_broadcast(tsr_op op, const tsr_shape *operand, const tsr_shape *result) {
    tsr_shape both = *operand;
    if ((op == TSR_OP_LeakyReluGrad || tsr_broadcast(operand, result, &both) == TSR_OK) &&
        tsr_shape_equal(&both, result))
        return TSR_OK;
    return tsr_fail(TSR_ERROR_SHAPE, "an operand of shape %s cannot be broadcast to %s",
                    tsr_shape_text(operand), tsr_shape_text(result));
}

static tsr_status find_slopes(unsigned mask, const tsr_shape *result, tsr_shape *slopes) {
    if (mask >> result->rank)
        return tsr_fail(TSR_ERROR_SHAPE, "mask 0x%x: the result is %s", mask,
                        tsr_shape_text(result));
    slopes->rank = result->rank;
    for (int i = 0; i < result->rank; i++)
        slopes->dim[i] = mask >> i & 1 ? result->dim[i] : 1;
    return TSR_OK;
}

/* One input for all sums. */
static tsr_status find_before(tsr_primitive_graph *made, const tsr_shape *result) {
    return made->before == TSR_NONE
               ? add_tensor(made->graph, "destination before", result, &made->before)
               : TSR_OK;
}

/* Post-op i. */
static tsr_status make_post(tsr_primitive_graph *made, const tsr_post_ops *posts, int i,
                            tsr_post *post) {
    const tsr_post_op *given = &posts->list[i];
    const tsr_shape result = made->graph->values[made->destination].shape;
    tsr_shape operand = given->operand;
    *post = (tsr_post){.op = posts->ops[i],
                       .param = {given->alpha, given->beta},
                       .operand = TSR_NONE,
                       .swapped = given->swapped,
                       .node_name = tsr_arena_printf(made->graph->arena, "post-op %d", i)};
    if (!post->node_name)
        return out_of_memory();
    switch (given->kind) {
    case TSR_POST_OP_ELTWISE:
        return TSR_OK;
    case TSR_POST_OP_SUM:
        post->scaled = true;
        post->param[0] = given->scale;
        post->param[1] = given->zero_point;
        TSR_TRY(find_before(made, &result));
        post->operand = made->before;
        return TSR_OK;
    case TSR_POST_OP_PRELU:
        TSR_TRY(find_slopes(given->mask, &result, &operand));
        break;
    case TSR_POST_OP_BINARY:
        TSR_TRY(check_broadcast(post->op, &operand, &result));
        break;
    default:
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "no kernel computes a depthwise convolution with what is before it: make "
                        "it a primitive of its own, with the post-ops that follow");
    }
    TSR_TRY(add_tensor(made->graph, post->node_name, &operand, &made->operands[i]));
    post->operand = made->operands[i];
    return TSR_OK;
}

static tsr_status add_posts(tsr_primitive_graph *made, const tsr_post_ops *posts) {
    tsr_node *node = tsr_primitive_node(made);
    int count = tsr_post_ops_length(posts);
    node->posts = TSR_NEW(made->graph->arena, count, tsr_post);
    if (!node->posts)
        return out_of_memory();
    for (int i = 0; i < count; i++)
        TSR_TRY(tsr_fail_context(make_post(made, posts, i, &node->posts[i]), "post-op %d (%s)", i,
                                 posts->list[i].op));
    node->post_count = count;
    return TSR_OK;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

tsr_node *tsr_primitive_node(const tsr_primitive_graph *primitive) {
    const tsr_graph *graph = primitive->graph;
    return &graph->nodes[graph->values[primitive->destination].producer];
}

/* An empty graph with room for its inputs, and a destination. */
static tsr_status begin(tsr_primitive_graph *made) {
    *made = (tsr_primitive_graph){.graph = tsr_graph_create("primitive"),
                                  .source = TSR_NONE,
                                  .other = TSR_NONE,
                                  .destination = TSR_NONE,
                                  .before = TSR_NONE};
    for (int i = 0; i < TSR_MAX_POST_OPS; i++)
        made->operands[i] = TSR_NONE;
    tsr_graph *graph = made->graph;
    if (!graph)
        return out_of_memory();
    graph->max_bytes = tsr_memory_bytes();
    made->destination = tsr_graph_add_value(graph, "destination");
    graph->inputs = TSR_NEW(graph->arena, TSR_MAX_POST_OPS + MAX_INPUTS, int);
    graph->outputs = TSR_NEW(graph->arena, 1, int);
    graph->nodes = TSR_NEW(graph->arena, 1, tsr_node);
    if (made->destination == TSR_NONE || !graph->inputs || !graph->outputs || !graph->nodes)
        return out_of_memory();
    graph->outputs[graph->output_count++] = made->destination;
    return TSR_OK;
}

static tsr_status add_node(maker *m) {
    tsr_node *node = &m->graph->nodes[0];
    TSR_TRY(tsr_make_node(m->graph, kinds[m->desc->kind].name, m->op, m->inputs, m->input_count,
                          m->made->destination, node));
    node->attrs = TSR_NEW(m->graph->arena, m->attr_count, tsr_attr);
    if (!node->attrs)
        return out_of_memory();
    memcpy(node->attrs, m->attrs, (size_t)m->attr_count * sizeof *m->attrs);
    node->attr_count = m->attr_count;
    m->graph->node_count = 1;
    m->graph->values[m->made->destination].producer = 0;
    return TSR_OK;
}

tsr_status tsr_primitive_graph_make(const tsr_primitive_desc *desc, bool decompose,
                                    tsr_primitive_graph *made) {
    TSR_TRY(begin(made));
    if ((unsigned)desc->kind >= sizeof kinds / sizeof *kinds)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "there is no kind %d", (int)desc->kind);
    maker m = {.desc = desc, .made = made, .graph = made->graph};
    TSR_TRY(check_unused(desc));
    TSR_TRY(add_source(&m, "source", &desc->source, &made->source));
    TSR_TRY(kinds[desc->kind].make(&m));
    TSR_TRY(add_node(&m));
    TSR_TRY(tsr_prepare(made->graph, tsr_cpu_eval, NULL));
    TSR_TRY(tsr_check_tensor_shape(&made->graph->values[made->destination].shape));
    if (decompose)
        TSR_TRY(tsr_pass_decompose(made->graph));
    return add_posts(made, desc->posts);
}
