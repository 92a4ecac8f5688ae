#include "passes/gradient.h"

#include "base/error.h"
#include "graph/infer.h"
#include "passes/fold.h"
#include "passes/gradient_rules.h"

#include <limits.h>
#include <stdio.h>

typedef struct tsr_gradients {
    tsr_graph *graph;
    tsr_node *nodes; /* before the pass */
    int node_count;
    tsr_node_list *list;
    const tsr_gradient_request *of;
    bool *depends; /* by value: floats that change with one of wrt, other than those held */
    int *gradient; /* by value: the sum of what was given so far; TSR_NONE: nothing */
    int *reader;   /* by value: a node that gave it a gradient */
} tsr_gradients;

static const struct {
    tsr_gradient_kind kind;
    tsr_gradient_fn *rule;
} table[TSR_OP_NAMES] = {
#define TSR_GRADIENT(Name, rule) [TSR_OP_##Name] = {TSR_GRADIENT_RULE, tsr_gradient_##rule},
#define TSR_NO_SLOPE(Name) [TSR_OP_##Name] = {TSR_GRADIENT_NO_SLOPE, NULL},
#define TSR_NO_GRADIENT(Name) [TSR_OP_##Name] = {TSR_GRADIENT_REFUSED, NULL},
#include "passes/gradients.def"
};

tsr_gradient_kind tsr_gradient_kind_of(tsr_op op) {
    return table[op].kind;
}

/* ---- what rules use -------------------------------------------------------------------------- */

bool tsr_grad_wants(const tsr_gradient_call *g, int input) {
    return input < g->node->input_count && g->node->inputs[input] != TSR_NONE &&
           g->all->depends[g->node->inputs[input]];
}

int tsr_grad_of_output(const tsr_gradient_call *g, int i) {
    if (i >= g->node->output_count || g->node->outputs[i] == TSR_NONE)
        return TSR_NONE;
    return g->all->gradient[g->node->outputs[i]];
}

void tsr_grad_refuse(tsr_gradient_call *g, const char *what) {
    if (g->b.status == TSR_OK)
        tsr_build_fail(&g->b, tsr_fail(TSR_ERROR_UNSUPPORTED, "%s cannot be differentiated", what));
}

int tsr_grad_axis(tsr_gradient_call *g, int64_t default_value) {
    int axis = 0;
    tsr_build_fail(&g->b, tsr_normalize_axis(tsr_attr_int(g->node, "axis", default_value),
                                             tsr_grad_shape(g, g->x).rank, &axis));
    return axis;
}

void tsr_grad_give(tsr_gradient_call *g, int i, int value) {
    tsr_grad_give_value(g, g->node->inputs[i], value);
}

void tsr_grad_give_value(tsr_gradient_call *g, int of, int value) {
    const tsr_graph *graph = g->b.graph;
    int *sum = &g->all->gradient[of];
    if (g->b.status != TSR_OK || !g->all->depends[of])
        return;
    const tsr_shape shape = graph->values[of].shape;
    if (graph->values[value].dtype != graph->values[of].dtype)
        value = tsr_build_cast_like(&g->b, value, of);
    value = *sum == TSR_NONE ? tsr_grad_expand(g, value, &shape) : TSR_GRAD(g, Add, *sum, value);
    if (g->b.status == TSR_OK && !tsr_shape_equal(&graph->values[value].shape, &shape))
        tsr_build_fail(&g->b,
                       tsr_fail(TSR_ERROR_SHAPE, "a gradient of shape %s for '%s' of shape %s",
                                tsr_shape_text(&graph->values[value].shape), graph->values[of].name,
                                tsr_shape_text(&shape)));
    if (g->b.status != TSR_OK)
        return;
    *sum = value;
    g->all->reader[of] = (int)(g->node - g->all->nodes);
}

tsr_shape tsr_grad_shape(const tsr_gradient_call *g, int value) {
    return value == TSR_NONE ? (tsr_shape){0} : g->b.graph->values[value].shape;
}

int tsr_grad_reshape(tsr_gradient_call *g, int value, const tsr_shape *shape) {
    const tsr_shape from = tsr_grad_shape(g, value);
    return tsr_shape_equal(&from, shape) ? value : tsr_build_reshape(&g->b, value, shape);
}

