/* LSTM, GRU and RNN, step by step: the products of the inputs of all steps are one Gemm, each step
 * is one more of the state. Formulas are those of ONNX's documents. */
#include "passes/functions.h"

#include "base/error.h"
#include "graph/rules.h"

#include <string.h>

enum { MAX_GATES = 4, MAX_ACTIVATIONS = 3 };

typedef struct activation {
    tsr_op op;
    bool is_affine, is_scaled_tanh;
    float alpha, beta;
} activation;

typedef struct recurrent {
    tsr_builder *b;
    int64_t steps, batch, size, hidden;
    int gates, directions;
    bool batch_first;
    float clip;                 /* 0: none */
    bool couples, resets_after; /* input_forget of LSTM, linear_before_reset of GRU */
    int x;                      /* [steps * batch, size] */
    activation activations[2 * MAX_ACTIVATIONS];
} recurrent;

/* What a direction has of its own; TSR_NONE where there is none. */
typedef struct direction {
    const activation *f;
    int weights[MAX_GATES], biases[MAX_GATES]; /* GRU, of the state: [hidden, hidden], [hidden] */
    int all_weights, all_biases;               /* others: [gates * hidden, hidden] and so on */
    int peepholes[3];                          /* [hidden] */
    int inputs;                                /* [steps * batch, gates * hidden] */
    int h, c;                                  /* [batch, hidden] */
} direction;

static int input_of(const recurrent *r, int i) {
    return i < r->b->node->input_count ? r->b->node->inputs[i] : TSR_NONE;
}

/* ---- parts ---- */

/* A part of a weights tensor [directions, ...]: rows of direction d, without that axis. */
static int part(const recurrent *r, int value, int d, int64_t first, int64_t last) {
    if (value == TSR_NONE || r->b->status != TSR_OK)
        return TSR_NONE;
    tsr_shape shape = r->b->graph->values[value].shape;
    int of_direction = tsr_build_slice(r->b, value, 0, d, d + 1),
        rows = tsr_build_slice(r->b, of_direction, 1, first, last);
    shape.rank--;
    memmove(shape.dim, shape.dim + 1, (size_t)shape.rank * sizeof *shape.dim);
    shape.dim[0] = last - first;
    return tsr_build_reshape(r->b, rows, &shape);
}

/* x * weights^T + bias */
static int product(tsr_builder *b, int x, int weights, int bias) {
    const tsr_attr transposed = tsr_int_attr("transB", 1);
    const int inputs[] = {x, weights, bias};
    return tsr_build_with(b, TSR_OP_Gemm, bias == TSR_NONE ? 2 : 3, inputs, 1, &transposed);
}

static int clip(const recurrent *r, int x) {
    return r->clip > 0 ? TSR_BUILD(r->b, TSR_OP_Clip, x, tsr_build_number(r->b, -r->clip),
                                   tsr_build_number(r->b, r->clip))
                       : x;
}

static int activate(const recurrent *r, const activation *a, int x) {
    tsr_builder *b = r->b;
    x = clip(r, x);
    if (a->is_affine)
        return TSR_BUILD(b, TSR_OP_Add, TSR_BUILD(b, TSR_OP_Mul, x, tsr_build_number(b, a->alpha)),
                         tsr_build_number(b, a->beta));
    if (a->is_scaled_tanh)
        x = TSR_BUILD(b, TSR_OP_Mul, x, tsr_build_number(b, a->beta));
    const tsr_attr attrs[] = {{.name = "alpha", .kind = TSR_ATTR_FLOAT, .f = a->alpha},
                              {.name = "beta", .kind = TSR_ATTR_FLOAT, .f = a->beta}};
    x = tsr_build_with(b, a->op, 1, &x, 2, attrs);
    return a->is_scaled_tanh ? TSR_BUILD(b, TSR_OP_Mul, x, tsr_build_number(b, a->alpha)) : x;
}

/* 1 - x */
static int complement(tsr_builder *b, int x) {
    return TSR_BUILD(b, TSR_OP_Sub, tsr_build_number(b, 1), x);
}

