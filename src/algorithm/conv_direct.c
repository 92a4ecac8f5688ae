/* Direct convolutions in fragments: the pixels of a fragment share a row of input and each texel of
 * weights. */
#include "algorithm/block_weights.h"

#include "base/divide.h"

enum { MAX_PIXEL_STRIDE = 8 };

/* Split-K over input tiles: enough partial sums to keep the device busy, each within
 * max_loop_iterations. */
typedef struct split {
    int64_t count, tiles;
} split;

/* busy: as many partial sums as keep the device busy. most: tiles of one whose loops
 * (tsr_plan_loops) max_loop_iterations does not stop. */
static split choose_split(const tsr_plan *plan, const tsr_layout *l, bool busy, int64_t tiles,
                          int64_t most) {
    int64_t count = busy ? tsr_busy_partials(plan, (int64_t)l->texture_w * l->texture_h, tiles) : 0;
    if (plan->max_loop_iterations)
        count = tsr_max(count, tsr_divide_up(tiles, tsr_max(most, 1)));
    count = count < 1 ? 1 : count > tiles ? tiles : count;
    split s = {.tiles = tsr_divide_up(tiles, count)};
    s.count = tsr_divide_up(tiles, s.tiles);
    return s;
}

/* How a fragment reads its input. */
typedef enum reading { BY_ROWS, BY_TAPS } reading;

static split split_conv(const tsr_plan *plan, const tsr_convolution *conv, const tsr_layout *l,
                        reading by, bool busy) {
    const int64_t *kernel = conv->window.kernel, loops = plan->max_loop_iterations;
    int64_t chunks = tsr_divide_up(kernel[1], TSR_MAX_TAPS),
            most = by == BY_TAPS ? (loops - 3) / (kernel[0] * (kernel[1] + 2) + 3)
                                 : ((loops - 2) / chunks - 2) / kernel[0];
    return choose_split(plan, l, busy, tsr_tiles_per_output(conv), most);
}

static split split_transposed(const tsr_plan *plan, const tsr_convolution *conv,
                              const tsr_layout *l, reading by, bool busy) {
    const tsr_window *w = &conv->window;
    const int64_t loops = plan->max_loop_iterations;
    int64_t rows = tsr_divide_up(w->kernel[0], w->stride[0]),
            taps = tsr_divide_up(w->kernel[1], w->stride[1]),
            most = by == BY_TAPS ? (loops - 3) / (rows * (taps + 2) + 3) : (loops - 1) / rows;
    return choose_split(plan, l, busy, tsr_tiles_per_output(conv), most);
}

static tsr_args_split split_args(const tsr_plan *plan, const split *s, int output) {
    return (tsr_args_split){TSR_INT(s->tiles), TSR_INT(tsr_plan_layout(plan, output)->n)};
}

/* Splits a kernel's row into chunks of taps, and the columns that a fragment then reads at once; 0:
 * it reads tap by tap. */
typedef struct row_form {
    int chunks, taps;
    int64_t row;
} row_form;

static row_form choose_row(const tsr_window *w, const tsr_layout *output, reading by) {
    if (by == BY_TAPS)
        return (row_form){.chunks = (int)w->kernel[1], .taps = 1};
    row_form f = {.chunks = (int)tsr_divide_up(w->kernel[1], TSR_MAX_TAPS)};
    f.taps = (int)tsr_divide_up(w->kernel[1], f.chunks);
    f.row = (output->planes - 1) * w->stride[1] + (f.taps - 1) * w->dilation[1] + 1;
    return f;
}

/* By rows: chunks, in each one loop over the rows of all tiles. By taps: tiles, rows, taps. */
static void count_loops(tsr_plan *plan, const row_form *f, int64_t tiles, int64_t rows) {
    if (f->row)
        tsr_plan_loops(plan, 1, 2, (int64_t[]){f->chunks, tiles * rows});
    else
        tsr_plan_loops(plan, 1, 3, (int64_t[]){tiles, rows, f->chunks});
}

/* ---- depthwise ------------------------------------------------------------------------------- */

static double product_cost(const tsr_plan *plan, const tsr_problem *p) {
    if (plan->device.software || plan->device.fragments.texture_weights)
        return TSR_PRODUCT;
    return tsr_has_computed_costs(plan, &p->conv) ? TSR_COMPUTED_TEXTURE_PRODUCT
                                                  : TSR_GPU_TEXTURE_PRODUCT;
}

