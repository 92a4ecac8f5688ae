#include "algorithm/gemm_regions.h"

#include "base/divide.h"

/* The least power of two from low to high that is at least `wanted`. */
static int power_of_two(int64_t wanted, int low, int high) {
    int power = low;
    while (power < wanted && power < high)
        power *= 2;
    return power;
}

/* Partial sums of an output that a buffer can hold. */
static int64_t most_partials(const tsr_plan *plan, const tsr_layout *output) {
    return (int64_t)(plan->limits.max_buffer_bytes / tsr_split_bytes(plan, output, 2)) * 2;
}

/* Partial sums: enough workgroups to keep a large GPU busy, or half busy if they needed too much
 * memory. */
static void divide_steps(const tsr_plan *plan, const tsr_gemm_size *p, const tsr_layout *output,
                         int enough, tsr_gemm_regions *b) {
    int64_t iterations = tsr_divide_up(p->steps, b->steps),
            groups = b->tiles * b->pixels * p->batches;
    int64_t most = most_partials(plan, output);
    int64_t partials = (plan->low_memory ? enough / 2 : enough) / groups;
    partials = partials > iterations / 4 ? iterations / 4 : partials;
    partials = partials > most ? most : partials;
    b->partial_steps = tsr_divide_up(iterations, partials > 1 ? partials : 1) * b->steps;
    b->partials = tsr_divide_up(p->steps, b->partial_steps);
    b->groups = groups * b->partials;
}

static tsr_gemm_regions workgroup_regions(const tsr_plan *plan, const tsr_gemm_size *p,
                                          const tsr_layout *output) {
    enum { PIXELS = 4, TILES = 1, INVOCATIONS = 256, WORKGROUP_TEXELS = 1024, ENOUGH = 512 };
    tsr_gemm_regions b = {.region_tiles = TILES, .steps = 4};
    b.columns = power_of_two(tsr_divide_up(p->tiles, TILES), 1, 16);
    b.region_pixels = b.columns < PIXELS ? b.columns : PIXELS;
    b.rows = power_of_two(tsr_divide_up(p->pixels, b.region_pixels), 1, INVOCATIONS / b.columns);
    while (b.steps * (b.rows * b.region_pixels + 4 * b.columns * TILES) > WORKGROUP_TEXELS)
        b.steps /= 2;
    b.tiles = tsr_divide_up(p->tiles, b.columns * TILES);
    b.pixels = tsr_divide_up(p->pixels, b.rows * b.region_pixels);
    divide_steps(plan, p, output, ENOUGH, &b);
    return b;
}

/* As many tiles as leave enough workgroups: more of them read fewer texels of the left matrix.
 * Their number is a parameter: layers that share a program need not wait for its instructions
 * again. */
static tsr_gemm_regions sliced_regions(const tsr_gemm_size *p) {
    enum { PIXELS = 4, INVOCATIONS = 256, MOST_TILES = 16, ENOUGH = 256 };
    tsr_gemm_regions b = {.region_pixels = power_of_two(p->pixels, 1, PIXELS),
                          .region_tiles = 1,
                          .group_tiles = power_of_two(p->tiles, 1, MOST_TILES),
                          .columns = 1,
                          .rows = 1,
                          .partials = 1,
                          .partial_steps = p->steps};
    b.pixels = tsr_divide_up(p->pixels, b.region_pixels);
    while (b.group_tiles > 1 &&
           tsr_divide_up(p->tiles, b.group_tiles) * b.pixels * p->batches < ENOUGH)
        b.group_tiles /= 2;
    /* an invocation for each of the region's results */
    b.steps = power_of_two(p->steps * b.group_tiles, b.region_pixels * b.group_tiles, INVOCATIONS);
    b.tiles = tsr_divide_up(p->tiles, b.group_tiles);
    b.groups = b.tiles * b.pixels * p->batches;
    return b;
}

/* Regions of 128 channels, where there are as many and enough workgroups, else of fewer. */
static tsr_gemm_regions matrix_regions(const tsr_plan *plan, const tsr_gemm_size *p,
                                       const tsr_layout *output) {
    enum { SUBGROUPS = 4, MOST_TILES = 4, ENOUGH = 264 };
    const int64_t matrices = tsr_divide_up(p->tiles, TSR_GEMM_MATRIX_TILES);
    tsr_gemm_regions b = {.columns = power_of_two(matrices, 1, 2), .steps = 8};
    b.rows = SUBGROUPS / b.columns;
    b.region_pixels = 4 / b.rows;
    b.pixels = tsr_divide_up(p->pixels, TSR_GEMM_MATRIX_PIXELS);
    b.region_tiles = 2 * power_of_two(tsr_divide_up(matrices, b.columns), 1, MOST_TILES);
    do {
        b.region_tiles /= 2;
        b.tiles = tsr_divide_up(matrices, b.columns * b.region_tiles);
        divide_steps(plan, p, output, ENOUGH, &b);
    } while (b.region_tiles > 1 && b.groups < ENOUGH / 2);
    return b;
}

static tsr_gemm_regions register_regions(const tsr_gemm_size *p) {
    enum { PIXELS = 8, TILES = 2, GROUP = 64 };
    tsr_gemm_regions b = {.region_pixels = power_of_two(p->pixels, 1, PIXELS),
                          .region_tiles = power_of_two(p->tiles, 1, TILES),
                          .partials = 1,
                          .partial_steps = p->steps};
    b.tiles = tsr_divide_up(p->tiles, b.region_tiles);
    b.pixels = tsr_divide_up(p->pixels, b.region_pixels);
    b.groups = tsr_divide_up(b.tiles * b.pixels * p->batches, GROUP);
    return b;
}

tsr_gemm_regions tsr_gemm_divide(const tsr_plan *plan, tsr_gemm_form form,
                                 const tsr_gemm_size *size, const tsr_layout *output) {
    tsr_gemm_regions b = form == TSR_GEMM_REGISTERS   ? register_regions(size)
                         : form == TSR_GEMM_WORKGROUP ? workgroup_regions(plan, size, output)
                         : form == TSR_GEMM_SLICED_K  ? sliced_regions(size)
                                                      : matrix_regions(plan, size, output);
    b.form = form;
    b.table_columns = form == TSR_GEMM_SLICED_K ? 1 : size->tiles;
    return b;
}

bool tsr_gemm_has_few_pixels(const tsr_gemm_size *size) {
    enum { FEW = 16 };
    return size->pixels * size->batches <= FEW;
}
