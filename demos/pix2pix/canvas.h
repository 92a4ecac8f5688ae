/* The sketch, or the correction of a picture: a texture that strokes are rendered into, with its
 * undo history. */
#ifndef PIX2PIX_CANVAS_H
#define PIX2PIX_CANVAS_H

#include "paint.h"
#include "stroke.h"

/* Undo states. Each is a full copy of the small canvas on the GPU. */
enum { HISTORY = 32 };

typedef struct brush {
    float color[3];
    float radius; /* in pixels of the canvas */
    bool erases;  /* paints what the canvas is of */
} brush;

typedef struct canvas {
    gl_target target; /* RGBA8, its colours multiplied with alpha */
    bool clear;       /* made of nothing, instead of white paper */
    GLuint program;
    GLint state, from, to, color;
    GLuint history; /* 2D array: state i is in layer i % HISTORY */
    GLuint history_framebuffer;
    int oldest, current, newest; /* states, counted up */
    bool blank[HISTORY];         /* states on which nothing was drawn */
    unsigned version;            /* incremented by every change */
    bool drawing;                /* a stroke is being drawn, over the current state */
    stroke stroke;
    float paint[4];      /* its colour, multiplied with its alpha */
    GLuint reading;      /* buffer that the latest state is copied to ... */
    GLsync read;         /* ... when this is signalled; NULL: it is in `kept` */
    unsigned char *kept; /* RGBA, which survives the loss of the context */
} canvas;

/* White and opaque; clear: transparent, to lie over a picture. */
bool canvas_create(canvas *c, int width, int height, bool clear);
void canvas_destroy(canvas *c);
/* Once a frame: fetches the latest state if it has arrived; waits for nothing. */
void canvas_keep(canvas *c);
/* In a new context, canvas_create() having made it in one that was lost, and nothing having been
 * destroyed: the latest state that was kept, which cannot be undone but to nothing, if clear. */
bool canvas_restore(canvas *c);

/* A stroke, from begin to end, of the colour that it begins with; extend without begin does
 * nothing. Coordinates in pixels from the upper left corner; they may be outside the canvas. */
void canvas_begin(canvas *c, const brush *b, float x, float y);
void canvas_extend(canvas *c, const brush *b, float x, float y);
void canvas_end(canvas *c);
/* Brings what was added to a stroke onto the target: once a frame, before the target is read. */
void canvas_draw(canvas *c);

void canvas_clear(canvas *c);
/* The same, and nothing can be undone. */
void canvas_forget(canvas *c);
/* Is there nothing on it, as at first or cleared? */
bool canvas_is_blank(const canvas *c);
/* Is there anything to undo? */
bool canvas_has_strokes(const canvas *c);
/* Draws a texture over the canvas, scaled to fit with its aspect ratio, on white. */
void canvas_put(canvas *c, painter *p, GLuint texture, int width, int height);
/* False if there is nothing to undo or redo. */
bool canvas_undo(canvas *c);
bool canvas_redo(canvas *c);

#endif
