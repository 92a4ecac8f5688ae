#include "gles/products.h"

#include "base/divide.h"
#include "gles/kernels.h"

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

int64_t tsr_products_group(int64_t count, int64_t planes) {
    int64_t power = 1;
    while (power < count && power < planes)
        power *= 2;
    return power;
}

static int64_t pixels_of(const tsr_products *p) {
    return p->group[0] * p->group[1];
}

static int64_t taps_of(const tsr_products *p) {
    return p->taps[0] * p->taps[1];
}

static int64_t count_groups(const tsr_products *p) {
    return p->images * p->groups[0] * p->groups[1];
}

static int64_t count_blocks(const tsr_products *p) {
    return count_groups(p) * p->slices * (p->shared ? 1 : p->sets);
}

static int64_t count_parts(const tsr_products *p) {
    return count_groups(p) * p->slices * p->sets;
}

/* Into slices no larger than a block; enough of them for the device, if memory is no matter. */
static bool cut(const tsr_plan *plan, tsr_products *p) {
    int64_t most = plan->block_texels / p->window[0] / p->window[1];
    if (most == 0)
        return false;
    int64_t area = p->window[0] * p->window[1];
    int64_t busy = tsr_gles_busy_slices(plan, count_groups(p) * p->sets * p->outputs, p->tiles);
    int64_t count = plan->frugal || busy < 1 ? 1 : busy;
    if (count * most < p->tiles)
        count = tsr_divide_up(p->tiles, most);
    p->tiles_of_slice = tsr_divide_up(p->tiles, count);
    p->slices = tsr_divide_up(p->tiles, p->tiles_of_slice);
    p->texels = tsr_divide_up(p->tiles_of_slice * area, TSR_BLOCK_ALIGNED) * TSR_BLOCK_ALIGNED;
    return true;
}

/* A panel about as wide as high. Each slice of each set has a column of four panels beside each
 * other, one for each input channel of a tile, one row for each tap of each tile. */
static bool lay_table(const tsr_plan *plan, tsr_products *p) {
    enum { PANEL_ROWS = 8 };
    p->panel[0] = smaller(p->outputs, PANEL_ROWS);
    p->panel[1] = tsr_divide_up(p->outputs, p->panel[0]);
    p->table[0] = p->tiles_of_slice * taps_of(p) * p->panel[0];
    p->table[1] = p->sets * p->slices * 4 * p->panel[1];
    return p->table[0] <= plan->limits.max_texture_size &&
           p->table[1] <= plan->limits.max_texture_size;
}

static tsr_shape windows_shape(const tsr_products *p) {
    return (tsr_shape){4, {1, 4, count_blocks(p), p->texels}};
}

static tsr_shape parts_shape(const tsr_products *p) {
    return (tsr_shape){4, {count_parts(p), 4, p->panel[0], p->panel[1] * pixels_of(p)}};
}

static const tsr_layout_wish one_plane = {.planes = 1};

static tsr_layout_wish parts_wish(const tsr_products *p) {
    return (tsr_layout_wish){.planes = (int)pixels_of(p)};
}

/* Windows and parts are for small images: for large ones they would take many times the tensors'
 * memory. Parts that wrap in a texture would be no rectangles. */
static bool fits(const tsr_plan *plan, const tsr_products *p) {
    enum { MOST_TEXELS = 1 << 20 }; /* 16 MiB */
    const tsr_shape windows = windows_shape(p), parts = parts_shape(p);
    tsr_layout l;
    return tsr_shape_count(&windows) + tsr_shape_count(&parts) <= 4 * MOST_TEXELS &&
           tsr_layout_make(&windows, &plan->limits, one_plane, &l) == TSR_OK &&
           tsr_layout_make(&parts, &plan->limits, parts_wish(p), &l) == TSR_OK && !l.linear &&
           l.planes == parts_wish(p).planes;
}

bool tsr_products_make(const tsr_plan *plan, tsr_products *p) {
    enum { MOST_PIXELS = 16 }; /* one by one */
    return p->taps[1] <= TSR_MAX_TAPS && (pixels_of(p) > 1 || count_groups(p) <= MOST_PIXELS) &&
           cut(plan, p) && lay_table(plan, p) && fits(plan, p);
}

/* A texel of weights takes as long to fetch as the products with five pixels; a texel of a window
 * is drawn and copied; a draw takes its time, too. */
double tsr_products_cost(const tsr_products *p) {
    enum { FETCH = 5, WINDOW = 500, DRAW = 20000 };
    int64_t pixels = pixels_of(p) > FETCH ? pixels_of(p) : FETCH;
    double sums = (double)count_parts(p) * (double)p->outputs;
    return sums / (double)p->slices * (double)(p->tiles * taps_of(p) * 16 * pixels) +
           (double)count_blocks(p) * (double)p->texels * WINDOW +
           sums * (double)pixels_of(p) * TSR_PART_COST + (double)count_parts(p) * DRAW;
}

