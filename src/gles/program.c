#include "gles/program.h"

#include "base/allocator.h"
#include "base/error.h"
#include "gles/state.h"
#include "gpu/driver_log.h"

#include <stdio.h>
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

static GLuint start_program(const char *fragment_text, bool retrievable) {
    GLuint vertex = start_shader(GL_VERTEX_SHADER, vertex_text);
    GLuint fragment = start_shader(GL_FRAGMENT_SHADER, fragment_text);
    GLuint program = glCreateProgram();
    if (retrievable)
        glProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glLinkProgram(program);
    glDeleteShader(vertex); /* kept as long as the program */
    glDeleteShader(fragment);
    return program;
}

/* ---- the cache on disk: entries are a binary format and the driver's bytes ------------------- */

/* NVIDIA's driver has a cache of its own. It compiles programs whose binaries can be retrieved one
 * by one, not in parallel, and loaded ones again at their first draw. */
static bool has_useful_binaries(void) {
    GLint formats = 0;
    glGetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &formats);
    const char *vendor = (const char *)glGetString(GL_VENDOR);
    return formats > 0 && !(vendor && strstr(vendor, "NVIDIA"));
}

void tsr_programs_open(tsr_programs *programs, const tsr_device_info *device) {
    programs->on_disk = tsr_cache_is_on() && has_useful_binaries();
    programs->device = tsr_cache_key_start();
    const char *const texts[] = {"gles program", TSR_VERSION, device->name, device->version,
                                 vertex_text};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        tsr_cache_key_add(&programs->device, texts[i]);
}

/* 0 if there is none, or the driver rejects it. */
static GLuint load_program(const tsr_cache_key *key) {
    GLenum format = 0;
    GLint linked = GL_FALSE;
    size_t size = 0;
    char *entry = tsr_cache_load(key, &size);
    GLuint program = entry && size > sizeof format ? glCreateProgram() : 0;
    if (program) {
        memcpy(&format, entry, sizeof format);
        glProgramBinary(program, format, entry + sizeof format, (GLsizei)(size - sizeof format));
        glGetProgramiv(program, GL_LINK_STATUS, &linked);
    }
    tsr_free(entry);
    if (linked)
        return program;
    if (program)
        glGetError(); /* of a format that is unknown to this driver */
    glDeleteProgram(program);
    return 0;
}

static void store_program(const tsr_program *p) {
    GLenum format = 0;
    GLint length = 0;
    glGetProgramiv(p->id, GL_PROGRAM_BINARY_LENGTH, &length);
    char *entry = length > 0 ? tsr_malloc(sizeof format + (size_t)length) : NULL;
    if (!entry)
        return;
    GLsizei written = 0;
    glGetProgramBinary(p->id, length, &written, &format, entry + sizeof format);
    memcpy(entry, &format, sizeof format);
    if (written > 0)
        tsr_cache_store(&p->key, entry, sizeof format + (size_t)written);
    tsr_free(entry);
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Takes ownership of the text. */
static tsr_status start(tsr_programs *programs, char *text, tsr_program **out) {
    tsr_program *p = tsr_calloc(1, sizeof *p);
    if (!p) {
        tsr_free(text);
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a program");
    }
    if (programs->on_disk) {
        p->key = programs->device;
        tsr_cache_key_add(&p->key, text);
        p->id = load_program(&p->key);
        p->cached = p->id != 0;
        p->to_store = !p->cached;
    }
    if (!p->cached)
        p->id = start_program(text, p->to_store);
    tsr_program_cache_add(&programs->cache, &p->entry, text);
    *out = p;
    return TSR_OK;
}

tsr_status tsr_program_acquire_text(tsr_programs *programs, char *text, tsr_program **out) {
    *out = (tsr_program *)tsr_program_cache_find_text(&programs->cache, text);
    if (!*out)
        return start(programs, text, out);
    tsr_free(text);
    return TSR_OK;
}

tsr_status tsr_program_acquire(tsr_programs *programs, tsr_program_text *text, tsr_program **out) {
    char *chars;
    *out = (tsr_program *)tsr_program_cache_find(&programs->cache, &text->key);
    if (*out)
        return TSR_OK;
    TSR_TRY(tsr_program_text_finish(text, &chars));
    TSR_TRY(tsr_program_acquire_text(programs, chars, out));
    tsr_cached_program_add_key(&(*out)->entry, &text->key);
    return TSR_OK;
}

static tsr_status report_failure(const tsr_program *p, const char *kernel, bool body) {
    char log[2048] = "", error[512];
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
    tsr_log_lines(TSR_LOG_DEBUG, log);
    tsr_log_lines(TSR_LOG_DEBUG, p->entry.text);
    tsr_driver_log_error(log, error, sizeof error);
    if (!body)
        return tsr_fail(TSR_ERROR_DEVICE, "the driver refused kernel %s: %s", kernel, error);
    return tsr_fail(TSR_ERROR_DEVICE, "the driver refused the operator's GLSL body: %s", error);
}

/* Units of samplers never change. */
static void bind_samplers(GLuint program) {
    char name[16];
    glUseProgram(program);
    for (int i = 0; i < TSR_MAX_SOURCES; i++) {
        snprintf(name, sizeof name, "tsr_source%d", i);
        glUniform1i(glGetUniformLocation(program, name), i);
    }
    glUniform1i(glGetUniformLocation(program, "table"), TSR_TABLE_UNIT);
    glUniform1i(glGetUniformLocation(program, "tsr_high"), TSR_HIGH_UNIT);
}

GLuint tsr_program_link(const char *fragment_text) {
    GLint linked = GL_FALSE;
    GLuint program = start_program(fragment_text, false);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    if (linked) {
        bind_samplers(program);
        return program;
    }
    glDeleteProgram(program);
    return 0;
}

bool tsr_program_is_linked(const tsr_program *p) {
    GLint complete = GL_TRUE;
    if (!p->entry.compiled && tsr_gl->KHR_parallel_shader_compile)
        glGetProgramiv(p->id, GL_COMPLETION_STATUS_KHR, &complete);
    return complete;
}

tsr_status tsr_program_finish(tsr_program *p, const char *kernel, bool body) {
    GLint linked = GL_FALSE;
    if (p->entry.compiled)
        return TSR_OK;
    glGetProgramiv(p->id, GL_LINK_STATUS, &linked);
    if (!linked)
        return report_failure(p, kernel, body);
    p->entry.compiled = true;
    if (p->to_store)
        store_program(p);
    p->params = glGetUniformLocation(p->id, "tsr_uniforms");
    p->draw = glGetUniformLocation(p->id, "tsr_draw");
    bind_samplers(p->id);
    return TSR_OK;
}

static void destroy(tsr_program *p, bool usable) {
    if (usable)
        glDeleteProgram(p->id);
    tsr_free(p->params_set);
    tsr_free(p->entry.text);
    tsr_free(p);
}

void tsr_program_release(tsr_programs *programs, tsr_program *program) {
    tsr_cached_program *unused = tsr_program_cache_release(&programs->cache, &program->entry);
    if (unused)
        destroy((tsr_program *)unused, true);
}

void tsr_programs_clear(tsr_programs *programs, bool usable) {
    tsr_cached_program *p;
    while ((p = tsr_program_cache_pop(&programs->cache)))
        destroy((tsr_program *)p, usable);
}
