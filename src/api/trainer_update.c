/* Updates of parameters by their gradients, and averages of what they become. */
#include "api/trainer.h"

#include <float.h>

#include "base/error.h"

static int scaled(tsr_builder *b, int value, float factor) {
    return TSR_BUILD(b, TSR_OP_Mul, value, tsr_build_number(b, factor));
}

/* One of the inputs that change from step to step, made on first use. */
static int number(tsr_training *t, tsr_builder *b, tsr_training_number which) {
    static const char *const names[] = {"step_size", "variance_factor", "weight_factor",
                                        "average_part"};
    if (t->numbers[which] == TSR_NONE)
        t->numbers[which] =
            tsr_training_add_input(t, "training", names[which], &(tsr_shape){1, {1}});
    return t->numbers[which] == TSR_NONE ? tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY)
                                         : t->numbers[which];
}

/* A state that is named after a value; its index. */
static int add_state(tsr_training *t, tsr_builder *b, int of, const char *suffix,
                     const tsr_shape *shape) {
    int before = tsr_training_add_input(t, t->graph->values[of].name, suffix, shape);
    tsr_training_state *state = before == TSR_NONE ? NULL : tsr_training_add_state(t);
    if (!state)
        return tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY);
    *state = (tsr_training_state){.before = before, .after = TSR_NONE, .constant = TSR_NONE};
    return t->state_count - 1;
}

/* Of a parameter, or of several vectors one after the other. */
typedef struct update {
    int count;
    const int *parameters; /* which of the group's */
    int first;             /* of them, as a value */
    int gradient;
    int finite, factor; /* the gradient counts as 0 unless finite, times factor; TSR_NONE: 1 */
    bool decays;
} update;

/* A state of the optimizer, of the gradient's shape; its index. */
static int add_update_state(tsr_training *t, tsr_builder *b, const update *u, const char *suffix) {
    if (b->status != TSR_OK)
        return TSR_NONE;
    const tsr_shape shape = t->graph->values[u->gradient].shape;
    return add_state(t, b, u->first, suffix, &shape);
}

/* Chains in which each result has one reader: GPUs compute each in a pass. So every reader of the
 * gradient has nodes of its own that guard it. */
static int build_gradient(const tsr_training *t, tsr_builder *b, const update *u) {
    int g = u->gradient;
    if (u->factor != TSR_NONE)
        g = TSR_BUILD(b, TSR_OP_Mul, g, u->factor);
    g = TSR_BUILD(b, TSR_OP_Where, u->finite, g, tsr_build_number(b, 0));
    if (u->decays && t->desc->update != TSR_UPDATE_ADAMW)
        g = TSR_BUILD(b, TSR_OP_Add, g, scaled(b, u->first, t->desc->weight_decay));
    return g;
}

/* What a state becomes. */
static int build_average(tsr_training *t, tsr_builder *b, int state, int part, int now) {
    if (b->status != TSR_OK)
        return TSR_NONE;
    return t->states[state].after = tsr_build_average(b, t->states[state].before, part, now);
}

static int build_adam(tsr_training *t, tsr_builder *b, const update *u) {
    const tsr_trainer_desc *d = t->desc;
    int mean = add_update_state(t, b, u, "mean"), variance = add_update_state(t, b, u, "variance");
    int square = TSR_BUILD(b, TSR_OP_Pow, build_gradient(t, b, u), tsr_build_number(b, 2));
    int m = build_average(t, b, mean, tsr_build_number(b, 1 - d->beta1), build_gradient(t, b, u)),
        v = build_average(t, b, variance, tsr_build_number(b, 1 - d->beta2), square);
    int root = TSR_BUILD(b, TSR_OP_Mul, TSR_BUILD(b, TSR_OP_Sqrt, v),
                         number(t, b, TSR_VARIANCE_FACTOR)),
        divisor = TSR_BUILD(b, TSR_OP_Add, root, tsr_build_number(b, d->epsilon));
    return TSR_BUILD(b, TSR_OP_Mul, TSR_BUILD(b, TSR_OP_Div, m, divisor),
                     number(t, b, TSR_STEP_SIZE));
}

/* The momentum's state becomes momentum * before + gradient. */
static int build_momentum(tsr_training *t, tsr_builder *b, const update *u) {
    int state = add_update_state(t, b, u, "momentum");
    if (state == TSR_NONE)
        return TSR_NONE;
    int kept = scaled(b, t->states[state].before, t->desc->momentum);
    return t->states[state].after = TSR_BUILD(b, TSR_OP_Add, kept, build_gradient(t, b, u));
}

