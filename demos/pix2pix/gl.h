/* OpenGL ES 3.0 helpers of the demo. */
#ifndef PIX2PIX_GL_H
#define PIX2PIX_GL_H

#include <glad/gles2.h>
#include <stdbool.h>

/* A render target. Row 0 is the top of the picture. */
typedef struct gl_target {
    GLuint texture, framebuffer;
    int width, height;
} gl_target;

/* format: GL_RGBA8, with linear filtering, or GL_RGBA32F, without. */
bool gl_target_create(gl_target *target, GLenum format, int width, int height);
void gl_target_destroy(gl_target *target);
/* RGBA bytes of a framebuffer, from row 0 on; it is bound then. */
void gl_read_pixels(GLuint framebuffer, int width, int height, unsigned char *rgba);

/* Compiles and links shaders without their #version line; 0 on failure. */
GLuint gl_program(const char *vertex, const char *fragment);
/* The vertex shader of programs that fill the viewport: draw 3 vertices. */
extern const char gl_fill_vertex[];

/* Reports a pending GL error; true if there was none. */
bool gl_check(const char *what);
/* A function of the current context, as Tessera asks for it. */
void *gl_get_proc_address(const char *name);

#endif
