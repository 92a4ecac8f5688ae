/* A model's output in a program's own OpenGL ES 3 frame, without a copy through memory.
 *
 *     draw MODEL DRAWN.pam READ.pam [--texture]
 *
 * The program makes a context and a framebuffer, as a game or a viewer has them, and lends the
 * context to Tessera. Each frame draws a background, runs the model on a picture and draws the
 * output over the background. The model has one input of 3 channels, [1, 3, height, width], and an
 * output that is a picture; the elements of both are 0 to 1. Tessera draws the output, or, with
 * --texture, a shader of the program's, which can do more than draw.
 * DRAWN.pam is the last frame, by glReadPixels(), READ.pam the same output read as pixels: the
 * frame has it in its middle, upper row first. */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera.h>

enum { MARGIN = 16, FRAMES = 3, SIDE = 32 };

static int fail(const char *why) {
    fprintf(stderr, "draw: %s\n", why);
    return 1;
}

static void check(tsr_status status) {
    if (status != TSR_OK)
        exit(fail(tsr_last_error()));
}

/* Without a window: Mesa's surfaceless platform, or what the system's default display is. */
static EGLDisplay open_display(void) {
    const char *extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    if (extensions && strstr(extensions, "EGL_MESA_platform_surfaceless")) {
        EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, NULL, NULL);
        if (display && eglInitialize(display, NULL, NULL))
            return display;
    }
    EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    return display && eglInitialize(display, NULL, NULL) ? display : NULL;
}

static EGLContext open_context(EGLDisplay display) {
    static const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE,
                                    EGL_PBUFFER_BIT, EGL_NONE};
    static const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    eglBindAPI(EGL_OPENGL_ES_API);
    if (!eglChooseConfig(display, wanted, &config, 1, &count) || !count)
        return NULL;
    EGLContext context = eglCreateContext(display, config, NULL, version);
    return context && eglMakeCurrent(display, NULL, NULL, context) ? context : NULL;
}

/* What a window would be. */
static GLuint make_framebuffer(int width, int height) {
    GLuint texture, framebuffer;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, width, height);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        exit(fail("the framebuffer is not complete"));
    return framebuffer;
}

/* The program's own drawing. It sets the state that it needs, as Tessera's calls do not restore
 * it: see caller_restores_state. */
static void draw_background(GLuint framebuffer, int width, int height) {
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glViewport(0, 0, width, height);
    glClearColor(0.2f, 0.4f, 0.6f, 0);
    glClear(GL_COLOR_BUFFER_BIT);
}

/* A picture for the model; no two of its rows or columns are alike. */
static void set_input(tsr_session *session, const char *name, int frame) {
    unsigned char rgb[SIDE * SIDE * 3];
    for (int i = 0; i < SIDE * SIDE; i++) {
        rgb[i * 3] = (unsigned char)(i % SIDE * 8);
        rgb[i * 3 + 1] = (unsigned char)(i / SIDE * 8);
        rgb[i * 3 + 2] = (unsigned char)(frame * 80);
    }
    const tsr_pixels picture = {
        .data = rgb, .bytes = sizeof rgb, .width = SIDE, .height = SIDE, .format = TSR_PIXELS_RGB8};
    check(tsr_session_set_input_pixels(session, name, &picture));
}

static GLuint compile(GLenum kind, const char *text) {
    GLint good;
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (!good)
        exit(fail("a shader does not compile"));
    return shader;
}

/* Draws an output's texture, of which row 0 is the picture's upper one, into a window, where y goes
 * upwards. Its elements are as the model wrote them. What an output of 3 channels has in the fourth
 * component is no alpha, but anything: the shader says 1. */
static GLuint make_program(void) {
    static const char *const vertex = "#version 300 es\n"
                                      "void main() { gl_Position = vec4(vec2(gl_VertexID % 2, "
                                      "gl_VertexID / 2) * 4.0 - 1.0, 0, 1); "
                                      "}\n";
    static const char *const fragment =
        "#version 300 es\n"
        "precision highp float;\n"
        "uniform highp sampler2D picture;\n"
        "uniform ivec4 place; // x, y, rows, channels\n"
        "out vec4 color;\n"
        "void main() {\n"
        "    ivec2 at = ivec2(gl_FragCoord.xy) - place.xy;\n"
        "    color = texelFetch(picture, ivec2(at.x, place.z - 1 - at.y), 0);\n"
        "    if (place.w == 3) color.a = 1.0;\n"
        "}\n";
    GLuint program = glCreateProgram();
    glAttachShader(program, compile(GL_VERTEX_SHADER, vertex));
    glAttachShader(program, compile(GL_FRAGMENT_SHADER, fragment));
    glLinkProgram(program);
    return program;
}

