/* Winograd's minimal filtering, as src/algorithm/conv_winograd.c explains it, for software
 * rasterisers, with what passes leave for each other in textures: the products are a pointwise
 * convolution with a group for each position, a pixel of which is a tile. A tile has 4x4 positions:
 * it is F(2x2, 3x3), or F(3x3, 2x2), which has the same input transform.
 *
 * The phases of a transposed convolution read the same transformed tiles, and are output channels
 * of one product. Tiles begin where the first phase's padding has them: of a phase with one pixel
 * less of padding, a tile's first pixel is the one before. */
#include "algorithm/packed_weights.h"
#include "algorithm/winograd.h"

#include "base/divide.h"

#include <string.h>

enum { POSITIONS = 4, ALL_POSITIONS = POSITIONS * POSITIONS };

typedef struct conv {
    tsr_phases p;
    int64_t taps, pixels; /* of a tile's row: 3 and 2, or 2 and 3 */
    int64_t tiles[2];     /* rows, columns of an image */
    /* Channel tiles of a position: of the input modulo each stride, of the output's phases. */
    int64_t inputs, outputs;
    tsr_layout input, output;   /* of the transformed tiles, of the products */
    float filter[POSITIONS][3]; /* factors of the taps in each position */
    tsr_table_size size;        /* of the weights */
} conv;

/* ---- sizes ----------------------------------------------------------------------------------- */

/* A row of tiles, one image after the other: so few pixels of the last fragment are padding. */
static tsr_shape shape_of(const conv *w, int64_t channel_tiles) {
    return (tsr_shape){
        4, {w->p.images, ALL_POSITIONS * channel_tiles * 4, 1, w->tiles[0] * w->tiles[1]}};
}

/* Weights of a tap, or of a position, between four input and four output channels. */
enum { BLOCK = 16, BLOCK_TEXELS = BLOCK / 4, MOST_TAPS = 3 };

static int64_t count_blocks(const conv *w) {
    return ALL_POSITIONS * w->inputs * w->outputs;
}

static void set_sizes(conv *w) {
    const tsr_phases *p = &w->p;
    w->pixels = POSITIONS + 1 - w->taps;
    for (int axis = 0; axis < 2; axis++) {
        int before = tsr_phases_pad(p, 0, axis) - tsr_phases_pad(p, p->count[axis] - 1, axis);
        w->tiles[axis] = tsr_divide_up(p->size[axis] + before, w->pixels);
    }
    w->inputs = p->stride[0] * p->stride[1] * p->tiles;
    w->outputs = p->count[0] * p->count[1] * p->outputs;
    for (int64_t i = 0; i < POSITIONS * w->taps; i++)
        w->filter[i / w->taps][i % w->taps] =
            (float)tsr_winograd_filter(w->pixels, w->taps, i / w->taps, i % w->taps);
}

static bool fits_memory(const tsr_plan *plan, const conv *w) {
    enum { MOST_BYTES = 32 << 20 };
    return !plan->low_memory &&
           tsr_layout_bytes(&w->input) + tsr_layout_bytes(&w->output) <= MOST_BYTES;
}

/* Sets both layouts, too. Not with few tiles: weights, 16 for 4 or 9 of them, would be read for
 * little. Nor if the tensors are large, which are several times the convolution's input and output.
 */
static bool fits(const tsr_plan *plan, conv *w) {
    enum { LEAST_TILES = 32 };
    const tsr_layout_limits *limits = &plan->limits;
    const tsr_shape input = shape_of(w, w->inputs), output = shape_of(w, w->outputs);
    int64_t side = limits->max_texture_size;
    return w->tiles[0] * w->tiles[1] >= LEAST_TILES &&
           count_blocks(w) * BLOCK_TEXELS <= side * side / 2 &&
           (!plan->max_loop_iterations || w->inputs < plan->max_loop_iterations / 2) &&
           tsr_layout_make(&input, limits, (tsr_layout_hint){0}, &w->input) == TSR_OK &&
           tsr_layout_make(&output, limits, (tsr_layout_hint){0}, &w->output) == TSR_OK &&
           fits_memory(plan, w);
}