int tsr_grad_reduce(tsr_gradient_call *g, tsr_op op, int value, int count, const int64_t *axes) {
    if (count == 0)
        return value;
    return TSR_BUILD(&g->b, op, value, tsr_build_ints(&g->b, count, axes));
}

int tsr_grad_expand(tsr_gradient_call *g, int value, const tsr_shape *shape) {
    const tsr_shape from = tsr_grad_shape(g, value);
    if (tsr_shape_equal(&from, shape))
        return value;
    return TSR_GRAD(g, Expand, value, tsr_build_ints(&g->b, shape->rank, shape->dim));
}

int tsr_grad_zeros(tsr_gradient_call *g, const tsr_shape *shape) {
    return tsr_grad_expand(g, tsr_build_number(&g->b, 0), shape);
}

int tsr_grad_where(tsr_gradient_call *g, int mask, int value) {
    return TSR_GRAD(g, Where, mask, value, tsr_build_number(&g->b, 0));
}

int tsr_grad_scale(tsr_gradient_call *g, int value, float number) {
    return number == 1 ? value : TSR_GRAD(g, Mul, value, tsr_build_number(&g->b, number));
}

int tsr_grad_transpose(tsr_gradient_call *g, int value, const int64_t *perm) {
    const tsr_attr order = tsr_build_ints_attr(&g->b, "perm", tsr_grad_shape(g, value).rank, perm);
    return tsr_build_with(&g->b, TSR_OP_Transpose, 1, &value, 1, &order);
}

int tsr_grad_apply_matrix(tsr_gradient_call *g, int value, int axis, int64_t to,
                          const float *matrix) {
    tsr_shape shape = tsr_grad_shape(g, value);
    const tsr_shape seen = {3,
                            {tsr_dim_product(&shape, 0, axis), shape.dim[axis],
                             tsr_dim_product(&shape, axis + 1, shape.rank)}},
                    size = {2, {to, shape.dim[axis]}};
    int product = TSR_GRAD(g, MatMul, tsr_build_floats(&g->b, &size, matrix),
                           tsr_grad_reshape(g, value, &seen));
    shape.dim[axis] = to;
    return tsr_grad_reshape(g, product, &shape);
}

/* ---- messages -------------------------------------------------------------------------------- */

static bool is_listed(const int *list, int count, int value) {
    for (int i = 0; i < count; i++)
        if (list[i] == value)
            return true;
    return false;
}

static bool is_wrt(const tsr_gradients *all, int value) {
    return is_listed(all->of->wrt, all->of->wrt_count, value);
}

bool tsr_grad_is_asked(const tsr_gradient_call *g, int value) {
    return is_wrt(g->all, value) || is_listed(g->all->of->held, g->all->of->held_count, value);
}

static int find_dependent(const tsr_gradients *all, const tsr_node *node) {
    /* Which elements of its input 1 are positive has no slope. */
    int count = node->op == TSR_OP_LeakyReluGrad ? 1 : node->input_count;
    for (int i = 0; i < count; i++)
        if (node->inputs[i] != TSR_NONE && all->depends[node->inputs[i]])
            return node->inputs[i];
    return TSR_NONE;
}

/* The nodes from one that cannot be differentiated to the loss: ", 'b', 'c'". */
static void write_way(const tsr_gradients *all, const tsr_node *node, char *text, size_t size) {
    enum { SHOWN = 8 };
    size_t used = 0;
    text[0] = '\0';
    for (int shown = 0; node && used < size; shown++) {
        int next = TSR_NONE;
        for (int i = 0; i < node->output_count && next == TSR_NONE; i++)
            if (node->outputs[i] != TSR_NONE && all->gradient[node->outputs[i]] != TSR_NONE)
                next = all->reader[node->outputs[i]];
        node = next == TSR_NONE ? NULL : &all->nodes[next];
        if (!node)
            return;
        used += (size_t)snprintf(text + used, size - used, shown < SHOWN ? ", '%.60s'" : ", ...",
                                 node->name);
        if (shown == SHOWN)
            return;
    }
}

