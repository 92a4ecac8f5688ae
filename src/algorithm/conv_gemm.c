/* Convolutions and matrix products in compute shaders: implicit GEMM (wgsl/gemm.wgsl) where
 * channels fill whole texels, else one texel at a time. */
#include "algorithm/block_weights.h"
#include "algorithm/gemm_regions.h"
#include "algorithm/integer_weights.h"
#include "algorithm/packed_weights.h"

#include "base/divide.h"
#include "base/error.h"

#include <limits.h>

/* ---- implicit GEMM --------------------------------------------------------------------------- */

static tsr_args_gemm gemm_args(tsr_plan *plan, const tsr_gemm_size *p, const tsr_gemm_regions *b,
                               int output) {
    if (p->pixels > INT_MAX || p->steps > INT_MAX / 4 || b->groups > INT_MAX / 64)
        tsr_plan_fail(plan,
                      tsr_fail(TSR_ERROR_LIMIT, "a matrix product of %lld pixels by %lld channels",
                               (long long)p->pixels, (long long)p->tiles * 4));
    return (tsr_args_gemm){.pixels = TSR_INT(p->pixels),
                           .steps = TSR_INT(p->steps),
                           .tiles = TSR_INT(p->tiles),
                           .partial_steps = TSR_INT(b->partial_steps),
                           .tile_regions = TSR_INT(b->tiles),
                           .pixel_regions = TSR_INT(b->pixels),
                           .partials = TSR_INT(b->partials),
                           .images = TSR_INT(tsr_plan_layout(plan, output)->n),
                           .batches = TSR_INT(p->batches),
                           .region_tiles = TSR_INT(b->group_tiles)};
}

/* The fields of a kernel that includes wgsl/gemm.wgsl. */
#define GEMM_FIELDS(b, args)                                                                       \
    .FORM = TSR_INT((b).form), .BYTES = TSR_INT((b).bytes), .ONE_TAP = TSR_INT((b).one_tap),       \
    .PIXELS = TSR_INT((b).region_pixels), .TILES = TSR_INT((b).region_tiles),                      \
    .COLUMNS = TSR_INT((b).columns), .ROWS = TSR_INT((b).rows), .STEPS = TSR_INT((b).steps),       \
    .gemm = (args)

/* The kernel's output: `output`, or partial sums, which another pass adds up. */
static tsr_pass *finish(tsr_plan *plan, tsr_pass *pass, const tsr_gemm_regions *b, int output) {
    tsr_pass_groups(pass, b->groups);
    return tsr_split_sum(plan, pass, output, b->partials);
}

/* ---- weights --------------------------------------------------------------------------------- */

/* Row ((batch * tile groups + group) * steps + step) * 4 + channel holds a texel for each output
 * tile of the group, `columns` of them, which divide the tiles; batches is the batch size. */
typedef struct gemm_weights {
    tsr_convolution conv;
    bool transposed;
    bool bytes; /* texels are of four input channels */
    int64_t steps, tiles, columns, batches, input_tiles;
    int64_t taps[2]; /* of a phase, transposed */
} gemm_weights;

static int64_t count_groups(const gemm_weights *t) {
    return t->tiles / t->columns;
}

/* The tap of the kernel for a step; false if the phase has no such tap. `batch`: index in the
 * batch.
 */
static bool find_tap(const gemm_weights *t, int64_t batch, int64_t tap, size_t *element) {
    const tsr_window *w = &t->conv.window;
    if (!t->transposed) {
        *element = (size_t)tap;
        return true;
    }
    const int64_t phase[2] = {batch / w->stride[1], batch % w->stride[1]};
    const int64_t index[2] = {tap / t->taps[1], tap % t->taps[1]};
    return tsr_phase_tap(w, phase, index, element);
}

