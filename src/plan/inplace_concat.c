/* In-place concat: an operand along N or C whose tiles are contiguous in the output becomes a slice
 * of the output, and its passes write there. Nothing else about these passes changes, but they must
 * not read any slice of the same output, since all are in one storage, and the output's memory is
 * allocated from the first pass that writes a slice.
 *
 * In-place split: a part along N or C whose tiles are contiguous in the input becomes a slice of
 * the input, and those that read it read there. The input's memory is needed as long. */
#include "plan/plan.h"

#include "base/divide.h"
#include "graph/infer.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS_LOG2 = 30 };
/* Bounds the time of planning large graphs: tensors and passes examined before the remaining
 * operands are copied. */
enum { MAX_LOOKED_AT = 1 << 26 };

/* ---- before nodes are lowered ---------------------------------------------------------------- */

/* The planes of a transposed convolution's result if the pixels of a fragment are a stride apart; 0
 * of other results. */
static int strided_planes(const tsr_plan *plan, const tsr_value *value) {
    tsr_window window;
    tsr_layout l;
    const tsr_node *node =
        value->producer == TSR_NONE ? NULL : &plan->graph->nodes[value->producer];
    if (!node || node->op != TSR_OP_ConvTranspose || value->shape.rank != 4 ||
        tsr_node_window(plan->graph, node, &window) != TSR_OK)
        return 0;
    const tsr_layout_hint hint = {.pixel_stride =
                                      (int)tsr_min(window.stride[TSR_COLUMNS], INT16_MAX)};
    return tsr_plan_make_layout(plan, &value->shape, hint, &l) == TSR_OK ? l.planes : 0;
}

/* Is the tensor so small that a draw that copies it costs more than it does to share weights among
 * fewer pixels? */
static bool is_small(const tsr_shape *shape) {
    enum { MOST_TEXELS = 256 };
    return shape->rank == 4 && shape->dim[0] == 1 &&
           tsr_divide_up(shape->dim[1], 4) * shape->dim[2] * shape->dim[3] <= MOST_TEXELS;
}

void tsr_plan_expect_concats(tsr_plan *plan) {
    const tsr_graph *graph = plan->graph;
    for (int n = 0; n < graph->node_count; n++) {
        const tsr_node *node = &graph->nodes[n];
        int planes = 0;
        if (node->op != TSR_OP_Concat || plan->device.planes || plan->limits.max_buffer_bytes)
            continue;
        for (int i = 0; i < node->input_count && !planes; i++)
            planes = strided_planes(plan, tsr_node_in(graph, node, i));
        for (int i = 0; i < node->input_count && planes; i++)
            if (is_small(&tsr_node_in(graph, node, i)->shape))
                plan->value_planes[node->inputs[i]] = planes;
    }
}

/* ---- while nodes are lowered ----------------------------------------------------------------- */

/* Is a tile grid with 2^columns_log2 columns nearly as fast? Buffers have no grid. */
static bool can_regrid(const tsr_plan *plan, const tsr_layout *l, int columns_log2) {
    tsr_layout other = *l;
    return l->buffer || (tsr_layout_regrid(&other, columns_log2, plan->limits.max_texture_size) &&
                         tsr_layout_shading_cost(&other) <= tsr_layout_max_shading_cost(l));
}

static int64_t count_tiles(const tsr_layout *l) {
    return (int64_t)l->n * l->tiles;
}

/* Can slices begin at these tiles? In a grid they begin with a row, in a buffer at an aligned
 * binding offset. */
static bool can_hold(const tsr_plan *plan, const tsr_layout *l, const tsr_concat_operand *operands,
                     int count) {
    int columns_log2 = l->columns_log2;
    for (int i = 0; i < count; i++) {
        int64_t texels = (int64_t)operands[i].tile * l->h * l->w;
        if (l->buffer && texels * tsr_texel_bytes(l->format) % TSR_BINDING_ALIGNED)
            return false;
        const tsr_layout *slice = tsr_plan_layout(plan, plan->value_tensor[operands[i].value]);
        columns_log2 = tsr_layout_slice_columns(operands[i].tile, count_tiles(slice),
                                                count_tiles(l), columns_log2);
    }
    return l->linear == l->buffer && can_regrid(plan, l, columns_log2);
}

