/* The gradient of a convolution's weights: sums over images and pixels. */
#include "lower/lower.h"

#include "base/divide.h"

/* Sums of a tensor [partials * blocks, inputs of a group, 1, taps * outputs of a block], which a
 * last pass adds up in the order of weights: glsl/conv_weight_grad.glsl. */
typedef struct weight_sums {
    tsr_window window; /* flat */
    int input, gradient, group_inputs, group_outputs;
    /* Output channels of a block: 8 or 4, if they and the inputs that they read are whole texels; 1
     * for other groups; 0: depthwise, a texel has four output channels. */
    int block;
    bool pairs; /* a fragment sums for two taps of a row that read the same columns */
    int64_t blocks, taps;
    int64_t segments, columns; /* of a row of the gradient, and their columns */
    int64_t units, partials;   /* segments of a partial sum */
} weight_sums;

enum { PAIR_PLANES = 8 };

/* Depths of a volume's gradient are images, and taps along the depth input channels. */
static void flatten(tsr_plan *plan, weight_sums *s) {
    const tsr_window w = s->window;
    tsr_window result = w;
    if (w.spatial_rank < TSR_WINDOW_AXES)
        return;
    for (int axis = 0; axis < TSR_WINDOW_AXES; axis++)
        result.in[axis] = w.out[axis];
    s->input = tsr_lower_depth_taps(plan, s->input, &w);
    s->gradient = tsr_lower_depth_images(plan, s->gradient, &result);
    s->window = tsr_flat_window(&w);
}

static bool has_pairs(const tsr_plan *plan, const tsr_window *w) {
    return plan->device.language == TSR_GLSL && plan->limits.max_planes >= PAIR_PLANES &&
           w->dilation[1] == 1 && w->kernel[1] % (2 * w->stride[1]) == 0;
}

static void choose_block(const tsr_plan *plan, weight_sums *s) {
    const int group = (int)s->window.group, inputs = s->group_inputs, outputs = s->group_outputs;
    bool whole = group == 1 || (inputs % 4 == 0 && outputs % 4 == 0);
    bool wide = group == 1 ? outputs > 4 : outputs % 8 == 0;
    bool many = plan->device.language == TSR_WGSL || plan->limits.max_planes >= 8;
    s->pairs = whole && has_pairs(plan, &s->window);
    many &= !s->pairs;
    s->block = whole ? (wide && many ? 8 : 4) : inputs == 1 && outputs == 1 ? 0 : 1;
    s->blocks = s->block ? tsr_divide_up((int64_t)group * outputs, s->block) : 1;
}

/* The texels of a weights' tensor are few, and llvmpipe's threads rasterise 64x64 of them each. */
static int64_t busy_partials(const tsr_plan *plan, int64_t sums, int64_t segments) {
    enum { THREADS_FRAGMENTS = 2048, LEAST_SEGMENTS = 4, BUSY_INVOCATIONS = 65536 };
    if (plan->device.software)
        return tsr_min(THREADS_FRAGMENTS / sums, segments / LEAST_SEGMENTS);
    return plan->device.language == TSR_WGSL ? tsr_min(BUSY_INVOCATIONS / sums, segments)
                                             : tsr_busy_partials(plan, sums, segments);
}

/* Partial sums: as many as keep the device busy, each within max_loop_iterations. Rows are summed
 * before they are added, so that the error grows with their length and number only. */
static void split(const tsr_plan *plan, weight_sums *s) {
    enum { MOST_COLUMNS = 256 };
    const tsr_layout *g = tsr_plan_layout(plan, s->gradient), *x = tsr_plan_layout(plan, s->input);
    int channels = s->block ? s->group_inputs : x->c;
    int64_t fragments = s->blocks * tsr_divide_up(channels, 4) * s->taps / (1 + s->pairs);
    s->segments = tsr_divide_up(g->w, MOST_COLUMNS);
    s->columns = tsr_divide_up(g->w, s->segments);
    int64_t all = (int64_t)g->n * g->h * s->segments, most = all;
    int64_t count = plan->low_memory ? 1 : tsr_max(busy_partials(plan, fragments, all), 1);
    if (plan->max_loop_iterations)
        most = tsr_max((plan->max_loop_iterations - 2) / (s->columns + 2), 1);
    s->units = tsr_min(tsr_divide_up(all, count), most);
    s->partials = tsr_divide_up(all, s->units);
}

/* Columns of a trip of the innermost loop: as few as are whole periods of the planes of X and of
 * the pixel stride of G. Longer trips are slower: of 16 columns, up to 1.3 times on llvmpipe, and
 * where G has fewer columns one by one is faster. */
static int choose_unroll(const tsr_plan *plan, const weight_sums *s) {
    const tsr_layout *g = tsr_plan_layout(plan, s->gradient), *x = tsr_plan_layout(plan, s->input);
    for (int columns = 4; columns <= tsr_min(g->w, 16) && s->block != 1; columns *= 2)
        if (columns % g->pixel_stride == 0 &&
            columns * s->window.stride[1] % ((int64_t)x->planes * x->pixel_stride) == 0)
            return columns;
    return 1;
}