static int build_sgd(tsr_training *t, tsr_builder *b, const update *u) {
    const tsr_trainer_desc *d = t->desc;
    int change = d->momentum != 0 ? build_momentum(t, b, u) : build_gradient(t, b, u);
    if (d->momentum != 0 && d->nesterov)
        change = TSR_BUILD(b, TSR_OP_Add, build_gradient(t, b, u), scaled(b, change, d->momentum));
    return TSR_BUILD(b, TSR_OP_Mul, change, number(t, b, TSR_STEP_SIZE));
}

static void build_update(tsr_training *t, tsr_builder *b, const tsr_training_group *group,
                         const update *u) {
    const tsr_trainer_desc *d = t->desc;
    int64_t begin = 0, end;
    int change = d->update == TSR_UPDATE_SGD ? build_sgd(t, b, u) : build_adam(t, b, u);
    for (int i = 0; i < u->count && b->status == TSR_OK; i++, begin = end) {
        tsr_training_state *state = &t->states[group->first + u->parameters[i]];
        int kept = state->before, part = change;
        end = begin + t->graph->values[kept].shape.dim[0];
        if (u->decays && d->update == TSR_UPDATE_ADAMW)
            kept = TSR_BUILD(b, TSR_OP_Mul, kept, number(t, b, TSR_WEIGHT_FACTOR));
        if (u->count > 1)
            part = tsr_build_slice(b, change, 0, begin, end);
        state->after = TSR_BUILD(b, TSR_OP_Sub, kept, part);
    }
}

/* ---- which are updated together -------------------------------------------------------------- */

/* Vectors have few elements, for which passes of their own cost too much. Those whose size is a
 * multiple of 64, of 4, and others are updated together: each begins at a whole texel and at an
 * aligned offset of a buffer, so that Concat and Slice copy nothing. */
typedef enum update_kind {
    VECTORS_OF_64,
    VECTORS_OF_4,
    VECTORS,
    TENSORS,
    UPDATE_KINDS
} update_kind;

static update_kind kind_of(const tsr_training *t, const tsr_training_group *group, int i) {
    const tsr_shape *shape = &t->graph->values[t->states[group->first + i].before].shape;
    int64_t size = shape->dim[0];
    return shape->rank != 1 ? TENSORS
           : size % 64 == 0 ? VECTORS_OF_64
           : size % 4 == 0  ? VECTORS_OF_4
                            : VECTORS;
}

typedef struct update_list {
    int count;
    update *updates;
    int *parameters, *gradients; /* of all, in the order of updates */
} update_list;

/* Of the `count` parameters from `first` on in the list's order. */
static void add_update(const tsr_training *t, tsr_builder *b, const tsr_training_group *group,
                       update_list *list, int first, int count) {
    const tsr_attr axis = tsr_int_attr("axis", 0);
    const int *parameters = &list->parameters[first], *gradients = &list->gradients[first];
    int value = t->states[group->first + parameters[0]].before;
    list->updates[list->count++] = (update){
        .count = count,
        .parameters = parameters,
        .first = value,
        .gradient = count == 1 ? gradients[0]
                               : tsr_build_with(b, TSR_OP_Concat, count, gradients, 1, &axis),
        .decays = t->desc->weight_decay != 0 && t->graph->values[value].shape.rank > 1};
}

static void add_updates_of(const tsr_training *t, tsr_builder *b, const tsr_training_group *group,
                           const int *gradients, update_kind kind, update_list *list, int *first) {
    int count = 0;
    for (int i = 0; i < group->parameter_count; i++) {
        if (kind_of(t, group, i) != kind)
            continue;
        list->parameters[*first + count] = i;
        list->gradients[*first + count++] = gradients[i];
        if (kind == TENSORS)
            add_update(t, b, group, list, *first + count - 1, 1);
    }
    if (kind != TENSORS && count)
        add_update(t, b, group, list, *first, count);
    *first += count;
}

static void list_updates(const tsr_training *t, tsr_builder *b, const tsr_training_group *group,
                         const int *gradients, update_list *list) {
    tsr_arena *arena = t->graph->arena;
    const int count = group->parameter_count;
    int first = 0;
    *list = (update_list){.updates = TSR_NEW(arena, count, update),
                          .parameters = TSR_NEW(arena, count, int),
                          .gradients = TSR_NEW(arena, count, int)};
    if (!list->updates || !list->parameters || !list->gradients) {
        tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY);
        return;
    }
    for (update_kind kind = 0; kind < UPDATE_KINDS; kind++)
        add_updates_of(t, b, group, gradients, kind, list, &first);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Of a tensor's first axis, as [N, 1, 1, 1]: few elements, which others follow. */