/* The inputs of step t: those of one gate, or of all. */
static int input_at(const recurrent *r, const direction *d, int64_t t, int first, int last) {
    int rows = tsr_build_slice(r->b, d->inputs, 0, t * r->batch, (t + 1) * r->batch);
    return last - first == r->gates
               ? rows
               : tsr_build_slice(r->b, rows, 1, first * r->hidden, last * r->hidden);
}

/* ---- steps ---- */

static void step_rnn(const recurrent *r, direction *d, int64_t t) {
    int sum = TSR_BUILD(r->b, TSR_OP_Add, product(r->b, d->h, d->all_weights, d->all_biases),
                        input_at(r, d, t, 0, 1));
    d->h = activate(r, &d->f[0], sum);
}

/* Gates: update z, reset, hidden. */
static void step_gru(const recurrent *r, direction *d, int64_t t) {
    tsr_builder *b = r->b;
    int gate[2];
    for (int g = 0; g < 2; g++)
        gate[g] = activate(r, &d->f[0],
                           TSR_BUILD(b, TSR_OP_Add, product(b, d->h, d->weights[g], d->biases[g]),
                                     input_at(r, d, t, g, g + 1)));
    int state =
        r->resets_after
            ? TSR_BUILD(b, TSR_OP_Mul, gate[1], product(b, d->h, d->weights[2], d->biases[2]))
            : product(b, TSR_BUILD(b, TSR_OP_Mul, gate[1], d->h), d->weights[2], d->biases[2]);
    int fresh = activate(r, &d->f[1], TSR_BUILD(b, TSR_OP_Add, state, input_at(r, d, t, 2, 3)));
    d->h = TSR_BUILD(b, TSR_OP_Add, TSR_BUILD(b, TSR_OP_Mul, complement(b, gate[0]), fresh),
                     TSR_BUILD(b, TSR_OP_Mul, gate[0], d->h));
}

static int peep(const recurrent *r, const direction *d, int gate, int sum, int cell) {
    int weights = d->peepholes[gate];
    return weights == TSR_NONE
               ? sum
               : TSR_BUILD(r->b, TSR_OP_Add, sum, TSR_BUILD(r->b, TSR_OP_Mul, weights, cell));
}

/* Gates: input, output, forget, cell. */
static void step_lstm(const recurrent *r, direction *d, int64_t t) {
    tsr_builder *b = r->b;
    enum { INPUT, OUTPUT, FORGET, CELL };
    int all = TSR_BUILD(b, TSR_OP_Add, product(b, d->h, d->all_weights, d->all_biases),
                        input_at(r, d, t, 0, r->gates)),
        sum[MAX_GATES];
    for (int g = 0; g < r->gates; g++)
        sum[g] = tsr_build_slice(b, all, 1, g * r->hidden, (g + 1) * r->hidden);
    int input = activate(r, &d->f[0], peep(r, d, INPUT, sum[INPUT], d->c)),
        forget = r->couples ? complement(b, input)
                            : activate(r, &d->f[0], peep(r, d, FORGET, sum[FORGET], d->c)),
        cell = activate(r, &d->f[1], sum[CELL]);
    d->c = TSR_BUILD(b, TSR_OP_Add, TSR_BUILD(b, TSR_OP_Mul, forget, d->c),
                     TSR_BUILD(b, TSR_OP_Mul, input, cell));
    int output = activate(r, &d->f[0], peep(r, d, OUTPUT, sum[OUTPUT], d->c));
    d->h = TSR_BUILD(b, TSR_OP_Mul, output, activate(r, &d->f[2], d->c));
}

/* ---- a direction ---- */

typedef void step_fn(const recurrent *r, direction *d, int64_t t);

/* [batch, hidden]; zeros if there is no such input. */
static int first_state(const recurrent *r, int input, int d) {
    tsr_builder *b = r->b;
    const tsr_shape shape = {2, {r->batch, r->hidden}};
    int value = input_of(r, input);
    if (value != TSR_NONE)
        return tsr_build_reshape(b, tsr_build_slice(b, value, r->batch_first, d, d + 1), &shape);
    return TSR_BUILD(b, TSR_OP_Expand, tsr_build_number(b, 0), tsr_build_ints(b, 2, shape.dim));
}

