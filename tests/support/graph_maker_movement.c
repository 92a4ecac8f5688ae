/* Makers of random nodes: operators that cut, join and move elements, and that change shapes. */
#include "support/graph_maker_parts.h"

/* ---- cutting, joining and moving ---- */

static bool same_but_for(const tsr_shape *a, const tsr_shape *b, int axis) {
    bool same = a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++)
        same = i == axis || a->dim[i] == b->dim[i];
    return same;
}

static void add_part(node_maker *m, int x, int axis) {
    tsr_shape shape = *shape_of(m, x);
    int part = draw(m, 0, m->value_count - 1);
    if (m->values[part].dtype == m->values[x].dtype &&
        same_but_for(shape_of(m, part), &shape, axis)) {
        text_add(&m->text, " $%d", part);
    } else if (is_float(&m->values[x]) && one_in(m, 2)) {
        shape.dim[axis] = draw(m, 1, 5);
        add_weights(m, 'w', shape.rank, shape.dim);
    }
}

bool make_concat(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_axes);
    if (x < 0)
        return false;
    int axis = draw(m, 0, shape_of(m, x)->rank - 1);
    text_add(&m->text, "Concat");
    for (int i = draw(m, 0, 6); i > 0; i--)
        add_part(m, x, axis);
    text_add(&m->text, " $%d", x);
    for (int i = draw(m, 0, 6); i > 0; i--)
        add_part(m, x, axis);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d", one_in(m, 2) ? axis : axis - shape_of(m, x)->rank);
    return true;
}

bool make_split(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_axes);
    if (x < 0)
        return false;
    int axis = draw(m, 0, shape_of(m, x)->rank - 1), parts = draw(m, 2, 4);
    int64_t left = shape_of(m, x)->dim[axis], sizes[4] = {0};
    if (left < parts)
        return false;
    for (int i = 0; i < parts; i++) {
        sizes[i] = i == parts - 1 ? left : draw(m, 1, (int)left - (parts - 1 - i));
        left -= sizes[i];
    }
    bool even = one_in(m, 3);
    begin(m, "Split", x);
    if (!even)
        add_ints(m, sizes, parts);
    add_outputs(m, parts);
    text_add(&m->text, " axis=%d", axis);
    if (even)
        text_add(&m->text, " num_outputs=%d", parts);
    return true;
}

bool make_slice(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_axes), count = 0;
    if (x < 0)
        return false;
    int64_t begins[TSR_MAX_RANK], ends[TSR_MAX_RANK], axes[TSR_MAX_RANK], steps[TSR_MAX_RANK];
    const tsr_shape *shape = shape_of(m, x);
    for (int axis = 0; axis < shape->rank; axis++) {
        int size = (int)shape->dim[axis], from = draw(m, 0, size - 1), to = draw(m, from, size - 1);
        if (!size || one_in(m, 2))
            continue;
        bool back = one_in(m, 3);
        begins[count] = back ? to : from;
        ends[count] = !back ? (one_in(m, 3) ? 1000 : to + 1) : from ? from - 1 : -1000;
        steps[count] = (back ? -1 : 1) * (one_in(m, 2) ? 1 : draw(m, 2, 3));
        begins[count] -= one_in(m, 3) ? size : 0;
        axes[count++] = one_in(m, 2) ? axis : axis - shape->rank;
    }
    if (!count)
        return false;
    begin(m, "Slice", x);
    add_ints(m, begins, count);
    add_ints(m, ends, count);
    add_ints(m, axes, count);
    add_ints(m, steps, count);
    add_outputs(m, 1);
    return true;
}

bool make_transpose(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_axes);
    if (x < 0)
        return false;
    int64_t perm[TSR_MAX_RANK];
    int rank = shape_of(m, x)->rank;
    for (int i = 0; i < rank; i++) {
        int other = draw(m, 0, i);
        perm[i] = perm[other];
        perm[other] = i;
    }
    begin(m, "Transpose", x);
    add_outputs(m, 1);
    if (!one_in(m, 5))
        add_ints_attribute(m, "perm", perm, rank);
    return true;
}

