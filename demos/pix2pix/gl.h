/* OpenGL ES 3.0, and the few things that every part of the demo makes of it. */
#ifndef PIX2PIX_GL_H
#define PIX2PIX_GL_H

#include <glad/gles2.h>
#include <stdbool.h>

/* A texture that can be drawn to. Row 0 is the picture's top. */
typedef struct gl_target {
    GLuint texture, framebuffer;
    int width, height;
} gl_target;

/* format: GL_RGBA8, which is filtered when it is drawn, or GL_RGBA32F, which is not. */
bool gl_target_create(gl_target *target, GLenum format, int width, int height);
void gl_target_destroy(gl_target *target);

/* From the texts of both shaders, without their #version line; 0 after a complaint. */
GLuint gl_program(const char *vertex, const char *fragment);
/* The vertex shader of programs that fill the viewport: draw 3 vertices. */
extern const char gl_fill_vertex[];

/* Complains about a pending GL error; true if there was none. */
bool gl_check(const char *what);

#endif
