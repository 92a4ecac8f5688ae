/* Example sketches: the first pictures of a folder. */
#ifndef PIX2PIX_GALLERY_H
#define PIX2PIX_GALLERY_H

#include "gl.h"

enum { GALLERY_SIZE = 9 };

typedef struct thumbnail {
    GLuint texture;
    int width, height;
    char name[64]; /* of the file, without extension */
} thumbnail;

typedef struct gallery {
    int count;
    thumbnail thumbnails[GALLERY_SIZE];
} gallery;

/* Sorted by name. A missing folder is an empty gallery. */
void gallery_open(gallery *g, const char *folder);
void gallery_close(gallery *g);

#endif
