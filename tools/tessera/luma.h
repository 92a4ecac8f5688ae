/* Pictures as luma and chroma: BT.601 in full range, as JPEG has it. */
#ifndef TESSERA_LUMA_H
#define TESSERA_LUMA_H

#include "picture.h"

#include <stddef.h>

/* An RGB picture becomes its luma; Cb and Cr are a picture of two channels. */
tsr_status luma_split(picture *image, const char *name, picture *chroma);

/* RGB elements: low is black, high white. */
typedef struct luma_target {
    float *values;
    int width, height;
    size_t x, y, channel; /* distances between neighbours */
    double low, high;
} luma_target;

/* Luma, width x height with the target's range, with the part of chroma at (x, y) of w x h pixels,
 * which is scaled bicubically. */
tsr_status luma_join(const float *luma, const picture *chroma, int x, int y, int w, int h,
                     const luma_target *target);

#endif
