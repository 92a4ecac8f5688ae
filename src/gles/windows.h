/* Convolutions of small images: what a group of output pixels sees of the input, its window, lies
 * in a uniform block, so that all fragments of a draw, one for each tile of output channels, read
 * the same inputs at the same time, and each its own weights, once for all pixels of the group.
 * glsl/windows.glsl lays the windows out in a texture, which is copied to a buffer on the device;
 * glsl/conv_window.glsl computes a group in a draw; glsl/collect.glsl puts the groups together. */
#ifndef TSR_GLES_WINDOWS_H
#define TSR_GLES_WINDOWS_H

#include "gles/phases.h"

/* A part is a slice of the sum of one phase of one group. */
typedef struct tsr_windows {
    tsr_phases p;
    int64_t group[2];  /* rows, columns of output pixels of a group: what a fragment computes */
    int64_t groups[2]; /* rows, columns of groups in an image */
    int64_t pad[2];    /* by which the first window begins before the image */
    int64_t window[2]; /* rows, columns of input that all phases of a group see */
    int64_t slices, tiles_of_slice;
    int64_t texels;   /* of a block: a slice of a window */
    int64_t panel[2]; /* rows, columns of the fragments of a draw, and of its weights in a table */
    int64_t table[2]; /* rows, columns of texels */
} tsr_windows;

/* False if they cannot be made, or an image is so large that draws for blocks of weights would have
 * more fragments. */
bool tsr_windows_make(const tsr_plan *plan, const tsr_phases *phases, tsr_windows *windows);
/* The pass returned writes `output`. */
tsr_pass *tsr_windows_passes(tsr_plan *plan, const tsr_windows *windows, int input, int output);

#endif
