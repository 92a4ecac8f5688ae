#include "algorithm/block_weights.h"

#include "base/divide.h"

#include <float.h>
#include <math.h>

static int least_of(int bits) {
    return -(1 << (bits - 1));
}

static int most_of(int bits) {
    return (1 << (bits - 1)) - 1;
}

static int64_t count_taps(const tsr_convolution *c) {
    return c->window.kernel[0] * c->window.kernel[1];
}

static int64_t count_outputs(const tsr_convolution *c) {
    return c->window.group * c->group_outputs;
}

/* Of an output channel's weights: the first of input channel 0. */
static const tsr_unaligned_float *weights_of(const tsr_convolution *c, int64_t output) {
    return c->weights + (size_t)(output / c->group_outputs) * c->stride_group +
           (size_t)(output % c->group_outputs) * c->stride_output;
}

static int64_t block_of(const tsr_weight_blocks *b, int64_t input, int64_t tap) {
    return (input * b->by_input + tap * b->by_tap) >> b->log2;
}

bool tsr_may_have_blocks(const tsr_convolution *c) {
    return !tsr_shares_texels(c);
}

int tsr_zero_point(int least, int most, int bits) {
    if (most > most_of(bits))
        return most_of(bits) - most;
    return least < least_of(bits) ? least_of(bits) - least : 0;
}

