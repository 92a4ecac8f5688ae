#include "gles/blocks.h"

#include "base/divide.h"
#include "gles/kernels.h"

/* Of an output that draws write: weights from a block cost nothing however few pixels they serve.
 */
enum { DIRECT_PLANES = 4 };

/* What a draw computes is a convolution: the node's own, or that of one phase of its output if it
 * is a transposed one. A part is a slice of the sum of one phase. */
typedef struct block_conv {
    tsr_convolution conv;
    bool transposed;
    int64_t stride[2];      /* of the draw's convolution */
    int64_t phases[2];      /* of rows, of columns; 1 for a convolution */
    int64_t taps[2];        /* rows, columns */
    int64_t tiles, outputs; /* of input and output channels */
    int64_t pixels;         /* of a fragment */
    int64_t tiles_of_draw;  /* of output channels: 1 or 2 */
    int64_t slices, tiles_of_slice;
    int texels; /* of a block */
} block_conv;

static int64_t texels_of(const block_conv *b, int64_t tiles) {
    return tiles * b->taps[0] * b->taps[1] * b->tiles_of_draw * 4;
}

static int64_t count_parts(const block_conv *b) {
    return b->phases[0] * b->phases[1] * b->slices;
}

/* What all parts together are written to, one behind the other. */
static tsr_shape parts_shape(const block_conv *b, const tsr_layout *output) {
    const tsr_shape shape = {4,
                             {count_parts(b) * output->n,
                              tsr_divide_up(b->outputs, b->tiles_of_draw) * 4,
                              tsr_divide_up(output->h, b->phases[0]),
                              tsr_divide_up(output->w, b->phases[1]) * b->tiles_of_draw}};
    return shape;
}

static tsr_layout_wish parts_wish(const block_conv *b) {
    return (tsr_layout_wish){.planes = (int)(b->pixels * b->tiles_of_draw)};
}

/* Can it be done so, and is an image large enough that a draw for each block pays? Binding the next
 * block takes an H200 two microseconds, in which it computes some 60 pixels from a full one. The
 * rows of a matrix product are images of one pixel. */
static bool suits(const tsr_plan *plan, const block_conv *b, const tsr_layout *output) {
    enum { ENOUGH_PIXELS = 64 };
    const tsr_window *w = &b->conv.window;
    bool phases = !b->transposed || (w->dilation[0] == 1 && w->dilation[1] == 1);
    int64_t row = (TSR_MAX_PLANES - 1) * b->stride[1] + (b->taps[1] - 1) * w->dilation[1] + 1;
    return w->group == 1 && phases && b->taps[1] <= TSR_MAX_TAPS && row <= TSR_MAX_ROW &&
           texels_of(b, 1) <= plan->block_texels &&
           (int64_t)output->h * output->w / b->phases[0] / b->phases[1] >= ENOUGH_PIXELS;
}

/* As few slices as blocks allow. Drivers that stop long loops allow more rounds than blocks do. */
static void cut(const tsr_plan *plan, block_conv *b) {
    b->slices = tsr_divide_up(b->tiles, plan->block_texels / texels_of(b, 1));
    b->tiles_of_slice = tsr_divide_up(b->tiles, b->slices);
    for (b->texels = TSR_BLOCK_ALIGNED; b->texels < texels_of(b, b->tiles_of_slice);)
        b->texels *= 2;
}

/* Of a fragment: 4 pixels, or fewer where a draw then had too few fragments for a GPU's warp, of
 * two tiles, so that what is read of the input serves both. */
static void share_planes(const tsr_plan *plan, block_conv *b, const tsr_layout *output) {
    enum { PIXELS = 4, WARP = 32, TILES = 2 };
    int64_t h = tsr_divide_up(output->h, b->phases[0]), w = tsr_divide_up(output->w, b->phases[1]);
    b->tiles_of_draw = TILES;
    if (b->outputs == 1 || plan->limits.max_planes == 1 || texels_of(b, 1) > plan->block_texels)
        b->tiles_of_draw = 1;
    int64_t most = plan->limits.max_planes / b->tiles_of_draw;
    b->pixels = most < PIXELS ? most : PIXELS;
    while (b->pixels > 1 && tsr_divide_up(w, b->pixels) * h < WARP)
        b->pixels /= 2;
}

