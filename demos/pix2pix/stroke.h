/* The mask of a stroke: how much of each pixel the stroke covers. A smooth curve leads through its
 * points, Catmull-Rom's with centripetal parameters (Yuksel, Schaefer and Keyser 2011), straight at
 * corners. What a stroke covers twice counts once. */
#ifndef PIX2PIX_STROKE_H
#define PIX2PIX_STROKE_H

#include "gl.h"

enum { STROKE_PIECES = 256 };

/* In pixels from the upper left corner. */
typedef struct stroke_point {
    float x, y, radius;
} stroke_point;

typedef struct stroke {
    gl_target
        mask; /* red: the part of the pixel that is covered, without the end; see stroke_end */
    GLuint program, vertex_array, buffer;
    GLint size;
    stroke_point before, from, to;         /* the latest points */
    stroke_point pieces[STROKE_PIECES][2]; /* straight, not yet drawn */
    int count;
} stroke;

/* GLSL: float cover(vec2 at, vec3 from, vec3 to), the part of the pixel at a place that a straight
 * piece with round ends covers; from and to: x, y, radius. */
#define STROKE_COVER                                                                               \
    "float cover(vec2 at, vec3 from, vec3 to) {\n"                                                 \
    "    vec2 along = to.xy - from.xy, d = at - from.xy;\n"                                        \
    "    float t = clamp(dot(d, along) / max(dot(along, along), 1e-6), 0.0, 1.0);\n"               \
    "    return clamp(mix(from.z, to.z, t) + 0.5 - length(d - t * along), 0.0, 1.0);\n"            \
    "}\n"

bool stroke_create(stroke *s, int width, int height);
void stroke_destroy(stroke *s);
/* Of another stroke. */
void stroke_begin(stroke *s, stroke_point p);
/* How the curve goes on from the latest point depends on the next: until then, and until
 * stroke_end(), it is a straight piece from `from` to `to`, which is not in the mask. */
void stroke_extend(stroke *s, stroke_point p);
void stroke_end(stroke *s);
/* Draws what was added into the mask. */
void stroke_draw(stroke *s);

#endif
