/* If, Loop, Scan, calls of a model's functions: the nodes of their bodies are copied into the
 * graph, once for each iteration. */
#include "passes/functions.h"

#include "base/error.h"
#include "graph/infer.h"

#include <string.h>

static const tsr_value *value_of(const tsr_builder *b, int value) {
    return &b->graph->values[value];
}

static const tsr_body *body_of(const tsr_builder *b, const char *attr) {
    return tsr_node_attr(b->node, attr)->body;
}

static int *new_values(tsr_builder *b, int count) {
    int *values = TSR_NEW(b->graph->arena, count + 1, int);
    if (!values)
        tsr_build_fail(b, tsr_out_of_memory(b->graph));
    return values;
}

/* ---- copying a body -------------------------------------------------------------------------- */

/* A node counts as more than one where it has many inputs and outputs. */
static bool count_node(tsr_builder *b, const tsr_node *node) {
    enum { SLOTS = 8 };
    int cost = 1 + (node ? (node->input_count + node->output_count) / SLOTS : 0);
    if (b->list->may_make >= cost) {
        b->list->may_make -= cost;
        return true;
    }
    b->list->may_make = 0;
    tsr_build_fail(b, tsr_fail(TSR_ERROR_UNSUPPORTED, "its bodies have too many nodes in all"));
    return false;
}

static int *place_inputs(tsr_builder *b, const tsr_node *node) {
    int *inputs = new_values(b, node->input_count);
    for (int i = 0; inputs && i < node->input_count; i++)
        inputs[i] = node->inputs[i] == TSR_NONE ? TSR_NONE : b->list->places[node->inputs[i]];
    return inputs;
}

static int *place_outputs(tsr_builder *b, const tsr_node *node) {
    int *outputs = new_values(b, node->output_count);
    for (int i = 0; outputs && i < node->output_count; i++) {
        outputs[i] = TSR_NONE;
        if (node->outputs[i] == TSR_NONE)
            continue;
        outputs[i] = tsr_add_value(b->graph, value_of(b, node->outputs[i])->name, "copy");
        if (outputs[i] == TSR_NONE)
            tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY);
        b->list->places[node->outputs[i]] = outputs[i];
    }
    return outputs;
}

static int needed_inputs(const tsr_node *node) {
    const tsr_op_info *info = tsr_op_get_info(node->op);
    bool all = node->custom || info->max_inputs == TSR_VARIADIC;
    int least = node->custom ? node->custom->min_inputs : info->min_inputs;
    return all && node->input_count > least ? node->input_count : least;
}

/* Inputs of a function may be absent. */
static bool has_inputs(tsr_builder *b, tsr_node *node) {
    bool trims = tsr_op_get_info(node->op)->max_inputs != TSR_VARIADIC;
    if (node->op == TSR_OP_FunctionCall)
        return true;
    while (trims && node->input_count && node->inputs[node->input_count - 1] == TSR_NONE)
        node->input_count--;
    for (int i = 0; i < needed_inputs(node); i++)
        if (i >= node->input_count || node->inputs[i] == TSR_NONE) {
            tsr_build_fail(b,
                           tsr_fail(TSR_ERROR_INVALID_MODEL, "input %d of node '%s' (%s) is absent",
                                    i, node->name, tsr_node_op_name(node)));
            return false;
        }
    return true;
}

static void copy_node(tsr_builder *b, const tsr_node *node) {
    tsr_node copy = *node;
    if (b->status != TSR_OK || !count_node(b, node))
        return;
    copy.inputs = place_inputs(b, node);
    copy.outputs = place_outputs(b, node);
    if (b->status != TSR_OK || !has_inputs(b, &copy))
        return;
    tsr_build_fail(b, tsr_append_prepared(b->list, &copy));
    b->told = b->status != TSR_OK;
}

