/* Values of a model's pictures: what black and white are. */
#ifndef CAMERA_RANGES_H
#define CAMERA_RANGES_H

#include <stdbool.h>
#include <tessera.h>

typedef struct range {
    float low, high; /* pixels of 0 and 255 */
} range;

/* What MODEL.json beside the model, or its metadata, says (docs/description.md): `range`, and of
 * the input `mean` and `std` or `scale` where they are one number; 0:1 where nothing is said, and
 * an output as the input. False after a complaint. */
bool ranges_read(const tsr_model *model, const char *path, const char *input, const char *output,
                 range *in, range *out);
/* How bytes become elements: (byte - mean) * scale, alike for all channels. */
void range_normalize(const range *r, float mean[4], float scale[4]);

#endif
