#include "canvas.h"

#include "message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Undo states. Each is a full copy of the small canvas on the GPU. */
enum { HISTORY = 32 };

/* The bounding box of a stroke segment. */
static const char stroke_vertex[] =
    "uniform vec2 size, from, to;\n"
    "uniform float radius;\n"
    "out vec2 at;\n"
    "void main() {\n"
    "    vec2 low = min(from, to) - radius - 1.0, high = max(from, to) + radius + 1.0;\n"
    "    at = mix(low, high, vec2(gl_VertexID & 1, gl_VertexID >> 1));\n"
    "    gl_Position = vec4(at / size * 2.0 - 1.0, 0.0, 1.0);\n"
    "}\n";

static const char stroke_fragment[] =
    "uniform vec2 from, to;\n"
    "uniform float radius;\n"
    "uniform vec3 color;\n"
    "in vec2 at;\n"
    "out vec4 o_color;\n"
    "void main() {\n"
    "    vec2 along = to - from, d = at - from;\n"
    "    float t = clamp(dot(d, along) / max(dot(along, along), 1e-6), 0.0, 1.0);\n"
    "    o_color = vec4(color, clamp(radius + 0.5 - length(d - t * along), 0.0, 1.0));\n"
    "}\n";

static void bind(const canvas *c) {
    glBindFramebuffer(GL_FRAMEBUFFER, c->target.framebuffer);
    glViewport(0, 0, c->target.width, c->target.height);
}

static GLsizeiptr count_bytes(const canvas *c) {
    return (GLsizeiptr)4 * c->target.width * c->target.height;
}

/* Of what is bound. */
static void start_reading(canvas *c) {
    glBindBuffer(GL_PIXEL_PACK_BUFFER, c->reading);
    glReadPixels(0, 0, c->target.width, c->target.height, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glDeleteSync(c->read);
    c->read = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
}

void canvas_keep(canvas *c) {
    if (!c->read || glClientWaitSync(c->read, 0, 0) == GL_TIMEOUT_EXPIRED)
        return;
    glBindBuffer(GL_PIXEL_PACK_BUFFER, c->reading);
    const void *pixels = glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, count_bytes(c), GL_MAP_READ_BIT);
    if (pixels) /* otherwise the context was lost */
        memcpy(c->kept, pixels, (size_t)count_bytes(c));
    glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glDeleteSync(c->read);
    c->read = NULL;
}

static void remember(canvas *c) {
    c->newest = ++c->current;
    if (c->newest - c->oldest == HISTORY)
        c->oldest++;
    bind(c);
    glBindTexture(GL_TEXTURE_2D_ARRAY, c->history);
    glCopyTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, c->current % HISTORY, 0, 0, c->target.width,
                        c->target.height);
    start_reading(c);
}

static void recall(canvas *c, int state) {
    int w = c->target.width, h = c->target.height;
    c->current = state;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, c->history_framebuffer);
    glFramebufferTextureLayer(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, c->history, 0,
                              state % HISTORY);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, c->target.framebuffer);
    glBlitFramebuffer(0, 0, w, h, 0, 0, w, h, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    bind(c);
    start_reading(c);
    c->version++;
}

static void make_blank(canvas *c) {
    const float paper = c->clear ? 0 : 1;
    bind(c);
    glClearBufferfv(GL_COLOR, 0, (const float[]){paper, paper, paper, paper});
    c->version++;
}

/* Its objects in the current context; what it shows is undefined. */
static bool make(canvas *c, int width, int height) {
    c->program = gl_program(stroke_vertex, stroke_fragment);
    if (!c->program || !gl_target_create(&c->target, GL_RGBA8, width, height))
        return false;
    c->size = glGetUniformLocation(c->program, "size");
    c->from = glGetUniformLocation(c->program, "from");
    c->to = glGetUniformLocation(c->program, "to");
    c->radius = glGetUniformLocation(c->program, "radius");
    c->color = glGetUniformLocation(c->program, "color");
    glGenTextures(1, &c->history);
    glBindTexture(GL_TEXTURE_2D_ARRAY, c->history);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_RGBA8, width, height, HISTORY);
    glGenFramebuffers(1, &c->history_framebuffer);
    glGenBuffers(1, &c->reading);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, c->reading);
    glBufferData(GL_PIXEL_PACK_BUFFER, count_bytes(c), NULL, GL_STREAM_READ);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    return true;
}