static direction begin(const recurrent *r, int number, const activation *f) {
    tsr_builder *b = r->b;
    const int64_t all = r->gates * r->hidden;
    int given = input_of(r, 3);
    direction d = {.f = f};
    bool by_gate = b->node->op == TSR_OP_GRU;
    if (!by_gate) {
        d.all_weights = part(r, input_of(r, 2), number, 0, all);
        d.all_biases = part(r, given, number, all, 2 * all);
    }
    for (int g = 0; by_gate && g < r->gates; g++) {
        int64_t first = g * r->hidden, last = first + r->hidden;
        d.weights[g] = part(r, input_of(r, 2), number, first, last);
        d.biases[g] = part(r, given, number, all + first, all + last);
    }
    for (int i = 0; i < 3; i++)
        d.peepholes[i] = part(r, input_of(r, 7), number, i * r->hidden, (i + 1) * r->hidden);
    d.inputs =
        product(b, r->x, part(r, input_of(r, 1), number, 0, all), part(r, given, number, 0, all));
    d.h = first_state(r, 5, number);
    d.c = b->node->op == TSR_OP_LSTM ? first_state(r, 6, number) : TSR_NONE;
    return d;
}

/* [batch, 1]: has a sequence a step t? TSR_NONE if all have. */
static int lives_at(const recurrent *r, int64_t t) {
    tsr_builder *b = r->b;
    int lengths = input_of(r, 4);
    if (lengths == TSR_NONE || b->status != TSR_OK)
        return TSR_NONE;
    int number = tsr_build_cast_like(b, tsr_build_ints(b, 1, &t), lengths);
    return TSR_BUILD(b, TSR_OP_Less, number,
                     tsr_build_reshape(b, lengths, &(tsr_shape){2, {r->batch, 1}}));
}

/* Runs through all steps. h of each step, [1, 1, batch, hidden], in the order of time. */
static void run_direction(const recurrent *r, step_fn *step, bool reversed, direction *d,
                          int *outputs) {
    tsr_builder *b = r->b;
    const tsr_shape shape = {4, {1, 1, r->batch, r->hidden}};
    for (int64_t i = 0; i < r->steps && b->status == TSR_OK; i++) {
        int64_t t = reversed ? r->steps - 1 - i : i;
        int h = d->h, c = d->c, lives = lives_at(r, t);
        step(r, d, t);
        int output = d->h;
        if (lives != TSR_NONE) {
            output = TSR_BUILD(b, TSR_OP_Where, lives, d->h, tsr_build_number(b, 0));
            d->h = TSR_BUILD(b, TSR_OP_Where, lives, d->h, h);
            d->c = c == TSR_NONE ? c : TSR_BUILD(b, TSR_OP_Where, lives, d->c, c);
        }
        outputs[t] = tsr_build_reshape(b, output, &shape);
    }
}

/* ---- attributes and shapes ---- */

static tsr_status find_activation(const tsr_node *node, const char *name, int *scale,
                                  activation *a) {
    static const struct {
        const char *name;
        activation activation;
        int given; /* of activation_alpha, activation_beta */
    } known[] = {
        {"Relu", {.op = TSR_OP_Relu}, 0},
        {"Tanh", {.op = TSR_OP_Tanh}, 0},
        {"Sigmoid", {.op = TSR_OP_Sigmoid}, 0},
        {"Softsign", {.op = TSR_OP_Softsign}, 0},
        {"Softplus", {.op = TSR_OP_Softplus}, 0},
        {"Affine", {.is_affine = true, .alpha = 1}, 2},
        {"LeakyRelu", {.op = TSR_OP_LeakyRelu, .alpha = 0.01f}, 1},
        {"ThresholdedRelu", {.op = TSR_OP_ThresholdedRelu, .alpha = 1}, 1},
        {"ScaledTanh", {.op = TSR_OP_Tanh, .is_scaled_tanh = true, .alpha = 1, .beta = 1}, 2},
        {"HardSigmoid", {.op = TSR_OP_HardSigmoid, .alpha = 0.2f, .beta = 0.5f}, 2},
        {"Elu", {.op = TSR_OP_Elu, .alpha = 1}, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i].name) != 0)
            continue;
        int alphas, betas;
        const float *alpha = tsr_attr_floats(node, "activation_alpha", &alphas),
                    *beta = tsr_attr_floats(node, "activation_beta", &betas);
        *a = known[i].activation;
        if (known[i].given > 0 && scale[0] < alphas)
            a->alpha = alpha[scale[0]++];
        if (known[i].given > 1 && scale[1] < betas)
            a->beta = beta[scale[1]++];
        return TSR_OK;
    }
    return tsr_fail(TSR_ERROR_UNSUPPORTED, "activation \"%s\" is not known", name);
}