static double reading_cost(reading by) {
    return by == BY_TAPS ? TSR_TAPS_COST : 1;
}

/* Live texels of a fragment: sums, a row of input with half as many of their places, four texels of
 * weights. */
static int live_texels(const tsr_layout *l, int64_t row) {
    enum { WEIGHTS = 4 };
    return l->planes + (row ? (int)(row + row / 2) + WEIGHTS : TSR_TAP_TEXELS);
}

static bool estimate_depthwise_by(const tsr_plan *plan, const tsr_problem *p, reading by,
                                  tsr_estimate *e) {
    tsr_layout l;
    if (!tsr_is_depthwise(&p->conv) || !tsr_problem_layout(plan, p, (tsr_layout_hint){0}, &l))
        return false;
    const row_form f = choose_row(&p->conv.window, &l, by);
    double cost = tsr_problem_products(plan, p) * product_cost(plan, p) / 4;
    *e = (tsr_estimate){
        .cost = cost * reading_cost(by), .live_texels = live_texels(&l, f.row), .passes = 2};
    return f.row <= TSR_MAX_ROW;
}

/* Texels that become 32 bits where they are multiplied. */
static bool reads_integers(const tsr_plan *plan, const tsr_problem *p) {
    return p->conv.integers || tsr_texel_holds_integers(tsr_plan_layout(plan, p->input)->format);
}

/* Weights of depthwise taps are few: a fragment reads several at once, if the columns of input that
 * they need are few, too. Texels of 32 bits take twice the registers; those of integers may, too.
 * Where columns' places are kept (PLACES) they are halves of registers. No chunk has taps beyond
 * the kernel's. */
static void join_taps(const tsr_plan *plan, const tsr_problem *p, int pixels, row_form *f) {
    enum { MOST = 3, MOST_OF_HALVES = 5, ENOUGH = 10 };
    const tsr_window *w = &p->conv.window;
    bool integers = reads_integers(plan, p), places = plan->device.fragments.dots,
         room = plan->device.fragments.registers >= ENOUGH && !p->conv.zero_points;
    int64_t columns = 2 * pixels + 1 + (places && !integers) - (places && integers),
            most = plan->half && (room || !integers) ? MOST_OF_HALVES : MOST;
    for (int64_t taps = w->kernel[1] < most ? w->kernel[1] : most; taps > f->taps; taps--)
        if (w->kernel[1] % taps == 0 &&
            (pixels - 1) * w->stride[1] + (taps - 1) * w->dilation[1] < columns)
            f->taps = (int)taps;
    f->chunks = (int)w->kernel[1] / f->taps;
}

/* Does a fragment keep the places of its columns (PLACES), which count rows in floats? */
static bool keeps_places(const tsr_plan *plan, const tsr_window *w, int planes, int taps) {
    int64_t columns = (planes - 1) * w->stride[1] + (taps - 1) * w->dilation[1] + 1;
    return plan->device.fragments.dots && w->kernel[0] <= TSR_MAX_FLOAT_ROWS &&
           columns <= TSR_MAX_PLACES;
}

static tsr_pass *lower_depthwise_by(tsr_plan *plan, const tsr_problem *p, reading by) {
    const tsr_window *w = &p->conv.window;
    int output = tsr_problem_output(plan, p, 1);
    const int planes = tsr_plan_layout(plan, output)->planes;
    row_form f = choose_row(w, tsr_plan_layout(plan, output), by);
    if (by == BY_TAPS)
        join_taps(plan, p, planes, &f);
    tsr_conv_weights weights = tsr_pack_conv_weights(plan, &p->conv, f.taps, f.chunks, true);
    tsr_pass *pass = TSR_PASS(
        plan, output, conv_depthwise_direct, .X = TSR_TENSOR(p->input),
        .S = tsr_scales_arg(&p->conv), .ZEROS = TSR_INT(tsr_zeros_of_texels(&p->conv)),
        .TAPS = TSR_INT(f.taps), .ROW = TSR_INT(f.row),
        .PLACES = TSR_INT(keeps_places(plan, w, planes, f.taps)), .STRIDE = TSR_INT(w->stride[1]),
        .DILATION = TSR_INT(w->dilation[1]), .window_y = tsr_window_args(w, 0),
        .chunks = TSR_INT(f.chunks), .pad_x = TSR_INT(w->pad_begin[1]),
        .entries_log2 = TSR_INT(weights.size.entries_log2));
    pass = tsr_pass_conv_weights(plan, pass, &weights);
    count_loops(plan, &f, 1, w->kernel[0]);
    return pass;
}

