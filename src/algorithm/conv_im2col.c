/* Convolutions of small images by im2col and a GEMM (src/algorithm/im2col_gemm.h) over groups of
 * output pixels. */
#include "algorithm/block_weights.h"
#include "algorithm/im2col_gemm.h"
#include "algorithm/phases.h"

#include "base/divide.h"

/* The phases of a transposed convolution share the im2col windows. */
typedef struct conv {
    tsr_im2col_gemm gemm;
    tsr_phases p;
    int64_t pad[2]; /* of the first window */
} conv;

static void fill(const tsr_im2col_gemm *gemm, int64_t set, int64_t tile, const int64_t tap[2],
                 float *panels) {
    const tsr_phases *p = &((const conv *)(const void *)gemm)->p;
    const int64_t phase[2] = {set / p->count[1], set % p->count[1]};
    const int64_t element = tap[0] * p->conv.window.kernel[1] + tap[1]; /* where taps differ */
    for (int64_t output = 0; output < p->outputs; output++) {
        float *texels = tsr_im2col_texel(gemm, output, panels);
        tsr_phases_add(p, phase, tap, tile, output, gemm->step[1], 1, texels);
        if (p->conv.zero_points)
            tsr_add_zero_points(&p->conv, output * 4, tile * 4, element, gemm->step[1], texels);
    }
}

/* As many pixels of a row as there are planes, then rows in the remaining planes. */
static void form_groups(const tsr_plan *plan, conv *w) {
    int64_t planes = plan->limits.max_planes;
    for (int axis = 1; axis >= 0; axis--) {
        tsr_im2col_gemm *g = &w->gemm;
        g->group[axis] = tsr_im2col_group(w->p.size[axis], planes);
        planes /= g->group[axis];
        g->groups[axis] = tsr_divide_up(w->p.size[axis], g->group[axis]);
        g->phases[axis] = w->p.count[axis];
        w->pad[axis] = tsr_phases_pad(&w->p, 0, axis); /* falls with the phase */
        g->taps[axis] = w->p.taps[axis];
        g->stride[axis] = w->p.stride[axis];
        g->dilation[axis] = w->p.conv.window.dilation[axis];
        g->window[axis] = (g->group[axis] - 1) * g->stride[axis] +
                          (g->taps[axis] - 1) * g->dilation[axis] + 1 + w->pad[axis] -
                          tsr_phases_pad(&w->p, w->p.count[axis] - 1, axis);
    }
}

static bool make(const tsr_plan *plan, const tsr_problem *problem, conv *w) {
    tsr_layout l;
    *w = (conv){.pad = {0}};
    const tsr_phases *p = &w->p;
    if (!tsr_phases_make(plan, problem, &l, &w->p) ||
        (p->transposed && !tsr_blocks_hold_taps(&p->conv)))
        return false;
    w->gemm = (tsr_im2col_gemm){.sets = p->count[0] * p->count[1],
                                .shared = true,
                                .images = p->images,
                                .tiles = p->tiles,
                                .outputs = p->outputs,
                                .of_4 = tsr_table_is_of_4(tsr_weight_format(plan, &p->conv)),
                                .scaled = p->conv.blocks || p->conv.zero_points,
                                .fill = fill,
                                .layout = p->transposed ? "im2col, transposed" : "im2col"};
    form_groups(plan, w);
    return tsr_im2col_gemm_make(plan, &w->gemm);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static int add_blocks(tsr_plan *plan, const conv *w, int input) {
    const tsr_im2col_gemm *g = &w->gemm;
    int blocks = tsr_im2col_blocks(plan, g);
    TSR_PASS(plan, blocks, im2col, .X = TSR_TENSOR(input), .groups_y = TSR_INT(g->groups[0]),
             .groups_x = TSR_INT(g->groups[1]), .window_rows = TSR_INT(g->window[0]),
             .window_columns = TSR_INT(g->window[1]), .partials = TSR_INT(g->partials),
             .partial_tiles = TSR_INT(g->partial_tiles),
             .step_y = TSR_INT(g->group[0] * g->stride[0]),
             .step_x = TSR_INT(g->group[1] * g->stride[1]), .pad_y = TSR_INT(w->pad[0]),
             .pad_x = TSR_INT(w->pad[1]));
    return blocks;
}

static tsr_pass *add_passes(tsr_plan *plan, const conv *w, int input, int output) {
    const tsr_im2col_gemm *g = &w->gemm;
    const tsr_window *window = &w->p.conv.window;
    const int64_t pad[2] = {window->pad_begin[0] % window->stride[0],
                            window->pad_begin[1] % window->stride[1]};
    int partials = tsr_im2col_gemm_draws(plan, g, &w->p.conv, w->p.transposed ? pad : NULL,
                                         sizeof *w, add_blocks(plan, w, input));
    tsr_pass *pass =
        TSR_PASS(plan, output, im2col_assemble, .X = TSR_TENSOR(partials),
                 .groups_y = TSR_INT(g->groups[0]), .groups_x = TSR_INT(g->groups[1]),
                 .group_rows = TSR_INT(g->group[0]), .group_columns = TSR_INT(g->group[1]),
                 .phases_y = TSR_INT(g->phases[0]), .phases_x = TSR_INT(g->phases[1]),
                 .partials = TSR_INT(g->partials), .panel_columns = TSR_INT(g->panel[1]));
    tsr_plan_loops(plan, 1, 1, &g->partials);
    return pass;
}

/* ---- the algorithm --------------------------------------------------------------------------- */

static bool estimate(const tsr_plan *plan, const tsr_problem *p, tsr_estimate *e) {
    conv w;
    if (!make(plan, p, &w))
        return false;
    *e = tsr_im2col_gemm_estimate(plan, &w.gemm);
    return true;
}

static tsr_pass *lower(tsr_plan *plan, const tsr_problem *p) {
    conv w;
    int output = tsr_phases_output(plan, p);
    if (plan->status == TSR_OK && make(plan, p, &w)) {
        w.gemm.scale = plan->device.fragments.registers ? tsr_half_products(plan, &w.p.conv) : 0;
        return add_passes(plan, &w, p->input, output);
    }
    return tsr_problem_refuse(plan, "its im2col blocks fit no uniform blocks");
}

const tsr_algorithm tsr_conv_im2col = {
    .name = "conv_im2col",
    .languages = TSR_GLSL,
    .kinds = TSR_CONV | TSR_CONV_TRANSPOSE,
    .needs = TSR_NEEDS_UNIFORM_BLOCK,
    .allowed_by = TSR_ALLOW_BLOCKS,
    .estimate = estimate,
    .lower = lower,
};
