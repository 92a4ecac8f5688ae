#include "passes/build.h"

#include "base/error.h"
#include "graph/infer.h"

#include <math.h>
#include <string.h>

int tsr_build_fail(tsr_builder *b, tsr_status status) {
    b->status = b->status == TSR_OK ? status : b->status;
    return TSR_NONE;
}

static const tsr_attr *copy_attrs(tsr_builder *b, int count, const tsr_attr *attrs) {
    tsr_attr *copy = TSR_NEW(b->graph->arena, count + 1, tsr_attr);
    if (copy && count)
        memcpy(copy, attrs, (size_t)count * sizeof *attrs);
    return copy;
}

tsr_node *tsr_append_node(tsr_node_list *list) {
    if (list->count == list->room) {
        enum { FIRST_ROOM = 64 };
        int room = list->room ? 2 * list->room : FIRST_ROOM;
        tsr_node *nodes = TSR_NEW(list->graph->arena, room, tsr_node);
        if (!nodes) {
            tsr_out_of_memory(list->graph);
            return NULL;
        }
        if (list->count)
            memcpy(nodes, list->nodes, (size_t)list->count * sizeof *nodes);
        list->nodes = nodes;
        list->room = room;
    }
    return &list->nodes[list->count++];
}

tsr_status tsr_append_copy(tsr_node_list *list, const tsr_node *node) {
    tsr_node *copy = tsr_append_node(list);
    if (!copy)
        return TSR_ERROR_OUT_OF_MEMORY;
    *copy = *node;
    return TSR_OK;
}

tsr_status tsr_append_new(tsr_node_list *list, const char *name, tsr_op op, int input_count,
                          const int *inputs, int attr_count, const tsr_attr *attrs, int *value) {
    tsr_graph *graph = list->graph;
    int output = tsr_add_value(graph, name, tsr_op_get_info(op)->name);
    tsr_node *node = output == TSR_NONE ? NULL : tsr_append_node(list);
    if (!node)
        return TSR_ERROR_OUT_OF_MEMORY;
    TSR_TRY(
        tsr_make_node(graph, graph->values[output].name, op, inputs, input_count, output, node));
    node->attrs = TSR_NEW(graph->arena, attr_count, tsr_attr);
    if (!node->attrs)
        return tsr_out_of_memory(graph);
    if (attr_count)
        memcpy(node->attrs, attrs, (size_t)attr_count * sizeof *attrs);
    node->attr_count = attr_count;
    *value = output;
    return TSR_OK;
}

void tsr_use_node_list(const tsr_node_list *list, int first) {
    list->graph->nodes = list->nodes;
    list->graph->node_count = list->count;
    for (int n = first; n < list->count; n++)
        for (int i = 0; i < list->nodes[n].output_count; i++)
            if (list->nodes[n].outputs[i] != TSR_NONE)
                tsr_set_producer(list->graph, n, i, list->nodes[n].outputs[i]);
}

/* NULL after a failure. */
static tsr_node *new_node(tsr_builder *b) {
    if (b->list->may_make == 0) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_UNSUPPORTED,
                                   "it and others that are computed by more than one node need "
                                   "too many in all"));
        return NULL;
    }
    tsr_node *node = tsr_append_node(b->list);
    if (!node)
        tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY);
    b->list->may_make--;
    return node;
}

/* New values; false after a failure. */
static bool make_outputs(tsr_builder *b, int count, int *outputs) {
    for (int i = 0; i < count; i++) {
        outputs[i] = tsr_add_value(b->graph, b->node->name, "part");
        if (outputs[i] == TSR_NONE)
            tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY);
    }
    return b->status == TSR_OK;
}

static tsr_status fill_node(tsr_builder *b, tsr_node *node, tsr_op op, int input_count,
                            const int *inputs, int output_count, const int *outputs) {
    TSR_TRY(tsr_make_node(b->graph, b->node->name, op, inputs, input_count, outputs[0], node));
    if (output_count == 1)
        return TSR_OK;
    node->outputs = TSR_NEW(b->graph->arena, output_count, int);
    if (!node->outputs)
        return tsr_out_of_memory(b->graph);
    memcpy(node->outputs, outputs, (size_t)output_count * sizeof *outputs);
    node->output_count = output_count;
    return TSR_OK;
}

void tsr_build_several(tsr_builder *b, tsr_op op, int input_count, const int *inputs,
                       int attr_count, const tsr_attr *attrs, int output_count, int *outputs) {
    for (int i = 0; i < output_count; i++)
        outputs[i] = TSR_NONE;
    tsr_node *node =
        b->status == TSR_OK && make_outputs(b, output_count, outputs) ? new_node(b) : NULL;
    if (!node)
        return;
    tsr_status status = fill_node(b, node, op, input_count, inputs, output_count, outputs);
    if (status == TSR_OK) {
        node->attrs = (tsr_attr *)copy_attrs(b, attr_count, attrs);
        node->attr_count = attr_count;
        status = node->attrs ? tsr_infer_node(b->graph, node) : tsr_out_of_memory(b->graph);
        b->told = node->attrs && status != TSR_OK;
    }
    tsr_build_fail(b, status);
}

int tsr_build_with(tsr_builder *b, tsr_op op, int input_count, const int *inputs, int attr_count,
                   const tsr_attr *attrs) {
    int output;
    tsr_build_several(b, op, input_count, inputs, attr_count, attrs, 1, &output);
    return b->status == TSR_OK ? output : TSR_NONE;
}

int tsr_build(tsr_builder *b, tsr_op op, int input_count, const int *inputs) {
    return tsr_build_with(b, op, input_count, inputs, 0, NULL);
}

