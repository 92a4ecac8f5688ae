/* A tensor as the mosaic of its channels: blue below zero, dark at zero, orange above. */
#ifndef PIX2PIX_MOSAIC_H
#define PIX2PIX_MOSAIC_H

#include "network.h"

typedef struct mosaic {
    GLuint measure, draw; /* programs */
    gl_target blocks;     /* of the tensor: statistics per block */
    gl_target whole;      /* of all blocks: one texel */
    GLuint vertex_array;
} mosaic;

bool mosaic_create(mosaic *m);
void mosaic_destroy(mosaic *m);

/* Measures the tensor's value range on the GPU; called once for each new tensor. */
void mosaic_measure(const mosaic *m, const tensor_view *tensor);
/* Draws it into the window, `height` pixels high, as large as fits into the square r. */
void mosaic_draw(const mosaic *m, const tensor_view *tensor, rect r, int height);

#endif
