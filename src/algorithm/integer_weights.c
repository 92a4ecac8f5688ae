#include "algorithm/integer_weights.h"
#include "algorithm/block_weights.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BITS = 8, MOST = 127, RANGE = 255 };

/* The weights of an output channel: `inputs` kernels of `taps`. */
typedef struct channel {
    const tsr_unaligned_float *weights;
    int inputs;
    int64_t taps;
    size_t stride;
} channel;

static channel channel_of(const tsr_convolution *c, int64_t output) {
    return (channel){c->weights + (size_t)(output / c->group_outputs) * c->stride_group +
                         (size_t)(output % c->group_outputs) * c->stride_output,
                     c->group_inputs, c->window.kernel[0] * c->window.kernel[1], c->stride_input};
}

/* Are all weights multiples of the step that 8 bits hold, but for the rounding of a product? Then
 * the zero point with which these do. */
static bool are_multiples(const channel *c, double step, float *zero_point) {
    const double rounding = 0x1p-22;
    int least = 0, most = 0;
    for (int i = 0; i < c->inputs; i++)
        for (int64_t tap = 0; tap < c->taps; tap++) {
            double quotient = c->weights[(size_t)i * c->stride + (size_t)tap] / step,
                   nearest = rint(quotient);
            least = nearest < least ? (int)nearest : least;
            most = nearest > most ? (int)nearest : most;
            if (fabs(quotient - nearest) > fabs(nearest) * rounding || most - least > RANGE)
                return false;
        }
    *zero_point = (float)tsr_zero_point(least, most, BITS);
    return true;
}

/* The largest step of which all weights are multiples; 0: there is none. That of a quantized model
 * is among the quotients of its largest weight. */
static double find_step(const channel *c, double largest, float *zero_point) {
    for (int i = 1; i <= RANGE; i++)
        if (are_multiples(c, largest / i, zero_point))
            return largest / i;
    return 0;
}

/* One step for all weights of an output channel; 0 if none suits. */
static double choose_step(const tsr_convolution *conv, int64_t output, bool exact,
                          float *zero_point) {
    const channel c = channel_of(conv, output);
    double largest = tsr_largest_weight(conv, output);
    if (largest == 0)
        return 1;
    if (!isfinite(largest) || largest / RANGE < (double)FLT_MIN)
        return 0;
    double step = find_step(&c, largest, zero_point);
    return step > 0 || exact ? step : largest / MOST;
}

int64_t tsr_count_weights(const tsr_convolution *c) {
    return c->window.group * c->group_outputs * c->group_inputs * c->window.kernel[0] *
           c->window.kernel[1];
}

/* ---- what was found -------------------------------------------------------------------------- */

/* Searching takes long, and a session makes several plans: its graph keeps what was found. */
typedef struct tsr_weight_steps tsr_weight_steps;
struct tsr_weight_steps {
    tsr_weight_steps *next;
    const tsr_unaligned_float *weights;
    int64_t key[9]; /* how they are read */
    tsr_weight_blocks blocks;
    bool has_blocks;
    const double *steps;      /* by output channel; NULL: none suit */
    const float *zero_points; /* NULL: 0 */
};

/* Weights that are no constants of the model are made from some, as by DequantizeLinear. */
static bool are_made(const tsr_convolution *c) {
    return c->constant == 0;
}

static bool are_wanted(const tsr_plan *plan, const tsr_convolution *c) {
    enum { FEW = 1024 };
    bool wanted =
        plan->weights >= TSR_WEIGHTS_INT8 || (plan->weights == TSR_WEIGHTS_AUTO && are_made(c));
    return wanted && !c->tensor && tsr_count_weights(c) >= FEW && !plan->limits.half_only;
}

static void find_steps(tsr_arena *arena, const tsr_convolution *conv, bool exact,
                       tsr_weight_steps *s) {
    int64_t outputs = conv->window.group * conv->group_outputs;
    double *steps = TSR_NEW(arena, outputs, double);
    float *zero_points = TSR_NEW(arena, outputs, float);
    bool found = steps && zero_points, moved = false;
    for (int64_t i = 0; found && i < outputs; i++) {
        steps[i] = choose_step(conv, i, exact, &zero_points[i]);
        found = steps[i] != 0;
        moved |= zero_points[i] != 0;
    }
    s->steps = found ? steps : NULL;
    s->zero_points = moved ? zero_points : NULL;
}