static tsr_status explain(const tsr_gradients *all, const tsr_node *node, tsr_status status) {
    char way[1024];
    int from = find_dependent(all, node);
    write_way(all, node, way, sizeof way);
    while (!is_wrt(all, from))
        from = find_dependent(all, &all->nodes[all->graph->values[from].producer]);
    return tsr_fail_context(status, "node '%s' (%s), by which '%s' depends on '%s' (by '%s'%s)",
                            node->name, tsr_node_op_name(node),
                            all->graph->values[all->of->loss].name, all->graph->values[from].name,
                            node->name, way);
}

/* ---- the pass -------------------------------------------------------------------------------- */

static tsr_status check_values(const tsr_graph *graph, const tsr_gradient_request *of) {
    const tsr_value *value = &graph->values[of->loss];
    if (!tsr_dtype_is_float(value->dtype) || tsr_shape_count(&value->shape) != 1)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "the loss '%s', %s of shape %s, is no float of one element", value->name,
                        tsr_dtype_name(value->dtype), tsr_shape_text(&value->shape));
    for (int i = 0; i < of->wrt_count; i++) {
        value = &graph->values[of->wrt[i]];
        if (!tsr_dtype_is_float(value->dtype) || value->data)
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                            "there is no gradient with respect to '%s', %s", value->name,
                            value->data ? "a constant" : tsr_dtype_name(value->dtype));
    }
    return TSR_OK;
}

static void mark_dependent(tsr_gradients *all) {
    const tsr_gradient_request *of = all->of;
    for (int i = 0; i < of->wrt_count; i++)
        all->depends[of->wrt[i]] = true;
    for (int n = 0; n < all->node_count; n++) {
        const tsr_node *node = &all->nodes[n];
        if (table[node->op].kind == TSR_GRADIENT_NO_SLOPE || find_dependent(all, node) == TSR_NONE)
            continue;
        for (int i = 0; i < node->output_count; i++) {
            const tsr_value *out = tsr_node_out(all->graph, node, i);
            if (out && tsr_dtype_is_float(out->dtype) &&
                !is_listed(of->held, of->held_count, node->outputs[i]))
                all->depends[node->outputs[i]] = true;
        }
    }
}

static tsr_status begin(tsr_gradients *all) {
    static const float one = 1;
    tsr_graph *graph = all->graph;
    all->depends = TSR_NEW(graph->arena, graph->value_count, bool);
    all->gradient = TSR_NEW(graph->arena, graph->value_count, int);
    all->reader = TSR_NEW(graph->arena, graph->value_count, int);
    if (!all->depends || !all->gradient || !all->reader)
        return tsr_out_of_memory(graph);
    for (int v = 0; v < graph->value_count; v++)
        all->gradient[v] = all->reader[v] = TSR_NONE;
    mark_dependent(all);
    const tsr_value loss = graph->values[all->of->loss];
    all->gradient[all->of->loss] =
        tsr_add_constant(graph, loss.name, "gradient", loss.dtype, &loss.shape, &one);
    return all->gradient[all->of->loss] == TSR_NONE ? TSR_ERROR_OUT_OF_MEMORY : TSR_OK;
}

static int first_gradient(const tsr_gradients *all, const tsr_node *node) {
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE && all->depends[node->outputs[i]] &&
            all->gradient[node->outputs[i]] != TSR_NONE)
            return all->gradient[node->outputs[i]];
    return TSR_NONE;
}

static tsr_status apply_rule(tsr_gradients *all, const tsr_node *node, int dy) {
    /* stands for the node that builders replace: constants have the type of its input 0 */
    const tsr_node made = {.name = tsr_arena_printf(all->graph->arena, "%s.gradient", node->name),
                           .op = node->op,
                           .input_count = 1,
                           .inputs = &dy};
    tsr_gradient_call g = {.b = {.graph = all->graph, .node = &made, .list = all->list},
                           .node = node,
                           .x = node->inputs[0],
                           .y = node->outputs[0],
                           .all = all};
    if (!made.name)
        return tsr_out_of_memory(all->graph);
    g.dy = tsr_grad_of_output(&g, 0);
    if (table[node->op].kind == TSR_GRADIENT_RULE)
        table[node->op].rule(&g);
    else
        tsr_grad_refuse(&g, "it");
    return g.b.status;
}

/* The value that has the place of one that a rule made. */
static int renamed(const int *names, int base, int limit, int value) {
    return value >= base && value < limit && names[value - base] ? names[value - base] : value;
}

/* Values from `base` on that the rule computed by nodes from `first` on, and gave to the node's
 * inputs, are called gradients of those. */
