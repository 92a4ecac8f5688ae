#include "onnx/reader.h"

#include "base/allocator.h"

typedef enum mark { UNSEEN, OPEN, DONE } mark;

typedef struct frame {
    int node, next_input;
} frame;

/* Depth-first search from each node in the file's order, so that a sorted file keeps its order.
 * Not recursive: a chain of nodes may be as long as the file. */
typedef struct sorter {
    const tsr_graph *graph;
    const tsr_body *body;
    mark *marks;
    frame *stack;
    int depth;
    int *order; /* node indices, dependencies first */
    int count;
} sorter;

static void push(sorter *s, int node) {
    s->marks[node] = OPEN;
    s->stack[s->depth++] = (frame){node, 0};
}

/* Pushes the next open dependency of the node on top of the stack, or pops that node. */
static tsr_status step(sorter *s) {
    frame *top = &s->stack[s->depth - 1];
    const tsr_node *node = &s->body->nodes[top->node];
    while (top->next_input < node->input_count) {
        const tsr_value *value = tsr_node_in(s->graph, node, top->next_input++);
        int producer = value ? value->producer : TSR_NONE;
        if (producer == TSR_NONE || s->marks[producer] == DONE)
            continue;
        if (s->marks[producer] == OPEN)
            return tsr_fail(TSR_ERROR_INVALID_MODEL,
                            "node \"%s\" (%s) depends on its own result \"%s\"", node->name,
                            tsr_node_op_name(node), value->name);
        push(s, producer);
        return TSR_OK;
    }
    s->marks[top->node] = DONE;
    s->order[s->count++] = top->node;
    s->depth--;
    return TSR_OK;
}

static tsr_status visit_all(sorter *s) {
    for (int i = 0; i < s->body->node_count; i++) {
        if (s->marks[i] == UNSEEN)
            push(s, i);
        while (s->depth)
            TSR_TRY(step(s));
    }
    return TSR_OK;
}

static void set_producers(tsr_graph *graph, const tsr_body *body) {
    for (int n = 0; n < body->node_count; n++)
        for (int i = 0; i < body->nodes[n].output_count; i++) {
            tsr_value *value = tsr_node_out(graph, &body->nodes[n], i);
            if (value)
                value->producer = n;
        }
}

tsr_status tsr_onnx_sort(tsr_graph *graph, tsr_body *body) {
    size_t count = (size_t)body->node_count;
    tsr_node *nodes = TSR_NEW(graph->arena, count, tsr_node);
    sorter s = {.graph = graph,
                .body = body,
                .marks = tsr_calloc(count + 1, sizeof *s.marks),
                .stack = tsr_calloc(count + 1, sizeof *s.stack),
                .order = tsr_calloc(count + 1, sizeof *s.order)};
    tsr_status status = TSR_OK;
    if (!nodes || !s.marks || !s.stack || !s.order)
        status = tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to sort %zu nodes", count);
    if (status == TSR_OK) {
        set_producers(graph, body);
        status = visit_all(&s);
    }
    if (status == TSR_OK) {
        for (size_t i = 0; i < count; i++)
            nodes[i] = body->nodes[s.order[i]];
        body->nodes = nodes;
        set_producers(graph, body);
    }
    tsr_free(s.marks);
    tsr_free(s.stack);
    tsr_free(s.order);
    return status;
}