/* Of the slice that begins at this tile. */
static int stride_at(const tsr_layout *whole, int tile) {
    return tile < whole->first_tiles ? whole->first_stride : whole->pixel_stride;
}

/* Could the tensor be the slice that begins at this tile? Not a graph input: no pass writes it, and
 * it is kept between runs. Not what has tiles of two pixel strides itself. */
static bool can_be_slice(const tsr_plan_tensor *t, const tsr_layout *whole, int tile) {
    const tsr_layout *l = &t->layout;
    return !t->constant && !t->alone && t->first_pass >= 0 && l->planes == whole->planes &&
           l->pixel_stride == stride_at(whole, tile) && l->format == whole->format &&
           l->linear == whole->linear && !l->first_tiles;
}

/* An operand that occurs twice has to be copied. */
static bool is_operand_once(const tsr_concat_operand *operands, int count, int value) {
    int times = 0;
    for (int i = 0; i < count && times < 2; i++)
        times += operands[i].value == value;
    return times == 1;
}

static int count_reads(const tsr_plan *plan, const tsr_node *node, int tensor) {
    int count = 0;
    for (int i = 0; i < node->input_count; i++)
        count += node->inputs[i] != TSR_NONE && plan->value_tensor[node->inputs[i]] == tensor;
    for (int i = 0; i < node->post_count; i++)
        count += node->posts[i].operand != TSR_NONE &&
                 plan->value_tensor[node->posts[i].operand] == tensor;
    return count;
}

static bool is_read_once(const tsr_plan *plan, int tensor) {
    int count = 0;
    for (int i = 0; i < plan->graph->output_count; i++)
        count += 2 * (plan->value_tensor[plan->graph->outputs[i]] == tensor);
    for (int i = 0; i < plan->graph->node_count && count < 2; i++)
        count += count_reads(plan, &plan->graph->nodes[i], tensor);
    return count == 1 && !plan->keep_all;
}

tsr_pass *tsr_plan_find_host(const tsr_plan *plan, int post_count, int tensor) {
    tsr_pass *host = NULL;
    int writers = 0;
    for (int i = 0; i < plan->pass_count; i++)
        if (plan->passes[i].kind != TSR_PASS_CPU &&
            tsr_pass_writes_only(&plan->passes[i], tensor)) {
            host = &plan->passes[i];
            writers++;
        }
    return writers == 1 && host->kind == TSR_PASS_DRAW &&
                   host->post_count + post_count <= TSR_MAX_PASS_POSTS && is_read_once(plan, tensor)
               ? host
               : NULL;
}

static bool saves_copies(const tsr_plan *plan, const tsr_node *node, const tsr_layout *whole,
                         const tsr_concat_operand *operands, int count) {
    for (int i = 0; i < node->post_count; i++)
        if (node->posts[i].operand != TSR_NONE)
            return false;
    for (int i = 0; i < count; i++) {
        int tensor = plan->value_tensor[operands[i].value];
        if (can_be_slice(&plan->tensors[tensor], whole, operands[i].tile) &&
            is_operand_once(operands, count, operands[i].value) &&
            (!node->post_count || tsr_plan_find_host(plan, node->post_count, tensor)))
            return true;
    }
    return false;
}

/* The largest tensor, so that it need not be copied; of equal ones the last made, since the output
 * is alive from its first slice on. */
static int choose_model(const tsr_plan *plan, const tsr_concat_operand *operands, int count) {
    int best = 0;
    for (int i = 0; i < count; i++) {
        int tensor = plan->value_tensor[operands[i].value];
        int more = tsr_plan_layout(plan, tensor)->tiles - tsr_plan_layout(plan, best)->tiles;
        if (more > 0 || (more == 0 && tensor > best))
            best = tensor;
    }
    return best;
}

static void add_posts(tsr_pass *pass, const tsr_node *node) {
    for (int i = 0; i < node->post_count; i++)
        tsr_pass_post_unary(pass, node->posts[i].op, node->posts[i].param);
}

