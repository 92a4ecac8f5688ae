/* Tensors joined without copies. What is joined along its tiles can be written where it ends up: it
 * becomes a part of the whole, a run of its tiles. A part's passes differ from others in nothing,
 * but they write the storage that all other parts lie in and so may read none of them, and memory
 * for the whole is taken as soon as its first part is written. */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS_LOG2 = 30 };
/* However large a graph is, planning ends soon: tensors and passes looked at before the rest is
 * copied. */
enum { MAX_LOOKED_AT = 1 << 28 };

/* ---- while nodes are lowered ----------------------------------------------------------------- */

static int smaller(int a, int b) {
    return a < b ? a : b;
}

/* Can the tensor lie in a grid with so many columns at little cost? One in a buffer has none. */
static bool can_take(const tsr_plan *plan, const tsr_layout *l, int columns_log2) {
    tsr_layout other = *l;
    return l->buffer || (tsr_layout_regrid(&other, columns_log2, plan->limits.max_texture_size) &&
                         tsr_layout_blocks(&other) <= tsr_layout_most_blocks(l));
}

static int64_t count_tiles(const tsr_layout *l) {
    return (int64_t)l->n * l->tiles;
}

/* Can parts begin at these tiles? In a grid with a row, in a buffer where bindings may. */
static bool can_hold(const tsr_plan *plan, const tsr_layout *l, const tsr_concat_part *parts,
                     int count) {
    int columns_log2 = l->columns_log2;
    for (int i = 0; i < count; i++) {
        int64_t texels = (int64_t)parts[i].tile * l->h * l->w;
        if (l->buffer && texels * (l->half ? 8 : 16) % TSR_BINDING_ALIGNED)
            return false;
        const tsr_layout *part = tsr_plan_layout(plan, plan->value_tensor[parts[i].value]);
        columns_log2 =
            tsr_layout_part_columns(parts[i].tile, count_tiles(part), count_tiles(l), columns_log2);
    }
    return l->linear == l->buffer && can_take(plan, l, columns_log2);
}

/* Could the tensor be written as a part? Inputs are not written by passes, and stay from one run to
 * the next. */
static bool can_be_part(const tsr_plan_tensor *t, const tsr_layout *whole) {
    const tsr_layout *l = &t->layout;
    return !t->constant && t->first_pass >= 0 && l->planes == whole->planes &&
           l->pixel_stride == whole->pixel_stride && l->half == whole->half &&
           l->linear == whole->linear;
}

