#include "support/graph_maker_parts.h"

#include <string.h>

static bool has_three_axes(const graph_value *v) {
    return is_float(v) && v->shape.rank == 3 && tsr_shape_count(&v->shape) > 0;
}

static bool has_sequences(const graph_value *v) {
    return v->shape.rank >= 2 && v->shape.rank <= 4 && tsr_shape_count(&v->shape) > 0;
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
    text_add(
        &m->text,
        " body=@1 num_scan_inputs=1 scan_input_axes=0, scan_input_directions=%d, "
        "scan_output_axes=%d, scan_output_directions=%d, @ Sub s[%s] p[%s] -> t!; Mul s p -> u",
        draw(m, 0, 1), draw(m, 0, shape->rank - 1), draw(m, 0, 1), rest, rest);
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
    if (op == TSR_OP_Unique && one_in(m, 2))
        text_add(&m->text, " axis=%d sorted=%d", draw(m, 0, 1), draw(m, 0, 1));
    if (op == TSR_OP_NonMaxSuppression)
        text_add(&m->text, " center_point_box=%d", draw(m, 0, 1));
    return true;
}

static int draw_divisor(node_maker *m, int64_t number) {
    int divisor = draw(m, 1, 3);
    return number % divisor ? 1 : divisor;
}

bool make_deform_conv(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_flat_image);
    if (x < 0)
        return false;
    const int64_t *dim = shape_of(m, x)->dim, kernel = draw(m, 1, 3), pad = kernel / 2,
                  stride = draw(m, 1, 2), dilation = draw(m, 1, 2),
                  extent = dilation * (kernel - 1) + 1;
    if (dim[1] < 1 || dim[2] + 2 * pad < extent || dim[3] + 2 * pad < extent)
        return false;
    const int group = draw_divisor(m, dim[1]), offsets = draw_divisor(m, dim[1]);
    const int64_t rows = (dim[2] + 2 * pad - extent) / stride + 1,
                  columns = (dim[3] + 2 * pad - extent) / stride + 1, taps = kernel * kernel;
    begin(m, "DeformConv", x);
    add_weights(m, 'w', 4, (int64_t[]){group * draw(m, 1, 3), dim[1] / group, kernel, kernel});
    add_weights(m, 'w', 4, (int64_t[]){dim[0], 2 * offsets * taps, rows, columns});
    if (one_in(m, 2)) {
        text_add(&m->text, " _");
        add_weights(m, 'p', 4, (int64_t[]){dim[0], offsets * taps, rows, columns});
    }
    add_outputs(m, 1);
    text_add(&m->text, " group=%d offset_group=%d", group, offsets);
    add_ints_attribute(m, "pads", (int64_t[]){pad, pad, pad, pad}, 4);
    add_ints_attribute(m, "kernel_shape", (int64_t[]){kernel, kernel}, 2);
    add_ints_attribute(m, "strides", (int64_t[]){stride, stride}, 2);
    add_ints_attribute(m, "dilations", (int64_t[]){dilation, dilation}, 2);
    return true;
}

/* ---- sequences ---- */

/* The same one for each gate and direction: ONNX lists alpha and beta of those that have them. */
static void add_activations(node_maker *m, int count) {
    const bool affine = one_in(m, 2);
    text_add(&m->text, " activations=");
    for (int i = 0; i < count; i++)
        text_add(&m->text, affine ? "Affine|" : "Softsign|");
    for (int beta = 0; affine && beta < 2; beta++) {
        text_add(&m->text, " activation_%s=", beta ? "beta" : "alpha");
        for (int i = 0; i < count; i++)
            text_add(&m->text, "0.%d,", draw(m, 1, 9));
    }
}

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
    if (one_in(m, 2))
        text_add(&m->text, " hidden_size=%d clip=0.%d", (int)hidden, draw(m, 3, 9));
    if (op != TSR_OP_RNN)
        text_add(&m->text, " %s=%d", op == TSR_OP_LSTM ? "input_forget" : "linear_before_reset",
                 draw(m, 0, 1));
    if (one_in(m, 3))
        add_activations(m, (int)directions * (op == TSR_OP_LSTM ? 3 : op == TSR_OP_GRU ? 2 : 1));
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

static void add_attention_attributes(node_maker *m, bool scores) {
    text_add(&m->text, " is_causal=%d softmax_precision=1", draw(m, 0, 1));
    if (one_in(m, 3))
        text_add(&m->text, " softcap=0.5");
    if (one_in(m, 3))
        text_add(&m->text, " scale=0.%d", draw(m, 1, 9));
    if (scores)
        text_add(&m->text, " qk_matmul_output_mode=%d", draw(m, 0, 3));
}

/* The last axis of three is split into heads. */
static bool make_split_attention(node_maker *m) {
    int q = pick(m, has_three_axes);
    if (q < 0)
        return false;
    const int64_t *dim = shape_of(m, q)->dim, heads = draw_divisor(m, dim[2]),
                  size = dim[2] / heads, shared = one_in(m, 2) ? heads : 1, keys = draw(m, 1, 5);
    begin(m, "Attention", q);
    add_weights(m, 'w', 3, (int64_t[]){dim[0], keys, shared * size});
    add_weights(m, 'w', 3, (int64_t[]){dim[0], keys, shared * draw(m, 1, 5)});
    add_outputs(m, 1);
    text_add(&m->text, " q_num_heads=%d kv_num_heads=%d", (int)heads, (int)shared);
    add_attention_attributes(m, false);
    return true;
}