bool make_pad(node_maker *m, tsr_op op) {
    (void)op;
    static const char *const modes[] = {"constant", "reflect", "edge"};
    int x = pick(m, has_axes);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    const char *mode = DRAW_ONE_OF(m, modes);
    int64_t pads[2 * TSR_MAX_RANK] = {0};
    for (int end = 0; end < 2; end++)
        for (int axis = 0; axis < shape->rank; axis++) {
            int size = (int)shape->dim[axis], most = *mode == 'r' ? size - 1 : 3;
            if (one_in(m, 2))
                pads[end * shape->rank + axis] =
                    one_in(m, 4) ? -draw(m, 0, (size - 1) / 2) : draw(m, 0, most < 3 ? most : 3);
        }
    begin(m, "Pad", x);
    add_ints(m, pads, 2 * shape->rank);
    if (is_float(&m->values[x]) && one_in(m, 2))
        add_scalar(m, draw(m, -4, 4) / 4.0);
    add_outputs(m, 1);
    text_add(&m->text, " mode=%s", mode);
    return true;
}

bool make_depth_to_space(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_blocks), block = draw(m, 1, 3);
    if (x < 0 || shape_of(m, x)->dim[1] % (block * block))
        return false;
    begin(m, "DepthToSpace", x);
    add_outputs(m, 1);
    text_add(&m->text, " blocksize=%d mode=%s", block, one_in(m, 2) ? "DCR" : "CRD");
    return true;
}

bool make_space_to_depth(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_blocks), block = draw(m, 1, 4);
    if (x < 0 || shape_of(m, x)->dim[2] % block || shape_of(m, x)->dim[3] % block)
        return false;
    begin(m, "SpaceToDepth", x);
    add_outputs(m, 1);
    text_add(&m->text, " blocksize=%d", block);
    return true;
}

bool make_gather(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_axes);
    if (x < 0)
        return false;
    int axis = draw(m, 0, shape_of(m, x)->rank - 1), count = draw(m, 1, 6);
    int size = (int)shape_of(m, x)->dim[axis];
    int64_t indices[6];
    for (int i = 0; i < count; i++)
        indices[i] = draw(m, -size, size - 1);
    begin(m, "Gather", x);
    add_ints(m, indices, count);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d", axis);
    return true;
}

/* ---- shapes ---- */

/* A random shape with as many elements: the prime factors of their number, distributed at random
 * over the new axes. */
bool make_reshape(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_any), rank = draw(m, 1, 5);
    int64_t count = tsr_shape_count(shape_of(m, x)), dims[5] = {1, 1, 1, 1, 1};
    if (!count)
        return false;
    for (int prime = 2; count > 1; prime++)
        for (; count % prime == 0; count /= prime)
            dims[draw(m, 0, rank - 1)] *= prime;
    if (one_in(m, 2))
        dims[draw(m, 0, rank - 1)] = -1;
    begin(m, "Reshape", x);
    add_ints(m, dims, rank);
    add_outputs(m, 1);
    text_add(&m->text, " allowzero=%d", draw(m, 0, 1));
    return true;
}

bool make_flatten(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_any), rank = shape_of(m, x)->rank;
    begin(m, "Flatten", x);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d", draw(m, -rank, rank));
    return true;
}

bool make_squeeze(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_axes);
    if (x < 0)
        return false;
    int axis = draw(m, 0, shape_of(m, x)->rank - 1);
    begin(m, "Squeeze", x);
    if (shape_of(m, x)->dim[axis] == 1)
        add_ints(m, (int64_t[]){axis}, 1);
    add_outputs(m, 1);
    return true;
}

bool make_unsqueeze(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_any), rank = shape_of(m, x)->rank;
    if (rank > 5)
        return false;
    begin(m, "Unsqueeze", x);
    add_ints(m, (int64_t[]){draw(m, -rank - 1, rank)}, 1);
    add_outputs(m, 1);
    return true;
}

bool make_identity(node_maker *m, tsr_op op) {
    (void)op;
    begin(m, "Identity", pick(m, is_any));
    add_outputs(m, 1);
    return true;
}

bool make_dropout(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_float);
    if (x < 0)
        return false;
    begin(m, "Dropout", x);
    add_outputs(m, 1);
    text_add(&m->text, " seed=%d", draw(m, 0, 9));
    return true;
}

bool make_cast(node_maker *m, tsr_op op) {
    (void)op;
    static const int types[] = {1, 1, 1, 2, 3, 6, 7, 9}; /* ONNX's numbers */
    begin(m, "Cast", pick(m, is_any));
    add_outputs(m, 1);
    text_add(&m->text, " to=%d saturate=%d", DRAW_ONE_OF(m, types), draw(m, 0, 1));
    return true;
}

bool make_shape(node_maker *m, tsr_op op) {
    (void)op;
    begin(m, "Shape", pick(m, is_any));
    add_outputs(m, 1);
    if (one_in(m, 2))
        text_add(&m->text, " start=%d", draw(m, -2, 1));
    if (one_in(m, 2))
        text_add(&m->text, " end=%d", draw(m, 1, 9));
    return true;
}
