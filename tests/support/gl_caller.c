#include "support/gl_caller.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

GladGLES2Context gl;

/* ---- contexts -------------------------------------------------------------------------------- */

static struct {
    PFNEGLGETPROCADDRESSPROC GetProcAddress;
    PFNEGLINITIALIZEPROC Initialize;
    PFNEGLCHOOSECONFIGPROC ChooseConfig;
    PFNEGLBINDAPIPROC BindAPI;
    PFNEGLCREATECONTEXTPROC CreateContext;
    PFNEGLDESTROYCONTEXTPROC DestroyContext;
    PFNEGLMAKECURRENTPROC MakeCurrent;
    PFNEGLGETCURRENTCONTEXTPROC GetCurrentContext;
    EGLDisplay display;
} egl;

void *get_proc_address(const char *name) {
    union {
        __eglMustCastToProperFunctionPointerType function;
        void *object;
    } proc = {egl.GetProcAddress(name)};
    return proc.object;
}

static void load_function(void *function, const char *name) {
    void *found = get_proc_address(name);
    memcpy(function, &found, sizeof found);
}

static bool open_display(void) {
    if (egl.display)
        return true;
    void *library = dlopen("libEGL.so.1", RTLD_NOW);
    void *found = library ? dlsym(library, "eglGetProcAddress") : NULL;
    if (!found)
        return false;
    memcpy(&egl.GetProcAddress, &found, sizeof found);
    PFNEGLGETPLATFORMDISPLAYPROC get_platform_display;
    load_function(&get_platform_display, "eglGetPlatformDisplay");
    load_function(&egl.Initialize, "eglInitialize");
    load_function(&egl.ChooseConfig, "eglChooseConfig");
    load_function(&egl.BindAPI, "eglBindAPI");
    load_function(&egl.CreateContext, "eglCreateContext");
    load_function(&egl.DestroyContext, "eglDestroyContext");
    load_function(&egl.MakeCurrent, "eglMakeCurrent");
    load_function(&egl.GetCurrentContext, "eglGetCurrentContext");
    egl.display = get_platform_display(EGL_PLATFORM_SURFACELESS_MESA, NULL, NULL);
    if (egl.display && egl.Initialize(egl.display, NULL, NULL))
        return true;
    PFNEGLQUERYDEVICESEXTPROC query_devices;
    EGLDeviceEXT device;
    EGLint count = 0;
    load_function(&query_devices, "eglQueryDevicesEXT");
    if (!query_devices || !query_devices(1, &device, &count) || !count)
        return false;
    egl.display = get_platform_display(EGL_PLATFORM_DEVICE_EXT, device, NULL);
    return egl.display && egl.Initialize(egl.display, NULL, NULL);
}

static GLADapiproc load_gl(const char *name) {
    GLADapiproc function;
    load_function(&function, name);
    return function;
}

EGLContext make_caller_context(caller_api api) {
    if (!open_display())
        return NULL;
    const EGLint renderable = api == CALLER_ES3   ? EGL_OPENGL_ES3_BIT
                              : api == CALLER_ES2 ? EGL_OPENGL_ES2_BIT
                                                  : EGL_OPENGL_BIT;
    const EGLint attributes[] = {EGL_RENDERABLE_TYPE, renderable, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT,
                                 EGL_NONE};
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, api == CALLER_ES2 ? 2 : 3, EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    egl.BindAPI(api == CALLER_DESKTOP ? EGL_OPENGL_API : EGL_OPENGL_ES_API);
    EGLContext context = NULL;
    if (egl.ChooseConfig(egl.display, attributes, &config, 1, &count) && count)
        context = egl.CreateContext(egl.display, config, NULL, version);
    if (context)
        egl.MakeCurrent(egl.display, NULL, NULL, context);
    egl.BindAPI(EGL_OPENGL_ES_API);
    if (context && api == CALLER_ES3)
        assert_true(gladLoadGLES2Context(&gl, load_gl));
    return context;
}

void destroy_caller_context(EGLContext context) {
    make_context_current(NULL);
    egl.DestroyContext(egl.display, context);
}

EGLContext current_context(void) {
    return egl.GetCurrentContext();
}

void make_context_current(EGLContext context) {
    assert_true(egl.MakeCurrent(egl.display, NULL, NULL, context));
}

/* ---- state: setting -------------------------------------------------------------------------- */

enum { TARGET_SIZE = 8, UNITS = 32, MAX_BUFFERS = 8 };

