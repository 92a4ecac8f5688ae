/* Einsum by MatMul: operand by operand, what is summed over as soon as no later operand needs it.
 */
#include "passes/functions.h"

#include "base/error.h"
#include "graph/rules.h"

#include <ctype.h>
#include <string.h>

/* Labels are letters; the axes of an ellipsis have numbers from ELLIPSIS on. */
enum { LETTERS = 128, ELLIPSIS = LETTERS, LABELS = LETTERS + TSR_MAX_RANK };

/* A value and the labels of its axes. */
typedef struct term {
    int value;
    int rank;
    int label[2 * TSR_MAX_RANK];
} term;

typedef struct equation {
    tsr_builder *b;
    const char *text;
    term *terms;
    int count;
    term output;
    int64_t size[LABELS]; /* of a label; 0: none yet */
    int readers[LABELS];  /* terms that are to come, and the output */
} equation;

/* ---- reading --------------------------------------------------------------------------------- */

static tsr_status bad_equation(const equation *e, const char *what) {
    return tsr_fail(TSR_ERROR_INVALID_MODEL, "equation \"%s\": %s", e->text, what);
}

/* Reads to a comma, an arrow or the end. `dots`: the axes of an ellipsis. */
static tsr_status read_labels(const equation *e, const char **at, int dots, term *t) {
    for (t->rank = 0; **at && **at != ',' && **at != '-'; (*at)++) {
        bool is_dots = **at == '.';
        if (**at == ' ')
            continue;
        if (is_dots && strncmp(*at, "...", 3) != 0)
            return bad_equation(e, "a point that is of no ellipsis");
        if (!is_dots && !isalpha((unsigned char)**at))
            return bad_equation(e, "a label that is no letter");
        int count = is_dots ? dots : 1;
        if (t->rank + count > TSR_MAX_RANK)
            return bad_equation(e, "a term of more than 8 axes");
        for (int i = 0; i < count; i++) /* aligned at the last axis of all ellipses */
            t->label[t->rank++] = is_dots ? ELLIPSIS + TSR_MAX_RANK - count + i : **at;
        *at += is_dots ? 2 : 0;
    }
    return TSR_OK;
}

/* The axes that an ellipsis stands for in a term of some rank. */
static int count_dots(const char *at, int rank) {
    bool has_dots = false;
    for (; *at && *at != ',' && *at != '-'; at++) {
        rank -= isalpha((unsigned char)*at) != 0;
        has_dots |= *at == '.';
    }
    return has_dots && rank > 0 ? rank : 0;
}

/* Sizes of labels agree; of those of an ellipsis 1 is broadcast. */
static tsr_status set_sizes(equation *e, const term *t, const tsr_shape *shape) {
    if (t->rank != shape->rank)
        return tsr_fail(TSR_ERROR_SHAPE, "equation \"%s\": %d labels for a tensor of shape %s",
                        e->text, t->rank, tsr_shape_text(shape));
    for (int i = 0; i < t->rank; i++) {
        int64_t *size = &e->size[t->label[i]];
        bool may_grow = t->label[i] >= ELLIPSIS && (*size == 1 || shape->dim[i] == 1);
        if (*size && *size != shape->dim[i] && !may_grow)
            return tsr_fail(TSR_ERROR_SHAPE, "equation \"%s\": axis %d of %s is not %lld long",
                            e->text, i, tsr_shape_text(shape), (long long)*size);
        if (shape->dim[i] == 0)
            return tsr_fail(TSR_ERROR_UNSUPPORTED, "an axis without elements");
        *size = shape->dim[i] > *size ? shape->dim[i] : *size;
    }
    return TSR_OK;
}

static bool has_label(const term *t, int label) {
    for (int i = 0; i < t->rank; i++)
        if (t->label[i] == label)
            return true;
    return false;
}

/* Without an arrow: the ellipsis, and letters that occur once in the order of the alphabet. */
static tsr_status imply_output(equation *e) {
    int uses[LABELS] = {0};
    e->output.rank = 0;
    for (int k = 0; k < e->count; k++)
        for (int i = 0; i < e->terms[k].rank; i++)
            uses[e->terms[k].label[i]]++;
    for (int i = 0; i < LABELS; i++) {
        int label = (i + ELLIPSIS) % LABELS;
        if (label >= ELLIPSIS ? uses[label] == 0 : uses[label] != 1)
            continue;
        if (e->output.rank == TSR_MAX_RANK)
            return bad_equation(e, "a result of more than 8 axes");
        e->output.label[e->output.rank++] = label;
    }
    return TSR_OK;
}

