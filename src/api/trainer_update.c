/* Updates of parameters by their gradients, and averages of what they become. */
#include "api/trainer.h"

#include <float.h>

#include "base/error.h"
#include "graph/update.h"

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

/* Of a tensor of parameters. */
typedef struct update {
    int tensor;
    int before, gradient;
    int finite, factor; /* the gradient counts as 0 unless finite, times factor; TSR_NONE: 1 */
    int factors;        /* of AdamUpdate; TSR_NONE for other updates */
    bool decays;
} update;

/* A state of the optimizer, of the gradient's shape; its index. */
static int add_update_state(tsr_training *t, tsr_builder *b, const update *u, const char *suffix) {
    if (b->status != TSR_OK)
        return TSR_NONE;
    const tsr_shape shape = t->graph->values[u->gradient].shape;
    int state = tsr_training_add_own_state(t, u->before, suffix, &shape);
    return state == TSR_NONE ? tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY) : state;
}

/* Chains in which each result has one reader: GPUs compute each in a pass. So every reader of the
 * gradient has nodes of its own that guard it. */
static int build_gradient(const tsr_training *t, tsr_builder *b, const update *u) {
    int g = u->gradient;
    if (u->factor != TSR_NONE)
        g = TSR_BUILD(b, TSR_OP_Mul, g, u->factor);
    g = TSR_BUILD(b, TSR_OP_Where, u->finite, g, tsr_build_number(b, 0));
    if (u->decays)
        g = TSR_BUILD(b, TSR_OP_Add, g, scaled(b, u->before, t->desc->weight_decay));
    return g;
}

static int build_adam(tsr_training *t, tsr_builder *b, const update *u) {
    const tsr_trainer_desc *d = t->desc;
    const bool decays = u->decays && d->update != TSR_UPDATE_ADAMW;
    const tsr_attr attrs[] = {tsr_float_attr("alpha", d->beta1), tsr_float_attr("beta", d->beta2),
                              tsr_float_attr("epsilon", d->epsilon),
                              tsr_float_attr("norm_coefficient", decays ? d->weight_decay : 0)};
    const int mean = add_update_state(t, b, u, "mean"),
              variance = add_update_state(t, b, u, "variance");
    if (b->status != TSR_OK)
        return TSR_NONE;
    const int in[TSR_ADAM_INPUTS] = {u->before, u->gradient, t->states[mean].before,
                                     t->states[variance].before, u->factors};
    int out[TSR_ADAM_OUTPUTS];
    tsr_build_several(b, TSR_OP_AdamUpdate, TSR_ADAM_INPUTS, in, sizeof attrs / sizeof *attrs,
                      attrs, TSR_ADAM_OUTPUTS, out);
    tsr_training_set_after(t, mean, out[1]);
    tsr_training_set_after(t, variance, out[2]);
    return out[0];
}

/* The momentum's state becomes momentum * before + gradient. */
static int build_momentum(tsr_training *t, tsr_builder *b, const update *u) {
    int state = add_update_state(t, b, u, "momentum");
    if (state == TSR_NONE)
        return TSR_NONE;
    int kept = scaled(b, t->states[state].before, t->desc->momentum);
    tsr_training_set_after(t, state, TSR_BUILD(b, TSR_OP_Add, kept, build_gradient(t, b, u)));
    return t->states[state].after;
}

static int build_sgd(tsr_training *t, tsr_builder *b, const update *u) {
    const tsr_trainer_desc *d = t->desc;
    int change = d->momentum != 0 ? build_momentum(t, b, u) : build_gradient(t, b, u);
    if (d->momentum != 0 && d->nesterov)
        change = TSR_BUILD(b, TSR_OP_Add, build_gradient(t, b, u), scaled(b, change, d->momentum));
    return TSR_BUILD(b, TSR_OP_Sub, u->before,
                     TSR_BUILD(b, TSR_OP_Mul, change, number(t, b, TSR_STEP_SIZE)));
}

static void build_update(tsr_training *t, tsr_builder *b, const update *u) {
    t->tensors[u->tensor].after =
        t->desc->update == TSR_UPDATE_SGD ? build_sgd(t, b, u) : build_adam(t, b, u);
    tsr_training_build_parts(t, b, u->tensor);
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* Values of the group's states that are parts of a tensor, one after the other; values: by state of
 * the group. */
static int build_whole(const tsr_training *t, tsr_builder *b, const tsr_training_group *group,
                       int tensor, const int *values) {
    const tsr_attr axis = tsr_int_attr("axis", 0);
    int *parts = TSR_NEW(b->graph->arena, group->count, int), count = 0;
    if (!parts)
        return tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY);
    for (int i = 0; i < group->count; i++)
        if (t->states[group->first + i].tensor == tensor)
            parts[count++] = values[i];
    return count == 1 ? parts[0] : tsr_build_with(b, TSR_OP_Concat, count, parts, 1, &axis);
}

