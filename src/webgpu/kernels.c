/* Convolutions, transposed convolutions and matrix products as compute kernels: as products of
 * matrices in blocks (wgsl/product.wgsl) where channels fill whole texels, else a texel at a time.
 */
#include "webgpu/kernels.h"

#include "base/divide.h"
#include "base/error.h"
#include "webgpu/device.h"
#include "wgsl_kernels.h"

#include <limits.h>

/* ---- products in blocks ---------------------------------------------------------------------- */

/* Sizes of one product, or of `parts` that have the same: see u.product in wgsl/tiles.wgsl. */
typedef struct product {
    int64_t pixels, steps, tiles, parts;
} product;

/* How a product is cut up: see wgsl/tiles.wgsl. */
typedef struct blocks {
    bool shared;                   /* through workgroup memory */
    int block_pixels, block_tiles; /* of an invocation */
    int columns, rows, steps;      /* invocations; steps at a time */
    int64_t tiles, pixels;         /* blocks of them */
    int64_t slices, slice_steps;
    int64_t groups; /* workgroups */
} blocks;

/* The power of two from low to high that holds `wanted`. */
static int power_of_two(int64_t wanted, int low, int high) {
    int power = low;
    while (power < wanted && power < high)
        power *= 2;
    return power;
}

/* For a GPU: enough workgroups to keep a large one busy, or half busy where slices took too much.
 */
static blocks share_blocks(const tsr_plan *plan, const product *p) {
    enum { PIXELS = 4, TILES = 1, INVOCATIONS = 256, WORKGROUP_TEXELS = 1024 };
    enum { ENOUGH = 1024, FEW = 256 };
    blocks b = {.shared = true, .block_pixels = PIXELS, .block_tiles = TILES, .steps = 4};
    b.columns = power_of_two(tsr_divide_up(p->tiles, TILES), PIXELS, 16);
    b.rows = power_of_two(tsr_divide_up(p->pixels, PIXELS), 1, INVOCATIONS / b.columns);
    while (b.steps * (b.rows * PIXELS + 4 * b.columns * TILES) > WORKGROUP_TEXELS)
        b.steps /= 2;
    b.tiles = tsr_divide_up(p->tiles, b.columns * TILES);
    b.pixels = tsr_divide_up(p->pixels, b.rows * PIXELS);
    int64_t rounds = tsr_divide_up(p->steps, b.steps), groups = b.tiles * b.pixels * p->parts;
    int64_t slices = (plan->frugal ? FEW : ENOUGH) / groups;
    slices = slices > rounds / 4 ? rounds / 4 : slices;
    b.slice_steps = tsr_divide_up(rounds, slices > 1 ? slices : 1) * b.steps;
    b.slices = tsr_divide_up(p->steps, b.slice_steps);
    b.groups = groups * b.slices;
    return b;
}

/* For a CPU. */
static blocks direct_blocks(const product *p) {
    enum { PIXELS = 8, TILES = 2, GROUP = 64 };
    blocks b = {.block_pixels = power_of_two(p->pixels, 1, PIXELS),
                .block_tiles = power_of_two(p->tiles, 1, TILES),
                .slices = 1,
                .slice_steps = p->steps};
    b.tiles = tsr_divide_up(p->tiles, b.block_tiles);
    b.pixels = tsr_divide_up(p->pixels, b.block_pixels);
    b.groups = tsr_divide_up(b.tiles * b.pixels * p->parts, GROUP);
    return b;
}

/* After a failure sizes may be 0, which cannot be shared out. */
static blocks choose_blocks(const tsr_plan *plan, const product *p) {
    bool share = plan->kernels->workgroups && plan->status == TSR_OK;
    return share ? share_blocks(plan, p) : direct_blocks(p);
}

/* The pass of a product; its sums go to `output`, or, in slices, to a tensor of as many images for
 * each slice. */
