#include "support/graph_maker_parts.h"

#include <string.h>

static bool has_three_axes(const graph_value *v) {
    return is_float(v) && v->shape.rank == 3 && tsr_shape_count(&v->shape) > 0;
}

static bool has_sequences(const graph_value *v) {
    return v->shape.rank >= 2 && v->shape.rank <= 4 && tsr_shape_count(&v->shape) > 0;
}

static bool is_small_window(const graph_value *v) {
    return is_image(v) && tsr_dim_product(&v->shape, 2, v->shape.rank) > 0;
}

/* ---- graphs in attributes: they read the value c, which the text names first ---- */

bool make_if(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    text_add(&m->text, "Identity $%d -> c%d; Cast k%d<%d -> b%d to=9; If b%d", x, m->node, m->node,
             draw(m, 0, 1), m->node, m->node);
    add_outputs(m, 2);
    text_add(&m->text,
             " then_branch=@1 else_branch=@2 @ Tanh c%d -> t!; Mul t c%d -> u "
             "@ Relu c%d -> t!; Add c%d k<0.5 -> u",
             m->node, m->node, m->node, m->node);
    return true;
}

bool make_loop(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    text_add(&m->text, "Identity $%d -> c%d; Loop n%d(%d) _ c%d", x, m->node, m->node,
             draw(m, 1, 4), m->node);
    add_outputs(m, 2);
    text_add(&m->text,
             " body=@1 @ Cast i:int64[] -> f to=1; Identity g:bool[] -> h!; Sub s[%s] c%d -> t!; "
             "Mul f s -> u",
             list_text(shape->dim, shape->rank), m->node);
    return true;
}

bool make_scan(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_sequences);
    if (x < 0 || !is_float(&m->values[x]) || shape_of(m, x)->dim[0] > 6)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    const char *rest = list_text(shape->dim + 1, shape->rank - 1);
    text_add(&m->text, "Scan w%d{%s} $%d", m->node, rest, x);
    add_outputs(m, 2);
    text_add(&m->text,
             " body=@1 num_scan_inputs=1 scan_input_directions=%d, scan_output_axes=%d, "
             "@ Sub s[%s] p[%s] -> t!; Mul s p -> u",
             draw(m, 0, 1), draw(m, 0, shape->rank - 1), rest, rest);
    return true;
}

/* ---- results whose shapes depend on elements: of constants ---- */

bool make_selection(node_maker *m, tsr_op op) {
    const int64_t rows = draw(m, 1, 5), columns = draw(m, 1, 5);
    if (op == TSR_OP_NonMaxSuppression) {
        text_add(&m->text, "NonMaxSuppression");
        add_weights(m, 'w', 3, (int64_t[]){1, rows, 4});
        add_weights(m, 'w', 3, (int64_t[]){1, 2, rows});
        add_ints(m, &columns, 1);
        add_scalar(m, 0.25);
    } else {
        text_add(&m->text, "Mul w%d_a{%d,%d} k%d<3 -> a%d; Round a%d -> c%d; ", m->node, (int)rows,
                 (int)columns, m->node, m->node, m->node, m->node);
        if (op == TSR_OP_Compress)
            text_add(&m->text, "Cast w%d_b{%d} -> b%d to=9; ", m->node, (int)columns, m->node);
        text_add(&m->text, "%s c%d", tsr_op_get_info(op)->name, m->node);
        if (op == TSR_OP_Compress)
            text_add(&m->text, " b%d", m->node);
    }
    add_outputs(m, 1);
    if (op == TSR_OP_Compress)
        text_add(&m->text, " axis=1");
    return true;
}

bool make_deform_conv(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_flat_image);
    if (x < 0)
        return false;
    const int64_t *dim = shape_of(m, x)->dim, kernel = draw(m, 1, 3), pad = kernel / 2;
    const int64_t rows = dim[2] + 2 * pad - kernel + 1, columns = dim[3] + 2 * pad - kernel + 1;
    if (dim[1] < 1 || rows < 1 || columns < 1)
        return false;
    begin(m, "DeformConv", x);
    add_weights(m, 'w', 4, (int64_t[]){draw(m, 1, 6), dim[1], kernel, kernel});
    add_weights(m, 'w', 4, (int64_t[]){dim[0], 2 * kernel * kernel, rows, columns});
    if (one_in(m, 2)) {
        text_add(&m->text, " _");
        add_weights(m, 'p', 4, (int64_t[]){dim[0], kernel * kernel, rows, columns});
    }
    add_outputs(m, 1);
    text_add(&m->text, " pads=%d,%d,%d,%d", (int)pad, (int)pad, (int)pad, (int)pad);
    return true;
}

