/* Constant folding: a node of which all inputs are known is evaluated when the session is made. */
#include "passes/fold.h"

#include "base/error.h"
#include "passes/edit.h"
#include "passes/functions.h"

#include <math.h>

/* Limit of the memory of folded results, so that a small file cannot need much: FREE_BYTES, and
 * GROWTH times the bytes of the model's constants. */
enum { FREE_BYTES = 64 << 20, GROWTH = 4 };

/* As tsr_value.data holds them. */
static double bytes_of(const tsr_value *value) {
    return (double)tsr_shape_count(&value->shape) * (double)tsr_stored_size(value->dtype);
}

static void *new_elements(const tsr_graph *graph, const tsr_value *value) {
    uint64_t count = (uint64_t)tsr_shape_count(&value->shape);
    return tsr_arena_alloc(graph->arena, count, tsr_stored_size(value->dtype));
}

static bool is_empty(const tsr_graph *graph, const tsr_node *node) {
    for (int i = 0; i < node->output_count; i++) {
        const tsr_value *out = tsr_node_out(graph, node, i);
        if (out && tsr_shape_count(&out->shape) != 0)
            return false;
    }
    return true;
}

/* All elements of an empty tensor are known: a sum over none of them is a constant. */
static bool has_constant_inputs(const tsr_graph *graph, const tsr_node *node) {
    for (int i = 0; i < node->input_count; i++) {
        const tsr_value *in = tsr_node_in(graph, node, i);
        if (in && !in->data && tsr_shape_count(&in->shape) != 0)
            return false;
    }
    return true;
}

static double output_bytes(const tsr_graph *graph, const tsr_node *node) {
    double bytes = 0;
    for (int i = 0; i < node->output_count; i++)
        if (tsr_node_out(graph, node, i))
            bytes += bytes_of(tsr_node_out(graph, node, i));
    return bytes;
}

/* Does nothing need the node's results to be constant? Integers may be shapes, and too large for a
 * GPU. */
static bool is_optional(const tsr_graph *graph, const tsr_node *node, const tsr_folding *f) {
    for (int i = 0; i < node->output_count && f->needed; i++) {
        const tsr_value *out = tsr_node_out(graph, node, i);
        if (out && (node->outputs[i] >= f->counted || f->needed[node->outputs[i]] ||
                    !tsr_dtype_is_float(out->dtype)))
            return false;
    }
    return f->needed != NULL;
}

static double file_bytes(const tsr_value *value) {
    return (double)tsr_dtype_file_bytes(value->dtype, (uint64_t)tsr_shape_count(&value->shape));
}

/* Would its results need more room in a file than what they are computed from? Shapes, indices and
 * masks, which are made of few numbers, may; what is stored compactly, as weights in fewer bits,
 * stays so. */
static bool makes_file_large(const tsr_graph *graph, const tsr_node *node, const tsr_folding *f) {
    enum { FEW_BYTES = 256, MASK_BYTES = 1 << 16 };
    double read = 0, written = 0;
    for (int i = 0; i < node->input_count; i++) {
        const tsr_value *in = tsr_node_in(graph, node, i);
        bool stays =
            in && f->readers && node->inputs[i] < f->counted && f->readers[node->inputs[i]] > 1;
        read += in && !stays ? file_bytes(in) : 0;
    }
    for (int i = 0; i < node->output_count; i++)
        written += tsr_node_out(graph, node, i) ? file_bytes(tsr_node_out(graph, node, i)) : 0;
    return written > read && (read > FEW_BYTES || written > MASK_BYTES);
}

static bool can_fold(const tsr_graph *graph, const tsr_node *node, const tsr_folding *f) {
    if (is_empty(graph, node) || tsr_op_has(node->op, TSR_READS_SHAPE_ONLY))
        return true;
    if (!has_constant_inputs(graph, node) || is_optional(graph, node, f))
        return false;
    if (f->exports && (tsr_is_random(graph, node) || makes_file_large(graph, node, f)))
        return false;
    double work = tsr_node_work(graph, node), bytes = output_bytes(graph, node);
    if (work > f->work)
        tsr_log(TSR_LOG_INFO,
                "node \"%s\" (%s) has constant inputs, but takes %llu operations: more than are "
                "left of max_work, %llu",
                node->name, tsr_node_op_name(node), (unsigned long long)fmin(work, 1e18),
                (unsigned long long)graph->max_work);
    return work <= f->work && bytes <= f->bytes;
}

