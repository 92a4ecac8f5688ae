#include "api/post_ops.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "graph/rules.h"
#include "api/session.h"
#include "api/sized.h"

/* ---- operators ------------------------------------------------------------------------------- */

/* Of floats, with one result; of two inputs, without params. */
static tsr_op find_post_op(const char *name, int inputs) {
    tsr_op op = tsr_op_find(name);
    if (op == TSR_OP_COUNT || !tsr_op_has(op, TSR_IS_POST_OP))
        return TSR_OP_COUNT;
    const tsr_op_info *info = tsr_op_get_info(op);
    bool is_pair = op == TSR_OP_Max || op == TSR_OP_Min ||
                   (info->min_inputs == 2 && !tsr_binary_has_params(op));
    bool is_single = op == TSR_OP_Clip || info->max_inputs == 1;
    return (inputs == 1 ? is_single : is_pair) ? op : TSR_OP_COUNT;
}

/* The operator's parameters with their defaults; at most two. */
static int list_params(tsr_op op, const char *names[2], float defaults[2]) {
    int count, found = 0;
    const tsr_attr_info *attrs = tsr_op_attrs(op, &count);
    for (int i = 0; i < count && found < 2; i++)
        if (attrs[i].is_param) {
            names[found] = attrs[i].name;
            defaults[found++] = attrs[i].default_value;
        }
    if (op != TSR_OP_Clip) /* whose bounds are inputs */
        return found;
    names[0] = "min";
    names[1] = "max";
    defaults[0] = -FLT_MAX;
    defaults[1] = FLT_MAX;
    return 2;
}

tsr_status tsr_find_eltwise(const char *name, const float given[2], tsr_op *op, float param[2]) {
    static const char *const members[2] = {"alpha", "beta"};
    const char *names[2];
    float defaults[2];
    if (!name || (*op = find_post_op(name, 1)) == TSR_OP_COUNT)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "'%s' is no operator of one tensor of floats that a post-op can be",
                        name ? name : "(NULL)");
    int count = list_params(*op, names, defaults);
    for (int i = 0; i < 2; i++) {
        if (i >= count && given[i] != 0 && !isnan(given[i]))
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s has no %s: it is neither 0 nor NaN",
                            name, members[i]);
        if (isinf(given[i]) && *op != TSR_OP_Clip)
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s (%s) is not finite", name,
                            members[i], names[i]);
        param[i] = i >= count ? 0 : isnan(given[i]) ? defaults[i] : given[i];
        if (*op == TSR_OP_Clip)
            param[i] = fmaxf(-FLT_MAX, fminf(param[i], FLT_MAX));
    }
    return TSR_OK;
}

tsr_status tsr_find_binary(const char *name, tsr_op *op) {
    if (!name || (*op = find_post_op(name, 2)) == TSR_OP_COUNT)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "'%s' is no operator of two tensors of floats that a post-op can be",
                        name ? name : "(NULL)");
    return TSR_OK;
}

tsr_status tsr_check_tensor_shape(const tsr_shape *shape) {
    const int64_t most = PTRDIFF_MAX / (int64_t)sizeof(int64_t);
    if (shape->rank < 0 || shape->rank > TSR_MAX_RANK)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "a shape of rank %d: it can be 0 to %d",
                        shape->rank, TSR_MAX_RANK);
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] < 1 || shape->dim[i] > TSR_MAX_DIM)
            return tsr_fail(TSR_ERROR_SHAPE, "shape %s: axis %d has no size that a tensor can have",
                            tsr_shape_text(shape), i);
    int64_t count = tsr_shape_count(shape);
    if (count < 0 || count > most)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "a tensor of shape %s is too large",
                        tsr_shape_text(shape));
    return TSR_OK;
}

/* ---- chains ---------------------------------------------------------------------------------- */

static tsr_post_ops *make_chain(void) {
    tsr_post_ops *made = tsr_calloc(1, sizeof *made);
    if (!made)
        tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a chain of post-ops");
    return made;
}

