/* Nodes of integers with scales and zero points: graph_maker.h. */
#include "support/graph_maker_parts.h"

/* Of uint8, by a Cast before the node; its name without the number. */
static void make_zero_point(node_maker *m, const char *name, int from) {
    text_add(&m->text, "Cast f%s%d<%d -> %s%d to=2; ", name, m->node, draw(m, from, 99), name,
             m->node);
}

/* A scale, for each index along an axis or for all. */
static void add_scales(node_maker *m, const tsr_shape *shape, int axis) {
    add_weights(m, 'p', axis >= 0, axis >= 0 ? &shape->dim[axis] : NULL);
}

bool make_quantize(node_maker *m, tsr_op op) {
    int x = pick(m, is_float);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    const int axis = shape->rank && one_in(m, 2) ? draw(m, 0, shape->rank - 1) : -1;
    const bool shifted = axis < 0 && one_in(m, 2);
    text_add(&m->text, "Mul $%d g%d<30 -> a%d; ", x, m->node, m->node);
    if (shifted)
        make_zero_point(m, "z", 0);
    if (op == TSR_OP_DequantizeLinear)
        text_add(&m->text, "QuantizeLinear a%d s%d<0.5 -> b%d; DequantizeLinear b%d", m->node,
                 m->node, m->node, m->node);
    else
        text_add(&m->text, "%s a%d", tsr_op_get_info(op)->name, m->node);
    add_scales(m, shape, axis);
    if (shifted)
        text_add(&m->text, " z%d", m->node);
    add_outputs(m, 1);
    if (axis >= 0)
        text_add(&m->text, " axis=%d", one_in(m, 2) ? axis : axis - shape->rank);
    return true;
}

bool make_dynamic_quantize(node_maker *m, tsr_op op) {
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 3);
    return true;
}

/* Both factors as uint8, "a" and "b" with the node's number, and their zero points "y" and "z". */
static bool make_factors(node_maker *m, bool conv) {
    int x = pick(m, conv ? is_image : is_matrix);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    const int64_t count = draw(m, 1, 9),
                  dims[TSR_MAX_RANK] = {conv ? count : shape->dim[1], conv ? shape->dim[1] : count,
                                        1, 1, 1};
    text_add(&m->text, "QuantizeLinear $%d t%d<0.05 -> a%d; QuantizeLinear", x, m->node, m->node);
    add_weights(m, 'p', conv ? shape->rank : 2, dims);
    text_add(&m->text, " u%d<0.03 -> b%d; ", m->node, m->node);
    make_zero_point(m, "y", 0);
    make_zero_point(m, "z", 0);
    return true;
}

bool make_qlinear(node_maker *m, tsr_op op) {
    if (!make_factors(m, op == TSR_OP_QLinearConv))
        return false;
    make_zero_point(m, "o", 1);
    text_add(&m->text, "%s a%d h%d<0.05 y%d b%d j%d<0.03 z%d l%d<0.2 o%d",
             tsr_op_get_info(op)->name, m->node, m->node, m->node, m->node, m->node, m->node,
             m->node, m->node);
    add_outputs(m, 1);
    return true;
}

bool make_integer_sums(node_maker *m, tsr_op op) {
    if (!make_factors(m, op == TSR_OP_ConvInteger))
        return false;
    text_add(&m->text, "%s a%d b%d", tsr_op_get_info(op)->name, m->node, m->node);
    text_add(&m->text, one_in(m, 2) ? " y%d z%d" : " _ z%d", m->node, m->node);
    add_outputs(m, 1);
    return true;
}