tsr_pass *tsr_products_windows(tsr_plan *plan, const tsr_products *p, const char *kernel,
                               int input) {
    const tsr_shape shape = windows_shape(p);
    tsr_pass *pass = tsr_plan_pass(plan, kernel, tsr_plan_tensor_make(plan, &shape, one_plane));
    tsr_pass_source(plan, pass, input);
    tsr_pass_define(pass, "GROUPS_Y", (int)p->groups[0]);
    tsr_pass_define(pass, "GROUPS_X", (int)p->groups[1]);
    tsr_pass_define(pass, "SLICES", (int)p->slices);
    tsr_pass_define(pass, "SLICE", (int)p->tiles_of_slice);
    return pass;
}

/* ---- weights --------------------------------------------------------------------------------- */

float *tsr_products_texel(const tsr_products *p, int64_t output, float *panels) {
    int64_t row = output / p->panel[1], column = output % p->panel[1];
    return panels + (row * p->table[1] + column) * 4;
}

static void fill_tile(const tsr_products *p, int64_t set, int64_t tile, float *panels) {
    int64_t tap[2], height = p->panel[0] * p->table[1] * 4;
    for (tap[0] = 0; tap[0] < p->taps[0]; tap[0]++)
        for (tap[1] = 0; tap[1] < p->taps[1]; tap[1]++, panels += height)
            p->fill(p, set, tile, tap, panels);
}

/* All sets of a tile one behind the other: they read the same weights. */
static void fill_table(const void *data, float *texels) {
    const tsr_products *p = data;
    int64_t height = taps_of(p) * p->panel[0] * p->table[1] * 4;
    for (int64_t tile = 0; tile < p->tiles; tile++)
        for (int64_t set = 0; set < p->sets; set++) {
            int64_t column = set * p->slices + tile / p->tiles_of_slice;
            fill_tile(p, set, tile,
                      texels + column * p->panel[1] * 16 + tile % p->tiles_of_slice * height);
        }
}

/* ---- draws ----------------------------------------------------------------------------------- */

static tsr_part make_part(const tsr_products *p, int64_t i, const int *first) {
    int64_t set = i % p->sets, slice = i / p->sets % p->slices;
    int64_t tiles = smaller(p->tiles_of_slice, p->tiles - slice * p->tiles_of_slice);
    return (tsr_part){
        {(int)((set * p->slices + slice) * 4 * p->panel[1]), first ? first[set] : 0, (int)tiles},
        (int)(p->shared ? i / p->sets : i)};
}

static void set_parts(tsr_plan *plan, tsr_pass *pass, const tsr_products *p, const int *first) {
    int64_t count = count_parts(p);
    tsr_part *parts = tsr_plan_parts(plan, pass, (int)count);
    for (int64_t i = 0; parts && i < count; i++)
        parts[i] = make_part(p, i, first);
}

int tsr_products_draws(tsr_plan *plan, const tsr_products *p, const int *first, size_t size,
                       int windows) {
    const tsr_shape shape = parts_shape(p);
    int output = tsr_plan_tensor_inner(plan, &shape, parts_wish(p));
    tsr_pass *pass = tsr_plan_pass(plan, "conv_window", output);
    tsr_pass_source(plan, pass, windows);
    tsr_pass_ints(pass, "panel", (int)p->panel[0], (int)p->panel[1], 0, 0);
    tsr_pass_define(pass, "GROUP", (int)p->group[1]);
    tsr_pass_define(pass, "WINDOW", (int)p->window[1]);
    tsr_pass_define(pass, "TILE", (int)(p->window[0] * p->window[1]));
    tsr_pass_define(pass, "ROWS", (int)p->taps[0]);
    tsr_pass_repeat(pass, "TAPS", (int)p->taps[1], "EACH_TAP");
    tsr_pass_define(pass, "ROW_STRIDE", (int)p->stride[0]);
    tsr_pass_define(pass, "ROW_DILATION", (int)p->dilation[0]);
    tsr_pass_define(pass, "STRIDE", (int)p->stride[1]);
    tsr_pass_define(pass, "DILATION", (int)p->dilation[1]);
    tsr_pass_define(pass, "BLOCK", (int)p->texels);
    tsr_plan_loops(plan, 1, 2, (int64_t[]){p->tiles_of_slice, p->taps[0]});
    set_parts(plan, pass, p, first);
    pass->blocks_from_source = true;
    pass->table_half = plan->half;
    pass->table_w = (int)p->table[1];
    pass->table_h = (int)p->table[0];
    tsr_pass_table(plan, pass, fill_table, p, size);
    return output;
}

tsr_pass *tsr_products_collect(tsr_plan *plan, const tsr_products *p, const char *kernel, int parts,
                               int output) {
    tsr_pass *pass = tsr_plan_pass(plan, kernel, output);
    tsr_pass_source(plan, pass, parts);
    tsr_pass_ints(pass, "groups", (int)p->groups[0], (int)p->groups[1], (int)p->group[0],
                  (int)p->group[1]);
    tsr_pass_ints(pass, "parts", (int)p->phases[0], (int)p->phases[1], (int)p->slices,
                  (int)p->panel[1]);
    return pass;
}
