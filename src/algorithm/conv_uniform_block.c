/* Direct convolutions whose weights are in uniform blocks. */
#include "algorithm/conv_im2col.h"
#include "algorithm/conv_winograd.h"

#include "base/divide.h"

/* Weights in blocks: a part is a slice of the sum of one phase. */
typedef struct block_conv {
    tsr_phases p;
    int64_t pixels;        /* of a fragment */
    int64_t tiles_of_draw; /* of output channels: 1 or 2 */
    int64_t partials, partial_tiles;
    int texels; /* of a block */
} block_conv;

static int64_t texels_of(const block_conv *b, int64_t tiles) {
    return tiles * b->p.taps[0] * b->p.taps[1] * b->tiles_of_draw * 4;
}

static int64_t count_parts(const block_conv *b) {
    return b->p.count[0] * b->p.count[1] * b->partials;
}

/* What all parts together are written to, one behind the other. */
static tsr_shape parts_shape(const block_conv *b) {
    const tsr_shape shape = {4,
                             {count_parts(b) * b->p.images,
                              tsr_divide_up(b->p.outputs, b->tiles_of_draw) * 4, b->p.size[0],
                              b->p.size[1] * b->tiles_of_draw}};
    return shape;
}

/* Sums that are complete are stored as the output is. */
static tsr_layout_hint parts_hint(const tsr_plan *plan, const block_conv *b) {
    return (tsr_layout_hint){.planes = (int)(b->pixels * b->tiles_of_draw),
                             .half = plan->half && b->partials == 1};
}

/* Can it be done so, and is an image large enough that a draw for each block pays? Binding the next
 * block takes an H200 two microseconds, in which it computes some 60 pixels from a full one. The
 * rows of a matrix product are images of one pixel. */
static bool suits(const tsr_plan *plan, const block_conv *b) {
    enum { ENOUGH_PIXELS = 64 };
    int64_t row = (TSR_MAX_PLANES - 1) * b->p.stride[1] +
                  (b->p.taps[1] - 1) * b->p.conv.window.dilation[1] + 1;
    return b->p.taps[1] <= TSR_MAX_TAPS && row <= TSR_MAX_ROW &&
           texels_of(b, 1) <= plan->block_texels && b->p.size[0] * b->p.size[1] >= ENOUGH_PIXELS;
}

/* As few partials as blocks allow. Drivers that stop long loops allow more rounds than blocks do.
 */
static void cut(const tsr_plan *plan, block_conv *b) {
    b->partials = tsr_divide_up(b->p.tiles, plan->block_texels / texels_of(b, 1));
    b->partial_tiles = tsr_divide_up(b->p.tiles, b->partials);
    for (b->texels = TSR_BLOCK_ALIGNED; b->texels < texels_of(b, b->partial_tiles);)
        b->texels *= 2;
}

/* Of a fragment: 4 pixels, or fewer where a draw then had too few fragments for a GPU's warp, of
 * two tiles, so that what is read of the input serves both. */
static void share_planes(const tsr_plan *plan, block_conv *b) {
    enum { PIXELS = 4, WARP = 32, TILES = 2 };
    b->tiles_of_draw = TILES;
    if (b->p.outputs == 1 || plan->limits.max_planes == 1 || texels_of(b, 1) > plan->block_texels)
        b->tiles_of_draw = 1;
    int64_t most = plan->limits.max_planes / b->tiles_of_draw;
    b->pixels = most < PIXELS ? most : PIXELS;
    while (b->pixels > 1 && tsr_divide_up(b->p.size[1], b->pixels) * b->p.size[0] < WARP)
        b->pixels /= 2;
}

/* One part alone goes straight to the output; else parts do, which another pass puts together.
 * False if they would wrap in a texture, where no rectangle holds a tile, or are too many for that
 * pass's loop. */
