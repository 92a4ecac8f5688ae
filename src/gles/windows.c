#include "gles/windows.h"

#include "base/divide.h"

static void fill(const tsr_products *products, int64_t set, int64_t tile, const int64_t tap[2],
                 float *panels) {
    const tsr_phases *p = &((const tsr_windows *)(const void *)products)->p;
    const int64_t phase[2] = {set / p->count[1], set % p->count[1]};
    for (int64_t output = 0; output < p->outputs; output++)
        tsr_phases_add(p, phase, tap, tile, output, products->panel[1], 1,
                       tsr_products_texel(products, output, panels));
}

/* As many pixels of a row as there are planes to write them to, then as many rows. */
static void form_groups(const tsr_plan *plan, tsr_windows *w) {
    int64_t planes = plan->limits.max_planes;
    for (int axis = 1; axis >= 0; axis--) {
        tsr_products *g = &w->products;
        g->group[axis] = tsr_products_group(w->p.size[axis], planes);
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

bool tsr_windows_make(const tsr_plan *plan, const tsr_phases *p, tsr_windows *w) {
    *w = (tsr_windows){.p = *p,
                       .products = {.sets = p->count[0] * p->count[1],
                                    .shared = true,
                                    .images = p->images,
                                    .tiles = p->tiles,
                                    .outputs = p->outputs,
                                    .fill = fill}};
    form_groups(plan, w);
    return tsr_products_make(plan, &w->products);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static int add_windows(tsr_plan *plan, const tsr_windows *w, int input) {
    const tsr_products *g = &w->products;
    tsr_pass *pass = tsr_products_windows(plan, g, "windows", input);
    tsr_pass_define(pass, "WINDOW_Y", (int)g->window[0]);
    tsr_pass_define(pass, "WINDOW_X", (int)g->window[1]);
    tsr_pass_ints(pass, "steps", (int)(g->group[0] * g->stride[0]),
                  (int)(g->group[1] * g->stride[1]), (int)w->pad[0], (int)w->pad[1]);
    return pass->output;
}

static int add_draws(tsr_plan *plan, const tsr_windows *w, int windows) {
    const tsr_products *g = &w->products;
    int *first = TSR_NEW(plan->arena, g->sets, int);
    if (!first) {
        tsr_plan_out_of_memory(plan);
        return 0;
    }
    for (int64_t set = 0; set < g->sets; set++) {
        int64_t row = w->pad[0] - tsr_phases_pad(&w->p, set / w->p.count[1], 0),
                column = w->pad[1] - tsr_phases_pad(&w->p, set % w->p.count[1], 1);
        first[set] = (int)(row * g->window[1] + column);
    }
    return tsr_products_draws(plan, g, first, sizeof *w, windows);
}

tsr_pass *tsr_windows_passes(tsr_plan *plan, const tsr_windows *w, int input, int output) {
    const tsr_products *g = &w->products;
    int parts = add_draws(plan, w, add_windows(plan, w, input));
    tsr_pass *pass = tsr_products_collect(plan, g, "collect", parts, output);
    tsr_plan_loops(plan, 1, 1, &g->slices);
    return pass;
}