static GLuint make_program(void) {
    static const char *const vertex = "#version 300 es\n"
                                      "in vec4 position;\nout vec4 fed;\n"
                                      "void main() { fed = position; gl_Position = position; }\n";
    static const char *const fragment =
        "#version 300 es\n"
        "precision highp float;\nuniform vec4 color;\nin vec4 fed;\n"
        "layout(location = 0) out vec4 a;\nlayout(location = 1) out vec4 b;\n"
        "void main() { a = color; b = color + 0.0 * fed; }\n";
    GLuint program = gl.CreateProgram();
    const GLenum types[2] = {GL_VERTEX_SHADER, GL_FRAGMENT_SHADER};
    for (int i = 0; i < 2; i++) {
        GLuint shader = gl.CreateShader(types[i]);
        gl.ShaderSource(shader, 1, i ? &fragment : &vertex, NULL);
        gl.CompileShader(shader);
        gl.AttachShader(program, shader);
        gl.DeleteShader(shader);
    }
    gl.TransformFeedbackVaryings(program, 1, (const char *const[]){"fed"}, GL_SEPARATE_ATTRIBS);
    gl.LinkProgram(program);
    GLint linked = 0;
    gl.GetProgramiv(program, GL_LINK_STATUS, &linked);
    assert_true(linked);
    return program;
}

static GLuint make_texture(GLenum target) {
    GLuint texture;
    gl.GenTextures(1, &texture);
    gl.BindTexture(target, texture);
    gl.TexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    gl.TexParameteri(target, GL_TEXTURE_WRAP_S, GL_MIRRORED_REPEAT);
    if (target == GL_TEXTURE_3D || target == GL_TEXTURE_2D_ARRAY)
        gl.TexStorage3D(target, 1, GL_RGBA8, TARGET_SIZE, TARGET_SIZE, 2);
    else
        gl.TexStorage2D(target, 1, GL_RGBA8, TARGET_SIZE, TARGET_SIZE);
    return texture;
}

/* Two color attachments, filled differently. */
static GLuint make_framebuffer(float red) {
    GLuint framebuffer;
    gl.GenFramebuffers(1, &framebuffer);
    gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    for (GLenum i = 0; i < 2; i++)
        gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0 + i, GL_TEXTURE_2D,
                                make_texture(GL_TEXTURE_2D), 0);
    gl.DrawBuffers(2, (const GLenum[]){GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1});
    assert_int_equal(gl.CheckFramebufferStatus(GL_FRAMEBUFFER), GL_FRAMEBUFFER_COMPLETE);
    gl.ClearBufferfv(GL_COLOR, 0, (const float[]){red, 0.2f, 0.4f, 0.6f});
    gl.ClearBufferfv(GL_COLOR, 1, (const float[]){0.8f, red, 0, 1});
    return framebuffer;
}

static void bind_textures_and_samplers(void) {
    static const GLenum targets[] = {GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_3D,
                                     GL_TEXTURE_CUBE_MAP};
    for (GLuint unit = 0; unit < UNITS; unit++) {
        gl.ActiveTexture(GL_TEXTURE0 + unit);
        for (int i = 0; i < 4; i++)
            make_texture(targets[i]);
        GLuint sampler;
        gl.GenSamplers(1, &sampler);
        gl.SamplerParameteri(sampler, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
        gl.BindSampler(unit, sampler);
    }
    gl.ActiveTexture(GL_TEXTURE0 + 7);
}

static GLuint make_buffer(GLenum target) {
    GLuint buffer;
    gl.GenBuffers(1, &buffer);
    gl.BindBuffer(target, buffer);
    gl.BufferData(target, 4096, NULL, GL_DYNAMIC_DRAW);
    return buffer;
}

static void bind_buffers(void) {
    static const GLenum targets[] = {GL_ARRAY_BUFFER,      GL_ELEMENT_ARRAY_BUFFER,
                                     GL_COPY_READ_BUFFER,  GL_COPY_WRITE_BUFFER,
                                     GL_PIXEL_PACK_BUFFER, GL_PIXEL_UNPACK_BUFFER,
                                     GL_UNIFORM_BUFFER,    GL_TRANSFORM_FEEDBACK_BUFFER};
    for (int i = 0; i < 8; i++)
        make_buffer(targets[i]);
    for (GLuint i = 0; i < 4; i++)
        gl.BindBufferBase(GL_UNIFORM_BUFFER, i, make_buffer(GL_UNIFORM_BUFFER));
    gl.BindBufferRange(GL_UNIFORM_BUFFER, 0, make_buffer(GL_UNIFORM_BUFFER), 1024, 512);
    GLuint feedback;
    gl.GenTransformFeedbacks(1, &feedback);
    gl.BindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback);
    gl.BindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER));
}

