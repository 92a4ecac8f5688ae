#include "frame.h"

#include "message.h"

#include <math.h>

/* Bars of colour whose hues move, a ramp of grey, a disc and a square that wander. */
static const char pattern_text[] =
    "uniform vec2 size;\n"
    "uniform float time;\n"
    "out vec4 o_color;\n"
    "vec3 hue(float h) {\n"
    "    return clamp(abs(mod(h + vec3(0.0, 4.0, 2.0), 6.0) - 3.0) - 1.0, 0.0, 1.0);\n"
    "}\n"
    "void main() {\n"
    "    vec2 at = gl_FragCoord.xy / size, p = (gl_FragCoord.xy - 0.5 * size) / size.y;\n"
    "    vec3 color = hue(floor(at.x * 8.0) * 0.75 + time) * 0.75 + 0.2;\n"
    "    if (at.y > 0.8)\n"
    "        color = vec3(floor(at.x * 16.0) / 15.0);\n"
    "    vec2 q = p - 0.22 * vec2(sin(time * 0.7), cos(time * 0.9)) - vec2(0.3, 0.0);\n"
    "    float c = cos(time), s = sin(time);\n"
    "    q = mat2(c, s, -s, c) * q;\n"
    "    if (max(abs(q.x), abs(q.y)) < 0.16)\n"
    "        color = vec3(q / 0.32 + 0.5, 0.9);\n"
    "    vec2 r = p - vec2(-0.3 + 0.2 * sin(time), 0.15 * cos(time * 1.3));\n"
    "    if (length(r) < 0.2)\n"
    "        color = hue(atan(r.y, r.x) * 0.95493 + 3.0);\n"
    "    o_color = vec4(color, 1.0);\n"
    "}\n";

/* range: Y's zero and factor, the factor of chroma. */
static const char bytes_text[] =
    "uniform sampler2D luma, blue, red;\n"
    "uniform vec4 pick_blue, pick_red;\n"
    "uniform vec4 grid;\n"
    "uniform vec3 range;\n"
    "uniform bool rgb;\n"
    "out vec4 o_color;\n"
    "void main() {\n"
    "    vec4 texel = texelFetch(luma, ivec2(gl_FragCoord.xy), 0);\n"
    "    vec2 at = gl_FragCoord.xy * grid.xy + grid.zw;\n"
    "    float y = (texel.r - range.x) * range.y;\n"
    "    float b = dot(texture(blue, at / vec2(textureSize(blue, 0))), pick_blue);\n"
    "    float r = dot(texture(red, at / vec2(textureSize(red, 0))), pick_red);\n"
    "    vec2 c = (vec2(b, r) - 128.0 / 255.0) * range.z;\n"
    "    vec3 mixed = y + vec3(1.402 * c.y, -0.344136 * c.x - 0.714136 * c.y, 1.772 * c.x);\n"
    "    o_color = vec4(rgb ? texel.rgb : clamp(mixed, 0.0, 1.0), 1.0);\n"
    "}\n";

/* place: the corner of the picture in the target, and its size there. */
static const char fit_text[] =
    "uniform sampler2D image;\n"
    "uniform vec4 place;\n"
    "uniform bool edges;\n"
    "out vec4 o_color;\n"
    "vec3 mean(vec2 pixel) {\n"
    "    vec2 area = vec2(textureSize(image, 0)) / place.zw;\n"
    "    ivec2 taps = clamp(ivec2(ceil(area - 0.001)), 1, 8);\n"
    "    vec3 sum = vec3(0.0);\n"
    "    for (int y = 0; y < taps.y; y++)\n"
    "        for (int x = 0; x < taps.x; x++) {\n"
    "            vec2 at = pixel - 0.5 + (vec2(x, y) + 0.5) / vec2(taps);\n"
    "            sum += texture(image, (at - place.xy) / place.zw).rgb;\n"
    "        }\n"
    "    return sum / float(taps.x * taps.y);\n"
    "}\n"
    "vec3 outline(vec2 p) {\n"
    "    vec3 n[9];\n"
    "    for (int i = 0; i < 9; i++)\n"
    "        n[i] = mean(p + vec2(i % 3 - 1, i / 3 - 1));\n"
    "    vec3 across = n[2] + 2.0 * n[5] + n[8] - n[0] - 2.0 * n[3] - n[6];\n"
    "    vec3 down = n[6] + 2.0 * n[7] + n[8] - n[0] - 2.0 * n[1] - n[2];\n"
    "    vec3 slope = sqrt(across * across + down * down);\n"
    "    return vec3(1.0 - smoothstep(0.4, 0.9, max(slope.r, max(slope.g, slope.b))));\n"
    "}\n"
    "void main() {\n"
    "    vec2 p = gl_FragCoord.xy;\n"
    "    bool inside = all(greaterThan(p, place.xy)) && all(lessThan(p, place.xy + place.zw));\n"
    "    vec3 color = edges ? vec3(1.0) : vec3(0.0);\n"
    "    if (inside)\n"
    "        color = edges ? outline(p) : mean(p);\n"
    "    o_color = vec4(color, 1.0);\n"
    "}\n";