static void add_operand(tsr_plan *plan, const tsr_node *node, const tsr_concat_operand *operand,
                        int output) {
    int source = plan->value_tensor[operand->value];
    tsr_pass *host = node->post_count ? tsr_plan_find_host(plan, node->post_count, source) : NULL;
    if (host)
        add_posts(host, node);
    tsr_pass *pass =
        TSR_PASS(plan, output, copy, .X = TSR_TENSOR(source), .BROADCAST = TSR_INT(false));
    pass->kind = TSR_PASS_CONCAT;
    pass->tile = operand->tile;
    if (!host)
        add_posts(pass, node);
}

/* Do only kernels read the value that tell tiles of two pixel strides apart: convolutions? */
static bool is_read_by_windows(const tsr_graph *graph, int value) {
    bool windows = !tsr_graph_is_output(graph, value);
    for (int n = 0; n < graph->node_count && windows; n++) {
        const tsr_node *node = &graph->nodes[n];
        int reads = tsr_node_count_reads(node, value);
        windows = reads == 0 || (reads == 1 && node->inputs[0] == value &&
                                 tsr_op_has(node->op, TSR_APPLIES_BEFORE));
    }
    return windows;
}

/* Kernels for few registers divide by them with shifts: glsl/tap.glsl. */
static bool may_mix(const tsr_plan *plan, int first, int second) {
    return !plan->device.fragments.registers ||
           ((first & (first - 1)) == 0 && (second & (second - 1)) == 0);
}

static const tsr_layout *layout_of(const tsr_plan *plan, const tsr_concat_operand *operand) {
    return tsr_plan_layout(plan, plan->value_tensor[operand->value]);
}

/* Where a convolution's result and a transposed one's are joined, as in U-Nets, their pixel strides
 * differ: the first operands keep theirs, the whole has that of the others, if columns are as many.
 * False if that is not so, or not needed. */
static bool mix_strides(const tsr_plan *plan, const tsr_node *node,
                        const tsr_concat_operand *operands, int count, tsr_layout *whole) {
    const tsr_layout *last = layout_of(plan, &operands[count - 1]);
    const tsr_value *out = &plan->graph->values[node->outputs[0]];
    int first = 0, stride = layout_of(plan, &operands[0])->pixel_stride;
    tsr_layout_hint hint = {last->planes, last->pixel_stride,
                            tsr_plan_format(plan, node->outputs[0])};
    if (stride == last->pixel_stride || !may_mix(plan, stride, last->pixel_stride) ||
        !is_read_by_windows(plan->graph, node->outputs[0]) ||
        tsr_layout_make(&out->shape, &plan->limits, hint, whole) != TSR_OK)
        return false;
    while (layout_of(plan, &operands[first])->pixel_stride == stride)
        first++;
    for (int i = 0; i < count; i++) {
        const tsr_layout *l = layout_of(plan, &operands[i]);
        if (l->planes != whole->planes || l->tile_w != whole->tile_w || l->linear ||
            (i >= first && l->pixel_stride != whole->pixel_stride))
            return false;
    }
    whole->first_tiles = operands[first].tile;
    whole->first_stride = stride;
    return !whole->linear;
}

/* The layout of the whole; false if there is none. */
static bool lay_out(const tsr_plan *plan, const tsr_node *node, const tsr_concat_operand *operands,
                    int count, tsr_layout *whole) {
    const tsr_layout *model = tsr_plan_layout(plan, choose_model(plan, operands, count));
    const tsr_value *out = &plan->graph->values[node->outputs[0]];
    tsr_layout_hint hint = {model->planes, model->pixel_stride,
                            tsr_plan_format(plan, node->outputs[0])};
    return mix_strides(plan, node, operands, count, whole) ||
           tsr_layout_make(&out->shape, &plan->limits, hint, whole) == TSR_OK;
}

