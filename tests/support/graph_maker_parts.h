/* What makers of random nodes choose values by and write nodes with. */
#ifndef TESTS_SUPPORT_GRAPH_MAKER_PARTS_H
#define TESTS_SUPPORT_GRAPH_MAKER_PARTS_H

#include "support/graph_maker.h"

#include <stdlib.h>

/* Makers by family, each in a file of its own. */
typedef bool node_maker_fn(node_maker *m, tsr_op op);
node_maker_fn make_unary, make_not, make_float_test, make_binary, make_nary, make_where, make_clip;
node_maker_fn make_conv, make_conv_transpose, make_pool, make_global_pool, make_window_gradient;
node_maker_fn make_concat, make_split, make_slice, make_transpose, make_pad, make_depth_to_space,
    make_space_to_depth, make_gather, make_reshape, make_flatten, make_squeeze, make_unsqueeze,
    make_identity, make_dropout, make_cast, make_shape;
/* Function operators: graph_maker_functions.c; by indices: graph_maker_indices.c. */
node_maker_fn make_recurrent, make_einsum, make_reverse_sequence, make_max_unpool, make_random,
    make_random_like, make_bernoulli, make_multinomial, make_window, make_roi_align, make_col2im,
    make_affine_grid, make_attention, make_rotary_embedding, make_if, make_loop, make_scan,
    make_selection, make_deform_conv, make_tuples, make_scatter_elements, make_tensor_scatter,
    make_top_k, make_bit_cast;
/* graph_maker_training.c, graph_maker_quantize.c */
node_maker_fn make_loss, make_update, make_adam_update, make_leaky_relu_grad;
node_maker_fn make_quantize, make_dynamic_quantize, make_qlinear, make_integer_sums;

enum { TRIES = 16 };

/* ---- choosing ---- */

static inline int draw(node_maker *m, int low, int high) {
    return random_int(m->random, low, high);
}

static inline bool one_in(node_maker *m, int odds) {
    return random_one_in(m->random, odds);
}

#define DRAW_ONE_OF(m, list) ((list)[draw(m, 0, (int)(sizeof(list) / sizeof *(list)) - 1)])

static inline const tsr_shape *shape_of(const node_maker *m, int value) {
    return &m->values[value].shape;
}

typedef bool value_test(const graph_value *value);

/* A value that passes the test, late ones more often; -1 if none is found. */
static inline int pick(node_maker *m, value_test *test) {
    for (int i = 0; i < TRIES; i++) {
        int first = one_in(m, 2) && m->value_count > 4 ? m->value_count - 4 : 0;
        int value = draw(m, first, m->value_count - 1);
        if (test(&m->values[value]))
            return value;
    }
    return -1;
}

static inline bool is_any(const graph_value *v) {
    (void)v;
    return true;
}

static inline bool is_float(const graph_value *v) {
    return v->dtype == TSR_DTYPE_F32;
}

static inline bool is_number(const graph_value *v) {
    return v->dtype != TSR_DTYPE_BOOL;
}

static inline bool is_integer(const graph_value *v) {
    return !is_float(v) && is_number(v);
}

static inline bool is_byte(const graph_value *v) {
    return v->dtype == TSR_DTYPE_U8;
}

static inline bool is_bool(const graph_value *v) {
    return v->dtype == TSR_DTYPE_BOOL;
}

static inline bool has_axes(const graph_value *v) {
    return v->shape.rank > 0;
}

static inline bool is_float_with_axes(const graph_value *v) {
    return is_float(v) && has_axes(v);
}

static inline bool has_channels(const graph_value *v) {
    return is_float(v) && v->shape.rank >= 2 && v->shape.rank <= 5;
}

static inline bool is_image(const graph_value *v) {
    return is_float(v) && v->shape.rank >= 3 && v->shape.rank <= 5;
}

static inline bool is_flat_image(const graph_value *v) {
    return is_float(v) && v->shape.rank == 4;
}

static inline bool has_blocks(const graph_value *v) {
    return v->shape.rank == 4;
}

static inline bool is_matrix(const graph_value *v) {
    return is_float(v) && v->shape.rank == 2;
}

/* ---- writing ---- */

static inline const char *list_text(const int64_t *numbers, int count) {
    enum { MOST = 64 };
    int ints[MOST];
    if (count > MOST)
        abort();
    for (int i = 0; i < count; i++)
        ints[i] = (int)numbers[i];
    return text_list(ints, count);
}

/* An initializer of floats, its range by the letter: see graph_element(). */
static inline void add_weights(node_maker *m, char letter, int rank, const int64_t *dims) {
    text_add(&m->text, " %c%d_%d{%s}", letter, m->node, m->weight_count++, list_text(dims, rank));
}

/* An initializer of integers, of one axis. */
static inline void add_ints(node_maker *m, const int64_t *numbers, int count) {
    text_add(&m->text, " i%d_%d(%s)", m->node, m->weight_count++, list_text(numbers, count));
}

static inline void add_scalar(node_maker *m, double number) {
    text_add(&m->text, " k%d_%d<%g", m->node, m->weight_count++, number);
}

static inline void add_ints_attribute(node_maker *m, const char *name, const int64_t *numbers,
                                      int count) {
    text_add(&m->text, " %s=%s%s", name, list_text(numbers, count), count == 1 ? "," : "");
}

static inline void add_outputs(node_maker *m, int count) {
    text_add(&m->text, " ->");
    for (int i = 0; i < count; i++)
        text_add(&m->text, " $%d", m->value_count + i);
}

/* "Op $value" */
static inline void begin(node_maker *m, const char *op, int value) {
    text_add(&m->text, "%s $%d", op, value);
}

#endif
