/* A page's contexts: WebGL 2 under the names of OpenGL ES, whose functions src/web/gl.mjs has. */
#include "gles/context.h"

#include "base/allocator.h"
#include "base/error.h"

#define IMPORT(name) __attribute__((import_module("gl"), import_name(#name)))

/* Those that src/gles calls: another one would be a call of NULL, which traps. */
/* clang-format off */
#define FUNCTIONS(X) \
    X(ACTIVETEXTURE, ActiveTexture) \
    X(ATTACHSHADER, AttachShader) \
    X(BINDBUFFER, BindBuffer) \
    X(BINDBUFFERBASE, BindBufferBase) \
    X(BINDBUFFERRANGE, BindBufferRange) \
    X(BINDFRAMEBUFFER, BindFramebuffer) \
    X(BINDSAMPLER, BindSampler) \
    X(BINDTEXTURE, BindTexture) \
    X(BINDVERTEXARRAY, BindVertexArray) \
    X(BUFFERDATA, BufferData) \
    X(BUFFERSUBDATA, BufferSubData) \
    X(CHECKFRAMEBUFFERSTATUS, CheckFramebufferStatus) \
    X(CLEARBUFFERFV, ClearBufferfv) \
    X(CLEARBUFFERIV, ClearBufferiv) \
    X(CLEARBUFFERUIV, ClearBufferuiv) \
    X(COLORMASK, ColorMask) \
    X(COMPILESHADER, CompileShader) \
    X(COPYBUFFERSUBDATA, CopyBufferSubData) \
    X(CREATEPROGRAM, CreateProgram) \
    X(CREATESHADER, CreateShader) \
    X(DELETEBUFFERS, DeleteBuffers) \
    X(DELETEFRAMEBUFFERS, DeleteFramebuffers) \
    X(DELETEPROGRAM, DeleteProgram) \
    X(DELETESAMPLERS, DeleteSamplers) \
    X(DELETESHADER, DeleteShader) \
    X(DELETESYNC, DeleteSync) \
    X(DELETETEXTURES, DeleteTextures) \
    X(DELETEVERTEXARRAYS, DeleteVertexArrays) \
    X(DISABLE, Disable) \
    X(DRAWARRAYS, DrawArrays) \
    X(DRAWBUFFERS, DrawBuffers) \
    X(ENABLE, Enable) \
    X(FENCESYNC, FenceSync) \
    X(FLUSH, Flush) \
    X(FRAMEBUFFERTEXTURE2D, FramebufferTexture2D) \
    X(FRAMEBUFFERTEXTURELAYER, FramebufferTextureLayer) \
    X(GENBUFFERS, GenBuffers) \
    X(GENFRAMEBUFFERS, GenFramebuffers) \
    X(GENSAMPLERS, GenSamplers) \
    X(GENTEXTURES, GenTextures) \
    X(GENVERTEXARRAYS, GenVertexArrays) \
    X(GETATTACHEDSHADERS, GetAttachedShaders) \
    X(GETBOOLEANV, GetBooleanv) \
    X(GETERROR, GetError) \
    X(GETINTEGERV, GetIntegerv) \
    X(GETPROGRAMINFOLOG, GetProgramInfoLog) \
    X(GETPROGRAMIV, GetProgramiv) \
    X(GETSHADERINFOLOG, GetShaderInfoLog) \
    X(GETSHADERIV, GetShaderiv) \
    X(GETSTRING, GetString) \
    X(GETUNIFORMLOCATION, GetUniformLocation) \
    X(ISTEXTURE, IsTexture) \
    X(LINKPROGRAM, LinkProgram) \
    X(PIXELSTOREI, PixelStorei) \
    X(READBUFFER, ReadBuffer) \
    X(READPIXELS, ReadPixels) \
    X(SAMPLERPARAMETERI, SamplerParameteri) \
    X(SCISSOR, Scissor) \
    X(SHADERSOURCE, ShaderSource) \
    X(TEXPARAMETERI, TexParameteri) \
    X(TEXSTORAGE2D, TexStorage2D) \
    X(TEXSTORAGE3D, TexStorage3D) \
    X(TEXSUBIMAGE2D, TexSubImage2D) \
    X(TEXSUBIMAGE3D, TexSubImage3D) \
    X(UNIFORM1I, Uniform1i) \
    X(UNIFORM2F, Uniform2f) \
    X(UNIFORM4IV, Uniform4iv) \
    X(USEPROGRAM, UseProgram) \
    X(VIEWPORT, Viewport)
/* clang-format on */

#define DECLARE(type, name) IMPORT(name) __typeof__(*(PFNGL##type##PROC)0) web_##name;
FUNCTIONS(DECLARE)

/* Makes a context of the page's; 0: there is none. */
IMPORT(createContext) int web_create_context(void);
IMPORT(destroyContext) void web_destroy_context(int context);
/* Which context the functions use; what it was before. */
IMPORT(useContext) int web_use_context(int context);
IMPORT(isContextLost) int web_is_context_lost(int context);
/* Of the context in use: can the extension be had? */
IMPORT(enableExtension) int web_enable_extension(const char *name);
/* Of the context in use: its GPU's name, with a NUL. */
IMPORT(getRenderer) void web_get_renderer(char *name, int size);

struct tsr_context {
    int id, caller;
    char renderer[256];
};

_Thread_local const GladGLES2Context *tsr_gl;

static void load_gl(GladGLES2Context *gl) {
#define LOAD(type, name) gl->name = web_##name;
    FUNCTIONS(LOAD)
    gl->EXT_color_buffer_float = web_enable_extension("EXT_color_buffer_float");
    gl->EXT_color_buffer_half_float = web_enable_extension("EXT_color_buffer_half_float");
    gl->EXT_float_blend = web_enable_extension("EXT_float_blend");
    gl->KHR_parallel_shader_compile = web_enable_extension("KHR_parallel_shader_compile");
    tsr_gl = gl;
}

tsr_status tsr_context_create(const tsr_device_desc *desc, GladGLES2Context *gl,
                              tsr_context **context) {
    (void)desc;
    tsr_context *c = tsr_calloc(1, sizeof *c);
    if (!c)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a device");
    c->id = web_create_context();
    if (!c->id) {
        tsr_free(c);
        return tsr_fail(TSR_ERROR_NO_DEVICE, "the page has no WebGL 2");
    }
    tsr_context_enter(c);
    load_gl(gl);
    web_get_renderer(c->renderer, sizeof c->renderer);
    *context = c;
    return TSR_OK;
}

void tsr_context_destroy(tsr_context *c) {
    if (c)
        web_destroy_context(c->id);
    tsr_free(c);
}

tsr_status tsr_context_enter(tsr_context *c) {
    c->caller = web_use_context(c->id);
    return TSR_OK;
}

void tsr_context_leave(tsr_context *c) {
    web_use_context(c->caller);
}

bool tsr_context_is_adopted(const tsr_context *c) {
    (void)c;
    return false;
}

tsr_status tsr_context_check_current(const tsr_context *c) {
    (void)c;
    return TSR_OK;
}

bool tsr_context_is_lost(const tsr_context *c) {
    return web_is_context_lost(c->id);
}

bool tsr_context_tells_loss(const tsr_context *c) {
    (void)c;
    return true;
}

bool tsr_context_is_remote(void) {
    return true;
}

const char *tsr_context_renderer(const tsr_context *c) {
    return c->renderer;
}

int tsr_context_count_devices(void) {
    return 0;
}
