/* Makers of random nodes that choose, scatter and sort elements. */
#include "support/graph_maker_parts.h"

#include <string.h>

static bool is_number_with_axes(const graph_value *v) {
    return is_number(v) && has_axes(v);
}

static bool has_rows(const graph_value *v) {
    return is_float(v) && v->shape.rank >= 2;
}

/* "Identity $x -> c; Reshape i(indices) s(dims) -> r; Op c r" */
static void begin_with_indices(node_maker *m, tsr_op op, int x, const int64_t *indices, int count,
                               const int64_t *dims, int rank) {
    text_add(&m->text, "Identity $%d -> c%d; Reshape i%d(%s)", x, m->node, m->node,
             list_text(indices, count));
    text_add(&m->text, " s%d(%s) -> r%d; %s c%d r%d", m->node, list_text(dims, rank), m->node,
             tsr_op_get_info(op)->name, m->node, m->node);
}

static const char *draw_reduction(node_maker *m) {
    static const char *const reductions[] = {"none", "add", "mul", "max", "min"};
    return DRAW_ONE_OF(m, reductions);
}

/* GatherND, ScatterND. */
bool make_tuples(node_maker *m, tsr_op op) {
    enum { MOST = 4 };
    bool scatters = op == TSR_OP_ScatterND;
    int x = pick(m, scatters ? is_float_with_axes : has_axes);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int length = draw(m, 1, shape->rank), count = draw(m, 1, MOST);
    int64_t tuples[MOST * TSR_MAX_RANK], dims[TSR_MAX_RANK] = {count};
    for (int i = 0; i < count * length; i++) {
        int size = (int)shape->dim[i % length];
        if (size == 0)
            return false;
        tuples[i] = draw(m, -size, size - 1);
    }
    begin_with_indices(m, op, x, tuples, count * length, (int64_t[]){count, length}, 2);
    for (int i = length; i < shape->rank; i++)
        dims[1 + i - length] = shape->dim[i];
    if (scatters)
        add_weights(m, 'w', 1 + shape->rank - length, dims);
    add_outputs(m, 1);
    if (scatters)
        text_add(&m->text, " reduction=%s", draw_reduction(m));
    return true;
}

/* Updates of the first elements of each axis but one. */
bool make_scatter_elements(node_maker *m, tsr_op op) {
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int axis = draw(m, 0, shape->rank - 1), size = (int)shape->dim[axis], count = draw(m, 1, 6);
    int64_t indices[6], dims[TSR_MAX_RANK];
    if (size == 0)
        return false;
    for (int i = 0; i < count; i++)
        indices[i] = draw(m, -size, size - 1);
    for (int i = 0; i < shape->rank; i++)
        dims[i] = i == axis ? count : 1;
    begin_with_indices(m, op, x, indices, count, dims, shape->rank);
    add_weights(m, 'w', shape->rank, dims);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d reduction=%s", axis, draw_reduction(m));
    return true;
}

bool make_tensor_scatter(node_maker *m, tsr_op op) {
    enum { MOST = 8 };
    int x = pick(m, has_rows);
    if (x < 0 || shape_of(m, x)->dim[0] > MOST)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int axis = draw(m, 1, shape->rank - 1);
    int64_t starts[MOST], dims[TSR_MAX_RANK];
    memcpy(dims, shape->dim, sizeof dims);
    dims[axis] = draw(m, 1, (int)shape->dim[axis]);
    for (int i = 0; i < shape->dim[0]; i++)
        starts[i] = draw(m, 0, (int)shape->dim[axis] - 1);
    begin(m, tsr_op_get_info(op)->name, x);
    add_weights(m, 'w', shape->rank, dims);
    bool circular = one_in(m, 2);
    if (circular)
        add_ints(m, starts, (int)shape->dim[0]);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d mode=%s", axis, circular ? "circular" : "linear");
    return true;
}

bool make_top_k(node_maker *m, tsr_op op) {
    int x = pick(m, is_number_with_axes);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int axis = draw(m, 0, shape->rank - 1);
    begin(m, tsr_op_get_info(op)->name, x);
    add_ints(m, (int64_t[]){draw(m, 1, (int)shape->dim[axis])}, 1);
    add_outputs(m, 2);
    text_add(&m->text, " axis=%d largest=%d", axis, one_in(m, 2));
    return true;
}

/* Between types that a GPU holds the bits of. */
bool make_bit_cast(node_maker *m, tsr_op op) {
    enum { FLOAT = 1, UINT8 = 2 };
    int x = pick(m, one_in(m, 2) ? is_bool : is_float);
    if (x < 0)
        return false;
    bool of_bool = is_bool(&m->values[x]);
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    text_add(&m->text, " to=%d", of_bool ? UINT8 : FLOAT);
    return true;
}
