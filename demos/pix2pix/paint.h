/* Draws rectangles, text and pictures to the window or a texture, in pixels from the upper left
 * corner. Text and rectangles are batched. */
#ifndef PIX2PIX_PAINT_H
#define PIX2PIX_PAINT_H

#include "gl.h"

enum { PAINT_QUADS = 4096, FONT_FIRST = 32, FONT_COUNT = 95 };

typedef struct rect {
    float x, y, w, h;
} rect;

typedef struct color {
    float r, g, b, a;
} color;

typedef struct vertex {
    float x, y, u, v;
    color c;
} vertex;

typedef struct glyph {
    float u0, v0, u1, v1;          /* in the atlas */
    float x0, y0, x1, y1, advance; /* in pixels from the pen */
} glyph;

typedef struct painter {
    GLuint program, vertex_array, buffer;
    GLint scale, map, opaque;
    GLuint atlas; /* the font's glyphs, and a white corner for rectangles */
    glyph glyphs[FONT_COUNT];
    float ascent, line; /* in pixels */
    vertex vertices[PAINT_QUADS * 6];
    int count;
} painter;

/* Text of this height in pixels, in Debian's DejaVu Sans Mono. */
bool paint_create(painter *p, float text_height);
void paint_destroy(painter *p);

/* target NULL: the window, of this size. */
void paint_begin(painter *p, const gl_target *target, int width, int height);
void paint_end(painter *p);

void paint_rect(painter *p, rect r, color c);
/* y: the line's top. Characters beyond ASCII become '?'. */
void paint_text(painter *p, float x, float y, color c, const char *text);
float paint_text_width(const painter *p, const char *text);
/* A texture whose colours are multiplied with its alpha, over what is there. */
void paint_over(painter *p, GLuint texture, rect r);
/* A part of a texture (0..1, row 0 on top), each value times factor plus summand. */
void paint_image(painter *p, GLuint texture, rect r, rect part, float factor, float summand);

#endif