void tsr_build_body(tsr_builder *b, const tsr_body *body, const int *inputs, int *outputs) {
    int *places = b->list->places;
    for (int i = 0; i < body->input_count; i++)
        places[body->inputs[i]] = inputs[i];
    for (int n = 0; n < body->node_count; n++)
        copy_node(b, &body->nodes[n]);
    for (int i = 0; i < body->output_count; i++)
        outputs[i] = places[body->outputs[i]];
}

/* The value of one element, if it is known. */
static bool is_known(tsr_builder *b, int value, int64_t *number) {
    const tsr_value *v = value_of(b, value);
    if (tsr_dtype_is_float(v->dtype) || tsr_shape_count(&v->shape) != 1)
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL,
                                   "'%s' is %s of shape %s instead of one integer or bool", v->name,
                                   tsr_dtype_name(v->dtype), tsr_shape_text(&v->shape)));
    if (b->status != TSR_OK || !v->data)
        return false;
    *number = *(const int64_t *)v->data;
    return true;
}

void tsr_build_results(tsr_builder *b, const int *values) {
    for (int i = 1; i < b->node->output_count; i++)
        tsr_build_output(b, i, values[i]);
    if (b->node->outputs[0] != TSR_NONE)
        TSR_BUILD(b, TSR_OP_Identity, values[0]);
}

static bool has_outputs(tsr_builder *b, int count) {
    if (b->node->output_count <= count)
        return true;
    tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "%d outputs, its body makes %d",
                               b->node->output_count, count));
    return false;
}

/* ---- If -------------------------------------------------------------------------------------- */

static int select_value(tsr_builder *b, int condition, int yes, int no) {
    const tsr_value *x = value_of(b, yes), *y = value_of(b, no);
    if (x->dtype != y->dtype || !tsr_shape_equal(&x->shape, &y->shape))
        return tsr_build_fail(
            b, tsr_fail_until_run("its condition is known only at run time, and its branches give "
                                  "%s of shape %s and %s of shape %s",
                                  tsr_dtype_name(x->dtype), tsr_shape_text(&x->shape),
                                  tsr_dtype_name(y->dtype), tsr_shape_text(&y->shape)));
    return TSR_BUILD(b, TSR_OP_Where, condition, yes, no);
}

/* Of a condition that is not known both branches are computed. */
void tsr_build_if(tsr_builder *b) {
    int64_t holds;
    const tsr_body *branches[] = {body_of(b, "else_branch"), body_of(b, "then_branch")};
    int *values[2];
    for (int i = 0; i < 2; i++) {
        values[i] = new_values(b, branches[i]->output_count);
        has_outputs(b, branches[i]->output_count);
    }
    bool known = is_known(b, b->node->inputs[0], &holds);
    for (int i = 0; i < 2 && b->status == TSR_OK; i++)
        if (!known || i == (holds != 0))
            tsr_build_body(b, branches[i], NULL, values[i]);
    if (b->status != TSR_OK)
        return;
    if (known) {
        tsr_build_results(b, values[holds != 0]);
        return;
    }
    int condition = tsr_build_reshape(b, b->node->inputs[0], &(tsr_shape){0});
    for (int i = 0; i < b->node->output_count && b->status == TSR_OK; i++)
        values[0][i] = select_value(b, condition, values[1][i], values[0][i]);
    if (b->status == TSR_OK)
        tsr_build_results(b, values[0]);
}

/* ---- what iterations append to --------------------------------------------------------------- */

typedef struct stack {
    const tsr_value *declared; /* what the body says that a row is */
    int64_t axis;
    bool prepends;
    int *rows;
    int count, room;
} stack;

static void push_row(tsr_builder *b, stack *s, int row) {
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 16;
        int *rows = new_values(b, s->room);
        if (!rows)
            return;
        if (s->count)
            memcpy(rows, s->rows, (size_t)s->count * sizeof *rows);
        s->rows = rows;
    }
    s->rows[s->count++] = row;
}

