/* Products of many pixels with many weights. A fragment computes a tile of output channels of a
 * group of pixels; all fragments of a draw read what the group needs of the input, its window, from
 * a uniform block, the same texels at the same time, and each its own weights from a table, once
 * for all pixels of the group. A pass lays the windows out in a texture, which the device copies to
 * a buffer; glsl/conv_window.glsl computes; another pass collects what it wrote. */
#ifndef TSR_GLES_PRODUCTS_H
#define TSR_GLES_PRODUCTS_H

#include "gpu/lower.h"

typedef struct tsr_products tsr_products;

/* Adds the weights of a tap of a set that an input tile meets to zeroed panels:
 * tsr_products_texel. products: the plan's copy of what they are the first member of. */
typedef void tsr_products_fn(const tsr_products *products, int64_t set, int64_t tile,
                             const int64_t tap[2], float *panels);

struct tsr_products {
    int64_t sets; /* of weights: each group meets every one */
    bool shared;  /* and they share its window; else each set has a window of its own */
    int64_t images, groups[2]; /* groups: of an image, rows, columns */
    int64_t phases[2];         /* of the output: rows, columns; sets are as many of each phase */
    int64_t group[2];          /* rows, columns of pixels of a group */
    int64_t window[2];         /* rows, columns that it reads of an input tile */
    int64_t taps[2];           /* as all below, of rows and of columns */
    int64_t stride[2], dilation[2];
    int64_t tiles, outputs; /* of input and output channels */
    tsr_products_fn *fill;
    /* chosen by tsr_products_make: */
    int64_t slices, tiles_of_slice; /* of a sum */
    int64_t texels;                 /* of a block: a slice of a window */
    int64_t panel[2];               /* fragments of a draw, and of a texel of weights for each */
    int64_t table[2];               /* texels */
};

/* False if they fit no block, table or texture, or pixels are many that share no weights. */
bool tsr_products_make(const tsr_plan *plan, tsr_products *products);

/* What they cost, as so many multiply-adds cost an H200; TSR_PART_COST: a texel of a part, drawn
 * and collected. */
enum { TSR_PART_COST = 250 };
double tsr_products_cost(const tsr_products *products);

/* Appends the pass that lays the windows out: row (group * slices + slice), times sets plus set
 * where not shared, is a block, texel (tile * rows + row) * columns + column of it a window's. */
tsr_pass *tsr_products_windows(tsr_plan *plan, const tsr_products *products, const char *kernel,
                               int input);

/* Appends the pass that computes. first: of each set, its first texel in a window, NULL: 0; size:
 * of all that fill needs. The tensor it writes: image (group * slices + slice) * sets + set holds
 * output tile t in row t / panel[1], its pixels from column t % panel[1] * pixels on. */
int tsr_products_draws(tsr_plan *plan, const tsr_products *products, const int *first, size_t size,
                       int windows);

/* Appends the pass that makes `output` of what that one wrote. */
tsr_pass *tsr_products_collect(tsr_plan *plan, const tsr_products *products, const char *kernel,
                               int parts, int output);

/* For a tsr_products_fn: the texel of an output tile for the first of an input tile's channels;
 * those for the others lie panel[1] texels behind each other. */
float *tsr_products_texel(const tsr_products *products, int64_t output, float *panels);

/* Greatest power of two that planes of a draw leave for `count` pixels. */
int64_t tsr_products_group(int64_t count, int64_t planes);

#endif