static tsr_pass *product_pass(tsr_plan *plan, const char *kernel, const product *p, const blocks *b,
                              int output) {
    const tsr_layout l = *tsr_plan_layout(plan, output);
    if (p->pixels > INT_MAX || p->steps > INT_MAX / 4 || b->groups > INT_MAX / 64)
        tsr_plan_fail(plan, tsr_fail(TSR_LIMIT, "a product of %lld pixels by %lld channels",
                                     (long long)p->pixels, (long long)p->tiles * 4));
    tsr_pass *pass = tsr_plan_pass(plan, kernel, tsr_sliced_output(plan, output, b->slices));
    tsr_pass_define(pass, "SHARED", b->shared);
    tsr_pass_define(pass, "PIXELS", b->block_pixels);
    tsr_pass_define(pass, "TILES", b->block_tiles);
    if (b->shared) {
        tsr_pass_define(pass, "COLUMNS", b->columns);
        tsr_pass_define(pass, "ROWS", b->rows);
        tsr_pass_define(pass, "STEPS", b->steps);
    }
    tsr_pass_ints(pass, "product", (int)p->pixels, (int)p->steps, (int)p->tiles,
                  (int)b->slice_steps);
    tsr_pass_ints(pass, "blocks", (int)b->tiles, (int)b->pixels, (int)b->slices, l.n);
    tsr_pass_ints(pass, "parts", (int)p->parts, 0, 0, 0);
    tsr_pass_groups(pass, b->groups);
    return pass;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* Row (part * steps + step) * 4 + channel holds a texel for each output tile of the part. */
typedef struct block_table {
    tsr_convolution conv;
    bool transposed;
    int64_t steps, tiles, parts, input_tiles;
    int64_t taps[2]; /* of a phase, transposed */
} block_table;

/* The tap of the kernel that a step of a part meets; false if the phase lacks it. */
static bool find_tap(const block_table *t, int64_t part, int64_t tap, size_t *element) {
    const tsr_window *w = &t->conv.window;
    if (!t->transposed) {
        *element = (size_t)tap;
        return true;
    }
    const int64_t phase[2] = {part / w->stride[1], part % w->stride[1]};
    const int64_t index[2] = {tap / t->taps[1], tap % t->taps[1]};
    return tsr_phase_tap(w, phase, index, element);
}

/* One step: its input tile's four channels by all output channels. */
static void fill_step(const block_table *t, int64_t part, int64_t step, float *rows) {
    const tsr_convolution *c = &t->conv;
    size_t element;
    if (!find_tap(t, part, step / t->input_tiles, &element))
        return;
    size_t group = t->transposed ? 0 : (size_t)part;
    int first = (int)(step % t->input_tiles) * 4;
    for (int i = 0; i < 4 && first + i < c->group_inputs; i++) {
        const tsr_loose_float *weights =
            c->weights + group * c->stride_group + (size_t)(first + i) * c->stride_input + element;
        float *row = rows + (size_t)i * (size_t)t->tiles * 4;
        for (int o = 0; o < c->group_outputs; o++)
            row[o] = (float)(weights[(size_t)o * c->stride_output] *
                             tsr_weight_scale(c, (int)group * c->group_outputs + o));
    }
}

static void fill_table(const void *data, float *texels) {
    const block_table *t = data;
    for (int64_t part = 0; part < t->parts; part++)
        for (int64_t step = 0; step < t->steps; step++)
            fill_step(t, part, step, texels + (part * t->steps + step) * 4 * t->tiles * 4);
}

static void set_weights(tsr_plan *plan, tsr_pass *pass, const block_table *table) {
    tsr_table_blocks(plan, pass, (int)table->tiles, table->parts * table->steps * 4);
    tsr_pass_table(plan, pass, fill_table, table, sizeof *table);
}

/* ---- convolutions ---------------------------------------------------------------------------- */

static tsr_pass *any_pass(tsr_plan *plan, const char *kernel, const tsr_convolution *conv,
                          bool depthwise, int input, int output) {
    const tsr_window *w = &conv->window;
    tsr_pass *pass = tsr_plan_pass(plan, kernel, output);
    tsr_pass_source(plan, pass, input);
    tsr_lower_window(pass, "window_y", w, 0);
    tsr_lower_window(pass, "window_x", w, 1);
    tsr_lower_weights(plan, pass, conv, 1, (int)w->kernel[1], depthwise);
    return pass;
}

static tsr_pass *plain_convolution(tsr_plan *plan, const tsr_convolution *conv, int input,
                                   int output) {
    bool depthwise = conv->group_inputs == 1 && conv->group_outputs == 1 && conv->window.group > 1;
    return any_pass(plan, depthwise ? "conv_depthwise" : "conv_any", conv, depthwise, input,
                    output);
}

/* Do the channels of each group fill whole texels? */
static bool has_whole_tiles(const tsr_convolution *c) {
    return c->window.group == 1 || (c->group_inputs % 4 == 0 && c->group_outputs % 4 == 0);
}

static tsr_pass *lower_convolution(tsr_plan *plan, const tsr_convolution *conv, int input,
                                   int output) {
    const tsr_window *w = &conv->window;
    const tsr_layout *l = tsr_plan_layout(plan, output);
    if (!has_whole_tiles(conv))
        return plain_convolution(plan, conv, input, output);
    block_table table = {.conv = *conv,
                         .tiles = tsr_divide_up(conv->group_outputs, 4),
                         .input_tiles = tsr_divide_up(conv->group_inputs, 4),
                         .parts = w->group};
    table.steps = w->kernel[0] * w->kernel[1] * table.input_tiles;
    const product p = {(int64_t)l->n * l->h * l->w, table.steps, table.tiles, table.parts};
    const blocks b = choose_blocks(plan, &p);
    tsr_pass *pass = product_pass(plan, "conv", &p, &b, output);
    tsr_pass_source(plan, pass, input);
    tsr_lower_window(pass, "window_y", w, 0);
    tsr_lower_window(pass, "window_x", w, 1);
    tsr_pass_ints(pass, "channels", (int)table.input_tiles, (int)table.tiles, 0, 0);
    set_weights(plan, pass, &table);
    return tsr_add_slices(plan, pass, output, b.slices);
}

static tsr_pass *plain_transposed(tsr_plan *plan, const tsr_convolution *conv, int input,
                                  const tsr_node *node) {
    tsr_pass *pass =
        any_pass(plan, "conv_transpose_any", conv, false, input, tsr_plan_output(plan, node, 0));
    int64_t steps[2];
    tsr_lower_steps(pass, &conv->window, steps);
    return pass;
}

/* Taps a stride apart, and each phase has some. */
static bool has_phases(const tsr_convolution *c) {
    const tsr_window *w = &c->window;
    bool phases = w->group == 1;
    for (int i = 0; i < 2; i++)
        phases = phases && w->dilation[i] == 1 && w->stride[i] <= w->kernel[i];
    return phases;
}

static tsr_pass *lower_transposed(tsr_plan *plan, const tsr_convolution *conv, int input,
                                  const tsr_node *node) {
    const tsr_window *w = &conv->window;
    if (!has_phases(conv))
        return plain_transposed(plan, conv, input, node);
    int output = tsr_plan_output(plan, node, 0);
    const tsr_layout *l = tsr_plan_layout(plan, output);
    block_table table = {.conv = *conv,
                         .transposed = true,
                         .tiles = tsr_divide_up(conv->group_outputs, 4),
                         .input_tiles = tsr_divide_up(conv->group_inputs, 4),
                         .parts = w->stride[0] * w->stride[1],
                         .taps = {tsr_divide_up(w->kernel[0], w->stride[0]),
                                  tsr_divide_up(w->kernel[1], w->stride[1])}};
    table.steps = table.taps[0] * table.taps[1] * table.input_tiles;
    int64_t rows = tsr_divide_up(l->h, w->stride[0]), columns = tsr_divide_up(l->w, w->stride[1]);
    const product p = {l->n * rows * columns, table.steps, table.tiles, table.parts};
    const blocks b = choose_blocks(plan, &p);
    tsr_pass *pass = product_pass(plan, "conv_transpose", &p, &b, output);
    tsr_pass_source(plan, pass, input);
    tsr_lower_window(pass, "window_y", w, 0);
    tsr_lower_window(pass, "window_x", w, 1);
    tsr_pass_ints(pass, "phases", (int)rows, (int)columns, (int)table.taps[0], (int)table.taps[1]);
    tsr_pass_ints(pass, "channels", (int)table.input_tiles, 0, 0, 0);
    set_weights(plan, pass, &table);
    return tsr_add_slices(plan, pass, output, b.slices);
}

/* ---- matrix products ------------------------------------------------------------------------- */

static tsr_pass *finish_matmul(tsr_plan *plan, tsr_pass *pass, int a, int b, int rank,
                               int64_t inner) {
    tsr_pass_define(pass, "RANK", rank);
    tsr_pass_ints(pass, "inner", (int)inner, 0, 0, 0);
    tsr_pass_source(plan, pass, a);
    tsr_pass_source(plan, pass, b);
    return pass;
}

static tsr_pass *plain_matmul(tsr_plan *plan, int a, int b, int rank, int64_t inner, int output) {
    return finish_matmul(plan, tsr_plan_pass(plan, "matmul", output), a, b, rank, inner);
}

static tsr_pass *lower_matmul(tsr_plan *plan, int a, int b, int rank, int64_t inner, int output) {
    if (rank == 4) /* channels are a batch of their own: no product of channels */
        return plain_matmul(plan, a, b, rank, inner, output);
    const tsr_layout *l = tsr_plan_layout(plan, output);
    const product p = {rank == 2 ? l->n : l->w, tsr_divide_up(inner, 4), l->tiles,
                       rank == 2 ? 1 : l->n};
    const blocks cut = choose_blocks(plan, &p);
    tsr_pass *pass = product_pass(plan, "matmul_product", &p, &cut, output);
    return tsr_add_slices(plan, finish_matmul(plan, pass, a, b, rank, inner), output, cut.slices);
}

/* ---- the choice ------------------------------------------------------------------------------ */

static const tsr_gpu_kernels plain = {.name = "plain",
                                      .convolution = plain_convolution,
                                      .conv_transpose = plain_transposed,
                                      .matmul = plain_matmul,
                                      .wgsl = true};
static const tsr_gpu_kernels direct = {.name = "direct",
                                       .convolution = lower_convolution,
                                       .conv_transpose = lower_transposed,
                                       .matmul = lower_matmul,
                                       .wgsl = true};
static const tsr_gpu_kernels shared = {.name = "shared",
                                       .convolution = lower_convolution,
                                       .conv_transpose = lower_transposed,
                                       .matmul = lower_matmul,
                                       .workgroups = true,
                                       .wgsl = true};

const tsr_gpu_kernels *tsr_webgpu_kernels(tsr_kernel_choice choice) {
    return choice == TSR_KERNELS_PLAIN ? &plain : choice == TSR_KERNELS_DIRECT ? &direct : &shared;
}

void tsr_webgpu_offer_kernels(const tsr_backend_device *device, tsr_kernel_offer *offer) {
    static const tsr_gpu_kernels *const kinds[] = {&plain, &direct, &shared, NULL};
    *offer = (tsr_kernel_offer){kinds, tsr_webgpu_kernels(device->kernels), tsr_wgsl_hash};
}
