#include "support/graph_maker.h"
#include "support/graph_maker_parts.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ELEMENTS = 4096, MOST_FACTORS = 16 };

float graph_element(uint32_t seed, const char *name, size_t i) {
    uint32_t hash = 2166136261u ^ seed; /* FNV-1a */
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    random_source random = random_from(hash + (uint32_t)i * 2654435761u);
    return *name == 'q'   ? random_float(&random, 0, 0.25f)
           : *name == 'p' ? random_float(&random, 1, 0.5f)
                          : random_float(&random, 0, 1);
}

tsr_shape draw_shape(random_source *random) {
    static const int ranks[] = {4, 4, 4, 4, 4, 3, 3, 2, 2, 1, 5, 0},
                     sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 17, 33, 35};
    tsr_shape shape = {.rank = ranks[random_int(random, 0, 11)]};
    do
        for (int i = 0; i < shape.rank; i++)
            shape.dim[i] = i == 0 && shape.rank > 2 ? random_int(random, 1, 2)
                                                    : sizes[random_int(random, 0, 12)];
    while (tsr_shape_count(&shape) > MOST_ELEMENTS);
    return shape;
}

/* ---- element by element ---- */

typedef struct parameter {
    tsr_op op;
    const char *name;
    float value;
} parameter;

static const parameter parameters[] = {
#define TSR_PARAM(Name, attribute, number) {TSR_OP_##Name, #attribute, number},
#include "graph/ops.def"
};