static bool arrange(const tsr_plan *plan, block_conv *b, const tsr_layout *output) {
    tsr_layout l = *output;
    cut(plan, b);
    if (count_parts(b) == 1)
        return !l.linear;
    share_planes(plan, b);
    cut(plan, b);
    const tsr_shape shape = parts_shape(b);
    return tsr_layout_make(&shape, &plan->limits, parts_hint(plan, b), &l) == TSR_OK && !l.linear &&
           l.planes == b->pixels * b->tiles_of_draw &&
           (!plan->max_loop_iterations || b->partials < plan->max_loop_iterations);
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

static void fill_blocks(const void *data, float *texels) {
    const block_conv *b = data;
    int64_t draws = tsr_divide_up(b->p.outputs, b->tiles_of_draw);
    for (int64_t part = 0; part < count_parts(b); part++) {
        int64_t first = part % b->partials * b->partial_tiles, at = part / b->partials;
        const int64_t phase[2] = {at / b->p.count[1], at % b->p.count[1]};
        for (int64_t output = 0; output < b->p.outputs; output++) {
            int64_t draw = part * draws + output / b->tiles_of_draw;
            float *block = texels + draw * b->texels * 4 + output % b->tiles_of_draw * 16;
            for (int64_t i = 0; i < b->partial_tiles && first + i < b->p.tiles; i++)
                fill_tile(b, phase, first + i, output, block + texels_of(b, i) * 4);
        }
    }
}

/* ---- passes ---------------------------------------------------------------------------------- */

static void set_parts(tsr_plan *plan, tsr_pass *pass, const block_conv *b, int draws) {
    int count = (int)count_parts(b);
    tsr_part *parts = tsr_plan_parts(plan, pass, count);
    for (int i = 0; parts && i < count; i++) {
        int64_t phase = i / b->partials, first = i % b->partials * b->partial_tiles;
        int64_t left = b->p.tiles - first,
                tiles = left < b->partial_tiles ? left : b->partial_tiles;
        TSR_DRAW(plan, pass, i, i * draws, conv_uniform_block, .first_tile = TSR_INT(first),
                 .tiles = TSR_INT(tiles),
                 .pad_y = TSR_INT(tsr_phases_pad(&b->p, phase / b->p.count[1], 0)),
                 .pad_x = TSR_INT(tsr_phases_pad(&b->p, phase % b->p.count[1], 1)));
    }
}

static tsr_pass *add_draws(tsr_plan *plan, const block_conv *b, int input, int output) {
    const tsr_window *w = &b->p.conv.window;
    const tsr_layout *l = tsr_plan_layout(plan, output);
    int64_t pixels = l->planes / b->tiles_of_draw, draws = l->tiles;
    int64_t row = (pixels - 1) * b->p.stride[1] + (b->p.taps[1] - 1) * w->dilation[1] + 1;
    tsr_pass *pass = TSR_PASS(
        plan, output, conv_uniform_block, .X = TSR_TENSOR(input), .TAPS = TSR_INT(b->p.taps[1]),
        .ROW = TSR_INT(row), .STRIDE = TSR_INT(b->p.stride[1]), .DILATION = TSR_INT(w->dilation[1]),
        .ROWS = TSR_INT(b->p.taps[0]), .ROW_STRIDE = TSR_INT(b->p.stride[0]),
        .ROW_DILATION = TSR_INT(w->dilation[0]), .TILES = TSR_INT(b->tiles_of_draw),
        .PIXELS = TSR_INT(pixels), .BLOCK = TSR_INT(b->texels));
    tsr_plan_loops(plan, 1, 2, (int64_t[]){b->partial_tiles, b->p.taps[0]});
    set_parts(plan, pass, b, (int)draws);
    pass->table_w = b->texels;
    pass->table_h = pass->part_count * (int)draws;
    tsr_pass_table(plan, pass, fill_blocks, b, sizeof *b);
    return pass;
}

/* The pass that writes `output`. */
static tsr_pass *add_passes(tsr_plan *plan, const block_conv *b, int input, int output) {
    if (count_parts(b) == 1)
        return add_draws(plan, b, input, output);
    const tsr_shape shape = parts_shape(b);
    int parts = tsr_plan_tensor_inner(plan, &shape, parts_hint(plan, b));
    add_draws(plan, b, input, parts);
    return TSR_PASS(plan, output, conv_assemble, .X = TSR_TENSOR(parts),
                    .phases_y = TSR_INT(b->p.count[0]), .phases_x = TSR_INT(b->p.count[1]),
                    .partials = TSR_INT(b->partials), .tiles_of_draw = TSR_INT(b->tiles_of_draw));
}

/* ---- the choice ------------------------------------------------------------------------------ */

typedef struct form {
    tsr_phases phases;
    enum { OF_NOTHING, OF_WEIGHTS, OF_IM2COL, OF_WINOGRAD } blocks;
    block_conv weights;
    tsr_conv_im2col im2col;
    tsr_conv_winograd winograd;
} form;

/* As tsr_im2col_gemm_cost. */
static double cost_of_texture(const tsr_phases *p) {
    enum { PRODUCT = 8 * 16 };
    return (double)(p->images * p->size[0] * p->size[1]) *
           (double)(p->count[0] * p->count[1] * p->outputs) *
           (double)(p->tiles * p->taps[0] * p->taps[1] * PRODUCT);
}

static double cost_of_weights(const block_conv *b) {
    const double product = 1.1 * 16;
    double pixels = (double)(b->p.images * b->p.size[0] * b->p.size[1]) *
                    (double)(b->p.count[0] * b->p.count[1] * b->p.outputs);
    return pixels * ((double)(b->p.tiles * b->p.taps[0] * b->p.taps[1]) * product +
                     (double)b->partials * TSR_PART_COST);
}

static void prefer(form *f, int blocks, double cost, double *least) {
    if (cost < *least) {
        *least = cost;
        f->blocks = blocks;
    }
}

/* The form that costs least; false if none is possible, or weights in a texture cost less. */
static bool choose(const tsr_plan *plan, const tsr_convolution *conv, bool transposed,
                   const tsr_shape *output, form *f) {
    const tsr_layout_hint hint = {.planes = plan->kernels->planes};
    tsr_layout l;
    *f = (form){.blocks = OF_NOTHING};
    if (plan->status != TSR_OK || tsr_layout_make(output, &plan->limits, hint, &l) != TSR_OK ||
        !tsr_phases_make(conv, transposed, &l, &f->phases))
        return false;
    double least = cost_of_texture(&f->phases);
    f->weights = (block_conv){.p = f->phases, .tiles_of_draw = 1};
    if (suits(plan, &f->weights) && arrange(plan, &f->weights, &l))
        prefer(f, OF_WEIGHTS, cost_of_weights(&f->weights), &least);
    if (tsr_conv_im2col_make(plan, &f->phases, &f->im2col))
        prefer(f, OF_IM2COL, tsr_im2col_gemm_cost(&f->im2col.gemm), &least);
    if (tsr_conv_winograd_make(plan, &f->phases, &f->winograd))
        prefer(f, OF_WINOGRAD, tsr_im2col_gemm_cost(&f->winograd.gemm), &least);
    return f->blocks != OF_NOTHING;
}

/* All outputs have as many planes, so that they may be joined. */
static tsr_pass *add_form(tsr_plan *plan, const form *f, int input, int output) {
    tsr_plan_narrow(plan, output, plan->kernels->planes);
    return f->blocks == OF_IM2COL     ? tsr_conv_im2col_passes(plan, &f->im2col, input, output)
           : f->blocks == OF_WINOGRAD ? tsr_conv_winograd_passes(plan, &f->winograd, input, output)
                                      : add_passes(plan, &f->weights, input, output);
}

tsr_pass *tsr_conv_blocks(tsr_plan *plan, const tsr_convolution *conv, int input, int output) {
    const tsr_layout *l = tsr_plan_layout(plan, output);
    const tsr_shape shape = {4, {l->n, l->c, l->h, l->w}};
    form f;
    if (!choose(plan, conv, false, &shape, &f))
        return tsr_conv_direct(plan, conv, input, output);
    return add_form(plan, &f, input, output);
}

tsr_pass *tsr_conv_transpose_blocks(tsr_plan *plan, const tsr_convolution *conv, int input,
                                    const tsr_node *node) {
    form f;
    if (!choose(plan, conv, true, &plan->graph->values[node->outputs[0]].shape, &f))
        return tsr_conv_transpose_direct(plan, conv, input, node);
    return add_form(plan, &f, input, tsr_plan_output(plan, node, 0));
}
