/* Convolutions, transposed convolutions and matrix products as fragments. */
#include "gles/kernels.h"

#include "base/divide.h"
#include "base/error.h"
#include "gles/blocks.h"
#include "gles/device.h"
#include "glsl_kernels.h"

enum { MAX_SPREAD = 8 };
void tsr_gles_set_row(tsr_pass *pass, int taps, int row) {
    tsr_pass_repeat(pass, "TAPS", taps, "EACH_TAP");
    tsr_pass_repeat(pass, "ROW", row, "EACH_COLUMN");
}

/* Of a sum over input tiles: enough of them for the device, each as short as the driver demands.
 * rounds: of the loops inside that over tiles. */
typedef struct slices {
    int64_t count, tiles;
} slices;

int64_t tsr_gles_busy_slices(const tsr_plan *plan, int64_t fragments, int64_t tiles) {
    enum { MIN_SLICE = 4 };
    int64_t busy = plan->kernels->busy_fragments / fragments, most = tiles / MIN_SLICE;
    return busy < most ? busy : most;
}

static slices choose_slices(const tsr_plan *plan, int output, int64_t tiles, int64_t rounds) {
    const tsr_layout *l = tsr_plan_layout(plan, output);
    int64_t count = tsr_gles_busy_slices(plan, (int64_t)l->texture_w * l->texture_h, tiles);
    if (plan->max_rounds && tiles * rounds / plan->max_rounds >= count)
        count = tiles * rounds / plan->max_rounds + 1;
    count = count < 1 ? 1 : count > tiles ? tiles : count;
    slices s = {.tiles = tsr_divide_up(tiles, count)};
    s.count = tsr_divide_up(tiles, s.tiles);
    return s;
}

static void set_slices(tsr_plan *plan, tsr_pass *pass, const slices *s, int output) {
    tsr_pass_ints(pass, "slices", (int)s->tiles, tsr_plan_layout(plan, output)->n, 0, 0);
}

tsr_pass *tsr_gles_convolution(tsr_plan *plan, const tsr_convolution *conv, int input, int output) {
    const tsr_window *w = &conv->window;
    bool depthwise = conv->group_inputs == 1 && conv->group_outputs == 1 && w->group > 1;
    int chunks = (int)tsr_divide_up(w->kernel[1], TSR_MAX_TAPS),
        taps = (int)tsr_divide_up(w->kernel[1], chunks);
    int64_t row = (tsr_plan_layout(plan, output)->planes - 1) * w->stride[1] +
                  (taps - 1) * w->dilation[1] + 1;
    bool any = row > TSR_MAX_ROW;
    depthwise = depthwise && !any;
    int tiles = depthwise ? 1 : tsr_tiles_per_output(conv);
    slices cut = choose_slices(plan, output, any ? 1 : tiles, w->kernel[0] + 2);
    tsr_pass *pass = tsr_plan_pass(plan,
                                   any         ? "conv_any"
                                   : depthwise ? "conv_depthwise"
                                               : "conv",
                                   tsr_sliced_output(plan, output, cut.count));
    tsr_pass_source(plan, pass, input);
    tsr_lower_window(pass, "window_y", w, 0);
    tsr_lower_weights(plan, pass, conv, any ? 1 : taps, any ? (int)w->kernel[1] : chunks,
                      depthwise);
    if (any) {
        tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 3,
                       (int64_t[]){tiles, w->kernel[0], w->kernel[1]});
        tsr_lower_window(pass, "window_x", w, 1);
        return pass;
    }
    tsr_plan_loops(plan, 1, 3, (int64_t[]){chunks, cut.tiles, w->kernel[0]});
    tsr_pass_ints(pass, "window_x", chunks, 0, 0, (int)w->pad_begin[1]);
    tsr_pass_define(pass, "STRIDE", (int)w->stride[1]);
    tsr_pass_define(pass, "DILATION", (int)w->dilation[1]);
    tsr_gles_set_row(pass, taps, (int)row);
    if (!depthwise)
        set_slices(plan, pass, &cut, output);
    return tsr_add_slices(plan, pass, output, cut.count);
}

