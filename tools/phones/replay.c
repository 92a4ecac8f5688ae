/* replay run FILE ...: in the place of tessera for tools/phones.sh --draws. It compiles and draws
   what capture.js noted of a page and says of each draw what `tessera run -vv` says of a pass. FILE
   has programs, then draws in their order, in ASCII:

     program NUMBER VERTEX_LENGTH FRAGMENT_LENGTH      and on the next line both texts, without
   anything between draw NUMBER SOURCE_FORMAT FRAGMENTS TARGETS BYTES_READ BYTES_WRITTEN TRIPS

   SOURCE_FORMAT: of the textures that it reads, in OpenGL's number. TARGETS: render targets, of
   RGBA16F. TRIPS: how often the innermost of its loops runs for a fragment. Drivers compile for
   formats, so textures have them; their size does not matter. */
#define EGL_EGLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PROGRAMS = 1024, MOST_TARGETS = 8, SIZE = 64 };

static GLuint programs[MOST_PROGRAMS];

static void require(int is, const char *what) {
    if (is)
        return;
    fprintf(stderr, "tessera: replay: %s\n", what);
    exit(1);
}

static void make_context(void) {
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, NULL, NULL);
    require(eglInitialize(display, NULL, NULL) && eglBindAPI(EGL_OPENGL_ES_API), "there is no EGL");
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    EGLContext made = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, version);
    require(made && eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, made),
            "there is no OpenGL ES 3.0");
}

static void attach_shader(GLuint program, GLenum type, FILE *file, int length) {
    char *text = malloc((size_t)length + 1);
    require(text && fread(text, 1, (size_t)length, file) == (size_t)length,
            "a program ends too early");
    GLuint shader = glCreateShader(type);
    glShaderSource(shader, 1, &(const char *){text}, &length);
    glCompileShader(shader);
    glAttachShader(program, shader);
    free(text);
}

static void read_program(FILE *file) {
    int number, vertex, fragment, linked;
    require(fscanf(file, "%d %d %d", &number, &vertex, &fragment) == 3 && fgetc(file) == '\n' &&
                number >= 0 && number < MOST_PROGRAMS && vertex >= 0 && fragment >= 0,
            "a line about a program is wrong");
    GLuint made = programs[number] = glCreateProgram();
    attach_shader(made, GL_VERTEX_SHADER, file, vertex);
    attach_shader(made, GL_FRAGMENT_SHADER, file, fragment);
    glLinkProgram(made);
    glGetProgramiv(made, GL_LINK_STATUS, &linked);
    require(linked, "a program does not compile");
}

static GLuint make_texture(GLenum format) {
    GLuint made;
    glGenTextures(1, &made);
    glBindTexture(GL_TEXTURE_2D, made);
    glTexStorage2D(GL_TEXTURE_2D, 1, format, SIZE, SIZE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    return made;
}

/* All samplers of a kind read the same texture: unit 0 has the plain one, unit 1 the array. */
static void bind_sources(GLuint program, GLenum format) {
    GLuint array;
    glGenTextures(1, &array);
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_2D_ARRAY, array);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, format, SIZE, SIZE, 1);
    glActiveTexture(GL_TEXTURE0);
    make_texture(format);
    GLint count, size;
    glGetProgramiv(program, GL_ACTIVE_UNIFORMS, &count);
    for (GLuint i = 0; i < (GLuint)count; ++i) {
        char name[256];
        GLenum type;
        glGetActiveUniform(program, i, sizeof name, NULL, &size, &type, name);
        if (type == GL_SAMPLER_2D_ARRAY)
            glUniform1i(glGetUniformLocation(program, name), 1);
    }
}

static void bind_targets(int count) {
    GLuint framebuffer;
    GLenum names[MOST_TARGETS];
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    for (int i = 0; i < count; ++i) {
        names[i] = GL_COLOR_ATTACHMENT0 + (GLenum)i;
        glFramebufferTexture2D(GL_FRAMEBUFFER, names[i], GL_TEXTURE_2D, make_texture(GL_RGBA16F),
                               0);
    }
    glDrawBuffers(count, names);
}

static void replay_draw(FILE *file, int node) {
    int number, targets;
    unsigned format;
    long fragments, read, written, trips;
    require(fscanf(file, "%d %u %ld %d %ld %ld %ld", &number, &format, &fragments, &targets, &read,
                   &written, &trips) == 7 &&
                number >= 0 && number < MOST_PROGRAMS && programs[number] && targets > 0 &&
                targets <= MOST_TARGETS,
            "a line about a draw is wrong");
    fprintf(
        stderr,
        "tessera: pass: program %u, kernel program%d, %ld fragments, %d targets of 16 bits, 1 "
        "draws, 0 to 0 channels, "
        "%ld bytes read, %ld bytes written, node %d, 0 multiply-adds, %ld trips, 'draw%d' (draw)\n",
        programs[number], number, fragments, targets, read, written, node, trips, node);
    glUseProgram(programs[number]);
    bind_targets(targets);
    bind_sources(programs[number], format);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glFinish();
    require(!glGetError(), "an error of OpenGL");
}

int main(int count, char **arguments) {
    FILE *file = count > 2 ? fopen(arguments[2], "rb") : NULL;
    require(file != NULL, "the file cannot be opened");
    make_context();
    glViewport(0, 0, SIZE, SIZE);
    char word[8];
    for (int node = 0; fscanf(file, "%7s", word) == 1;)
        if (word[0] == 'p')
            read_program(file);
        else
            replay_draw(file, node++);
    return fclose(file);
}
