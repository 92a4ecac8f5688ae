/* Attention and RotaryEmbedding. */
#include "passes/functions.h"

#include "base/error.h"
#include "graph/rules.h"

#include <math.h>

static int input_of(const tsr_builder *b, int i) {
    return i < b->node->input_count ? b->node->inputs[i] : TSR_NONE;
}

static tsr_shape shape_of(const tsr_builder *b, int value) {
    return value == TSR_NONE ? (tsr_shape){0} : b->graph->values[value].shape;
}

static int transpose(tsr_builder *b, int value, int count, const int64_t *order) {
    const tsr_attr perm = tsr_build_ints_attr(b, "perm", count, order);
    return tsr_build_with(b, TSR_OP_Transpose, 1, &value, 1, &perm);
}

static int concat(tsr_builder *b, int axis, int count, const int *values) {
    const tsr_attr along = tsr_int_attr("axis", axis);
    return tsr_build_with(b, TSR_OP_Concat, count, values, 1, &along);
}

/* ---- Attention ------------------------------------------------------------------------------- */

static const int64_t swap_heads[] = {0, 2, 1, 3};

/* [batch, heads, length, size] of that or of [batch, length, heads * size]. */
static int with_heads(tsr_builder *b, int value, const char *heads_attr) {
    const tsr_shape shape = shape_of(b, value);
    const int64_t heads = tsr_attr_int(b->node, heads_attr, 0);
    if (shape.rank == 4)
        return value;
    if (shape.rank != 3 || heads < 1 || shape.dim[2] % heads != 0)
        return tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "%s is %lld for a shape of %s",
                                          heads_attr, (long long)heads, tsr_shape_text(&shape)));
    const tsr_shape split = {4, {shape.dim[0], shape.dim[1], heads, shape.dim[2] / heads}};
    return transpose(b, tsr_build_reshape(b, value, &split), 4, swap_heads);
}

/* 0 where a condition holds, -infinity elsewhere. */
static int mask_where(tsr_builder *b, int condition) {
    return TSR_BUILD(b, TSR_OP_Where, condition, tsr_build_number(b, 0),
                     tsr_build_number(b, -INFINITY));
}

/* The mask as what is added, as wide as there are keys: those beyond it take no part. */
static int given_mask(tsr_builder *b, int64_t keys) {
    int mask = input_of(b, 3);
    if (mask == TSR_NONE || b->status != TSR_OK)
        return TSR_NONE;
    if (b->graph->values[mask].dtype == TSR_DTYPE_BOOL)
        mask = mask_where(b, mask);
    const tsr_shape shape = shape_of(b, mask);
    int64_t pads[2 * TSR_MAX_RANK] = {0};
    if (shape.rank < 1 || shape.dim[shape.rank - 1] >= keys)
        return mask;
    pads[2 * shape.rank - 1] = keys - shape.dim[shape.rank - 1];
    return TSR_BUILD(b, TSR_OP_Pad, mask, tsr_build_ints(b, 2 * shape.rank, pads),
                     tsr_build_number(b, -INFINITY));
}

static int to_float(tsr_builder *b, int value) {
    return tsr_build_cast(b, value, TSR_DTYPE_F32);
}

/* Keys that a sequence has, [batch, 1, 1, 1], in floats, which a GPU computes with. */
static int valid_keys(tsr_builder *b, int64_t batch) {
    int lengths = input_of(b, 6);
    if (lengths == TSR_NONE)
        return TSR_NONE;
    return tsr_build_reshape(b, to_float(b, lengths), &(tsr_shape){4, {batch, 1, 1, 1}});
}

/* A query sees its own key and those before it: `before` come before the first query, or as many as
 * a sequence has beyond the queries. */
static int causal_mask(tsr_builder *b, int64_t queries, int64_t keys, int64_t before, int valid) {
    int rows = to_float(b, tsr_build_indices(b, TSR_DTYPE_I64, queries, 2, 4)),
        columns = to_float(b, tsr_build_indices(b, TSR_DTYPE_I64, keys, 3, 4)),
        first = to_float(b, tsr_build_ints(b, 1, &before));
    if (valid != TSR_NONE)
        first = TSR_BUILD(b, TSR_OP_Sub, valid, to_float(b, tsr_build_ints(b, 1, &queries)));
    return mask_where(
        b, TSR_BUILD(b, TSR_OP_LessOrEqual, columns, TSR_BUILD(b, TSR_OP_Add, rows, first)));
}

static int add_mask(tsr_builder *b, int scores, int mask) {
    return mask == TSR_NONE ? scores : TSR_BUILD(b, TSR_OP_Add, scores, mask);
}