static tsr_status check_output(const equation *e) {
    for (int i = 0; i < e->output.rank; i++) {
        int label = e->output.label[i];
        if (!e->size[label])
            return bad_equation(e, "a label of the result is in no term");
        for (int j = 0; j < i; j++)
            if (e->output.label[j] == label)
                return bad_equation(e, "a label is twice in the result");
    }
    return TSR_OK;
}

static tsr_status read_equation(equation *e) {
    const char *at = e->text;
    int most_dots = 0;
    for (int k = 0; k < e->count; k++) {
        const tsr_shape *shape = &tsr_node_in(e->b->graph, e->b->node, k)->shape;
        int dots = count_dots(at, shape->rank);
        if (k > 0 && *at++ != ',')
            return bad_equation(e, "fewer terms than inputs");
        dots = count_dots(at, shape->rank);
        most_dots = dots > most_dots ? dots : most_dots;
        e->terms[k].value = e->b->node->inputs[k];
        TSR_TRY(read_labels(e, &at, dots, &e->terms[k]));
        TSR_TRY(set_sizes(e, &e->terms[k], shape));
    }
    if (!*at)
        return imply_output(e);
    if (strncmp(at, "->", 2) != 0)
        return bad_equation(e, *at == ',' ? "more terms than inputs" : "no arrow");
    at += 2;
    TSR_TRY(read_labels(e, &at, most_dots, &e->output));
    return *at ? bad_equation(e, "more than one result") : check_output(e);
}

/* ---- terms ----------------------------------------------------------------------------------- */

static int64_t size_of(const equation *e, const term *t, int axis) {
    return e->b->status == TSR_OK ? e->b->graph->values[t->value].shape.dim[axis] : 1;
}

static void remove_axis(term *t, int axis) {
    t->rank--;
    memmove(t->label + axis, t->label + axis + 1, (size_t)(t->rank - axis) * sizeof *t->label);
}

static void sum_axis(equation *e, term *t, int axis) {
    const int64_t over = axis;
    const tsr_attr drop = tsr_int_attr("keepdims", 0);
    const int inputs[] = {t->value, tsr_build_ints(e->b, 1, &over)};
    t->value = tsr_build_with(e->b, TSR_OP_ReduceSum, 2, inputs, 1, &drop);
    remove_axis(t, axis);
}

/* A label that a term has twice: the diagonal of its two axes. */
static void take_diagonals(equation *e, term *t) {
    tsr_builder *b = e->b;
    for (int i = 0; i < t->rank; i++)
        for (int j = t->rank - 1; j > i; j--) {
            if (t->label[i] != t->label[j])
                continue;
            int64_t size = size_of(e, t, i);
            int line =
                TSR_BUILD(b, TSR_OP_Equal, tsr_build_indices(b, TSR_DTYPE_I64, size, i, t->rank),
                          tsr_build_indices(b, TSR_DTYPE_I64, size, j, t->rank));
            t->value = TSR_BUILD(b, TSR_OP_Where, line, t->value, tsr_build_number(b, 0));
            sum_axis(e, t, j);
        }
}

static void sum_unread(equation *e, term *t, const term *other) {
    for (int i = t->rank - 1; i >= 0; i--)
        if (!e->readers[t->label[i]] && !(other && has_label(other, t->label[i])))
            sum_axis(e, t, i);
}

/* A term with its axes in the order of a list, where those that it lacks are 1 long; those that
 * another term has, too, get the size of their label. */
static int arranged(equation *e, const term *t, const int *labels, int count, const term *other) {
    tsr_builder *b = e->b;
    int64_t order[TSR_MAX_RANK] = {0};
    tsr_shape shape = {.rank = count}, wide = {.rank = count};
    int found = 0;
    bool grows = false;
    for (int i = 0; i < count; i++) {
        shape.dim[i] = 1;
        for (int axis = 0; axis < t->rank; axis++)
            if (t->label[axis] == labels[i]) {
                order[found++] = axis;
                shape.dim[i] = size_of(e, t, axis);
            }
        wide.dim[i] = other && has_label(other, labels[i]) ? e->size[labels[i]] : shape.dim[i];
        grows |= wide.dim[i] != shape.dim[i];
    }
    const tsr_attr perm = tsr_build_ints_attr(b, "perm", found, order);
    int value = found ? tsr_build_with(b, TSR_OP_Transpose, 1, &t->value, 1, &perm) : t->value;
    value = tsr_build_reshape(b, value, &shape);
    return grows ? TSR_BUILD(b, TSR_OP_Expand, value, tsr_build_ints(b, count, wide.dim)) : value;
}