static bool make_unary(node_maker *m, tsr_op op) {
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

static bool make_not(node_maker *m, tsr_op op) {
    return make_of_one(m, op, op == TSR_OP_Not ? is_bool : is_integer);
}

static bool make_float_test(node_maker *m, tsr_op op) {
    return make_of_one(m, op, is_float);
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

static bool make_binary(node_maker *m, tsr_op op) {
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

static bool make_nary(node_maker *m, tsr_op op) {
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

static bool make_where(node_maker *m, tsr_op op) {
    int condition = pick(m, is_bool), x = pick(m, is_any), y = pick_operand(m, x, op);
    if (condition < 0 || y < 0 || !broadcasts(shape_of(m, condition), shape_of(m, x)) ||
        !broadcasts(shape_of(m, condition), shape_of(m, y)))
        return false;
    begin(m, "Where", condition);
    text_add(&m->text, " $%d $%d", x, y);
    add_outputs(m, 1);
    return true;
}

static bool make_clip(node_maker *m, tsr_op op) {
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

/* ---- windows ---- */

/* Of a kernel over the spatial axes of an image. */
typedef struct window {
    int rank;
    int64_t kernel[3], stride[3], dilation[3], pads[6];
    const char *auto_pad;
} window;

static int64_t extent_of(const window *w, int axis) {
    return (w->kernel[axis] - 1) * w->dilation[axis] + 1;
}

static window draw_window(node_maker *m, const tsr_shape *image, int most_kernel) {
    static const char *const auto_pads[] = {"SAME_UPPER", "SAME_LOWER", "VALID"};
    window w = {.rank = image->rank - 2};
    if (one_in(m, 5))
        w.auto_pad = DRAW_ONE_OF(m, auto_pads);
    for (int i = 0; i < w.rank; i++) {
        int64_t size = image->dim[i + 2];
        w.kernel[i] = draw(m, 1, most_kernel);
        w.stride[i] = one_in(m, 2) ? 1 : draw(m, 1, 3);
        w.dilation[i] = one_in(m, 4) ? draw(m, 2, 3) : 1;
        if (extent_of(&w, i) > size)
            w.kernel[i] = draw(m, 1, (int)(size < most_kernel ? size : most_kernel));
        if (extent_of(&w, i) > size)
            w.dilation[i] = 1;
        w.pads[i] = draw(m, 0, (int)w.kernel[i] - 1);
        w.pads[i + w.rank] = draw(m, 0, (int)w.kernel[i] - 1);
    }
    return w;
}

static void add_window(node_maker *m, const window *w) {
    add_ints_attribute(m, "kernel_shape", w->kernel, w->rank);
    add_ints_attribute(m, "strides", w->stride, w->rank);
    add_ints_attribute(m, "dilations", w->dilation, w->rank);
    if (w->auto_pad)
        text_add(&m->text, " auto_pad=%s", w->auto_pad);
    else if (!one_in(m, 3))
        add_ints_attribute(m, "pads", w->pads, 2 * w->rank);
}

static int draw_group(node_maker *m, int64_t channels) {
    int group = one_in(m, 2) ? 1 : one_in(m, 2) ? (int)channels : draw(m, 1, (int)channels);
    return channels % group ? 1 : group;
}

/* " x weights [bias] -> y" with the weights' first axes given. */
static void add_filter(node_maker *m, int64_t first, int64_t second, const window *w,
                       int64_t outputs) {
    int64_t dims[5] = {first, second};
    memcpy(dims + 2, w->kernel, sizeof w->kernel);
    add_weights(m, first * second > 16 ? 'q' : 'w', w->rank + 2, dims);
    if (one_in(m, 2))
        add_weights(m, 'w', 1, &outputs);
    add_outputs(m, 1);
}

static bool make_conv(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    const window w = draw_window(m, shape, 5);
    int group = draw_group(m, shape->dim[1]);
    int64_t outputs = group * draw(m, 1, group == 1 ? 18 : group < 4 ? 5 : 2);
    begin(m, "Conv", x);
    add_filter(m, outputs, shape->dim[1] / group, &w, outputs);
    add_window(m, &w);
    text_add(&m->text, " group=%d", group);
    return true;
}

static bool make_conv_transpose(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    window w = draw_window(m, shape, 4);
    int group = draw_group(m, shape->dim[1]);
    int64_t each = draw(m, 1, group == 1 ? 9 : 3), beyond[3];
    for (int i = 0; i < w.rank; i++) {
        w.pads[i] /= 2;
        w.pads[i + w.rank] /= 2;
        beyond[i] = draw(m, 0, (int)w.stride[i] - 1);
    }
    begin(m, "ConvTranspose", x);
    add_filter(m, shape->dim[1], each, &w, each * group);
    add_window(m, &w);
    text_add(&m->text, " group=%d", group);
    if (!w.auto_pad && one_in(m, 2))
        add_ints_attribute(m, "output_padding", beyond, w.rank);
    return true;
}

static bool make_pool(node_maker *m, tsr_op op) {
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    const window w = draw_window(m, shape_of(m, x), 4);
    bool maximum = op == TSR_OP_MaxPool;
    begin(m, maximum ? "MaxPool" : "AveragePool", x);
    add_outputs(m, maximum && one_in(m, 4) ? 2 : 1);
    add_window(m, &w);
    if (!w.auto_pad)
        text_add(&m->text, " ceil_mode=%d", draw(m, 0, 1));
    text_add(&m->text, " %s=%d", maximum ? "storage_order" : "count_include_pad", draw(m, 0, 1));
    return true;
}

static bool make_global_pool(node_maker *m, tsr_op op) {
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    return true;
}

/* ---- products ---- */

/* A matrix of these sizes, which an operand of a product may be; -1 if none is found. */
static int pick_matrix(node_maker *m, int64_t rows, int64_t columns) {
    for (int i = 0; i < TRIES; i++) {
        int y = pick(m, is_matrix);
        if (y >= 0 && shape_of(m, y)->dim[0] == rows && shape_of(m, y)->dim[1] == columns)
            return y;
    }
    return -1;
}

static void add_matrix(node_maker *m, int64_t rows, int64_t columns) {
    int y = one_in(m, 2) ? pick_matrix(m, rows, columns) : -1;
    if (y >= 0)
        text_add(&m->text, " $%d", y);
    else
        add_weights(m, 'w', 2, (int64_t[]){rows, columns});
}

static bool make_gemm(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_matrix), turn_a = draw(m, 0, 1), turn_b = draw(m, 0, 1);
    if (x < 0)
        return false;
    int64_t steps = shape_of(m, x)->dim[!turn_a], rows = shape_of(m, x)->dim[turn_a],
            columns = draw(m, 1, 19);
    begin(m, "Gemm", x);
    add_matrix(m, turn_b ? columns : steps, turn_b ? steps : columns);
    if (one_in(m, 2)) {
        int64_t dims[] = {one_in(m, 2) ? rows : 1, one_in(m, 2) ? columns : 1};
        int rank = draw(m, 0, 2);
        add_weights(m, 'w', rank, dims + 2 - rank);
    }
    add_outputs(m, 1);
    text_add(&m->text, " transA=%d transB=%d", turn_a, turn_b);
    if (one_in(m, 2))
        text_add(&m->text, " alpha=0.%d beta=1.%d", draw(m, 1, 9), draw(m, 0, 9));
    return true;
}

static bool make_matmul(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int64_t steps = shape->dim[shape->rank - 1], columns = draw(m, 1, 19), dims[TSR_MAX_RANK];
    begin(m, "MatMul", x);
    if (shape->rank < 3 || one_in(m, 2)) {
        add_matrix(m, steps, columns);
    } else {
        memcpy(dims, shape->dim, sizeof dims);
        dims[shape->rank - 2] = steps;
        dims[shape->rank - 1] = columns;
        if (one_in(m, 2))
            dims[0] = 1;
        add_weights(m, 'w', shape->rank, dims);
    }
    add_outputs(m, 1);
    return true;
}

/* ---- normalization ---- */

static bool make_batch_normalization(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_channels);
    if (x < 0)
        return false;
    begin(m, "BatchNormalization", x);
    for (int i = 0; i < 4; i++)
        add_weights(m, "wwwp"[i], 1, &shape_of(m, x) -> dim[1]);
    add_outputs(m, 1);
    if (one_in(m, 2))
        text_add(&m->text, " epsilon=0.0%d", draw(m, 1, 9));
    return true;
}

static bool make_instance_normalization(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    begin(m, "InstanceNormalization", x);
    for (int i = 0; i < 2; i++)
        add_weights(m, 'w', 1, &shape_of(m, x)->dim[1]);
    add_outputs(m, 1);
    text_add(&m->text, " epsilon=0.0%d", draw(m, 1, 9));
    return true;
}

static bool make_layer_normalization(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int axes = one_in(m, 2) ? 1 : draw(m, 1, shape->rank);
    begin(m, "LayerNormalization", x);
    for (int i = draw(m, 1, 2); i > 0; i--)
        add_weights(m, 'w', axes, shape->dim + shape->rank - axes);
    add_outputs(m, one_in(m, 5) ? 3 : 1);
    text_add(&m->text, " axis=%d epsilon=0.0%d", -axes, draw(m, 1, 9));
    return true;
}

/* And what has an axis as it has. */
static bool make_softmax(node_maker *m, tsr_op op) {
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    int rank = shape_of(m, x)->rank;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d", draw(m, -rank, rank - 1));
    return true;
}

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

/* ---- reductions, and functions made of them ---- */

static bool make_reduce(node_maker *m, tsr_op op) {
    bool logs = op == TSR_OP_ReduceLogSum;
    int x = pick(m, tsr_op_has(op, TSR_TYPES_NUMBERS) ? is_any : is_float);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int64_t axes[TSR_MAX_RANK];
    int count = 0;
    for (int i = 0; i < shape->rank; i++)
        if (one_in(m, 2))
            axes[count++] = one_in(m, 2) ? i : i - shape->rank;
    if (logs) /* of what has a logarithm */
        text_add(&m->text, "Exp $%d -> e%d; %s e%d", x, m->node, tsr_op_get_info(op)->name,
                 m->node);
    else
        begin(m, tsr_op_get_info(op)->name, x);
    if (count)
        add_ints(m, axes, count);
    add_outputs(m, 1);
    text_add(&m->text, " keepdims=%d", one_in(m, 2));
    return true;
}

static bool make_arg(node_maker *m, tsr_op op) {
    int x = pick(m, has_axes);
    if (x < 0 || is_bool(&m->values[x]))
        return false;
    int rank = shape_of(m, x)->rank;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d keepdims=%d select_last_index=%d", draw(m, -rank, rank - 1),
             one_in(m, 2), one_in(m, 2));
    return true;
}

static bool make_mean_variance(node_maker *m, tsr_op op) {
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    text_add(&m->text, " axes=%d,", draw(m, 0, shape_of(m, x)->rank - 1));
    return true;
}

static bool make_group_normalization(node_maker *m, tsr_op op) {
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    int64_t channels = shape_of(m, x)->dim[1];
    begin(m, tsr_op_get_info(op)->name, x);
    for (int i = 0; i < 2; i++)
        add_weights(m, 'w', 1, &channels);
    add_outputs(m, 1);
    text_add(&m->text, " epsilon=0.0%d num_groups=%d", draw(m, 1, 9),
             channels % 2 || one_in(m, 2) ? 1 : 2);
    return true;
}

static bool make_rms_normalization(node_maker *m, tsr_op op) {
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int axes = draw(m, 1, shape->rank);
    begin(m, tsr_op_get_info(op)->name, x);
    add_weights(m, 'w', axes, shape->dim + shape->rank - axes);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d epsilon=0.0%d", -axes, draw(m, 1, 9));
    return true;
}

static bool make_lrn(node_maker *m, tsr_op op) {
    int x = pick(m, has_channels);
    if (x < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    text_add(&m->text, " size=%d alpha=0.%d", draw(m, 1, 5), draw(m, 1, 9));
    return true;
}

/* Of classes chosen at random. */
static bool make_loss(node_maker *m, tsr_op op) {
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
    return true;
}

static bool make_cast_like(node_maker *m, tsr_op op) {
    begin(m, tsr_op_get_info(op)->name, pick(m, is_any));
    text_add(&m->text, " $%d", pick(m, is_any));
    add_outputs(m, 1);
    return true;
}

static bool make_concat(node_maker *m, tsr_op op) {
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

static bool make_split(node_maker *m, tsr_op op) {
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

static bool make_slice(node_maker *m, tsr_op op) {
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

static bool make_transpose(node_maker *m, tsr_op op) {
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

static bool make_pad(node_maker *m, tsr_op op) {
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

static bool make_depth_to_space(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_blocks), block = draw(m, 1, 3);
    if (x < 0 || shape_of(m, x)->dim[1] % (block * block))
        return false;
    begin(m, "DepthToSpace", x);
    add_outputs(m, 1);
    text_add(&m->text, " blocksize=%d mode=%s", block, one_in(m, 2) ? "DCR" : "CRD");
    return true;
}

static bool make_space_to_depth(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, has_blocks), block = draw(m, 1, 4);
    if (x < 0 || shape_of(m, x)->dim[2] % block || shape_of(m, x)->dim[3] % block)
        return false;
    begin(m, "SpaceToDepth", x);
    add_outputs(m, 1);
    text_add(&m->text, " blocksize=%d", block);
    return true;
}

static bool make_gather(node_maker *m, tsr_op op) {
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

/* ---- sampling ---- */

/* Each element of the indices is one of the axis, whatever the shape of the rest. */
static bool make_gather_elements(node_maker *m, tsr_op op) {
    int x = pick(m, has_axes);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    int axis = draw(m, 0, shape->rank - 1), size = (int)shape->dim[axis];
    int64_t indices[6], dims[TSR_MAX_RANK];
    int count = draw(m, 1, 6);
    for (int i = 0; i < count; i++)
        indices[i] = draw(m, -size, size - 1);
    for (int i = 0; i < shape->rank; i++)
        dims[i] = i == axis ? count : 1;
    if (size == 0)
        return false;
    text_add(&m->text, "Identity $%d -> c%d; Reshape i%d(%s)", x, m->node, m->node,
             list_text(indices, count));
    text_add(&m->text, " s%d(%s) -> r%d; %s c%d r%d", m->node, list_text(dims, shape->rank),
             m->node, tsr_op_get_info(op)->name, m->node, m->node);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d", axis);
    return true;
}

static bool make_trilu(node_maker *m, tsr_op op) {
    int x = pick(m, is_any);
    if (shape_of(m, x)->rank < 2)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_ints(m, (int64_t[]){draw(m, -3, 3)}, 1);
    add_outputs(m, 1);
    text_add(&m->text, " upper=%d", one_in(m, 2));
    return true;
}

static bool make_cum_sum(node_maker *m, tsr_op op) {
    int x = pick(m, is_float_with_axes);
    if (x < 0)
        return false;
    const int axis = draw(m, 0, shape_of(m, x)->rank - 1);
    if (op == TSR_OP_CumProd && shape_of(m, x)->dim[axis] > 6) /* errors grow with each factor */
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_ints(m, (int64_t[]){axis}, 1);
    add_outputs(m, 1);
    text_add(&m->text, " exclusive=%d reverse=%d", one_in(m, 2), one_in(m, 2));
    return true;
}

static bool make_expand(node_maker *m, tsr_op op) {
    int x = pick(m, is_any);
    const tsr_shape *shape = shape_of(m, x);
    int64_t dims[TSR_MAX_RANK];
    if (shape->rank == 0 || tsr_shape_count(shape) > 1000)
        return false;
    for (int i = 0; i < shape->rank; i++)
        dims[i] = op == TSR_OP_Tile ? (one_in(m, 3) ? 2 : 1)
                                    : (shape->dim[i] == 1 && one_in(m, 2) ? 3 : shape->dim[i]);
    begin(m, tsr_op_get_info(op)->name, x);
    add_ints(m, dims, shape->rank);
    add_outputs(m, 1);
    return true;
}

static bool make_one_hot(node_maker *m, tsr_op op) {
    int64_t indices[5];
    int count = draw(m, 1, 5);
    for (int i = 0; i < count; i++)
        indices[i] = draw(m, -5, 5);
    text_add(&m->text, "%s", tsr_op_get_info(op)->name);
    add_ints(m, indices, count);
    add_ints(m, (int64_t[]){draw(m, 1, 5)}, 1);
    text_add(&m->text, " f%d<0.25,1>", m->node);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d", draw(m, -1, 1));
    return true;
}

static bool make_eye_like(node_maker *m, tsr_op op) {
    int x = pick(m, is_matrix);
    if (x < 0)
        return false;
    begin(m, tsr_op_get_info(op)->name, x);
    add_outputs(m, 1);
    text_add(&m->text, " k=%d", draw(m, -2, 2));
    return true;
}

static bool make_range(node_maker *m, tsr_op op) {
    text_add(&m->text, "%s", tsr_op_get_info(op)->name);
    add_scalar(m, draw(m, -2, 2));
    add_scalar(m, draw(m, 3, 9));
    add_scalar(m, draw(m, 1, 3));
    add_outputs(m, 1);
    return true;
}

static bool make_constant_of_shape(node_maker *m, tsr_op op) {
    int64_t dims[3] = {draw(m, 1, 4), draw(m, 1, 4), draw(m, 1, 4)};
    text_add(&m->text, "%s", tsr_op_get_info(op)->name);
    add_ints(m, dims, draw(m, 1, 3));
    add_outputs(m, 1);
    return true;
}

static bool make_size(node_maker *m, tsr_op op) {
    begin(m, tsr_op_get_info(op)->name, pick(m, is_any));
    add_outputs(m, 1);
    return true;
}

static bool make_center_crop_pad(node_maker *m, tsr_op op) {
    int x = pick(m, has_axes);
    if (x < 0)
        return false;
    int axis = draw(m, 0, shape_of(m, x)->rank - 1);
    begin(m, tsr_op_get_info(op)->name, x);
    add_ints(m, (int64_t[]){draw(m, 1, 9)}, 1);
    add_outputs(m, 1);
    text_add(&m->text, " axes=%d,", axis);
    return true;
}

static bool make_resize(node_maker *m, tsr_op op) {
    (void)op;
    static const char *const transforms[] = {"half_pixel",         "half_pixel_symmetric",
                                             "pytorch_half_pixel", "align_corners",
                                             "asymmetric",         "tf_crop_and_resize"};
    static const char *const modes[] = {"linear", "cubic", "nearest"};
    static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                            "ceil"};
    int x = pick(m, is_image);
    if (x < 0)
        return false;
    const tsr_shape *shape = shape_of(m, x);
    const char *transform = DRAW_ONE_OF(m, transforms), *mode = DRAW_ONE_OF(m, modes);
    int64_t sizes[5] = {shape->dim[0], shape->dim[1]};
    for (int i = 2; i < shape->rank; i++)
        sizes[i] = one_in(m, 3) ? shape->dim[i] * draw(m, 1, 2) : draw(m, 1, 20);
    if (one_in(m, 4))
        sizes[1] = draw(m, 1, 9);
    begin(m, "Resize", x);
    if (*transform == 't') {
        text_add(&m->text, " f%d_roi<", m->node);
        for (int i = 0; i < 2 * shape->rank; i++)
            text_add(&m->text, "%s%g", i ? "," : "",
                     (i >= shape->rank) + (i % shape->rank > 1 ? draw(m, -2, 2) / 8.0 : 0));
        text_add(&m->text, ">");
    } else {
        text_add(&m->text, " _");
    }
    if (one_in(m, 2)) {
        text_add(&m->text, " f%d_scales<1,1", m->node);
        for (int i = 2; i < shape->rank; i++)
            text_add(&m->text, ",%g", draw(m, 2, 11) / 4.0);
        text_add(&m->text, ">");
    } else {
        text_add(&m->text, " _");
        add_ints(m, sizes, shape->rank);
    }
    add_outputs(m, 1);
    text_add(&m->text, " mode=%s coordinate_transformation_mode=%s", mode, transform);
    if (*mode == 'n')
        text_add(&m->text, " nearest_mode=%s", DRAW_ONE_OF(m, roundings));
    if (*mode == 'c' && one_in(m, 2))
        text_add(&m->text, " exclude_outside=1 cubic_coeff_a=-0.5");
    if (one_in(m, 2))
        text_add(&m->text, " antialias=1");
    return true;
}

static bool make_grid_sample(node_maker *m, tsr_op op) {
    (void)op;
    static const char *const modes[] = {"linear", "nearest", "cubic"}, *const paddings[] = {
                                                                           "zeros", "border",
                                                                           "reflection"};
    int x = pick(m, is_image), grid = pick(m, is_image);
    if (x < 0)
        return false;
    int rank = shape_of(m, x)->rank;
    int64_t points[TSR_MAX_RANK] = {shape_of(m, x)->dim[0]};
    for (int i = 1; i < rank - 1; i++)
        points[i] = draw(m, 1, rank == 5 ? 4 : 9);
    points[rank - 1] = rank - 2;
    begin(m, "GridSample", x);
    if (grid >= 0 && shape_of(m, grid)->rank == rank &&
        shape_of(m, grid)->dim[rank - 1] == rank - 2 && shape_of(m, grid)->dim[0] == points[0])
        text_add(&m->text, " $%d", grid);
    else
        add_weights(m, 'p', rank, points);
    add_outputs(m, 1);
    text_add(&m->text, " mode=%s padding_mode=%s align_corners=%d", DRAW_ONE_OF(m, modes),
             DRAW_ONE_OF(m, paddings), draw(m, 0, 1));
    return true;
}

/* ---- shapes ---- */

/* Prime factors of the sizes, dealt anew. */
static bool make_reshape(node_maker *m, tsr_op op) {
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
    return true;
}

static bool make_flatten(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_any), rank = shape_of(m, x)->rank;
    begin(m, "Flatten", x);
    add_outputs(m, 1);
    text_add(&m->text, " axis=%d", draw(m, -rank, rank));
    return true;
}

static bool make_squeeze(node_maker *m, tsr_op op) {
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

static bool make_unsqueeze(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_any), rank = shape_of(m, x)->rank;
    if (rank > 4)
        return false;
    begin(m, "Unsqueeze", x);
    add_ints(m, (int64_t[]){draw(m, -rank - 1, rank)}, 1);
    add_outputs(m, 1);
    return true;
}

static bool make_identity(node_maker *m, tsr_op op) {
    (void)op;
    begin(m, "Identity", pick(m, is_any));
    add_outputs(m, 1);
    return true;
}

static bool make_dropout(node_maker *m, tsr_op op) {
    (void)op;
    int x = pick(m, is_float);
    if (x < 0)
        return false;
    begin(m, "Dropout", x);
    add_outputs(m, 1);
    return true;
}

static bool make_cast(node_maker *m, tsr_op op) {
    (void)op;
    static const int types[] = {1, 1, 1, 2, 3, 6, 7, 9}; /* ONNX's numbers */
    begin(m, "Cast", pick(m, is_any));
    add_outputs(m, 1);
    text_add(&m->text, " to=%d", DRAW_ONE_OF(m, types));
    return true;
}

static bool make_shape(node_maker *m, tsr_op op) {
    (void)op;
    begin(m, "Shape", pick(m, is_any));
    add_outputs(m, 1);
    if (one_in(m, 2))
        text_add(&m->text, " start=%d", draw(m, -2, 1));
    return true;
}

/* ---- the table ---- */

static node_maker_fn *const makers[TSR_OP_COUNT] = {
#define TSR_UNARY(Name, stem, types) [TSR_OP_##Name] = make_unary,
#define TSR_BINARY(Name, stem, kind) [TSR_OP_##Name] = make_binary,
#define TSR_NARY(Name, stem, types) [TSR_OP_##Name] = make_nary,
#define TSR_REDUCE(Name, stem, types) [TSR_OP_##Name] = make_reduce,
#include "graph/ops.def"
    [TSR_OP_Clip] = make_clip,
    [TSR_OP_Where] = make_where,
    [TSR_OP_Not] = make_not,
    [TSR_OP_BitwiseNot] = make_not,
    [TSR_OP_IsInf] = make_float_test,
    [TSR_OP_IsNaN] = make_float_test,
    [TSR_OP_Conv] = make_conv,
    [TSR_OP_ConvTranspose] = make_conv_transpose,
    [TSR_OP_Gemm] = make_gemm,
    [TSR_OP_MatMul] = make_matmul,
    [TSR_OP_BatchNormalization] = make_batch_normalization,
    [TSR_OP_InstanceNormalization] = make_instance_normalization,
    [TSR_OP_LayerNormalization] = make_layer_normalization,
    [TSR_OP_Softmax] = make_softmax,
    [TSR_OP_LogSoftmax] = make_softmax,
    [TSR_OP_Hardmax] = make_softmax,
    [TSR_OP_LpNormalization] = make_softmax,
    [TSR_OP_MeanVarianceNormalization] = make_mean_variance,
    [TSR_OP_GroupNormalization] = make_group_normalization,
    [TSR_OP_RMSNormalization] = make_rms_normalization,
    [TSR_OP_LRN] = make_lrn,
    [TSR_OP_NegativeLogLikelihoodLoss] = make_loss,
    [TSR_OP_SoftmaxCrossEntropyLoss] = make_loss,
    [TSR_OP_CastLike] = make_cast_like,
    [TSR_OP_ArgMax] = make_arg,
    [TSR_OP_ArgMin] = make_arg,
    [TSR_OP_MaxPool] = make_pool,
    [TSR_OP_AveragePool] = make_pool,
    [TSR_OP_GlobalAveragePool] = make_global_pool,
    [TSR_OP_GlobalMaxPool] = make_global_pool,
    [TSR_OP_Concat] = make_concat,
    [TSR_OP_Split] = make_split,
    [TSR_OP_Slice] = make_slice,
    [TSR_OP_Transpose] = make_transpose,
    [TSR_OP_Pad] = make_pad,
    [TSR_OP_DepthToSpace] = make_depth_to_space,
    [TSR_OP_SpaceToDepth] = make_space_to_depth,
    [TSR_OP_Gather] = make_gather,
    [TSR_OP_GatherElements] = make_gather_elements,
    [TSR_OP_GatherND] = make_tuples,
    [TSR_OP_ScatterElements] = make_scatter_elements,
    [TSR_OP_ScatterND] = make_tuples,
    [TSR_OP_TensorScatter] = make_tensor_scatter,
    [TSR_OP_TopK] = make_top_k,
    [TSR_OP_CumSum] = make_cum_sum,
    [TSR_OP_CumProd] = make_cum_sum,
    [TSR_OP_BitCast] = make_bit_cast,
    [TSR_OP_Expand] = make_expand,
    [TSR_OP_Trilu] = make_trilu,
    [TSR_OP_Tile] = make_expand,
    [TSR_OP_OneHot] = make_one_hot,
    [TSR_OP_EyeLike] = make_eye_like,
    [TSR_OP_Range] = make_range,
    [TSR_OP_ConstantOfShape] = make_constant_of_shape,
    [TSR_OP_Size] = make_size,
    [TSR_OP_CenterCropPad] = make_center_crop_pad,
    [TSR_OP_GlobalLpPool] = make_global_pool,
    [TSR_OP_Resize] = make_resize,
    [TSR_OP_GridSample] = make_grid_sample,
    [TSR_OP_LSTM] = make_recurrent,
    [TSR_OP_GRU] = make_recurrent,
    [TSR_OP_RNN] = make_recurrent,
    [TSR_OP_Einsum] = make_einsum,
    [TSR_OP_ReverseSequence] = make_reverse_sequence,
    [TSR_OP_MaxUnpool] = make_max_unpool,
    [TSR_OP_Compress] = make_selection,
    [TSR_OP_NonZero] = make_selection,
    [TSR_OP_Unique] = make_selection,
    [TSR_OP_NonMaxSuppression] = make_selection,
    [TSR_OP_If] = make_if,
    [TSR_OP_Loop] = make_loop,
    [TSR_OP_Scan] = make_scan,
    [TSR_OP_RandomUniform] = make_random,
    [TSR_OP_RandomNormal] = make_random,
    [TSR_OP_RandomUniformLike] = make_random_like,
    [TSR_OP_RandomNormalLike] = make_random_like,
    [TSR_OP_Bernoulli] = make_bernoulli,
    [TSR_OP_Multinomial] = make_multinomial,
    [TSR_OP_HannWindow] = make_window,
    [TSR_OP_HammingWindow] = make_window,
    [TSR_OP_BlackmanWindow] = make_window,
    [TSR_OP_RoiAlign] = make_roi_align,
    [TSR_OP_LpPool] = make_lp_pool,
    [TSR_OP_Col2Im] = make_col2im,
    [TSR_OP_DeformConv] = make_deform_conv,
    [TSR_OP_AffineGrid] = make_affine_grid,
    [TSR_OP_Attention] = make_attention,
    [TSR_OP_RotaryEmbedding] = make_rotary_embedding,
    [TSR_OP_Reshape] = make_reshape,
    [TSR_OP_Flatten] = make_flatten,
    [TSR_OP_Squeeze] = make_squeeze,
    [TSR_OP_Unsqueeze] = make_unsqueeze,
    [TSR_OP_Identity] = make_identity,
    [TSR_OP_Dropout] = make_dropout,
    [TSR_OP_Cast] = make_cast,
    [TSR_OP_Shape] = make_shape,
};

bool can_make_node(tsr_op op) {
    return makers[op];
}

bool make_node(node_maker *m, tsr_op op) {
    *m->text.text = 0;
    m->weight_count = 0;
    return makers[op](m, op);
}