/* A tensor that is joined twice would be read where it lies. */
static bool is_joined_once(const tsr_concat_part *parts, int count, int value) {
    int times = 0;
    for (int i = 0; i < count && times < 2; i++)
        times += parts[i].value == value;
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

/* The pass that can apply the node's post-ops to the tensor in advance, for nothing else reads it;
 * NULL if there is none. */
static tsr_pass *find_host(const tsr_plan *plan, const tsr_node *node, int tensor) {
    tsr_pass *host = NULL;
    int writers = 0;
    for (int i = 0; i < plan->pass_count; i++)
        if (plan->passes[i].kind != TSR_PASS_CPU && plan->passes[i].output == tensor) {
            host = &plan->passes[i];
            writers++;
        }
    return writers == 1 && host->kind == TSR_PASS_DRAW &&
                   host->post_count + node->post_count <= TSR_MAX_PASS_POSTS &&
                   is_read_once(plan, tensor)
               ? host
               : NULL;
}

static bool saves_copies(const tsr_plan *plan, const tsr_node *node, const tsr_layout *whole,
                         const tsr_concat_part *parts, int count) {
    for (int i = 0; i < node->post_count; i++)
        if (node->posts[i].operand != TSR_NONE)
            return false;
    for (int i = 0; i < count; i++) {
        int tensor = plan->value_tensor[parts[i].value];
        if (can_be_part(&plan->tensors[tensor], whole) &&
            is_joined_once(parts, count, parts[i].value) &&
            (!node->post_count || find_host(plan, node, tensor)))
            return true;
    }
    return false;
}

/* The largest tensor, which then need not be copied; of equal ones the last made, for the whole
 * lives from the first part on. */
static int choose_model(const tsr_plan *plan, const tsr_concat_part *parts, int count) {
    int best = 0;
    for (int i = 0; i < count; i++) {
        int tensor = plan->value_tensor[parts[i].value];
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

static void join_part(tsr_plan *plan, const tsr_node *node, const tsr_concat_part *part,
                      int output) {
    int source = plan->value_tensor[part->value];
    tsr_pass *host = node->post_count ? find_host(plan, node, source) : NULL;
    if (host)
        add_posts(host, node);
    tsr_pass *pass =
        TSR_PASS(plan, output, copy, .X = TSR_TENSOR(source), .BROADCAST = TSR_INT(false));
    pass->kind = TSR_PASS_CONCAT;
    pass->tile = part->tile;
    if (!host)
        add_posts(pass, node);
}

bool tsr_plan_concat_in_place(tsr_plan *plan, const tsr_node *node, const tsr_concat_part *parts,
                              int count) {
    for (int i = 0; i < count; i++)
        tsr_plan_value(plan, parts[i].value);
    if (plan->status != TSR_OK)
        return false;
    const tsr_layout model = *tsr_plan_layout(plan, choose_model(plan, parts, count));
    tsr_layout whole;
    tsr_layout_hint hint = {model.planes, model.pixel_stride, plan->half};
    const tsr_shape *shape = &plan->graph->values[node->outputs[0]].shape;
    if (tsr_layout_make(shape, &plan->limits, hint, &whole) != TSR_OK ||
        !can_hold(plan, &whole, parts, count) || !saves_copies(plan, node, &whole, parts, count))
        return false;
    int output = tsr_plan_output_strided(plan, node, 0, model.pixel_stride);
    tsr_plan_narrow(plan, output, model.planes);
    for (int i = 0; i < count; i++)
        join_part(plan, node, &parts[i], output);
    return true;
}

/* ---- when all are ---------------------------------------------------------------------------- */

typedef struct join {
    int pass, source;
    int64_t texels;
} join;

/* What a tensor was made a part of: one that was made later, itself perhaps a part. */
typedef struct parent {
    int tensor, tile; /* TSR_NONE: none */
} parent;

typedef struct joiner {
    tsr_plan *plan;
    parent *parents;   /* by tensor */
    int *columns_log2; /* by tensor: the most that its grid may have */
    join *joins;
    int join_count;
    uint64_t copying_bytes, *change; /* copying_bytes: alive at once if everything were copied */
} joiner;

static bool is_placed(const joiner *j, const tsr_pass *join) {
    const parent *p = &j->parents[join->sources[0]];
    return p->tensor == join->output && p->tile == join->tile;
}

/* Parents come behind their parts. */
static void find_roots(const joiner *j) {
    tsr_plan_tensor *tensors = j->plan->tensors;
    for (int i = j->plan->tensor_count - 1; i >= 0; i--) {
        const parent *p = &j->parents[i];
        tensors[i].root = p->tensor == TSR_NONE ? i : tensors[p->tensor].root;
        tensors[i].tile = p->tensor == TSR_NONE ? 0 : tensors[p->tensor].tile + p->tile;
    }
}

static void place(const joiner *j, int tensor, parent p) {
    j->parents[tensor] = p;
    find_roots(j);
}

/* Would a pass read what it writes, or another part of it? */
static bool has_feedback(const joiner *j) {
    const tsr_plan *plan = j->plan;
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        if (pass->kind == TSR_PASS_CONCAT && is_placed(j, pass))
            continue;
        for (int s = 0; pass->kind != TSR_PASS_CPU && s < pass->source_count; s++)
            if (plan->tensors[pass->sources[s]].root == plan->tensors[pass->output].root)
                return true;
    }
    return false;
}

/* Half as much again is the price of no copies, at most. */
static bool takes_much_more(const joiner *j) {
    tsr_plan_find_lifetimes(j->plan);
    return tsr_plan_live_bytes(j->plan, j->change) > j->copying_bytes / 2 * 3;
}

static void try_join(const joiner *j, const tsr_pass *join) {
    const tsr_plan *plan = j->plan;
    int source = join->sources[0], root = plan->tensors[join->output].root;
    const tsr_layout *part = tsr_plan_layout(plan, source), *whole = tsr_plan_layout(plan, root);
    bool one = count_tiles(part) == 1; /* it lies in any grid */
    int most = smaller(j->columns_log2[root], one ? MOST_COLUMNS_LOG2 : j->columns_log2[source]);
    int columns_log2 = smaller(most, whole->columns_log2);
    if (join->post_count || j->parents[source].tensor != TSR_NONE ||
        !can_be_part(&plan->tensors[source], whole) || !can_take(plan, whole, columns_log2) ||
        (!one && !can_take(plan, part, columns_log2)))
        return;
    place(j, source, (parent){join->output, join->tile});
    if (has_feedback(j) || takes_much_more(j))
        place(j, source, (parent){TSR_NONE, 0});
    else
        j->columns_log2[root] = most;
}

/* A join that could not be: a tensor of its own in its place, and a copy. */
static void copy_part(tsr_plan *plan, tsr_pass *pass) {
    const tsr_layout l = *tsr_plan_layout(plan, pass->sources[0]),
                     whole = *tsr_plan_layout(plan, pass->output);
    const tsr_shape shape = {4, {l.n, l.c, l.h, l.w}};
    int part = tsr_plan_tensor_make(
        plan, &shape, (tsr_layout_hint){whole.planes, whole.pixel_stride, whole.half});
    const tsr_plan_tensor *output = &plan->tensors[pass->output];
    if (!part)
        return;
    plan->tensors[part].root = output->root;
    plan->tensors[part].tile = output->tile + pass->tile;
    pass->kind = TSR_PASS_DRAW;
    pass->output = part;
}

static void settle(const joiner *j) {
    tsr_plan *plan = j->plan;
    int count = 0;
    for (int i = 1; i < plan->tensor_count; i++) {
        tsr_layout *l = &plan->tensors[i].layout;
        if (!l->linear && l->columns_log2 > j->columns_log2[i])
            tsr_layout_regrid(l, j->columns_log2[i], plan->limits.max_texture_size);
    }
    for (int i = 0; i < plan->pass_count; i++) {
        tsr_pass pass = plan->passes[i];
        if (pass.kind == TSR_PASS_CONCAT && is_placed(j, &pass))
            continue;
        if (pass.kind == TSR_PASS_CONCAT)
            copy_part(plan, &pass);
        plan->passes[count++] = pass;
    }
    plan->pass_count = count;
}

/* The largest part first, of equal ones the last made: the whole lives from its first part on. */
static int compare_joins(const void *a, const void *b) {
    const join *s = a, *t = b;
    if (s->texels != t->texels)
        return s->texels > t->texels ? -1 : 1;
    return s->source != t->source ? t->source - s->source : t->pass - s->pass;
}

static void list_joins(joiner *j) {
    const tsr_plan *plan = j->plan;
    for (int i = 0; i < plan->tensor_count; i++) {
        j->parents[i].tensor = TSR_NONE;
        j->columns_log2[i] = MOST_COLUMNS_LOG2;
    }
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        if (pass->kind != TSR_PASS_CONCAT)
            continue;
        int source = pass->sources[0], *columns_log2 = &j->columns_log2[pass->output];
        const tsr_layout *l = tsr_plan_layout(plan, source);
        j->joins[j->join_count++] = (join){i, source, (int64_t)l->n * l->tiles * l->h * l->w};
        *columns_log2 = tsr_layout_part_columns(pass->tile, count_tiles(l),
                                                count_tiles(tsr_plan_layout(plan, pass->output)),
                                                *columns_log2);
    }
    qsort(j->joins, (size_t)j->join_count, sizeof *j->joins, compare_joins);
}

tsr_status tsr_plan_place_concats(tsr_plan *plan) {
    joiner j = {.plan = plan};
    j.parents = TSR_NEW(plan->arena, plan->tensor_count, parent);
    j.columns_log2 = TSR_NEW(plan->arena, plan->tensor_count, int);
    j.joins = TSR_NEW(plan->arena, plan->pass_count + 1, join);
    j.change = TSR_NEW(plan->arena, plan->pass_count + 1, uint64_t);
    if (!j.parents || !j.columns_log2 || !j.joins || !j.change)
        return tsr_plan_out_of_memory(plan);
    list_joins(&j);
    tsr_plan_find_lifetimes(plan);
    j.copying_bytes = tsr_plan_live_bytes(plan, j.change);
    int64_t looked_at = plan->tensor_count + plan->pass_count;
    for (int i = 0; i < j.join_count && looked_at * i < MAX_LOOKED_AT; i++)
        try_join(&j, &plan->passes[j.joins[i].pass]);
    settle(&j);
    return plan->status;
}
