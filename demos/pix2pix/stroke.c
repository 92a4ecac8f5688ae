#include "stroke.h"

#include <math.h>
#include <stddef.h>

/* Points nearer than this, in pixels, are one: a mouse counts in steps. */
static const float nearest = 1.5f;
/* The cosine of the sharpest turn that is no corner. */
static const float corner = 0.5f;

/* The bounding box of a piece. */
static const char piece_vertex[] =
    "layout(location = 0) in vec3 from;\n"
    "layout(location = 1) in vec3 to;\n"
    "uniform vec2 size;\n"
    "flat out vec3 piece_from, piece_to;\n"
    "void main() {\n"
    "    vec2 low = min(from.xy - from.z, to.xy - to.z) - 1.0;\n"
    "    vec2 high = max(from.xy + from.z, to.xy + to.z) + 1.0;\n"
    "    vec2 at = mix(low, high, vec2(gl_VertexID & 1, gl_VertexID >> 1));\n"
    "    piece_from = from;\n"
    "    piece_to = to;\n"
    "    gl_Position = vec4(at / size * 2.0 - 1.0, 0.0, 1.0);\n"
    "}\n";

static const char piece_fragment[] =
    STROKE_COVER "flat in vec3 piece_from, piece_to;\n"
                 "out vec4 o_color;\n"
                 "void main() {\n"
                 "    o_color = vec4(cover(gl_FragCoord.xy, piece_from, piece_to));\n"
                 "}\n";

bool stroke_create(stroke *s, int width, int height) {
    *s = (stroke){.program = gl_program(piece_vertex, piece_fragment)};
    if (!s->program || !gl_target_create(&s->mask, GL_RGBA8, width, height))
        return false;
    s->size = glGetUniformLocation(s->program, "size");
    glGenVertexArrays(1, &s->vertex_array);
    glGenBuffers(1, &s->buffer);
    glBindVertexArray(s->vertex_array);
    glBindBuffer(GL_ARRAY_BUFFER, s->buffer);
    for (GLuint end = 0; end < 2; end++) {
        glVertexAttribPointer(end, 3, GL_FLOAT, GL_FALSE, sizeof s->pieces[0],
                              (void *)(end * sizeof(stroke_point)));
        glEnableVertexAttribArray(end);
        glVertexAttribDivisor(end, 1);
    }
    glBindVertexArray(0);
    return gl_check("preparing to draw strokes");
}

void stroke_destroy(stroke *s) {
    glDeleteProgram(s->program);
    glDeleteVertexArrays(1, &s->vertex_array);
    glDeleteBuffers(1, &s->buffer);
    gl_target_destroy(&s->mask);
}

void stroke_draw(stroke *s) {
    if (!s->count)
        return;
    glBindFramebuffer(GL_FRAMEBUFFER, s->mask.framebuffer);
    glViewport(0, 0, s->mask.width, s->mask.height);
    glUseProgram(s->program);
    glUniform2f(s->size, (float)s->mask.width, (float)s->mask.height);
    glBindVertexArray(s->vertex_array);
    glBindBuffer(GL_ARRAY_BUFFER, s->buffer);
    glBufferData(GL_ARRAY_BUFFER, s->count * (GLsizeiptr)sizeof s->pieces[0], s->pieces,
                 GL_STREAM_DRAW);
    glEnable(GL_BLEND);
    glBlendEquation(GL_MAX);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, s->count);
    glBlendEquation(GL_FUNC_ADD);
    glDisable(GL_BLEND);
    glBindVertexArray(0);
    s->count = 0;
}

/* ---- the curve ------------------------------------------------------------------------------- */

static float distance(stroke_point a, stroke_point b) {
    return hypotf(b.x - a.x, b.y - a.y);
}

static void add_piece(stroke *s, stroke_point from, stroke_point to) {
    if (s->count == STROKE_PIECES)
        stroke_draw(s);
    s->pieces[s->count][0] = from;
    s->pieces[s->count++][1] = to;
}

typedef struct vector {
    float x, y;
} vector;

/* Of the curve at b, per parameter, which is the sum of square roots of distances; at an end, a or
 * c is b. 0 at a corner: both pieces there are straight. */
static vector velocity(stroke_point a, stroke_point b, stroke_point c) {
    float before = distance(a, b), after = distance(b, c);
    float m = sqrtf(before), n = sqrtf(after);
    vector u = {(b.x - a.x) / fmaxf(m, 1e-6f), (b.y - a.y) / fmaxf(m, 1e-6f)};
    vector v = {(c.x - b.x) / fmaxf(n, 1e-6f), (c.y - b.y) / fmaxf(n, 1e-6f)};
    if (before <= 0)
        return v;
    if (after <= 0)
        return u;
    if (u.x * v.x + u.y * v.y < corner * m * n)
        return (vector){0, 0};
    return (vector){(u.x * n + v.x * m) / (m + n), (u.y * n + v.y * m) / (m + n)};
}

/* From b to c, as Hermite's cubic. */
static void add_curve(stroke *s, stroke_point a, stroke_point b, stroke_point c, stroke_point d) {
    const float length = distance(b, c), span = sqrtf(length);
    const vector u = velocity(a, b, c), v = velocity(b, c, d);
    const int count = (int)fminf(ceilf(length / 2) + 1, 64);
    stroke_point from = b;
    for (int i = 1; i <= count; i++) {
        float t = (float)i / (float)count, r = 1 - t;
        float at_b = r * r * (1 + 2 * t), at_c = t * t * (3 - 2 * t);
        float of_u = r * r * t * span, of_v = -t * t * r * span;
        stroke_point to = {at_b * b.x + at_c * c.x + of_u * u.x + of_v * v.x,
                           at_b * b.y + at_c * c.y + of_u * u.y + of_v * v.y,
                           r * b.radius + t * c.radius};
        add_piece(s, from, to);
        from = to;
    }
}

void stroke_begin(stroke *s, stroke_point p) {
    s->count = 0;
    s->before = s->from = s->to = p;
    glBindFramebuffer(GL_FRAMEBUFFER, s->mask.framebuffer);
    glClearBufferfv(GL_COLOR, 0, (const float[]){0, 0, 0, 0});
}

void stroke_extend(stroke *s, stroke_point p) {
    if (distance(s->from, s->to) >= nearest) {
        add_curve(s, s->before, s->from, s->to, p);
        s->before = s->from;
        s->from = s->to;
    }
    s->to = p;
}

void stroke_end(stroke *s) {
    add_curve(s, s->before, s->from, s->to, s->to);
}
