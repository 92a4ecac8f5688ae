/* Common subexpressions: of nodes with the same operator, attributes and inputs one is computed,
 * the readers of the others read its results. Constants are the same if their elements are. A cheap
 * node (element by element, or movement) stays double where its readers would otherwise be fused
 * into each of the two: a shared result has no post-ops. */
#include "passes/functions.h"

#include "base/error.h"

#include <string.h>

enum { MAX_COMPARED = 16 }; /* nodes of one hash, so that time stays linear */

typedef struct cse {
    tsr_graph *graph;
    int *first;      /* by node: the first one that is the same */
    bool *merges;    /* by first node: the others are dropped */
    int *instead;    /* by value: the same result of the first node; itself */
    bool *is_output; /* by value, of the graph */
    uint64_t *hash;  /* by node */
    int *slots;      /* hash table: index of a first node, plus 1 */
    uint64_t slot_mask;
    int *readers;            /* by first node: nodes that read its results if it is the only one */
    bool *feeds_elementwise; /* by first node: one of these is computed element by element */
} cse;

/* ---- hashes ---------------------------------------------------------------------------------- */

static void mix(const cse *c, uint64_t *hash, const void *bytes, size_t size) {
    const uint64_t both[2] = {*hash, tsr_siphash(c->graph->name_key, bytes, size)};
    *hash = tsr_siphash(c->graph->name_key, both, sizeof both);
}

static size_t constant_bytes(const tsr_value *value) {
    return (size_t)tsr_shape_count(&value->shape) * tsr_stored_size(value->dtype);
}

/* Shape, and the first elements. */
static void mix_constant(const cse *c, uint64_t *hash, const tsr_value *value) {
    enum { SAMPLE = 256 };
    size_t size = constant_bytes(value);
    mix(c, hash, value->shape.dim, (size_t)value->shape.rank * sizeof *value->shape.dim);
    mix(c, hash, value->data, size < SAMPLE ? size : SAMPLE);
}

static void mix_attr(const cse *c, uint64_t *hash, const tsr_attr *attr) {
    size_t size;
    const void *bytes = tsr_attr_bytes(attr, &size);
    mix(c, hash, attr->name, strlen(attr->name));
    if (size)
        mix(c, hash, bytes, size);
}

static uint64_t hash_node(const cse *c, const tsr_node *node) {
    uint64_t hash = (uint64_t)node->op;
    for (int i = 0; i < node->input_count; i++) {
        const tsr_value *in = tsr_node_in(c->graph, node, i);
        int same = in && !in->data ? c->instead[node->inputs[i]] : TSR_NONE;
        mix(c, &hash, &same, sizeof same);
        if (in && in->data)
            mix_constant(c, &hash, in);
    }
    for (int i = 0; i < node->attr_count; i++)
        mix_attr(c, &hash, &node->attrs[i]);
    return hash;
}

/* ---- equality -------------------------------------------------------------------------------- */

static bool same_strings(const tsr_attr *a, const tsr_attr *b) {
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->strings[i], b->strings[i]) != 0)
            return false;
    return true;
}

static bool same_attr(const tsr_attr *a, const tsr_attr *b) {
    size_t size, other_size;
    const void *bytes = tsr_attr_bytes(a, &size), *other = tsr_attr_bytes(b, &other_size);
    if (strcmp(a->name, b->name) != 0 || a->kind != b->kind || a->kind == TSR_ATTR_GRAPH)
        return false;
    if (a->kind == TSR_ATTR_STRINGS)
        return a->count == b->count && same_strings(a, b);
    return size == other_size && (!size || memcmp(bytes, other, size) == 0);
}

static bool same_type(const tsr_value *a, const tsr_value *b) {
    return a->dtype == b->dtype && tsr_shape_equal(&a->shape, &b->shape);
}

