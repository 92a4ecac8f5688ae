/* A convolution's packed weights: a table in the order that kernels read. */
#include "algorithm/block_weights.h"
#include "algorithm/packed_weights.h"

#include "base/divide.h"

#include <math.h>
#include <stdlib.h>

/* The kernel between an output and an input channel; NULL if they are in different groups. */
static const tsr_unaligned_float *kernel_between(const tsr_convolution *c, int output, int input) {
    int group = output / c->group_outputs, i = input - group * c->group_inputs;
    if (group >= c->window.group || i < 0 || i >= c->group_inputs)
        return NULL;
    return c->weights + (size_t)group * c->stride_group +
           (size_t)(output % c->group_outputs) * c->stride_output + (size_t)i * c->stride_input;
}

double tsr_weight_scale(const tsr_convolution *c, int output) {
    return c->scale && output < c->group_outputs * c->window.group ? c->factor * c->scale[output]
                                                                   : c->factor;
}

int tsr_tiles_per_output(const tsr_convolution *c) {
    int most = 1, outputs = c->group_outputs * (int)c->window.group;
    for (int output = 0; output < outputs; output += 4) {
        int last = output + 3 < outputs ? output + 3 : outputs - 1;
        int first_channel = output / c->group_outputs * c->group_inputs;
        int last_channel = last / c->group_outputs * c->group_inputs + c->group_inputs - 1;
        int tiles = (last_channel >> 2) - (first_channel >> 2) + 1;
        most = tiles > most ? tiles : most;
    }
    return most;
}

bool tsr_is_pointwise(const tsr_window *w) {
    bool is = true;
    for (int i = 0; i < 2; i++)
        is &= w->kernel[i] == 1 && w->pad_begin[i] == 0 && w->pad_end[i] == 0;
    return is;
}

double tsr_largest_weight(const tsr_convolution *c, int64_t output) {
    int64_t taps = c->window.kernel[0] * c->window.kernel[1];
    const tsr_unaligned_float *w = c->weights +
                                   (size_t)(output / c->group_outputs) * c->stride_group +
                                   (size_t)(output % c->group_outputs) * c->stride_output;
    double largest = 0;
    for (int i = 0; i < c->group_inputs; i++, w += c->stride_input)
        for (int64_t k = 0; k < taps; k++) {
            double size = fabs((double)w[k]);
            if (!isfinite(size))
                return INFINITY;
            largest = size > largest ? size : largest;
        }
    return largest;
}

/* Of all weights, without the factor; infinite if one is. */
static double largest_weight(const tsr_convolution *c) {
    double largest = 0;
    for (int64_t o = 0; o < c->window.group * c->group_outputs; o++) {
        double most = tsr_largest_weight(c, o) * (c->scale ? fabs(c->scale[o]) : 1);
        largest = most <= largest ? largest : most;
    }
    return largest;
}

float tsr_half_products(const tsr_plan *plan, tsr_convolution *c) {
    enum { PRODUCTS = 4, MOST_LOG2 = 60 };
    if (c->tensor || c->integers || c->blocks || !tsr_plan_has_half_products(plan) ||
        !plan->device.fragments.half_products)
        return 0;
    double sum = PRODUCTS * largest_weight(c) * fabs((double)c->factor);
    int log2 = 0;
    if (!isfinite(sum) || sum == 0 || frexp(sum, &log2) == 0 || abs(log2) > MOST_LOG2)
        return 0;
    c->factor = ldexpf(c->factor, -log2);
    return ldexpf(1, log2);
}

bool tsr_is_depthwise(const tsr_convolution *c) {
    return c->group_inputs == 1 && c->group_outputs == 1 && c->window.group > 1;
}

bool tsr_shares_texels(const tsr_convolution *c) {
    return c->window.group > 1 && (c->group_inputs % 4 != 0 || c->group_outputs % 4 != 0);
}

/* ---- the table ------------------------------------------------------------------------------- */

