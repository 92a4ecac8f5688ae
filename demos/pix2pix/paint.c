#include "paint.h"

#include "message.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stb/stb_truetype.h>

enum { ATLAS = 1024 };

static const char vertex_text[] =
    "layout(location = 0) in vec4 place;\n"
    "layout(location = 1) in vec4 color;\n"
    "uniform vec3 scale;\n"
    "out vec2 uv;\n"
    "out vec4 tint;\n"
    "void main() {\n"
    "    uv = place.zw;\n"
    "    tint = color;\n"
    "    gl_Position = vec4((place.xy * scale.xy - 1.0) * vec2(1.0, scale.z), 0.0, 1.0);\n"
    "}\n";

static const char fragment_text[] =
    "uniform sampler2D image;\n"
    "uniform vec2 map;\n"
    "uniform float opaque;\n"
    "in vec2 uv;\n"
    "in vec4 tint;\n"
    "out vec4 o_color;\n"
    "void main() {\n"
    "    vec4 v = texture(image, uv);\n"
    "    o_color = vec4(v.rgb * map.x + map.y, max(v.a, opaque)) * tint;\n"
    "}\n";

/* ---- the font -------------------------------------------------------------------------------- */

/* To be freed; NULL on failure. */
static unsigned char *read_font(void) {
    FILE *file = fopen(PIX2PIX_FONT, "rb");
    unsigned char *bytes = NULL;
    long size = 0;
    if (file && !fseek(file, 0, SEEK_END) && (size = ftell(file)) > 0 && !fseek(file, 0, SEEK_SET))
        bytes = malloc((size_t)size);
    if (bytes && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        free(bytes);
        bytes = NULL;
    }
    if (!bytes)
        complain("%s: the font cannot be read (%s); on Debian: apt install fonts-dejavu-core",
                 PIX2PIX_FONT, strerror(errno));
    if (file)
        fclose(file);
    return bytes;
}

static void take_glyph(glyph *g, const stbtt_bakedchar *b) {
    *g = (glyph){(float)b->x0 / ATLAS,
                 (float)b->y0 / ATLAS,
                 (float)b->x1 / ATLAS,
                 (float)b->y1 / ATLAS,
                 b->xoff,
                 b->yoff,
                 b->xoff + (float)(b->x1 - b->x0),
                 b->yoff + (float)(b->y1 - b->y0),
                 b->xadvance};
}

/* Texels are white, their alpha is the glyph. */
static void upload_atlas(painter *p, unsigned char *texels) {
    for (int y = ATLAS - 4; y < ATLAS; y++)
        memset(texels + y * ATLAS + ATLAS - 4, 255, 4);
    glGenTextures(1, &p->atlas);
    glBindTexture(GL_TEXTURE_2D, p->atlas);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, ATLAS, ATLAS, 0, GL_RED, GL_UNSIGNED_BYTE, texels);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    for (GLenum channel = GL_TEXTURE_SWIZZLE_R; channel <= GL_TEXTURE_SWIZZLE_B; channel++)
        glTexParameteri(GL_TEXTURE_2D, channel, GL_ONE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_A, GL_RED);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
}

static bool make_font(painter *p, float height) {
    unsigned char *font = read_font(), *texels = calloc(ATLAS, ATLAS);
    stbtt_bakedchar baked[FONT_COUNT];
    bool good = font && texels &&
                stbtt_BakeFontBitmap(font, 0, height, texels, ATLAS, ATLAS, FONT_FIRST, FONT_COUNT,
                                     baked) > 0;
    if (good) {
        for (int i = 0; i < FONT_COUNT; i++)
            take_glyph(&p->glyphs[i], &baked[i]);
        p->ascent = height * 0.8f;
        p->line = height * 1.15f;
        upload_atlas(p, texels);
    } else if (font) {
        complain("%s: cannot rasterise text of %.0f pixels", PIX2PIX_FONT, (double)height);
    }
    free(texels);
    free(font);
    return good;
}

/* ---- drawing --------------------------------------------------------------------------------- */