static tsr_status find_activations(recurrent *r, int each, const char *const *usual) {
    const tsr_attr *given = tsr_node_attr(r->b->node, "activations");
    int scale[2] = {0, 0};
    if (given && given->count != each * r->directions)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "%d activations instead of %d", given->count,
                        each * r->directions);
    for (int i = 0; i < each * r->directions; i++)
        TSR_TRY(find_activation(r->b->node, given ? given->strings[i] : usual[i % each], scale,
                                &r->activations[i]));
    return TSR_OK;
}

static tsr_status require_shape(const recurrent *r, int input, const tsr_shape *shape) {
    int value = input_of(r, input);
    if (value == TSR_NONE || tsr_shape_equal(&r->b->graph->values[value].shape, shape))
        return TSR_OK;
    return tsr_fail(TSR_ERROR_SHAPE, "input %d has the shape %s instead of %s", input,
                    tsr_shape_text(&r->b->graph->values[value].shape), tsr_shape_text(shape));
}

static tsr_status check_shapes(const recurrent *r) {
    const int64_t d = r->directions, all = r->gates * r->hidden;
    const tsr_shape weights = {3, {d, all, r->size}}, states = {3, {d, all, r->hidden}},
                    biases = {2, {d, 2 * all}}, lengths = {1, {r->batch}},
                    first = {3,
                             {r->batch_first ? r->batch : d, r->batch_first ? d : r->batch,
                              r->hidden}},
                    peepholes = {2, {d, 3 * r->hidden}};
    const tsr_shape *const shapes[] = {NULL,     &weights, &states, &biases,
                                       &lengths, &first,   &first,  &peepholes};
    for (int i = 1; i < r->b->node->input_count; i++)
        TSR_TRY(require_shape(r, i, shapes[i]));
    int value = input_of(r, 4);
    if (value != TSR_NONE && r->b->graph->values[value].dtype != TSR_DTYPE_I32)
        return tsr_fail(TSR_ERROR_INVALID_MODEL, "lengths of type %s instead of int32",
                        tsr_dtype_name(r->b->graph->values[value].dtype));
    return TSR_OK;
}

static tsr_status read_sizes(recurrent *r, int *first_direction) {
    static const char *const names[] = {"forward", "reverse", "bidirectional"};
    const tsr_node *node = r->b->node;
    const tsr_value *x = tsr_node_in(r->b->graph, node, 0), *w = tsr_node_in(r->b->graph, node, 1);
    TSR_TRY(tsr_require_float(r->b->graph, node, 1));
    TSR_TRY(tsr_require_rank(x, 3, 3));
    TSR_TRY(tsr_require_rank(w, 3, 3));
    TSR_TRY(tsr_read_choice(node, "direction", names, 3, first_direction));
    r->batch_first = tsr_attr_int(node, "layout", 0) != 0;
    r->directions = *first_direction == 2 ? 2 : 1;
    r->steps = x->shape.dim[r->batch_first];
    r->batch = x->shape.dim[!r->batch_first];
    r->size = x->shape.dim[2];
    r->hidden = tsr_attr_int(node, "hidden_size", w->shape.dim[1] / r->gates);
    r->clip = tsr_attr_float(node, "clip", 0);
    r->couples = tsr_attr_int(node, "input_forget", 0) != 0;
    r->resets_after = tsr_attr_int(node, "linear_before_reset", 0) != 0;
    if (r->steps == 0 || r->batch == 0 || r->hidden < 1 ||
        r->hidden > TSR_MAX_DIM / (2 * MAX_GATES))
        return tsr_fail(TSR_ERROR_SHAPE, "%lld steps of %lld sequences, hidden_size %lld",
                        (long long)r->steps, (long long)r->batch, (long long)r->hidden);
    return check_shapes(r);
}

