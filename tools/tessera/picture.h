/* Pictures in memory, and the files that they are read from. */
#ifndef TESSERA_PICTURE_H
#define TESSERA_PICTURE_H

#include "tessera.h"

#include <stdbool.h>
#include <stdint.h>

/* 16-bit pixels (malloc), top row first: gray, RGB or RGBA. */
typedef struct picture {
    uint16_t *pixels;
    int width, height, channels;
} picture;

/* Whether a file of this name is read as a picture. */
bool picture_is_file(const char *path);

/* Upright, as its EXIF tag says; colours with alpha are laid over white unless there are 4
 * channels. Refuses more than most_megapixels; 0: 32. */
tsr_status picture_read(const char *path, int channels, int most_megapixels, picture *made);
/* Of the upright picture, from its file's header. */
tsr_status picture_size(const char *path, int most_megapixels, int *width, int *height);
/* Whether a file, or a frame of it, may have that size. */
tsr_status picture_check(const char *path, int width, int height, int most_megapixels);
/* Of 3 bytes per pixel; name is for messages. */
tsr_status picture_from_rgb(const unsigned char *rgb, int width, int height, int channels,
                            const char *name, picture *made);
/* Zeroed pixels. */
tsr_status picture_create(const char *name, int width, int height, int channels, picture *made);
void picture_free(picture *image);

/* Copies the part at (x, y) of w x h pixels, scaled, to a picture that exists; false: out of
 * memory. */
bool picture_scale(const picture *from, int x, int y, int w, int h, picture *to);

#endif