static int64_t product_of(const tsr_builder *b, int value, int first, int last) {
    return b->status == TSR_OK ? tsr_dim_product(&b->graph->values[value].shape, first, last) : 1;
}

/* Of a and b, whose labels to be summed are those that nothing reads any more. */
static term multiply(equation *e, const term *x, const term *y) {
    tsr_builder *b = e->b;
    int labels[3][2 * TSR_MAX_RANK], count[3] = {0, 0, 0}, summed[2 * TSR_MAX_RANK], sums = 0;
    for (int i = 0; i < x->rank; i++) {
        int label = x->label[i];
        if (!has_label(y, label))
            labels[1][count[1]++] = label;
        else if (e->readers[label])
            labels[0][count[0]++] = label;
        else
            summed[sums++] = label;
    }
    for (int i = 0; i < y->rank; i++)
        if (!has_label(x, y->label[i]))
            labels[2][count[2]++] = y->label[i];
    term result = {.rank = 0};
    const int all = count[0] + count[1] + count[2];
    if (all > TSR_MAX_RANK || count[0] + count[1] + sums > TSR_MAX_RANK ||
        count[0] + count[2] + sums > TSR_MAX_RANK) {
        tsr_build_fail(
            b, tsr_fail(TSR_ERROR_UNSUPPORTED, "a product of more than %d axes", TSR_MAX_RANK));
        return result;
    }
    int left[2 * TSR_MAX_RANK], right[2 * TSR_MAX_RANK];
    memcpy(left, labels[0], sizeof left);
    memcpy(left + count[0], labels[1], (size_t)count[1] * sizeof *left);
    memcpy(left + count[0] + count[1], summed, (size_t)sums * sizeof *left);
    memcpy(right, labels[0], sizeof right);
    memcpy(right + count[0], summed, (size_t)sums * sizeof *right);
    memcpy(right + count[0] + sums, labels[2], (size_t)count[2] * sizeof *right);
    int l = arranged(e, x, left, count[0] + count[1] + sums, y),
        r = arranged(e, y, right, count[0] + sums + count[2], x);
    const int rows = count[0] + count[1];
    int64_t batch = product_of(b, l, 0, count[0]), m = product_of(b, l, count[0], rows),
            k = product_of(b, l, rows, rows + sums),
            n = product_of(b, r, count[0] + sums, count[0] + sums + count[2]);
    int product =
        TSR_BUILD(b, TSR_OP_MatMul, tsr_build_reshape(b, l, &(tsr_shape){3, {batch, m, k}}),
                  tsr_build_reshape(b, r, &(tsr_shape){3, {batch, k, n}}));
    tsr_shape shape = {.rank = all};
    for (int part = 0; part < 3; part++)
        for (int i = 0; i < count[part]; i++) {
            const term *from = part == 2 ? y : x;
            int64_t own = 1;
            for (int axis = 0; axis < from->rank; axis++)
                own = from->label[axis] == labels[part][i] ? size_of(e, from, axis) : own;
            shape.dim[result.rank] = part == 0 ? e->size[labels[part][i]] : own;
            result.label[result.rank++] = labels[part][i];
        }
    result.value = tsr_build_reshape(b, product, &shape);
    return result;
}

void tsr_build_einsum(tsr_builder *b) {
    equation e = {
        .b = b, .text = tsr_attr_string(b->node, "equation", ""), .count = b->node->input_count};
    e.terms = TSR_NEW(b->graph->arena, e.count, term);
    tsr_build_fail(b, e.terms ? tsr_require_float(b->graph, b->node, e.count)
                              : tsr_out_of_memory(b->graph));
    if (b->status == TSR_OK)
        tsr_build_fail(b, read_equation(&e));
    if (b->status != TSR_OK)
        return;
    for (int i = 0; i < e.output.rank; i++)
        e.readers[e.output.label[i]]++;
    for (int k = 0; k < e.count; k++) {
        take_diagonals(&e, &e.terms[k]);
        for (int i = 0; i < e.terms[k].rank; i++)
            e.readers[e.terms[k].label[i]]++;
    }
    term result = e.terms[0];
    for (int k = 0; k < e.count && b->status == TSR_OK; k++) {
        term *next = &e.terms[k];
        for (int i = 0; i < next->rank; i++)
            e.readers[next->label[i]]--;
        sum_unread(&e, next, k > 0 ? &result : NULL);
        if (k > 0) {
            sum_unread(&e, &result, next);
            result = multiply(&e, &result, next);
        } else {
            result = *next;
        }
    }
    if (b->status == TSR_OK)
        TSR_BUILD(b, TSR_OP_Identity, arranged(&e, &result, e.output.label, e.output.rank, NULL));
}
