/* im2col and GEMM, for small images. A fragment computes a tile of output channels of a group of
 * pixels. An im2col pass writes the group's window of the input to a texture, which the device
 * copies to a buffer. All fragments of a group read the window from a uniform block, the same
 * texels at the same time; each fragment reads its weights from a table once for all pixels of the
 * group. GPUs of few registers read the window from the texture itself
 * (glsl/conv_im2col_texture.glsl). glsl/conv_im2col.glsl computes partial sums, from which another
 * pass assembles the output. */
#ifndef TSR_ALGORITHM_IM2COL_GEMM_H
#define TSR_ALGORITHM_IM2COL_GEMM_H

#include "algorithm/algorithm.h"

typedef struct tsr_im2col_gemm tsr_im2col_gemm;

/* Adds the weights between an input tile and a tap of a set to zeroed panels: see tsr_im2col_texel.
 * gemm: first member of the plan's copy of the algorithm's data. */
typedef void tsr_im2col_fill(const tsr_im2col_gemm *gemm, int64_t set, int64_t tile,
                             const int64_t tap[2], float *panels);

struct tsr_im2col_gemm {
    int64_t sets; /* of weights: each group is multiplied by all */
    bool shared;  /* all sets share a group's window; else each set has a separate window */
    int64_t images, groups[2]; /* groups: of an image, rows, columns */
    int64_t phases[2];         /* of the output: rows, columns; sets are as many of each phase */
    int64_t group[2];          /* rows, columns of pixels of a group */
    int64_t window[2];         /* rows, columns that it reads of an input tile */
    int64_t taps[2];           /* as all below, of rows and of columns */
    int64_t stride[2], dilation[2];
    int64_t tiles, outputs; /* of input and output channels */
    tsr_im2col_fill *fill;
    const char *layout; /* identifies fill's order: see tsr_weight_layout */
    float scale;        /* of tsr_half_products(); 0: products of 32 bits */
    bool of_4;          /* weights are read four texels at once: those of a tile's channels */
    bool scaled;        /* weights have scales or zero points that kernels read */
    /* chosen by tsr_im2col_gemm_make: */
    bool dots;                       /* see tsr_fragment_limits */
    int64_t partials, partial_tiles; /* split-K: partial sums, input tiles of each */
    int64_t texels;                  /* what a partial sum reads of a window */
    int rows;                        /* windows in a uniform block, `texels` texels of each */
    int64_t panel[2];                /* fragments of a draw, and of a texel of weights for each */
    int64_t table[2];                /* texels */
    int64_t step[2];                 /* texels between fragments, between channels of a tile */
};

/* False if windows exceed a uniform block, weights a table or partial sums a texture, or if too
 * many pixels share no weights. */
bool tsr_im2col_gemm_make(const tsr_plan *plan, tsr_im2col_gemm *gemm);

/* TSR_SUM_COST: of a texel of a partial sum, drawn and assembled. */
enum { TSR_SUM_COST = 250 };
tsr_estimate tsr_im2col_gemm_estimate(const tsr_plan *plan, const tsr_im2col_gemm *gemm);

/* The tensor that an im2col pass writes. Row group * partials + partial (if not shared: times sets
 * plus set) is of a uniform block; its texel (tile * rows + row) * columns + column is the
 * window's.
 */
int tsr_im2col_blocks(tsr_plan *plan, const tsr_im2col_gemm *gemm);

/* Appends the pass that computes partial sums. conv: has the weights; phase_pad: where sets are the
 * phases of a transposed convolution, its padding modulo its stride, of rows and of columns, else
 * NULL; size: of the data that fill needs, gemm being its first member. The
 * tensor it writes: image (group * partials + partial) * sets + set holds output tile t in row t /
 * panel[1], its pixels from column t % panel[1] * pixels on. */
int tsr_im2col_gemm_draws(tsr_plan *plan, const tsr_im2col_gemm *gemm, const tsr_convolution *conv,
                          const int64_t *phase_pad, size_t size, int blocks);

/* For a tsr_im2col_fill: the texel of an output tile for the first channel of an input tile; those
 * for the other channels follow step[1] texels apart. */
float *tsr_im2col_texel(const tsr_im2col_gemm *gemm, int64_t output, float *panels);

/* Largest power of two of pixels, at most `count`, that the planes of a draw allow. */
int64_t tsr_im2col_group(int64_t count, int64_t planes);

#endif
