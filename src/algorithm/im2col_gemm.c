#include "algorithm/im2col_gemm.h"

#include "algorithm/block_weights.h"
#include "algorithm/packed_weights.h"

#include "base/divide.h"

int64_t tsr_im2col_group(int64_t count, int64_t planes) {
    int64_t power = 1;
    while (power < count && power < planes)
        power *= 2;
    return power;
}

static int64_t pixels_of(const tsr_im2col_gemm *p) {
    return p->group[0] * p->group[1];
}

static int64_t taps_of(const tsr_im2col_gemm *p) {
    return p->taps[0] * p->taps[1];
}

static int64_t count_groups(const tsr_im2col_gemm *p) {
    return p->images * p->groups[0] * p->groups[1];
}

static int64_t count_blocks(const tsr_im2col_gemm *p) {
    return count_groups(p) * p->partials * (p->shared ? 1 : p->sets);
}

static int64_t count_sums(const tsr_im2col_gemm *p) {
    return count_groups(p) * p->partials * p->sets;
}

/* Do fragments read windows from the texture, all in one draw? On phones copying it to a buffer
 * waits for all passes before: their drivers copy with the CPU. */
static bool reads_texture(const tsr_plan *plan) {
    return plan->device.fragments.registers != 0;
}

/* Split-K: each partial sum reads at most a uniform block of a window, and there are enough of them
 * to keep the device busy, except in low-memory plans. */
static bool split(const tsr_plan *plan, tsr_im2col_gemm *p) {
    int64_t most = plan->block_texels / p->window[0] / p->window[1];
    if (most == 0)
        return false;
    int64_t area = p->window[0] * p->window[1];
    int64_t busy = tsr_busy_partials(plan, count_groups(p) * p->sets * p->outputs, p->tiles);
    int64_t count = plan->low_memory || busy < 1 ? 1 : busy;
    if (count * most < p->tiles)
        count = tsr_divide_up(p->tiles, most);
    p->partial_tiles = tsr_divide_up(p->tiles, count);
    p->partials = tsr_divide_up(p->tiles, p->partial_tiles);
    p->texels = tsr_divide_up(p->partial_tiles * area, TSR_BLOCK_ALIGNED) * TSR_BLOCK_ALIGNED;
    return true;
}

/* A panel is about as wide as high. Each partial sum of each set has four columns of panels, one
 * for each input channel of a tile, with a row of panels for each tap of each tile. */
static bool lay_table(const tsr_plan *plan, tsr_im2col_gemm *p) {
    enum { PANEL_ROWS = 8 };
    p->panel[0] = tsr_min(p->outputs, PANEL_ROWS);
    p->panel[1] = tsr_divide_up(p->outputs, p->panel[0]);
    p->table[0] = p->partial_tiles * taps_of(p) * p->panel[0];
    p->table[1] = p->sets * p->partials * 4 * p->panel[1];
    p->step[0] = p->of_4 ? 4 : 1;
    p->step[1] = p->of_4 ? 1 : p->panel[1];
    return p->table[0] <= plan->limits.max_texture_size &&
           p->table[1] <= plan->limits.max_texture_size;
}

/* Rows of an image, which uniform blocks are copied from, or images: that layout is never linear.
 */
static tsr_shape blocks_shape(const tsr_plan *plan, const tsr_im2col_gemm *p) {
    bool images = reads_texture(plan);
    int64_t count = count_blocks(p);
    return (tsr_shape){4, {images ? count : 1, 4, images ? 1 : count, p->texels}};
}

static tsr_shape sums_shape(const tsr_im2col_gemm *p) {
    return (tsr_shape){4, {count_sums(p), 4, p->panel[0], p->panel[1] * pixels_of(p)}};
}

static const tsr_layout_hint one_plane = {.planes = 1};

static tsr_layout_hint sums_hint(const tsr_im2col_gemm *p) {
    return (tsr_layout_hint){.planes = (int)pixels_of(p)};
}

