#include "gl.h"

#include "message.h"

#include <GLFW/glfw3.h>
#include <stddef.h>

const char gl_fill_vertex[] = "void main() {\n"
                              "    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);\n"
                              "    gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0);\n"
                              "}\n";

bool gl_target_create(gl_target *target, GLenum format, int width, int height) {
    GLint filter = format == GL_RGBA8 ? GL_LINEAR : GL_NEAREST;
    *target = (gl_target){.width = width, .height = height};
    glGenTextures(1, &target->texture);
    glBindTexture(GL_TEXTURE_2D, target->texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, format, width, height);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glGenFramebuffers(1, &target->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target->texture, 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE)
        return true;
    gl_target_destroy(target);
    return complain("the driver cannot render to a texture of %d x %d pixels", width, height);
}

void gl_target_destroy(gl_target *target) {
    glDeleteFramebuffers(1, &target->framebuffer);
    glDeleteTextures(1, &target->texture);
    *target = (gl_target){0};
}

/* Bound to draw to, too: else llvmpipe does not always wait for its draws, see src/gles/tensor.c.
 */
void gl_read_pixels(GLuint framebuffer, int width, int height, unsigned char *rgba) {
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, rgba);
}

static GLuint compile(GLenum type, const char *text) {
    const char *parts[] = {"#version 300 es\nprecision highp float;\nprecision highp int;\n"
                           "precision highp sampler2D;\n",
                           text};
    GLuint shader = glCreateShader(type);
    glShaderSource(shader, 2, parts, NULL);
    glCompileShader(shader);
    GLint compiled = GL_FALSE;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    if (compiled)
        return shader;
    char log[1024] = "";
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    complain("the driver refused a shader: %s", log);
    glDeleteShader(shader);
    return 0;
}

GLuint gl_program(const char *vertex, const char *fragment) {
    GLuint shaders[] = {compile(GL_VERTEX_SHADER, vertex), compile(GL_FRAGMENT_SHADER, fragment)};
    GLuint program = glCreateProgram();
    GLint linked = GL_FALSE;
    for (int i = 0; i < 2; i++)
        if (shaders[i])
            glAttachShader(program, shaders[i]);
    if (shaders[0] && shaders[1]) {
        glLinkProgram(program);
        glGetProgramiv(program, GL_LINK_STATUS, &linked);
        if (!linked)
            complain("the driver did not link a program");
    }
    for (int i = 0; i < 2; i++)
        glDeleteShader(shaders[i]); /* the program keeps them */
    if (linked)
        return program;
    glDeleteProgram(program);
    return 0;
}

bool gl_check(const char *what) {
    GLenum error = glGetError();
    return error == GL_NO_ERROR || complain("%s: GL error 0x%04x", what, (unsigned)error);
}

void *gl_get_proc_address(const char *name) {
    union { /* ISO C has no cast from function to object pointers */
        GLFWglproc function;
        void *object;
    } proc = {glfwGetProcAddress(name)};
    return proc.object;
}
