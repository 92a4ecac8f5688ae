#include "passes/match.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

int tsr_match_reads(const tsr_matcher *m, int value) {
    return value >= 0 && value < m->value_count ? m->readers[value] : 0;
}

tsr_node *tsr_match_node(const tsr_matcher *m, int value, tsr_op op) {
    if (value == TSR_NONE || m->graph->values[value].producer == TSR_NONE)
        return NULL;
    tsr_node *node = &m->graph->nodes[m->graph->values[value].producer];
    return node->op == op && node->output_count == 1 && !node->post_count ? node : NULL;
}

tsr_node *tsr_match_part(const tsr_matcher *m, int value, tsr_op op, int reads) {
    tsr_node *node = tsr_match_node(m, value, op);
    return node && tsr_match_reads(m, value) == reads ? node : NULL;
}

/* ---- numbers ---- */

bool tsr_match_number(const tsr_matcher *m, int value, float *number) {
    if (value == TSR_NONE)
        return false;
    const tsr_value *v = &m->graph->values[value];
    if (!v->data || tsr_shape_count(&v->shape) != 1)
        return false;
    *number = tsr_dtype_is_float(v->dtype) ? *(const tsr_unaligned_float *)v->data
                                           : (float)*(const int64_t *)v->data;
    return true;
}

bool tsr_is_near(double a, double b) {
    return fabs(a - b) <= 1e-6 * fabs(b);
}

bool tsr_match_equals(const tsr_matcher *m, int value, double number) {
    float given;
    return tsr_match_number(m, value, &given) && tsr_is_near((double)given, number);
}

int tsr_match_other(const tsr_node *node, int value) {
    return node->inputs[0] == value   ? node->inputs[1]
           : node->inputs[1] == value ? node->inputs[0]
                                      : TSR_NONE;
}

int tsr_match_sum(const tsr_matcher *m, int value, double number) {
    const tsr_node *add = tsr_match_part(m, value, TSR_OP_Add, 1);
    for (int i = 0; add && i < 2; i++)
        if (tsr_match_equals(m, add->inputs[i], number))
            return add->inputs[1 - i];
    return TSR_NONE;
}

/* ---- products ---- */

/* A chain of many would be walked again and again. */
enum { MAX_DEPTH = 4 };

static void multiply(const tsr_matcher *m, int value, int depth, tsr_product *product) {
    float number;
    if (tsr_match_number(m, value, &number)) {
        product->number *= (double)number;
        return;
    }
    /* the last node of the product itself may be read by many */
    int reads = depth ? 1 : tsr_match_reads(m, value);
    const tsr_node *mul = tsr_match_part(m, value, TSR_OP_Mul, reads),
                   *div = tsr_match_part(m, value, TSR_OP_Div, reads);
    if (mul && depth < MAX_DEPTH) {
        multiply(m, mul->inputs[0], depth + 1, product);
        multiply(m, mul->inputs[1], depth + 1, product);
    } else if (div && depth < MAX_DEPTH && tsr_match_number(m, div->inputs[1], &number)) {
        product->number /= (double)number;
        multiply(m, div->inputs[0], depth + 1, product);
    } else {
        if (product->count < TSR_MOST_FACTORS)
            product->values[product->count] = value;
        product->count++;
    }
}

tsr_product tsr_match_product(const tsr_matcher *m, int value) {
    tsr_product product = {.number = 1};
    multiply(m, value, 0, &product);
    return product;
}

bool tsr_match_multiple(const tsr_matcher *m, int value, int x, double *number) {
    *number = 1;
    if (value == x)
        return true;
    if (tsr_match_reads(m, value) != 1)
        return false;
    const tsr_product product = tsr_match_product(m, value);
    *number = product.number;
    return product.count == 1 && product.values[0] == x;
}

/* ---- rewriting ---- */

tsr_status tsr_match_each(tsr_graph *graph,
                          tsr_status (*rewrite)(const tsr_matcher *m, tsr_node *node)) {
    const tsr_matcher m = {
        .graph = graph, .readers = tsr_count_readers(graph), .value_count = graph->value_count};
    if (!m.readers)
        return TSR_ERROR_OUT_OF_MEMORY;
    for (int n = 0; n < graph->node_count; n++)
        if (graph->nodes[n].output_count == 1 && !graph->nodes[n].post_count)
            TSR_TRY(rewrite(&m, &graph->nodes[n]));
    return tsr_pass_remove_dead(graph);
}

tsr_status tsr_match_replace(const tsr_matcher *m, tsr_node *node, tsr_op op, int input_count,
                             const int *inputs, int attr_count, const tsr_attr *attrs) {
    tsr_attr *copy = TSR_NEW(m->graph->arena, attr_count + 1, tsr_attr);
    if (!copy)
        return tsr_out_of_memory(m->graph);
    if (attr_count)
        memcpy(copy, attrs, (size_t)attr_count * sizeof *attrs);
    int output = node->outputs[0];
    TSR_TRY(tsr_make_node(m->graph, node->name, op, inputs, input_count, output, node));
    node->attrs = copy;
    node->attr_count = attr_count;
    return TSR_OK;
}

tsr_status tsr_match_replace_unary(const tsr_matcher *m, tsr_node *node, tsr_op op, int x,
                                   const char *param, float value) {
    const tsr_attr attr = {.name = param, .kind = TSR_ATTR_FLOAT, .f = value};
    return tsr_match_replace(m, node, op, 1, &x, param ? 1 : 0, &attr);
}
