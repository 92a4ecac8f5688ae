/* Direct convolutions whose weights are in uniform blocks. */
#include "algorithm/im2col_gemm.h"
#include "algorithm/integer_weights.h"
#include "algorithm/packed_weights.h"
#include "algorithm/phases.h"

#include "base/divide.h"

/* Weights in uniform blocks: each draw computes one partial sum of one phase. */
typedef struct block_conv {
    tsr_phases p;
    int64_t pixels;        /* of a fragment */
    int64_t tiles_of_draw; /* of output channels: 1 or 2 */
    int64_t partials, partial_tiles;
    int texels;   /* of a tile's weights in a uniform block */
    int rows;     /* tiles in a uniform block */
    bool by_taps; /* a fragment reads its input tap by tap, not a row of it at once */
    float scale;  /* of tsr_half_products() */
    bool dots;    /* see tsr_fragment_limits; chosen when passes are made */
} block_conv;

/* Input columns that a fragment of this many pixels reads at once; 0: it reads tap by tap. */
static int64_t row_of(const block_conv *b, int64_t pixels) {
    const tsr_window *w = &b->p.conv.window;
    return b->by_taps ? 0 : (pixels - 1) * b->p.stride[1] + (b->p.taps[1] - 1) * w->dilation[1] + 1;
}

static int64_t texels_of(const block_conv *b, int64_t tiles) {
    return tiles * b->p.taps[0] * b->p.taps[1] * b->tiles_of_draw * 4;
}

static int64_t count_sums(const block_conv *b) {
    return b->p.count[0] * b->p.count[1] * b->partials;
}

/* The tensor of all partial sums of all phases, along images. */
static tsr_shape sums_shape(const block_conv *b) {
    const tsr_shape shape = {4,
                             {count_sums(b) * b->p.images,
                              tsr_divide_up(b->p.outputs, b->tiles_of_draw) * 4, b->p.size[0],
                              b->p.size[1] * b->tiles_of_draw}};
    return shape;
}

/* Complete sums are stored as the output is; those of integers are too large before they are
 * scaled. */
static tsr_layout_hint sums_hint(const tsr_plan *plan, const block_conv *b) {
    bool half = plan->half && b->partials == 1 && !b->p.conv.integers;
    return (tsr_layout_hint){.planes = (int)(b->pixels * b->tiles_of_draw),
                             .format = half ? TSR_TEXEL_F16 : TSR_TEXEL_F32};
}

/* Blocks hold floats: many weights that are to have 8 bits are not for them. */
static bool are_many_integers(const tsr_convolution *c) {
    enum { MANY = 1 << 16 };
    return c->blocks || (c->integers && tsr_count_weights(c) >= MANY);
}

/* Does it apply, and are images large enough for a draw for each uniform block? Binding the next
 * block takes 2 microseconds on an H200, as long as computing some 60 pixels with a full one. The
 * rows of a matrix product are images of one pixel. Programs unroll the taps of a row: with more
 * than MOST_TAPS they would be long. */
static bool suits(const tsr_plan *plan, const block_conv *b) {
    enum { ENOUGH_PIXELS = 64, MOST_TAPS = 12 };
    return !are_many_integers(&b->p.conv) && b->p.taps[1] <= MOST_TAPS &&
           row_of(b, TSR_MAX_PLANES) <= TSR_MAX_ROW && texels_of(b, 1) <= plan->block_texels &&
           b->p.size[0] * b->p.size[1] >= ENOUGH_PIXELS;
}

/* As few partial sums as the size of uniform blocks allows, which is always within
 * max_loop_iterations. */
static void cut(const tsr_plan *plan, block_conv *b) {
    b->partials = tsr_divide_up(b->p.tiles, plan->block_texels / texels_of(b, 1));
    b->partial_tiles = tsr_divide_up(b->p.tiles, b->partials);
    for (b->texels = TSR_BLOCK_ALIGNED; b->texels < texels_of(b, b->partial_tiles);)
        b->texels *= 2;
}

/* Of output channels, as drawn. */
static int64_t count_tiles(const block_conv *b) {
    return tsr_divide_up(b->p.outputs, b->tiles_of_draw);
}

/* Of the table, in whole blocks. */
static int rows_of_sum(const block_conv *b) {
    return (int)tsr_divide_up(count_tiles(b), b->rows) * b->rows;
}

/* On a software rasteriser fragments that read different rows are slow, on GPUs of few registers
 * not measured. */
int tsr_block_rows(const tsr_plan *plan, int64_t count, int64_t texels, double products,
                   double enough) {
    int rows = 1;
    if (plan->device.software || plan->device.fragments.registers)
        return rows;
    while (rows < count && rows * products < enough && 2 * rows * texels <= plan->block_texels)
        rows *= 2;
    return rows;
}

