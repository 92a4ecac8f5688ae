#include "support/plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- lowerings ---- */

/* Reads every input whole. */
static tsr_status lower_all(tsr_plan *plan, const tsr_node *node) {
    int sources[8];
    for (int i = 0; i < node->input_count; i++)
        sources[i] = tsr_plan_value(plan, node->inputs[i]);
    tsr_pass *pass = TSR_PASS(plan, tsr_plan_output(plan, node, 0), copy,
                              .X = TSR_TENSOR(sources[0]), .BROADCAST = TSR_INT(false));
    for (int i = 1; i < node->input_count; i++)
        tsr_pass_source(plan, pass, sources[i]);
    return plan->status;
}

/* By way of that many partial sums, which keep 32 bits, in two storages if it has more planes than
 * others. */
static tsr_status lower_sum(tsr_plan *plan, const tsr_node *node, int slices) {
    tsr_shape shape = tsr_node_in(plan->graph, node, 0)->shape;
    shape.dim[0] *= slices;
    int sum = tsr_plan_tensor_inner(plan, &shape, (tsr_layout_hint){.planes = TSR_MAX_PLANES});
    tsr_plan_copy(plan, tsr_plan_value(plan, node->inputs[0]), sum);
    tsr_plan_copy(plan, sum, tsr_plan_output(plan, node, 0));
    return plan->status;
}

static tsr_status lower_precise(tsr_plan *plan, const tsr_node *node) {
    return lower_sum(plan, node, 1);
}

static tsr_status lower_slices(tsr_plan *plan, const tsr_node *node) {
    return lower_sum(plan, node, 2);
}

/* Along whole tiles, if it can be. */
static tsr_status lower_concat(tsr_plan *plan, const tsr_node *node) {
    tsr_concat_operand parts[8];
    int tiles = 0;
    for (int i = 0; i < node->input_count; i++) {
        parts[i] = (tsr_concat_operand){node->inputs[i], tiles};
        const tsr_layout *l = tsr_plan_layout(plan, tsr_plan_value(plan, node->inputs[i]));
        tiles += l->tiles;
        if (l->n > 1 || (i + 1 < node->input_count && l->c % 4))
            return lower_all(plan, node);
    }
    return tsr_plan_concat_in_place(plan, node, parts, node->input_count) ? plan->status
                                                                          : lower_all(plan, node);
}

tsr_lower_fn *const plan_lowerings[TSR_OP_COUNT] = {
    [TSR_OP_Relu] = lower_all,        [TSR_OP_Add] = lower_all,       [TSR_OP_Neg] = lower_precise,
    [TSR_OP_Sigmoid] = lower_slices,  [TSR_OP_Concat] = lower_concat, [TSR_OP_MaxPool] = lower_all,
    [TSR_OP_DepthToSpace] = lower_all};

static tsr_plan *make_plan(const tsr_graph *graph, plan_device device, tsr_plan_options options) {
    options.device.planes = device == TEXTURES4 ? 4 : 0;
    options.device.language = TSR_GLSL;
    options.device.software = options.device.bins = device == SOFTWARE;
    if (device != BUFFERS)
        options.limits = (tsr_layout_limits){.max_texture_size = 2048, .max_planes = 8};
    else
        options.limits = (tsr_layout_limits){.max_planes = 1, .max_buffer_bytes = 64 << 20};
    tsr_plan *plan;
    assert_int_equal(tsr_plan_create(graph, &options, &plan), TSR_OK);
    return plan;
}

tsr_plan *plan_for(const tsr_graph *graph, plan_device device, bool half, bool keep_all) {
    return make_plan(
        graph, device,
        (tsr_plan_options){.half = half, .keep_all = keep_all, .lower = plan_lowerings});
}

/* ---- what must hold for every plan ---- */

static int root_of(const tsr_plan *plan, int tensor) {
    return plan->tensors[tensor].root;
}

/* Must it, or a part of it, be readable after a run? */
static bool is_kept(const tsr_plan *plan, int tensor) {
    for (int i = 1; i < plan->tensor_count; i++)
        if (root_of(plan, i) == tensor && plan->tensors[i].keep)
            return true;
    return false;
}

/* Is the tensor, or a part of it, needed while pass i runs? */
static bool alive_in(const tsr_plan *plan, int tensor, int i) {
    bool written = false, read_later = false, kept = is_kept(plan, tensor);
    for (int j = 0; j < plan->pass_count; j++) {
        const tsr_pass *pass = &plan->passes[j];
        bool writes = false;
        for (int k = 0; k < tsr_pass_count_writes(pass); k++)
            writes = writes || root_of(plan, tsr_pass_written(pass, k)) == tensor;
        written = written || (j <= i && writes);
        read_later = read_later || (j == i && writes);
        for (int s = 0; s < pass->source_count; s++)
            read_later = read_later || (j >= i && root_of(plan, pass->sources[s]) == tensor);
    }
    bool input = kept && plan->tensors[tensor].first_pass < 0;
    return (input || written) && (read_later || kept);
}