/* The shape with an axis more; false with a failure. */
static bool insert_axis(tsr_builder *b, const tsr_shape *shape, int64_t axis, int64_t size,
                        tsr_shape *result) {
    int rank = shape->rank, at = 0;
    if (rank == TSR_MAX_RANK) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_UNSUPPORTED, "rank %d is above %d", rank + 1, rank));
        return false;
    }
    tsr_build_fail(b, tsr_normalize_axis(axis, rank + 1, &at));
    *result = (tsr_shape){.rank = rank + 1};
    for (int i = 0; i <= rank; i++)
        result->dim[i] = i == at ? size : shape->dim[i - (i > at)];
    return b->status == TSR_OK;
}

static void append_row(tsr_builder *b, stack *s, int value) {
    tsr_shape shape;
    if (b->status == TSR_OK && insert_axis(b, &value_of(b, value)->shape, s->axis, 1, &shape))
        push_row(b, s, tsr_build_reshape(b, value, &shape));
}

static int empty_stack(tsr_builder *b, const stack *s) {
    tsr_shape shape;
    if (tsr_shape_count(&s->declared->shape) < 0)
        return tsr_build_fail(b, tsr_fail(TSR_ERROR_UNSUPPORTED,
                                          "there is no iteration, and the shape of '%s' is not "
                                          "declared",
                                          s->declared->name));
    if (!insert_axis(b, &s->declared->shape, s->axis, 0, &shape))
        return TSR_NONE;
    tsr_dtype dtype = s->declared->dtype;
    int value = tsr_add_constant(b->graph, b->node->name, "empty", dtype, &shape, "");
    return value == TSR_NONE ? tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY) : value;
}

static int join_rows(tsr_builder *b, stack *s) {
    if (b->status != TSR_OK)
        return TSR_NONE;
    if (s->count < 2)
        return s->count ? s->rows[0] : empty_stack(b, s);
    for (int i = 0; s->prepends && i < s->count / 2; i++) {
        int row = s->rows[i];
        s->rows[i] = s->rows[s->count - 1 - i];
        s->rows[s->count - 1 - i] = row;
    }
    const tsr_attr axis = tsr_int_attr("axis", s->axis);
    return tsr_build_with(b, TSR_OP_Concat, s->count, s->rows, 1, &axis);
}

/* Of the body's outputs from `first` on. */
static stack *new_stacks(tsr_builder *b, const tsr_body *body, int first) {
    stack *stacks = TSR_NEW(b->graph->arena, body->output_count - first + 1, stack);
    if (!stacks)
        tsr_build_fail(b, tsr_out_of_memory(b->graph));
    for (int i = first; stacks && i < body->output_count; i++)
        stacks[i - first].declared = value_of(b, body->outputs[i]);
    return stacks;
}

/* ---- Loop ------------------------------------------------------------------------------------ */

typedef struct loop {
    const tsr_body *body;
    int carried; /* values from iteration to iteration */
    int *inputs, *outputs;
    stack *stacks;
} loop;

static bool known_or_fail(tsr_builder *b, int value, const char *what, int64_t *number) {
    if (is_known(b, value, number))
        return true;
    tsr_build_fail(b, tsr_fail_until_run("%s '%s' is known only at run time; if it comes from "
                                         "inputs, fix those in tsr_session_desc.fixed",
                                         what, value_of(b, value)->name));
    return false;
}

/* Its inputs are the number of the iteration, the condition, what is carried; its outputs the
 * condition of the next iteration, what is carried, and rows. */
static void iterate(tsr_builder *b, loop *l, int64_t number) {
    const tsr_body *body = l->body;
    count_node(b, NULL);
    l->inputs[0] = tsr_build_index(b, number);
    if (b->status == TSR_OK)
        tsr_build_body(b, body, l->inputs, l->outputs);
    if (b->status != TSR_OK)
        return;
    memcpy(l->inputs + 1, l->outputs, (size_t)(1 + l->carried) * sizeof *l->inputs);
    for (int i = 1 + l->carried; i < body->output_count; i++)
        append_row(b, &l->stacks[i - 1 - l->carried], l->outputs[i]);
}