/* Only for small images: im2col windows and partial sums of large ones would need many times the
 * tensors' memory. The layout of partial sums must not be linear, so that each is a rectangle. */
static bool fits(const tsr_plan *plan, const tsr_im2col_gemm *p) {
    enum { MOST_TEXELS = 1 << 20 }; /* 16 MiB */
    const tsr_shape blocks = blocks_shape(plan, p), sums = sums_shape(p);
    tsr_layout l;
    return tsr_shape_count(&blocks) + tsr_shape_count(&sums) <= 4 * MOST_TEXELS &&
           tsr_layout_make(&blocks, &plan->limits, one_plane, &l) == TSR_OK &&
           tsr_layout_make(&sums, &plan->limits, sums_hint(p), &l) == TSR_OK && !l.linear &&
           l.planes == sums_hint(p).planes;
}

/* Of the sets that read one row. */
static double products_of_row(const tsr_im2col_gemm *p) {
    int64_t fragments = (p->shared ? p->sets : 1) * p->outputs;
    return (double)(fragments * p->partial_tiles * taps_of(p) * pixels_of(p)) * 16;
}

static int count_draws(const tsr_plan *plan, const tsr_im2col_gemm *p) {
    return reads_texture(plan) ? 1 : (int)tsr_divide_up(count_blocks(p), p->rows);
}

bool tsr_im2col_gemm_make(const tsr_plan *plan, tsr_im2col_gemm *p) {
    enum { MOST_PIXELS = 16 }; /* one by one */
    p->dots = reads_texture(plan) && plan->device.fragments.dots && !p->scaled;
    bool made = p->taps[1] <= TSR_MAX_TAPS &&
                (pixels_of(p) > 1 || count_groups(p) <= MOST_PIXELS) && split(plan, p);
    if (made)
        p->rows = tsr_block_rows(plan, count_blocks(p), p->texels, products_of_row(p),
                                 TSR_JOINED_PRODUCTS);
    return made && lay_table(plan, p) && fits(plan, p);
}

/* Fetching a texel of weights costs as much as its multiply-adds with five pixels; a texel of a
 * window is drawn and copied; a draw has a fixed cost. */
static double cost_of(const tsr_plan *plan, const tsr_im2col_gemm *p) {
    enum { FETCH = 5, WINDOW = 500, DRAW = 20000 };
    int64_t pixels = pixels_of(p) > FETCH ? pixels_of(p) : FETCH;
    double sums = (double)count_sums(p) * (double)p->outputs;
    double cost =
        sums / (double)p->partials * (double)(p->tiles * taps_of(p) * TSR_PRODUCT * pixels) +
        (double)count_blocks(p) * (double)p->texels * WINDOW +
        sums * (double)pixels_of(p) * TSR_SUM_COST + (double)count_draws(plan, p) * DRAW;
    return plan->device.software ? cost * TSR_SOFTWARE_BLOCK_PRODUCT / TSR_PRODUCT : cost;
}

static uint64_t bytes_of(const tsr_plan *plan, const tsr_im2col_gemm *p) {
    const tsr_shape blocks = blocks_shape(plan, p), sums = sums_shape(p);
    tsr_layout l[2];
    bool made = tsr_layout_make(&blocks, &plan->limits, one_plane, &l[0]) == TSR_OK &&
                tsr_layout_make(&sums, &plan->limits, sums_hint(p), &l[1]) == TSR_OK;
    return made ? tsr_layout_bytes(&l[0]) + tsr_layout_bytes(&l[1]) : 0;
}

/* Sums, weights and an input; places, where windows are read from a texture in loops over taps. */
static int live_texels(const tsr_plan *plan, const tsr_im2col_gemm *p) {
    enum { WEIGHTS_AND_INPUT = 5 };
    bool places = reads_texture(plan) && taps_of(p) > 1;
    return (int)pixels_of(p) + WEIGHTS_AND_INPUT + places;
}