/* With one tap, fragments of different rows are as fast; where weights are computed, draws cost
 * most. */
static void join_tiles(const tsr_plan *plan, block_conv *b) {
    double products = (double)(b->p.size[0] * b->p.size[1] * texels_of(b, b->partial_tiles) * 4);
    bool joined = b->p.conv.tensor || b->p.taps[0] * b->p.taps[1] == 1;
    b->rows = tsr_block_rows(plan, count_tiles(b), b->texels, products,
                             joined ? TSR_JOINED_PRODUCTS : plan->device.draw_products);
}

/* Of a fragment: 4 pixels, or fewer if a draw then had too few fragments for a GPU's warp, of two
 * tiles, so that each texel of input is read once for both. */
static void share_planes(const tsr_plan *plan, block_conv *b) {
    enum { PIXELS = 4, WARP = 32, TILES = 2 };
    b->tiles_of_draw = TILES;
    if (b->by_taps || b->p.outputs == 1 || plan->limits.max_planes == 1 ||
        texels_of(b, 1) > plan->block_texels)
        b->tiles_of_draw = 1;
    int64_t most = plan->limits.max_planes / b->tiles_of_draw;
    b->pixels = most < PIXELS ? most : PIXELS;
    while (b->pixels > 1 && tsr_divide_up(b->p.size[1], b->pixels) * b->p.size[0] < WARP)
        b->pixels /= 2;
}

/* A single partial sum is written to the output directly; several are assembled by another pass.
 * False if their layout would be linear, so that tiles are no rectangles, or if they are too many
 * for that pass's loop. */
static bool arrange(const tsr_plan *plan, block_conv *b, const tsr_layout *output) {
    tsr_layout l = *output;
    cut(plan, b);
    b->pixels = l.planes;
    if (count_sums(b) == 1)
        return !l.linear;
    share_planes(plan, b);
    cut(plan, b);
    const tsr_shape shape = sums_shape(b);
    return tsr_layout_make(&shape, &plan->limits, sums_hint(plan, b), &l) == TSR_OK && !l.linear &&
           l.planes == b->pixels * b->tiles_of_draw &&
           (!plan->max_loop_iterations || b->partials < plan->max_loop_iterations);
}

/* Of the partial sums before they are assembled. */
static uint64_t sums_bytes(const tsr_plan *plan, const block_conv *b) {
    const tsr_shape shape = sums_shape(b);
    tsr_layout l;
    bool made = count_sums(b) > 1 &&
                tsr_layout_make(&shape, &plan->limits, sums_hint(plan, b), &l) == TSR_OK;
    return made ? tsr_layout_bytes(&l) : 0;
}

/* ---- weights --------------------------------------------------------------------------------- */

static void fill_tile(const block_conv *b, const int64_t phase[2], int64_t tile, int64_t output,
                      float *texels) {
    int64_t tap[2];
    for (tap[0] = 0; tap[0] < b->p.taps[0]; tap[0]++)
        for (tap[1] = 0; tap[1] < b->p.taps[1]; tap[1]++)
            tsr_phases_add(&b->p, phase, tap, tile, output, 1, 1,
                           texels + (tap[0] * b->p.taps[1] + tap[1]) * b->tiles_of_draw * 16);
}

/* Units are tiles of output channels of all partial sums of all phases. */
static void pack(const void *data, int64_t begin, int64_t count, float *texels) {
    const block_conv *b = data;
    int64_t draws = rows_of_sum(b);
    for (int64_t unit = begin; unit < begin + count; unit++) {
        int64_t sum = unit / b->p.outputs, output = unit % b->p.outputs;
        int64_t first = sum % b->partials * b->partial_tiles, at = sum / b->partials;
        const int64_t phase[2] = {at / b->p.count[1], at % b->p.count[1]};
        int64_t draw = sum * draws + output / b->tiles_of_draw;
        float *block = texels + draw * b->texels * 4 + output % b->tiles_of_draw * 16;
        for (int64_t i = 0; i < b->partial_tiles && first + i < b->p.tiles; i++)
            fill_tile(b, phase, first + i, output, block + texels_of(b, i) * 4);
        for (int64_t i = 0; b->dots && i < texels_of(b, b->partial_tiles); i += 4)
            tsr_weights_for_dots(block + i * 4, 1);
    }
}