bool paint_create(painter *p, float text_height) {
    p->count = 0;
    p->program = gl_program(vertex_text, fragment_text);
    if (!p->program || !make_font(p, text_height))
        return false;
    p->scale = glGetUniformLocation(p->program, "scale");
    p->map = glGetUniformLocation(p->program, "map");
    p->opaque = glGetUniformLocation(p->program, "opaque");
    glGenVertexArrays(1, &p->vertex_array);
    glGenBuffers(1, &p->buffer);
    glBindVertexArray(p->vertex_array);
    glBindBuffer(GL_ARRAY_BUFFER, p->buffer);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, sizeof(vertex), NULL);
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, sizeof(vertex), (void *)offsetof(vertex, c));
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glBindVertexArray(0);
    return gl_check("preparing to paint");
}

void paint_destroy(painter *p) {
    glDeleteProgram(p->program);
    glDeleteVertexArrays(1, &p->vertex_array);
    glDeleteBuffers(1, &p->buffer);
    glDeleteTextures(1, &p->atlas);
}

void paint_begin(painter *p, const gl_target *target, int width, int height) {
    glBindFramebuffer(GL_FRAMEBUFFER, target ? target->framebuffer : 0);
    glViewport(0, 0, width, height);
    glUseProgram(p->program);
    glUniform3f(p->scale, 2 / (float)width, 2 / (float)height, target ? 1 : -1);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glBindVertexArray(p->vertex_array);
    p->count = 0;
}

static void flush(painter *p, GLuint texture, float factor, float summand, bool opaque) {
    glBindBuffer(GL_ARRAY_BUFFER, p->buffer);
    glBufferData(GL_ARRAY_BUFFER, p->count * (GLsizeiptr)sizeof(vertex), p->vertices,
                 GL_STREAM_DRAW);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, texture);
    glUniform2f(p->map, factor, summand);
    glUniform1f(p->opaque, opaque);
    opaque ? glDisable(GL_BLEND) : glEnable(GL_BLEND);
    glDrawArrays(GL_TRIANGLES, 0, p->count);
    p->count = 0;
}

static void flush_text(painter *p) {
    if (p->count)
        flush(p, p->atlas, 1, 0, false);
}

void paint_end(painter *p) {
    flush_text(p);
    glDisable(GL_BLEND);
    glBindVertexArray(0);
}

static void add_quad(painter *p, rect r, rect part, color c) {
    static const int corners[6][2] = {{0, 0}, {1, 0}, {0, 1}, {0, 1}, {1, 0}, {1, 1}};
    if (p->count == PAINT_QUADS * 6)
        flush_text(p);
    for (int i = 0; i < 6; i++) {
        float x = (float)corners[i][0], y = (float)corners[i][1];
        p->vertices[p->count++] =
            (vertex){r.x + x * r.w, r.y + y * r.h, part.x + x * part.w, part.y + y * part.h, c};
    }
}

void paint_rect(painter *p, rect r, color c) {
    const float middle = (ATLAS - 2.0f) / ATLAS;
    add_quad(p, r, (rect){middle, middle, 0, 0}, c);
}

static const glyph *glyph_of(const painter *p, char character) {
    int i = (unsigned char)character - FONT_FIRST;
    return &p->glyphs[i >= 0 && i < FONT_COUNT ? i : '?' - FONT_FIRST];
}

void paint_text(painter *p, float x, float y, color c, const char *text) {
    for (; *text; text++) {
        const glyph *g = glyph_of(p, *text);
        rect r = {x + g->x0, y + p->ascent + g->y0, g->x1 - g->x0, g->y1 - g->y0};
        add_quad(p, r, (rect){g->u0, g->v0, g->u1 - g->u0, g->v1 - g->v0}, c);
        x += g->advance;
    }
}

float paint_text_width(const painter *p, const char *text) {
    float width = 0;
    for (; *text; text++)
        width += glyph_of(p, *text)->advance;
    return width;
}

void paint_image(painter *p, GLuint texture, rect r, rect part, float factor, float summand) {
    flush_text(p);
    add_quad(p, r, part, (color){1, 1, 1, 1});
    flush(p, texture, factor, summand, true);
}

void paint_over(painter *p, GLuint texture, rect r) {
    flush_text(p);
    add_quad(p, r, (rect){0, 0, 1, 1}, (color){1, 1, 1, 1});
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    flush(p, texture, 1, 0, false);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
}
