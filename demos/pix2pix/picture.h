/* Picture files. */
#ifndef PIX2PIX_PICTURE_H
#define PIX2PIX_PICTURE_H

#include "gl.h"

/* A PNG or JPEG of any size and channel count as a texture (RGBA8 on white, with mipmaps), deleted
 * by the caller; 0 on failure. */
GLuint picture_load(const char *path, int *width, int *height);

/* RGB bytes of a framebuffer, row 0 on top, to be freed. upside_down: the window, whose row 0 is
 * the bottom. NULL on failure. */
unsigned char *picture_read(GLuint framebuffer, int width, int height, bool upside_down);
bool picture_write(const char *path, const unsigned char *rgb, int width, int height);
/* Two pictures side by side, both scaled by integers to the height of the larger; to be freed, NULL
 * on failure. */
unsigned char *picture_join(const unsigned char *left, int left_width, int left_height,
                            const unsigned char *right, int right_width, int right_height,
                            int *width, int *height);

#endif