/* ---- computed weights ------------------------------------------------------------------------ */

/* Does a fragment read them from their tensor, which has four channels in a texel, too? Then they
 * need not be packed. taps: of the rows that the kernel has, of which none is absent. */
static bool reads_tensor(const tsr_plan *plan, const tsr_convolution *c, bool transposed,
                         int64_t taps) {
    const int64_t *kernel = c->window.kernel;
    const int inputs = c->group_inputs, outputs = c->group_outputs;
    const tsr_shape stored = {
        4, {transposed ? inputs : outputs, transposed ? outputs : inputs, kernel[0], kernel[1]}};
    return c->tensor && c->window.group == 1 && kernel[1] == taps && !plan->device.fragments.dots &&
           tsr_plan_is_seen_as(plan, c->tensor, &stored);
}

static tsr_tensor_arg tensor_arg(bool reads, const tsr_convolution *c) {
    return (tsr_tensor_arg){reads, c->tensor};
}

/* ---- convolutions ---------------------------------------------------------------------------- */

/* A kernel of one tap reads single pixels, for which a row's places are not needed: without them a
 * software rasteriser takes 0.6 times as long. */
static reading choose_reading(const tsr_plan *plan, const tsr_convolution *c, reading by) {
    bool one_tap = tsr_is_pointwise(&c->window) && !tsr_shares_texels(c);
    return plan->device.software && one_tap ? BY_TAPS : by;
}

static tsr_pass *lower_conv(tsr_plan *plan, const tsr_problem *p, reading by, bool busy) {
    const tsr_window *w = &p->conv.window;
    int output = tsr_problem_output(plan, p, 1);
    const row_form f =
        choose_row(w, tsr_plan_layout(plan, output), choose_reading(plan, &p->conv, by));
    const split s = split_conv(plan, &p->conv, tsr_plan_layout(plan, output), by, busy);
    tsr_convolution conv = p->conv;
    bool shared = tsr_shares_texels(&conv);
    bool pointwise = !f.row && !shared && tsr_is_pointwise(w);
    bool whole = by == BY_TAPS && !shared; /* all four channels of a texel are read at once */
    float scale = whole ? tsr_half_products(plan, &conv) : 0;
    tsr_conv_weights weights = tsr_pack_conv_weights(plan, &conv, f.taps, f.chunks, false);
    weights.dots = whole && !tsr_scales_arg(&conv).set && plan->device.fragments.dots;
    bool computed = reads_tensor(plan, &conv, false, f.taps * f.chunks);
    int partial = tsr_split_output(plan, output, s.count);
    tsr_pass *pass = TSR_PASS(
        plan, partial, conv_direct, .X = TSR_TENSOR(p->input), TSR_SCALE_FIELDS(&conv),
        .W = tensor_arg(computed, &conv), .COMPUTED = TSR_INT(computed), .TAPS = TSR_INT(f.taps),
        .ROW = TSR_INT(f.row), .POINTWISE = TSR_INT(pointwise), .GROUPED = TSR_INT(w->group > 1),
        .SHARED = TSR_INT(shared), .HALF_PRODUCTS = TSR_INT(scale != 0),
        .DOTS = TSR_INT(weights.dots), .scale = TSR_FLOAT(scale), .STRIDE = TSR_INT(w->stride[1]),
        .DILATION = TSR_INT(w->dilation[1]), .window_y = tsr_window_args(w, 0),
        .chunks = TSR_INT(f.chunks), .pad_x = TSR_INT(w->pad_begin[1]),
        .channels = tsr_conv_channels(&weights), .split = split_args(plan, &s, output));
    if (!computed)
        pass = tsr_pass_conv_weights(plan, pass, &weights);
    if (pointwise)
        tsr_plan_loops(plan, 1, 1, (int64_t[]){s.tiles});
    else
        count_loops(plan, &f, s.tiles, w->kernel[0]);
    return tsr_split_sum(plan, pass, output, s.count);
}