/* ---- outputs ---- */

/* Of each direction [batch, hidden]: [directions, batch, hidden] or, batches first, [batch,
 * directions, hidden]. */
static int join_states(const recurrent *r, const int *states) {
    const tsr_shape shape = {
        3, {r->batch_first ? r->batch : 1, r->batch_first ? 1 : r->batch, r->hidden}};
    const tsr_attr axis = tsr_int_attr("axis", r->batch_first);
    int parts[2];
    for (int d = 0; d < r->directions; d++)
        parts[d] = tsr_build_reshape(r->b, states[d], &shape);
    return tsr_build_with(r->b, TSR_OP_Concat, r->directions, parts, 1, &axis);
}

/* [steps, directions, batch, hidden] or [batch, steps, directions, hidden] */
static void join_outputs(const recurrent *r, const int *const *outputs) {
    static const int64_t order[] = {2, 0, 1, 3};
    const tsr_attr of_steps = tsr_int_attr("axis", 0), of_directions = tsr_int_attr("axis", 1),
                   perm = tsr_build_ints_attr(r->b, "perm", 4, order);
    int parts[2];
    for (int d = 0; d < r->directions; d++)
        parts[d] = tsr_build_with(r->b, TSR_OP_Concat, (int)r->steps, outputs[d], 1, &of_steps);
    int all = tsr_build_with(r->b, TSR_OP_Concat, r->directions, parts, 1, &of_directions);
    if (r->batch_first)
        tsr_build_with(r->b, TSR_OP_Transpose, 1, &all, 1, &perm);
}

static void build(tsr_builder *b, int gates, int activations, const char *const *usual,
                  step_fn *step) {
    static const int64_t time_first[] = {1, 0, 2};
    recurrent r = {.b = b, .gates = gates};
    int way = 0, h[2], c[2];
    tsr_build_fail(b, read_sizes(&r, &way));
    if (b->status == TSR_OK)
        tsr_build_fail(b, find_activations(&r, activations, usual));
    if (b->status == TSR_OK && r.steps > b->list->may_make)
        tsr_build_fail(b, tsr_fail(TSR_ERROR_UNSUPPORTED,
                                   "%lld steps, each of which takes nodes of "
                                   "its own",
                                   (long long)r.steps));
    if (b->status != TSR_OK)
        return;
    const tsr_attr perm = tsr_build_ints_attr(b, "perm", 3, time_first);
    int x = b->node->inputs[0];
    x = r.batch_first ? tsr_build_with(b, TSR_OP_Transpose, 1, &x, 1, &perm) : x;
    r.x = tsr_build_reshape(b, x, &(tsr_shape){2, {r.steps * r.batch, r.size}});
    int *outputs[2];
    for (int d = 0; d < r.directions; d++) {
        direction state = begin(&r, d, r.activations + d * activations);
        outputs[d] = TSR_NEW(b->graph->arena, r.steps, int);
        if (!outputs[d]) {
            tsr_build_fail(b, tsr_out_of_memory(b->graph));
            return;
        }
        run_direction(&r, step, way == 1 || d == 1, &state, outputs[d]);
        h[d] = state.h;
        c[d] = state.c;
    }
    tsr_build_output(b, 1, join_states(&r, h));
    if (b->node->op == TSR_OP_LSTM)
        tsr_build_output(b, 2, join_states(&r, c));
    join_outputs(&r, (const int *const *)outputs);
}

void tsr_build_lstm(tsr_builder *b) {
    static const char *const usual[] = {"Sigmoid", "Tanh", "Tanh"};
    build(b, 4, 3, usual, step_lstm);
}

void tsr_build_gru(tsr_builder *b) {
    static const char *const usual[] = {"Sigmoid", "Tanh"};
    build(b, 3, 2, usual, step_gru);
}

void tsr_build_rnn(tsr_builder *b) {
    static const char *const usual[] = {"Tanh"};
    build(b, 1, 1, usual, step_rnn);
}