/* Tensors of 32 bits share no memory with those of 16, so there it would be used twice. */
static bool make(const tsr_plan *plan, const tsr_problem *problem, conv *w) {
    *w = (conv){.taps = 0};
    if (!plan->device.software || plan->half || plan->limits.half_only ||
        !tsr_winograd_phases(plan, problem, &w->p, &w->taps))
        return false;
    set_sizes(w);
    return fits(plan, w);
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The filter's matrix times `taps` blocks, `step` floats apart. */
static void transform_taps(const conv *w, const float *taps, int64_t step,
                           float to[POSITIONS][BLOCK]) {
    for (int k = 0; k < POSITIONS; k++) {
        for (int i = 0; i < BLOCK; i++)
            to[k][i] = w->filter[k][0] * taps[i] + w->filter[k][1] * taps[step + i];
        for (int i = 0; w->taps == MOST_TAPS && i < BLOCK; i++)
            to[k][i] += w->filter[k][2] * taps[2 * step + i];
    }
}

/* The kernel's elements that are the taps of a phase in the input modulo the strides; 0 where it
 * has none. */
static void gather_taps(const conv *w, int64_t input, int64_t output, float *taps) {
    const tsr_phases *p = &w->p;
    int64_t image = input / p->tiles, index = output / p->outputs;
    const int64_t phase[2] = {index / p->count[1], index % p->count[1]};
    for (int64_t i = 0; i < w->taps * w->taps; i++, taps += BLOCK) {
        const int64_t tap[2] = {i / w->taps * p->stride[0] + image / p->stride[1],
                                i % w->taps * p->stride[1] + image % p->stride[1]};
        for (int j = 0; j < BLOCK; j++)
            taps[j] = 0;
        if (tap[0] < p->taps[0] && tap[1] < p->taps[1])
            tsr_phases_add(p, phase, tap, input % p->tiles, output % p->outputs, 1, 1, taps);
    }
}

/* Entry (position * outputs + output) * inputs + input of the table. */
static float *block_of(const conv *w, int64_t position, int64_t output, int64_t input,
                       float *texels) {
    int64_t entry = (position * w->outputs + output) * w->inputs + input;
    int64_t row = entry >> w->size.entries_log2, column = entry - (row << w->size.entries_log2);
    return texels + row * w->size.width * 4 + column * BLOCK;
}

static void pack_block(const conv *w, int64_t input, int64_t output, float *texels) {
    float taps[MOST_TAPS * MOST_TAPS * BLOCK], rows[MOST_TAPS][POSITIONS][BLOCK],
        positions[POSITIONS][BLOCK];
    gather_taps(w, input, output, taps);
    for (int64_t row = 0; row < w->taps; row++)
        transform_taps(w, taps + row * w->taps * BLOCK, BLOCK, rows[row]);
    for (int column = 0; column < POSITIONS; column++) {
        transform_taps(w, rows[0][column], POSITIONS * BLOCK, positions);
        for (int row = 0; row < POSITIONS; row++)
            memcpy(block_of(w, row * POSITIONS + column, output, input, texels), positions[row],
                   sizeof positions[row]);
    }
}

/* Units are channel tiles of the output. */
static void pack(const void *data, int64_t first, int64_t count, float *texels) {
    const conv *w = data;
    const tsr_phases *p = &w->p;
    for (int64_t unit = first; unit < first + count; unit++)
        for (int64_t tile = 0; tile < p->tiles; tile++)
            for (int64_t input = tile; input < w->inputs; input += p->tiles)
                for (int64_t output = unit; output < w->outputs; output += p->outputs)
                    pack_block(w, input, output, texels);
}

static void set_weights(tsr_plan *plan, tsr_pass *pass, const conv *w) {
    const tsr_weight_layout layout = {
        .tag = "winograd in a texture",
        .numbers = {w->p.transposed, w->pixels, w->inputs, w->outputs}};
    const tsr_table table = {.pack = pack,
                             .units = w->p.outputs,
                             .width = w->size.width,
                             .height = w->size.height,
                             .format = tsr_weight_format(plan, &w->p.conv),
                             .dense = (int64_t)w->size.width * w->size.height ==
                                      count_blocks(w) * BLOCK_TEXELS};
    tsr_pass_packed_weights(plan, pass, &w->p.conv, &layout, table, w, sizeof *w);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static int add_input_transform(tsr_plan *plan, const conv *w, int input) {
    const tsr_phases *p = &w->p;
    const tsr_shape shape = shape_of(w, w->inputs);
    int tiles = tsr_plan_tensor_inner(plan, &shape, (tsr_layout_hint){0});
    TSR_PASS(plan, tiles, winograd_texture_input, .X = TSR_TENSOR(input),
             .POSITIONS = TSR_INT(POSITIONS), .inputs = TSR_INT(w->inputs),
             .columns = TSR_INT(w->tiles[1]), .pixels = TSR_INT(w->pixels),
             .stride_y = TSR_INT(p->stride[0]), .stride_x = TSR_INT(p->stride[1]),
             .pad_y = TSR_INT(tsr_phases_pad(p, 0, 0)), .pad_x = TSR_INT(tsr_phases_pad(p, 0, 1)));
    return tiles;
}

static int add_products(tsr_plan *plan, conv *w, int tiles) {
    const tsr_shape shape = shape_of(w, w->outputs);
    int products = tsr_plan_tensor_inner(plan, &shape, (tsr_layout_hint){0});
    w->size =
        tsr_table_entries(plan, tsr_weight_format(plan, &w->p.conv), BLOCK_TEXELS, count_blocks(w));
    const tsr_args_channels channels = {TSR_INT(w->inputs), TSR_INT(w->outputs * 4),
                                        TSR_INT(w->inputs * 4), TSR_INT(w->size.entries_log2)};
    set_weights(plan, tsr_pointwise_pass(plan, tiles, products, &w->p.conv, channels), w);
    return products;
}

static tsr_pass *add_output_transform(tsr_plan *plan, const conv *w, int products, int output) {
    const tsr_phases *p = &w->p;
    const int64_t *pad = p->conv.window.pad_begin;
    return TSR_PASS(plan, output, winograd_texture_output, .X = TSR_TENSOR(products),
                    .PIXELS = TSR_INT(w->pixels), .position_tiles = TSR_INT(w->outputs),
                    .columns = TSR_INT(w->tiles[1]), .phases_y = TSR_INT(p->count[0]),
                    .phases_x = TSR_INT(p->count[1]), .pad_y = TSR_INT(pad[0] % p->count[0]),
                    .pad_x = TSR_INT(pad[1] % p->count[1]));
}

/* ---- the algorithm --------------------------------------------------------------------------- */

/* Multiply-adds that a run has to save for each weight more than the convolution has, and for each
 * byte of tensors: so memory stays near the model's. Autotuning asks for no such thing, nor does a
 * caller who chooses kernels. */
static double price_of_memory(const tsr_plan *plan, const conv *w, uint64_t bytes) {
    enum { WEIGHT = 200, BYTE = 16 };
    const int64_t *kernel = w->p.conv.window.kernel;
    double weights = (double)(count_blocks(w) * BLOCK) -
                     (double)(w->p.tiles * w->p.outputs * kernel[0] * kernel[1] * BLOCK);
    return plan->device.fixed ? 0 : weights * WEIGHT + (double)bytes * BYTE;
}

/* Measured on llvmpipe beside direct kernels, whose products (TSR_PRODUCT) take longer in
 * transposed convolutions than in others: so these here count less. TEXEL: to compute a texel of
 * either tensor, and the output from it. PROGRAMS: what a few runs have to save, as the first one
 * compiles three programs. */
static double cost_of(const conv *w) {
    enum { PRODUCT = 20, TRANSPOSED_PRODUCT = 16, TEXEL = 130, PROGRAMS = 32000000 };
    const tsr_layout *l = &w->input;
    double texels = (double)l->n * l->tile_w * l->planes * ALL_POSITIONS,
           inputs = (double)w->inputs, outputs = (double)w->outputs;
    double products = inputs * outputs * (w->p.transposed ? TRANSPOSED_PRODUCT : PRODUCT);
    return texels * (products + (inputs + outputs) * TEXEL) + PROGRAMS;
}

static bool estimate(const tsr_plan *plan, const tsr_problem *p, tsr_estimate *e) {
    conv w;
    if (!make(plan, p, &w))
        return false;
    uint64_t bytes = tsr_layout_bytes(&w.input) + tsr_layout_bytes(&w.output);
    *e = (tsr_estimate){.cost = cost_of(&w) + price_of_memory(plan, &w, bytes),
                        .bytes = bytes,
                        .live_texels = w.output.planes + TSR_TAP_TEXELS,
                        .winograd_tile = tsr_winograd_tile(w.pixels, w.taps)};
    return true;
}

static tsr_pass *lower(tsr_plan *plan, const tsr_problem *p) {
    conv w;
    int output = tsr_problem_output(plan, p, 1);
    if (plan->status != TSR_OK || !make(plan, p, &w))
        return tsr_problem_refuse(plan, "its filter is not one of 2x2 or 3x3 with enough pixels");
    int tiles = add_input_transform(plan, &w, p->input), products = add_products(plan, &w, tiles);
    return add_output_transform(plan, &w, products, output);
}

const tsr_algorithm tsr_conv_winograd_texture = {
    .name = "conv_winograd_texture",
    .languages = TSR_GLSL,
    .kinds = TSR_CONV | TSR_CONV_TRANSPOSE,
    .allowed_by = TSR_ALLOW_DIRECT,
    .estimate = estimate,
    .lower = lower,
};