/* One part alone goes straight to the output; else parts do, which another pass puts together.
 * False if they would wrap in a texture, where no rectangle holds a tile. */
static bool arrange(const tsr_plan *plan, block_conv *b, const tsr_layout *output) {
    tsr_layout l = *output;
    cut(plan, b);
    if (count_parts(b) == 1)
        return !l.linear;
    share_planes(plan, b, output);
    cut(plan, b);
    const tsr_shape shape = parts_shape(b, output);
    return tsr_layout_make(&shape, &plan->limits, parts_wish(b), &l) == TSR_OK && !l.linear &&
           l.planes == b->pixels * b->tiles_of_draw;
}

static bool describe(const tsr_plan *plan, const tsr_convolution *conv, bool transposed,
                     const tsr_shape *output, block_conv *b) {
    const tsr_window *w = &conv->window;
    tsr_layout l;
    *b = (block_conv){.conv = *conv,
                      .transposed = transposed,
                      .tiles = tsr_divide_up(conv->group_inputs, 4),
                      .outputs = tsr_divide_up(conv->group_outputs, 4),
                      .tiles_of_draw = 1};
    for (int i = 0; i < 2; i++) {
        b->stride[i] = transposed ? 1 : w->stride[i];
        b->phases[i] = transposed ? w->stride[i] : 1;
        b->taps[i] = tsr_divide_up(w->kernel[i], b->phases[i]);
    }
    return plan->status == TSR_OK &&
           tsr_layout_make(output, &plan->limits, (tsr_layout_wish){.planes = DIRECT_PLANES}, &l) ==
               TSR_OK &&
           suits(plan, b, &l) && arrange(plan, b, &l);
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The kernel's element that a tap meets; false if the phase lacks it. Phases begin with the
 * output's first pixel, and a convolution turns a transposed one's taps round. */
static bool find_tap(const block_conv *b, const int64_t phase[2], int64_t ky, int64_t kx,
                     size_t *element) {
    const tsr_window *w = &b->conv.window;
    const int64_t index[2] = {b->taps[0] - 1 - ky, b->taps[1] - 1 - kx};
    if (b->transposed)
        return tsr_phase_tap(w, phase, index, element);
    *element = (size_t)(ky * w->kernel[1] + kx);
    return true;
}

/* Four input by four output channels of one tap. */
static void fill_tap(const block_conv *b, int64_t tile, int64_t output, size_t element,
                     float *texels) {
    const tsr_convolution *c = &b->conv;
    for (int i = 0; i < 16; i++) {
        int in = (int)tile * 4 + i / 4, out = (int)output * 4 + i % 4;
        if (in < c->group_inputs && out < c->group_outputs)
            texels[i] = (float)(c->weights[(size_t)out * c->stride_output +
                                           (size_t)in * c->stride_input + element] *
                                tsr_weight_scale(c, out));
    }
}

static void fill_tile(const block_conv *b, const int64_t phase[2], int64_t tile, int64_t output,
                      float *texels) {
    size_t element;
    for (int64_t ky = 0; ky < b->taps[0]; ky++)
        for (int64_t kx = 0; kx < b->taps[1]; kx++)
            if (find_tap(b, phase, ky, kx, &element))
                fill_tap(b, tile, output, element,
                         texels + (ky * b->taps[1] + kx) * b->tiles_of_draw * 16);
}

static void fill_blocks(const void *data, float *texels) {
    const block_conv *b = data;
    int64_t draws = tsr_divide_up(b->outputs, b->tiles_of_draw);
    for (int64_t part = 0; part < count_parts(b); part++) {
        int64_t first = part % b->slices * b->tiles_of_slice, at = part / b->slices;
        const int64_t phase[2] = {at / b->phases[1], at % b->phases[1]};
        for (int64_t output = 0; output < b->outputs; output++) {
            int64_t draw = part * draws + output / b->tiles_of_draw;
            float *block = texels + draw * b->texels * 4 + output % b->tiles_of_draw * 16;
            for (int64_t i = 0; i < b->tiles_of_slice && first + i < b->tiles; i++)
                fill_tile(b, phase, first + i, output, block + texels_of(b, i) * 4);
        }
    }
}

/* ---- passes ---------------------------------------------------------------------------------- */

static int pad_of(const block_conv *b, int64_t phase, int axis) {
    const tsr_window *w = &b->conv.window;
    int64_t pad = w->pad_begin[axis];
    return (int)(b->transposed ? b->taps[axis] - 1 - (phase + pad) / w->stride[axis] : pad);
}

static void set_parts(tsr_plan *plan, tsr_pass *pass, const block_conv *b) {
    int count = (int)count_parts(b);
    tsr_part *parts = tsr_plan_parts(plan, pass, count);
    for (int i = 0; parts && i < count; i++) {
        int64_t phase = i / b->slices, first = i % b->slices * b->tiles_of_slice;
        int64_t left = b->tiles - first,
                tiles = left < b->tiles_of_slice ? left : b->tiles_of_slice;
        parts[i] = (tsr_part){{(int)first, (int)tiles, pad_of(b, phase / b->phases[1], 0),
                               pad_of(b, phase % b->phases[1], 1)}};
    }
}

static tsr_pass *add_draws(tsr_plan *plan, const block_conv *b, int input, int output) {
    const tsr_window *w = &b->conv.window;
    const tsr_layout *l = tsr_plan_layout(plan, output);
    int64_t pixels = l->planes / b->tiles_of_draw;
    tsr_pass *pass = tsr_plan_pass(plan, "conv_block", output);
    tsr_pass_source(plan, pass, input);
    tsr_pass_ints(pass, "window", (int)b->taps[0], (int)b->stride[0], (int)w->dilation[0], 0);
    tsr_pass_define(pass, "STRIDE", (int)b->stride[1]);
    tsr_pass_define(pass, "DILATION", (int)w->dilation[1]);
    tsr_pass_repeat(pass, "TILES", (int)b->tiles_of_draw, "EACH_TILE");
    tsr_pass_repeat(pass, "PIXELS", (int)pixels, "EACH_PIXEL");
    tsr_pass_define(pass, "BLOCK", b->texels);
    tsr_gles_set_row(pass, (int)b->taps[1],
                     (int)((pixels - 1) * b->stride[1] + (b->taps[1] - 1) * w->dilation[1] + 1));
    tsr_plan_loops(plan, 1, 2, (int64_t[]){b->tiles_of_slice, b->taps[0]});
    set_parts(plan, pass, b);
    pass->table_w = b->texels;
    pass->table_h = pass->part_count * l->tiles;
    tsr_pass_table(plan, pass, fill_blocks, b, sizeof *b);
    return pass;
}

/* The pass that writes `output`. */
static tsr_pass *add_passes(tsr_plan *plan, const block_conv *b, int input, int output) {
    if (count_parts(b) == 1) {
        tsr_plan_narrow(plan, output, DIRECT_PLANES);
        return add_draws(plan, b, input, output);
    }
    const tsr_shape shape = parts_shape(b, tsr_plan_layout(plan, output));
    int parts = tsr_plan_tensor_make(plan, &shape, parts_wish(b));
    add_draws(plan, b, input, parts);
    tsr_pass *pass = tsr_plan_pass(plan, "parts", output);
    tsr_pass_ints(pass, "parts", (int)b->phases[0], (int)b->phases[1], (int)b->slices,
                  (int)b->tiles_of_draw);
    tsr_pass_source(plan, pass, parts);
    return pass;
}

tsr_pass *tsr_block_convolution(tsr_plan *plan, const tsr_convolution *conv, int input,
                                int output) {
    const tsr_layout *l = tsr_plan_layout(plan, output);
    const tsr_shape shape = {4, {l->n, l->c, l->h, l->w}};
    block_conv b;
    if (!describe(plan, conv, false, &shape, &b))
        return tsr_gles_convolution(plan, conv, input, output);
    return add_passes(plan, &b, input, output);
}

tsr_pass *tsr_block_transposed(tsr_plan *plan, const tsr_convolution *conv, int input,
                               const tsr_node *node) {
    block_conv b;
    if (!describe(plan, conv, true, &plan->graph->values[node->outputs[0]].shape, &b))
        return tsr_gles_transposed(plan, conv, input, node);
    int output = tsr_plan_output(plan, node, 0);
    tsr_plan_narrow(plan, output, DIRECT_PLANES); /* as convolutions' that it may be joined with */
    return add_passes(plan, &b, input, output);
}