/* Weights that the caller may replace are the same only if they are one constant of the model. */
static bool same_constant(const tsr_value *a, const tsr_value *b, bool replaceable) {
    if (!same_type(a, b) || a->scale != b->scale)
        return false;
    if (replaceable && (a->model_constant || b->model_constant))
        return a->model_constant == b->model_constant;
    size_t size = constant_bytes(a);
    return a->data == b->data || size == 0 || memcmp(a->data, b->data, size) == 0;
}

static bool same_input(const cse *c, int a, int b, bool replaceable) {
    if (a == b)
        return true;
    if (a == TSR_NONE || b == TSR_NONE)
        return false;
    const tsr_value *in_a = &c->graph->values[a], *in_b = &c->graph->values[b];
    if (in_a->data && in_b->data)
        return same_constant(in_a, in_b, replaceable);
    return !in_a->data && !in_b->data && c->instead[a] == c->instead[b];
}

static bool same_outputs(const cse *c, const tsr_node *a, const tsr_node *b) {
    if (a->output_count != b->output_count)
        return false;
    for (int i = 0; i < a->output_count; i++) {
        const tsr_value *out_a = tsr_node_out(c->graph, a, i),
                        *out_b = tsr_node_out(c->graph, b, i);
        if (!out_a != !out_b || (out_a && !same_type(out_a, out_b)))
            return false;
    }
    return true;
}

static bool same_node(const cse *c, const tsr_node *a, const tsr_node *b) {
    if (a->op != b->op || a->input_count != b->input_count || a->attr_count != b->attr_count ||
        !same_outputs(c, a, b))
        return false;
    for (int i = 0; i < a->attr_count; i++)
        if (!same_attr(&a->attrs[i], &b->attrs[i]))
            return false;
    bool replaceable = tsr_node_macs(c->graph, a) > 0;
    for (int i = 0; i < a->input_count; i++)
        if (!same_input(c, a->inputs[i], b->inputs[i], replaceable))
            return false;
    return true;
}

/* ---- classes of nodes that are the same ------------------------------------------------------ */

/* A custom operator's function may do more than to compute. */
static bool can_be_same(const tsr_graph *graph, const tsr_node *node) {
    return node->op != TSR_OP_Custom && !node->post_count && !node->again &&
           !tsr_is_random(graph, node);
}

/* The first node that is the same; n if there is none, which then is a first one. */
static int find_first(const cse *c, int n) {
    const tsr_node *nodes = c->graph->nodes;
    uint64_t at = c->hash[n] & c->slot_mask;
    for (int compared = 0; c->slots[at]; at = (at + 1) & c->slot_mask) {
        int other = c->slots[at] - 1;
        if (c->hash[other] != c->hash[n])
            continue;
        if (same_node(c, &nodes[other], &nodes[n]))
            return other;
        if (++compared == MAX_COMPARED)
            return n; /* not in the table: it is compared with none */
    }
    c->slots[at] = n + 1;
    return n;
}

static void find_classes(const cse *c) {
    for (int n = 0; n < c->graph->node_count; n++) {
        const tsr_node *node = &c->graph->nodes[n];
        c->first[n] = n;
        if (!can_be_same(c->graph, node))
            continue;
        c->hash[n] = hash_node(c, node);
        c->first[n] = find_first(c, n);
        const tsr_node *first = &c->graph->nodes[c->first[n]];
        for (int i = 0; i < node->output_count; i++)
            if (node->outputs[i] != TSR_NONE)
                c->instead[node->outputs[i]] = first->outputs[i];
    }
}

/* ---- which of them are merged ---------------------------------------------------------------- */

/* Element by element, or does it only move elements, of whatever type? */
static bool is_cheap(const tsr_node *node) {
    bool moves = tsr_op_has(node->op, TSR_TYPES_NUMBERS) && tsr_op_has(node->op, TSR_TYPES_BOOL);
    return moves || tsr_op_is_elementwise(node->op);
}

static bool writes_output(const cse *c, const tsr_node *node) {
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE && c->is_output[node->outputs[i]])
            return true;
    return false;
}

/* Nodes that write the graph's outputs stay. */
static bool is_dropped(const cse *c, int n) {
    return c->first[n] != n && c->merges[c->first[n]] && !writes_output(c, &c->graph->nodes[n]);
}

