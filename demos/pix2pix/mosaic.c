#include "mosaic.h"

#include <math.h>

enum { BLOCKS = 32 }; /* a side */

/* x: the largest magnitude in the fragment's block of the tensor, y: the sum of squares. The first
 * pass reads the tensor, the second one the result of the first. */
static const char measure_text[] =
    "uniform sampler2D tensor;\n"
    "uniform ivec2 size, block;\n"
    "uniform bool again;\n"
    "out vec4 o_sums;\n"
    "void main() {\n"
    "    ivec2 from = ivec2(gl_FragCoord.xy) * block, to = min(from + block, size);\n"
    "    vec2 sums = vec2(0.0);\n"
    "    for (int y = from.y; y < to.y; y++)\n"
    "        for (int x = from.x; x < to.x; x++) {\n"
    "            vec4 v = texelFetch(tensor, ivec2(x, y), 0), a = abs(v);\n"
    "            float most = max(max(a.x, a.y), max(a.z, a.w));\n"
    "            vec2 more = again ? v.xy : vec2(most, dot(v, v));\n"
    "            if (more.y < 1e30) sums = vec2(max(sums.x, more.x), sums.y + more.y);\n"
    "        }\n"
    "    o_sums = vec4(sums, 0.0, 0.0);\n"
    "}\n";

/* Full colour is at three times the root mean square, or at the largest value if that is less. */
static const char draw_text[] =
    "uniform sampler2D tensor, measured;\n"
    "uniform vec4 place;\n"  /* of the mosaic: left, bottom; pixels per element */
    "uniform ivec4 sizes;\n" /* width, height, channels; tiles side by side in the texture */
    "uniform int columns;\n" /* channels side by side */
    "uniform float count;\n" /* numbers */
    "out vec4 o_color;\n"
    "vec3 ramp(vec3 hue, float s) {\n"
    "    return mix(mix(vec3(0.06, 0.06, 0.08), hue, min(s * 1.6, 1.0)), vec3(1.0),\n"
    "               max(s - 0.625, 0.0));\n"
    "}\n"
    "void main() {\n"
    "    ivec2 cell = sizes.xy, p = ivec2(vec2(gl_FragCoord.x - place.x,\n"
    "                                          place.y - gl_FragCoord.y) / place.z);\n"
    "    ivec2 at = p / cell;\n"
    "    int c = at.y * columns + at.x;\n"
    "    if (at.x >= columns || c >= sizes.z) discard;\n"
    "    vec2 edge = vec2(gl_FragCoord.x - place.x, place.y - gl_FragCoord.y) -\n"
    "                vec2(at * cell) * place.z;\n"
    "    if (columns > 1 && min(edge.x, edge.y) < 1.0) discard;\n" /* a gap of one pixel */
    "    int t = c / 4;\n"
    "    p += (ivec2(t % sizes.w, t / sizes.w) - at) * cell;\n"
    "    vec4 texel = texelFetch(tensor, p, 0);\n"
    "    float v = texel[c % 4];\n"
    "    vec2 sums = texelFetch(measured, ivec2(0), 0).xy;\n"
    "    float full = max(min(sums.x, 3.0 * sqrt(sums.y / count)), 1e-20);\n"
    "    vec3 hue = v < 0.0 ? vec3(0.16, 0.45, 0.95) : vec3(0.98, 0.55, 0.12);\n"
    "    o_color = vec4(ramp(hue, min(abs(v) / full, 1.0)), 1.0);\n"
    "}\n";

bool mosaic_create(mosaic *m) {
    m->measure = gl_program(gl_fill_vertex, measure_text);
    m->draw = gl_program(gl_fill_vertex, draw_text);
    glGenVertexArrays(1, &m->vertex_array);
    return m->measure && m->draw && gl_target_create(&m->blocks, GL_RGBA32F, BLOCKS, BLOCKS) &&
           gl_target_create(&m->whole, GL_RGBA32F, 1, 1) && gl_check("preparing mosaics");
}

void mosaic_destroy(mosaic *m) {
    glDeleteProgram(m->measure);
    glDeleteProgram(m->draw);
    glDeleteVertexArrays(1, &m->vertex_array);
    gl_target_destroy(&m->blocks);
    gl_target_destroy(&m->whole);
}

static void reduce(const mosaic *m, GLuint texture, int width, int height, const gl_target *to) {
    glUniform2i(glGetUniformLocation(m->measure, "size"), width, height);
    glUniform2i(glGetUniformLocation(m->measure, "block"), (width + to->width - 1) / to->width,
                (height + to->height - 1) / to->height);
    glUniform1i(glGetUniformLocation(m->measure, "again"), to == &m->whole);
    glBindTexture(GL_TEXTURE_2D, texture);
    glBindFramebuffer(GL_FRAMEBUFFER, to->framebuffer);
    glViewport(0, 0, to->width, to->height);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

void mosaic_measure(const mosaic *m, const tensor_view *tensor) {
    const tsr_texture *t = &tensor->texture;
    glUseProgram(m->measure);
    glActiveTexture(GL_TEXTURE0);
    glBindVertexArray(m->vertex_array);
    reduce(m, t->id, t->texture_width, t->texture_height, &m->blocks);
    reduce(m, m->blocks.texture, BLOCKS, BLOCKS, &m->whole);
    glBindVertexArray(0);
}

/* Chooses the columns that give the largest pixels per element. */
static int choose_columns(const tensor_view *tensor, rect r, float *zoom) {
    int best = 1;
    *zoom = 0;
    for (int columns = 1; columns <= tensor->channels; columns++) {
        int rows = (tensor->channels + columns - 1) / columns;
        float fits = fminf(r.w / (float)(columns * tensor->texture.width),
                           r.h / (float)(rows * tensor->texture.height));
        if (fits > *zoom) {
            *zoom = fits;
            best = columns;
        }
    }
    return best;
}

void mosaic_draw(const mosaic *m, const tensor_view *tensor, rect r, int height) {
    const tsr_texture *t = &tensor->texture;
    float zoom;
    int columns = choose_columns(tensor, r, &zoom);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport((int)r.x, height - (int)(r.y + r.h), (int)r.w, (int)r.h);
    glUseProgram(m->draw);
    glUniform4f(glGetUniformLocation(m->draw, "place"), r.x, (float)height - r.y, zoom, 0);
    glUniform4i(glGetUniformLocation(m->draw, "sizes"), t->width, t->height, tensor->channels,
                t->columns);
    glUniform1i(glGetUniformLocation(m->draw, "columns"), columns);
    glUniform1f(glGetUniformLocation(m->draw, "count"),
                (float)tensor->channels * (float)t->width * (float)t->height);
    glUniform1i(glGetUniformLocation(m->draw, "measured"), 1);
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_2D, m->whole.texture);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, t->id);
    glBindVertexArray(m->vertex_array);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glBindVertexArray(0);
}