tsr_status tsr_post_ops_create(tsr_post_ops **posts) {
    if (!posts)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_post_ops_create: posts is NULL");
    *posts = make_chain();
    return *posts ? TSR_OK : TSR_ERROR_OUT_OF_MEMORY;
}

void tsr_post_ops_destroy(tsr_post_ops *posts) {
    if (!posts)
        return;
    tsr_free(posts->names);
    tsr_free(posts);
}

static tsr_status check_room(const tsr_post_ops *posts, const char *function) {
    if (!posts)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: posts is NULL", function);
    if (posts->count == TSR_MAX_POST_OPS)
        return tsr_fail(TSR_ERROR_LIMIT, "%s: a chain has at most %d post-ops", function,
                        TSR_MAX_POST_OPS);
    return TSR_OK;
}

static void append(tsr_post_ops *posts, tsr_op op, tsr_post_op post) {
    post.op = tsr_op_get_info(op)->name;
    if (post.kind != TSR_POST_OP_BINARY)
        post.operand.rank = -1;
    posts->ops[posts->count] = op;
    posts->list[posts->count++] = post;
}

tsr_status tsr_post_ops_append_eltwise(tsr_post_ops *posts, const char *op, float alpha,
                                       float beta) {
    tsr_op found;
    float param[2];
    TSR_TRY(check_room(posts, "tsr_post_ops_append_eltwise"));
    TSR_TRY(tsr_fail_context(tsr_find_eltwise(op, (float[]){alpha, beta}, &found, param),
                             "tsr_post_ops_append_eltwise"));
    append(posts, found,
           (tsr_post_op){.kind = TSR_POST_OP_ELTWISE, .alpha = param[0], .beta = param[1]});
    return TSR_OK;
}

tsr_status tsr_post_ops_append_sum(tsr_post_ops *posts, float scale, float zero_point) {
    TSR_TRY(check_room(posts, "tsr_post_ops_append_sum"));
    if (!isfinite(scale) || !isfinite(zero_point))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_post_ops_append_sum: %s is not finite",
                        isfinite(scale) ? "zero_point" : "scale");
    append(posts, TSR_OP_Add,
           (tsr_post_op){.kind = TSR_POST_OP_SUM, .scale = scale, .zero_point = zero_point});
    return TSR_OK;
}

tsr_status tsr_post_ops_append_binary(tsr_post_ops *posts, const char *op, const tsr_shape *operand,
                                      bool swapped) {
    tsr_op found;
    TSR_TRY(check_room(posts, "tsr_post_ops_append_binary"));
    if (!operand)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_post_ops_append_binary: operand is NULL");
    TSR_TRY(tsr_fail_context(tsr_find_binary(op, &found), "tsr_post_ops_append_binary"));
    TSR_TRY(tsr_fail_context(tsr_check_tensor_shape(operand), "tsr_post_ops_append_binary"));
    append(posts, found,
           (tsr_post_op){.kind = TSR_POST_OP_BINARY, .operand = *operand, .swapped = swapped});
    return TSR_OK;
}

tsr_status tsr_post_ops_append_prelu(tsr_post_ops *posts, unsigned mask) {
    TSR_TRY(check_room(posts, "tsr_post_ops_append_prelu"));
    if (mask >> TSR_MAX_RANK)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_post_ops_append_prelu: mask 0x%x has bits for more than %d axes", mask,
                        TSR_MAX_RANK);
    append(posts, TSR_OP_PRelu, (tsr_post_op){.kind = TSR_POST_OP_PRELU, .mask = mask});
    return TSR_OK;
}

tsr_status tsr_post_ops_append_depthwise_conv(tsr_post_ops *posts, int64_t kernel, int64_t stride,
                                              int64_t padding) {
    TSR_TRY(check_room(posts, "tsr_post_ops_append_depthwise_conv"));
    if (kernel < 1 || stride < 1 || padding < 0 || kernel > TSR_MAX_DIM || stride > TSR_MAX_DIM ||
        padding > TSR_MAX_DIM)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_post_ops_append_depthwise_conv: kernel %" PRId64 ", stride %" PRId64
                        ", padding %" PRId64,
                        kernel, stride, padding);
    append(posts, TSR_OP_Conv,
           (tsr_post_op){.kind = TSR_POST_OP_DEPTHWISE_CONV,
                         .kernel = kernel,
                         .stride = stride,
                         .padding = padding});
    return TSR_OK;
}

