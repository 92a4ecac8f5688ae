/* What exporters write with Reshape, Transpose, Reshape: DepthToSpace and SpaceToDepth
 * (PixelShuffle and its inverse), and channel shuffles, as Gather or, where groups are picked one
 * by one, as Slice with a step. */
#include "passes/match.h"

#include "graph/infer.h"

#include <string.h>

/* Transpose of a Reshape, by shapes: x is `before` seen as `seen`, moved by `perm`. */
typedef struct moved {
    int x;
    tsr_shape before, seen;
    int64_t perm[TSR_MAX_RANK];
} moved;

static bool find_moved(const tsr_matcher *m, int value, moved *found) {
    const tsr_node *transpose = tsr_match_node(m, value, TSR_OP_Transpose),
                   *reshape =
                       transpose ? tsr_match_node(m, transpose->inputs[0], TSR_OP_Reshape) : NULL;
    if (!reshape || tsr_match_reads(m, transpose->inputs[0]) != 1)
        return false;
    found->x = reshape->inputs[0];
    found->before = m->graph->values[found->x].shape;
    found->seen = m->graph->values[transpose->inputs[0]].shape;
    tsr_node_perm(transpose, found->seen.rank, found->perm);
    return true;
}

static bool has_perm(const moved *f, int rank, const int64_t *perm) {
    return f->seen.rank == rank && memcmp(f->perm, perm, (size_t)rank * sizeof *perm) == 0;
}

static bool has_shape(const tsr_shape *shape, int rank, const int64_t *dims) {
    const tsr_shape wanted = tsr_shape_make(rank, dims);
    return tsr_shape_equal(shape, &wanted);
}

/* ---- pixel shuffle ---- */

/* [n, b, b, c, h, w] or [n, c, b, b, h, w] to [n, c, h, b, w, b] */
static const char *find_depth_mode(const moved *f, const tsr_shape *out) {
    static const int64_t dcr[] = {0, 3, 4, 1, 5, 2}, crd[] = {0, 1, 4, 2, 5, 3};
    bool by_depth = has_perm(f, 6, dcr);
    if (f->before.rank != 4 || (!by_depth && !has_perm(f, 6, crd)))
        return NULL;
    const int64_t *s = f->seen.dim, c = s[by_depth ? 3 : 1], b = s[2], h = s[4], w = s[5];
    bool fits = s[by_depth ? 1 : 3] == b &&
                has_shape(&f->before, 4, (int64_t[]){s[0], c * b * b, h, w}) &&
                has_shape(out, 4, (int64_t[]){s[0], c, h * b, w * b});
    return fits ? by_depth ? "DCR" : "CRD" : NULL;
}

/* [n, c, h, b, w, b] to [n, b, b, c, h, w]; of one channel the order of blocks and channels is the
 * same. */
static bool is_space_to_depth(const moved *f, const tsr_shape *out) {
    static const int64_t blocks_first[] = {0, 3, 5, 1, 2, 4}, blocks_last[] = {0, 1, 3, 5, 2, 4};
    const int64_t *s = f->seen.dim, n = s[0], c = s[1], h = s[2], b = s[3], w = s[4];
    return f->before.rank == 4 &&
           (has_perm(f, 6, blocks_first) || (c == 1 && has_perm(f, 6, blocks_last))) && s[5] == b &&
           has_shape(&f->before, 4, (int64_t[]){n, c, h * b, w * b}) &&
           has_shape(out, 4, (int64_t[]){n, c * b * b, h, w});
}

static tsr_status make_blocks(const tsr_matcher *m, tsr_node *node, tsr_op op, const moved *f,
                              int64_t blocksize, const char *mode) {
    const tsr_attr attrs[] = {{.name = "blocksize", .kind = TSR_ATTR_INT, .i = blocksize},
                              {.name = "mode", .kind = TSR_ATTR_STRING, .s = mode}};
    return tsr_match_replace(m, node, op, 1, &f->x, mode ? 2 : 1, attrs);
}

/* ---- channel shuffle ---- */

/* [n, c, ...] seen as [n, groups, c / groups, ...], the two swapped, and back to its shape. */
static bool is_channel_shuffle(const moved *f, const tsr_shape *out) {
    enum { MOST_CHANNELS = 1 << 16 }; /* each is an index */
    if (f->before.rank < 2 || f->before.dim[1] > MOST_CHANNELS || f->seen.rank < 3 ||
        !tsr_shape_equal(&f->before, out) || f->seen.dim[0] != f->before.dim[0] ||
        f->seen.dim[1] * f->seen.dim[2] != f->before.dim[1] || tsr_shape_count(out) == 0)
        return false;
    for (int i = 0; i < f->seen.rank; i++)
        if (f->perm[i] != (i == 1 ? 2 : i == 2 ? 1 : i))
            return false;
    return true;
}

