/* A tensor as the mosaic of its channels: blue below zero, dark at zero, orange above. */
#ifndef PIX2PIX_MOSAIC_H
#define PIX2PIX_MOSAIC_H

#include "network.h"

typedef struct mosaic {
    GLuint measure, draw; /* programs */
    gl_target blocks;     /* of the tensor: what its numbers are like */
    gl_target whole;      /* the same of all blocks: one texel */
    GLuint vertex_array;
} mosaic;

bool mosaic_create(mosaic *m);
void mosaic_destroy(mosaic *m);

/* Looks how large the tensor's numbers are, on the GPU: once for each new tensor. */
void mosaic_measure(const mosaic *m, const tensor_view *tensor);
/* Into the window, `height` pixels high, as large as fits into the square r. */
void mosaic_draw(const mosaic *m, const tensor_view *tensor, rect r, int height);

#endif