static void add_reader(const cse *c, int value, bool elementwise) {
    int producer = value == TSR_NONE ? TSR_NONE : c->graph->values[value].producer;
    if (producer == TSR_NONE)
        return;
    c->readers[c->first[producer]]++;
    c->feeds_elementwise[c->first[producer]] |= elementwise;
}

/* Readers are decided on before what they read: they are later nodes, and so are the first ones of
 * their classes. next: by node, the next one of its class. */
static void decide(const cse *c, const int *next) {
    const tsr_graph *graph = c->graph;
    for (int i = 0; i < graph->output_count; i++)
        add_reader(c, graph->outputs[i], false);
    for (int n = graph->node_count - 1; n >= 0; n--) {
        if (c->first[n] != n)
            continue;
        c->merges[n] =
            c->readers[n] <= 1 || !c->feeds_elementwise[n] || !is_cheap(&graph->nodes[n]);
        for (int member = n; member != TSR_NONE; member = next[member]) {
            const tsr_node *node = &graph->nodes[member];
            for (int i = 0; i < node->input_count && !is_dropped(c, member); i++)
                add_reader(c, node->inputs[i], tsr_op_is_elementwise(node->op));
        }
    }
}

/* The lists that `decide` goes through; NULL when out of memory. */
static int *list_members(const cse *c) {
    int count = c->graph->node_count;
    int *next = TSR_NEW(c->graph->arena, count, int);
    for (int n = count - 1; next && n >= 0; n--)
        next[n] = TSR_NONE;
    for (int n = count - 1; next && n >= 0; n--) {
        int first = c->first[n];
        if (first == n)
            continue;
        next[n] = next[first];
        next[first] = n;
    }
    return next;
}

static void merge(const cse *c) {
    tsr_graph *graph = c->graph;
    for (int n = 0; n < graph->node_count; n++) {
        tsr_node *node = &graph->nodes[n];
        for (int i = 0; i < node->input_count; i++) {
            int value = node->inputs[i],
                producer = value == TSR_NONE ? TSR_NONE : graph->values[value].producer;
            if (producer != TSR_NONE && is_dropped(c, producer))
                node->inputs[i] = c->instead[value];
        }
    }
    for (int n = 0; n < graph->node_count; n++)
        if (is_dropped(c, n))
            tsr_drop_node(graph, &graph->nodes[n]);
    tsr_remove_dropped(graph);
}

static bool allocate(cse *c) {
    tsr_graph *graph = c->graph;
    size_t nodes = (size_t)graph->node_count, values = (size_t)graph->value_count, slots = 16;
    while (slots < 2 * nodes)
        slots *= 2;
    c->slot_mask = slots - 1;
    c->slots = TSR_NEW(graph->arena, slots, int);
    c->hash = TSR_NEW(graph->arena, nodes, uint64_t);
    c->first = TSR_NEW(graph->arena, nodes, int);
    c->readers = TSR_NEW(graph->arena, nodes, int);
    c->merges = TSR_NEW(graph->arena, nodes, bool);
    c->feeds_elementwise = TSR_NEW(graph->arena, nodes, bool);
    c->instead = TSR_NEW(graph->arena, values, int);
    c->is_output = TSR_NEW(graph->arena, values, bool);
    return c->slots && c->hash && c->first && c->readers && c->merges && c->feeds_elementwise &&
           c->instead && c->is_output;
}

tsr_status tsr_pass_cse(tsr_graph *graph) {
    cse c = {.graph = graph};
    if (!allocate(&c))
        return tsr_out_of_memory(graph);
    for (int v = 0; v < graph->value_count; v++)
        c.instead[v] = v;
    for (int i = 0; i < graph->output_count; i++)
        c.is_output[graph->outputs[i]] = true;
    find_classes(&c);
    const int *next = list_members(&c);
    if (!next)
        return tsr_out_of_memory(graph);
    decide(&c, next);
    merge(&c);
    return TSR_OK;
}