static void set_pixel_store(void) {
    gl.PixelStorei(GL_PACK_ROW_LENGTH, 11);
    gl.PixelStorei(GL_PACK_SKIP_ROWS, 2);
    gl.PixelStorei(GL_PACK_SKIP_PIXELS, 3);
    gl.PixelStorei(GL_PACK_ALIGNMENT, 8);
    gl.PixelStorei(GL_UNPACK_ROW_LENGTH, 13);
    gl.PixelStorei(GL_UNPACK_SKIP_ROWS, 1);
    gl.PixelStorei(GL_UNPACK_SKIP_PIXELS, 5);
    gl.PixelStorei(GL_UNPACK_ALIGNMENT, 2);
    gl.PixelStorei(GL_UNPACK_IMAGE_HEIGHT, 17);
    gl.PixelStorei(GL_UNPACK_SKIP_IMAGES, 2);
}

static void set_fragment_state(void) {
    static const GLenum enabled[] = {GL_BLEND,
                                     GL_CULL_FACE,
                                     GL_DEPTH_TEST,
                                     GL_POLYGON_OFFSET_FILL,
                                     GL_PRIMITIVE_RESTART_FIXED_INDEX,
                                     GL_SAMPLE_ALPHA_TO_COVERAGE,
                                     GL_SAMPLE_COVERAGE,
                                     GL_SCISSOR_TEST,
                                     GL_STENCIL_TEST,
                                     GL_RASTERIZER_DISCARD};
    for (size_t i = 0; i < sizeof enabled / sizeof *enabled; i++)
        gl.Enable(enabled[i]);
    gl.BlendColor(0.25f, 0.5f, 0.75f, 0.125f);
    gl.BlendEquationSeparate(GL_FUNC_REVERSE_SUBTRACT, GL_MAX);
    gl.BlendFuncSeparate(GL_ZERO, GL_DST_COLOR, GL_CONSTANT_ALPHA, GL_ZERO);
    gl.ClearColor(0.1f, 0.2f, 0.3f, 0.4f);
    gl.ClearDepthf(0.3f);
    gl.ClearStencil(5);
    gl.ColorMask(GL_FALSE, GL_TRUE, GL_FALSE, GL_TRUE);
    if (gl.OES_draw_buffers_indexed) {
        gl.DisableiOES(GL_BLEND, 1);
        gl.ColorMaskiOES(2, GL_TRUE, GL_FALSE, GL_FALSE, GL_FALSE);
    }
    gl.CullFace(GL_FRONT_AND_BACK);
    gl.FrontFace(GL_CW);
    gl.DepthFunc(GL_NEVER);
    gl.DepthMask(GL_FALSE);
    gl.DepthRangef(0.25f, 0.5f);
    gl.Hint(GL_GENERATE_MIPMAP_HINT, GL_NICEST);
    gl.LineWidth(1);
    gl.PolygonOffset(3, 4);
    gl.SampleCoverage(0, GL_TRUE);
    gl.Scissor(1, 2, 3, 1);
    gl.StencilFuncSeparate(GL_FRONT, GL_NEVER, 3, 0x0f);
    gl.StencilFuncSeparate(GL_BACK, GL_LESS, 4, 0xf0);
    gl.StencilMaskSeparate(GL_FRONT, 0x55);
    gl.StencilMaskSeparate(GL_BACK, 0xaa);
    gl.StencilOpSeparate(GL_FRONT, GL_INCR, GL_DECR, GL_INVERT);
    gl.StencilOpSeparate(GL_BACK, GL_ZERO, GL_REPLACE, GL_KEEP);
    gl.Viewport(2, 1, 5, 3);
}

void set_unusual_state(bool with_feedback) {
    GLuint vertex_array, renderbuffer, program = make_program();
    GLuint draw = make_framebuffer(0.1f), read = make_framebuffer(0.7f);
    gl.GenVertexArrays(1, &vertex_array);
    gl.BindVertexArray(vertex_array);
    gl.VertexAttrib4f(2, 1, 2, 3, 4);
    bind_textures_and_samplers();
    bind_buffers();
    gl.BindBuffer(GL_ARRAY_BUFFER, make_buffer(GL_ARRAY_BUFFER));
    gl.EnableVertexAttribArray(0);
    gl.VertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 32, (const void *)16);
    gl.GenRenderbuffers(1, &renderbuffer);
    gl.BindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    gl.BindFramebuffer(GL_READ_FRAMEBUFFER, read);
    gl.ReadBuffer(GL_COLOR_ATTACHMENT1);
    gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, draw);
    gl.DrawBuffers(2, (const GLenum[]){GL_NONE, GL_COLOR_ATTACHMENT1});
    gl.UseProgram(program);
    gl.Uniform4f(gl.GetUniformLocation(program, "color"), 5, 6, 7, 8);
    set_pixel_store();
    set_fragment_state();
    if (with_feedback)
        gl.BeginTransformFeedback(GL_POINTS);
    assert_int_equal(gl.GetError(), GL_NO_ERROR);
}