/* ---- transposed convolutions ----------------------------------------------------------------- */

/* Does glsl/conv_transpose_direct.glsl apply? The pixels of its fragments are a stride apart. */
static bool by_phases(const tsr_window *w) {
    return w->dilation[0] == 1 && w->dilation[1] == 1 && w->stride[1] <= MAX_PIXEL_STRIDE &&
           w->kernel[1] <= TSR_MAX_TAPS * w->stride[1];
}

static tsr_pass *lower_transposed(tsr_plan *plan, const tsr_problem *p, reading by, bool busy) {
    const tsr_window *w = &p->conv.window;
    int64_t stride = w->stride[1];
    int output = tsr_problem_output(plan, p, (int)stride);
    int taps = (int)tsr_divide_up(w->kernel[1], stride),
        planes = tsr_plan_layout(plan, output)->planes;
    const split s = split_transposed(plan, &p->conv, tsr_plan_layout(plan, output), by, busy);
    tsr_convolution conv = p->conv;
    bool shared = tsr_shares_texels(&conv);
    bool whole = by == BY_TAPS && !shared; /* all four channels of a texel are read at once */
    float scale = whole ? tsr_half_products(plan, &conv) : 0;
    tsr_conv_weights weights = tsr_pack_conv_weights(plan, &conv, taps * (int)stride, 1, false);
    weights.dots = whole && !tsr_scales_arg(&conv).set && plan->device.fragments.dots;
    bool computed = reads_tensor(plan, &conv, true, taps * stride);
    int partial = tsr_split_output(plan, output, s.count);
    tsr_pass *pass = TSR_PASS(
        plan, partial, conv_transpose_direct, .X = TSR_TENSOR(p->input), TSR_SCALE_FIELDS(&conv),
        .W = tensor_arg(computed, &conv), .COMPUTED = TSR_INT(computed), .TAPS = TSR_INT(taps),
        .ROW = TSR_INT(by == BY_TAPS ? 0 : planes + taps - 1), .GROUPED = TSR_INT(w->group > 1),
        .SHARED = TSR_INT(shared), .HALF_PRODUCTS = TSR_INT(scale != 0),
        .DOTS = TSR_INT(weights.dots), .scale = TSR_FLOAT(scale), .STRIDE = TSR_INT(stride),
        .window_y = tsr_window_args(w, 0), .pad_x = TSR_INT(w->pad_begin[1]),
        .kernel_x = TSR_INT(w->kernel[1]), .channels = tsr_conv_channels(&weights),
        .split = split_args(plan, &s, output));
    if (!computed)
        pass = tsr_pass_conv_weights(plan, pass, &weights);
    const int64_t rows = tsr_divide_up(w->kernel[0], w->stride[0]);
    if (by == BY_TAPS)
        tsr_plan_loops(plan, 1, 3, (int64_t[]){s.tiles, rows, taps});
    else
        tsr_plan_loops(plan, 1, 1, (int64_t[]){s.tiles * rows});
    return tsr_split_sum(plan, pass, output, s.count);
}

/* ---- the algorithms -------------------------------------------------------------------------- */

/* The row that a fragment reads; false if the algorithm does not apply. */
static bool find_row(const tsr_plan *plan, const tsr_problem *p, reading by, tsr_layout *l,
                     int64_t *row) {
    const tsr_window *w = &p->conv.window;
    bool transposed = p->kind == TSR_CONV_TRANSPOSE;
    const tsr_layout_hint hint = {.pixel_stride = transposed ? (int)w->stride[1] : 1,
                                  .format = plan->half ? TSR_TEXEL_F16 : TSR_TEXEL_F32};
    if (tsr_is_depthwise(&p->conv) && !transposed)
        return false;
    if ((transposed && !by_phases(w)) || !tsr_problem_layout(plan, p, hint, l))
        return false;
    *row = by == BY_TAPS ? 0
           : transposed  ? l->planes + tsr_divide_up(w->kernel[1], w->stride[1]) - 1
                         : choose_row(w, l, by).row;
    return *row <= TSR_MAX_ROW;
}

static split split_problem(const tsr_plan *plan, const tsr_problem *p, const tsr_layout *l,
                           reading by, bool busy) {
    return p->kind == TSR_CONV ? split_conv(plan, &p->conv, l, by, busy)
                               : split_transposed(plan, &p->conv, l, by, busy);
}

