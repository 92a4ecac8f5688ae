/* Example sketches: the first scripts of a folder, then the first pictures. */
#ifndef PIX2PIX_GALLERY_H
#define PIX2PIX_GALLERY_H

#include "gl.h"

enum { GALLERY_SIZE = 16 };

typedef struct thumbnail {
    GLuint texture;
    int width, height;
    char name[64]; /* of the file, without what is before the first '_', and without extension */
} thumbnail;

typedef struct gallery {
    const char *folder;
    int count, selected;
    thumbnail thumbnails[GALLERY_SIZE];
} gallery;

/* The folder's sketches, sorted by name, of which scripts are drawn now; see sketch.h. False if
 * there are none. */
bool gallery_open(gallery *g);
void gallery_close(gallery *g);

#endif
