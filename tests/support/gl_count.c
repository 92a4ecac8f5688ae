#include "support/gl_count.h"

#include "api/device.h"
#include "gles/device.h"

#include <stdio.h>
#include <string.h>

static GladGLES2Context driver;

/* V(name, parameters, arguments), R(result, name, parameters, arguments) */
#define COUNTED(V, R)                                                                              \
    V(ActiveTexture, (GLenum unit), (unit))                                                        \
    V(BindBuffer, (GLenum target, GLuint buffer), (target, buffer))                                \
    V(BindBufferRange,                                                                             \
      (GLenum target, GLuint index, GLuint buffer, GLintptr offset, GLsizeiptr size),              \
      (target, index, buffer, offset, size))                                                       \
    V(BindFramebuffer, (GLenum target, GLuint framebuffer), (target, framebuffer))                 \
    V(BindSampler, (GLuint unit, GLuint sampler), (unit, sampler))                                 \
    V(BindTexture, (GLenum target, GLuint texture), (target, texture))                             \
    V(BindVertexArray, (GLuint array), (array))                                                    \
    V(BufferData, (GLenum target, GLsizeiptr size, const void *data, GLenum usage),                \
      (target, size, data, usage))                                                                 \
    V(BufferSubData, (GLenum target, GLintptr offset, GLsizeiptr size, const void *data),          \
      (target, offset, size, data))                                                                \
    V(ClearBufferfv, (GLenum buffer, GLint plane, const GLfloat *value), (buffer, plane, value))   \
    R(GLenum, ClientWaitSync, (GLsync sync, GLbitfield flags, GLuint64 timeout),                   \
      (sync, flags, timeout))                                                                      \
    V(DeleteSync, (GLsync sync), (sync))                                                           \
    V(Disable, (GLenum cap), (cap))                                                                \
    V(DrawArrays, (GLenum mode, GLint first, GLsizei count), (mode, first, count))                 \
    V(DrawArraysInstanced, (GLenum mode, GLint first, GLsizei count, GLsizei instances),           \
      (mode, first, count, instances))                                                             \
    V(Enable, (GLenum cap), (cap))                                                                 \
    R(GLsync, FenceSync, (GLenum condition, GLbitfield flags), (condition, flags))                 \
    V(Flush, (void), ())                                                                           \
    R(GLenum, GetError, (void), ())                                                                \
    R(void *, MapBufferRange,                                                                      \
      (GLenum target, GLintptr offset, GLsizeiptr length, GLbitfield access),                      \
      (target, offset, length, access))                                                            \
    V(ReadBuffer, (GLenum source), (source))                                                       \
    V(ReadPixels,                                                                                  \
      (GLint x, GLint y, GLsizei w, GLsizei h, GLenum format, GLenum type, void *pixels),          \
      (x, y, w, h, format, type, pixels))                                                          \
    V(Scissor, (GLint x, GLint y, GLsizei w, GLsizei h), (x, y, w, h))                             \
    V(TexSubImage2D,                                                                               \
      (GLenum target, GLint level, GLint x, GLint y, GLsizei w, GLsizei h, GLenum format,          \
       GLenum type, const void *pixels),                                                           \
      (target, level, x, y, w, h, format, type, pixels))                                           \
    V(Uniform1i, (GLint location, GLint value), (location, value))                                 \
    V(Uniform4iv, (GLint location, GLsizei count, const GLint *values), (location, count, values)) \
    R(GLboolean, UnmapBuffer, (GLenum target), (target))                                           \
    V(UseProgram, (GLuint program), (program))                                                     \
    V(Viewport, (GLint x, GLint y, GLsizei w, GLsizei h), (x, y, w, h))

#define VOID_NUMBER(name, parameters, arguments) AT_##name,
#define NUMBER(result, name, parameters, arguments) AT_##name,
enum { COUNTED(VOID_NUMBER, NUMBER) FUNCTIONS };

#define VOID_NAME(name, parameters, arguments) "gl" #name,
#define NAME(result, name, parameters, arguments) "gl" #name,
static const char *const names[FUNCTIONS] = {COUNTED(VOID_NAME, NAME)};

static int counts[FUNCTIONS];

#define VOID_WRAPPER(name, parameters, arguments)                                                  \
    static void GLAD_API_PTR counted_##name parameters {                                           \
        counts[AT_##name]++;                                                                       \
        driver.name arguments;                                                                     \
    }
#define WRAPPER(result, name, parameters, arguments)                                               \
    static result GLAD_API_PTR counted_##name parameters {                                         \
        counts[AT_##name]++;                                                                       \
        return driver.name arguments;                                                              \
    }
COUNTED(VOID_WRAPPER, WRAPPER)

void count_gl_calls(tsr_device *device) {
    GladGLES2Context *gl = &device->impl->gl;
    driver = *gl;
#define VOID_REPLACE(name, parameters, arguments) gl->name = counted_##name;
#define REPLACE(result, name, parameters, arguments) gl->name = counted_##name;
    COUNTED(VOID_REPLACE, REPLACE)
    forget_gl_calls();
}

int gl_calls(const char *name) {
    int calls = 0;
    for (int i = 0; i < FUNCTIONS; i++)
        if (!name || !strcmp(names[i], name))
            calls += counts[i];
    return calls;
}

void forget_gl_calls(void) {
    memset(counts, 0, sizeof counts);
}

void print_gl_calls(void) {
    for (int i = 0; i < FUNCTIONS; i++)
        if (counts[i])
            printf("%-20s %5d\n", names[i], counts[i]);
}
