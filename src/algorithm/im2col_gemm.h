/* Matrix products of many pixels by many weights, for small images. A fragment computes a tile of
 * output channels of a group of pixels. What the group reads of the input, its window, is laid out
 * by an im2col pass in a texture, which the device copies to a buffer: all fragments of a draw read
 * it as a uniform block, the same texels at the same time, and each its own weights from a table,
 * once for all pixels of the group. glsl/conv_im2col.glsl computes; another pass assembles the
 * output from what it wrote. */
#ifndef TSR_ALGORITHM_IM2COL_GEMM_H
#define TSR_ALGORITHM_IM2COL_GEMM_H

#include "algorithm/algorithm.h"

typedef struct tsr_im2col_gemm tsr_im2col_gemm;

/* Adds the weights of a tap of a set that an input tile meets to zeroed panels:
 * tsr_im2col_texel. gemm: the plan's copy of what it is the first member of. */
typedef void tsr_im2col_fill(const tsr_im2col_gemm *gemm, int64_t set, int64_t tile,
                             const int64_t tap[2], float *panels);

struct tsr_im2col_gemm {
    int64_t sets; /* of weights: each group meets every one */
    bool shared;  /* and they share its window; else each set has a window of its own */
    int64_t images, groups[2]; /* groups: of an image, rows, columns */
    int64_t phases[2];         /* of the output: rows, columns; sets are as many of each phase */
    int64_t group[2];          /* rows, columns of pixels of a group */
    int64_t window[2];         /* rows, columns that it reads of an input tile */
    int64_t taps[2];           /* as all below, of rows and of columns */
    int64_t stride[2], dilation[2];
    int64_t tiles, outputs; /* of input and output channels */
    tsr_im2col_fill *fill;
    const char *layout; /* tag of what fill makes: see tsr_weight_layout */
    /* chosen by tsr_im2col_gemm_make: */
    int64_t partials, partial_tiles; /* split-K: partial sums, input tiles of each */
    int64_t texels;                  /* of a block: the part of a window that a partial sum reads */
    int64_t panel[2];                /* fragments of a draw, and of a texel of weights for each */
    int64_t table[2];                /* texels */
};

/* False if they fit no block, table or texture, or pixels are many that share no weights. */
bool tsr_im2col_gemm_make(const tsr_plan *plan, tsr_im2col_gemm *gemm);

/* As those of a tsr_estimate; TSR_PART_COST: a texel of a part, drawn and assembled. */
enum { TSR_PART_COST = 250 };
double tsr_im2col_gemm_cost(const tsr_plan *plan, const tsr_im2col_gemm *gemm);
uint64_t tsr_im2col_gemm_bytes(const tsr_plan *plan, const tsr_im2col_gemm *gemm);
int tsr_im2col_live_texels(const tsr_im2col_gemm *gemm);

/* The tensor that an im2col pass writes: row (group * partials + partial), times sets plus set
 * where not shared, is a block, texel (tile * rows + row) * columns + column of it a window's. */
int tsr_im2col_blocks(tsr_plan *plan, const tsr_im2col_gemm *gemm);

/* Appends the pass that computes. conv: whose weights fill adds; first: of each set, its first
 * texel in a window, NULL: 0; size: of all that fill needs. The tensor it writes: image (group *
 * partials + partial) * sets + set holds output tile t in row t / panel[1], its pixels from column
 * t % panel[1] * pixels on. */
int tsr_im2col_gemm_draws(tsr_plan *plan, const tsr_im2col_gemm *gemm, const tsr_convolution *conv,
                          const int *first, size_t size, int blocks);

/* For a tsr_im2col_fill: the texel of an output tile for the first of an input tile's channels;
 * those for the others follow it panel[1] texels apart. */
float *tsr_im2col_texel(const tsr_im2col_gemm *gemm, int64_t output, float *panels);

/* Greatest power of two that planes of a draw leave for `count` pixels. */
int64_t tsr_im2col_group(int64_t count, int64_t planes);

#endif
