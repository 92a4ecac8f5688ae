/* A tensor as a picture: its channels side by side in a near-square grid, blue below zero, dark at
 * zero, orange above. */
#ifndef TESSERA_MOSAIC_H
#define TESSERA_MOSAIC_H

#include "tensor.h"

typedef struct mosaic {
    int channels, height, width; /* of the tensor's first image */
    int columns, rows, zoom;     /* zoom: pixels per element in each direction */
    int picture_width, picture_height;
    double low, high; /* of all finite elements drawn; low > high if there are none */
    bool not_finite;  /* others are drawn too */
    double full;      /* |value| drawn in full colour; with per_channel the largest channel's */
    unsigned char *rgb;
} mosaic;

/* per_channel: colours are scaled per channel instead of per tensor. */
tsr_status mosaic_draw(const tensor *t, bool per_channel, mosaic *made);
void mosaic_free(mosaic *m);

#endif