/* ---- state: remembering ---------------------------------------------------------------------- */

#define SCALARS(X)                                                                                 \
    X(ACTIVE_TEXTURE)                                                                              \
    X(ARRAY_BUFFER_BINDING)                                                                        \
    X(BLEND_COLOR)                                                                                 \
    X(BLEND_DST_ALPHA)                                                                             \
    X(BLEND_DST_RGB)                                                                               \
    X(BLEND_EQUATION_ALPHA)                                                                        \
    X(BLEND_EQUATION_RGB)                                                                          \
    X(BLEND_SRC_ALPHA) X(BLEND_SRC_RGB) X(COLOR_CLEAR_VALUE) X(COLOR_WRITEMASK) X(                 \
        COPY_READ_BUFFER_BINDING) X(COPY_WRITE_BUFFER_BINDING) X(CULL_FACE_MODE)                   \
        X(CURRENT_PROGRAM) X(DEPTH_CLEAR_VALUE) X(DEPTH_FUNC) X(DEPTH_RANGE) X(DEPTH_WRITEMASK) X( \
            DRAW_FRAMEBUFFER_BINDING) X(ELEMENT_ARRAY_BUFFER_BINDING)                              \
            X(FRAGMENT_SHADER_DERIVATIVE_HINT) X(FRONT_FACE) X(GENERATE_MIPMAP_HINT) X(            \
                LINE_WIDTH) X(PACK_ALIGNMENT) X(PACK_ROW_LENGTH) X(PACK_SKIP_PIXELS)               \
                X(PACK_SKIP_ROWS) X(PIXEL_PACK_BUFFER_BINDING) X(PIXEL_UNPACK_BUFFER_BINDING) X(   \
                    POLYGON_OFFSET_FACTOR) X(POLYGON_OFFSET_UNITS) X(READ_FRAMEBUFFER_BINDING)     \
                    X(RENDERBUFFER_BINDING) X(SAMPLE_COVERAGE_INVERT) X(SAMPLE_COVERAGE_VALUE) X(  \
                        SCISSOR_BOX) X(STENCIL_BACK_FAIL) X(STENCIL_BACK_FUNC)                     \
                        X(STENCIL_BACK_PASS_DEPTH_FAIL) X(STENCIL_BACK_PASS_DEPTH_PASS) X(         \
                            STENCIL_BACK_REF) X(STENCIL_BACK_VALUE_MASK) X(STENCIL_BACK_WRITEMASK) \
                            X(STENCIL_CLEAR_VALUE) X(STENCIL_FAIL) X(STENCIL_FUNC)                 \
                                X(STENCIL_PASS_DEPTH_FAIL) X(STENCIL_PASS_DEPTH_PASS)              \
                                    X(STENCIL_REF) X(STENCIL_VALUE_MASK) X(STENCIL_WRITEMASK) X(   \
                                        TRANSFORM_FEEDBACK_ACTIVE) X(TRANSFORM_FEEDBACK_BINDING)   \
                                        X(TRANSFORM_FEEDBACK_BUFFER_BINDING) X(                    \
                                            TRANSFORM_FEEDBACK_PAUSED) X(UNIFORM_BUFFER_BINDING)   \
                                            X(UNPACK_ALIGNMENT) X(UNPACK_IMAGE_HEIGHT) X(          \
                                                UNPACK_ROW_LENGTH) X(UNPACK_SKIP_IMAGES)           \
                                                X(UNPACK_SKIP_PIXELS) X(UNPACK_SKIP_ROWS) X(       \
                                                    VERTEX_ARRAY_BINDING) X(VIEWPORT) X(BLEND)     \
                                                    X(CULL_FACE) X(DEPTH_TEST) X(DITHER)           \
                                                        X(POLYGON_OFFSET_FILL) X(                  \
                                                            PRIMITIVE_RESTART_FIXED_INDEX)         \
                                                            X(RASTERIZER_DISCARD) X(               \
                                                                SAMPLE_ALPHA_TO_COVERAGE)          \
                                                                X(SAMPLE_COVERAGE) X(SCISSOR_TEST) \
                                                                    X(STENCIL_TEST)                \
                                                                        X(DRAW_BUFFER0)            \
                                                                            X(DRAW_BUFFER1)        \
                                                                                X(DRAW_BUFFER2)    \
                                                                                    X(READ_BUFFER)