tsr_estimate tsr_im2col_gemm_estimate(const tsr_plan *plan, const tsr_im2col_gemm *p) {
    enum { PASSES = 4 }; /* blocks, weights, sums, assembling */
    return (tsr_estimate){.cost = cost_of(plan, p),
                          .bytes = bytes_of(plan, p),
                          .live_texels = live_texels(plan, p),
                          .passes = PASSES,
                          .draws = count_draws(plan, p)};
}

int tsr_im2col_blocks(tsr_plan *plan, const tsr_im2col_gemm *p) {
    const tsr_shape shape = blocks_shape(plan, p);
    return tsr_plan_tensor_make(plan, &shape, one_plane);
}

/* ---- weights --------------------------------------------------------------------------------- */

float *tsr_im2col_texel(const tsr_im2col_gemm *p, int64_t output, float *panels) {
    int64_t row = output / p->panel[1], column = output % p->panel[1] * p->step[0];
    return panels + (row * p->table[1] + column) * 4;
}

static void fill_tile(const tsr_im2col_gemm *p, int64_t set, int64_t tile, float *panels) {
    int64_t tap[2], height = p->panel[0] * p->table[1] * 4;
    for (tap[0] = 0; tap[0] < p->taps[0]; tap[0]++)
        for (tap[1] = 0; tap[1] < p->taps[1]; tap[1]++, panels += height) {
            p->fill(p, set, tile, tap, panels);
            for (int64_t output = 0; p->dots && output < p->outputs; output++)
                tsr_weights_for_dots(tsr_im2col_texel(p, output, panels), p->step[1]);
        }
}

/* Units are input tiles. All sets of a tile together: they read the same weights. */
static void pack(const void *data, int64_t first, int64_t count, float *texels) {
    const tsr_im2col_gemm *p = data;
    int64_t height = taps_of(p) * p->panel[0] * p->table[1] * 4;
    for (int64_t tile = first; tile < first + count; tile++)
        for (int64_t set = 0; set < p->sets; set++) {
            int64_t column = set * p->partials + tile / p->partial_tiles;
            fill_tile(p, set, tile,
                      texels + column * p->panel[1] * 16 + tile % p->partial_tiles * height);
        }
}

static void set_weights(tsr_plan *plan, tsr_pass *pass, const tsr_im2col_gemm *p,
                        const tsr_convolution *conv, size_t size) {
    const tsr_weight_layout layout = {
        .tag = p->layout,
        .numbers = {p->sets, p->taps[0], p->taps[1], p->phases[0], p->phases[1], p->partials,
                    p->partial_tiles, p->tiles, p->panel[0], p->panel[1], p->dots, p->of_4}};
    const tsr_table table = {.pack = pack,
                             .units = p->tiles,
                             .width = (int)p->table[1],
                             .height = (int)p->table[0],
                             .format = tsr_weight_format(plan, conv)};
    tsr_pass_packed_weights(plan, pass, conv, &layout, table, p, size); /* the pass is complete */
}

/* ---- draws ----------------------------------------------------------------------------------- */

static void set_draws(tsr_plan *plan, tsr_pass *pass, const tsr_im2col_gemm *p) {
    const int count = count_draws(plan, p), images = p->rows * (p->shared ? (int)p->sets : 1);
    tsr_draw *draws = tsr_plan_draws(plan, pass, count);
    for (int i = 0; draws && i < count; i++)
        TSR_DRAW(plan, pass, i, i * p->rows, conv_im2col, .image = TSR_INT(i * images));
    pass->draw_images = images;
    pass->block_rows = p->rows;
    pass->blocks_from_source = true;
}

