/* What attention is of, as exporters write it: one linear layer gives queries, keys and values,
 * [batch, length, parts * heads * size], which are taken out of it by Gather or Split and moved to
 * [batch, heads, length, size]. All are moved together, and each is a slice of that: of whole
 * tiles, mostly, which a plan reads in place. A scale of queries, which are a slice then, becomes
 * one of the scores, which the product of matrices applies. */
#include "passes/build.h"
#include "passes/match.h"

#include "base/error.h"
#include "graph/infer.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* One of the parts. */
typedef struct part {
    int x;           /* of which they are; TSR_NONE: it is none */
    int from;        /* the value that is the same for all parts of one x */
    int total;       /* parts that there have to be */
    int64_t index;   /* of this one */
    tsr_shape moved; /* [batch, parts * heads, length, size] */
    bool transposed; /* it is [batch, heads, size, length] */
} part;

static const part no_part = {.x = TSR_NONE};
static const int64_t swap_heads[] = {0, 2, 1, 3}, swap_last[] = {0, 1, 3, 2},
                     swap_both[] = {0, 2, 3, 1};

static bool has_perm(const tsr_node *transpose, int rank, const int64_t *wanted) {
    int64_t perm[TSR_MAX_RANK];
    tsr_node_perm(transpose, rank, perm);
    return memcmp(perm, wanted, (size_t)rank * sizeof *perm) == 0;
}

/* The Reshape that makes the Transpose's input, if only the Transpose reads it and it has this
 * rank; else NULL. */
static const tsr_node *find_heads(const tsr_matcher *m, const tsr_node *transpose, int rank) {
    const tsr_node *reshape =
        transpose ? tsr_match_part(m, transpose->inputs[0], TSR_OP_Reshape, 1) : NULL;
    return reshape && tsr_node_out(m->graph, reshape, 0)->shape.rank == rank ? reshape : NULL;
}

/* ---- [batch, length, parts, heads, size], moved, then one of the parts ---- */

/* Of which axis and index a Gather of one index is; TSR_NONE: it is none. */
static int find_index(const tsr_matcher *m, const tsr_node *node, int64_t *index) {
    const tsr_value *list = node->op == TSR_OP_Gather ? tsr_node_in(m->graph, node, 1) : NULL;
    const tsr_shape *shape = &tsr_node_in(m->graph, node, 0)->shape;
    int axis;
    if (!list || !list->data || list->shape.rank != 0 ||
        tsr_normalize_axis(tsr_attr_int(node, "axis", 0), shape->rank, &axis) != TSR_OK)
        return TSR_NONE;
    *index = *(const int64_t *)list->data;
    *index += *index < 0 ? shape->dim[axis] : 0;
    return *index >= 0 && *index < shape->dim[axis] ? axis : TSR_NONE;
}

/* Is the axis of parts moved to this one, and heads before the length? */
static bool moves_parts(const tsr_node *transpose, int axis) {
    static const int64_t others[] = {0, 3, 1, 4};
    int64_t perm[5];
    for (int i = 0, other = 0; i < 5; i++)
        perm[i] = i == axis ? 2 : others[other++];
    return axis < 4 && has_perm(transpose, 5, perm);
}

static part find_gathered(const tsr_matcher *m, const tsr_node *node) {
    int64_t index = 0;
    int axis = find_index(m, node, &index), from = node->inputs[0];
    const tsr_node *transpose = axis == TSR_NONE ? NULL : tsr_match_node(m, from, TSR_OP_Transpose),
                   *reshape = find_heads(m, transpose, 5);
    if (!reshape || !moves_parts(transpose, axis))
        return no_part;
    const int64_t *d = tsr_node_out(m->graph, reshape, 0)->shape.dim;
    return (part){.x = reshape->inputs[0],
                  .from = from,
                  .total = tsr_match_reads(m, from),
                  .index = index,
                  .moved = {4, {d[0], d[2] * d[3], d[1], d[4]}}};
}

/* ---- [batch, length, parts * heads * size], split, then each part moved ---- */

/* The output of a Split of equal parts of the last axis that the value is; TSR_NONE: it is none. */
static int find_output(const tsr_matcher *m, int value, const tsr_node **split) {
    const int producer = m->graph->values[value].producer;
    *split = producer == TSR_NONE ? NULL : &m->graph->nodes[producer];
    if (!*split || (*split)->op != TSR_OP_Split || tsr_match_reads(m, value) != 1)
        return TSR_NONE;
    const tsr_shape *shape = &tsr_node_in(m->graph, *split, 0)->shape;
    const int last = shape->rank - 1, count = (*split)->output_count;
    int axis, output = TSR_NONE;
    if (tsr_normalize_axis(tsr_attr_int(*split, "axis", 0), shape->rank, &axis) != TSR_OK ||
        axis != last)
        return TSR_NONE;
    for (int i = 0; i < count; i++) {
        const tsr_value *out = tsr_node_out(m->graph, *split, i);
        if (!out || out->shape.dim[last] * count != shape->dim[last])
            return TSR_NONE;
        output = (*split)->outputs[i] == value ? i : output;
    }
    return output;
}

