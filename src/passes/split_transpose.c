/* A Transpose of more than four axes, the limit of GPU tensors, becomes Transposes of four axes
 * with Reshapes between them. PyTorch exports PixelShuffle and channel shuffles as such
 * Transposes. */
#include "passes/edit.h"

#include "base/error.h"
#include "graph/infer.h"

#include <string.h>

enum { GPU_AXES = 4, MAX_NODES = 2 * TSR_MAX_RANK + 1 };

/* Axes that stay adjacent are merged to a block; blocks are numbered in the order of the output. */
typedef struct blocks {
    int count;
    int at[TSR_MAX_RANK]; /* the current order of blocks */
    int64_t size[TSR_MAX_RANK];
} blocks;

static blocks find_blocks(const tsr_shape *shape, const int64_t *perm) {
    blocks b = {0};
    int place[TSR_MAX_RANK], first[TSR_MAX_RANK], count = 0, last = TSR_NONE;
    for (int i = 0; i < shape->rank; i++) /* axes of one element are ignored */
        place[i] = shape->dim[i] == 1 ? TSR_NONE : count++;
    for (int i = 0; i < shape->rank; i++) {
        int64_t axis = perm[i];
        if (place[axis] == TSR_NONE)
            continue;
        if (b.count == 0 || place[axis] != last + 1) {
            first[b.count] = place[axis];
            b.size[b.count++] = 1;
        }
        b.size[b.count - 1] *= shape->dim[axis];
        last = place[axis];
    }
    for (int i = 0; i < b.count; i++) {
        int before = 0;
        for (int k = 0; k < b.count; k++)
            before += first[k] < first[i];
        b.at[before] = i;
    }
    return b;
}

static int64_t product(const blocks *b, int begin, int end) {
    int64_t size = 1;
    for (int i = begin; i < end; i++)
        size *= b->size[b->at[i]];
    return size;
}

/* The nodes that replace a node. */
typedef struct chain {
    tsr_graph *graph;
    const tsr_node *node;
    tsr_node *made;
    int count, value; /* number of nodes; the value that the last one writes */
    tsr_status status;
} chain;

/* Appends a node that reads the value of the last one and, if it is a Reshape, a list of
 * dimensions (else TSR_NONE). output: the value to write; TSR_NONE: a new one. NULL after a
 * failure. */
static tsr_node *append(chain *c, tsr_op op, int list, const tsr_shape *shape, int output) {
    const int inputs[2] = {c->value, list};
    if (output == TSR_NONE)
        output = tsr_add_value(c->graph, c->node->name, "moved");
    if (output == TSR_NONE) {
        c->status = TSR_ERROR_OUT_OF_MEMORY;
        return NULL;
    }
    c->graph->values[output].dtype = tsr_node_out(c->graph, c->node, 0)->dtype;
    c->graph->values[output].shape = *shape;
    tsr_node *node = &c->made[c->count++];
    tsr_status status =
        tsr_make_node(c->graph, c->node->name, op, inputs, list == TSR_NONE ? 1 : 2, output, node);
    c->value = output;
    if (status == TSR_OK)
        return node;
    c->status = status;
    return NULL;
}

static void append_reshape(chain *c, const tsr_shape *shape, int output) {
    int list = tsr_add_shape(c->graph, c->node->name, shape);
    if (list == TSR_NONE)
        c->status = TSR_ERROR_OUT_OF_MEMORY;
    else
        append(c, TSR_OP_Reshape, list, shape, output);
}

static void append_transpose(chain *c, const int64_t size[GPU_AXES], const int64_t perm[GPU_AXES]) {
    tsr_shape seen = tsr_shape_make(GPU_AXES, size), moved = seen;
    for (int i = 0; i < GPU_AXES; i++)
        moved.dim[i] = size[perm[i]];
    append_reshape(c, &seen, TSR_NONE);
    tsr_node *node = append(c, TSR_OP_Transpose, TSR_NONE, &moved, TSR_NONE);
    tsr_attr *attr = TSR_NEW(c->graph->arena, 1, tsr_attr);
    int64_t *ints = TSR_NEW(c->graph->arena, GPU_AXES, int64_t);
    if (!node || !attr || !ints) {
        c->status = tsr_out_of_memory(c->graph);
        return;
    }
    memcpy(ints, perm, GPU_AXES * sizeof *perm);
    *attr = (tsr_attr){.name = "perm", .kind = TSR_ATTR_INTS, .count = GPU_AXES, .ints = ints};
    node->attrs = attr;
    node->attr_count = 1;
}

/* At most four blocks: one Transpose. */
static void move_all(chain *c, blocks *b) {
    int64_t size[GPU_AXES] = {1, 1, 1, 1}, perm[GPU_AXES] = {0, 1, 2, 3};
    for (int i = 0; i < b->count; i++) {
        size[i] = b->size[b->at[i]];
        perm[b->at[i]] = i;
    }
    append_transpose(c, size, perm);
}

/* More than four: moves one run of blocks after the other to its place, before those that are
 * not yet sorted. */
static void move_in_turn(chain *c, blocks *b) {
    static const int64_t perm[GPU_AXES] = {0, 2, 1, 3};
    for (int i = 0; i < b->count; i++) {
        int begin = i, end, moved[TSR_MAX_RANK];
        while (b->at[begin] != i)
            begin++;
        if (begin == i)
            continue;
        for (end = begin + 1; end < b->count && b->at[end] == b->at[end - 1] + 1;)
            end++;
        append_transpose(c,
                         (int64_t[]){product(b, 0, i), product(b, i, begin), product(b, begin, end),
                                     product(b, end, b->count)},
                         perm);
        int length = end - begin;
        memcpy(moved, b->at + begin, (size_t)length * sizeof *moved);
        memmove(b->at + i + length, b->at + i, (size_t)(begin - i) * sizeof *moved);
        memcpy(b->at + i, moved, (size_t)length * sizeof *moved);
    }
}

static bool is_wide(const tsr_graph *graph, const tsr_node *node) {
    return node->op == TSR_OP_Transpose && tsr_node_in(graph, node, 0)->shape.rank > GPU_AXES;
}

static void split(chain *c) {
    const tsr_shape shape = tsr_node_out(c->graph, c->node, 0)->shape;
    int64_t perm[TSR_MAX_RANK];
    tsr_node_perm(c->node, shape.rank, perm);
    blocks b = find_blocks(&tsr_node_in(c->graph, c->node, 0)->shape, perm);
    if (b.count > GPU_AXES)
        move_in_turn(c, &b);
    else if (b.count > 1)
        move_all(c, &b);
    append_reshape(c, &shape, c->node->outputs[0]);
}

tsr_status tsr_pass_split_transpose(tsr_graph *graph) {
    size_t room = 0;
    for (int n = 0; n < graph->node_count; n++)
        room += is_wide(graph, &graph->nodes[n]) ? MAX_NODES : 1;
    tsr_node *nodes = TSR_NEW(graph->arena, room, tsr_node);
    if (!nodes)
        return tsr_out_of_memory(graph);
    int count = 0;
    for (int n = 0; n < graph->node_count; n++) {
        const tsr_node *node = &graph->nodes[n];
        if (!is_wide(graph, node)) {
            nodes[count++] = *node;
            continue;
        }
        chain c = {.graph = graph, .node = node, .made = nodes + count, .value = node->inputs[0]};
        split(&c);
        if (c.status != TSR_OK)
            return c.status;
        count += c.count;
    }
    graph->nodes = nodes;
    graph->node_count = count;
    tsr_remove_dropped(graph);
    return TSR_OK;
}