tsr_table_format tsr_weight_format(const tsr_plan *plan, const tsr_convolution *c) {
    if (c->blocks && c->blocks->bits == 4)
        return TSR_TABLE_I4_OF_4;
    if (c->blocks || c->integers)
        return tsr_is_depthwise(c) ? TSR_TABLE_I8 : TSR_TABLE_I8_OF_4;
    return tsr_plan_weight_format(plan);
}

static size_t texel_index(const tsr_conv_weights *t, size_t block, size_t within,
                          size_t block_size) {
    int log2 = t->size.entries_log2;
    size_t column = block & (((size_t)1 << log2) - 1);
    return (block >> log2) * (size_t)t->size.width + column * block_size + within;
}

/* Between an input channel and four outputs, whose kernels may be NULL. Unrolled: most of the time
 * of creating a session is spent here. */
static void fill_texel(float *texel, const tsr_unaligned_float *const kernels[4],
                       const double scale[4], size_t tap) {
    texel[0] = kernels[0] ? (float)(kernels[0][tap] * scale[0]) : 0;
    texel[1] = kernels[1] ? (float)(kernels[1][tap] * scale[1]) : 0;
    texel[2] = kernels[2] ? (float)(kernels[2][tap] * scale[2]) : 0;
    texel[3] = kernels[3] ? (float)(kernels[3][tap] * scale[3]) : 0;
}

/* The same of four inputs as integers in blocks. */
static void fill_blocks(const tsr_convolution *c, const tsr_unaligned_float *const kernels[16],
                        int output, int input, size_t tap, float *texel) {
    for (int i = 0; i < 16; i++)
        texel[i] = kernels[i] ? tsr_block_integer(c, output + i % 4, input + i / 4, tap) : 0;
}

/* The 4x4 channels of one output and one input tile, tap by tap. */
static void fill_tiles(const tsr_conv_weights *t, int output_tile, int tile, float *texels) {
    const tsr_convolution *c = &t->conv;
    const tsr_unaligned_float *kernels[16]; /* four outputs of each input */
    double scale[4];
    int first = (output_tile * 4 / c->group_outputs * c->group_inputs) >>
                2; /* as in glsl/conv_direct.glsl */
    for (int i = 0; i < 16; i++)
        kernels[i] = kernel_between(c, output_tile * 4 + i % 4, (first + tile) * 4 + i / 4);
    for (int i = 0; i < 4; i++)
        scale[i] = tsr_weight_scale(c, output_tile * 4 + i);
    size_t pair = (size_t)output_tile * (size_t)t->tiles + (size_t)tile;
    size_t taps = (size_t)t->taps, kernel_h = (size_t)c->window.kernel[0],
           kernel_w = (size_t)c->window.kernel[1];
    for (size_t ky = 0; ky < kernel_h; ky++)
        for (size_t begin = 0; begin < kernel_w; begin += taps) {
            size_t block = (pair * kernel_h + ky) * (size_t)t->chunks + begin / taps;
            size_t end = begin + taps < kernel_w ? begin + taps : kernel_w;
            float *texel = texels + 4 * texel_index(t, block, 0, taps * 4);
            for (size_t tap = ky * kernel_w + begin; tap < ky * kernel_w + end;
                 tap++, texel += 16) {
                if (c->blocks) {
                    fill_blocks(c, kernels, output_tile * 4, tile * 4, tap, texel);
                    continue;
                }
                for (int i = 0; i < 16; i += 4)
                    fill_texel(texel + i, kernels + i, scale, tap);
                if (t->dots)
                    tsr_weights_for_dots(texel, 1);
            }
            texel = texels + 4 * texel_index(t, block, 0, taps * 4);
            for (size_t tap = begin; c->zero_points && tap < begin + taps; tap++, texel += 16)
                tsr_add_zero_points(c, output_tile * 4, tile * 4, (int64_t)(ky * kernel_w + tap), 1,
                                    texel);
        }
}

static int count_output_tiles(const tsr_conv_weights *t) {
    return (int)tsr_divide_up(t->conv.group_outputs * t->conv.window.group, 4);
}

