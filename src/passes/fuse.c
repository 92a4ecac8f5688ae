/* Fuses element by element operators into the node that produces their input (the host): as a
 * post-op on its result. That result must have no other reader and the same shape. The fused
 * node is at the place of the operator in the order of nodes, after the producers of the other
 * operands. */
#include "passes/edit.h"

#include "base/error.h"

#include <float.h>
#include <math.h>
#include <string.h>

bool tsr_can_host(const tsr_node *node) {
    if (tsr_op_has(node->op, TSR_IS_VIEW) || tsr_op_get_info(node->op)->max_outputs == TSR_VARIADIC)
        return false;
    for (int i = 1; i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE)
            return false;
    return node->post_count < TSR_MAX_POSTS;
}

int tsr_find_host(const tsr_graph *graph, const tsr_node *consumer, int i, const int *readers) {
    const tsr_value *in = tsr_node_in(graph, consumer, i);
    const tsr_value *out = tsr_node_out(graph, consumer, 0);
    if (in->producer == TSR_NONE || readers[consumer->inputs[i]] != 1)
        return TSR_NONE;
    if (!tsr_dtype_is_float(in->dtype) || !tsr_shape_equal(&in->shape, &out->shape))
        return TSR_NONE;
    return tsr_can_host(&graph->nodes[in->producer]) ? in->producer : TSR_NONE;
}

static bool sums_products(const tsr_graph *graph, int node) {
    return tsr_node_macs(graph, &graph->nodes[node]) > 0;
}

/* Is host a better than b? A sum of products before others, then the later one. */
static bool is_better_host(const tsr_graph *graph, int a, int b) {
    if (a == TSR_NONE || b == TSR_NONE)
        return a != TSR_NONE;
    bool a_sums = sums_products(graph, a), b_sums = sums_products(graph, b);
    return a_sums != b_sums ? a_sums : a > b;
}

/* A constant bound of Clip, clamped to finite floats; false if it is known only at run time. */
static bool read_bound(const tsr_graph *graph, const tsr_node *node, int input, float absent,
                       float *bound) {
    const tsr_value *value = tsr_node_in(graph, node, input);
    if (value && !value->data)
        return false;
    float given = value ? *(const tsr_unaligned_float *)value->data : absent;
    *bound = fmaxf(-FLT_MAX, fminf(given, FLT_MAX));
    return true;
}

bool tsr_read_unary(const tsr_graph *graph, const tsr_node *node, float param[2]) {
    if (node->op == TSR_OP_Clip)
        return read_bound(graph, node, 1, -FLT_MAX, &param[0]) &&
               read_bound(graph, node, 2, FLT_MAX, &param[1]);
    tsr_op_params(node, param);
    return true;
}

/* The node as a post-op, and its host; *host is TSR_NONE if it cannot be one. */
static tsr_post make_post(const tsr_graph *graph, const tsr_node *node, const int *readers,
                          int *host) {
    tsr_post post = {.op = node->op, .operand = TSR_NONE, .node_name = node->name};
    *host = TSR_NONE;
    if (node->post_count || !tsr_op_has(node->op, TSR_IS_POST_OP))
        return post;
    *host = tsr_find_host(graph, node, 0, readers);
    if (node->op == TSR_OP_Clip || node->input_count == 1) {
        if (!tsr_read_unary(graph, node, post.param))
            *host = TSR_NONE;
    } else if (!tsr_dtype_is_float(tsr_node_in(graph, node, 1)->dtype)) {
        *host = TSR_NONE; /* an integer exponent */
    } else {
        int other = tsr_find_host(graph, node, 1, readers);
        post.swapped = is_better_host(graph, other, *host);
        if (post.swapped)
            *host = other;
        post.operand = node->inputs[post.swapped ? 0 : 1];
        tsr_op_params(node, post.param);
    }
    return post;
}

/* Replaces the consumer by the host with one more post-op. */
static tsr_status fuse(tsr_graph *graph, tsr_node *host, tsr_node *consumer, const tsr_post *post) {
    tsr_post *posts = TSR_NEW(graph->arena, host->post_count + 1, tsr_post);
    if (!posts)
        return tsr_out_of_memory(graph);
    if (host->post_count)
        memcpy(posts, host->posts, (size_t)host->post_count * sizeof *posts);
    posts[host->post_count] = *post;
    tsr_node fused = *host;
    fused.outputs = consumer->outputs;
    fused.output_count = 1;
    fused.posts = posts;
    fused.post_count = host->post_count + 1;
    tsr_drop_node(graph, host);
    *consumer = fused;
    return TSR_OK;
}

tsr_status tsr_pass_fuse_posts(tsr_graph *graph) {
    int *readers = tsr_count_readers(graph);
    if (!readers)
        return TSR_ERROR_OUT_OF_MEMORY;
    for (int n = 0; n < graph->node_count; n++) {
        int host;
        tsr_post post = make_post(graph, &graph->nodes[n], readers, &host);
        if (host != TSR_NONE)
            TSR_TRY(fuse(graph, &graph->nodes[host], &graph->nodes[n], &post));
    }
    tsr_remove_dropped(graph);
    return TSR_OK;
}