/* One step: its input tile's four channels by the output channels of a group of tiles. */
static void fill_step(const gemm_weights *t, int64_t batch, int64_t tile_group, int64_t step,
                      float *rows) {
    const tsr_convolution *c = &t->conv;
    size_t element;
    if (!find_tap(t, batch, step / t->input_tiles, &element))
        return;
    const int64_t first_tile = tile_group * t->columns;
    const int begin = (int)first_tile * 4,
              end = (int)tsr_min(begin + t->columns * 4, c->group_outputs);
    size_t group = t->transposed ? 0 : (size_t)batch;
    int first = (int)(step % t->input_tiles) * 4;
    for (int i = 0; i < 4 && first + i < c->group_inputs; i++) {
        const tsr_unaligned_float *weights =
            c->weights + group * c->stride_group + (size_t)(first + i) * c->stride_input + element;
        float *row = rows + (size_t)i * (size_t)t->columns * 4 - begin;
        for (int o = begin; c->blocks && o < end; o++)
            row[o] = tsr_block_integer(c, (int)group * c->group_outputs + o, first + i, element);
        for (int o = begin; !c->blocks && o < end; o++)
            row[o] = (float)(weights[(size_t)o * c->stride_output] *
                             tsr_weight_scale(c, (int)group * c->group_outputs + o));
    }
    for (int64_t tile = 0; c->zero_points && tile < t->columns; tile++)
        tsr_add_zero_points(c, (int64_t)group * c->group_outputs + (first_tile + tile) * 4, first,
                            (int64_t)element, t->columns, rows + tile * 4);
    for (int64_t tile = 0; t->bytes && tile < t->columns; tile++)
        tsr_weights_for_dots(rows + tile * 4, t->columns);
}

/* Units are steps, of all groups of tiles, of the whole batch. */
static void pack(const void *data, int64_t first, int64_t count, float *texels) {
    const gemm_weights *t = data;
    const int64_t groups = count_groups(t);
    for (int64_t i = first; i < first + count; i++)
        fill_step(t, i / t->steps / groups, i / t->steps % groups, i % t->steps,
                  texels + i * 4 * t->columns * 4);
}

/* Have all phases all taps, all tiles four channels? */
static bool is_full(const gemm_weights *t) {
    const tsr_window *w = &t->conv.window;
    bool taps =
        !t->transposed || (w->kernel[0] % w->stride[0] == 0 && w->kernel[1] % w->stride[1] == 0);
    return taps && t->conv.group_inputs % 4 == 0 && t->conv.group_outputs == t->tiles * 4;
}