/* Elements of 16 bits are floats in memory: those of weights are not copied. */
static tsr_status share(tsr_graph *graph, tsr_node *node) {
    const tsr_value *in = tsr_node_in(graph, node, 0);
    tsr_value *out = tsr_node_out(graph, node, 0);
    out->data = in->data;
    out->model_constant = in->model_constant;
    tsr_drop_node(graph, node);
    return TSR_OK;
}

/* Evaluates the node; its results become constants in the arena. */
static tsr_status fold(tsr_graph *graph, tsr_node *node, tsr_folding *f) {
    for (int i = 0; i < node->input_count; i++) {
        const tsr_value *in = tsr_node_in(graph, node, i);
        if (!in)
            continue;
        void *none = !in->data && !tsr_shape_count(&in->shape) ? new_elements(graph, in) : NULL;
        if (!tsr_graph_copy_to_arena(graph, node->inputs[i]))
            return tsr_out_of_memory(graph);
        f->elements[node->inputs[i]] = none ? none : (void *)in->data;
    }
    for (int i = 0; i < node->output_count; i++) {
        const tsr_value *out = tsr_node_out(graph, node, i);
        if (out && !(f->elements[node->outputs[i]] = new_elements(graph, out)))
            return tsr_out_of_memory(graph);
    }
    TSR_TRY(f->eval(graph, node, f->elements));
    f->bytes -= output_bytes(graph, node);
    f->work -= tsr_node_work(graph, node);
    for (int i = 0; i < node->output_count; i++)
        if (tsr_node_out(graph, node, i))
            tsr_node_out(graph, node, i)->data = f->elements[node->outputs[i]];
    tsr_drop_node(graph, node);
    return TSR_OK;
}

/* In inference the mask is all ones, whatever the data. One that is too large for a constant stays
 * an output of the node. */
static tsr_status fold_dropout_mask(tsr_graph *graph, tsr_node *node, tsr_folding *f) {
    tsr_value *mask = tsr_node_out(graph, node, 1);
    if (!mask || bytes_of(mask) > f->bytes)
        return TSR_OK;
    f->bytes -= bytes_of(mask);
    int64_t count = tsr_shape_count(&mask->shape), *kept = TSR_NEW(graph->arena, count, int64_t);
    if (!kept)
        return tsr_out_of_memory(graph);
    for (int64_t i = 0; i < count; i++)
        kept[i] = 1;
    mask->data = kept;
    mask->producer = TSR_NONE;
    node->output_count = 1;
    return TSR_OK;
}

static double constant_bytes(const tsr_graph *graph) {
    double bytes = 0;
    for (int v = 0; v < graph->value_count; v++)
        if (graph->values[v].data)
            bytes += bytes_of(&graph->values[v]);
    return bytes;
}

/* For the elements of values that were added. */
static tsr_status make_room(const tsr_graph *graph, tsr_folding *f) {
    if (graph->value_count <= f->room)
        return TSR_OK;
    int room = graph->value_count + graph->value_count / 2;
    void **elements = TSR_NEW(graph->arena, room, void *);
    if (!elements)
        return tsr_out_of_memory(graph);
    f->elements = elements; /* nothing is kept from node to node */
    f->room = room;
    return TSR_OK;
}

tsr_folding tsr_folding_begin(const tsr_graph *graph, tsr_eval_fn eval) {
    return (tsr_folding){.eval = eval,
                         .bytes = FREE_BYTES + GROWTH * constant_bytes(graph),
                         .work = (double)graph->max_work};
}

tsr_status tsr_folding_begin_export(const tsr_graph *graph, tsr_eval_fn eval,
                                    tsr_folding *folding) {
    *folding = tsr_folding_begin(graph, eval);
    folding->exports = true;
    folding->counted = graph->value_count;
    folding->readers = tsr_count_readers(graph);
    return folding->readers ? TSR_OK : TSR_ERROR_OUT_OF_MEMORY;
}

tsr_status tsr_fold_node(tsr_graph *graph, tsr_node *node, tsr_folding *f) {
    TSR_TRY(make_room(graph, f));
    if (can_fold(graph, node, f))
        return tsr_node_widens_constant(graph, node) ? share(graph, node) : fold(graph, node, f);
    return node->op == TSR_OP_Dropout ? fold_dropout_mask(graph, node, f) : TSR_OK;
}
