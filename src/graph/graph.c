#include "graph/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

/* ---- dtypes and shapes ---- */

bool tsr_graph_append(tsr_graph *graph, int **list, int *count, int value) {
    int *longer = TSR_NEW(graph->arena, *count + 1, int);
    if (!longer)
        return false;
    if (*count)
        memcpy(longer, *list, (size_t)*count * sizeof **list);
    longer[(*count)++] = value;
    *list = longer;
    return true;
}

bool tsr_graph_is_input(const tsr_graph *graph, int value) {
    for (int i = 0; i < graph->input_count; i++)
        if (graph->inputs[i] == value)
            return true;
    return false;
}

bool tsr_graph_is_output(const tsr_graph *graph, int value) {
    for (int i = 0; i < graph->output_count; i++)
        if (graph->outputs[i] == value)
            return true;
    return false;
}

int64_t tsr_shape_count(const tsr_shape *shape) {
    if (shape->rank < 0)
        return -1;
    bool empty = false;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[i] < 0)
            return -1;
        empty |= shape->dim[i] == 0;
    }
    if (empty)
        return 0;
    int64_t count = 1;
    for (int i = 0; i < shape->rank; i++) {
        if (count > INT64_MAX / shape->dim[i])
            return -1;
        count *= shape->dim[i];
    }
    return count;
}

const char *tsr_shape_text(const tsr_shape *shape) {
    static _Thread_local char buffers[8][TSR_MAX_RANK * 22 + 3];
    static _Thread_local unsigned next;
    char *text = buffers[next++ % 8];
    size_t size = sizeof buffers[0], used = 1;
    if (shape->rank < 0)
        return "[unknown rank]";
    text[0] = '[';
    for (int i = 0; i < shape->rank; i++) {
        const char *comma = i ? ", " : "";
        int length = shape->dim[i] < 0
                         ? snprintf(text + used, size - used, "%s?", comma)
                         : snprintf(text + used, size - used, "%s%" PRId64, comma, shape->dim[i]);
        used += (size_t)length;
    }
    memcpy(text + used, "]", 2);
    return text;
}