static tsr_status name_gradients(tsr_gradients *all, const tsr_node *node, int first, int base) {
    tsr_graph *graph = all->graph;
    const int limit = graph->value_count;
    int *names = TSR_NEW(graph->arena, limit - base + 1, int);
    if (!names)
        return tsr_out_of_memory(graph);
    for (int i = 0; i < node->input_count; i++) {
        int value = node->inputs[i] == TSR_NONE ? TSR_NONE : all->gradient[node->inputs[i]];
        if (value < base || value >= limit || graph->values[value].data)
            continue;
        int *name = &names[value - base];
        if (!*name)
            *name = tsr_add_value(graph, graph->values[node->inputs[i]].name, "gradient");
        if (*name == TSR_NONE)
            return TSR_ERROR_OUT_OF_MEMORY;
        graph->values[*name].dtype = graph->values[value].dtype;
        graph->values[*name].shape = graph->values[value].shape;
        all->gradient[node->inputs[i]] = *name;
    }
    for (int n = first; n < all->list->count; n++) {
        tsr_node *made = &all->list->nodes[n];
        for (int i = 0; i < made->input_count; i++)
            made->inputs[i] = renamed(names, base, limit, made->inputs[i]);
        made->outputs[0] = renamed(names, base, limit, made->outputs[0]);
    }
    return TSR_OK;
}

static tsr_status differentiate(tsr_gradients *all, const tsr_node *node) {
    int dy = first_gradient(all, node), first = all->list->count, base = all->graph->value_count;
    if (dy == TSR_NONE || find_dependent(all, node) == TSR_NONE)
        return TSR_OK;
    tsr_status status = apply_rule(all, node, dy);
    if (status != TSR_OK)
        return explain(all, node, status);
    TSR_TRY(name_gradients(all, node, first, base));
    tsr_use_node_list(all->list, first);
    for (int n = first; n < all->list->count; n++)
        TSR_TRY(tsr_fold_node(all->graph, &all->list->nodes[n], all->list->folding));
    return TSR_OK;
}

static tsr_status make_gradients(tsr_gradients *all, int *gradients) {
    const tsr_graph *graph = all->graph;
    for (int n = all->node_count - 1; n >= 0; n--)
        TSR_TRY(differentiate(all, &all->nodes[n]));
    for (int i = 0; i < all->of->wrt_count; i++) {
        gradients[i] = all->gradient[all->of->wrt[i]];
        if (gradients[i] == TSR_NONE)
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                            "no differentiable path leads from '%s' to the loss '%s'",
                            graph->values[all->of->wrt[i]].name, graph->values[all->of->loss].name);
    }
    return TSR_OK;
}

tsr_status tsr_append_gradients(tsr_node_list *list, const tsr_gradient_request *request,
                                int *gradients) {
    tsr_gradients all = {.graph = list->graph,
                         .nodes = list->nodes,
                         .node_count = list->count,
                         .list = list,
                         .of = request};
    TSR_TRY(check_values(list->graph, request));
    TSR_TRY(begin(&all));
    return make_gradients(&all, gradients);
}

/* Only the first nodes stay, and what others made is in no node. */
static void undo(tsr_graph *graph, tsr_node *nodes, int node_count, int value_count) {
    graph->nodes = nodes;
    graph->node_count = node_count;
    for (int v = value_count; v < graph->value_count; v++)
        graph->values[v].producer = TSR_NONE;
}

tsr_status tsr_add_gradients(tsr_graph *graph, tsr_eval_fn eval,
                             const tsr_gradient_request *request, int *gradients) {
    const int node_count = graph->node_count, value_count = graph->value_count;
    tsr_node *nodes = graph->nodes;
    tsr_folding folding = tsr_folding_begin(graph, eval);
    tsr_node_list list = {.graph = graph,
                          .nodes = nodes,
                          .count = node_count,
                          .room = node_count,
                          .may_make = INT_MAX,
                          .bytes = &folding.bytes,
                          .folding = &folding};
    tsr_status status = tsr_append_gradients(&list, request, gradients);
    if (status == TSR_OK) {
        tsr_remove_dropped(graph);
        return TSR_OK;
    }
    undo(graph, nodes, node_count, value_count);
    return tsr_fail_context(status, "%s", graph->file);
}