static void draw_texture(GLuint program, const tsr_texture *texture, int channels,
                         const tsr_draw_target *target) {
    glBindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
    glViewport(target->x, target->y, target->width, target->height);
    glUseProgram(program);
    glUniform4i(glGetUniformLocation(program, "place"), target->x, target->y, target->height,
                channels);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, texture->id);
    glBindSampler(0, 0);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

/* Rows of RGBA, the upper one first; upwards: they are stored from the lower one on. */
static void write_pam(const char *path, const unsigned char *rgba, int width, int height,
                      bool upwards) {
    FILE *file = fopen(path, "wb");
    if (!file)
        exit(fail(path));
    fprintf(file, "P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n",
            width, height);
    for (int y = 0; y < height; y++)
        fwrite(rgba + (size_t)(upwards ? height - 1 - y : y) * (size_t)width * 4, 4, (size_t)width,
               file);
    bool good = !ferror(file);
    if (fclose(file) || !good)
        exit(fail(path));
}

int main(int argc, char **argv) {
    tsr_device *device;
    tsr_model *model;
    tsr_session *session;
    tsr_tensor_info input, output;
    tsr_texture texture;
    bool own_shader = argc == 5 && !strcmp(argv[4], "--texture");
    if (argc != 4 && !own_shader) {
        fputs("usage: draw MODEL DRAWN.pam READ.pam [--texture]\n", stderr);
        return 2;
    }
    EGLDisplay display = open_display();
    EGLContext context = display ? open_context(display) : NULL;
    if (!context)
        return fail("there is no OpenGL ES 3 context");

    /* A program that sets its GL state anew for each frame saves Tessera about 100 glGet calls per
     * call. Without caller_restores_state everything is as it was after each call. */
    const tsr_device_desc desc = {
        .backend = "gles",
        .gles = {.platform = TSR_PLATFORM_CURRENT, .caller_restores_state = true}};
    check(tsr_device_create(&desc, &device));
    check(tsr_model_load(argv[1], NULL, &model));
    check(tsr_session_create(device, model, &(tsr_session_desc){.texture_outputs = own_shader},
                             &session));
    check(tsr_session_input(session, 0, &input));
    check(tsr_session_output(session, 0, &output));
    int rank = output.shape.rank;
    if (rank < 2)
        return fail("the output is no picture");
    int channels = rank > 2 ? (int)output.shape.dim[rank - 3] : 1;
    if (own_shader && channels != 3 && channels != 4)
        return fail("the output has neither 3 nor 4 channels");
    int width = (int)output.shape.dim[rank - 1], height = (int)output.shape.dim[rank - 2];
    int frame_width = width + 2 * MARGIN, frame_height = height + 2 * MARGIN;
    GLuint framebuffer = make_framebuffer(frame_width, frame_height);

    /* flip: the picture's first row is the upper one, as in a window. */
    const tsr_draw_target target = {.framebuffer = framebuffer,
                                    .x = MARGIN,
                                    .y = MARGIN,
                                    .width = width,
                                    .height = height,
                                    .flip = true};
    GLuint program = own_shader ? make_program() : 0;
    if (own_shader) /* the same one for each run */
        check(tsr_session_output_texture(session, output.name, &texture));
    for (int i = 0; i < FRAMES; i++) {
        draw_background(framebuffer, frame_width, frame_height);
        set_input(session, input.name, i);
        check(tsr_session_submit(session)); /* the GPU orders run and drawing: nobody waits */
        if (own_shader)
            draw_texture(program, &texture, channels, &target);
        else
            check(tsr_session_draw_output(session, output.name, &target));
        /* eglSwapBuffers() would be here. */
    }

    size_t bytes = (size_t)frame_width * (size_t)frame_height * 4;
    unsigned char *rgba = malloc(bytes);
    if (!rgba)
        return fail("not enough memory");
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glReadPixels(0, 0, frame_width, frame_height, GL_RGBA, GL_UNSIGNED_BYTE, rgba);
    write_pam(argv[2], rgba, frame_width, frame_height, true);
    const tsr_pixels picture = {.data = rgba, .bytes = bytes, .width = width, .height = height};
    check(tsr_session_get_output_pixels(session, output.name, &picture));
    write_pam(argv[3], rgba, width, height, false);

    free(rgba);
    tsr_session_destroy(session); /* while the context is current */
    tsr_model_free(model);
    tsr_device_destroy(device);
    eglMakeCurrent(display, NULL, NULL, NULL);
    eglDestroyContext(display, context);
    /* No eglTerminate(): other code of the process may use the same display. */
    return 0;
}