/* A transposed convolution's weights are stored input by input. */
static bool is_by_input(const tsr_conv_weights *t) {
    return t->conv.stride_input > t->conv.stride_output;
}

/* In the order of the weights in memory; units are tiles of its outer loop. */
static void pack_dense(const void *data, int64_t first, int64_t count, float *texels) {
    const tsr_conv_weights *t = data;
    bool by_input = is_by_input(t);
    int inner = by_input ? count_output_tiles(t) : t->tiles;
    for (int i = (int)first; i < first + count; i++)
        for (int j = 0; j < inner; j++)
            fill_tiles(t, by_input ? j : i, by_input ? i : j, texels);
}

/* Units are tiles of channels. */
static void pack_depthwise(const void *data, int64_t first, int64_t count, float *texels) {
    const tsr_conv_weights *t = data;
    const tsr_convolution *c = &t->conv;
    size_t taps = (size_t)t->taps, kernel_h = (size_t)c->window.kernel[0],
           kernel_w = (size_t)c->window.kernel[1];
    size_t end = (size_t)(first + count) * 4, channels = (size_t)c->window.group;
    for (size_t channel = (size_t)first * 4; channel < end && channel < channels; channel++)
        for (size_t ky = 0; ky < kernel_h; ky++)
            for (size_t kx = 0; kx < taps * (size_t)t->chunks; kx++) {
                size_t block = (channel / 4 * kernel_h + ky) * (size_t)t->chunks + kx / taps;
                texels[texel_index(t, block, kx % taps, taps) * 4 + channel % 4] =
                    (c->zero_points ? c->zero_points[channel] : 0) +
                    (kx < kernel_w
                         ? (float)(c->weights[channel * c->stride_group + ky * kernel_w + kx] *
                                   tsr_weight_scale(c, (int)channel))
                         : 0);
            }
}

tsr_conv_weights tsr_pack_conv_weights(tsr_plan *plan, const tsr_convolution *conv, int taps,
                                       int chunks, bool depthwise) {
    tsr_conv_weights w = {
        *conv, depthwise, depthwise ? 1 : tsr_tiles_per_output(conv), taps, chunks, {0}, false};
    int64_t output_tiles = tsr_divide_up(conv->group_outputs * conv->window.group, 4);
    int64_t blocks = output_tiles * w.tiles * conv->window.kernel[0] * chunks;
    w.size =
        tsr_table_entries(plan, tsr_weight_format(plan, conv), depthwise ? taps : taps * 4, blocks);
    return w;
}

tsr_args_channels tsr_conv_channels(const tsr_conv_weights *w) {
    return (tsr_args_channels){TSR_INT(w->tiles), TSR_INT(w->conv.group_outputs),
                               TSR_INT(w->conv.group_inputs), TSR_INT(w->size.entries_log2)};
}

/* Do the taps of all kernels fill the whole table? */
static bool is_full(const tsr_conv_weights *w) {
    const int64_t *kernel = w->conv.window.kernel;
    int64_t texels = (int64_t)count_output_tiles(w) * w->tiles * kernel[0] * kernel[1] * 4;
    return !w->depthwise && texels == (int64_t)w->size.width * w->size.height;
}

tsr_pass *tsr_pass_conv_weights(tsr_plan *plan, tsr_pass *pass, const tsr_conv_weights *w) {
    const tsr_weight_layout layout = {.tag = w->depthwise ? "depthwise rows" : "rows of taps",
                                      .numbers = {w->tiles, w->taps, w->chunks, w->dots}};
    const tsr_table table = {.pack = w->depthwise ? pack_depthwise : pack_dense,
                             .units =
                                 is_by_input(w) && !w->depthwise ? w->tiles : count_output_tiles(w),
                             .width = w->size.width,
                             .height = w->size.height,
                             .format = tsr_weight_format(plan, &w->conv),
                             .dense = is_full(w)};
    return tsr_pass_packed_weights(plan, pass, &w->conv, &layout, table, w, sizeof *w);
}