/* A function's node may lack inputs where the call does. */
static bool has_body_inputs(tsr_builder *b, const tsr_body *body) {
    if (b->node->input_count >= body->input_count)
        return true;
    tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "%d inputs; its body has %d",
                               b->node->input_count, body->input_count));
    return false;
}

static bool prepare_loop(tsr_builder *b, loop *l) {
    const tsr_body *body = body_of(b, "body");
    if (!has_body_inputs(b, body))
        return false;
    l->body = body;
    l->carried = body->input_count - 2;
    if (body->output_count < 1 + l->carried) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "its body has %d inputs and %d outputs",
                                   body->input_count, body->output_count));
        return false;
    }
    l->inputs = new_values(b, body->input_count);
    l->outputs = new_values(b, body->output_count);
    l->stacks = new_stacks(b, body, 1 + l->carried);
    if (b->status == TSR_OK)
        memcpy(l->inputs + 1, b->node->inputs + 1, (size_t)(1 + l->carried) * sizeof *l->inputs);
    return has_outputs(b, body->output_count - 1);
}

void tsr_build_loop(tsr_builder *b) {
    loop l;
    int64_t limit, going;
    if (!prepare_loop(b, &l) || !known_or_fail(b, b->node->inputs[0], "the trip count", &limit) ||
        !known_or_fail(b, b->node->inputs[1], "the condition", &going))
        return;
    for (int64_t i = 0; i < limit && going && b->status == TSR_OK; i++) {
        iterate(b, &l, i);
        if (b->status == TSR_OK)
            known_or_fail(b, l.inputs[1], "the condition", &going);
    }
    if (b->status != TSR_OK)
        return;
    memcpy(l.outputs, l.inputs + 2, (size_t)l.carried * sizeof *l.outputs);
    for (int i = l.carried; i < b->node->output_count; i++)
        l.outputs[i] = join_rows(b, &l.stacks[i - l.carried]);
    if (b->status == TSR_OK)
        tsr_build_results(b, l.outputs);
}

/* ---- Scan ------------------------------------------------------------------------------------ */

typedef struct scan {
    const tsr_body *body;
    int states, scanned, stacked; /* counts of values: carried, read row by row, appended to */
    int64_t length;
} scan;

/* Element i of a list of integers, or else a default. */
static int64_t list_item(const tsr_builder *b, const char *attr, int i, int64_t usual) {
    const tsr_attr *list = tsr_node_attr(b->node, attr);
    return list && i < list->count ? list->ints[i] : usual;
}

static int take_row(tsr_builder *b, int value, int64_t axis, int64_t row) {
    const tsr_attr along = tsr_int_attr("axis", axis);
    const int inputs[] = {value, tsr_build_index(b, row)};
    return tsr_build_with(b, TSR_OP_Gather, 2, inputs, 1, &along);
}

static void measure(tsr_builder *b, scan *s, const int *inputs) {
    for (int i = 0; i < s->scanned && b->status == TSR_OK; i++) {
        const tsr_shape *shape = &value_of(b, inputs[s->states + i])->shape;
        int axis;
        tsr_build_fail(
            b, tsr_normalize_axis(list_item(b, "scan_input_axes", i, 0), shape->rank, &axis));
        if (b->status == TSR_OK && i > 0 && shape->dim[axis] != s->length)
            tsr_build_fail(b, tsr_fail(TSR_ERROR_SHAPE, "axis %d of %s has not length %lld", axis,
                                       tsr_shape_text(shape), (long long)s->length));
        if (b->status == TSR_OK)
            s->length = shape->dim[axis];
    }
}