static part find_split(const tsr_matcher *m, const tsr_node *node) {
    const tsr_node *reshape = node->op == TSR_OP_Transpose ? find_heads(m, node, 4) : NULL, *split;
    bool transposed = reshape && has_perm(node, 4, swap_both);
    if (!reshape || !(transposed || has_perm(node, 4, swap_heads)))
        return no_part;
    const tsr_shape *in = &tsr_node_in(m->graph, reshape, 0)->shape;
    const int64_t *d = tsr_node_out(m->graph, reshape, 0)->shape.dim;
    const int output = find_output(m, reshape->inputs[0], &split);
    if (output == TSR_NONE || d[2] * d[3] != in->dim[in->rank - 1])
        return no_part;
    return (part){.x = split->inputs[0],
                  .from = split->outputs[0],
                  .total = split->output_count,
                  .index = output,
                  .moved = {4, {d[0], d[2] * split->output_count, d[1], d[3]}},
                  .transposed = transposed};
}

static part find_part(const tsr_matcher *m, const tsr_node *node) {
    if (node->output_count != 1 || node->post_count ||
        !tsr_dtype_is_float(tsr_node_out(m->graph, node, 0)->dtype) ||
        tsr_shape_count(&tsr_node_out(m->graph, node, 0)->shape) == 0)
        return no_part;
    return node->op == TSR_OP_Gather ? find_gathered(m, node) : find_split(m, node);
}

/* ---- rewriting ---- */

/* What is common to the parts of one x, by their `from`. */
typedef struct parts {
    int count;
    tsr_shape moved; /* of the first one */
    int value;       /* all of them, moved; 0: not yet made */
} parts;

typedef struct attention {
    tsr_matcher m;
    tsr_node_list list;
    parts *parts;
} attention;

static void count_parts(attention *a) {
    for (int n = 0; n < a->m.graph->node_count; n++) {
        const part p = find_part(&a->m, &a->m.graph->nodes[n]);
        parts *all = p.x == TSR_NONE ? NULL : &a->parts[p.from];
        if (all && !all->count)
            all->moved = p.moved;
        if (all && tsr_shape_equal(&all->moved, &p.moved))
            all->count++;
    }
}

static part find_counted(const attention *a, const tsr_node *node) {
    const part p = find_part(&a->m, node);
    return p.x != TSR_NONE && a->parts[p.from].count == p.total && p.total > 1 ? p : no_part;
}

static int transpose(tsr_builder *b, int value, const int64_t perm[4]) {
    const tsr_attr attr = tsr_build_ints_attr(b, "perm", 4, perm);
    return tsr_build_with(b, TSR_OP_Transpose, 1, &value, 1, &attr);
}

static void build_part(tsr_builder *b, const part *p, parts *all) {
    const int64_t *d = p->moved.dim;
    const tsr_shape split = {4, {d[0], d[2], d[1], d[3]}};
    if (!all->value)
        all->value = transpose(b, tsr_build_reshape(b, p->x, &split), swap_heads);
    const tsr_shape out = tsr_node_out(b->graph, b->node, 0)->shape;
    const int64_t axis = 1, begin = p->index * out.dim[1], end = begin + out.dim[1];
    int value = TSR_BUILD(b, TSR_OP_Slice, all->value, tsr_build_ints(b, 1, &begin),
                          tsr_build_ints(b, 1, &end), tsr_build_ints(b, 1, &axis));
    if (p->transposed)
        transpose(b, value, swap_last);
}

/* The Mul or Div of a part by a number, if a product of matrices has it as its left side; NULL if
 * it is something else. */
static const tsr_node *find_scale(const attention *a, const tsr_node *node) {
    if (node->op != TSR_OP_MatMul || node->post_count)
        return NULL;
    const tsr_node *mul = tsr_match_part(&a->m, node->inputs[0], TSR_OP_Mul, 1),
                   *div = tsr_match_part(&a->m, node->inputs[0], TSR_OP_Div, 1),
                   *scale = mul ? mul : div;
    float number;
    if (!scale || scale->inputs[0] >= a->m.value_count ||
        !tsr_match_number(&a->m, scale->inputs[1], &number) ||
        tsr_match_reads(&a->m, scale->inputs[0]) != 1 ||
        a->m.graph->values[scale->inputs[1]].shape.rank > 4)
        return NULL;
    const int producer = a->m.graph->values[scale->inputs[0]].producer;
    return producer != TSR_NONE && find_counted(a, &a->m.graph->nodes[producer]).x != TSR_NONE
               ? scale
               : NULL;
}

static tsr_status rewrite(attention *a, const tsr_node *node) {
    tsr_builder b = {.graph = a->m.graph, .node = node, .list = &a->list};
    const part p = find_counted(a, node);
    const tsr_node *scale = find_scale(a, node);
    if (p.x != TSR_NONE)
        build_part(&b, &p, &a->parts[p.from]);
    else if (scale)
        TSR_BUILD(&b, scale->op, TSR_BUILD(&b, TSR_OP_MatMul, scale->inputs[0], node->inputs[1]),
                  scale->inputs[1]);
    else
        return tsr_append_copy(&a->list, node);
    tsr_build_end(&b);
    return b.status;
}

tsr_status tsr_pass_recognize_attention(tsr_graph *graph) {
    double bytes = INFINITY;
    const tsr_node *nodes = graph->nodes;
    const int count = graph->node_count;
    attention a = {.m = {.graph = graph,
                         .readers = tsr_count_readers(graph),
                         .value_count = graph->value_count},
                   .list = {.graph = graph, .may_make = INT_MAX, .bytes = &bytes},
                   .parts = TSR_NEW(graph->arena, graph->value_count, parts)};
    if (!a.m.readers || !a.parts)
        return tsr_out_of_memory(graph);
    count_parts(&a);
    for (int n = 0; n < count; n++)
        TSR_TRY(rewrite(&a, &nodes[n]));
    tsr_use_node_list(&a.list, 0);
    return tsr_pass_remove_dead(graph);
}
