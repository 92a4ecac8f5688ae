/* Makers of random nodes: losses and updates of training. */
#include "support/graph_maker_parts.h"

/* Of classes chosen at random. */
bool make_loss(node_maker *m, tsr_op op) {
    static const char *const reductions[] = {"mean", "sum", "none"};
    int x = pick(m, is_matrix);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int64_t targets[TSR_MAX_RANK];
    if (shape->dim[0] > TSR_MAX_RANK)
        return false;
    for (int i = 0; i < shape->dim[0]; i++)
        targets[i] = draw(m, 0, (int)shape->dim[1] - 1);
    begin(m, tsr_op_get_info(op)->name, x);
    add_ints(m, targets, (int)shape->dim[0]);
    if (one_in(m, 2))
        add_weights(m, 'p', 1, &shape->dim[1]);
    add_outputs(m, 1);
    text_add(&m->text, " reduction=%s", DRAW_ONE_OF(m, reductions));
    if (one_in(m, 3))
        text_add(&m->text, " ignore_index=%d", draw(m, -1, (int)shape->dim[1] - 1));
    return true;
}

/* The learning rate, the number of updates, the tensor, its gradient, and states that are sums of
 * squares, or may be. */
bool make_update(node_maker *m, tsr_op op) {
    static const char *const modes[] = {"standard", "nesterov"};
    int x = pick(m, is_float), states = op == TSR_OP_Adam ? 2 : 1;
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    const int64_t updates = draw(m, 0, 9);
    text_add(&m->text, "%s", tsr_op_get_info(op)->name);
    add_scalar(m, 0.1);
    add_ints(m, &updates, 1);
    text_add(&m->text, " $%d", x);
    add_weights(m, 'w', shape->rank, shape->dim);
    for (int i = 0; i < states; i++)
        add_weights(m, 'p', shape->rank, shape->dim);
    add_outputs(m, 1 + states);
    text_add(&m->text, " norm_coefficient=%d.0", draw(m, 0, 1));
    if (op == TSR_OP_Momentum)
        text_add(&m->text, " alpha=0.5 beta=0.25 mode=%s", DRAW_ONE_OF(m, modes));
    else if (op == TSR_OP_Adagrad)
        text_add(&m->text, " decay_factor=0.5");
    else if (one_in(m, 2))
        text_add(&m->text, " alpha=0.5 beta=0.75 norm_coefficient_post=0.25");
    if (op != TSR_OP_Momentum && one_in(m, 2))
        text_add(&m->text, " epsilon=0.125");
    return true;
}

bool make_adam_update(node_maker *m, tsr_op op) {
    static const char *const factors[] = {"1,0.125,1,1", "0.5,0.25,1.5,0.75", "0,0.125,1,0.5"};
    int x = pick(m, is_float);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    begin(m, tsr_op_get_info(op)->name, x);
    for (int i = 0; i < 2; i++)
        add_weights(m, 'w', shape->rank, shape->dim);
    add_weights(m, 'p', shape->rank, shape->dim);
    text_add(&m->text, " f%d<%s>", m->node, DRAW_ONE_OF(m, factors));
    add_outputs(m, 3);
    text_add(&m->text, " epsilon=0.125 norm_coefficient=%d.0", draw(m, 0, 1));
    if (one_in(m, 2))
        text_add(&m->text, " alpha=0.5 beta=0.75");
    return true;
}

/* Of two inputs that may be one: a weight is the first or the second, or none. */
bool make_leaky_relu_grad(node_maker *m, tsr_op op) {
    static const char *const alphas[] = {"", " alpha=0.0", " alpha=-0.5"};
    int x = pick(m, is_float), weight = draw(m, 0, 2);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    text_add(&m->text, "%s", tsr_op_get_info(op)->name);
    for (int i = 0; i < 2; i++)
        if (i == weight)
            add_weights(m, 'w', shape->rank, shape->dim);
        else
            text_add(&m->text, " $%d", x);
    add_outputs(m, 1);
    text_add(&m->text, "%s", DRAW_ONE_OF(m, alphas));
    return true;
}