/* In the fewest bits that the choice allows. */
static void search(const tsr_plan *plan, const tsr_convolution *c, tsr_weight_steps *s) {
    tsr_arena *arena = plan->graph->arena;
    const bool may = tsr_may_have_blocks(c), made = may && are_made(c);
    if (plan->weights != TSR_WEIGHTS_INT8)
        s->has_blocks =
            (made && tsr_find_blocks(arena, c, 4, &s->blocks)) ||
            (may && plan->weights == TSR_WEIGHTS_INT4 && tsr_choose_blocks(arena, c, &s->blocks));
    if (!s->has_blocks)
        find_steps(arena, c, true, s);
    if (!s->has_blocks && !s->steps && made)
        s->has_blocks = tsr_find_blocks(arena, c, BITS, &s->blocks);
    if (!s->has_blocks && !s->steps && plan->weights != TSR_WEIGHTS_AUTO)
        find_steps(arena, c, false, s);
}

static const tsr_weight_steps *steps_of(tsr_plan *plan, const tsr_convolution *c) {
    const int64_t key[] = {plan->weights,
                           c->window.group,
                           c->window.kernel[0],
                           c->window.kernel[1],
                           c->group_outputs,
                           c->group_inputs,
                           (int64_t)c->stride_group,
                           (int64_t)c->stride_output,
                           (int64_t)c->stride_input};
    tsr_weight_steps **found = plan->graph->weight_steps, *s;
    for (s = *found; s; s = s->next)
        if (s->weights == c->weights && !memcmp(s->key, key, sizeof key))
            return s;
    s = TSR_NEW(plan->graph->arena, 1, tsr_weight_steps);
    if (!s) {
        tsr_plan_out_of_memory(plan);
        return NULL;
    }
    s->weights = c->weights;
    memcpy(s->key, key, sizeof key);
    search(plan, c, s);
    s->next = *found;
    *found = s;
    return s;
}

/* ---- integers -------------------------------------------------------------------------------- */

static const float *use_steps(tsr_plan *plan, tsr_convolution *conv, const tsr_weight_steps *s) {
    int64_t outputs = conv->window.group * conv->group_outputs;
    double *inverse = TSR_NEW(plan->arena, outputs, double);
    float *scale = TSR_NEW(plan->arena, outputs, float);
    if (!inverse || !scale) {
        tsr_plan_out_of_memory(plan);
        return NULL;
    }
    for (int64_t i = 0; i < outputs; i++) {
        scale[i] = (float)(s->steps[i] * tsr_weight_scale(conv, (int)i));
        inverse[i] = 1 / s->steps[i];
    }
    conv->scale = inverse;
    conv->factor = 1;
    conv->integers = true;
    conv->zero_points = s->zero_points;
    if (conv->zero_points)
        tsr_set_scales(plan, conv, s->zero_points, 1);
    return scale;
}

const float *tsr_make_integers(tsr_plan *plan, tsr_convolution *conv) {
    const tsr_weight_steps *s = are_wanted(plan, conv) ? steps_of(plan, conv) : NULL;
    if (s && s->has_blocks)
        tsr_use_blocks(plan, conv, &s->blocks);
    return s && s->steps ? use_steps(plan, conv, s) : NULL;
}

const float *tsr_sum_integers(tsr_plan *plan, const tsr_convolution *conv, int factor) {
    int64_t outputs = conv->window.group * conv->group_outputs;
    float *sums = TSR_NEW(plan->arena, outputs, float);
    if (!sums)
        tsr_plan_out_of_memory(plan);
    for (int64_t o = 0; sums && o < outputs; o++) {
        const channel c = channel_of(conv, o);
        const double scale = tsr_weight_scale(conv, (int)o);
        double sum = 0;
        for (int i = 0; i < c.inputs; i++)
            for (int64_t tap = 0; tap < c.taps; tap++)
                sum += rintf((float)(c.weights[(size_t)i * c.stride + (size_t)tap] * scale));
        sums[o] = (float)(factor * sum);
    }
    return sums;
}

void tsr_scale_sums(tsr_plan *plan, tsr_pass *pass, const float *scale, float factor,
                    int64_t channels) {
    const tsr_shape shape = {4, {1, channels, 1, 1}};
    float *factors = TSR_NEW(plan->arena, channels, float);
    if (!factors) {
        tsr_plan_out_of_memory(plan);
        return;
    }
    for (int64_t i = 0; i < channels; i++)
        factors[i] = scale[i] * factor;
    tsr_pass_post_binary(plan, pass, TSR_OP_Mul, tsr_plan_constant(plan, &shape, factors), false);
}
