/* Where a mouse has no pressure: slow strokes are broad, fast ones thin, as of a pen. */
#ifndef PIX2PIX_PRESSURE_H
#define PIX2PIX_PRESSURE_H

#include <stdbool.h>

typedef struct pressure {
    bool off;    /* all strokes are even */
    float x, y;  /* the latest point */
    float way;   /* since `time`, in pixels */
    double time; /* in seconds */
    float width; /* the latest factor */
} pressure;

/* A stroke begins. Coordinates in pixels of the canvas, times in seconds. */
void pressure_begin(pressure *p, float x, float y, double time);
/* It goes on: the factor of the brush's radius there, from 0.75 to 1.25. */
float pressure_move(pressure *p, float x, float y, double time);

#endif