int tsr_post_ops_length(const tsr_post_ops *posts) {
    return posts ? posts->count : 0;
}

tsr_status tsr_post_ops_get_sized(const tsr_post_ops *posts, int index, tsr_post_op *post,
                                  size_t size) {
    if (!post || index < 0 || index >= tsr_post_ops_length(posts))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_post_ops_get: there is no post-op %d of %d", index,
                        tsr_post_ops_length(posts));
    tsr_give_struct(&posts->list[index], sizeof posts->list[index], post, size);
    return TSR_OK;
}

/* ---- of a session ---------------------------------------------------------------------------- */

/* Axes of the result along which the slopes differ; axes are aligned at the last. */
static unsigned mask_of(const tsr_shape *slopes, const tsr_shape *result) {
    unsigned mask = 0;
    for (int i = 0; i < slopes->rank; i++)
        if (slopes->dim[i] != 1)
            mask |= 1u << (result->rank - slopes->rank + i);
    return mask;
}

static tsr_post_op describe(const tsr_graph *graph, const tsr_node *node, const tsr_post *post) {
    bool is_prelu = post->op == TSR_OP_PRelu && !post->swapped;
    tsr_post_op known = {.op = tsr_op_get_info(post->op)->name,
                         .alpha = post->param[0],
                         .beta = post->param[1],
                         .operand.rank = -1,
                         .node = post->node_name};
    if (post->operand == TSR_NONE) {
        known.kind = TSR_POST_OP_ELTWISE;
        return known;
    }
    const tsr_value *operand = &graph->values[post->operand];
    known.kind = is_prelu ? TSR_POST_OP_PRELU : TSR_POST_OP_BINARY;
    known.operand = operand->shape;
    known.swapped = post->swapped;
    known.tensor = operand->name;
    if (is_prelu)
        known.mask = mask_of(&operand->shape, &tsr_node_out(graph, node, 0)->shape);
    return known;
}

/* Copies *name to *to, which is advanced; NULL stays. */
static void take_name(const char **name, char **to) {
    if (!*name)
        return;
    size_t size = strlen(*name) + 1;
    memcpy(*to, *name, size);
    *name = *to;
    *to += size;
}

static size_t name_bytes(const tsr_post_op *post) {
    return (post->node ? strlen(post->node) + 1 : 0) +
           (post->tensor ? strlen(post->tensor) + 1 : 0);
}

tsr_post_ops *tsr_post_ops_of_node(const tsr_graph *graph, const tsr_node *node) {
    tsr_post_ops *made = make_chain();
    size_t bytes = 0;
    for (int i = 0; made && i < node->post_count; i++) {
        made->ops[i] = node->posts[i].op;
        made->list[i] = describe(graph, node, &node->posts[i]);
        bytes += name_bytes(&made->list[i]);
    }
    char *names = made ? tsr_malloc(bytes + 1) : NULL;
    if (!names) {
        tsr_free(made);
        tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a chain of post-ops");
        return NULL;
    }
    made->names = names;
    made->count = node->post_count;
    for (int i = 0; i < made->count; i++) {
        take_name(&made->list[i].node, &names);
        take_name(&made->list[i].tensor, &names);
    }
    return made;
}

tsr_status tsr_session_post_ops(const tsr_session *session, int node, tsr_post_ops **posts) {
    static const tsr_node none = {.name = ""};
    tsr_node_report report;
    if (!posts)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_post_ops: posts is NULL");
    *posts = NULL;
    TSR_TRY(tsr_session_node_report(session, node, &report)); /* is there such a node? */
    const tsr_graph *graph = session->graph;
    *posts = tsr_post_ops_of_node(graph, node < graph->node_count ? &graph->nodes[node] : &none);
    return *posts ? TSR_OK : TSR_ERROR_OUT_OF_MEMORY;
}