static int build_squares(tsr_builder *b, int gradient) {
    const tsr_shape shape = b->graph->values[gradient].shape, listed = {4, {shape.dim[0], 1, 1, 1}};
    int64_t axes[TSR_MAX_RANK];
    for (int i = 1; i < shape.rank; i++)
        axes[i - 1] = i;
    int squares =
        TSR_BUILD(b, TSR_OP_ReduceSumSquare, gradient, tsr_build_ints(b, shape.rank - 1, axes));
    return shape.rank == 4 ? squares : tsr_build_reshape(b, squares, &listed);
}

/* The tensors' sums are added up together: passes for few elements cost as much as others. */
static int build_sum_of_squares(tsr_builder *b, const update_list *list) {
    const tsr_attr drop = tsr_int_attr("keepdims", 0), axis = tsr_int_attr("axis", 0);
    int *parts = TSR_NEW(b->graph->arena, list->count, int);
    int sum = TSR_NONE, count = 0;
    if (!parts)
        tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY);
    if (b->status != TSR_OK) /* gradients are TSR_NONE, too */
        return TSR_NONE;
    for (int i = 0; i < list->count; i++) {
        int gradient = list->updates[i].gradient;
        if (b->graph->values[gradient].shape.rank > 1) {
            parts[count++] = build_squares(b, gradient);
            continue;
        }
        int squares = tsr_build_with(b, TSR_OP_ReduceSumSquare, 1, &gradient, 1, &drop);
        sum = sum == TSR_NONE ? squares : TSR_BUILD(b, TSR_OP_Add, sum, squares);
    }
    if (count == 0)
        return sum;
    int all = tsr_build_with(b, TSR_OP_Concat, count, parts, 1, &axis),
        tensors = tsr_build_with(b, TSR_OP_ReduceSum, 1, &all, 1, &drop);
    return sum == TSR_NONE ? tensors : TSR_BUILD(b, TSR_OP_Add, sum, tensors);
}

/* What gradients are multiplied by, so that the root of their sum of squares is at most clip_norm.
 */
static int build_clip_factor(tsr_training *t, tsr_builder *b, int squares) {
    int limit = tsr_build_number(b, t->desc->clip_norm);
    int norm = TSR_BUILD(b, TSR_OP_Max, TSR_BUILD(b, TSR_OP_Sqrt, squares), limit);
    return TSR_BUILD(b, TSR_OP_Div, limit, norm);
}

static int build_statistic(const tsr_training_state *state, tsr_builder *b, int finite) {
    int now = state->before;
    for (int k = 0; k < state->batch_count; k++) {
        int batch = TSR_BUILD(b, TSR_OP_Where, finite, state->batches[k], now);
        now = tsr_build_average(b, now, tsr_build_number(b, state->part), batch);
    }
    return now;
}

/* What is no parameter stays as it was where `finite` is not so. */
static void guard_others(tsr_training *t, tsr_builder *b, const tsr_training_group *group,
                         int finite) {
    for (int i = group->first + group->parameter_count; i < group->first + group->count; i++) {
        tsr_training_state *state = &t->states[i];
        state->after = state->batch_count
                           ? build_statistic(state, b, finite)
                           : TSR_BUILD(b, TSR_OP_Where, finite, state->after, state->before);
    }
}

/* A loss or gradients that are infinite or NaN would spoil all weights: gradients count as 0. */
void tsr_training_build_updates(tsr_training *t, tsr_builder *b, const tsr_training_group *group,
                                int loss, const int *gradients) {
    update_list list;
    list_updates(t, b, group, gradients, &list);
    int squares = build_sum_of_squares(b, &list);
    int checked = TSR_BUILD(b, TSR_OP_Add, squares, tsr_training_magnitude(b, loss));
    int finite = TSR_BUILD(b, TSR_OP_Less, checked, tsr_build_number(b, FLT_MAX));
    int factor = t->desc->clip_norm > 0 ? build_clip_factor(t, b, squares) : TSR_NONE;
    t->checked = t->checked == TSR_NONE ? checked : TSR_BUILD(b, TSR_OP_Add, t->checked, checked);
    guard_others(t, b, group, finite);
    for (int i = 0; i < list.count; i++) {
        list.updates[i].finite = finite;
        list.updates[i].factor = factor;
        build_update(t, b, group, &list.updates[i]);
    }
}

/* They begin as what they are of. */
void tsr_training_build_averages(tsr_training *t, tsr_builder *b) {
    const tsr_training_group *group = &t->model;
    t->average = t->state_count;
    for (int i = group->first; i < group->first + group->count; i++) {
        const int of = t->states[i].before;
        const tsr_shape shape = t->graph->values[of].shape;
        int state = add_state(t, b, of, "average", &shape);
        if (state == TSR_NONE)
            return;
        t->states[state].initial = t->states[i].initial;
        build_average(t, b, state, number(t, b, TSR_AVERAGE_PART), t->states[i].after);
    }
}
