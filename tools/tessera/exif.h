/* The orientation of a JPEG photo: a tag of its EXIF header. */
#ifndef TESSERA_EXIF_H
#define TESSERA_EXIF_H

#include <stddef.h>

/* 1 to 8, as EXIF numbers them: 1 is upright. 1 for whatever is not a JPEG file with such a tag. */
int exif_orientation(const unsigned char *bytes, size_t size);

#endif
