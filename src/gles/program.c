#include "gles/program.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One triangle that covers the viewport. */
static const char vertex_text[] = "#version 300 es\n"
                                  "void main() {\n"
                                  "    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);\n"
                                  "    gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0);\n"
                                  "}\n";

static GLuint start_shader(GLenum type, const char *text) {
    GLuint shader = glCreateShader(type);
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    return shader;
}

static GLuint start_program(const char *fragment_text) {
    GLuint vertex = start_shader(GL_VERTEX_SHADER, vertex_text);
    GLuint fragment = start_shader(GL_FRAGMENT_SHADER, fragment_text);
    GLuint program = glCreateProgram();
    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glLinkProgram(program);
    glDeleteShader(vertex); /* they live on as long as the program */
    glDeleteShader(fragment);
    return program;
}

tsr_status tsr_program_acquire(tsr_program_cache *cache, char *text, tsr_program **out) {
    for (tsr_program *p = cache->head; p; p = p->next)
        if (!strcmp(p->text, text)) {
            free(text);
            p->references++;
            *out = p;
            return TSR_OK;
        }
    tsr_program *p = calloc(1, sizeof *p);
    if (!p) {
        free(text);
        return tsr_fail(TSR_OUT_OF_MEMORY, "no memory for a program");
    }
    *p = (tsr_program){
        .next = cache->head, .text = text, .id = start_program(text), .references = 1};
    cache->head = p;
    *out = p;
    return TSR_OK;
}

static tsr_status report_failure(const tsr_program *p, const char *kernel) {
    char log[2048] = "";
    GLuint shaders[2];
    GLsizei count = 0;
    glGetProgramInfoLog(p->id, sizeof log, NULL, log);
    glGetAttachedShaders(p->id, 2, &count, shaders);
    for (GLsizei i = 0; i < count; i++) {
        GLint compiled = GL_TRUE;
        glGetShaderiv(shaders[i], GL_COMPILE_STATUS, &compiled);
        if (!compiled)
            glGetShaderInfoLog(shaders[i], sizeof log, NULL, log);
    }
    tsr_log(TSR_LOG_DEBUG, "%s", p->text);
    return tsr_fail(TSR_DEVICE, "the driver refused kernel %s: %s", kernel, log);
}

static GLint source_location(const tsr_program *p, int source, const char *suffix) {
    char name[16];
    snprintf(name, sizeof name, "%c%s", 'A' + source, suffix);
    return glGetUniformLocation(p->id, name);
}

/* Samplers keep their units for good: source i reads unit i, the table the one behind the last
 * source. */
static void bind_samplers(const tsr_program *p) {
    glUseProgram(p->id);
    for (int i = 0; i < TSR_MAX_SOURCES; i++)
        glUniform1i(source_location(p, i, "_texture"), i);
    glUniform1i(glGetUniformLocation(p->id, "table"), TSR_MAX_SOURCES);
}

tsr_status tsr_program_finish(tsr_program *p, const char *kernel) {
    GLint linked = GL_FALSE;
    if (p->checked)
        return TSR_OK;
    glGetProgramiv(p->id, GL_LINK_STATUS, &linked);
    if (!linked)
        return report_failure(p, kernel);
    p->checked = true;
    p->output_size = glGetUniformLocation(p->id, "O_size");
    p->output_grid = glGetUniformLocation(p->id, "O_grid");
    p->output_inverse = glGetUniformLocation(p->id, "O_inverse");
    p->table_inverse = glGetUniformLocation(p->id, "table_inverse");
    p->posts = glGetUniformLocation(p->id, "posts");
    for (int i = 0; i < TSR_MAX_SOURCES; i++) {
        p->source_size[i] = source_location(p, i, "_size");
        p->source_grid[i] = source_location(p, i, "_grid");
        p->source_inverse[i] = source_location(p, i, "_inverse");
    }
    bind_samplers(p);
    return TSR_OK;
}

static void destroy(tsr_program *p, bool usable) {
    if (usable)
        glDeleteProgram(p->id);
    free(p->text);
    free(p);
}

void tsr_program_release(tsr_program_cache *cache, tsr_program *program) {
    if (--program->references)
        return;
    tsr_program **link = &cache->head;
    while (*link != program)
        link = &(*link)->next;
    *link = program->next;
    destroy(program, true);
}

void tsr_program_cache_clear(tsr_program_cache *cache, bool usable) {
    while (cache->head) {
        tsr_program *next = cache->head->next;
        destroy(cache->head, usable);
        cache->head = next;
    }
}