enum {
#define SCALAR_INDEX(name) INDEX_##name,
    SCALARS(SCALAR_INDEX)
#undef SCALAR_INDEX
        SCALAR_COUNT
};

static const struct {
    const char *text;
    GLenum name;
} scalars[SCALAR_COUNT] = {
#define SCALAR_NAME(name) {#name, GL_##name},
    SCALARS(SCALAR_NAME)
#undef SCALAR_NAME
};

static const GLenum unit_names[] = {GL_TEXTURE_BINDING_2D, GL_TEXTURE_BINDING_2D_ARRAY,
                                    GL_TEXTURE_BINDING_3D, GL_TEXTURE_BINDING_CUBE_MAP,
                                    GL_SAMPLER_BINDING};
enum { UNIT_NAMES = sizeof unit_names / sizeof *unit_names, MAX_UNITS = 64 };

typedef struct gl_picture {
    float scalars[SCALAR_COUNT][4];
    GLint units[MAX_UNITS][UNIT_NAMES];
    GLint uniform_buffers[4], feedback_buffer;
    GLint64 uniform_range[2];
    GLint masks[MAX_BUFFERS][4], blends[MAX_BUFFERS];
    GLint attribute[4], filter;
    float attribute_value[4], uniform[4];
    unsigned char pixels[2]
                        [TARGET_SIZE * TARGET_SIZE * 4]; /* of the framebuffer that is drawn to */
} gl_picture;

static gl_picture remembered;

static void take_pixels(gl_picture *p, const gl_picture *state) {
    GLint read_buffer = 0;
    gl.BindFramebuffer(GL_READ_FRAMEBUFFER,
                       (GLuint)state->scalars[INDEX_DRAW_FRAMEBUFFER_BINDING][0]);
    gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    gl.GetIntegerv(GL_READ_BUFFER, &read_buffer);
    gl.PixelStorei(GL_PACK_ROW_LENGTH, 0);
    gl.PixelStorei(GL_PACK_SKIP_ROWS, 0);
    gl.PixelStorei(GL_PACK_SKIP_PIXELS, 0);
    for (GLenum i = 0; i < 2; i++) {
        gl.ReadBuffer(GL_COLOR_ATTACHMENT0 + i);
        gl.ReadPixels(0, 0, TARGET_SIZE, TARGET_SIZE, GL_RGBA, GL_UNSIGNED_BYTE, p->pixels[i]);
    }
    gl.ReadBuffer((GLenum)read_buffer);
    gl.PixelStorei(GL_PACK_ROW_LENGTH, (GLint)state->scalars[INDEX_PACK_ROW_LENGTH][0]);
    gl.PixelStorei(GL_PACK_SKIP_ROWS, (GLint)state->scalars[INDEX_PACK_SKIP_ROWS][0]);
    gl.PixelStorei(GL_PACK_SKIP_PIXELS, (GLint)state->scalars[INDEX_PACK_SKIP_PIXELS][0]);
    gl.BindBuffer(GL_PIXEL_PACK_BUFFER, (GLuint)state->scalars[INDEX_PIXEL_PACK_BUFFER_BINDING][0]);
    gl.BindFramebuffer(GL_READ_FRAMEBUFFER,
                       (GLuint)state->scalars[INDEX_READ_FRAMEBUFFER_BINDING][0]);
}

static void take_units(gl_picture *p) {
    GLint count = 0, active = 0;
    gl.GetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &count);
    gl.GetIntegerv(GL_ACTIVE_TEXTURE, &active);
    for (int unit = 0; unit < count && unit < MAX_UNITS; unit++) {
        gl.ActiveTexture(GL_TEXTURE0 + (GLenum)unit);
        for (int i = 0; i < UNIT_NAMES; i++)
            gl.GetIntegerv(unit_names[i], &p->units[unit][i]);
    }
    gl.ActiveTexture((GLenum)active);
}