static GLint uniform(GLuint program, const char *name) {
    return glGetUniformLocation(program, name);
}

bool converter_create(converter *c) {
    static const char *const samplers[] = {"luma", "blue", "red"};
    c->pattern = gl_program(gl_fill_vertex, pattern_text);
    c->bytes = gl_program(gl_fill_vertex, bytes_text);
    c->fit = gl_program(gl_fill_vertex, fit_text);
    if (!c->pattern || !c->bytes || !c->fit)
        return false;
    glGenTextures(3, c->textures);
    glUseProgram(c->bytes);
    for (int i = 0; i < 3; i++) {
        glUniform1i(uniform(c->bytes, samplers[i]), i);
        glBindTexture(GL_TEXTURE_2D, c->textures[i]);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    }
    return gl_check("preparing to convert frames");
}

void converter_destroy(converter *c) {
    glDeleteProgram(c->pattern);
    glDeleteProgram(c->bytes);
    glDeleteProgram(c->fit);
    glDeleteTextures(3, c->textures);
}

static void upload(converter *c, const frame *f) {
    static const GLint internal[] = {GL_R8, GL_RG8, GL_RGB8, GL_RGBA8};
    static const GLenum format[] = {GL_RED, GL_RG, GL_RGB, GL_RGBA};
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    for (int i = 0; i < (f->kind == FRAME_YUV ? 3 : 1); i++) {
        const plane *p = &f->planes[i];
        glActiveTexture(GL_TEXTURE0 + (GLenum)i);
        glBindTexture(GL_TEXTURE_2D, c->textures[i]);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, p->stride);
        glTexImage2D(GL_TEXTURE_2D, 0, internal[p->channels - 1], p->width, p->height, 0,
                     format[p->channels - 1], GL_UNSIGNED_BYTE, p->data);
    }
    glActiveTexture(GL_TEXTURE0);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
}

static void use_bytes(const converter *c, const frame *f) {
    const chroma_grid *g = &f->chroma;
    const char *const names[] = {"pick_blue", "pick_red"};
    glUseProgram(c->bytes);
    for (int i = 0; i < 2; i++) {
        GLfloat pick[4] = {0};
        pick[f->component[i]] = 1;
        glUniform4fv(uniform(c->bytes, names[i]), 1, pick);
    }
    glUniform4f(uniform(c->bytes, "grid"), g->step[0], g->step[1], g->offset[0], g->offset[1]);
    glUniform3f(uniform(c->bytes, "range"), f->full_range ? 0 : 16 / 255.0f,
                f->full_range ? 1 : 255 / 219.0f, f->full_range ? 1 : 255 / 224.0f);
    glUniform1i(uniform(c->bytes, "rgb"), f->kind == FRAME_RGB);
}

static void fill(const gl_target *target) {
    glBindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
    glViewport(0, 0, target->width, target->height);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

bool converter_draw(converter *c, const frame *f, gl_target *target) {
    enum { PERIOD = 30 * 60 }; /* the pattern repeats: large numbers have no exact sine */
    if (target->width != f->width || target->height != f->height) {
        gl_target_destroy(target);
        if (!gl_target_create(target, GL_RGBA8, f->width, f->height))
            return false;
    }
    if (f->kind == FRAME_PATTERN) {
        glUseProgram(c->pattern);
        glUniform2f(uniform(c->pattern, "size"), (float)f->width, (float)f->height);
        glUniform1f(uniform(c->pattern, "time"), (float)(f->number % PERIOD) / 30);
    } else {
        upload(c, f);
        use_bytes(c, f);
    }
    fill(target);
    return true;
}

place frame_place(int width, int height, int into_width, int into_height) {
    double zoom = fmin((double)into_width / width, (double)into_height / height);
    place p = {0, 0, (int)fmax(lround(width * zoom), 1), (int)fmax(lround(height * zoom), 1)};
    p.x = (into_width - p.width) / 2;
    p.y = (into_height - p.height) / 2;
    return p;
}

void converter_fit(converter *c, const gl_target *picture, const gl_target *into, bool edges) {
    place p = frame_place(picture->width, picture->height, into->width, into->height);
    glBindTexture(GL_TEXTURE_2D, picture->texture);
    glUseProgram(c->fit);
    glUniform4f(uniform(c->fit, "place"), (float)p.x, (float)p.y, (float)p.width, (float)p.height);
    glUniform1i(uniform(c->fit, "edges"), edges);
    fill(into);
}