static tsr_pass *set_weights(tsr_plan *plan, tsr_pass *pass, const block_conv *b, int draws) {
    const tsr_weight_layout layout = {.tag = "uniform blocks",
                                      .numbers = {b->p.transposed, b->partials, b->partial_tiles,
                                                  b->tiles_of_draw, b->texels, b->rows, b->dots}};
    const tsr_table table = {.pack = pack,
                             .units = count_sums(b) * b->p.outputs,
                             .width = b->texels,
                             .height = pass->draw_count * draws};
    return tsr_pass_packed_weights(plan, pass, &b->p.conv, &layout, table, b, sizeof *b);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static void set_draws(tsr_plan *plan, tsr_pass *pass, const block_conv *b, int draws) {
    int count = (int)count_sums(b);
    tsr_draw *draw_list = tsr_plan_draws(plan, pass, count);
    for (int i = 0; draw_list && i < count; i++) {
        int64_t phase = i / b->partials, first = i % b->partials * b->partial_tiles;
        int64_t left = b->p.tiles - first,
                tiles = left < b->partial_tiles ? left : b->partial_tiles;
        TSR_DRAW(plan, pass, i, i * draws, conv_uniform_block, .first_tile = TSR_INT(first),
                 .tiles = TSR_INT(tiles),
                 .pad_y = TSR_INT(tsr_phases_pad(&b->p, phase / b->p.count[1], 0)),
                 .pad_x = TSR_INT(tsr_phases_pad(&b->p, phase % b->p.count[1], 1)));
    }
}

static bool is_pointwise(const block_conv *b) {
    return b->by_taps && !b->p.transposed && tsr_is_pointwise(&b->p.conv.window);
}

/* Of the loop over taps, or over input tiles. */
static int64_t unroll_of(const tsr_plan *plan, const block_conv *b) {
    int64_t most = b->by_taps ? plan->device.fragments.unroll : 0;
    if (!is_pointwise(b))
        return b->p.taps[1] <= most ? b->p.taps[1] : 1;
    while (most > 1 && (b->partial_tiles % most || b->p.tiles % most))
        most--;
    return most > 1 ? most : 1;
}

/* Taps that a trip of the loops of glsl/tap_places.glsl reads, which keep the places of few columns
 * in registers and count rows in floats; 0: of other loops. */
static int64_t trip_of(const tsr_plan *plan, const block_conv *b, const tsr_layout *input,
                       int64_t pixels) {
    enum { MOST_PLACES = 4 };
    if (!b->by_taps || is_pointwise(b) || !plan->device.fragments.dots ||
        b->p.taps[0] > TSR_MAX_FLOAT_ROWS)
        return 0;
    int64_t dilation = b->p.conv.window.dilation[1], trip = MOST_PLACES;
    if ((pixels - 1) * b->p.stride[1] >= TSR_MAX_PLACES)
        return 0;
    if (tsr_texel_holds_integers(input->format)) /* that become floats in registers */
        return 1;
    while (trip > 1 && (b->p.taps[1] % trip ||
                        (pixels - 1) * b->p.stride[1] + (trip - 1) * dilation >= MOST_PLACES))
        trip--;
    return trip;
}

static tsr_pass *add_draws(tsr_plan *plan, block_conv *b, int input, int output) {
    const tsr_window *w = &b->p.conv.window;
    const tsr_layout *l = tsr_plan_layout(plan, output);
    int64_t pixels = l->planes / b->tiles_of_draw,
            trip = trip_of(plan, b, tsr_plan_layout(plan, input), pixels);
    b->dots = trip > 0;
    tsr_pass *pass = TSR_PASS(
        plan, output, conv_uniform_block, .X = TSR_TENSOR(input), .TAPS = TSR_INT(b->p.taps[1]),
        .ROW = TSR_INT(row_of(b, pixels)), .POINTWISE = TSR_INT(is_pointwise(b)),
        .HALF_PRODUCTS = TSR_INT(b->scale != 0), .DOTS = TSR_INT(b->dots),
        .scale = TSR_FLOAT(b->scale), .STRIDE = TSR_INT(b->p.stride[1]),
        .DILATION = TSR_INT(w->dilation[1]), .ROWS = TSR_INT(b->p.taps[0]),
        .ROW_STRIDE = TSR_INT(b->p.stride[0]), .ROW_DILATION = TSR_INT(w->dilation[0]),
        .TILES = TSR_INT(b->tiles_of_draw), .PIXELS = TSR_INT(pixels),
        .BLOCK = TSR_INT(b->rows * b->texels), .BLOCK_ROWS = TSR_INT(b->rows),
        .UNROLL = TSR_INT(unroll_of(plan, b)), .TRIP = TSR_INT(trip), .rows = TSR_INT(b->p.taps[0]),
        .taps = TSR_INT(b->p.taps[1]));
    tsr_plan_loops(plan, 1, b->by_taps ? 3 : 2,
                   (int64_t[]){b->partial_tiles, b->p.taps[0], b->p.taps[1]});
    set_draws(plan, pass, b, rows_of_sum(b));
    pass->draw_images = (int)b->p.images;
    pass->block_rows = b->rows;
    return set_weights(plan, pass, b, rows_of_sum(b));
}

/* The pass that writes `output`. */
static tsr_pass *add_passes(tsr_plan *plan, block_conv *b, int input, int output) {
    if (count_sums(b) == 1)
        return add_draws(plan, b, input, output);
    const tsr_shape shape = sums_shape(b);
    int sums = tsr_plan_tensor_inner(plan, &shape, sums_hint(plan, b));
    add_draws(plan, b, input, sums);
    return TSR_PASS(plan, output, conv_assemble, .X = TSR_TENSOR(sums),
                    .phases_y = TSR_INT(b->p.count[0]), .phases_x = TSR_INT(b->p.count[1]),
                    .partials = TSR_INT(b->partials), .tiles_of_draw = TSR_INT(b->tiles_of_draw));
}

/* ---- the algorithm --------------------------------------------------------------------------- */

/* Do uniform blocks hold the weights of a partial sum? */
static bool make(const tsr_plan *plan, const tsr_problem *p, bool by_taps, block_conv *b) {
    tsr_layout l;
    *b = (block_conv){.tiles_of_draw = 1, .by_taps = by_taps};
    bool phases = tsr_phases_make(plan, p, &l, &b->p);
    b->p.conv.zero_points = NULL; /* of floats */
    b->p.conv.scales = 0;
    if (!phases || !suits(plan, b) || !arrange(plan, b, &l))
        return false;
    join_tiles(plan, b);
    return true;
}

static bool estimate_by(const tsr_plan *plan, const tsr_problem *p, bool by_taps, tsr_estimate *e) {
    const double gpu_product = 1.1 * TSR_PRODUCT;
    enum { SLOW_BLOCKS = 2 };
    block_conv b;
    if (!make(plan, p, by_taps, &b))
        return false;
    double product = plan->device.software ? TSR_SOFTWARE_BLOCK_PRODUCT : gpu_product;
    product *= by_taps ? TSR_TAPS_COST : 1;
    product *= plan->device.fragments.texture_weights ? SLOW_BLOCKS : 1;
    double pixels = (double)(b.p.images * b.p.size[0] * b.p.size[1]) *
                    (double)(b.p.count[0] * b.p.count[1] * b.p.outputs);
    int64_t row = by_taps ? 1 : row_of(&b, b.pixels);
    *e =
        (tsr_estimate){.cost = pixels * ((double)(b.p.tiles * b.p.taps[0] * b.p.taps[1]) * product +
                                         (double)b.partials * TSR_SUM_COST),
                       .bytes = sums_bytes(plan, &b),
                       .live_texels = (int)(b.pixels * b.tiles_of_draw + row + 4),
                       .passes = count_sums(&b) > 1 ? 3 : 2,
                       .draws = (int)count_sums(&b) * rows_of_sum(&b) / b.rows};
    return true;
}

static tsr_pass *lower_by(tsr_plan *plan, const tsr_problem *p, bool by_taps) {
    block_conv b;
    int output = tsr_phases_output(plan, p);
    if (plan->status == TSR_OK && make(plan, p, by_taps, &b)) {
        b.scale = by_taps ? tsr_half_products(plan, &b.p.conv) : 0;
        return add_passes(plan, &b, p->input, output);
    }
    return tsr_problem_refuse(plan, "its weights fit no uniform blocks");
}

static bool estimate(const tsr_plan *plan, const tsr_problem *p, tsr_estimate *e) {
    return estimate_by(plan, p, false, e);
}

static tsr_pass *lower(tsr_plan *plan, const tsr_problem *p) {
    return lower_by(plan, p, false);
}

static bool estimate_taps(const tsr_plan *plan, const tsr_problem *p, tsr_estimate *e) {
    return estimate_by(plan, p, true, e);
}

static tsr_pass *lower_taps(tsr_plan *plan, const tsr_problem *p) {
    return lower_by(plan, p, true);
}

const tsr_algorithm tsr_conv_uniform_block = {
    .name = "conv_uniform_block",
    .languages = TSR_GLSL,
    .kinds = TSR_CONV | TSR_CONV_TRANSPOSE,
    .needs = TSR_NEEDS_UNIFORM_BLOCK,
    .allowed_by = TSR_ALLOW_BLOCKS,
    .estimate = estimate,
    .lower = lower,
};

const tsr_algorithm tsr_conv_uniform_block_taps = {
    .name = "conv_uniform_block_taps",
    .languages = TSR_GLSL,
    .kinds = TSR_CONV | TSR_CONV_TRANSPOSE,
    .needs = TSR_NEEDS_UNIFORM_BLOCK,
    .allowed_by = TSR_ALLOW_BLOCKS | TSR_ALLOW_TAPS,
    .estimate = estimate_taps,
    .lower = lower_taps,
};