static void take_picture(gl_picture *p) {
    memset(p, 0, sizeof *p);
    for (int i = 0; i < SCALAR_COUNT; i++)
        gl.GetFloatv(scalars[i].name, p->scalars[i]);
    take_units(p);
    for (GLuint i = 0; i < 4; i++)
        gl.GetIntegeri_v(GL_UNIFORM_BUFFER_BINDING, i, &p->uniform_buffers[i]);
    gl.GetInteger64i_v(GL_UNIFORM_BUFFER_START, 0, &p->uniform_range[0]);
    gl.GetInteger64i_v(GL_UNIFORM_BUFFER_SIZE, 0, &p->uniform_range[1]);
    gl.GetIntegeri_v(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, 0, &p->feedback_buffer);
    for (GLuint i = 0; i < MAX_BUFFERS && gl.OES_draw_buffers_indexed; i++) {
        gl.GetIntegeri_v(GL_COLOR_WRITEMASK, i, p->masks[i]);
        p->blends[i] = gl.IsEnablediOES(GL_BLEND, i);
    }
    gl.GetVertexAttribiv(0, GL_VERTEX_ATTRIB_ARRAY_ENABLED, &p->attribute[0]);
    gl.GetVertexAttribiv(0, GL_VERTEX_ATTRIB_ARRAY_STRIDE, &p->attribute[1]);
    gl.GetVertexAttribiv(0, GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING, &p->attribute[2]);
    gl.GetVertexAttribiv(1, GL_VERTEX_ATTRIB_ARRAY_ENABLED, &p->attribute[3]);
    gl.GetVertexAttribfv(2, GL_CURRENT_VERTEX_ATTRIB, p->attribute_value);
    gl.GetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, &p->filter);
    GLuint program = (GLuint)p->scalars[INDEX_CURRENT_PROGRAM][0];
    if (program)
        gl.GetUniformfv(program, gl.GetUniformLocation(program, "color"), p->uniform);
    assert_int_equal(gl.GetError(), GL_NO_ERROR);
    if (p->scalars[INDEX_DRAW_FRAMEBUFFER_BINDING][0] != 0)
        take_pixels(p, p);
    assert_int_equal(gl.GetError(), GL_NO_ERROR);
}

void remember_state(void) {
    take_picture(&remembered);
}

static void expect_same_units(const gl_picture *p, const char *after) {
    for (int unit = 0; unit < MAX_UNITS; unit++)
        for (int i = 0; i < UNIT_NAMES; i++)
            if (p->units[unit][i] != remembered.units[unit][i])
                fail_msg("after %s unit %d binds %d instead of %d (0x%04x)", after, unit,
                         p->units[unit][i], remembered.units[unit][i], unit_names[i]);
}

void expect_remembered_state(const char *after) {
    static gl_picture now;
    if (gl.GetError() != GL_NO_ERROR)
        fail_msg("after %s: a GL error was left behind", after);
    take_picture(&now);
    for (int i = 0; i < SCALAR_COUNT; i++)
        if (memcmp(now.scalars[i], remembered.scalars[i], sizeof now.scalars[i]))
            fail_msg("after %s GL_%s is %g instead of %g", after, scalars[i].text,
                     now.scalars[i][0], remembered.scalars[i][0]);
    expect_same_units(&now, after);
    for (int i = 0; i < MAX_BUFFERS; i++)
        if (memcmp(now.masks[i], remembered.masks[i], sizeof now.masks[i]) ||
            now.blends[i] != remembered.blends[i])
            fail_msg("after %s blending or color mask of draw buffer %d differ", after, i);
    if (memcmp(now.pixels, remembered.pixels, sizeof now.pixels))
        fail_msg("after %s the caller's picture has changed", after);
    if (memcmp(&now, &remembered, sizeof now))
        fail_msg("after %s an attribute, uniform or indexed binding differs", after);
}

/* ---- what Tessera gets ----------------------------------------------------------------------- */

static int live, live_programs, readbacks, queries, blocking, deleted_after_reset;
static bool fences_held;
static GLenum reset_status;
static int float_bits = 32;
static bool renamed;
static int textures_left = -1, framebuffers_left = -1, links_left = -1;
static GLenum pending_error;

/* Counts down; true once it has reached 0. */
static bool is_due(int *left) {
    if (*left > 0)
        --*left;
    return *left == 0;
}

#define COUNTED(Kind)                                                                              \
    static void GLAD_API_PTR gen_##Kind(GLsizei n, GLuint *names) {                                \
        live += n;                                                                                 \
        gl.Gen##Kind(n, names);                                                                    \
    }                                                                                              \
    static void GLAD_API_PTR delete_##Kind(GLsizei n, const GLuint *names) {                       \
        for (GLsizei i = 0; i < n; i++)                                                            \
            live -= names[i] != 0;                                                                 \
        deleted_after_reset += reset_status != GL_NO_ERROR;                                        \
        gl.Delete##Kind(n, names);                                                                 \
    }
COUNTED(Textures)
COUNTED(Framebuffers)
COUNTED(Buffers)
COUNTED(VertexArrays)
COUNTED(QueriesEXT)

static GLuint GLAD_API_PTR create_program(void) {
    live++;
    live_programs++;
    return gl.CreateProgram();
}