/* ---- sequences ---- */

bool make_recurrent(node_maker *m, tsr_op op) {
    static const char *const ways[] = {"forward", "reverse", "bidirectional"};
    int x = pick(m, has_three_axes);
    if (x < 0)
        return false;
    const int64_t *dim = shape_of(m, x)->dim,
                  gates = op == TSR_OP_LSTM  ? 4
                          : op == TSR_OP_GRU ? 3
                                             : 1,
                  hidden = draw(m, 1, 5);
    int layout = draw(m, 0, 1), way = draw(m, 0, 2);
    const int64_t directions = way == 2 ? 2 : 1;
    if (dim[layout] > 4) /* steps */
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_weights(m, 'w', 3, (int64_t[]){directions, gates * hidden, dim[2]});
    add_weights(m, 'w', 3, (int64_t[]){directions, gates * hidden, hidden});
    if (one_in(m, 2))
        add_weights(m, 'w', 2, (int64_t[]){directions, 2 * gates * hidden});
    add_outputs(m, op == TSR_OP_LSTM ? 3 : 2);
    text_add(&m->text, " direction=%s layout=%d", ways[way], layout);
    return true;
}

bool make_einsum(node_maker *m, tsr_op op) {
    (void)op;
    static const char *const equations[] = {"abc,cd->abd", "abc,cd->dba", "abc,dc->bd",
                                            "...c,ce->...e"};
    int x = pick(m, has_three_axes), form = draw(m, 0, 3);
    if (x < 0)
        return false;
    const int64_t last = shape_of(m, x)->dim[2], other = draw(m, 1, 5);
    begin(m, "Einsum", x);
    add_weights(m, 'w', 2, (int64_t[]){form == 2 ? other : last, form == 2 ? last : other});
    add_outputs(m, 1);
    text_add(&m->text, " equation=%s", equations[form]);
    return true;
}

bool make_reverse_sequence(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_sequences), time = draw(m, 0, 1);
    if (x < 0 || shape_of(m, x)->dim[1 - time] > 5)
        return false;
    int64_t lengths[5];
    const int64_t *dim = shape_of(m, x)->dim;
    for (int i = 0; i < dim[1 - time]; i++)
        lengths[i] = draw(m, 1, (int)dim[time]);
    begin(m, "ReverseSequence", x);
    add_ints(m, lengths, (int)dim[1 - time]);
    add_outputs(m, 1);
    text_add(&m->text, " time_axis=%d batch_axis=%d", time, 1 - time);
    return true;
}

/* Its heads are the first two axes, or the last one is split. */
bool make_attention(node_maker *m, tsr_op op) {
    (void)op;
    int q = pick(m, is_flat_image);
    if (q < 0 || tsr_shape_count(shape_of(m, q)) == 0)
        return false;
    const int64_t *dim = shape_of(m, q)->dim, keys = draw(m, 1, 5);
    begin(m, "Attention", q);
    add_weights(m, 'w', 4, (int64_t[]){dim[0], dim[1], keys, dim[3]});
    add_weights(m, 'w', 4, (int64_t[]){dim[0], dim[1], keys, draw(m, 1, 5)});
    if (one_in(m, 2))
        add_weights(m, 'w', 2, (int64_t[]){dim[2], keys});
    add_outputs(m, 1);
    text_add(&m->text, " is_causal=%d", draw(m, 0, 1));
    if (one_in(m, 3))
        text_add(&m->text, " softcap=0.5");
    return true;
}

bool make_rotary_embedding(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_flat_image);
    if (x < 0 || shape_of(m, x)->dim[3] < 2)
        return false;
    const int64_t *dim = shape_of(m, x)->dim, half = dim[3] / 2, cache[] = {dim[0], dim[2], half};
    begin(m, "RotaryEmbedding", x);
    add_weights(m, 'w', 3, cache);
    add_weights(m, 'w', 3, cache);
    add_outputs(m, 1);
    text_add(&m->text, " interleaved=%d rotary_embedding_dim=%d", draw(m, 0, 1), (int)half * 2);
    return true;
}

/* ---- random numbers ---- */

/* Without a seed the node's name decides, which another graph with the node has not. */
static void add_seed(node_maker *m) {
    text_add(&m->text, " seed=%d.0", draw(m, 0, 9));
}

