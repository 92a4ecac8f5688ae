/* How an implicit GEMM (wgsl/gemm.wgsl) is divided among workgroups and invocations. */
#ifndef TSR_ALGORITHM_GEMM_REGIONS_H
#define TSR_ALGORITHM_GEMM_REGIONS_H

#include "algorithm/algorithm.h"

/* The kernel's FORM. */
typedef enum tsr_gemm_form {
    TSR_GEMM_REGISTERS,       /* for software rasterisers: wgsl/gemm_registers.wgsl */
    TSR_GEMM_WORKGROUP,       /* for GPUs: wgsl/gemm_workgroup.wgsl */
    TSR_GEMM_SLICED_K,        /* for GPUs, of few pixels: wgsl/gemm_sliced_k.wgsl */
    TSR_GEMM_SUBGROUP_MATRIX, /* for matrix units: wgsl/gemm_subgroup_matrix.wgsl */
} tsr_gemm_form;

/* Of a batched GEMM: see group gemm in src/kernel/kernels.txt. */
typedef struct tsr_gemm_size {
    int64_t pixels, steps, tiles, batches;
    int64_t tap_steps; /* of each tap; a matrix product has one */
} tsr_gemm_size;

/* With matrix units: pixels of a region, output tiles of a matrix. */
enum { TSR_GEMM_MATRIX_PIXELS = 64, TSR_GEMM_MATRIX_TILES = 4 };

typedef struct tsr_gemm_regions {
    tsr_gemm_form form;
    bool one_tap;                    /* steps at a time are of one tap */
    bool bytes;                      /* products of four integers of 8 bits at once */
    int region_pixels, region_tiles; /* of an invocation, or matrices of a subgroup */
    int columns, rows;               /* invocations or subgroups along tiles and pixels, */
    int steps;                       /* and steps at a time; or, sliced, all invocations */
    int group_tiles; /* sliced: of a workgroup, as many invocations; the rest are along steps */
    int64_t tiles, pixels; /* regions along each */
    int64_t table_columns; /* output tiles in each row of the packed weights */
    int64_t partials, partial_steps;
    int64_t groups; /* workgroups */
} tsr_gemm_regions;

tsr_gemm_regions tsr_gemm_divide(const tsr_plan *plan, tsr_gemm_form form,
                                 const tsr_gemm_size *size, const tsr_layout *output);

/* Are there so few pixels that the sliced form may pay? */
bool tsr_gemm_has_few_pixels(const tsr_gemm_size *size);

#endif