/* Does glsl/conv_transpose.glsl apply? It moves its output's pixels apart by the stride. */
static bool by_phases(const tsr_window *w) {
    return w->dilation[0] == 1 && w->dilation[1] == 1 && w->stride[1] <= MAX_SPREAD &&
           w->kernel[1] <= TSR_MAX_TAPS * w->stride[1];
}

tsr_pass *tsr_gles_transposed(tsr_plan *plan, const tsr_convolution *conv, int input,
                              const tsr_node *node) {
    const tsr_window *w = &conv->window;
    int output = tsr_plan_output_spread(plan, node, 0, by_phases(w) ? (int)w->stride[1] : 1);
    const tsr_layout *l = tsr_plan_layout(plan, output);
    int64_t stride = w->stride[1];
    bool phases = by_phases(w) && (l->planes == 1 || l->spread == stride);
    int taps = (int)tsr_divide_up(w->kernel[1], stride);
    int tiles = tsr_tiles_per_output(conv);
    slices cut = choose_slices(plan, output, phases ? tiles : 1, w->kernel[0] / w->stride[0] + 2);
    tsr_pass *pass = tsr_plan_pass(plan, phases ? "conv_transpose" : "conv_transpose_any",
                                   tsr_sliced_output(plan, output, cut.count));
    tsr_pass_source(plan, pass, input);
    tsr_lower_window(pass, "window_y", w, 0);
    tsr_lower_window(pass, "window_x", w, 1);
    tsr_lower_weights(plan, pass, conv, phases ? taps * (int)stride : 1,
                      phases ? 1 : (int)w->kernel[1], false);
    if (!phases) {
        int64_t step[2];
        tsr_lower_steps(pass, w, step);
        tsr_plan_loops(plan, l->planes, 3,
                       (int64_t[]){tiles, w->kernel[0] / step[0] + 1, w->kernel[1] / step[1] + 1});
        return pass;
    }
    tsr_plan_loops(plan, 1, 2, (int64_t[]){cut.tiles, w->kernel[0] / w->stride[0] + 1});
    tsr_pass_define(pass, "STRIDE", (int)stride);
    tsr_gles_set_row(pass, taps, l->planes + taps - 1);
    set_slices(plan, pass, &cut, output);
    return tsr_add_slices(plan, pass, output, cut.count);
}

static tsr_pass *lower_matmul(tsr_plan *plan, int a, int b, int rank, int64_t inner, int output) {
    tsr_pass *pass = tsr_plan_pass(plan, "matmul", output);
    tsr_pass_define(pass, "RANK", rank);
    tsr_pass_ints(pass, "inner", (int)inner, 0, 0, 0);
    tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 1, &inner);
    tsr_pass_source(plan, pass, a);
    tsr_pass_source(plan, pass, b);
    return pass;
}

/* ---- the choice ------------------------------------------------------------------------------ */

enum { BUSY_FRAGMENTS = 16384 }; /* for the fragment units of a large GPU */
/* Of outputs: what is read from a block costs nothing however few pixels it serves. */
enum { BLOCK_PLANES = 4 };

static const tsr_gpu_kernels direct = {
    .name = "direct",
    .convolution = tsr_gles_convolution,
    .conv_transpose = tsr_gles_transposed,
    .matmul = lower_matmul,
};
static const tsr_gpu_kernels shared = {
    .name = "shared",
    .convolution = tsr_gles_convolution,
    .conv_transpose = tsr_gles_transposed,
    .matmul = lower_matmul,
    .busy_fragments = BUSY_FRAGMENTS,
};
static const tsr_gpu_kernels blocks = {
    .name = "blocks",
    .planes = BLOCK_PLANES,
    .convolution = tsr_block_convolution,
    .conv_transpose = tsr_block_transposed,
    .matmul = lower_matmul,
    .busy_fragments = BUSY_FRAGMENTS,
};

const tsr_gpu_kernels *tsr_gles_kernels(tsr_kernel_choice choice) {
    return choice == TSR_KERNELS_BLOCKS   ? &blocks
           : choice == TSR_KERNELS_SHARED ? &shared
                                          : &direct;
}

void tsr_gles_offer_kernels(const tsr_backend_device *device, tsr_kernel_offer *offer) {
    static const tsr_gpu_kernels *const kinds[] = {&direct, &shared, &blocks, NULL};
    *offer = (tsr_kernel_offer){kinds, device->kernels, tsr_glsl_hash};
}