static tsr_status make_channel_shuffle(const tsr_matcher *m, tsr_node *node, const moved *f) {
    const int64_t groups = f->seen.dim[1], size = f->seen.dim[2];
    const tsr_attr axis = {.name = "axis", .kind = TSR_ATTR_INT, .i = 1};
    const tsr_shape shape = {1, {groups * size}};
    int64_t *from = TSR_NEW(m->graph->arena, (size_t)shape.dim[0], int64_t);
    for (int64_t c = 0; from && c < groups * size; c++)
        from[c] = c % groups * size + c / groups;
    int indices =
        from ? tsr_add_constant(m->graph, node->name, "channels", TSR_DTYPE_I64, &shape, from)
             : TSR_NONE;
    if (indices == TSR_NONE)
        return tsr_out_of_memory(m->graph);
    return tsr_match_replace(m, node, TSR_OP_Gather, 2, (int[]){f->x, indices}, 1, &axis);
}

/* ---- every n-th channel ---- */

/* [n, c, ...] seen as [n * c / groups, groups, ...], moved to [groups, n * c / groups, ...], seen
 * as [groups, n, c / groups, ...]: group i is each channel c * groups + i. */
static bool is_grouped(const moved *f, const tsr_shape *grouped) {
    static const int64_t perm[] = {1, 0, 2};
    const tsr_shape *x = &f->before;
    int64_t groups = f->seen.dim[1];
    if (!has_perm(f, 3, perm) || x->rank < 3 || grouped->rank != x->rank + 1 || groups < 1 ||
        x->dim[1] % groups != 0 || f->seen.dim[0] != x->dim[0] * (x->dim[1] / groups))
        return false;
    for (int i = 2; i < x->rank; i++)
        if (grouped->dim[i + 1] != x->dim[i])
            return false;
    return grouped->dim[0] == groups && grouped->dim[1] == x->dim[0] &&
           grouped->dim[2] == x->dim[1] / groups;
}

static int add_ints(const tsr_matcher *m, const tsr_node *node, const char *name, int64_t i) {
    int64_t *ints = TSR_NEW(m->graph->arena, 1, int64_t);
    if (!ints)
        return TSR_NONE;
    *ints = i;
    return tsr_add_constant(m->graph, node->name, name, TSR_DTYPE_I64, &(tsr_shape){1, {1}}, ints);
}

static tsr_status make_slice(const tsr_matcher *m, tsr_node *node, const moved *f, int64_t group) {
    const int inputs[] = {f->x, add_ints(m, node, "start", group),
                          add_ints(m, node, "end", f->before.dim[1]), add_ints(m, node, "axis", 1),
                          add_ints(m, node, "step", f->seen.dim[1])};
    for (int i = 1; i < 5; i++)
        if (inputs[i] == TSR_NONE)
            return tsr_out_of_memory(m->graph);
    return tsr_match_replace(m, node, TSR_OP_Slice, 5, inputs, 0, NULL);
}

/* Gather of one group. */
static tsr_status rewrite_gather(const tsr_matcher *m, tsr_node *node) {
    const tsr_value *index = tsr_node_in(m->graph, node, 1);
    const tsr_node *reshape = tsr_match_node(m, node->inputs[0], TSR_OP_Reshape);
    moved f;
    if (!reshape || !index->data || index->shape.rank != 0 || tsr_attr_int(node, "axis", 0) != 0 ||
        tsr_match_reads(m, reshape->inputs[0]) != 1 || !find_moved(m, reshape->inputs[0], &f) ||
        !is_grouped(&f, &m->graph->values[node->inputs[0]].shape))
        return TSR_OK;
    int64_t group = *(const int64_t *)index->data;
    return make_slice(m, node, &f, group < 0 ? group + f.seen.dim[1] : group);
}

/* ---- */

static tsr_status rewrite(const tsr_matcher *m, tsr_node *node) {
    moved f;
    if (node->op == TSR_OP_Gather)
        return rewrite_gather(m, node);
    if (node->op != TSR_OP_Reshape || tsr_match_reads(m, node->inputs[0]) != 1 ||
        !find_moved(m, node->inputs[0], &f))
        return TSR_OK;
    const tsr_shape *out = &tsr_node_out(m->graph, node, 0)->shape;
    const char *mode = find_depth_mode(&f, out);
    if (mode)
        return make_blocks(m, node, TSR_OP_DepthToSpace, &f, f.seen.dim[2], mode);
    if (is_space_to_depth(&f, out))
        return make_blocks(m, node, TSR_OP_SpaceToDepth, &f, f.seen.dim[3], NULL);
    return is_channel_shuffle(&f, out) ? make_channel_shuffle(m, node, &f) : TSR_OK;
}

tsr_status tsr_pass_recognize_shuffle(tsr_graph *graph) {
    return tsr_match_each(graph, rewrite);
}