static update *list_updates(const tsr_training *t, tsr_builder *b, const tsr_training_group *group,
                            const int *gradients) {
    update *updates = TSR_NEW(t->graph->arena, group->parameter_tensors, update);
    if (!updates)
        tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY);
    for (int i = 0; i < group->parameter_tensors && b->status == TSR_OK; i++) {
        int tensor = group->first_tensor + i, before = t->tensors[tensor].before;
        updates[i] = (update){.tensor = tensor,
                              .before = before,
                              .gradient = build_whole(t, b, group, tensor, gradients),
                              .decays = t->desc->weight_decay != 0 &&
                                        t->graph->values[before].shape.rank > 1};
    }
    return updates;
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
static int build_sum_of_squares(tsr_builder *b, const update *updates, int update_count) {
    const tsr_attr drop = tsr_int_attr("keepdims", 0), axis = tsr_int_attr("axis", 0);
    int *parts = TSR_NEW(b->graph->arena, update_count, int);
    int sum = TSR_NONE, count = 0;
    if (!parts)
        tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY);
    if (b->status != TSR_OK) /* gradients are TSR_NONE, too */
        return TSR_NONE;
    for (int i = 0; i < update_count; i++) {
        int gradient = updates[i].gradient;
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

/* Of AdamUpdate. made: those of tensors that AdamW does not shrink, of those that it does; TSR_NONE
 * until there are some. */
static int build_factors(tsr_training *t, tsr_builder *b, const update *u, int made[2]) {
    const tsr_attr axis = tsr_int_attr("axis", 0);
    const tsr_shape one = {1, {1}};
    const bool shrinks = u->decays && t->desc->update == TSR_UPDATE_ADAMW;
    if (t->desc->update == TSR_UPDATE_SGD || made[shrinks] != TSR_NONE)
        return made[shrinks];
    const int number_one = tsr_build_reshape(b, tsr_build_number(b, 1), &one),
              gradient = TSR_BUILD(b, TSR_OP_Where, u->finite,
                                   u->factor == TSR_NONE ? tsr_build_number(b, 1) : u->factor,
                                   tsr_build_number(b, 0)),
              factors[] = {tsr_build_reshape(b, gradient, &one), number(t, b, TSR_STEP_SIZE),
                           number(t, b, TSR_VARIANCE_FACTOR),
                           shrinks ? number(t, b, TSR_WEIGHT_FACTOR) : number_one};
    return made[shrinks] = tsr_build_with(b, TSR_OP_Concat, 4, factors, 1, &axis);
}

/* Where `finite` is not so it stays as it was. */
static int build_statistics(const tsr_training *t, tsr_builder *b, const tsr_training_group *group,
                            int tensor, int finite) {
    int *batches = TSR_NEW(b->graph->arena, group->count, int);
    const tsr_training_state *state = &t->states[group->first + group->parameter_count];
    int now = t->tensors[tensor].before;
    while (state->tensor != tensor)
        state++;
    if (!batches)
        return tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY);
    if (state->batch_count == 0)
        return TSR_BUILD(b, TSR_OP_Where, finite, state->after, now);
    for (int k = 0; k < state->batch_count; k++) {
        for (int i = group->parameter_count; i < group->count; i++)
            batches[i] = t->states[group->first + i].batches[k];
        int batch =
            TSR_BUILD(b, TSR_OP_Where, finite, build_whole(t, b, group, tensor, batches), now);
        now = tsr_build_average(b, now, tsr_build_number(b, state->part), batch);
    }
    return now;
}

static void update_others(tsr_training *t, tsr_builder *b, const tsr_training_group *group,
                          int finite) {
    for (int i = group->parameter_tensors; i < group->tensor_count; i++) {
        int tensor = group->first_tensor + i;
        t->tensors[tensor].after = build_statistics(t, b, group, tensor, finite);
        tsr_training_build_parts(t, b, tensor);
    }
}

/* A loss or gradients that are infinite or NaN would spoil all weights: gradients count as 0. */
void tsr_training_build_updates(tsr_training *t, tsr_builder *b, const tsr_training_group *group,
                                int loss, const int *gradients) {
    int factors[2] = {TSR_NONE, TSR_NONE};
    update *updates = list_updates(t, b, group, gradients);
    int squares = build_sum_of_squares(b, updates, group->parameter_tensors);
    int checked = TSR_BUILD(b, TSR_OP_Add, squares, tsr_training_magnitude(b, loss));
    int finite = TSR_BUILD(b, TSR_OP_Less, checked, tsr_build_number(b, FLT_MAX));
    int factor = t->desc->clip_norm > 0 ? build_clip_factor(t, b, squares) : TSR_NONE;
    t->checked = t->checked == TSR_NONE ? checked : TSR_BUILD(b, TSR_OP_Add, t->checked, checked);
    update_others(t, b, group, finite);
    for (int i = 0; i < group->parameter_tensors && b->status == TSR_OK; i++) {
        updates[i].finite = finite;
        updates[i].factor = factor;
        updates[i].factors = build_factors(t, b, &updates[i], factors);
        build_update(t, b, &updates[i]);
    }
}

/* They begin as what they are of. */
void tsr_training_build_averages(tsr_training *t, tsr_builder *b) {
    const tsr_training_group *group = &t->model;
    t->average = t->tensor_count;
    for (int i = group->first_tensor; i < group->first_tensor + group->tensor_count; i++) {
        const int of = t->tensors[i].before;
        const tsr_shape shape = t->graph->values[of].shape;
        int state = tsr_training_add_own_state(t, of, "average", &shape);
        if (state == TSR_NONE) {
            tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY);
            return;
        }
        tsr_training_set_after(t, state,
                               tsr_build_average(b, t->states[state].before,
                                                 number(t, b, TSR_AVERAGE_PART),
                                                 t->tensors[i].after));
    }
}