static bool overlap(const tsr_plan *plan, const tsr_layout *a, const tsr_layout *b) {
    int64_t a_unit = plan->limits.max_buffer_bytes ? tsr_texel_bytes(a->format) : 16,
            b_unit = plan->limits.max_buffer_bytes ? tsr_texel_bytes(b->format) : 16;
    return a->texture_x * a_unit < (b->texture_x + b->texture_w) * b_unit &&
           b->texture_x * b_unit < (a->texture_x + a->texture_w) * a_unit &&
           a->texture_y < b->texture_y + b->texture_h && b->texture_y < a->texture_y + a->texture_h;
}

static bool shares_storage(const tsr_plan_tensor *a, const tsr_plan_tensor *b) {
    const int s[] = {a->storage, a->storage_high}, t[] = {b->storage, b->storage_high};
    for (int i = 0; i < 4; i++)
        if (s[i / 2] != TSR_NONE && s[i / 2] == t[i % 2])
            return true;
    return false;
}

static void check_apart(const tsr_plan *plan) {
    for (int a = 1; a < plan->tensor_count; a++)
        for (int b = a + 1; b < plan->tensor_count; b++) {
            const tsr_plan_tensor *s = &plan->tensors[a], *t = &plan->tensors[b];
            if (!shares_storage(s, t) || s->root != a || t->root != b ||
                !overlap(plan, &s->layout, &t->layout))
                continue;
            for (int i = 0; i < plan->pass_count; i++)
                assert_false(alive_in(plan, a, i) && alive_in(plan, b, i));
        }
}

/* Nothing that is needed, or readable between runs, is in a texture that a pass clears, and the
 * pass draws more than half of it: loading and storing that part would be no more. */
static void check_clears(const tsr_plan *plan) {
    for (int i = 0; i < plan->pass_count; i++) {
        int output = root_of(plan, plan->passes[i].output);
        const tsr_storage *s = &plan->storages[plan->tensors[output].storage];
        const tsr_layout *l = tsr_plan_layout(plan, plan->passes[i].output);
        if (tsr_plan_clears(plan, i))
            assert_true(2 * l->texture_w * l->texture_h > s->texture_w * s->texture_h);
        for (int j = 1; tsr_plan_clears(plan, i) && j < plan->tensor_count; j++)
            if (root_of(plan, j) == j && j != output &&
                shares_storage(&plan->tensors[j], &plan->tensors[output]))
                assert_false(is_kept(plan, j) || alive_in(plan, j, i));
    }
}

/* OpenGL ES and WebGPU refuse it, even of parts that lie apart. */
void check_no_feedback(const tsr_plan *plan) {
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        for (int k = 0; k < tsr_pass_count_writes(pass); k++)
            for (int j = 0; j < pass->source_count; j++)
                assert_false(shares_storage(&plan->tensors[tsr_pass_written(pass, k)],
                                            &plan->tensors[pass->sources[j]]));
    }
}

static void check_inside_storage(const tsr_plan *plan, const tsr_layout *l, const tsr_storage *s) {
    if (l->buffer) {
        int64_t unit = tsr_texel_bytes(l->format);
        assert_int_equal(l->texture_x * unit % 256, 0);
        assert_true((l->texture_x + l->texture_w) * unit <= (int64_t)s->texture_w * 16);
        return;
    }
    assert_int_equal(s->format, l->format);
    assert_true(l->texture_x + l->texture_w <= s->texture_w);
    assert_true(l->texture_y + l->texture_h <= s->texture_h);
    assert_true(s->texture_w <= plan->limits.max_texture_size);
    assert_true(s->texture_h + TSR_ZERO_ROWS <= plan->limits.max_texture_size);
}

/* A tensor in two storages has the upper half of its planes in the second, of the same size: WebGL2
 * demands that of what is rendered to. */
void check_inside(const tsr_plan *plan) {
    for (int i = 1; i < plan->tensor_count; i++) {
        const tsr_plan_tensor *t = &plan->tensors[i];
        const int storages[] = {t->storage, t->storage_high};
        assert_int_equal(t->in_two && t->storage != TSR_NONE, t->storage_high != TSR_NONE);
        assert_true(t->storage == TSR_NONE || t->storage != t->storage_high);
        for (int j = 0; j < 2 && storages[j] != TSR_NONE; j++) {
            const tsr_storage *s = &plan->storages[storages[j]];
            assert_int_equal(s->planes * (t->in_two ? 2 : 1), t->layout.planes);
            check_inside_storage(plan, &t->layout, s);
            assert_int_equal(s->texture_w, plan->storages[t->storage].texture_w);
            assert_int_equal(s->texture_h, plan->storages[t->storage].texture_h);
        }
    }
}