static int sum_products(tsr_plan *plan, const weight_sums *s) {
    const int channels = s->block ? s->group_inputs : tsr_plan_layout(plan, s->input)->c,
              texels = s->block ? s->block : 1;
    const tsr_shape shape = {4, {s->partials * s->blocks, channels, 1, s->taps * texels}};
    const tsr_window *w = &s->window;
    const tsr_layout_hint hint = {s->pairs ? PAIR_PLANES : texels, 1, TSR_TEXEL_F32};
    int sums = tsr_plan_tensor_make(plan, &shape, hint);
    tsr_pass *pass =
        TSR_PASS(plan, sums, conv_weight_grad, .X = TSR_TENSOR(s->input),
                 .G = TSR_TENSOR(s->gradient), .BLOCK = TSR_INT(s->block),
                 .GROUPED = TSR_INT(w->group > 1 && s->block), .STRIDE = TSR_INT(w->stride[1]),
                 .UNROLL = TSR_INT(choose_unroll(plan, s)), .PAIRS = TSR_INT(s->pairs),
                 .window_y = tsr_window_args(w, 0), .window_x = tsr_window_args(w, 1),
                 .blocks = TSR_INT(s->blocks), .group_inputs = TSR_INT(s->group_inputs),
                 .group_outputs = TSR_INT(s->group_outputs), .segments = TSR_INT(s->segments),
                 .columns = TSR_INT(s->columns), .units = TSR_INT(s->units));
    if (plan->device.language == TSR_WGSL)
        tsr_pass_groups(
            pass,
            tsr_divide_up(s->partials * s->blocks * s->taps * tsr_divide_up(channels, 4), 64));
    tsr_plan_loops(plan, 1, 2, (int64_t[]){s->units, s->columns});
    return sums;
}

/* With few pixels, a texel of the result is computed by one fragment, in one pass: partial sums
 * would only be copied. llvmpipe takes two to three times as long for its additional fetches. Pages
 * do not train and leave the kernel out. */
static bool is_direct(const tsr_plan *plan, const weight_sums *s) {
#ifdef TSR_WITHOUT_GRADIENT
    enum { FEW_PIXELS = 0 };
#else
    enum { FEW_PIXELS = 4 };
#endif
    const tsr_layout *g = tsr_plan_layout(plan, s->gradient);
    return FEW_PIXELS && s->block > 1 && !plan->device.software &&
           (int64_t)g->n * g->h * g->w <= FEW_PIXELS;
}

static void lower_direct(tsr_plan *plan, const weight_sums *s, int output) {
    const tsr_layout *g = tsr_plan_layout(plan, s->gradient);
    const tsr_window *w = &s->window;
    TSR_PASS(plan, output, conv_weight_grad_direct, .X = TSR_TENSOR(s->input),
             .G = TSR_TENSOR(s->gradient), .GROUPED = TSR_INT(w->group > 1),
             .window_y = tsr_window_args(w, 0), .window_x = tsr_window_args(w, 1),
             .group_outputs = TSR_INT(s->group_outputs));
    if (plan->status == TSR_OK)
        tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 3,
                       (int64_t[]){g->n, g->h, g->w});
}

static void lower_sums(tsr_plan *plan, weight_sums *s, int output) {
    split(plan, s);
    int sums = sum_products(plan, s);
    TSR_PASS(plan, output, conv_weight_grad_sum, .X = TSR_TENSOR(sums), .BLOCK = TSR_INT(s->block),
             .PAIRS = TSR_INT(s->pairs), .STRIDE = TSR_INT(s->window.stride[1]),
             .SINGLE = TSR_INT(s->block && s->partials == 1), .blocks = TSR_INT(s->blocks),
             .partials = TSR_INT(s->partials));
    if (plan->status == TSR_OK)
        tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 1, &s->partials);
}

tsr_status tsr_lower_conv_weight_grad(tsr_plan *plan, const tsr_node *node) {
    weight_sums s = {.input = tsr_plan_value(plan, node->inputs[0]),
                     .gradient = tsr_plan_value(plan, node->inputs[1])};
    TSR_TRY(tsr_node_window(plan->graph, node, &s.window));
    flatten(plan, &s);
    if (plan->status != TSR_OK)
        return plan->status;
    int64_t group = s.window.group, rows = s.window.kernel[TSR_ROWS],
            columns = s.window.kernel[TSR_COLUMNS];
    s.group_inputs = (int)(tsr_plan_layout(plan, s.input)->c / group);
    s.group_outputs = (int)(tsr_plan_layout(plan, s.gradient)->c / group);
    s.taps = rows * columns;
    choose_block(plan, &s);
    const tsr_shape shape = {4, {group * s.group_outputs, s.group_inputs, rows, columns}};
    int output = tsr_lower_output(plan, node, &shape);
    if (is_direct(plan, &s))
        lower_direct(plan, &s, output);
    else
        lower_sums(plan, &s, output);
    tsr_lower_finish(plan, node, output);
    return plan->status;
}