bool tsr_plan_concat_in_place(tsr_plan *plan, const tsr_node *node,
                              const tsr_concat_operand *operands, int count) {
    if (plan->copies_concats)
        return false;
    for (int i = 0; i < count; i++) {
        int value = operands[i].value, tensor = tsr_plan_value(plan, value);
        if (plan->status != TSR_OK || tensor != plan->value_tensor[value])
            return false; /* a slice would have another channel axis */
    }
    tsr_layout whole;
    if (!lay_out(plan, node, operands, count, &whole) || !can_hold(plan, &whole, operands, count) ||
        !saves_copies(plan, node, &whole, operands, count))
        return false;
    int output = tsr_plan_output_strided(plan, node, 0, whole.pixel_stride);
    tsr_plan_narrow(plan, output, whole.planes);
    plan->tensors[output].layout.first_tiles = whole.first_tiles;
    plan->tensors[output].layout.first_stride = whole.first_stride;
    for (int i = 0; i < count; i++)
        add_operand(plan, node, &operands[i], output);
    return true;
}

int tsr_plan_output_part(tsr_plan *plan, const tsr_node *node, int i, int whole, int tile) {
    const tsr_layout l = *tsr_plan_layout(plan, whole); /* a copy: tensors move */
    int64_t texels = (int64_t)tile * l.h * l.w;
    if (plan->copies_splits || plan->status != TSR_OK || l.linear != l.buffer ||
        (l.buffer && texels * tsr_texel_bytes(l.format) % TSR_BINDING_ALIGNED))
        return 0;
    int part = tsr_plan_output_strided(plan, node, i, l.pixel_stride);
    tsr_plan_narrow(plan, part, l.planes);
    return part;
}

void tsr_plan_split_pass(tsr_plan *plan, int tile) {
    if (plan->status != TSR_OK)
        return;
    tsr_pass *pass = &plan->passes[plan->pass_count - 1];
    pass->kind = TSR_PASS_SPLIT;
    pass->tile = tile;
}

/* ---- after all nodes are lowered ------------------------------------------------------------- */

typedef struct operand {
    int pass, source;
    int64_t texels;
} operand;

/* The tensor that another is a slice of, possibly a slice itself: of a concat's operand, made later
 * than the slice; of a split's part, made earlier. */
typedef struct parent {
    int tensor, tile; /* TSR_NONE: none */
} parent;

typedef struct concats {
    tsr_plan *plan;
    parent *parents;   /* by tensor */
    int *columns_log2; /* by tensor: the most that its slices allow */
    operand *operands;
    int operand_count;
    uint64_t copying_bytes; /* alive at once if all operands are copied */
    uint64_t joined_bytes;  /* once operands are placed, if all parts are copied */
    uint64_t *change;
} concats;

static bool is_placed(const concats *c, const tsr_pass *pass) {
    bool split = pass->kind == TSR_PASS_SPLIT;
    if (!split && pass->kind != TSR_PASS_CONCAT)
        return false;
    const parent *p = &c->parents[split ? pass->output : pass->sources[0]];
    return p->tensor == (split ? pass->sources[0] : pass->output) && p->tile == pass->tile;
}

static void find_root(const concats *c, int i) {
    tsr_plan_tensor *tensors = c->plan->tensors;
    const parent *p = &c->parents[i];
    tensors[i].root = p->tensor == TSR_NONE ? i : tensors[p->tensor].root;
    tensors[i].tile = p->tensor == TSR_NONE ? 0 : tensors[p->tensor].tile + p->tile;
}

/* Outputs of concats are no parts of a split: those that are operands are found first. */
static void find_roots(const concats *c) {
    for (int i = c->plan->tensor_count - 1; i >= 0; i--)
        if (c->parents[i].tensor == TSR_NONE || c->parents[i].tensor > i)
            find_root(c, i);
    for (int i = 0; i < c->plan->tensor_count; i++)
        if (c->parents[i].tensor != TSR_NONE && c->parents[i].tensor < i)
            find_root(c, i);
}

static void place(const concats *c, int tensor, parent p) {
    c->parents[tensor] = p;
    find_roots(c);
}

/* Would a pass read its output, or another slice of the same root? */
static bool has_feedback(const concats *c) {
    const tsr_plan *plan = c->plan;
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        if (is_placed(c, pass))
            continue;
        for (int s = 0; pass->kind != TSR_PASS_CPU && s < pass->source_count; s++)
            if (plan->tensors[pass->sources[s]].root == plan->tensors[pass->output].root)
                return true;
    }
    return false;
}

