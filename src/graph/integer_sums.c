/* Conv and MatMul of floats that hold integers: how large their sums may become. src/passes makes
 * them of operators of integers; floats are exact up to 2^24 only. */
#include "graph/infer.h"

#include <math.h>

bool tsr_sums_integers(const tsr_node *node) {
    return (node->op == TSR_OP_Conv || node->op == TSR_OP_MatMul) &&
           tsr_node_attr(node, "integers");
}

tsr_dtype tsr_sum_type(const tsr_node *node, tsr_dtype products) {
    return tsr_sums_integers(node) ? TSR_DTYPE_I32 : products;
}

tsr_integer_sum tsr_node_integer_sum(const tsr_graph *graph, const tsr_node *node) {
    const tsr_attr *integers = tsr_node_attr(node, "integers");
    const bool conv = node->op == TSR_OP_Conv;
    const tsr_shape *left = &tsr_node_in(graph, node, 0)->shape,
                    *right = &tsr_node_in(graph, node, 1)->shape;
    return (tsr_integer_sum){
        .length = conv ? right->dim[1] : left->dim[left->rank - 1],
        .taps = conv ? tsr_dim_product(right, 2, right->rank) : 1,
        .largest = {(double)integers->ints[0], (double)integers->ints[1]},
    };
}

tsr_summands tsr_node_summands(const tsr_graph *graph, const tsr_node *node, int input) {
    const tsr_shape *shape = &tsr_node_in(graph, node, input)->shape;
    if (node->op == TSR_OP_Conv) /* input 1 */
        return (tsr_summands){shape->dim[0], 1};
    if (input == 0 || shape->rank == 1)
        return (tsr_summands){tsr_dim_product(shape, 0, shape->rank - 1), 1};
    return (tsr_summands){tsr_dim_product(shape, 0, shape->rank - 2), shape->dim[shape->rank - 1]};
}

/* The largest sum of magnitudes over summands first to last - 1 of `length`. */
static double largest_total(const tsr_unaligned_float *elements, const tsr_summands *s,
                            int64_t length, int64_t first, int64_t last) {
    double largest = 0;
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t i = 0; i < s->inner; i++) {
            double total = 0;
            for (int64_t k = first; k < last; k++)
                total += fabs((double)elements[(o * length + k) * s->inner + i]);
            largest = fmax(largest, total);
        }
    return largest;
}

double tsr_largest_sum(const tsr_graph *graph, const tsr_node *node, int64_t first, int64_t last) {
    const tsr_integer_sum sum = tsr_node_integer_sum(graph, node);
    for (int i = 0; i < 2; i++) {
        const tsr_value *value = tsr_node_in(graph, node, i);
        if (!value->data || (node->op == TSR_OP_Conv && i == 0))
            continue;
        const tsr_summands s = tsr_node_summands(graph, node, i);
        return sum.largest[1 - i] * largest_total(value->data, &s, sum.length * sum.taps,
                                                  first * sum.taps, last * sum.taps);
    }
    return (double)(last - first) * (double)sum.taps * sum.largest[0] * sum.largest[1];
}
