/* Frames as cameras and films have them, and how they become pictures on the GPU. */
#ifndef CAMERA_FRAME_H
#define CAMERA_FRAME_H

#include "gl.h"

/* Bytes in memory, which become a texture. */
typedef struct plane {
    const unsigned char *data;
    int width, height; /* in texels */
    int channels;      /* bytes of a texel: 1 to 4 */
    int stride;        /* texels from a row to the next */
} plane;

typedef enum frame_kind {
    FRAME_PATTERN, /* no bytes: drawn by its number */
    FRAME_RGB,     /* planes[0] */
    FRAME_YUV,     /* BT.601: planes of Y, Cb and Cr, of which several may be the same bytes */
} frame_kind;

/* Where chroma samples are, by axis. */
typedef struct chroma_grid {
    float step[2];   /* chroma samples per pixel: 1 or 0.5 */
    float offset[2]; /* 0: centred between the pixels they are for; 0.25: on the first of two */
} chroma_grid;

typedef struct frame {
    frame_kind kind;
    int width, height;
    long long number; /* from 0 on */
    plane planes[3];
    int component[2]; /* of a texel of planes[1] and [2]: Cb and Cr */
    chroma_grid chroma;
    bool full_range; /* of FRAME_YUV: 0 to 255, else 16 to 235 */
} frame;

/* A rectangle of the network's input, in pixels, that holds the whole frame; where the aspect
 * ratios differ, bars fill the rest. */
typedef struct place {
    int x, y, width, height;
} place;

typedef struct converter {
    GLuint pattern, bytes, fit; /* programs */
    GLuint textures[3];         /* the latest frame's planes */
} converter;

bool converter_create(converter *c);
void converter_destroy(converter *c);
/* Converts the frame to RGBA8. The target is created again if its size is not the frame's. */
bool converter_draw(converter *c, const frame *f, gl_target *target);
place frame_place(int width, int height, int into_width, int into_height);
/* Scales a picture to its place in another, by the mean of the area that a pixel covers; edges: its
 * outlines alone, black on white. */
void converter_fit(converter *c, const gl_target *picture, const gl_target *into, bool edges);

#endif