#define TSR_IM2COL_FIELDS(p, phase_pad)                                                            \
    .window_texels = TSR_INT((p)->window[0] * (p)->window[1]),                                     \
    .panel_rows = TSR_INT((p)->panel[0]), .panel_columns = TSR_INT((p)->panel[1]),                 \
    .sets = TSR_INT((p)->sets), .partials = TSR_INT((p)->partials),                                \
    .partial_tiles = TSR_INT((p)->partial_tiles), .phases_y = TSR_INT((p)->phases[0]),             \
    .phases_x = TSR_INT((p)->phases[1]), .pad_y = TSR_INT((phase_pad) ? (phase_pad)[0] : 0),       \
    .pad_x = TSR_INT((phase_pad) ? (phase_pad)[1] : 0)

static tsr_pass *add_blocks_pass(tsr_plan *plan, const tsr_im2col_gemm *p,
                                 const tsr_convolution *conv, const int64_t *phase_pad, int blocks,
                                 int output) {
    tsr_pass *pass = TSR_PASS(
        plan, output, conv_im2col, .X = TSR_TENSOR(blocks), TSR_SCALE_FIELDS(conv),
        .TAPS = TSR_INT(p->taps[1]), .ROWS = TSR_INT(p->taps[0]), .STRIDE = TSR_INT(p->stride[1]),
        .DILATION = TSR_INT(p->dilation[1]), .ROW_STRIDE = TSR_INT(p->stride[0]),
        .ROW_DILATION = TSR_INT(p->dilation[0]), .GROUP = TSR_INT(p->group[1]),
        .WINDOW = TSR_INT(p->window[1]), .SHARED = TSR_INT(p->shared),
        .PHASES = TSR_INT(phase_pad != NULL), .BLOCK = TSR_INT(p->rows * p->texels),
        .BLOCK_ROWS = TSR_INT(p->rows), TSR_IM2COL_FIELDS(p, phase_pad));
    tsr_plan_loops(plan, 1, 2, (int64_t[]){p->partial_tiles, p->taps[0]});
    set_draws(plan, pass, p);
    return pass;
}

static tsr_pass *add_texture_pass(tsr_plan *plan, const tsr_im2col_gemm *p,
                                  const tsr_convolution *conv, const int64_t *phase_pad, int blocks,
                                  int output) {
    tsr_pass *pass =
        TSR_PASS(plan, output, conv_im2col_texture, .X = TSR_TENSOR(blocks), TSR_SCALE_FIELDS(conv),
                 .HALF_PRODUCTS = TSR_INT(p->scale != 0), .scale = TSR_FLOAT(p->scale),
                 .DOTS = TSR_INT(p->dots), .ROWS = TSR_INT(p->taps[0]),
                 .TAPS = TSR_INT(p->taps[1] == 1), .STRIDE = TSR_INT(p->stride[1]),
                 .DILATION = TSR_INT(p->dilation[1]), .ROW_STRIDE = TSR_INT(p->stride[0]),
                 .ROW_DILATION = TSR_INT(p->dilation[0]), .GROUP = TSR_INT(p->group[1]),
                 .WINDOW = TSR_INT(p->window[1]), .SHARED = TSR_INT(p->shared),
                 .PHASES = TSR_INT(phase_pad != NULL), .taps = TSR_INT(p->taps[1]),
                 .input_tiles = TSR_INT(p->tiles), TSR_IM2COL_FIELDS(p, phase_pad));
    tsr_plan_loops(plan, 1, 3, (int64_t[]){p->partial_tiles, p->taps[0], p->taps[1]});
    return pass;
}

int tsr_im2col_gemm_draws(tsr_plan *plan, const tsr_im2col_gemm *p, const tsr_convolution *conv,
                          const int64_t *phase_pad, size_t size, int blocks) {
    const tsr_shape shape = sums_shape(p);
    int output = tsr_plan_tensor_inner(plan, &shape, sums_hint(p));
    tsr_pass *pass = reads_texture(plan)
                         ? add_texture_pass(plan, p, conv, phase_pad, blocks, output)
                         : add_blocks_pass(plan, p, conv, phase_pad, blocks, output);
    set_weights(plan, pass, p, conv, size);
    return output;
}
