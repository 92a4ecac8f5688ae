/* Which states are parts of one tensor, so that a step changes them in as few passes as one. */
#include "api/trainer.h"

#include <limits.h>

#include "base/error.h"

enum { MOST_ELEMENTS = 1 << 24 }; /* of a tensor of several states: any device binds its bytes */

/* Parts of vectors begin at aligned offsets of buffers, or at least at whole texels, so that
 * nothing copies them. */
static int64_t alignment_of(int64_t size) {
    return size % 64 == 0 ? 64 : size % 4 == 0 ? 4 : 1;
}

static const tsr_value *value_of(const tsr_training *t, int state) {
    return &t->graph->values[t->states[state].before];
}

/* One after the other along the first axis; vectors of statistics change in another way than those
 * of parameters. */
static bool are_joined(const tsr_training *t, const tsr_training_group *group, int i, int k) {
    const tsr_shape *a = &value_of(t, i)->shape, *b = &value_of(t, k)->shape;
    const int statistics = group->first + group->parameter_count;
    if (a->rank != b->rank || tsr_shape_count(a) <= 1 || (i < statistics) != (k < statistics) ||
        t->states[i].part != t->states[k].part)
        return false;
    for (int axis = 1; axis < a->rank; axis++)
        if (a->dim[axis] != b->dim[axis])
            return false;
    return a->rank > 1 || alignment_of(a->dim[0]) == alignment_of(b->dim[0]);
}

/* The states from `first` on that are joined with it; how many. */
static int take_members(tsr_training *t, const tsr_training_group *group, int first) {
    int64_t elements = 0;
    int count = 0;
    for (int i = first; i < group->first + group->count; i++) {
        int64_t size = tsr_shape_count(&value_of(t, i)->shape);
        if (i > first && (t->states[i].tensor != TSR_NONE || !are_joined(t, group, first, i) ||
                          size > MOST_ELEMENTS - elements))
            continue;
        t->states[i].tensor = t->tensor_count;
        t->states[i].begin = elements;
        elements += size;
        count++;
    }
    return count;
}

static int add_joined_input(tsr_training *t, int first) {
    tsr_shape shape = value_of(t, first)->shape;
    shape.dim[0] = 0;
    for (int i = first; i < t->state_count; i++)
        if (t->states[i].tensor == t->tensor_count)
            shape.dim[0] += value_of(t, i)->shape.dim[0];
    return tsr_training_add_input(t, value_of(t, first)->name, "joined", &shape);
}

/* The state's rows of a value that has all of its tensor. */
static int build_part(const tsr_training *t, tsr_builder *b, int state, int all) {
    const tsr_shape *shape = &value_of(t, state)->shape;
    const int64_t begin = t->states[state].begin / tsr_dim_product(shape, 1, shape->rank);
    return tsr_build_slice(b, all, 0, begin, begin + shape->dim[0]);
}

/* The state's value becomes a part of the tensor. */
static tsr_status append_part(tsr_training *t, tsr_node_list *list, int state, int tensor) {
    const tsr_value *value = value_of(t, state);
    const tsr_node made = {.name = value->name,
                           .op = TSR_OP_Slice,
                           .input_count = 1,
                           .inputs = &tensor,
                           .output_count = 1,
                           .outputs = &t->states[state].before};
    tsr_builder b = {.graph = t->graph, .node = &made, .list = list};
    build_part(t, &b, state, tensor);
    tsr_build_end(&b);
    return b.status;
}

static tsr_status join(tsr_training *t, const tsr_training_group *group, tsr_node_list *list,
                       int first) {
    int count = take_members(t, group, first),
        before = count == 1 ? t->states[first].before : add_joined_input(t, first);
    if (before == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    for (int i = first; i < t->state_count && count > 1; i++)
        if (t->states[i].tensor == t->tensor_count)
            TSR_TRY(append_part(t, list, i, before));
    t->tensors[t->tensor_count++] = (tsr_training_tensor){before, TSR_NONE};
    return TSR_OK;
}

void tsr_training_build_parts(tsr_training *t, tsr_builder *b, int tensor) {
    const int all = t->tensors[tensor].after;
    for (int i = 0; i < t->state_count && b->status == TSR_OK; i++) {
        tsr_training_state *state = &t->states[i];
        const bool is_whole = state->before == t->tensors[tensor].before;
        if (state->tensor == tensor)
            state->after = is_whole ? all : build_part(t, b, i, all);
    }
}

/* Only what no node computes. */
static void keep_inputs(tsr_graph *graph) {
    int count = 0;
    for (int i = 0; i < graph->input_count; i++)
        if (graph->values[graph->inputs[i]].producer == TSR_NONE)
            graph->inputs[count++] = graph->inputs[i];
    graph->input_count = count;
}

tsr_status tsr_training_join(tsr_training *t, tsr_training_group *group) {
    tsr_graph *graph = t->graph;
    const tsr_node *nodes = graph->nodes;
    const int node_count = graph->node_count;
    tsr_node_list list = {.graph = graph, .may_make = INT_MAX, .bytes = &t->bytes};
    group->first_tensor = t->tensor_count;
    for (int i = group->first; i < group->first + group->count; i++) {
        if (i == group->first + group->parameter_count)
            group->parameter_tensors = t->tensor_count - group->first_tensor;
        if (t->states[i].tensor == TSR_NONE)
            TSR_TRY(join(t, group, &list, i));
    }
    if (group->count == group->parameter_count)
        group->parameter_tensors = t->tensor_count - group->first_tensor;
    group->tensor_count = t->tensor_count - group->first_tensor;
    for (int n = 0; n < node_count; n++)
        TSR_TRY(tsr_append_copy(&list, &nodes[n]));
    tsr_use_node_list(&list, 0);
    keep_inputs(graph);
    return TSR_OK;
}