/* Where a tile begins, in texels of its storage. */
static void find_tile(const tsr_layout *l, int tile, int at[2]) {
    at[0] = l->texture_x + (l->linear ? tile * l->h * l->tile_w
                                      : (tile & ((1 << l->columns_log2) - 1)) * l->tile_w);
    at[1] = l->texture_y + (l->linear ? 0 : (tile >> l->columns_log2) * l->h);
}

/* A part is some of its root's tiles; its passes, which write the whole rectangle, write no other.
 */
static void check_parts(const tsr_plan *plan) {
    for (int i = 1; i < plan->tensor_count; i++) {
        const tsr_plan_tensor *t = &plan->tensors[i], *root = &plan->tensors[t->root];
        const tsr_layout *l = &t->layout, *whole = &root->layout;
        int count = l->n * l->tiles, at[2], expected[2];
        if (t->root == i)
            continue;
        assert_true(t->storage == root->storage && root->root == t->root);
        assert_int_equal(t->storage_high, root->storage_high);
        assert_true(l->planes == whole->planes && l->pixel_stride == whole->pixel_stride);
        assert_true(t->tile >= 0 && t->tile + count <= whole->n * whole->tiles);
        for (int k = 0; k < whole->n * whole->tiles; k++) {
            find_tile(whole, k, expected);
            bool inside = expected[0] >= l->texture_x && expected[1] >= l->texture_y &&
                          expected[0] < l->texture_x + l->texture_w &&
                          expected[1] < l->texture_y + l->texture_h;
            assert_int_equal(inside, k >= t->tile && k < t->tile + count);
            if (!inside)
                continue;
            find_tile(l, k - t->tile, at);
            assert_true(at[0] == expected[0] && at[1] == expected[1]);
        }
    }
}

/* Is the tensor in tiles of another from this one on, or copied there by a pass of the node? */
static bool is_joined(const tsr_plan *plan, int node, int source, int output, int tile) {
    const tsr_plan_tensor *s = &plan->tensors[source], *o = &plan->tensors[output];
    if (s->root == o->root && s->tile == o->tile + tile)
        return true;
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        const tsr_plan_tensor *written = &plan->tensors[pass->output];
        for (int j = 0; pass->node == node && j < pass->source_count; j++)
            if (pass->sources[j] == source &&
                (pass->output == output ||
                 (written->root == o->root && written->tile == o->tile + tile)))
                return true;
    }
    return false;
}

static void check_joins(const tsr_plan *plan) {
    for (int n = 0; n < plan->graph->node_count; n++) {
        const tsr_node *node = &plan->graph->nodes[n];
        for (int i = 0, tile = 0; node->op == TSR_OP_Concat && i < node->input_count; i++) {
            int source = plan->value_tensor[node->inputs[i]];
            assert_true(is_joined(plan, n, source, plan->value_tensor[node->outputs[0]], tile));
            tile += plan->tensors[source].layout.tiles;
        }
    }
}

static void check_bytes(const tsr_plan *plan) {
    uint64_t bytes = 0, bound = 0;
    for (int i = 0; i < plan->storage_count; i++) {
        const tsr_storage *s = &plan->storages[i];
        int rows = s->texture_h + (plan->limits.max_buffer_bytes ? 0 : TSR_ZERO_ROWS);
        bytes += (uint64_t)s->texture_w * (uint64_t)rows * (uint64_t)s->planes *
                 (uint64_t)tsr_texel_bytes(s->format);
    }
    for (int i = 0; i < plan->pass_count; i++) {
        uint64_t live = 0;
        for (int t = 1; t < plan->tensor_count; t++) {
            const tsr_layout *l = &plan->tensors[t].layout;
            if (root_of(plan, t) == t && (plan->tensors[t].alone || alive_in(plan, t, i)))
                live += (uint64_t)(l->n * l->tiles) * (uint64_t)(l->h * l->tile_w * l->planes) *
                        (uint64_t)tsr_texel_bytes(l->format);
        }
        bound = live > bound ? live : bound;
    }
    assert_int_equal(plan->tensor_bytes, bytes);
    assert_int_equal(plan->live_bytes_bound, bound);
    assert_true(bytes >= bound);
}

void check_plan(const tsr_plan *plan) {
    check_apart(plan);
    if (!plan->limits.max_buffer_bytes)
        check_clears(plan);
    check_no_feedback(plan);
    check_inside(plan);
    check_parts(plan);
    check_joins(plan);
    check_bytes(plan);
}