static int soft_cap(tsr_builder *b, int scores) {
    float cap = tsr_attr_float(b->node, "softcap", 0);
    if (!(cap > 0))
        return scores;
    scores = TSR_BUILD(b, TSR_OP_Tanh, TSR_BUILD(b, TSR_OP_Div, scores, tsr_build_number(b, cap)));
    return TSR_BUILD(b, TSR_OP_Mul, scores, tsr_build_number(b, cap));
}

/* The keys or values of the past before those of now. */
static int with_past(tsr_builder *b, int past, int now) {
    return past == TSR_NONE ? now : concat(b, 2, 2, (int[]){past, now});
}

static tsr_status check_heads(const tsr_builder *b, const tsr_shape *q, const tsr_shape *k,
                              const tsr_shape *v) {
    bool fits = q->rank == 4 && k->rank == 4 && v->rank == 4 && q->dim[0] == k->dim[0] &&
                k->dim[0] == v->dim[0] && q->dim[3] == k->dim[3] && k->dim[1] == v->dim[1] &&
                k->dim[2] == v->dim[2] && k->dim[1] > 0 && q->dim[1] % k->dim[1] == 0;
    if (!fits)
        return tsr_fail(TSR_ERROR_SHAPE, "queries %s, keys %s and values %s do not fit",
                        tsr_shape_text(q), tsr_shape_text(k), tsr_shape_text(v));
    const tsr_value *lengths = tsr_node_in(b->graph, b->node, 6);
    return lengths ? tsr_require_vector(lengths, q->dim[0]) : TSR_OK;
}

/* Softmax(cap(Q K^T scale) + masks) V. Heads that share keys are seen as more queries of one head,
 * so that no key is repeated. */
void tsr_build_attention(tsr_builder *b) {
    int q = with_heads(b, input_of(b, 0), "q_num_heads"),
        k = with_past(b, input_of(b, 4), with_heads(b, input_of(b, 1), "kv_num_heads")),
        v = with_past(b, input_of(b, 5), with_heads(b, input_of(b, 2), "kv_num_heads"));
    const tsr_shape qs = shape_of(b, q), ks = shape_of(b, k), vs = shape_of(b, v);
    if (b->status == TSR_OK)
        tsr_build_fail(b, check_heads(b, &qs, &ks, &vs));
    if (b->status != TSR_OK)
        return;
    static const int64_t swap_last[] = {0, 1, 3, 2};
    const int64_t batch = qs.dim[0], heads = qs.dim[1], queries = qs.dim[2], size = qs.dim[3],
                  groups = ks.dim[1], keys = ks.dim[2],
                  mode = tsr_attr_int(b->node, "qk_matmul_output_mode", 0);
    const tsr_shape grouped = {4, {batch, groups, heads / groups * queries, size}},
                    scored = {4, {batch, heads, queries, keys}},
                    weighed = {4, {batch, groups, heads / groups * queries, keys}},
                    joined = {4, {batch, heads, queries, vs.dim[3]}};
    float scale = tsr_attr_float(b->node, "scale", 0);
    scale = scale != 0 ? scale : 1 / sqrtf((float)(size ? size : 1));
    tsr_build_output(b, 1, k);
    tsr_build_output(b, 2, v);
    int scaled = TSR_BUILD(b, TSR_OP_Mul, q, tsr_build_number(b, scale));
    int products = TSR_BUILD(b, TSR_OP_MatMul, tsr_build_reshape(b, scaled, &grouped),
                             transpose(b, k, 4, swap_last));
    int scores = soft_cap(b, tsr_build_reshape(b, products, &scored)), valid = valid_keys(b, batch);
    if (mode < 2)
        tsr_build_output(b, 3, scores);
    scores = add_mask(b, scores, given_mask(b, keys));
    if (tsr_attr_int(b->node, "is_causal", 0))
        scores = add_mask(b, scores,
                          causal_mask(b, queries, keys, shape_of(b, input_of(b, 4)).dim[2],
                                      input_of(b, 4) == TSR_NONE ? valid : TSR_NONE));
    if (valid != TSR_NONE)
        scores = add_mask(
            b, scores,
            mask_where(b, TSR_BUILD(b, TSR_OP_Less,
                                    to_float(b, tsr_build_indices(b, TSR_DTYPE_I64, keys, 3, 4)),
                                    valid)));
    if (mode == 2)
        tsr_build_output(b, 3, scores);
    const tsr_attr last = tsr_int_attr("axis", -1);
    int shares = tsr_build_with(b, TSR_OP_Softmax, 1, &scores, 1, &last);
    if (mode == 3)
        tsr_build_output(b, 3, shares);
    int sums = TSR_BUILD(b, TSR_OP_MatMul, tsr_build_reshape(b, shares, &weighed), v);
    int result = tsr_build_reshape(b, sums, &joined);
    if (shape_of(b, input_of(b, 0)).rank == 3)
        tsr_build_reshape(b, transpose(b, result, 4, swap_heads),
                          &(tsr_shape){3, {batch, queries, heads * vs.dim[3]}});
}

