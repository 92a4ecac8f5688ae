#include "algorithm/integer_weights.h"

#include <float.h>
#include <math.h>

/* Largest integers: for weights that are rounded, and for those that are integers already. */
enum { MOST_ROUNDED = 127, MOST_EXACT = 128 };

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

/* Are all weights multiples of the step that 8 bits hold, but for the rounding of a product? */
static bool are_multiples(const channel *c, double step) {
    const double rounding = 0x1p-22;
    for (int i = 0; i < c->inputs; i++)
        for (int64_t tap = 0; tap < c->taps; tap++) {
            double quotient = c->weights[(size_t)i * c->stride + (size_t)tap] / step,
                   nearest = rint(quotient);
            if (fabs(quotient - nearest) > fabs(nearest) * rounding || nearest >= MOST_EXACT)
                return false;
        }
    return true;
}

/* The largest step of which all weights are multiples; 0: there is none. That of a quantized model
 * is among the quotients of its largest weight. */
static double find_step(const channel *c, double largest) {
    for (int i = 1; i <= MOST_EXACT; i++)
        if (are_multiples(c, largest / i))
            return largest / i;
    return 0;
}

/* One step for all weights of an output channel; 0 if none suits. */
static double choose_step(const tsr_convolution *conv, int64_t output, bool exact) {
    const channel c = channel_of(conv, output);
    double largest = tsr_largest_weight(conv, output);
    if (largest == 0)
        return 1;
    if (!isfinite(largest) || largest / MOST_EXACT < (double)FLT_MIN)
        return 0;
    double step = find_step(&c, largest);
    return step > 0 || exact ? step : largest / MOST_ROUNDED;
}

int64_t tsr_count_weights(const tsr_convolution *c) {
    return c->window.group * c->group_outputs * c->group_inputs * c->window.kernel[0] *
           c->window.kernel[1];
}

/* Weights that are no constants of the model are made from some, as by DequantizeLinear. */
static bool are_wanted(const tsr_plan *plan, const tsr_convolution *c) {
    enum { FEW = 1024 };
    bool made = c->constant == 0 && plan->weights == TSR_WEIGHTS_AUTO;
    return (made || plan->weights == TSR_WEIGHTS_INT8) && tsr_count_weights(c) >= FEW &&
           !plan->limits.half_only;
}

const float *tsr_make_integers(tsr_plan *plan, tsr_convolution *conv) {
    int64_t outputs = conv->window.group * conv->group_outputs;
    if (!are_wanted(plan, conv))
        return NULL;
    double *inverse = TSR_NEW(plan->arena, outputs, double);
    float *scale = TSR_NEW(plan->arena, outputs, float);
    if (!inverse || !scale) {
        tsr_plan_out_of_memory(plan);
        return NULL;
    }
    for (int64_t i = 0; i < outputs; i++) {
        double step = choose_step(conv, i, plan->weights == TSR_WEIGHTS_AUTO);
        if (step == 0)
            return NULL;
        scale[i] = (float)(step * tsr_weight_scale(conv, (int)i));
        inverse[i] = 1 / step;
    }
    conv->scale = inverse;
    conv->factor = 1;
    conv->integers = true;
    return scale;
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