static uint64_t count_live_bytes(const concats *c) {
    tsr_plan_find_lifetimes(c->plan);
    return tsr_plan_live_bytes(c->plan, c->change);
}

/* At most 1.5 times the memory in exchange for no copies. */
static bool needs_much_more(const concats *c) {
    return count_live_bytes(c) > c->copying_bytes / 2 * 3;
}

static void try_slice(const concats *c, const tsr_pass *concat) {
    const tsr_plan *plan = c->plan;
    int source = concat->sources[0], root = plan->tensors[concat->output].root;
    const tsr_layout *slice = tsr_plan_layout(plan, source), *whole = tsr_plan_layout(plan, root);
    bool one = count_tiles(slice) == 1; /* it fits any grid */
    int tile = plan->tensors[concat->output].tile + concat->tile;
    int most =
        (int)tsr_min(c->columns_log2[root], one ? MOST_COLUMNS_LOG2 : c->columns_log2[source]);
    int columns_log2 = (int)tsr_min(most, whole->columns_log2);
    if (concat->post_count || c->parents[source].tensor != TSR_NONE ||
        !can_be_slice(&plan->tensors[source], whole, tile) ||
        !can_regrid(plan, whole, columns_log2) || (!one && !can_regrid(plan, slice, columns_log2)))
        return;
    place(c, source, (parent){concat->output, concat->tile});
    if (has_feedback(c) || needs_much_more(c))
        place(c, source, (parent){TSR_NONE, 0});
    else
        c->columns_log2[root] = most;
}

static bool has_same_form(const tsr_layout *part, const tsr_layout *whole) {
    return part->planes == whole->planes && part->pixel_stride == whole->pixel_stride &&
           part->format == whole->format && part->linear == whole->linear;
}

/* The most columns of the root's grid in which the part is a grid, too. */
static int most_part_columns(const concats *c, const tsr_pass *split, int root) {
    const tsr_plan *plan = c->plan;
    int64_t count = count_tiles(tsr_plan_layout(plan, split->output));
    int most = count == 1 ? MOST_COLUMNS_LOG2 : c->columns_log2[split->output];
    return tsr_layout_slice_columns(plan->tensors[split->sources[0]].tile + split->tile, count,
                                    count_tiles(tsr_plan_layout(plan, root)),
                                    (int)tsr_min(c->columns_log2[root], most));
}

/* Copies of parts are not worth more than a sixteenth of the memory, of all parts together. */
static bool needs_more(const concats *c) {
    return count_live_bytes(c) > c->joined_bytes + c->joined_bytes / 16;
}

/* A part that is kept would keep the whole; the grid of one that is alone stays. */
static void try_part(const concats *c, const tsr_pass *split) {
    const tsr_plan *plan = c->plan;
    int from = split->sources[0], part = split->output, root = plan->tensors[from].root;
    const tsr_layout *l = tsr_plan_layout(plan, part), *whole = tsr_plan_layout(plan, root);
    if (plan->tensors[part].keep || plan->tensors[root].constant || plan->tensors[root].in_two ||
        c->parents[part].tensor != TSR_NONE || split->post_count || !has_same_form(l, whole))
        return;
    int most = most_part_columns(c, split, root);
    int columns_log2 = (int)tsr_min(most, whole->columns_log2);
    if ((plan->tensors[root].alone && columns_log2 < whole->columns_log2) ||
        !can_regrid(plan, whole, columns_log2) ||
        (count_tiles(l) > 1 && !can_regrid(plan, l, columns_log2)))
        return;
    place(c, part, (parent){from, split->tile});
    if (has_feedback(c) || needs_more(c))
        place(c, part, (parent){TSR_NONE, 0});
    else
        c->columns_log2[root] = most;
}