bool make_random(node_maker *m, tsr_op op) {
    text_add(&m->text, "%s", tsr_op_get_info(op)->name);
    add_outputs(m, 1);
    add_ints_attribute(m, "shape", (int64_t[]){draw(m, 1, 3), draw(m, 1, 5)}, 2);
    add_seed(m);
    return true;
}

bool make_random_like(node_maker *m, tsr_op op) {
    int x = pick(m, is_float);
    if (x < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    add_seed(m);
    return true;
}

/* Of constants: a number that is a little off may pass its random one. */
bool make_bernoulli(node_maker *m, tsr_op op) {
    text_add(&m->text, "%s", tsr_op_get_info(op)->name);
    add_weights(m, 'p', 2, (int64_t[]){draw(m, 1, 3), draw(m, 1, 5)});
    add_outputs(m, 1);
    add_seed(m);
    return true;
}

bool make_multinomial(node_maker *m, tsr_op op) {
    make_bernoulli(m, op);
    text_add(&m->text, " sample_size=%d", draw(m, 1, 5));
    return true;
}

bool make_window(node_maker *m, tsr_op op) {
    text_add(&m->text, "%s", tsr_op_get_info(op)->name);
    add_ints(m, (int64_t[]){draw(m, 1, 9)}, 1);
    add_outputs(m, 1);
    text_add(&m->text, " periodic=%d", draw(m, 0, 1));
    return true;
}

/* ---- images ---- */

/* Regions are constants: where they are a little off, a point may be outside. */
bool make_roi_align(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_flat_image);
    if (x < 0 || tsr_shape_count(shape_of(m, x)) == 0)
        return false;
    const int regions = draw(m, 1, 3);
    int64_t images[3];
    for (int i = 0; i < regions; i++)
        images[i] = draw(m, 0, (int)shape_of(m, x)->dim[0] - 1);
    begin(m, "RoiAlign", x);
    add_weights(m, 'p', 2, (int64_t[]){regions, 4});
    add_ints(m, images, regions);
    add_outputs(m, 1);
    text_add(
        &m->text, " mode=%s output_height=%d output_width=%d sampling_ratio=%d spatial_scale=%d.0",
        one_in(m, 2) ? "avg" : "max", draw(m, 1, 3), draw(m, 1, 3), draw(m, 1, 2), draw(m, 1, 5));
    return true;
}

bool make_lp_pool(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_small_window);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int64_t kernel[3], strides[3];
    for (int i = 0; i < shape->rank - 2; i++) {
        kernel[i] = draw(m, 1, shape->dim[2 + i] < 3 ? (int)shape->dim[2 + i] : 3);
        strides[i] = draw(m, 1, 2);
    }
    begin(m, "LpPool", x);
    add_outputs(m, 1);
    add_ints_attribute(m, "kernel_shape", kernel, shape->rank - 2);
    add_ints_attribute(m, "strides", strides, shape->rank - 2);
    text_add(&m->text, " p=%d", draw(m, 1, 3));
    return true;
}

/* A row of blocks. */
bool make_col2im(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_three_axes);
    if (x < 0)
        return false;
    const int64_t *dim = shape_of(m, x)->dim, length = dim[1] % 2 ? 1 : 2;
    begin(m, "Col2Im", x);
    add_ints(m, (int64_t[]){1, dim[2] + length - 1}, 2);
    add_ints(m, (int64_t[]){1, length}, 2);
    add_outputs(m, 1);
    return true;
}

bool make_affine_grid(node_maker *m, tsr_op op) {
    (void)op;
    const int64_t batch = draw(m, 1, 2);
    text_add(&m->text, "AffineGrid");
    add_weights(m, 'w', 3, (int64_t[]){batch, 2, 3});
    add_ints(m, (int64_t[]){batch, 3, draw(m, 1, 6), draw(m, 1, 6)}, 4);
    add_outputs(m, 1);
    text_add(&m->text, " align_corners=%d", draw(m, 0, 1));
    return true;
}

/* Indices that do not meet. */
bool make_max_unpool(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_flat_image);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int64_t count = tsr_shape_count(shape), indices[16];
    if (count < 1 || count > 16)
        return false;
    for (int i = 0; i < count; i++)
        indices[i] = count - 1 - i;
    text_add(&m->text, "Identity $%d -> c%d; Reshape", x, m->node);
    add_ints(m, indices, (int)count);
    add_ints(m, shape->dim, 4);
    text_add(&m->text, " -> r%d; MaxUnpool c%d r%d", m->node, m->node, m->node);
    add_outputs(m, 1);
    text_add(&m->text, " kernel_shape=1,1");
    return true;
}
