/* Elements of a tensor in a caller's memory: an array, or one image as pixels. What the API layer
 * has checked; conversions are the reference of those that passes do. */
#ifndef TSR_BASE_ELEMENTS_H
#define TSR_BASE_ELEMENTS_H

#include "tessera.h"

typedef struct tsr_elements {
    bool is_pixels;
    tsr_array array;
    tsr_pixels pixels; /* stride and scale are set, mean and scale in the tensor's order */
} tsr_elements;

/* Rows, columns and channels of a tensor that holds pictures. */
typedef struct tsr_picture_shape {
    int64_t images, height, width, channels;
} tsr_picture_shape;

/* False if the tensor holds no pictures. */
bool tsr_picture_shape_of(const tsr_shape *shape, bool channels_last, tsr_picture_shape *picture);
int tsr_pixel_bytes(tsr_pixel_format format);
/* Do red and blue change places between the pixels' order, red first, and the tensor's? */
bool tsr_pixels_swap(const tsr_pixels *pixels, int64_t channels, bool to_tensor);

double tsr_array_element(const tsr_array *array, size_t i);
tsr_elements tsr_elements_of_floats(const float *data, size_t count);
/* Do both have the same elements at the same places, but for gaps between rows? */
bool tsr_elements_same_form(const tsr_elements *a, const tsr_elements *b);
/* Row-major floats of the shape; of pixels only their image is written. */
void tsr_elements_to_floats(const tsr_elements *from, const tsr_shape *shape, float *floats);
void tsr_elements_from_floats(const float *floats, const tsr_shape *shape, const tsr_elements *to);
/* From integers of this type, as a graph holds them: as they are where the array has their type and
 * order, else by floats. */
tsr_status tsr_elements_from_integers(tsr_dtype dtype, const int64_t *ints, const tsr_shape *shape,
                                      const tsr_elements *to);
/* As tsr_elements_from_floats for dense elements of the same form, rows without gaps. */
void tsr_elements_copy_dense(const void *dense, const tsr_elements *to);
/* Bytes of that. */
size_t tsr_elements_dense_bytes(const tsr_elements *elements);

/* src/base/pixels.c */
void tsr_pixels_to_floats(const tsr_pixels *from, const tsr_shape *shape, float *floats);
void tsr_pixels_from_floats(const float *floats, const tsr_shape *shape, const tsr_pixels *to);

#endif