/* An operand that stays a separate tensor: a new slice of the output, and a copy into it. */
static void copy_operand(tsr_plan *plan, tsr_pass *pass) {
    const tsr_layout l = *tsr_plan_layout(plan, pass->sources[0]),
                     whole = *tsr_plan_layout(plan, pass->output);
    const tsr_shape shape = {4, {l.n, l.c, l.h, l.w}};
    int slice = tsr_plan_tensor_make(
        plan, &shape, (tsr_layout_hint){whole.planes, stride_at(&whole, pass->tile), whole.format});
    const tsr_plan_tensor *output = &plan->tensors[pass->output];
    if (!slice)
        return;
    plan->tensors[slice].root = output->root;
    plan->tensors[slice].tile = output->tile + pass->tile;
    pass->kind = TSR_PASS_DRAW;
    pass->output = slice;
}

static void settle(const concats *c) {
    tsr_plan *plan = c->plan;
    int count = 0;
    for (int i = 1; i < plan->tensor_count; i++) {
        tsr_layout *l = &plan->tensors[i].layout;
        if (!l->linear && l->columns_log2 > c->columns_log2[i])
            tsr_layout_regrid(l, c->columns_log2[i], plan->limits.max_texture_size);
    }
    for (int i = 0; i < plan->pass_count; i++) {
        tsr_pass pass = plan->passes[i];
        if (is_placed(c, &pass))
            continue;
        if (pass.kind == TSR_PASS_CONCAT)
            copy_operand(plan, &pass);
        if (pass.kind == TSR_PASS_SPLIT)
            pass.kind = TSR_PASS_DRAW;
        plan->passes[count++] = pass;
    }
    plan->pass_count = count;
}

/* The largest operand first, of equal ones the last made: the output is alive from its first slice
 * on. */
static int compare_operands(const void *a, const void *b) {
    const operand *s = a, *t = b;
    if (s->texels != t->texels)
        return s->texels > t->texels ? -1 : 1;
    return s->source != t->source ? t->source - s->source : t->pass - s->pass;
}

static void list_operands(concats *c) {
    const tsr_plan *plan = c->plan;
    for (int i = 0; i < plan->tensor_count; i++) {
        int view_of = plan->tensors[i].view_of;
        c->parents[i].tensor = view_of ? view_of : TSR_NONE;
        c->columns_log2[i] = MOST_COLUMNS_LOG2;
    }
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        if (pass->kind != TSR_PASS_CONCAT)
            continue;
        int source = pass->sources[0], *columns_log2 = &c->columns_log2[pass->output];
        const tsr_layout *l = tsr_plan_layout(plan, source);
        c->operands[c->operand_count++] =
            (operand){i, source, (int64_t)l->n * l->tiles * l->h * l->w};
        *columns_log2 = tsr_layout_slice_columns(pass->tile, count_tiles(l),
                                                 count_tiles(tsr_plan_layout(plan, pass->output)),
                                                 *columns_log2);
    }
    qsort(c->operands, (size_t)c->operand_count, sizeof *c->operands, compare_operands);
}

tsr_status tsr_plan_place_slices(tsr_plan *plan) {
    concats c = {.plan = plan};
    c.parents = TSR_NEW(plan->arena, plan->tensor_count, parent);
    c.columns_log2 = TSR_NEW(plan->arena, plan->tensor_count, int);
    c.operands = TSR_NEW(plan->arena, plan->pass_count + 1, operand);
    c.change = TSR_NEW(plan->arena, plan->pass_count + 1, uint64_t);
    if (!c.parents || !c.columns_log2 || !c.operands || !c.change)
        return tsr_plan_out_of_memory(plan);
    list_operands(&c);
    c.copying_bytes = count_live_bytes(&c);
    int64_t looked_at = plan->tensor_count + plan->pass_count;
    for (int i = 0; i < c.operand_count && looked_at * i < MAX_LOOKED_AT; i++)
        try_slice(&c, &plan->passes[c.operands[i].pass]);
    c.joined_bytes = count_live_bytes(&c);
    for (int i = 0, tried = 0; i < plan->pass_count && looked_at * tried < MAX_LOOKED_AT; i++)
        if (plan->passes[i].kind == TSR_PASS_SPLIT) {
            try_part(&c, &plan->passes[i]);
            tried++;
        }
    settle(&c);
    return plan->status;
}
