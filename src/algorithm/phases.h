/* Phases of a convolution: it has a single one. A transposed convolution has one for each output
 * pixel (y, x) mod stride, which is a convolution of stride 1. */
#ifndef TSR_ALGORITHM_PHASES_H
#define TSR_ALGORITHM_PHASES_H

#include "algorithm/algorithm.h"

typedef struct tsr_phases {
    tsr_convolution conv;
    bool transposed;
    int64_t count[2];  /* phases of rows, of columns; 1 for a convolution */
    int64_t stride[2]; /* of a phase, as all below */
    int64_t taps[2];   /* rows, columns */
    int64_t size[2];   /* rows, columns of its images: of those of the largest phase */
    int64_t images;
    int64_t tiles, outputs; /* of input and output channels */
} tsr_phases;

/* Those of a problem whose output has the planes of kernels with uniform blocks; output: its
 * layout. False with groups, for transposed convolutions with dilation or with phases without taps,
 * and if the output fits no texture. */
bool tsr_phases_make(const tsr_plan *plan, const tsr_problem *problem, tsr_layout *output,
                     tsr_phases *phases);
/* The tensor of the output, with these planes. */
int tsr_phases_output(tsr_plan *plan, const tsr_problem *problem);
/* Begin padding of a phase: rows (axis 0) or columns. */
int tsr_phases_pad(const tsr_phases *phases, int64_t phase, int axis);
/* Adds the weights of one tap between four input and four output channels, times factor: texel i *
 * stride is input channel i's. No effect if the phase has no such tap. */
void tsr_phases_add(const tsr_phases *phases, const int64_t phase[2], const int64_t tap[2],
                    int64_t tile, int64_t output, int64_t stride, double factor, float *texels);

#endif
