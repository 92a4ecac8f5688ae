/* JPEG as cameras have it, which may leave out the usual Huffman tables. */
#ifndef CAMERA_JPEG_H
#define CAMERA_JPEG_H

#include <stddef.h>

/* RGB bytes for stbi_image_free(); NULL if it is broken. Tables that it has replace the usual. */
unsigned char *jpeg_decode(const unsigned char *data, size_t bytes, int *width, int *height);

#endif
