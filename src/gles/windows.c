#include "gles/windows.h"

#include "base/divide.h"
#include "gles/kernels.h"

/* Of input tiles in a slice of a sum. */
enum { MIN_SLICE = 4 };

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t power_of_two_from(int64_t n) {
    int64_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

static int64_t count_groups(const tsr_windows *w) {
    return w->p.images * w->groups[0] * w->groups[1];
}

static int64_t count_phases(const tsr_windows *w) {
    return w->p.count[0] * w->p.count[1];
}

static int64_t count_parts(const tsr_windows *w) {
    return count_groups(w) * w->slices * count_phases(w);
}

static int64_t taps_of_tile(const tsr_windows *w) {
    return w->p.taps[0] * w->p.taps[1];
}

/* As many pixels of a row as there are planes to write them to, then as many rows. */
static void form_groups(const tsr_plan *plan, tsr_windows *w) {
    int64_t planes = plan->limits.max_planes;
    for (int axis = 1; axis >= 0; axis--) {
        int64_t last = w->p.count[axis] - 1, dilation = w->p.conv.window.dilation[axis];
        w->group[axis] = smaller(power_of_two_from(w->p.size[axis]), planes);
        planes /= w->group[axis];
        w->groups[axis] = tsr_divide_up(w->p.size[axis], w->group[axis]);
        w->pad[axis] = tsr_phases_pad(&w->p, 0, axis); /* falls with the phase */
        w->window[axis] = (w->group[axis] - 1) * w->p.stride[axis] +
                          (w->p.taps[axis] - 1) * dilation + 1 + w->pad[axis] -
                          tsr_phases_pad(&w->p, last, axis);
    }
}

/* Into enough slices for the device, each no larger than a block. */
static bool cut(const tsr_plan *plan, tsr_windows *w) {
    int64_t area = w->window[0] * w->window[1], most = plan->block_texels / area;
    int64_t fragments = count_groups(w) * count_phases(w) * w->p.outputs;
    int64_t count = smaller(plan->kernels->busy_fragments / fragments, w->p.tiles / MIN_SLICE);
    if (most == 0)
        return false;
    if (count * most < w->p.tiles)
        count = tsr_divide_up(w->p.tiles, most);
    w->tiles_of_slice = tsr_divide_up(w->p.tiles, count);
    w->slices = tsr_divide_up(w->p.tiles, w->tiles_of_slice);
    w->texels = tsr_divide_up(w->tiles_of_slice * area, TSR_BLOCK_ALIGNED) * TSR_BLOCK_ALIGNED;
    return true;
}

/* A panel about as wide as high. Each slice of each phase has a column of quads in the table, one
 * below the other. */
static bool lay_table(const tsr_plan *plan, tsr_windows *w) {
    enum { PANEL_ROWS = 8 };
    w->panel[0] = smaller(w->p.outputs, PANEL_ROWS);
    w->panel[1] = tsr_divide_up(w->p.outputs, w->panel[0]);
    w->table[0] = w->tiles_of_slice * taps_of_tile(w) * w->panel[0];
    w->table[1] = count_phases(w) * w->slices * 4 * w->panel[1];
    return w->table[0] <= plan->limits.max_texture_size &&
           w->table[1] <= plan->limits.max_texture_size;
}

static tsr_shape windows_shape(const tsr_windows *w) {
    return (tsr_shape){4, {1, 4, count_groups(w) * w->slices, w->texels}};
}

static tsr_shape parts_shape(const tsr_windows *w) {
    int64_t pixels = w->group[0] * w->group[1];
    return (tsr_shape){4, {count_parts(w), 4, w->panel[0], w->panel[1] * pixels}};
}

static tsr_layout_wish parts_wish(const tsr_windows *w) {
    return (tsr_layout_wish){.planes = (int)(w->group[0] * w->group[1])};
}

static const tsr_layout_wish one_plane = {.planes = 1};

/* Parts that wrap in a texture would be no rectangles. */
static bool fits(const tsr_plan *plan, const tsr_windows *w) {
    const tsr_shape windows = windows_shape(w), parts = parts_shape(w);
    tsr_layout l;
    return tsr_layout_make(&windows, &plan->limits, one_plane, &l) == TSR_OK &&
           tsr_layout_make(&parts, &plan->limits, parts_wish(w), &l) == TSR_OK && !l.linear &&
           l.planes == parts_wish(w).planes;
}

bool tsr_windows_make(const tsr_plan *plan, const tsr_phases *p, tsr_windows *w) {
    enum { PIXELS_OF_FRAGMENT = 4 }; /* where weights lie in blocks */
    *w = (tsr_windows){.p = *p};
    if (p->images * p->size[0] * p->size[1] > p->outputs * PIXELS_OF_FRAGMENT ||
        p->taps[1] > TSR_MAX_TAPS)
        return false;
    form_groups(plan, w);
    return cut(plan, w) && lay_table(plan, w) && fits(plan, w);
}

/* ---- weights --------------------------------------------------------------------------------- */

/* Four panels beside each other, one for each input channel of a tile, are the weights of a tap. */
static void fill_quad(const tsr_windows *w, const int64_t phase[2], int64_t tile,
                      const int64_t tap[2], float *panels) {
    for (int64_t output = 0; output < w->p.outputs; output++) {
        int64_t row = output / w->panel[1], column = output % w->panel[1];
        tsr_phases_fill(&w->p, phase, tap, tile, output, w->panel[1],
                        panels + (row * w->table[1] + column) * 4);
    }
}

static void fill_tile(const tsr_windows *w, const int64_t phase[2], int64_t tile, float *panels) {
    int64_t tap[2], height = w->panel[0] * w->table[1] * 4;
    for (tap[0] = 0; tap[0] < w->p.taps[0]; tap[0]++)
        for (tap[1] = 0; tap[1] < w->p.taps[1]; tap[1]++, panels += height)
            fill_quad(w, phase, tile, tap, panels);
}

static void fill_table(const void *data, float *texels) {
    const tsr_windows *w = data;
    int64_t height = taps_of_tile(w) * w->panel[0] * w->table[1] * 4;
    for (int64_t i = 0; i < count_phases(w); i++) {
        const int64_t phase[2] = {i / w->p.count[1], i % w->p.count[1]};
        for (int64_t tile = 0; tile < w->p.tiles; tile++) {
            int64_t column = i * w->slices + tile / w->tiles_of_slice;
            fill_tile(w, phase, tile,
                      texels + column * w->panel[1] * 16 + tile % w->tiles_of_slice * height);
        }
    }
}

/* ---- passes ---------------------------------------------------------------------------------- */

static int add_windows(tsr_plan *plan, const tsr_windows *w, int input) {
    const tsr_shape shape = windows_shape(w);
    int output = tsr_plan_tensor_make(plan, &shape, one_plane);
    tsr_pass *pass = tsr_plan_pass(plan, "windows", output);
    tsr_pass_source(plan, pass, input);
    tsr_pass_ints(pass, "groups", (int)w->groups[0], (int)w->groups[1],
                  (int)(w->group[0] * w->p.stride[0]), (int)(w->group[1] * w->p.stride[1]));
    tsr_pass_ints(pass, "window", (int)w->window[0], (int)w->window[1], (int)w->pad[0],
                  (int)w->pad[1]);
    tsr_pass_ints(pass, "slices", (int)w->slices, (int)w->tiles_of_slice, 0, 0);
    return output;
}

/* Those of a block, one for each phase. */
static void set_parts_of_block(const tsr_windows *w, int64_t block, tsr_part *parts) {
    int64_t slice = block % w->slices, first = slice * w->tiles_of_slice,
            tiles = smaller(w->tiles_of_slice, w->p.tiles - first);
    for (int64_t i = 0; i < count_phases(w); i++) {
        int64_t row = w->pad[0] - tsr_phases_pad(&w->p, i / w->p.count[1], 0),
                column = w->pad[1] - tsr_phases_pad(&w->p, i % w->p.count[1], 1);
        parts[i] = (tsr_part){{(int)((i * w->slices + slice) * 4 * w->panel[1]),
                               (int)(row * w->window[1] + column), (int)tiles, 0},
                              (int)block};
    }
}

static void set_parts(tsr_plan *plan, tsr_pass *pass, const tsr_windows *w) {
    int64_t count = count_parts(w), phases = count_phases(w);
    tsr_part *parts = tsr_plan_parts(plan, pass, (int)count);
    for (int64_t i = 0; parts && i < count; i += phases)
        set_parts_of_block(w, i / phases, parts + i);
}

static int add_draws(tsr_plan *plan, const tsr_windows *w, int windows) {
    const tsr_window *window = &w->p.conv.window;
    const tsr_shape shape = parts_shape(w);
    int output = tsr_plan_tensor_make(plan, &shape, parts_wish(w));
    tsr_pass *pass = tsr_plan_pass(plan, "conv_window", output);
    tsr_pass_source(plan, pass, windows);
    tsr_pass_ints(pass, "panel", (int)w->panel[0], (int)w->panel[1], 0, 0);
    tsr_pass_define(pass, "GROUP", (int)w->group[1]);
    tsr_pass_define(pass, "WINDOW", (int)w->window[1]);
    tsr_pass_define(pass, "TILE", (int)(w->window[0] * w->window[1]));
    tsr_pass_define(pass, "ROWS", (int)w->p.taps[0]);
    tsr_pass_repeat(pass, "TAPS", (int)w->p.taps[1], "EACH_TAP");
    tsr_pass_define(pass, "ROW_STRIDE", (int)w->p.stride[0]);
    tsr_pass_define(pass, "ROW_DILATION", (int)window->dilation[0]);
    tsr_pass_define(pass, "STRIDE", (int)w->p.stride[1]);
    tsr_pass_define(pass, "DILATION", (int)window->dilation[1]);
    tsr_pass_define(pass, "BLOCK", (int)w->texels);
    tsr_plan_loops(plan, 1, 2, (int64_t[]){w->tiles_of_slice, w->p.taps[0]});
    set_parts(plan, pass, w);
    pass->block_texels = (int)w->texels;
    pass->blocks_from_source = true;
    pass->table_half = plan->half;
    pass->table_w = (int)w->table[1];
    pass->table_h = (int)w->table[0];
    tsr_pass_table(plan, pass, fill_table, w, sizeof *w);
    return output;
}

tsr_pass *tsr_windows_passes(tsr_plan *plan, const tsr_windows *w, int input, int output) {
    int parts = add_draws(plan, w, add_windows(plan, w, input));
    tsr_pass *pass = tsr_plan_pass(plan, "collect", output);
    tsr_pass_source(plan, pass, parts);
    tsr_pass_ints(pass, "groups", (int)w->groups[0], (int)w->groups[1], (int)w->group[0],
                  (int)w->group[1]);
    tsr_pass_ints(pass, "parts", (int)w->p.count[0], (int)w->p.count[1], (int)w->slices,
                  (int)w->panel[1]);
    tsr_plan_loops(plan, 1, 1, &w->slices);
    return pass;
}
