/* Makers of random nodes: element by element operators. */
#include "support/graph_maker_parts.h"

typedef struct parameter {
    tsr_op op;
    const char *name;
    float value;
} parameter;

static const parameter parameters[] = {
#define TSR_PARAM(Name, attribute, number) {TSR_OP_##Name, #attribute, number},
#include "graph/ops.def"
};

bool make_unary(node_maker *m, tsr_op op) {
    int x = pick(m, tsr_op_has(op, TSR_TYPES_NUMBERS) ? is_number : is_float);
    if (x < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (parameters[i].op == op && one_in(m, 2))
            text_add(&m->text, " %s=%.3f", parameters[i].name,
                     random_float(m->random, parameters[i].value, 0.5f));
    return true;
}

static bool make_of_one(node_maker *m, tsr_op op, value_test *test) {
    int x = pick(m, test);
    if (x < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    return true;
}

bool make_not(node_maker *m, tsr_op op) {
    return make_of_one(m, op, op == TSR_OP_Not ? is_bool : is_integer);
}

bool make_float_test(node_maker *m, tsr_op op) {
    if (!make_of_one(m, op, is_float))
        return false;
    if (op == TSR_OP_IsInf)
        text_add(&m->text, " detect_negative=%d detect_positive=%d", draw(m, 0, 1), draw(m, 0, 1));
    return true;
}

static bool broadcasts(const tsr_shape *a, const tsr_shape *b) {
    for (int i = 1; i <= a->rank && i <= b->rank; i++)
        if (a->dim[a->rank - i] != b->dim[b->rank - i] && a->dim[a->rank - i] != 1 &&
            b->dim[b->rank - i] != 1)
            return false;
    return true;
}

/* A divisor close to zero makes any difference large. */
static bool divides(const graph_value *v) {
    return v->least > 0.2 * v->most && v->least > 0.05;
}

/* The other operand of value x; -1 if none is found. */
static int pick_operand(node_maker *m, int x, tsr_op op) {
    for (int i = 0; i < TRIES; i++) {
        int y = pick(m, is_any);
        if (m->values[x].dtype == m->values[y].dtype &&
            broadcasts(shape_of(m, x), shape_of(m, y)) &&
            ((op != TSR_OP_Div && op != TSR_OP_Mod) || divides(&m->values[y])))
            return y;
    }
    return -1;
}

/* An initializer that broadcasts to x: its last axes, some of them 1. */
static void add_operand(node_maker *m, int x, char letter) {
    const tsr_shape *shape = shape_of(m, x);
    int rank = draw(m, 0, shape->rank);
    int64_t dims[TSR_MAX_RANK];
    for (int i = 0; i < rank; i++)
        dims[i] = one_in(m, 2) ? shape->dim[shape->rank - rank + i] : 1;
    add_weights(m, letter, rank, dims);
}

static bool make_arithmetic(node_maker *m, tsr_op op) {
    const char *name = tsr_op_get_info(op)->name;
    bool divides_by = op == TSR_OP_Div || op == TSR_OP_Mod;
    int x = pick(m, op == TSR_OP_Mod ? is_float : is_number);
    if (x < 0)
        return false;
    int y = one_in(m, 3) ? -1 : pick_operand(m, x, op);
    if (y < 0 && !is_float(&m->values[x]))
        return false;
    if (y >= 0) {
        bool turned = !divides_by && one_in(m, 2);
        begin(m, name, turned ? y : x);
        text_add(&m->text, " $%d", turned ? x : y);
    } else if (!divides_by && one_in(m, 4)) {
        text_add(&m->text, "%s", name);
        add_operand(m, x, 'w');
        text_add(&m->text, " $%d", x);
    } else {
        begin(m, name, x);
        add_operand(m, x, divides_by ? 'p' : 'w');
    }
    add_outputs(m, 1);
    if (op == TSR_OP_Mod)
        text_add(&m->text, " fmod=1");
    return true;
}

static bool make_pow(node_maker *m) {
    static const double exponents[] = {0, 1, 2, 2, 3, 4};
    int x = pick(m, is_float);
    if (x < 0)
        return false;
    begin(m, "Pow", x);
    if (divides(&m->values[x]) && one_in(m, 2))
        add_operand(m, x, 'p');
    else
        add_scalar(m, DRAW_ONE_OF(m, exponents));
    add_outputs(m, 1);
    return true;
}

static bool make_prelu(node_maker *m) {
    int x = pick(m, is_float);
    if (x < 0)
        return false;
    begin(m, "PRelu", x);
    add_operand(m, x, 'w');
    add_outputs(m, 1);
    return true;
}

/* Of two values of the graph. */
static bool make_of_two(node_maker *m, tsr_op op, value_test *test) {
    int x = pick(m, test), y = x < 0 ? -1 : pick_operand(m, x, op);
    if (y < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    text_add(&m->text, " $%d", y);
    add_outputs(m, 1);
    if (op == TSR_OP_BitShift)
        text_add(&m->text, " direction=%s", one_in(m, 2) ? "LEFT" : "RIGHT");
    return true;
}

bool make_binary(node_maker *m, tsr_op op) {
    bool takes_bool = tsr_op_has(op, TSR_TYPES_BOOL);
    if (op == TSR_OP_Pow)
        return make_pow(m);
    if (op == TSR_OP_PRelu)
        return make_prelu(m);
    if (op == TSR_OP_BitShift)
        return make_of_two(m, op, is_byte);
    if (tsr_op_has(op, TSR_TAKES_NO_FLOATS))
        return make_of_two(m, op, takes_bool ? is_bool : is_integer);
    if (tsr_op_has(op, TSR_YIELDS_BOOL))
        return make_of_two(m, op, takes_bool ? is_any : is_number);
    return make_arithmetic(m, op);
}

bool make_nary(node_maker *m, tsr_op op) {
    int x = pick(m, tsr_op_has(op, TSR_TYPES_NUMBERS) ? is_number : is_float);
    if (x < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    for (int i = draw(m, 0, 3); i > 0; i--) {
        if (is_float(&m->values[x]) && one_in(m, 3))
            add_operand(m, x, 'w');
        else
            text_add(&m->text, " $%d", x);
    }
    add_outputs(m, 1);
    return true;
}

bool make_where(node_maker *m, tsr_op op) {
    int condition = pick(m, is_bool), x = pick(m, is_any), y = pick_operand(m, x, op);
    if (condition < 0 || y < 0 || !broadcasts(shape_of(m, condition), shape_of(m, x)) ||
        !broadcasts(shape_of(m, condition), shape_of(m, y)))
        return false;
    begin(m, "Where", condition);
    text_add(&m->text, " $%d $%d", x, y);
    add_outputs(m, 1);
    return true;
}

bool make_clip(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_float);
    if (x < 0)
        return false;
    begin(m, "Clip", x);
    if (one_in(m, 3))
        text_add(&m->text, " _");
    else
        add_scalar(m, draw(m, -8, 0) / 8.0);
    if (!one_in(m, 3))
        add_scalar(m, draw(m, 1, 8) / 8.0);
    add_outputs(m, 1);
    return true;
}
