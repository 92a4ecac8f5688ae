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

/* A state of the optimizer, of a parameter's shape; its index. */
static int add_state(tsr_training *t, tsr_builder *b, int parameter, const char *suffix) {
    const tsr_shape shape = t->graph->values[parameter].shape;
    const char *name = t->graph->values[parameter].name;
    int before = tsr_training_add_input(t, name, suffix, &shape);
    tsr_training_state *state = before == TSR_NONE ? NULL : tsr_training_add_state(t);
    if (!state)
        return tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY);
    *state = (tsr_training_state){.before = before, .after = TSR_NONE, .constant = TSR_NONE};
    return t->state_count - 1;
}

/* Chains in which each result has one reader: GPUs compute each in a pass. A state becomes
 * before + part * (now - before). */
static int build_average(tsr_training *t, tsr_builder *b, int state, int part, int now) {
    if (b->status != TSR_OK)
        return TSR_NONE;
    int before = t->states[state].before,
        change = TSR_BUILD(b, TSR_OP_Mul, TSR_BUILD(b, TSR_OP_Sub, now, before), part);
    return t->states[state].after = TSR_BUILD(b, TSR_OP_Add, change, before);
}

static int build_adam(tsr_training *t, tsr_builder *b, int parameter, int gradient) {
    const tsr_trainer_desc *d = t->desc;
    int mean = add_state(t, b, parameter, "mean"),
        variance = add_state(t, b, parameter, "variance");
    int m = build_average(t, b, mean, tsr_build_number(b, 1 - d->beta1), gradient),
        v = build_average(t, b, variance, tsr_build_number(b, 1 - d->beta2),
                          TSR_BUILD(b, TSR_OP_Mul, gradient, gradient));
    int root = TSR_BUILD(b, TSR_OP_Mul, TSR_BUILD(b, TSR_OP_Sqrt, v),
                         number(t, b, TSR_VARIANCE_FACTOR)),
        divisor = TSR_BUILD(b, TSR_OP_Add, root, tsr_build_number(b, d->epsilon));
    return TSR_BUILD(b, TSR_OP_Mul, TSR_BUILD(b, TSR_OP_Div, m, divisor),
                     number(t, b, TSR_STEP_SIZE));
}

/* The momentum's state becomes momentum * before + gradient. */
static int build_momentum(tsr_training *t, tsr_builder *b, int parameter, int gradient) {
    int state = add_state(t, b, parameter, "momentum");
    if (state == TSR_NONE)
        return TSR_NONE;
    int kept = scaled(b, t->states[state].before, t->desc->momentum);
    return t->states[state].after = TSR_BUILD(b, TSR_OP_Add, kept, gradient);
}

static int build_sgd(tsr_training *t, tsr_builder *b, int parameter, int gradient) {
    const tsr_trainer_desc *d = t->desc;
    int change = gradient;
    if (d->momentum != 0) {
        change = build_momentum(t, b, parameter, gradient);
        if (d->nesterov)
            change = TSR_BUILD(b, TSR_OP_Add, gradient, scaled(b, change, d->momentum));
    }
    return TSR_BUILD(b, TSR_OP_Mul, change, number(t, b, TSR_STEP_SIZE));
}

static void build_update(tsr_training *t, tsr_builder *b, int state, int gradient) {
    const tsr_trainer_desc *d = t->desc;
    int parameter = t->states[state].before, kept = parameter;
    bool decays = d->weight_decay != 0 && t->graph->values[parameter].shape.rank > 1;
    if (decays && d->update == TSR_UPDATE_ADAMW)
        kept = TSR_BUILD(b, TSR_OP_Mul, parameter, number(t, b, TSR_WEIGHT_FACTOR));
    else if (decays)
        gradient = TSR_BUILD(b, TSR_OP_Add, gradient, scaled(b, parameter, d->weight_decay));
    int change = d->update == TSR_UPDATE_SGD ? build_sgd(t, b, parameter, gradient)
                                             : build_adam(t, b, parameter, gradient);
    t->states[state].after = TSR_BUILD(b, TSR_OP_Sub, kept, change);
}

static int build_sum_of_squares(tsr_builder *b, int count, const int *gradients) {
    const tsr_attr drop = tsr_int_attr("keepdims", 0);
    int sum = TSR_NONE;
    for (int i = 0; i < count; i++) {
        int squares = tsr_build_with(b, TSR_OP_ReduceSumSquare, 1, &gradients[i], 1, &drop);
        sum = sum == TSR_NONE ? squares : TSR_BUILD(b, TSR_OP_Add, sum, squares);
    }
    return sum;
}

/* What gradients are multiplied by, so that the root of their sum of squares is at most clip_norm.
 */
static int build_clip_factor(tsr_training *t, tsr_builder *b, int squares) {
    int limit = tsr_build_number(b, t->desc->clip_norm);
    int norm = TSR_BUILD(b, TSR_OP_Max, TSR_BUILD(b, TSR_OP_Sqrt, squares), limit);
    return TSR_BUILD(b, TSR_OP_Div, limit, norm);
}

/* Statistics of the batch stay as they were where `finite` is not so. */
static void guard_statistics(tsr_training *t, tsr_builder *b, const tsr_training_group *group,
                             int finite) {
    for (int i = group->first + group->parameter_count; i < group->first + group->count; i++)
        t->states[i].after =
            TSR_BUILD(b, TSR_OP_Where, finite, t->states[i].after, t->states[i].before);
}

/* A loss or gradients that are infinite or NaN would spoil all weights: gradients count as 0. */
void tsr_training_build_updates(tsr_training *t, tsr_builder *b, const tsr_training_group *group,
                                int loss, const int *gradients) {
    int squares = build_sum_of_squares(b, group->parameter_count, gradients);
    int checked = TSR_BUILD(b, TSR_OP_Add, squares, tsr_training_magnitude(b, loss));
    int finite = TSR_BUILD(b, TSR_OP_Less, checked, tsr_build_number(b, FLT_MAX));
    int factor = t->desc->clip_norm > 0 ? build_clip_factor(t, b, squares) : TSR_NONE;
    t->checked = t->checked == TSR_NONE ? checked : TSR_BUILD(b, TSR_OP_Add, t->checked, checked);
    guard_statistics(t, b, group, finite);
    for (int i = 0; i < group->parameter_count; i++) {
        int gradient = gradients[i];
        if (factor != TSR_NONE)
            gradient = TSR_BUILD(b, TSR_OP_Mul, gradient, factor);
        gradient = TSR_BUILD(b, TSR_OP_Where, finite, gradient, tsr_build_number(b, 0));
        build_update(t, b, group->first + i, gradient);
    }
}

/* They begin as what they are of. */
void tsr_training_build_averages(tsr_training *t, tsr_builder *b) {
    const tsr_training_group *group = &t->model;
    t->average = t->state_count;
    for (int i = group->first; i < group->first + group->count; i++) {
        int state = add_state(t, b, t->states[i].before, "average");
        if (state == TSR_NONE)
            return;
        t->states[state].initial = t->states[i].initial;
        build_average(t, b, state, number(t, b, TSR_AVERAGE_PART), t->states[i].after);
    }
}