/* One packs the weights, unless they are read as they are. */
static int count_passes(const tsr_plan *plan, const tsr_problem *p) {
    return p->conv.window.group > 1 || plan->device.fragments.dots ? 2 : 1;
}

/* Partial sums that a device could compute at the same time take their time after each other. */
static bool estimate_by(const tsr_plan *plan, const tsr_problem *p, reading by, tsr_estimate *e) {
    tsr_layout l;
    int64_t row;
    if (!find_row(plan, p, by, &l, &row))
        return false;
    const split whole = split_problem(plan, p, &l, by, false),
                busy = split_problem(plan, p, &l, by, true);
    double cost = tsr_problem_products(plan, p) * product_cost(plan, p) * reading_cost(by);
    *e = (tsr_estimate){.cost = cost * (double)busy.count / (double)whole.count,
                        .bytes = tsr_split_bytes(plan, &l, whole.count),
                        .live_texels = live_texels(&l, row),
                        .passes = count_passes(plan, p)};
    return true;
}

static bool estimate_split_k_by(const tsr_plan *plan, const tsr_problem *p, reading by,
                                tsr_estimate *e) {
    tsr_layout l;
    int64_t row;
    if (!find_row(plan, p, by, &l, &row))
        return false;
    const split whole = split_problem(plan, p, &l, by, false),
                busy = split_problem(plan, p, &l, by, true);
    double cost = tsr_problem_products(plan, p) * product_cost(plan, p) * reading_cost(by);
    *e = (tsr_estimate){.cost = cost,
                        .bytes = tsr_split_bytes(plan, &l, busy.count),
                        .live_texels = live_texels(&l, row),
                        .passes = 1 + count_passes(plan, p)};
    return busy.count > whole.count;
}

static tsr_pass *lower_by(tsr_plan *plan, const tsr_problem *p, reading by, bool busy) {
    return p->kind == TSR_CONV ? lower_conv(plan, p, by, busy)
                               : lower_transposed(plan, p, by, busy);
}

/* An algorithm of conv_direct for each way to read. */
#define ALGORITHM(id, by, kinds_, allows, estimate_as, lower_as)                                   \
    static bool estimate_##id(const tsr_plan *plan, const tsr_problem *p, tsr_estimate *e) {       \
        return estimate_as(plan, p, by, e);                                                        \
    }                                                                                              \
    static tsr_pass *lower_##id(tsr_plan *plan, const tsr_problem *p) {                            \
        return lower_as;                                                                           \
    }                                                                                              \
    const tsr_algorithm tsr_##id = {.name = #id,                                                   \
                                    .languages = TSR_GLSL,                                         \
                                    .kinds = kinds_,                                               \
                                    .allowed_by = allows,                                          \
                                    .estimate = estimate_##id,                                     \
                                    .lower = lower_##id};

enum { ANY_CONV = TSR_CONV | TSR_CONV_TRANSPOSE };

ALGORITHM(conv_depthwise_direct, BY_ROWS, TSR_CONV, TSR_ALLOW_DIRECT, estimate_depthwise_by,
          lower_depthwise_by(plan, p, BY_ROWS))
ALGORITHM(conv_depthwise_taps, BY_TAPS, TSR_CONV, TSR_ALLOW_DIRECT | TSR_ALLOW_TAPS,
          estimate_depthwise_by, lower_depthwise_by(plan, p, BY_TAPS))
ALGORITHM(conv_direct, BY_ROWS, ANY_CONV, TSR_ALLOW_DIRECT, estimate_by,
          lower_by(plan, p, BY_ROWS, false))
ALGORITHM(conv_direct_taps, BY_TAPS, ANY_CONV, TSR_ALLOW_DIRECT | TSR_ALLOW_TAPS, estimate_by,
          lower_by(plan, p, BY_TAPS, false))
ALGORITHM(conv_direct_split_k, BY_ROWS, ANY_CONV, TSR_ALLOW_SPLIT_K, estimate_split_k_by,
          lower_by(plan, p, BY_ROWS, true))
ALGORITHM(conv_direct_taps_split_k, BY_TAPS, ANY_CONV, TSR_ALLOW_SPLIT_K | TSR_ALLOW_TAPS,
          estimate_split_k_by, lower_by(plan, p, BY_TAPS, true))
