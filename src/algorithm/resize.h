/* Resize along rows and columns: what its kernels read from a lookup table. */
#ifndef TSR_ALGORITHM_RESIZE_H
#define TSR_ALGORITHM_RESIZE_H

#include "algorithm/algorithm.h"

enum { TSR_RESIZE_LINES = 4 }; /* of a table */

/* The tables of glsl/resize.glsl and glsl/resize_row.glsl. */
typedef struct tsr_resize_table {
    tsr_resize resize;
    int width;
    int axis[2]; /* of columns, of rows; TSR_NONE: it stays */
    int64_t in[2], out[2];
    int taps[2];     /* of each element of the output */
    int pixels, row; /* of a fragment: adjacent ones, columns that they read */
} tsr_resize_table;

/* Is the axis unchanged? */
bool tsr_resize_keeps_axis(const tsr_resize *resize, int axis, int64_t in);
/* Elements of the input that one of the output is made of along an axis; TSR_NONE: 1. */
int tsr_resize_count_taps(const tsr_resize *resize, int axis, int64_t in);

#endif