static void GLAD_API_PTR delete_program(GLuint program) {
    live -= program != 0;
    live_programs -= program != 0;
    deleted_after_reset += reset_status != GL_NO_ERROR;
    gl.DeleteProgram(program);
}

static GLuint GLAD_API_PTR create_shader(GLenum type) {
    live++;
    return gl.CreateShader(type);
}

static void GLAD_API_PTR delete_shader(GLuint shader) {
    live -= shader != 0;
    gl.DeleteShader(shader);
}

static GLsync GLAD_API_PTR fence_sync(GLenum condition, GLbitfield flags) {
    live++;
    return gl.FenceSync(condition, flags);
}

static void GLAD_API_PTR delete_sync(GLsync sync) {
    live -= sync != NULL;
    gl.DeleteSync(sync);
}

static void GLAD_API_PTR read_pixels(GLint x, GLint y, GLsizei w, GLsizei h, GLenum format,
                                     GLenum type, void *pixels) {
    readbacks++;
    gl.ReadPixels(x, y, w, h, format, type, pixels);
}

static void *GLAD_API_PTR map_buffer_range(GLenum target, GLintptr offset, GLsizeiptr length,
                                           GLbitfield access) {
    readbacks += (access & GL_MAP_READ_BIT) != 0;
    return gl.MapBufferRange(target, offset, length, access);
}

static void GLAD_API_PTR finish(void) {
    blocking++;
    gl.Finish();
}

static GLenum GLAD_API_PTR client_wait_sync(GLsync sync, GLbitfield flags, GLuint64 timeout) {
    blocking += timeout > 0;
    return fences_held && !timeout ? GL_TIMEOUT_EXPIRED : gl.ClientWaitSync(sync, flags, timeout);
}

static GLenum GLAD_API_PTR get_reset_status(void) {
    return reset_status;
}

static GLenum GLAD_API_PTR get_error(void) {
    GLenum error = pending_error;
    pending_error = GL_NO_ERROR;
    return error ? error : gl.GetError();
}

static const GLubyte *GLAD_API_PTR get_string(GLenum name) {
    return renamed && name == GL_RENDERER ? (const GLubyte *)"a test's GPU" : gl.GetString(name);
}

static const GLubyte *GLAD_API_PTR get_stringi(GLenum name, GLuint index) {
    const char *text = (const char *)gl.GetStringi(name, index);
    bool hidden = text && ((float_bits < 32 && strstr(text, "color_buffer_float")) ||
                           (float_bits < 16 && strstr(text, "color_buffer_half_float")));
    return (const GLubyte *)(hidden ? "GL_EXT_nothing" : text);
}

static void GLAD_API_PTR get_booleanv(GLenum name, GLboolean *data) {
    queries++;
    gl.GetBooleanv(name, data);
}

static void GLAD_API_PTR get_integeri_v(GLenum name, GLuint index, GLint *data) {
    queries++;
    gl.GetIntegeri_v(name, index, data);
}

static void GLAD_API_PTR get_integer64i_v(GLenum name, GLuint index, GLint64 *data) {
    queries++;
    gl.GetInteger64i_v(name, index, data);
}

static GLboolean GLAD_API_PTR is_enabled(GLenum name) {
    queries++;
    return gl.IsEnabled(name);
}

static void GLAD_API_PTR get_integerv(GLenum name, GLint *data) {
    queries++;
    gl.GetIntegerv(name, data);
    if (float_bits < 32 && name == GL_MINOR_VERSION)
        *data = 0;
}

static void GLAD_API_PTR tex_storage_2d(GLenum target, GLsizei levels, GLenum format, GLsizei width,
                                        GLsizei height) {
    if (is_due(&textures_left))
        pending_error = GL_OUT_OF_MEMORY;
    else
        gl.TexStorage2D(target, levels, format, width, height);
}

static void GLAD_API_PTR tex_storage_3d(GLenum target, GLsizei levels, GLenum format, GLsizei width,
                                        GLsizei height, GLsizei depth) {
    if (is_due(&textures_left))
        pending_error = GL_OUT_OF_MEMORY;
    else
        gl.TexStorage3D(target, levels, format, width, height, depth);
}

/* Bits of floats that an attachment of the bound framebuffer holds; 0: none. */
static int attached_float_bits(GLenum target, GLenum attachment) {
    GLint object = GL_NONE, type = GL_NONE, bits = 0;
    gl.GetFramebufferAttachmentParameteriv(target, attachment,
                                           GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, &object);
    if (object == GL_NONE)
        return 0;
    gl.GetFramebufferAttachmentParameteriv(target, attachment,
                                           GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE, &type);
    gl.GetFramebufferAttachmentParameteriv(target, attachment, GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE,
                                           &bits);
    return type == GL_FLOAT ? bits : 0;
}

