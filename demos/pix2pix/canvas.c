#include "canvas.h"

#include "message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A state with the stroke over it; the stroke's latest piece is not in its mask. */
static const char stroke_fragment[] = STROKE_COVER
    "uniform highp sampler2DArray states;\n"
    "uniform sampler2D mask;\n"
    "uniform int state;\n"
    "uniform vec3 from, to;\n"
    "uniform vec4 color;\n"
    "out vec4 o_color;\n"
    "void main() {\n"
    "    ivec2 at = ivec2(gl_FragCoord.xy);\n"
    "    float part = max(texelFetch(mask, at, 0).r, cover(gl_FragCoord.xy, from, to));\n"
    "    o_color = mix(texelFetch(states, ivec3(at, state), 0), color, part);\n"
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

static void remember(canvas *c, bool blank) {
    c->newest = ++c->current;
    if (c->newest - c->oldest == HISTORY)
        c->oldest++;
    c->blank[c->current % HISTORY] = blank;
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
    c->program = gl_program(gl_fill_vertex, stroke_fragment);
    if (!c->program || !gl_target_create(&c->target, GL_RGBA8, width, height) ||
        !stroke_create(&c->stroke, width, height))
        return false;
    c->from = glGetUniformLocation(c->program, "from");
    c->to = glGetUniformLocation(c->program, "to");
    c->state = glGetUniformLocation(c->program, "state");
    c->color = glGetUniformLocation(c->program, "color");
    glUseProgram(c->program);
    glUniform1i(glGetUniformLocation(c->program, "mask"), 0);
    glUniform1i(glGetUniformLocation(c->program, "states"), 1);
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
    remember(c, true);
    return gl_check("making the canvas");
}

/* What is kept. */
static bool is_blank(const canvas *c) {
    const unsigned char paper = c->clear ? 0 : 255;
    size_t count = (size_t)count_bytes(c);
    return c->kept[0] == paper && !memcmp(c->kept, c->kept + 1, count - 1);
}

bool canvas_restore(canvas *c) {
    int width = c->target.width, height = c->target.height;
    *c = (canvas){.clear = c->clear, .current = -1, .kept = c->kept, .version = c->version + 1};
    if (!make(c, width, height))
        return false;
    if (c->clear) { /* to be undone: then there is nothing */
        make_blank(c);
        remember(c, true);
    }
    glBindTexture(GL_TEXTURE_2D, c->target.texture);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, c->kept);
    remember(c, is_blank(c));
    return gl_check("making the canvas again");
}

void canvas_destroy(canvas *c) {
    glDeleteSync(c->read);
    glDeleteBuffers(1, &c->reading);
    glDeleteFramebuffers(1, &c->history_framebuffer);
    glDeleteTextures(1, &c->history);
    glUseProgram(0); /* one in use would stay without its name, which nobody could restore */
    glDeleteProgram(c->program);
    stroke_destroy(&c->stroke);
    gl_target_destroy(&c->target);
    free(c->kept);
}

static stroke_point point(const brush *b, float x, float y) {
    return (stroke_point){x, y, b->radius};
}

void canvas_begin(canvas *c, const brush *b, float x, float y) {
    const float paper = c->clear ? 0 : 1;
    canvas_end(c);
    for (int i = 0; i < 4; i++)
        c->paint[i] = b->erases ? paper : i < 3 ? b->color[i] : 1;
    stroke_begin(&c->stroke, point(b, x, y));
    c->drawing = true;
    c->version++;
}

void canvas_extend(canvas *c, const brush *b, float x, float y) {
    const stroke_point *latest = &c->stroke.to;
    if (!c->drawing || (x == latest->x && y == latest->y))
        return;
    stroke_extend(&c->stroke, point(b, x, y));
    c->version++;
}

static void set_point(GLint uniform, const stroke_point *p) {
    glUniform3f(uniform, p->x, p->y, p->radius);
}

void canvas_draw(canvas *c) {
    if (!c->drawing)
        return;
    stroke_draw(&c->stroke);
    bind(c);
    glUseProgram(c->program);
    glUniform1i(c->state, c->current % HISTORY);
    glUniform4fv(c->color, 1, c->paint);
    set_point(c->from, &c->stroke.from);
    set_point(c->to, &c->stroke.to);
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_2D_ARRAY, c->history);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, c->stroke.mask.texture);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

void canvas_end(canvas *c) {
    if (!c->drawing)
        return;
    stroke_end(&c->stroke);
    c->stroke.from = c->stroke.to; /* it is in the mask now */
    canvas_draw(c);
    c->drawing = false;
    c->version++;
    remember(c, false);
}

void canvas_clear(canvas *c) {
    canvas_end(c);
    make_blank(c);
    remember(c, true);
}

void canvas_forget(canvas *c) {
    canvas_clear(c);
    c->oldest = c->current;
}

bool canvas_is_blank(const canvas *c) {
    return !c->drawing && c->blank[c->current % HISTORY];
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
    remember(c, false);
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
