/* A picture to draw on: a tensor [1, 3, height, width] of red, green and blue in 0..1. */
#ifndef TESSERA_CANVAS_H
#define TESSERA_CANVAS_H

#include "job.h"

typedef struct canvas {
    tensor picture;
    int width, height;
    int input_width, input_height; /* of the network's input, which shows the same */
    bool channels_last;            /* the input is NHWC */
} canvas;

typedef struct colour {
    float rgb[3];
} colour;

/* Colours that differ, from index 0 on. */
colour canvas_colour(int index);

/* Whether the input is a picture. */
bool canvas_shows(const job_input *input);
/* The model's first input that is one, or NULL. */
const job_input *canvas_find(const job *j);
/* Its picture: the file in its own size where it was scaled to the input's, else the input itself,
 * with --mean, --scale and --range undone. */
tsr_status canvas_open(const job_input *input, canvas *made);
void canvas_close(canvas *c);

/* In pixels of the network's input. */
void canvas_box(canvas *c, double x0, double y0, double x1, double y1, colour with);
void canvas_point(canvas *c, double x, double y, colour with);
/* Half of a pixel of the canvas becomes the colour. */
void canvas_tint(canvas *c, int x, int y, colour with);

/* How the drawing is written. */
extern const image_options canvas_image;

#endif