bool canvas_create(canvas *c, int width, int height, bool clear) {
    *c = (canvas){.clear = clear, .current = -1};
    if (!make(c, width, height))
        return false;
    c->kept = malloc((size_t)count_bytes(c));
    if (!c->kept)
        return complain("no memory for a canvas of %d x %d pixels", width, height);
    memset(c->kept, clear ? 0 : 255, (size_t)count_bytes(c));
    make_blank(c);
    remember(c);
    return gl_check("making the canvas");
}

bool canvas_restore(canvas *c) {
    int width = c->target.width, height = c->target.height;
    *c = (canvas){.clear = c->clear, .current = -1, .kept = c->kept, .version = c->version + 1};
    if (!make(c, width, height))
        return false;
    if (c->clear) { /* to be undone: then there is nothing */
        make_blank(c);
        remember(c);
    }
    glBindTexture(GL_TEXTURE_2D, c->target.texture);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, c->kept);
    remember(c);
    return gl_check("making the canvas again");
}

void canvas_destroy(canvas *c) {
    glDeleteSync(c->read);
    glDeleteBuffers(1, &c->reading);
    glDeleteFramebuffers(1, &c->history_framebuffer);
    glDeleteTextures(1, &c->history);
    glDeleteProgram(c->program);
    gl_target_destroy(&c->target);
    free(c->kept);
}

static void draw_piece(canvas *c, const brush *b, float x, float y) {
    bind(c);
    glUseProgram(c->program);
    glUniform2f(c->size, (float)c->target.width, (float)c->target.height);
    glUniform2f(c->from, c->x, c->y);
    glUniform2f(c->to, x, y);
    glUniform1f(c->radius, b->radius);
    const float paper = c->clear ? 0 : 1;
    b->erases ? glUniform3f(c->color, paper, paper, paper) : glUniform3fv(c->color, 1, b->color);
    glEnable(GL_BLEND); /* the shader's alpha is the part of the pixel that is covered */
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA,
                        b->erases && c->clear ? GL_ZERO : GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glDisable(GL_BLEND);
    c->x = x;
    c->y = y;
    c->version++;
}

void canvas_begin(canvas *c, const brush *b, float x, float y) {
    canvas_end(c);
    c->drawing = true;
    c->x = x;
    c->y = y;
    draw_piece(c, b, x, y);
}

void canvas_extend(canvas *c, const brush *b, float x, float y) {
    if (c->drawing && (x != c->x || y != c->y))
        draw_piece(c, b, x, y);
}

void canvas_end(canvas *c) {
    if (c->drawing)
        remember(c);
    c->drawing = false;
}

void canvas_clear(canvas *c) {
    canvas_end(c);
    make_blank(c);
    remember(c);
}

void canvas_forget(canvas *c) {
    canvas_clear(c);
    c->oldest = c->current;
}

bool canvas_has_strokes(const canvas *c) {
    return c->drawing || c->current > c->oldest;
}

void canvas_put(canvas *c, painter *p, GLuint texture, int width, int height) {
    canvas_end(c);
    make_blank(c);
    float w = (float)c->target.width, h = (float)c->target.height;
    float scale = fminf(w / (float)width, h / (float)height);
    rect r = {0, 0, (float)width * scale, (float)height * scale};
    r.x = (w - r.w) / 2;
    r.y = (h - r.h) / 2;
    paint_begin(p, &c->target, c->target.width, c->target.height);
    paint_image(p, texture, r, (rect){0, 0, 1, 1}, 1, 0);
    paint_end(p);
    remember(c);
}

bool canvas_undo(canvas *c) {
    canvas_end(c);
    if (c->current == c->oldest)
        return false;
    recall(c, c->current - 1);
    return true;
}

bool canvas_redo(canvas *c) {
    canvas_end(c);
    if (c->current == c->newest)
        return false;
    recall(c, c->current + 1);
    return true;
}