static bool exceeds_float_bits(GLenum target) {
    GLint attachments = 0;
    gl.GetIntegerv(GL_MAX_COLOR_ATTACHMENTS, &attachments);
    for (int i = 0; i < attachments; i++)
        if (attached_float_bits(target, GL_COLOR_ATTACHMENT0 + (GLenum)i) > float_bits)
            return true;
    return false;
}

static GLenum GLAD_API_PTR check_framebuffer(GLenum target) {
    bool fails = is_due(&framebuffers_left) || (float_bits < 32 && exceeds_float_bits(target));
    return fails ? GL_FRAMEBUFFER_UNSUPPORTED : gl.CheckFramebufferStatus(target);
}

static void GLAD_API_PTR get_programiv(GLuint program, GLenum name, GLint *value) {
    gl.GetProgramiv(program, name, value);
    if (name == GL_LINK_STATUS && is_due(&links_left))
        *value = GL_FALSE;
}

typedef void function(void);

static const struct {
    const char *name;
    function *instead;
} watched[] = {
    {"glGenTextures", (function *)gen_Textures},
    {"glDeleteTextures", (function *)delete_Textures},
    {"glGenFramebuffers", (function *)gen_Framebuffers},
    {"glDeleteFramebuffers", (function *)delete_Framebuffers},
    {"glGenBuffers", (function *)gen_Buffers},
    {"glDeleteBuffers", (function *)delete_Buffers},
    {"glGenVertexArrays", (function *)gen_VertexArrays},
    {"glDeleteVertexArrays", (function *)delete_VertexArrays},
    {"glGenQueriesEXT", (function *)gen_QueriesEXT},
    {"glDeleteQueriesEXT", (function *)delete_QueriesEXT},
    {"glCreateProgram", (function *)create_program},
    {"glDeleteProgram", (function *)delete_program},
    {"glCreateShader", (function *)create_shader},
    {"glDeleteShader", (function *)delete_shader},
    {"glFenceSync", (function *)fence_sync},
    {"glDeleteSync", (function *)delete_sync},
    {"glFinish", (function *)finish},
    {"glClientWaitSync", (function *)client_wait_sync},
    {"glReadPixels", (function *)read_pixels},
    {"glMapBufferRange", (function *)map_buffer_range},
    {"glGetGraphicsResetStatusKHR", (function *)get_reset_status},
    {"glGetGraphicsResetStatusEXT", (function *)get_reset_status},
    {"glGetError", (function *)get_error},
    {"glGetString", (function *)get_string},
    {"glGetStringi", (function *)get_stringi},
    {"glGetBooleanv", (function *)get_booleanv},
    {"glGetIntegeri_v", (function *)get_integeri_v},
    {"glGetInteger64i_v", (function *)get_integer64i_v},
    {"glIsEnabled", (function *)is_enabled},
    {"glGetIntegerv", (function *)get_integerv},
    {"glTexStorage2D", (function *)tex_storage_2d},
    {"glTexStorage3D", (function *)tex_storage_3d},
    {"glCheckFramebufferStatus", (function *)check_framebuffer},
    {"glGetProgramiv", (function *)get_programiv},
};

void *watched_proc_address(const char *name) {
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        if (strcmp(watched[i].name, name) == 0) {
            union {
                function *function;
                void *object;
            } proc = {watched[i].instead};
            return proc.object;
        }
    return get_proc_address(name);
}

int live_objects(void) {
    return live;
}

int live_objects_of_sessions(void) {
    return live - live_programs;
}

void forget_live_objects(void) {
    live = live_programs = 0;
}

int readback_calls(void) {
    return readbacks;
}

int state_queries(void) {
    return queries;
}

void hold_fences(bool hold) {
    fences_held = hold;
}

int blocking_calls(void) {
    return blocking;
}

void set_reset_status(GLenum status) {
    reset_status = status;
    deleted_after_reset = 0;
}

int objects_deleted_after_reset(void) {
    return deleted_after_reset;
}
void rename_renderer(bool rename) {
    renamed = rename;
}

void limit_float_targets(int bits) {
    float_bits = bits;
}
void fail_textures_from(int call) {
    textures_left = call < 0 ? -1 : call + 1;
}
void fail_framebuffers_from(int call) {
    framebuffers_left = call < 0 ? -1 : call + 1;
}
void fail_links_from(int call) {
    links_left = call < 0 ? -1 : call + 1;
}
