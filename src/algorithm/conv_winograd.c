/* Winograd's minimal filtering (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks,
 * 2015, arXiv:1509.09308): 2x2 output pixels of r x r taps from (r + 1)^2 multiplications, for r =
 * 2 and 3. One phase of a transposed convolution is such a filter. A convolution of stride s is the
 * sum of such filters of s^2 images, the input's pixels modulo s. The multiplications are a GEMM of
 * src/algorithm/im2col_gemm.h, a pixel being a position of a transformed tile. */
#include "algorithm/im2col_gemm.h"
#include "algorithm/phases.h"

#include "base/divide.h"

typedef struct conv {
    tsr_im2col_gemm gemm;
    tsr_phases p;
    int64_t taps; /* r */
} conv;

enum { PIXELS = 2 }; /* of a tile's row and column */

static int64_t positions(const conv *w) {
    return w->taps + PIXELS - 1;
}

/* The factor of tap `tap` in position k of the transformed filter. */
static double filter_factor(const conv *w, int64_t k, int64_t tap) {
    static const double two[3][2] = {{1, 0}, {1, 1}, {0, 1}},
                        three[4][3] = {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
    return w->taps == 2 ? two[k][tap] : three[k][tap];
}

static void add_tap(const conv *w, const int64_t phase[2], int64_t tile, const int64_t tap[2],
                    double factor, float *panels) {
    for (int64_t output = 0; output < w->p.outputs; output++)
        tsr_phases_add(&w->p, phase, tap, tile, output, w->gemm.step[1], factor,
                       tsr_im2col_texel(&w->gemm, output, panels));
}

/* Input tiles of each image modulo the stride are stored after those of the previous one. */
static void fill(const tsr_im2col_gemm *gemm, int64_t set, int64_t tile, const int64_t one_tap[2],
                 float *panels) {
    const conv *w = (const conv *)(const void *)gemm;
    const tsr_phases *p = &w->p;
    int64_t n = positions(w), index = set / (n * n), image = tile / p->tiles;
    const int64_t phase[2] = {index / p->count[1], index % p->count[1]};
    (void)one_tap;
    for (int64_t i = 0; i < w->taps * w->taps; i++) {
        int64_t row = i / w->taps, column = i % w->taps;
        const int64_t tap[2] = {row * p->stride[0] + image / p->stride[1],
                                column * p->stride[1] + image % p->stride[1]};
        double factor = filter_factor(w, set / n % n, row) * filter_factor(w, set % n, column);
        if (factor != 0 && tap[0] < p->taps[0] && tap[1] < p->taps[1])
            add_tap(w, phase, tile % p->tiles, tap, factor, panels);
    }
}

/* With fewer tiles than planes, weights are shared too little to justify larger tables. */
static bool form_groups(const tsr_plan *plan, conv *w) {
    int64_t planes = plan->limits.max_planes;
    for (int axis = 1; axis >= 0; axis--) {
        tsr_im2col_gemm *g = &w->gemm;
        int64_t tiles = tsr_divide_up(w->p.size[axis], PIXELS);
        g->group[axis] = tsr_im2col_group(tiles, planes);
        g->window[axis] = g->group[axis];
        g->taps[axis] = g->stride[axis] = g->dilation[axis] = 1;
        planes /= g->group[axis];
        g->groups[axis] = tsr_divide_up(tiles, g->group[axis]);
        g->phases[axis] = w->p.count[axis];
    }
    return planes == 1;
}

static bool is_filter(const tsr_phases *p, int64_t *taps) {
    const int64_t *dilation = p->conv.window.dilation;
    *taps = tsr_divide_up(p->taps[1], p->stride[1]);
    return tsr_divide_up(p->taps[0], p->stride[0]) == *taps && (*taps == 2 || *taps == 3) &&
           dilation[0] == 1 && dilation[1] == 1;
}

/* Weights are transformed as they are packed, constants only. Transformed they are no integers, and
 * transforms round. */
static bool has_other_weights(const tsr_problem *p) {
    return p->conv.tensor || p->conv.integers || p->conv.blocks || tsr_sums_integers(p->node);
}

static bool make(const tsr_plan *plan, const tsr_problem *problem, conv *w) {
    *w = (conv){.taps = 0};
    tsr_layout l;
    const tsr_phases *p = &w->p;
    if (has_other_weights(problem) || !tsr_phases_make(plan, problem, &l, &w->p) ||
        !is_filter(p, &w->taps) || !form_groups(plan, w))
        return false;
    tsr_im2col_gemm *g = &w->gemm;
    g->sets = p->count[0] * p->count[1] * positions(w) * positions(w);
    g->images = p->images;
    g->tiles = p->tiles * p->stride[0] * p->stride[1];
    g->outputs = p->outputs;
    g->fill = fill;
    g->layout = p->transposed ? "winograd, transposed" : "winograd"; /* sets tell its taps */
    return tsr_im2col_gemm_make(plan, g);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static int pad_steps(const tsr_phases *p, int axis) {
    return p->transposed ? (int)p->conv.window.pad_begin[axis] : 0;
}

static int add_input_transform(tsr_plan *plan, const conv *w, int input) {
    const tsr_im2col_gemm *g = &w->gemm;
    const tsr_phases *p = &w->p;
    int blocks = tsr_im2col_blocks(plan, g);
    int64_t pad[2];
    for (int i = 0; i < 2; i++)
        pad[i] = p->transposed ? p->taps[i] - 1 : tsr_phases_pad(p, 0, i);
    TSR_PASS(plan, blocks, winograd_input, .X = TSR_TENSOR(input),
             .POSITIONS = TSR_INT(positions(w)), .groups_y = TSR_INT(g->groups[0]),
             .groups_x = TSR_INT(g->groups[1]), .group_rows = TSR_INT(g->group[0]),
             .group_columns = TSR_INT(g->group[1]), .phases_y = TSR_INT(p->count[0]),
             .phases_x = TSR_INT(p->count[1]), .partials = TSR_INT(g->partials),
             .partial_tiles = TSR_INT(g->partial_tiles), .input_tiles = TSR_INT(p->tiles),
             .stride_x = TSR_INT(p->stride[1]), .sum_tiles = TSR_INT(g->tiles),
             .stride_y = TSR_INT(p->stride[0]), .pad_y = TSR_INT(pad[0]), .pad_x = TSR_INT(pad[1]),
             .phase_pad_y = TSR_INT(pad_steps(p, 0)), .phase_pad_x = TSR_INT(pad_steps(p, 1)));
    return blocks;
}

static tsr_pass *add_passes(tsr_plan *plan, const conv *w, int input, int output) {
    const tsr_im2col_gemm *g = &w->gemm;
    int partials = tsr_im2col_gemm_draws(plan, g, &w->p.conv, NULL, sizeof *w,
                                         add_input_transform(plan, w, input));
    tsr_pass *pass =
        TSR_PASS(plan, output, winograd_output, .X = TSR_TENSOR(partials),
                 .POSITIONS = TSR_INT(positions(w)), .groups_y = TSR_INT(g->groups[0]),
                 .groups_x = TSR_INT(g->groups[1]), .group_rows = TSR_INT(g->group[0]),
                 .group_columns = TSR_INT(g->group[1]), .phases_y = TSR_INT(g->phases[0]),
                 .phases_x = TSR_INT(g->phases[1]), .partials = TSR_INT(g->partials),
                 .panel_columns = TSR_INT(g->panel[1]));
    tsr_plan_loops(plan, 1, 3, (int64_t[]){positions(w), positions(w), g->partials});
    return pass;
}

/* ---- the algorithm --------------------------------------------------------------------------- */

static bool estimate(const tsr_plan *plan, const tsr_problem *p, tsr_estimate *e) {
    conv w;
    if (!make(plan, p, &w))
        return false;
    *e = tsr_im2col_gemm_estimate(plan, &w.gemm);
    e->winograd_tile = w.taps == 3 ? "F(2x2,3x3)" : "F(2x2,2x2)";
    return true;
}

static tsr_pass *lower(tsr_plan *plan, const tsr_problem *p) {
    conv w;
    int output = tsr_phases_output(plan, p);
    if (plan->status == TSR_OK && make(plan, p, &w))
        return add_passes(plan, &w, p->input, output);
    return tsr_problem_refuse(plan, "its filter is not one of 2x2 or 3x3");
}

const tsr_algorithm tsr_conv_winograd = {
    .name = "conv_winograd",
    .languages = TSR_GLSL,
    .kinds = TSR_CONV | TSR_CONV_TRANSPOSE,
    .needs = TSR_NEEDS_UNIFORM_BLOCK,
    .allowed_by = TSR_ALLOW_BLOCKS,
    .estimate = estimate,
    .lower = lower,
};