static void write_output(tsr_builder *b, int i) {
    tsr_node *last = &b->list->nodes[b->list->count - 1];
    const tsr_value *from = tsr_node_out(b->graph, last, 0);
    tsr_value *to = tsr_node_out(b->graph, b->node, i);
    to->dtype = from->dtype;
    to->shape = from->shape;
    last->outputs[0] = b->node->outputs[i];
}

void tsr_build_output(tsr_builder *b, int i, int value) {
    if (!tsr_node_out(b->graph, b->node, i))
        return;
    TSR_BUILD(b, TSR_OP_Identity, value);
    if (b->status == TSR_OK)
        write_output(b, i);
}

void tsr_build_end(tsr_builder *b) {
    if (b->status == TSR_OK && tsr_node_out(b->graph, b->node, 0))
        write_output(b, 0);
}

void *tsr_build_elements(tsr_builder *b, int64_t count, size_t size) {
    if (b->status != TSR_OK)
        return NULL;
    if (count < 0 || !((double)count * (double)size <= *b->list->bytes)) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_UNSUPPORTED,
                                   "%lld elements of constants are more than what is left for "
                                   "them, %llu bytes",
                                   (long long)count, (unsigned long long)fmax(*b->list->bytes, 0)));
        return NULL;
    }
    *b->list->bytes -= (double)count * (double)size;
    void *elements = tsr_arena_alloc(b->graph->arena, (uint64_t)count + 1, size);
    if (!elements)
        tsr_build_fail(b, tsr_out_of_memory(b->graph));
    return elements;
}

static int add_constant(tsr_builder *b, tsr_dtype dtype, const tsr_shape *shape, size_t size,
                        const void *elements) {
    if (b->status != TSR_OK)
        return TSR_NONE;
    void *data = tsr_build_elements(b, tsr_shape_count(shape), size);
    if (!data)
        return TSR_NONE;
    memcpy(data, elements, (size_t)tsr_shape_count(shape) * size);
    int value = tsr_add_constant(b->graph, b->node->name, "constant", dtype, shape, data);
    return value == TSR_NONE ? tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY) : value;
}

int tsr_build_floats(tsr_builder *b, const tsr_shape *shape, const float *floats) {
    tsr_dtype dtype = tsr_node_in(b->graph, b->node, 0)->dtype;
    return add_constant(b, tsr_dtype_is_float(dtype) ? dtype : TSR_DTYPE_F32, shape, sizeof *floats,
                        floats);
}

int tsr_build_number(tsr_builder *b, float number) {
    return tsr_build_floats(b, &(tsr_shape){0}, &number);
}

int tsr_build_ints(tsr_builder *b, int count, const int64_t *ints) {
    return add_constant(b, TSR_DTYPE_I64, &(tsr_shape){1, {count}}, sizeof *ints, ints);
}

int tsr_build_index(tsr_builder *b, int64_t index) {
    return add_constant(b, TSR_DTYPE_I64, &(tsr_shape){0}, sizeof index, &index);
}

tsr_attr tsr_int_attr(const char *name, int64_t i) {
    return (tsr_attr){.name = name, .kind = TSR_ATTR_INT, .i = i};
}

tsr_attr tsr_float_attr(const char *name, float f) {
    return (tsr_attr){.name = name, .kind = TSR_ATTR_FLOAT, .f = f};
}

tsr_attr tsr_build_ints_attr(tsr_builder *b, const char *name, int count, const int64_t *ints) {
    int value = tsr_build_ints(b, count, ints);
    return (tsr_attr){.name = name,
                      .kind = TSR_ATTR_INTS,
                      .count = count,
                      .ints = value == TSR_NONE ? NULL : b->graph->values[value].data};
}

int tsr_build_reshape(tsr_builder *b, int value, const tsr_shape *shape) {
    const tsr_attr zeros = tsr_int_attr("allowzero", 1);
    const int inputs[] = {value, tsr_build_ints(b, shape->rank, shape->dim)};
    return tsr_build_with(b, TSR_OP_Reshape, 2, inputs, 1, &zeros);
}

int tsr_build_slice(tsr_builder *b, int value, int64_t axis, int64_t first, int64_t last) {
    return TSR_BUILD(b, TSR_OP_Slice, value, tsr_build_ints(b, 1, &first),
                     tsr_build_ints(b, 1, &last), tsr_build_ints(b, 1, &axis));
}

int tsr_build_indices(tsr_builder *b, tsr_dtype dtype, int64_t count, int axis, int rank) {
    int64_t *ints = tsr_build_elements(b, count, sizeof *ints);
    if (!ints)
        return TSR_NONE;
    tsr_shape shape = {.rank = rank};
    for (int i = 0; i < rank; i++)
        shape.dim[i] = i == axis ? count : 1;
    for (int64_t i = 0; i < count; i++)
        ints[i] = i;
    int value = tsr_add_constant(b->graph, b->node->name, "indices", dtype, &shape, ints);
    return value == TSR_NONE ? tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY) : value;
}

int tsr_build_cast(tsr_builder *b, int value, tsr_dtype to) {
    const tsr_attr type = tsr_int_attr("to", tsr_dtype_to_onnx(to));
    return tsr_build_with(b, TSR_OP_Cast, 1, &value, 1, &type);
}

int tsr_build_cast_like(tsr_builder *b, int value, int like) {
    if (value == TSR_NONE)
        return TSR_NONE;
    return tsr_build_cast(b, value, b->graph->values[like].dtype);
}

int tsr_build_average(tsr_builder *b, int before, int part, int now) {
    int change = TSR_BUILD(b, TSR_OP_Mul, TSR_BUILD(b, TSR_OP_Sub, now, before), part);
    return TSR_BUILD(b, TSR_OP_Add, change, before);
}
