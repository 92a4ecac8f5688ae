/* Reductions over axes in a pyramid of passes, which keeps the work of each fragment, and the
 * rounding error, small; where workgroups reduce a block together, in few passes. */
#ifndef TSR_LOWER_REDUCTION_H
#define TSR_LOWER_REDUCTION_H

#include "algorithm/algorithm.h"
#include "lower/lower.h"

typedef struct tsr_reduction {
    bool axis[4];    /* of N, C, H, W: those that keep size 1 */
    bool exact;      /* as sums that nearly cancel have to be */
    bool workgroups; /* each combines a block where that pays */
} tsr_reduction;

tsr_reduction tsr_over_image(bool workgroups);

/* Lowers a node's reduction of a tensor by the algorithm that it is to have. The pass returned
 * writes the result. */
tsr_pass *tsr_lower_reduction(tsr_plan *plan, const tsr_node *node, int input,
                              tsr_reduce_fn *reduce);

/* What elements are combined to; the values are those of glsl/combine.glsl. */
typedef enum tsr_reduce_combine {
    TSR_REDUCE_SUM,
    TSR_REDUCE_PRODUCT,
    TSR_REDUCE_LARGEST,
    TSR_REDUCE_LEAST,
} tsr_reduce_combine;

typedef enum tsr_reduce_map {
    TSR_REDUCE_ITSELF,
    TSR_REDUCE_MAGNITUDE,
    TSR_REDUCE_SQUARE
} tsr_reduce_map;

typedef struct tsr_reducer {
    tsr_reduce_combine combine;
    tsr_reduce_map map; /* of each element first */
    bool mean;          /* the sum is divided by the number of elements */
    int output;         /* tensor; TSR_NONE: the node's output 0 */
} tsr_reducer;

/* Reduces rows and columns of a tensor to one pixel; the pass returned writes it. */
tsr_pass *tsr_lower_reduced_image(tsr_plan *plan, const tsr_node *node, int input,
                                  const tsr_reducer *reducer);

/* One step of it. */
typedef struct tsr_reduction_step {
    int block[4]; /* images, tiles, rows, columns that one pixel of the result is made of */
    tsr_shape shape;
    bool last;
    int64_t texels; /* of a block */
    bool by_groups; /* a workgroup makes a pixel */
} tsr_reduction_step;

/* How many texels a fragment, or a workgroup, is to combine. */
int64_t tsr_reduction_texels(const tsr_plan *plan, const tsr_layout *source,
                             const tsr_reduction *reduction);
tsr_reduction_step tsr_reduction_next(const tsr_layout *source, const tsr_reduction *reduction,
                                      int64_t texels);

/* A tensor of one plane, of 32 bits where passes write those: a fragment combines texels enough for
 * a single pixel. */
int tsr_reduction_result(tsr_plan *plan, const tsr_shape *shape);
/* One of two columns for each block: a pair; of `count` columns, 2 or 4. */
int tsr_reduction_pairs(tsr_plan *plan, const tsr_reduction_step *step);
int tsr_reduction_columns(tsr_plan *plan, const tsr_reduction_step *step, int count);
/* What a step that is not the last multiplies its sums with. Where only 16 bits are stored, it
 * makes means of them, since sums may be too large. */
float tsr_reduction_scale(const tsr_plan *plan, const tsr_reduction_step *step);
/* The layout of a step's blocks, which are the next one's source, a pair being one. */
void tsr_reduction_take(const tsr_reduction_step *step, tsr_layout *blocks);

/* Workgroups of a step whose kernel has an entry point of its own: one for each pixel of the
 * result, or one for each 64. */
void tsr_reduction_groups(tsr_pass *pass, const tsr_reduction_step *step);

tsr_args_extent tsr_extent_args(int64_t rows, int64_t columns);

#endif
