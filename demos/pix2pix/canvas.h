/* The sketch: a texture that strokes are drawn into on the GPU, with its history. */
#ifndef PIX2PIX_CANVAS_H
#define PIX2PIX_CANVAS_H

#include "paint.h"

typedef struct brush {
    float color[3];
    float radius; /* in pixels of the canvas */
} brush;

typedef struct canvas {
    gl_target target; /* RGBA8, opaque */
    GLuint program;
    GLint size, from, to, radius, color;
    GLuint history; /* 2D array: state i lies in layer i % HISTORY */
    GLuint history_framebuffer;
    int oldest, current, newest; /* states, counted up */
    unsigned version;            /* counts changes of any kind */
    bool drawing;                /* a stroke is being drawn */
    float x, y;                  /* where it is */
} canvas;

/* White. */
bool canvas_create(canvas *c, int width, int height);
void canvas_destroy(canvas *c);

/* A stroke, from begin to end; extend without begin does nothing. Coordinates in pixels from the
 * upper left corner; they may lie outside. */
void canvas_begin(canvas *c, const brush *b, float x, float y);
void canvas_extend(canvas *c, const brush *b, float x, float y);
void canvas_end(canvas *c);

void canvas_clear(canvas *c);
/* Draws a texture over it, fitted in with its shape kept, on white. */
void canvas_put(canvas *c, painter *p, GLuint texture, int width, int height);
/* False where there is nothing to undo or to redo. */
bool canvas_undo(canvas *c);
bool canvas_redo(canvas *c);

#endif