bool tsr_shape_equal(const tsr_shape *a, const tsr_shape *b) {
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

int64_t tsr_dim_product(const tsr_shape *shape, int first, int last) {
    int64_t count = 1;
    for (int i = first; i < last; i++)
        count *= shape->dim[i];
    return count;
}

tsr_shape tsr_shape_make(int rank, const int64_t *dims) {
    tsr_shape shape = {.rank = rank};
    for (int i = 0; i < rank; i++)
        shape.dim[i] = dims[i];
    return shape;
}

/* ---- graphs ---- */

tsr_graph *tsr_graph_create(const char *file) {
    tsr_arena *arena = tsr_arena_create();
    if (!arena)
        return NULL;
    tsr_graph *graph = TSR_NEW(arena, 1, tsr_graph);
    char *name = tsr_arena_strndup(arena, file ? file : "", file ? strlen(file) : 0);
    struct tsr_weight_steps **weight_steps = TSR_NEW(arena, 1, struct tsr_weight_steps *);
    if (!graph || !name || !weight_steps) {
        tsr_arena_destroy(arena);
        return NULL;
    }
    graph->arena = arena;
    graph->file = name;
    graph->weight_steps = weight_steps;
    graph->name_key = tsr_hash_key_make();
    return graph;
}

void tsr_graph_destroy(tsr_graph *graph) {
    if (graph)
        tsr_arena_destroy(graph->arena);
}

/* A copy of count elements in the arena; sets *failed when out of memory. */
static void *copy_array(tsr_arena *arena, const void *source, int count, size_t size,
                        bool *failed) {
    void *copy = tsr_arena_alloc(arena, (size_t)count, size);
    if (!copy)
        *failed = true;
    else if (count)
        memcpy(copy, source, (size_t)count * size);
    return copy;
}

static void clone_node(tsr_arena *arena, tsr_node *node, bool *failed) {
    node->inputs = copy_array(arena, node->inputs, node->input_count, sizeof(int), failed);
    node->outputs = copy_array(arena, node->outputs, node->output_count, sizeof(int), failed);
    node->attrs = copy_array(arena, node->attrs, node->attr_count, sizeof(tsr_attr), failed);
    node->posts = copy_array(arena, node->posts, node->post_count, sizeof(tsr_post), failed);
}

tsr_graph *tsr_graph_clone(const tsr_graph *source) {
    tsr_graph *clone = tsr_graph_create(source->file);
    if (!clone)
        return NULL;
    tsr_arena *arena = clone->arena;
    const char *file = clone->file;
    struct tsr_weight_steps **weight_steps = clone->weight_steps;
    bool failed = false;
    *clone = *source;
    clone->arena = arena;
    clone->file = file;
    clone->weight_steps = weight_steps;
    clone->value_capacity = source->value_count;
    clone->values =
        copy_array(arena, source->values, source->value_count, sizeof(tsr_value), &failed);
    clone->name_slots =
        copy_array(arena, source->name_slots, source->name_slot_count, sizeof(int), &failed);
    clone->inputs = copy_array(arena, source->inputs, source->input_count, sizeof(int), &failed);
    clone->outputs = copy_array(arena, source->outputs, source->output_count, sizeof(int), &failed);
    clone->nodes = copy_array(arena, source->nodes, source->node_count, sizeof(tsr_node), &failed);
    for (int i = 0; i < clone->node_count && !failed; i++)
        clone_node(arena, &clone->nodes[i], &failed);
    if (failed) {
        tsr_graph_destroy(clone);
        return NULL;
    }
    return clone;
}

/* ---- values by name: open addressing, a slot holds a value's index + 1 and 0 is free ---- */

/* The slot of the name, or the free slot to put it in. At least one slot has to be free. */
static int *find_slot(const tsr_graph *graph, const char *name) {
    uint32_t mask = (uint32_t)graph->name_slot_count - 1;
    uint32_t at = (uint32_t)tsr_siphash(graph->name_key, name, strlen(name)) & mask;
    while (graph->name_slots[at] &&
           strcmp(graph->values[graph->name_slots[at] - 1].name, name) != 0)
        at = (at + 1) & mask;
    return &graph->name_slots[at];
}

int tsr_graph_find_value(const tsr_graph *graph, const char *name) {
    return graph->name_slot_count ? *find_slot(graph, name) - 1 : TSR_NONE;
}

/* If two values have the same name, the first is found. */
static void index_value(tsr_graph *graph, int value) {
    int *slot = find_slot(graph, graph->values[value].name);
    if (!*slot)
        *slot = value + 1;
}

/* Makes room for one more value; at most half of the slots are used. */
static bool reserve_value(tsr_graph *graph) {
    int count = graph->value_count;
    if (count == graph->value_capacity) {
        if (count > (1 << 28))
            return false;
        int capacity = count ? 2 * count : FIRST_CAPACITY;
        tsr_value *values = TSR_NEW(graph->arena, capacity, tsr_value);
        if (!values)
            return false;
        if (count)
            memcpy(values, graph->values, (size_t)count * sizeof *values);
        graph->values = values;
        graph->value_capacity = capacity;
    }
    if (count >= graph->name_slot_count / 2) {
        int slot_count = graph->name_slot_count ? 2 * graph->name_slot_count : 2 * FIRST_CAPACITY;
        int *slots = TSR_NEW(graph->arena, slot_count, int);
        if (!slots)
            return false;
        graph->name_slots = slots;
        graph->name_slot_count = slot_count;
        for (int i = 0; i < count; i++)
            index_value(graph, i);
    }
    return true;
}

int tsr_graph_add_value(tsr_graph *graph, const char *name) {
    const char *copy = tsr_arena_strndup(graph->arena, name, strlen(name));
    if (!copy || !reserve_value(graph))
        return TSR_NONE;
    int index = graph->value_count++;
    graph->values[index] =
        (tsr_value){.name = copy, .dtype = TSR_DTYPE_F32, .shape.rank = -1, .producer = TSR_NONE};
    index_value(graph, index);
    return index;
}

int tsr_graph_add_constant(tsr_graph *graph, const char *name, tsr_dtype dtype,
                           const tsr_shape *shape, const void *data) {
    int index = tsr_graph_add_value(graph, name);
    if (index == TSR_NONE)
        return TSR_NONE;
    tsr_value *value = &graph->values[index];
    value->dtype = dtype;
    value->shape = *shape;
    value->data = data;
    return index;
}

bool tsr_graph_copy_to_arena(tsr_graph *graph, int value) {
    tsr_value *v = &graph->values[value];
    if (!tsr_maps_find(graph->maps, v->data) || (uintptr_t)v->data % _Alignof(float) == 0)
        return true;
    size_t count = (size_t)tsr_shape_count(&v->shape);
    float *taken = TSR_NEW(graph->arena, count, float);
    if (!taken)
        return false;
    memcpy(taken, v->data, count * sizeof *taken);
    v->data = taken;
    tsr_maps_release(graph->maps);
    return true;
}

/* ---- nodes ---- */

const char *tsr_node_op_name(const tsr_node *node) {
    return node->custom ? node->custom->name : tsr_op_get_info(node->op)->name;
}

int tsr_node_count_reads(const tsr_node *node, int value) {
    int count = 0;
    for (int i = 0; i < node->input_count; i++)
        count += node->inputs[i] == value;
    for (int i = 0; i < node->post_count; i++)
        count += node->posts[i].operand == value;
    return count;
}

bool tsr_node_widens_constant(const tsr_graph *graph, const tsr_node *node) {
    const tsr_value *in = node->op == TSR_OP_Cast ? tsr_node_in(graph, node, 0) : NULL;
    return in && in->data && tsr_dtype_is_half(in->dtype) &&
           tsr_attr_int(node, "to", 0) == tsr_dtype_to_onnx(TSR_DTYPE_F32);
}

const tsr_value *tsr_node_in(const tsr_graph *graph, const tsr_node *node, int i) {
    if (i >= node->input_count || node->inputs[i] == TSR_NONE)
        return NULL;
    return &graph->values[node->inputs[i]];
}

tsr_value *tsr_node_out(const tsr_graph *graph, const tsr_node *node, int i) {
    if (i >= node->output_count || node->outputs[i] == TSR_NONE)
        return NULL;
    return &graph->values[node->outputs[i]];
}

const tsr_attr *tsr_node_attr(const tsr_node *node, const char *name) {
    for (int i = 0; i < node->attr_count; i++)
        if (strcmp(node->attrs[i].name, name) == 0)
            return &node->attrs[i];
    return NULL;
}

const void *tsr_attr_bytes(const tsr_attr *attr, size_t *size) {
    *size = 0;
    switch (attr->kind) {
    case TSR_ATTR_INT:
        *size = sizeof attr->i;
        return &attr->i;
    case TSR_ATTR_FLOAT:
        *size = sizeof attr->f;
        return &attr->f;
    case TSR_ATTR_STRING:
        *size = strlen(attr->s);
        return attr->s;
    case TSR_ATTR_INTS:
        *size = (size_t)attr->count * sizeof *attr->ints;
        return attr->ints;
    case TSR_ATTR_FLOATS:
        *size = (size_t)attr->count * sizeof *attr->floats;
        return attr->floats;
    case TSR_ATTR_STRINGS:
    case TSR_ATTR_GRAPH:
        break;
    }
    return NULL;
}

static const tsr_attr *attr_of_kind(const tsr_node *node, const char *name, tsr_attr_kind kind) {
    const tsr_attr *attr = tsr_node_attr(node, name);
    return attr && attr->kind == kind ? attr : NULL;
}

int64_t tsr_attr_int(const tsr_node *node, const char *name, int64_t default_value) {
    const tsr_attr *attr = attr_of_kind(node, name, TSR_ATTR_INT);
    return attr ? attr->i : default_value;
}

float tsr_attr_float(const tsr_node *node, const char *name, float default_value) {
    const tsr_attr *attr = tsr_node_attr(node, name);
    return attr && attr->kind == TSR_ATTR_FLOAT ? attr->f
           : attr && attr->kind == TSR_ATTR_INT ? (float)attr->i
                                                : default_value;
}

const char *tsr_attr_string(const tsr_node *node, const char *name, const char *default_value) {
    const tsr_attr *attr = attr_of_kind(node, name, TSR_ATTR_STRING);
    return attr ? attr->s : default_value;
}

const int64_t *tsr_attr_ints(const tsr_node *node, const char *name, int *count) {
    const tsr_attr *attr = attr_of_kind(node, name, TSR_ATTR_INTS);
    *count = attr ? attr->count : 0;
    return attr ? attr->ints : NULL;
}

const float *tsr_attr_floats(const tsr_node *node, const char *name, int *count) {
    const tsr_attr *attr = attr_of_kind(node, name, TSR_ATTR_FLOATS);
    *count = attr ? attr->count : 0;
    return attr ? attr->floats : NULL;
}

void tsr_op_params(const tsr_node *node, float param[2]) {
    int count, next = 0;
    const tsr_attr_info *attrs = tsr_op_attrs(node->op, &count);
    param[0] = param[1] = 0;
    for (int i = 0; i < count && next < 2; i++)
        if (attrs[i].is_param)
            param[next++] = tsr_attr_float(node, attrs[i].name, attrs[i].default_value);
}

/* ---- lifetimes ------------------------------------------------------------------------------- */

void tsr_graph_last_uses(const tsr_graph *graph, int *last_use) {
    for (int n = 0; n < graph->node_count; n++) {
        const tsr_node *node = &graph->nodes[n];
        for (int i = 0; i < node->output_count; i++)
            if (node->outputs[i] != TSR_NONE)
                last_use[node->outputs[i]] = n;
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] != TSR_NONE)
                last_use[node->inputs[i]] = n;
    }
    for (int i = 0; i < graph->output_count; i++)
        last_use[graph->outputs[i]] = graph->node_count;
}

uint64_t tsr_graph_peak_bytes(const tsr_graph *graph, const int *last_use,
                              uint64_t (*bytes)(const tsr_value *value), uint64_t *change) {
    for (int v = 0; v < graph->value_count; v++) {
        const tsr_value *value = &graph->values[v];
        if (value->data || last_use[v] < 0)
            continue;
        change[value->producer == TSR_NONE ? 0 : value->producer] += bytes(value);
        if (last_use[v] < graph->node_count)
            change[last_use[v] + 1] -= bytes(value); /* wraps modulo 2^64: the sum is right */
    }
    uint64_t live = 0, peak = 0;
    for (int n = 0; n <= graph->node_count; n++) {
        live += change[n];
        peak = live > peak ? live : peak;
    }
    return peak;
}