/* ---- RotaryEmbedding ------------------------------------------------------------------------- */

static int slice_last(tsr_builder *b, int value, int64_t first, int64_t last, int64_t step) {
    const int64_t axis = -1;
    return TSR_BUILD(b, TSR_OP_Slice, value, tsr_build_ints(b, 1, &first),
                     tsr_build_ints(b, 1, &last), tsr_build_ints(b, 1, &axis),
                     tsr_build_ints(b, 1, &step));
}

/* Rows of a cache at the positions, or all of it, with an axis of one head. */
static int cached(tsr_builder *b, int input, int head_axis, int64_t batch, int64_t length,
                  int64_t half) {
    int value = input_of(b, input), positions = input_of(b, 3);
    if (positions != TSR_NONE)
        value = TSR_BUILD(b, TSR_OP_Gather, value, positions);
    const tsr_shape expected = {3, {batch, length, half}}, found = shape_of(b, value);
    if (b->status == TSR_OK && !tsr_shape_equal(&found, &expected))
        return tsr_build_fail(b, tsr_fail(TSR_ERROR_SHAPE, "input %d gives %s instead of %s", input,
                                          tsr_shape_text(&found), tsr_shape_text(&expected)));
    tsr_shape seen = {4, {batch, 1, length, half}};
    if (head_axis == 2)
        seen = (tsr_shape){4, {batch, length, 1, half}};
    return tsr_build_reshape(b, value, &seen);
}

/* Pairs of elements of each head, adjacent or from both halves, turned by an angle. */
void tsr_build_rotary_embedding(tsr_builder *b) {
    const tsr_shape shape = shape_of(b, input_of(b, 0));
    const bool interleaved = tsr_attr_int(b->node, "interleaved", 0) != 0;
    int64_t heads = tsr_attr_int(b->node, "num_heads", 0),
            turned = tsr_attr_int(b->node, "rotary_embedding_dim", 0);
    int x = input_of(b, 0), head_axis = 1;
    tsr_shape seen = shape;
    tsr_build_fail(b, tsr_require_float(b->graph, b->node, 3));
    tsr_build_fail(b, tsr_require_rank(&b->graph->values[x], 3, 4));
    if (b->status == TSR_OK && shape.rank == 3) {
        if (heads < 1 || shape.dim[2] % heads != 0) {
            tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "num_heads is %lld for %s",
                                       (long long)heads, tsr_shape_text(&shape)));
            return;
        }
        seen = (tsr_shape){4, {shape.dim[0], shape.dim[1], heads, shape.dim[2] / heads}};
        x = tsr_build_reshape(b, x, &seen);
        head_axis = 2;
    }
    const int64_t size = seen.dim[3], length = seen.dim[head_axis == 1 ? 2 : 1];
    turned = turned ? turned : size;
    if (b->status == TSR_OK && (turned < 2 || turned > size || turned % 2))
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "rotary_embedding_dim is %lld of %lld",
                                   (long long)turned, (long long)size));
    if (b->status != TSR_OK)
        return;
    const int64_t half = turned / 2;
    int cosine = cached(b, 1, head_axis, shape.dim[0], length, half),
        sine = cached(b, 2, head_axis, shape.dim[0], length, half);
    int first = interleaved ? slice_last(b, x, 0, turned, 2) : slice_last(b, x, 0, half, 1),
        second = interleaved ? slice_last(b, x, 1, turned, 2) : slice_last(b, x, half, turned, 1);
    int parts[2] = {TSR_BUILD(b, TSR_OP_Sub, TSR_BUILD(b, TSR_OP_Mul, cosine, first),
                              TSR_BUILD(b, TSR_OP_Mul, sine, second)),
                    TSR_BUILD(b, TSR_OP_Add, TSR_BUILD(b, TSR_OP_Mul, sine, first),
                              TSR_BUILD(b, TSR_OP_Mul, cosine, second))};
    int result;
    if (interleaved) {
        const tsr_shape pairs = {5, {seen.dim[0], seen.dim[1], seen.dim[2], half, 1}},
                        together = {4, {seen.dim[0], seen.dim[1], seen.dim[2], turned}};
        for (int i = 0; i < 2; i++)
            parts[i] = tsr_build_reshape(b, parts[i], &pairs);
        result = tsr_build_reshape(b, concat(b, 4, 2, parts), &together);
    } else {
        result = concat(b, 3, 2, parts);
    }
    if (turned < size)
        result = concat(b, 3, 2, (int[]){result, slice_last(b, x, turned, size, 1)});
    tsr_build_reshape(b, result, &shape);
}
