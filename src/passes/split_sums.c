#include "passes/split_sums.h"

#include "base/divide.h"
#include "base/error.h"
#include "graph/infer.h"

#include <math.h>
#include <string.h>

static bool yields_floats(const tsr_graph *graph, const tsr_node *node) {
    return node->op == TSR_OP_Cast && tsr_dtype_is_float(tsr_node_out(graph, node, 0)->dtype);
}

bool *tsr_find_exact_reads(const tsr_graph *graph) {
    bool *reads = TSR_NEW(graph->arena, graph->value_count, bool);
    if (!reads) {
        tsr_out_of_memory(graph);
        return NULL;
    }
    for (int n = 0; n < graph->node_count; n++) {
        const tsr_node *node = &graph->nodes[n];
        for (int i = 0; i < node->input_count && !yields_floats(graph, node); i++)
            if (node->inputs[i] != TSR_NONE)
                reads[node->inputs[i]] = true;
    }
    for (int i = 0; i < graph->output_count; i++)
        reads[graph->outputs[i]] = true;
    return reads;
}

static bool are_exact(const tsr_graph *graph, const tsr_node *node, int64_t length, int64_t size) {
    for (int64_t first = 0; first < length; first += size)
        if (tsr_largest_sum(graph, node, first, tsr_min(first + size, length)) > TSR_EXACT_FLOATS)
            return false;
    return true;
}

/* Of the parts, whole texels if they are long; 0 if even the shortest are not exact. */
static int64_t find_size(const tsr_graph *graph, const tsr_node *node) {
    enum { TEXEL = 4 };
    const int64_t length = tsr_node_integer_sum(graph, node).length;
    double whole = tsr_largest_sum(graph, node, 0, length) / TSR_EXACT_FLOATS;
    if (whole > (double)length)
        return 0;
    for (int64_t parts = (int64_t)ceil(whole); parts <= length; parts += tsr_divide_up(parts, 4)) {
        int64_t size = tsr_divide_up(length, parts);
        if (size > TEXEL)
            size = tsr_divide_up(size, TEXEL) * TEXEL;
        if (are_exact(graph, node, length, size))
            return size;
    }
    return are_exact(graph, node, length, 1) ? 1 : 0;
}

bool tsr_must_split_sums(const tsr_graph *graph, const tsr_node *node, const bool *exact_reads) {
    if (!tsr_sums_integers(node) || exact_reads[node->outputs[0]])
        return false;
    const int64_t length = tsr_node_integer_sum(graph, node).length;
    return tsr_largest_sum(graph, node, 0, length) > TSR_EXACT_FLOATS &&
           find_size(graph, node) != 0;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Which of the length a part sums over. */
typedef struct part {
    int64_t first, last;
} part;

/* The axis that is cut; of a Conv's input the channels. */
static int summed_axis(const tsr_builder *b, int input) {
    const int rank = tsr_node_in(b->graph, b->node, input)->shape.rank;
    if (b->node->op == TSR_OP_Conv)
        return 1;
    return input == 0 || rank == 1 ? rank - 1 : rank - 2;
}

static int cut_constant(tsr_builder *b, int input, part p) {
    const tsr_value *value = tsr_node_in(b->graph, b->node, input);
    const tsr_integer_sum sum = tsr_node_integer_sum(b->graph, b->node);
    const tsr_summands s = tsr_node_summands(b->graph, b->node, input);
    const size_t step = (size_t)(sum.taps * s.inner), size = (size_t)(p.last - p.first) * step;
    tsr_shape shape = value->shape;
    shape.dim[summed_axis(b, input)] = p.last - p.first;
    float *elements = tsr_build_elements(b, tsr_shape_count(&shape), sizeof *elements);
    for (int64_t o = 0; elements && o < s.outer; o++)
        memcpy(elements + (size_t)o * size,
               (const tsr_unaligned_float *)value->data + (size_t)(o * sum.length + p.first) * step,
               size * sizeof *elements);
    if (!elements)
        return TSR_NONE;
    int made = tsr_add_constant(b->graph, b->node->name, "weights", value->dtype, &shape, elements);
    return made == TSR_NONE ? tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY) : made;
}

/* Channels of each group. */
static int cut_groups(tsr_builder *b, int64_t groups, part p) {
    const tsr_shape x = tsr_node_in(b->graph, b->node, 0)->shape;
    tsr_shape apart = {.rank = x.rank + 1, .dim = {x.dim[0], groups, x.dim[1] / groups}},
              joined = x;
    for (int i = 2; i < x.rank; i++)
        apart.dim[i + 1] = x.dim[i];
    joined.dim[1] = groups * (p.last - p.first);
    int grouped = tsr_build_reshape(b, b->node->inputs[0], &apart);
    return tsr_build_reshape(b, tsr_build_slice(b, grouped, 2, p.first, p.last), &joined);
}

static int cut(tsr_builder *b, int input, part p) {
    const int64_t groups = tsr_attr_int(b->node, "group", 1);
    if (tsr_node_in(b->graph, b->node, input)->data)
        return cut_constant(b, input, p);
    if (groups > 1 && input == 0)
        return cut_groups(b, groups, p);
    return tsr_build_slice(b, b->node->inputs[input], summed_axis(b, input), p.first, p.last);
}

/* The sums over a part as floats, from exact integers. */
static int sum_part(tsr_builder *b, part p) {
    const int inputs[] = {cut(b, 0, p), cut(b, 1, p)};
    int sums = tsr_build_with(b, b->node->op, 2, inputs, b->node->attr_count, b->node->attrs);
    return tsr_build_cast(b, sums, TSR_DTYPE_F32);
}

/* Sums may be larger than 16 bits hold, unlike what is made of them next. */
static int add_precisely(tsr_builder *b, int left, int right) {
    int sum = TSR_BUILD(b, TSR_OP_Add, left, right);
    if (b->status == TSR_OK)
        b->graph->values[sum].precise = true;
    return sum;
}

void tsr_split_sums(tsr_builder *b) {
    const int64_t length = tsr_node_integer_sum(b->graph, b->node).length,
                  size = find_size(b->graph, b->node);
    int sum = TSR_NONE;
    for (int64_t first = 0; first < length && b->status == TSR_OK; first += size) {
        int sums = sum_part(b, (part){first, tsr_min(first + size, length)});
        sum = first ? add_precisely(b, sum, sums) : sums;
    }
    if (b->status == TSR_OK)
        tsr_node_out(b->graph, b->node, 0)->precise = true;
}

void tsr_keep_precise(const tsr_graph *graph, const tsr_node *node) {
    if (yields_floats(graph, node))
        tsr_node_out(graph, node, 0)->precise |= tsr_node_in(graph, node, 0)->precise;
}