static tsr_pass *set_weights(tsr_plan *plan, tsr_pass *pass, const gemm_weights *table) {
    const tsr_table_format format = tsr_weight_format(plan, &table->conv);
    const int64_t units = table->batches * count_groups(table) * table->steps;
    tsr_table_size size = tsr_table_entries(plan, format, (int)table->columns, units * 4);
    const tsr_weight_layout layout = {
        .tag = "steps of a GEMM",
        .numbers = {table->transposed, table->bytes, table->steps, table->tiles, table->columns,
                    table->batches, table->input_tiles, table->taps[0], table->taps[1]}};
    const tsr_table packed = {.pack = pack,
                              .units = units,
                              .width = size.width,
                              .height = size.height,
                              .format = format,
                              .dense = is_full(table)};
    return tsr_pass_packed_weights(plan, pass, &table->conv, &layout, packed, table, sizeof *table);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static int64_t input_tiles(const tsr_convolution *c) {
    return tsr_divide_up(c->group_inputs, 4);
}

/* Taps of each phase of a transposed convolution: of rows, or columns. */
static int64_t phase_taps(const tsr_window *w, int axis) {
    return tsr_divide_up(w->kernel[axis], w->stride[axis]);
}

/* Of the GEMM that writes such an output. */
static tsr_gemm_size size_of(const tsr_problem *p, const tsr_layout *l) {
    const tsr_window *w = &p->conv.window;
    int64_t tiles = tsr_divide_up(p->conv.group_outputs, 4);
    switch (p->kind) {
    case TSR_CONV:
        return (tsr_gemm_size){(int64_t)l->n * l->h * l->w,
                               w->kernel[0] * w->kernel[1] * input_tiles(&p->conv), tiles, w->group,
                               input_tiles(&p->conv)};
    case TSR_CONV_TRANSPOSE:
        return (tsr_gemm_size){l->n * tsr_divide_up(l->h, w->stride[0]) *
                                   tsr_divide_up(l->w, w->stride[1]),
                               phase_taps(w, 0) * phase_taps(w, 1) * input_tiles(&p->conv), tiles,
                               w->stride[0] * w->stride[1], input_tiles(&p->conv)};
    default:
        break;
    }
    const int64_t steps = tsr_divide_up(p->inner, 4);
    return (tsr_gemm_size){p->rank == 2 ? l->n : l->w, steps, l->tiles, p->rank == 2 ? 1 : l->n,
                           steps};
}

/* ---- regions --------------------------------------------------------------------------------- */

static bool holds_floats(const tsr_plan *plan, int tensor) {
    return tsr_plan_layout(plan, tensor)->format == TSR_TEXEL_F32;
}

/* Are both factors stored as they are multiplied? */
static bool has_floats(const tsr_plan *plan, const tsr_problem *p) {
    return holds_floats(plan, p->input) &&
           (p->kind == TSR_MATMUL ? holds_floats(plan, p->right)
                                  : tsr_weight_format(plan, &p->conv) == TSR_TABLE_F32);
}

/* Steps of one tap are read without a branch for each: a network of floats took 0.65 ms on an H200
 * instead of 0.70. Not numbers that the workgroup form unpacks: compilers then read them so late
 * that the multiplication waits for them, and one of halves took 0.79 ms instead of 0.66. */
static tsr_gemm_regions regions_of(const tsr_plan *plan, const tsr_problem *p, tsr_gemm_form form,
                                   const tsr_gemm_size *size, int output) {
    tsr_gemm_regions b = tsr_gemm_divide(plan, form, size, tsr_plan_layout(plan, output));
    b.one_tap =
        (form == TSR_GEMM_SUBGROUP_MATRIX || (form == TSR_GEMM_WORKGROUP && has_floats(plan, p))) &&
        size->tap_steps % b.steps == 0;
    return b;
}

/* ---- convolutions ---------------------------------------------------------------------------- */

/* What is stored for 0, of integers with a sign. */
static int stored_zero(const tsr_layout *input) {
    return (int)input->zero_point - (input->format == TSR_TEXEL_U8 ? 128 : 0);
}

/* Can products be those of four integers of 8 bits at once? Sums have 32 bits. */
static bool multiplies_bytes(const tsr_plan *plan, const tsr_problem *p) {
    enum { MOST_PRODUCTS = 1 << 16 };
    const tsr_convolution *c = &p->conv;
    const tsr_layout *l = tsr_plan_layout(plan, p->input);
    return plan->device.features & TSR_NEEDS_PACKED_DOT && p->kind == TSR_CONV && c->integers &&
           !c->zero_points && tsr_texel_holds_integers(l->format) &&
           (l->scale == 0 || l->scale == 1) && !plan->before &&
           tsr_texel_holds_number(l->format, l->zero_point) &&
           c->group_inputs * c->window.kernel[0] * c->window.kernel[1] <= MOST_PRODUCTS;
}

/* Each product has that too much, times the weight. */
static void correct_bytes(tsr_plan *plan, tsr_pass *pass, const tsr_convolution *c, int zero) {
    const int64_t channels = c->window.group * c->group_outputs;
    const tsr_shape shape = {4, {1, channels, 1, 1}};
    const float *sums = tsr_sum_integers(plan, c, -zero);
    if (sums && zero)
        tsr_pass_post_binary(plan, pass, TSR_OP_Add, tsr_plan_constant(plan, &shape, sums), false);
}

static tsr_pass *lower_conv(tsr_plan *plan, const tsr_problem *problem, tsr_gemm_form form) {
    const tsr_convolution *conv = &problem->conv;
    const tsr_window *w = &conv->window;
    int output = tsr_problem_output(plan, problem, 1);
    const tsr_gemm_size p = size_of(problem, tsr_plan_layout(plan, output));
    tsr_gemm_regions b = regions_of(plan, problem, form, &p, output);
    b.bytes = multiplies_bytes(plan, problem);
    const gemm_weights table = {.conv = *conv,
                                .steps = p.steps,
                                .tiles = p.tiles,
                                .columns = b.table_columns,
                                .batches = p.batches,
                                .input_tiles = input_tiles(conv),
                                .bytes = b.bytes};
    const tsr_args_gemm gemm = gemm_args(plan, &p, &b, output);
    int partial = tsr_split_output(plan, output, b.partials),
        zero = table.bytes ? stored_zero(tsr_plan_layout(plan, problem->input)) : 0;
    tsr_pass *pass =
        TSR_PASS(plan, partial, conv_gemm, .X = TSR_TENSOR(problem->input), TSR_SCALE_FIELDS(conv),
                 GEMM_FIELDS(b, gemm), .window_y = tsr_window_args(w, 0),
                 .window_x = tsr_window_args(w, 1), .taps_x = TSR_INT(w->kernel[1]),
                 .input_tiles = TSR_INT(table.input_tiles), .output_tiles = TSR_INT(table.tiles),
                 .outside = TSR_INT((int32_t)((uint32_t)(zero & 255) * 0x01010101u)));
    pass = finish(plan, set_weights(plan, pass, &table), &b, output);
    if (table.bytes)
        correct_bytes(plan, pass, conv, zero);
    return pass;
}

/* Taps are a stride apart, and every phase has at least one. */
static bool has_phases(const tsr_convolution *c) {
    const tsr_window *w = &c->window;
    bool phases = w->group == 1;
    for (int i = 0; i < 2; i++)
        phases = phases && w->dilation[i] == 1 && w->stride[i] <= w->kernel[i];
    return phases;
}

static tsr_pass *lower_transposed(tsr_plan *plan, const tsr_problem *problem, tsr_gemm_form form) {
    const tsr_convolution *conv = &problem->conv;
    const tsr_window *w = &conv->window;
    int output = tsr_problem_output(plan, problem, 1);
    const tsr_layout *l = tsr_plan_layout(plan, output);
    const int64_t rows = tsr_divide_up(l->h, w->stride[0]),
                  columns = tsr_divide_up(l->w, w->stride[1]);
    const tsr_gemm_size p = size_of(problem, l);
    const tsr_gemm_regions b = regions_of(plan, problem, form, &p, output);
    const gemm_weights table = {.conv = *conv,
                                .transposed = true,
                                .steps = p.steps,
                                .tiles = p.tiles,
                                .columns = b.table_columns,
                                .batches = p.batches,
                                .input_tiles = input_tiles(conv),
                                .taps = {phase_taps(w, 0), phase_taps(w, 1)}};
    const tsr_args_gemm gemm = gemm_args(plan, &p, &b, output);
    int partial = tsr_split_output(plan, output, b.partials);
    tsr_pass *pass = TSR_PASS(
        plan, partial, conv_transpose_gemm, .X = TSR_TENSOR(problem->input), TSR_SCALE_FIELDS(conv),
        GEMM_FIELDS(b, gemm), .window_y = tsr_window_args(w, 0), .window_x = tsr_window_args(w, 1),
        .rows = TSR_INT(rows), .columns = TSR_INT(columns), .taps_x = TSR_INT(table.taps[1]),
        .input_tiles = TSR_INT(table.input_tiles));
    return finish(plan, set_weights(plan, pass, &table), &b, output);
}

/* ---- matrix products ------------------------------------------------------------------------- */

static tsr_pass *lower_matmul(tsr_plan *plan, const tsr_problem *problem, tsr_gemm_form form) {
    int rank = problem->rank, output = tsr_problem_output(plan, problem, 1);
    const tsr_gemm_size p = size_of(problem, tsr_plan_layout(plan, output));
    const tsr_gemm_regions b = regions_of(plan, problem, form, &p, output);
    const tsr_args_gemm gemm = gemm_args(plan, &p, &b, output);
    int partial = tsr_split_output(plan, output, b.partials);
    tsr_pass *pass = TSR_PASS(plan, partial, matmul_gemm, .A = TSR_TENSOR(problem->input),
                              .B = TSR_TENSOR(problem->right), .RANK = TSR_INT(rank),
                              GEMM_FIELDS(b, gemm), .inner = TSR_INT(problem->inner));
    return finish(plan, pass, &b, output);
}

/* ---- the algorithms -------------------------------------------------------------------------- */

static bool applies(const tsr_problem *p) {
    switch (p->kind) {
    case TSR_CONV:
        return !tsr_shares_texels(&p->conv);
    case TSR_CONV_TRANSPOSE:
        return has_phases(&p->conv) && tsr_blocks_hold_taps(&p->conv);
    case TSR_MATMUL:
        return p->rank < 4; /* at rank 4 channels are a batch axis, not summed over */
    default:
        return false;
    }
}

/* Are both factors stored in 16 bits, as they are? */
static bool has_halves(const tsr_plan *plan, const tsr_problem *p) {
    const tsr_layout *l = tsr_plan_layout(plan, p->input);
    return l->format == TSR_TEXEL_F16 && (l->scale == 0 || l->scale == 1) && !plan->before &&
           tsr_weight_format(plan, &p->conv) == TSR_TABLE_F16;
}

/* What matrix units multiply, of each product that is needed. */
static double padded_products(const tsr_gemm_size *size, const tsr_gemm_regions *b) {
    const double pixels = (double)(b->pixels * TSR_GEMM_MATRIX_PIXELS),
                 tiles = (double)(b->tiles * b->columns * b->region_tiles * TSR_GEMM_MATRIX_TILES);
    return pixels * tiles / ((double)size->pixels * (double)size->tiles);
}

/* On software rasterisers a barrier costs more than it saves. On a GPU (an H100) loads that nothing
 * shares take 20 to 30 times as long, and layers of few pixels half as long in the sliced form; its
 * matrix units (an H200) 0.2 to 0.4 times as long. */
static bool estimate(const tsr_plan *plan, const tsr_problem *p, tsr_gemm_form form,
                     tsr_estimate *e) {
    enum { SOFTWARE_BARRIERS = 4, GPU_LOADS = 20, WEIGHTS = 4 };
    const double SLICED = 0.5, MATRICES = 0.2;
    tsr_layout l;
    if (!applies(p) || !tsr_problem_layout(plan, p, (tsr_layout_hint){0}, &l))
        return false;
    const tsr_gemm_size size = size_of(p, &l);
    if (form == TSR_GEMM_SLICED_K && !tsr_gemm_has_few_pixels(&size))
        return false;
    if (form == TSR_GEMM_SUBGROUP_MATRIX && !has_halves(plan, p))
        return false;
    const tsr_gemm_regions b = tsr_gemm_divide(plan, form, &size, &l);
    double slower = form == TSR_GEMM_SLICED_K ? SLICED : 1;
    if (form == TSR_GEMM_SUBGROUP_MATRIX)
        slower = MATRICES * padded_products(&size, &b);
    if ((form == TSR_GEMM_REGISTERS) != plan->device.software)
        slower *= plan->device.software ? SOFTWARE_BARRIERS : GPU_LOADS;
    *e = (tsr_estimate){.cost = tsr_problem_products(plan, p) * TSR_PRODUCT * slower,
                        .bytes = tsr_split_bytes(plan, &l, b.partials),
                        .live_texels = b.region_pixels * b.region_tiles + b.region_pixels +
                                       WEIGHTS * b.region_tiles};
    return true;
}

static tsr_pass *lower(tsr_plan *plan, const tsr_problem *p, tsr_gemm_form form) {
    return p->kind == TSR_CONV             ? lower_conv(plan, p, form)
           : p->kind == TSR_CONV_TRANSPOSE ? lower_transposed(plan, p, form)
                                           : lower_matmul(plan, p, form);
}

/* The algorithm of a form. */
#define GEMM_ALGORITHM(stem, form, which, needed, choice)                                          \
    static bool estimate_##stem(const tsr_plan *plan, const tsr_problem *p, tsr_estimate *e) {     \
        return estimate(plan, p, form, e);                                                         \
    }                                                                                              \
    static tsr_pass *lower_##stem(tsr_plan *plan, const tsr_problem *p) {                          \
        return lower(plan, p, form);                                                               \
    }                                                                                              \
    const tsr_algorithm tsr_gemm_##stem = {                                                        \
        .name = "gemm_" #stem,                                                                     \
        .languages = TSR_WGSL,                                                                     \
        .kinds = which,                                                                            \
        .needs = needed,                                                                           \
        .allowed_by = choice,                                                                      \
        .estimate = estimate_##stem,                                                               \
        .lower = lower_##stem,                                                                     \
    };

GEMM_ALGORITHM(registers, TSR_GEMM_REGISTERS, TSR_CONV | TSR_CONV_TRANSPOSE | TSR_MATMUL, 0,
               TSR_ALLOW_DIRECT)
GEMM_ALGORITHM(workgroup, TSR_GEMM_WORKGROUP, TSR_CONV | TSR_CONV_TRANSPOSE | TSR_MATMUL,
               TSR_NEEDS_WORKGROUP_MEMORY, TSR_ALLOW_WORKGROUPS)
GEMM_ALGORITHM(sliced_k, TSR_GEMM_SLICED_K, TSR_CONV | TSR_CONV_TRANSPOSE | TSR_MATMUL,
               TSR_NEEDS_WORKGROUP_MEMORY, TSR_ALLOW_WORKGROUPS)
GEMM_ALGORITHM(subgroup_matrix, TSR_GEMM_SUBGROUP_MATRIX, TSR_CONV | TSR_CONV_TRANSPOSE,
               TSR_NEEDS_WORKGROUP_MEMORY | TSR_NEEDS_SUBGROUP_MATRIX, TSR_ALLOW_WORKGROUPS)