/* `outputs` are the last states, then what is stacked. */
static void build_scan(tsr_builder *b, scan *s, const int *inputs, int *outputs) {
    const tsr_body *body = s->body;
    int *in = new_values(b, body->input_count);
    stack *stacks = new_stacks(b, body, s->states);
    measure(b, s, inputs);
    if (b->status != TSR_OK)
        return;
    for (int i = 0; i < s->stacked; i++) {
        stacks[i].axis = list_item(b, "scan_output_axes", i, 0);
        stacks[i].prepends = list_item(b, "scan_output_directions", i, 0) == 1;
    }
    memcpy(outputs, inputs, (size_t)s->states * sizeof *outputs);
    for (int64_t t = 0; t < s->length && b->status == TSR_OK; t++) {
        memcpy(in, outputs, (size_t)s->states * sizeof *in);
        for (int i = 0; i < s->scanned; i++) {
            bool backward = list_item(b, "scan_input_directions", i, 0) == 1;
            in[s->states + i] =
                take_row(b, inputs[s->states + i], list_item(b, "scan_input_axes", i, 0),
                         backward ? s->length - 1 - t : t);
        }
        if (b->status == TSR_OK)
            tsr_build_body(b, body, in, outputs);
        for (int i = 0; i < s->stacked; i++)
            append_row(b, &stacks[i], outputs[s->states + i]);
    }
    for (int i = 0; i < s->stacked; i++)
        outputs[s->states + i] = join_rows(b, &stacks[i]);
}

/* Before opset 9 axis 0 of all inputs and outputs is a batch. */
static void build_batches(tsr_builder *b, scan *s, int *outputs) {
    int in_count = s->body->input_count, out_count = s->body->output_count;
    const tsr_shape *first = &value_of(b, b->node->inputs[0])->shape;
    int64_t batch = first->rank ? first->dim[0] : 0;
    int *inputs = new_values(b, in_count), *results = new_values(b, out_count);
    stack *stacks = new_stacks(b, s->body, 0);
    for (int64_t n = 0; n < batch && b->status == TSR_OK; n++) {
        for (int i = 0; i < in_count; i++)
            inputs[i] = take_row(b, b->node->inputs[i], 0, n);
        if (b->status == TSR_OK)
            build_scan(b, s, inputs, results);
        for (int i = 0; i < out_count; i++)
            append_row(b, &stacks[i], results[i]);
    }
    for (int i = 0; i < out_count && b->status == TSR_OK; i++)
        outputs[i] = join_rows(b, &stacks[i]);
}

void tsr_build_scan(tsr_builder *b) {
    const tsr_body *body = body_of(b, "body");
    int64_t scanned = tsr_attr_int(b->node, "num_scan_inputs", 0);
    bool fits = scanned >= 1 && scanned <= body->input_count;
    int states = fits ? body->input_count - (int)scanned : 0;
    if (!fits || body->output_count < states) {
        tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL,
                                   "%lld inputs are scanned; its body has %d inputs and %d outputs",
                                   (long long)scanned, body->input_count, body->output_count));
        return;
    }
    scan s = {.body = body,
              .states = states,
              .scanned = (int)scanned,
              .stacked = body->output_count - states};
    int *outputs = new_values(b, body->output_count);
    if (!outputs || !has_body_inputs(b, body) || !has_outputs(b, body->output_count))
        return;
    if (tsr_attr_int(b->node, "batched", 0))
        build_batches(b, &s, outputs);
    else
        build_scan(b, &s, b->node->inputs, outputs);
    if (b->status == TSR_OK)
        tsr_build_results(b, outputs);
}

/* ---- functions of the model ------------------------------------------------------------------ */

/* An output that the function leaves to an absent input of the call is absent. */
void tsr_build_function_call(tsr_builder *b) {
    const tsr_body *body = body_of(b, "body");
    int *outputs = new_values(b, body->output_count);
    if (!outputs)
        return;
    tsr_build_body(b, body, b->node->inputs, outputs);
    for (int i = 0; i < b->node->output_count && b->status == TSR_OK; i++)
        if (outputs[i] == TSR_NONE && b->node->outputs[i] != TSR_NONE)
            tsr_build_fail(b, tsr_fail(TSR_ERROR_INVALID_MODEL, "its output %d is absent", i));
    if (b->status == TSR_OK)
        tsr_build_results(b, outputs);
}