/* Its heads are the first two axes, or the last one is split. */
bool make_attention(node_maker *m, tsr_op op) {
    (void)op;
    int q = pick(m, is_flat_image);
    if (one_in(m, 2))
        return make_split_attention(m);
    if (q < 0 || tsr_shape_count(shape_of(m, q)) == 0)
        return false;
    const int64_t *dim = shape_of(m, q)->dim, keys = draw(m, 1, 5);
    begin(m, "Attention", q);
    add_weights(m, 'w', 4, (int64_t[]){dim[0], dim[1], keys, dim[3]});
    add_weights(m, 'w', 4, (int64_t[]){dim[0], dim[1], keys, draw(m, 1, 5)});
    if (one_in(m, 2))
        add_weights(m, 'w', 2, (int64_t[]){dim[2], keys});
    bool scores = one_in(m, 4);
    add_outputs(m, scores ? 4 : 1);
    add_attention_attributes(m, scores);
    return true;
}

bool make_rotary_embedding(node_maker *m, tsr_op op) {
    (void)op;
    const bool split = one_in(m, 2);
    int x = pick(m, split ? has_three_axes : is_flat_image);
    if (x < 0)
        return false;
    const int64_t *dim = shape_of(m, x)->dim, heads = split ? draw_divisor(m, dim[2]) : dim[1],
                  size = split ? dim[2] / heads : dim[3],
                  cache[] = {dim[0], split ? dim[1] : dim[2], size / 2};
    if (size < 2 || (split && size % 2))
        return false;
    begin(m, "RotaryEmbedding", x);
    add_weights(m, 'w', 3, cache);
    add_weights(m, 'w', 3, cache);
    add_outputs(m, 1);
    text_add(&m->text, " interleaved=%d rotary_embedding_dim=%d", draw(m, 0, 1),
             (int)(size / 2) * 2);
    if (split)
        text_add(&m->text, " num_heads=%d", (int)heads);
    return true;
}

/* ---- random numbers ---- */

static void add_range(node_maker *m, tsr_op op) {
    bool normal = op == TSR_OP_RandomNormal || op == TSR_OP_RandomNormalLike;
    if (normal)
        text_add(&m->text, " mean=0.%d scale=1.%d", draw(m, 0, 9), draw(m, 0, 9));
    else
        text_add(&m->text, " low=-0.%d high=1.%d", draw(m, 0, 9), draw(m, 0, 9));
    text_add(&m->text, " dtype=1");
}

/* Without a seed the node's name decides, which another graph with the node has not. */
static void add_seed(node_maker *m) {
    text_add(&m->text, " seed=%d.0", draw(m, 0, 9));
}

bool make_random(node_maker *m, tsr_op op) {
    text_add(&m->text, "%s", tsr_op_get_info(op)->name);
    add_outputs(m, 1);
    add_ints_attribute(m, "shape", (int64_t[]){draw(m, 1, 3), draw(m, 1, 5)}, 2);
    add_range(m, op);
    add_seed(m);
    return true;
}

bool make_random_like(node_maker *m, tsr_op op) {
    int x = pick(m, is_float);
    if (x < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    add_range(m, op);
    add_seed(m);
    return true;
}

/* Of constants: a number that is a little off may pass its random one. */
bool make_bernoulli(node_maker *m, tsr_op op) {
    text_add(&m->text, "%s", tsr_op_get_info(op)->name);
    add_weights(m, 'p', 2, (int64_t[]){draw(m, 1, 3), draw(m, 1, 5)});
    add_outputs(m, 1);
    text_add(&m->text, " dtype=%d", op == TSR_OP_Multinomial || one_in(m, 2) ? 6 : 1);
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
    text_add(&m->text, " periodic=%d output_datatype=1", draw(m, 0, 1));
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
    text_add(&m->text, " coordinate_transformation_mode=%s",
             one_in(m, 2) ? "half_pixel" : "output_half_pixel");
    return true;
}

/* A row of blocks. */
bool make_col2im(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_three_axes);
    if (x < 0)
        return false;
    const int64_t *dim = shape_of(m, x)->dim, length = dim[1] % 2 ? 1 : 2, stride = draw(m, 1, 2),
                  dilation = draw(m, 1, 2), before = draw(m, 0, 1), after = draw(m, 0, 1),
                  width = (dim[2] - 1) * stride + dilation * (length - 1) + 1 - before - after;
    if (width < 1)
        return false;
    begin(m, "Col2Im", x);
    add_ints(m, (int64_t[]){1, width}, 2);
    add_ints(m, (int64_t[]){1, length}, 2);
    add_outputs(m, 1);
    add_ints_attribute(m, "pads", (int64_t[]){0, before, 0, after}, 4);
    add_ints_attribute(m, "strides", (int64_t[]){1, stride}, 2);
    add_ints_attribute(m, "dilations", (int64_t[]){1, dilation}, 2);
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
    text_add(&m->text, " kernel_shape=1,1 pads=0,0,0,0 strides=%d,%d", draw(m, 1, 2),
             draw(m, 1, 2));
    return true;
}