float tsr_block_integer(const tsr_convolution *c, int64_t output, int64_t input, size_t tap) {
    const tsr_weight_blocks *b = c->blocks;
    double weight = weights_of(c, output)[(size_t)input * c->stride_input + tap],
           nearest = rint(weight / b->steps[output * b->count + block_of(b, input, (int64_t)tap)]);
    if (b->zero_points) /* it is exact */
        return (float)nearest;
    return (float)fmin(fmax(nearest, least_of(b->bits)), most_of(b->bits));
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int64_t count_blocks(const tsr_convolution *c, const tsr_weight_blocks *b) {
    return block_of(b, c->group_inputs - 1, count_taps(c) - 1) + 1;
}

static bool make_steps(tsr_arena *arena, const tsr_convolution *c, tsr_weight_blocks *b) {
    b->count = count_blocks(c, b);
    b->steps = TSR_NEW(arena, count_outputs(c) * b->count, float);
    return b->steps != NULL;
}

static bool make_zero_points(tsr_arena *arena, const tsr_convolution *c, tsr_weight_blocks *b) {
    b->zero_points = TSR_NEW(arena, count_outputs(c) * b->count, float);
    return b->zero_points != NULL;
}

/* Of each block of an output channel: the least step that holds its largest weights of both signs;
 * 1 for zeros alone. */
static bool round_channel(const tsr_convolution *c, const tsr_weight_blocks *b, int64_t output) {
    const tsr_unaligned_float *weights = weights_of(c, output);
    float *steps = b->steps + output * b->count;
    for (int64_t i = 0; i < c->group_inputs; i++)
        for (int64_t tap = 0; tap < count_taps(c); tap++) {
            double weight = weights[(size_t)i * c->stride_input + (size_t)tap],
                   step = weight / (weight < 0 ? least_of(b->bits) : most_of(b->bits));
            float *least = &steps[block_of(b, i, tap)];
            if (!(step <= FLT_MAX))
                return false;
            *least = step > *least ? (float)step : *least;
        }
    for (int64_t i = 0; i < b->count; i++)
        steps[i] = steps[i] >= FLT_MIN ? steps[i] : steps[i] > 0 ? FLT_MIN : 1;
    return true;
}

bool tsr_choose_blocks(tsr_arena *arena, const tsr_convolution *c, tsr_weight_blocks *b) {
    enum { MOST_WEIGHTS = 144, LEAST_LOG2 = 2, MOST_LOG2 = 7 };
    *b = (tsr_weight_blocks){.bits = 4, .by_input = 1, .log2 = LEAST_LOG2};
    while (b->log2 < MOST_LOG2 && count_taps(c) << (b->log2 + 1) <= MOST_WEIGHTS)
        b->log2++;
    bool rounded = make_steps(arena, c, b);
    for (int64_t o = 0; rounded && o < count_outputs(c); o++)
        rounded = round_channel(c, b, o);
    return rounded;
}

/* ---- steps that a model has ------------------------------------------------------------------ */

/* The step of a block is among the quotients of its largest weight. */
typedef struct search {
    float *largest; /* by block of an output channel */
    int *divisors;
    int *least, *most; /* integers, 0 among them */
    bool has_zero_points;
} search;

static void find_largest(const tsr_convolution *c, const tsr_weight_blocks *b, int64_t output,
                         const search *s) {
    const tsr_unaligned_float *weights = weights_of(c, output);
    for (int64_t i = 0; i < b->count; i++) {
        s->largest[i] = 0;
        s->divisors[i] = 1;
        s->least[i] = s->most[i] = 0;
    }
    for (int64_t i = 0; i < c->group_inputs; i++)
        for (int64_t tap = 0; tap < count_taps(c); tap++) {
            float *largest = &s->largest[block_of(b, i, tap)],
                  size = fabsf(weights[(size_t)i * c->stride_input + (size_t)tap]);
            *largest = size <= *largest ? *largest : size;
        }
}

/* But for the rounding of a product. */
static bool is_multiple(double weight, double step) {
    const double rounding = 0x1p-22;
    double quotient = weight / step, nearest = rint(quotient);
    return fabs(quotient - nearest) <= fabs(nearest) * rounding;
}

/* Tries the next quotient where a weight is no multiple of its block's. *changed: it did so. */
static bool refine(const tsr_convolution *c, const tsr_weight_blocks *b, int64_t output,
                   const search *s, bool *changed) {
    const tsr_unaligned_float *weights = weights_of(c, output);
    const int range = most_of(b->bits) - least_of(b->bits);
    *changed = false;
    for (int64_t i = 0; i < c->group_inputs; i++)
        for (int64_t tap = 0; tap < count_taps(c); tap++) {
            int64_t at = block_of(b, i, tap);
            double weight = weights[(size_t)i * c->stride_input + (size_t)tap];
            if (weight == 0)
                continue;
            if (!isfinite(s->largest[at]) || s->largest[at] < (float)range * FLT_MIN)
                return false;
            while (!is_multiple(weight, (double)s->largest[at] / s->divisors[at])) {
                *changed = true;
                if (++s->divisors[at] > range)
                    return false;
            }
        }
    return true;
}

static float step_of(const search *s, int64_t block) {
    return s->largest[block] > 0 ? s->largest[block] / (float)s->divisors[block] : 1;
}

/* Do the integers of each block fit their bits, once moved? */
static bool find_ranges(const tsr_convolution *c, const tsr_weight_blocks *b, int64_t output,
                        const search *s) {
    const tsr_unaligned_float *weights = weights_of(c, output);
    for (int64_t i = 0; i < c->group_inputs; i++)
        for (int64_t tap = 0; tap < count_taps(c); tap++) {
            int64_t at = block_of(b, i, tap);
            float weight = weights[(size_t)i * c->stride_input + (size_t)tap];
            int integer = (int)rintf(weight / step_of(s, at));
            s->least[at] = integer < s->least[at] ? integer : s->least[at];
            s->most[at] = integer > s->most[at] ? integer : s->most[at];
            if (s->most[at] - s->least[at] > most_of(b->bits) - least_of(b->bits))
                return false;
        }
    return true;
}

static bool find_channel(const tsr_convolution *c, const tsr_weight_blocks *b, int64_t output,
                         const search *s) {
    bool changed = true;
    find_largest(c, b, output, s);
    while (changed)
        if (!refine(c, b, output, s, &changed))
            return false;
    return find_ranges(c, b, output, s);
}

static void keep_channel(const tsr_weight_blocks *b, int64_t output, search *s) {
    for (int64_t i = 0; i < b->count; i++) {
        int zero = tsr_zero_point(s->least[i], s->most[i], b->bits);
        b->steps[output * b->count + i] = step_of(s, i);
        b->zero_points[output * b->count + i] = (float)zero;
        s->has_zero_points |= zero != 0;
    }
}

/* Most weights fail in the first channel, before there are steps. */
static bool find_in(tsr_arena *arena, const tsr_convolution *c, tsr_weight_blocks *b) {
    b->count = count_blocks(c, b);
    search s = {TSR_NEW(arena, b->count, float), TSR_NEW(arena, b->count, int),
                TSR_NEW(arena, b->count, int), TSR_NEW(arena, b->count, int), false};
    bool found = s.largest && s.divisors && s.least && s.most && find_channel(c, b, 0, &s) &&
                 make_steps(arena, c, b) && make_zero_points(arena, c, b);
    for (int64_t o = 0; found && o < count_outputs(c); o++) {
        found = find_channel(c, b, o, &s);
        if (found)
            keep_channel(b, o, &s);
    }
    b->zero_points = s.has_zero_points ? b->zero_points : NULL;
    return found;
}

static bool find_of_taps(tsr_arena *arena, const tsr_convolution *c, int log2,
                         tsr_weight_blocks *b) {
    int64_t size = (int64_t)1 << log2;
    *b = (tsr_weight_blocks){.bits = b->bits,
                             .by_input = 1,
                             .by_tap = tsr_divide_up(c->group_inputs, size) * size,
                             .log2 = log2};
    return c->group_inputs >= size && find_in(arena, c, b);
}

static bool find_in_order(tsr_arena *arena, const tsr_convolution *c, int log2,
                          tsr_weight_blocks *b) {
    *b = (tsr_weight_blocks){.bits = b->bits, .by_input = count_taps(c), .by_tap = 1, .log2 = log2};
    return count_taps(c) > 1 && find_in(arena, c, b);
}

/* All of an output channel; blocks of input channels, of each tap its own; of the weights in
 * ONNX's order. */
bool tsr_find_blocks(tsr_arena *arena, const tsr_convolution *c, int bits, tsr_weight_blocks *b) {
    enum { WHOLE_LOG2 = 40, LEAST_LOG2 = 5, MOST_LOG2 = 7 };
    *b = (tsr_weight_blocks){.bits = bits, .by_input = 1, .log2 = WHOLE_LOG2};
    bool found = find_in(arena, c, b);
    for (int log2 = MOST_LOG2; !found && log2 >= LEAST_LOG2; log2--)
        found = find_of_taps(arena, c, log2, b) || find_in_order(arena, c, log2, b);
    return found;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Which channels and taps share a block: see glsl/weight_scale.glsl. */
enum { NONE, OF_TILE, OF_TAP, OF_CHANNEL };

void tsr_set_scales(tsr_plan *plan, tsr_convolution *c, const float *numbers, int64_t columns) {
    const tsr_shape shape = {4, {1, count_outputs(c), 1, columns}};
    c->scales = tsr_plan_constant(plan, &shape, numbers);
    tsr_plan_narrow(plan, c->scales, 1);
}

/* Of an output channel: the scale of each block, then the zero points of two at a time. */
static void fill_scales(const tsr_convolution *c, const tsr_weight_blocks *b, int64_t output,
                        float *numbers) {
    const int64_t first = output * b->count;
    for (int64_t i = 0; i < b->count; i++) {
        numbers[i] = (float)(b->steps[first + i] * tsr_weight_scale(c, (int)output));
        if (b->zero_points)
            numbers[b->count + i / 2] += (b->zero_points[first + i] + 128) * (i % 2 ? 256 : 1);
    }
}

void tsr_use_blocks(tsr_plan *plan, tsr_convolution *c, const tsr_weight_blocks *b) {
    const int64_t columns = b->count + (b->zero_points ? tsr_divide_up(b->count, 2) : 0);
    float *numbers = TSR_NEW(plan->arena, count_outputs(c) * columns, float);
    if (!numbers) {
        tsr_plan_out_of_memory(plan);
        return;
    }
    for (int64_t o = 0; o < count_outputs(c); o++)
        fill_scales(c, b, o, numbers + o * columns);
    tsr_set_scales(plan, c, numbers, columns);
    c->blocks = b;
    c->zero_points = b->zero_points;
    c->scale = NULL;
    c->factor = 1;
}

/* The block that kernels take for what they read of a tap, whether the weight exists or not. */
static int64_t block_read(const tsr_convolution *c, int64_t input, int64_t tap) {
    const tsr_weight_blocks *b = c->blocks;
    if (!b)
        return 0;
    int scales = tsr_scales_of_texels(c);
    int64_t block =
        block_of(b, scales == OF_CHANNEL ? input : input / 4 * 4, scales == OF_TILE ? 0 : tap);
    return block < b->count ? block : b->count - 1;
}

void tsr_add_zero_points(const tsr_convolution *c, int64_t output, int64_t input, int64_t tap,
                         int64_t stride, float *texels) {
    const int64_t count = c->blocks ? c->blocks->count : 1;
    for (int64_t i = 0; i < 4; i++) {
        int64_t block = block_read(c, input + i, tap);
        for (int64_t o = 0; o < 4 && output + o < count_outputs(c); o++)
            texels[i * stride * 4 + o] += c->zero_points[(output + o) * count + block];
    }
}

bool tsr_blocks_hold_taps(const tsr_convolution *c) {
    return !c->blocks || c->blocks->count == 1 || c->blocks->by_tap == 0;
}

tsr_tensor_arg tsr_scales_arg(const tsr_convolution *c) {
    return (tsr_tensor_arg){c->blocks || c->zero_points, c->scales};
}

/* Blocks that are no multiples of all taps of four channels, nor of one tap, split these. */
int tsr_scales_of_texels(const tsr_convolution *c) {
    const tsr_weight_blocks *b = c->blocks;
    if (!b)
        return NONE;
    int64_t size = (int64_t)1 << b->log2;
    if (tsr_blocks_hold_taps(c) || (b->by_input > 1 && size % (4 * b->by_input) == 0))
        return OF_TILE;
    return b->by_input == 1 ? OF_TAP : OF_CHANNEL;
}

int tsr_zeros_of_texels(const tsr_convolution *c) {
    return !c->zero_points ? NONE : c->blocks ? tsr_scales_of_texels(c) : OF_TILE;
}

tsr_args_blocks tsr_blocks_args(const tsr_convolution *c) {
    const tsr_weight_blocks none = {0}, *b = c->blocks ? c->blocks : &none;
    int log2 = b->log2 < 30 ? b->log2 : 30; /* of 32 bits */
    return (tsr_args_blocks){TSR_INT(b->by_input), TSR_INT(b->by_tap * c->window.kernel[1]),
                             TSR_INT(b->by_tap), TSR_INT(log2)};
}
