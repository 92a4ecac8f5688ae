#include "support/gl_loss.h"

#include "support/gl_caller.h"

#include <string.h>

static EGLContext context;
static bool lost, told;

/* Without a current context the calls of EGL's libraries do nothing: Tessera is not told that there
 * is none. */
static void lose(void) {
    lost = true;
    told = false;
    make_context_current(NULL);
}

static EGLContext EGLAPIENTRY get_current_context(void) {
    return lost ? context : current_context();
}

static GLenum GLAD_API_PTR get_reset_status(void) {
    return lost ? GL_GUILTY_CONTEXT_RESET_KHR : GL_NO_ERROR;
}

static GLenum GLAD_API_PTR get_error(void) {
    if (!lost)
        return gl.GetError();
    GLenum error = told ? GL_NO_ERROR : GL_CONTEXT_LOST_KHR;
    told = true;
    return error;
}

static GLenum GLAD_API_PTR client_wait_sync(GLsync sync, GLbitfield flags, GLuint64 timeout) {
    pass_moment();
    return lost ? GL_ALREADY_SIGNALED : gl.ClientWaitSync(sync, flags, timeout);
}

static void *GLAD_API_PTR map_buffer_range(GLenum target, GLintptr offset, GLsizeiptr length,
                                           GLbitfield access) {
    pass_moment();
    return lost ? NULL : gl.MapBufferRange(target, offset, length, access);
}

#define PASSING(Name, parameters, arguments)                                                       \
    static void GLAD_API_PTR passing_##Name parameters {                                           \
        pass_moment();                                                                             \
        gl.Name arguments;                                                                         \
    }
PASSING(BindBuffer, (GLenum target, GLuint buffer), (target, buffer))
PASSING(BindFramebuffer, (GLenum target, GLuint framebuffer), (target, framebuffer))
PASSING(BindTexture, (GLenum target, GLuint texture), (target, texture))
PASSING(CompileShader, (GLuint shader), (shader))
PASSING(DrawArrays, (GLenum mode, GLint first, GLsizei count), (mode, first, count))
PASSING(GenTextures, (GLsizei n, GLuint *textures), (n, textures))
PASSING(GetProgramiv, (GLuint program, GLenum name, GLint *value), (program, name, value))
PASSING(LinkProgram, (GLuint program), (program))
PASSING(UseProgram, (GLuint program), (program))

typedef void function(void);

static void *find(const char *name) {
    static const struct {
        const char *name;
        function *instead;
    } own[] = {
        {"eglGetCurrentContext", (function *)get_current_context},
        {"glGetGraphicsResetStatusKHR", (function *)get_reset_status},
        {"glGetGraphicsResetStatusEXT", (function *)get_reset_status},
        {"glGetError", (function *)get_error},
        {"glClientWaitSync", (function *)client_wait_sync},
        {"glMapBufferRange", (function *)map_buffer_range},
        {"glBindBuffer", (function *)passing_BindBuffer},
        {"glBindFramebuffer", (function *)passing_BindFramebuffer},
        {"glBindTexture", (function *)passing_BindTexture},
        {"glCompileShader", (function *)passing_CompileShader},
        {"glDrawArrays", (function *)passing_DrawArrays},
        {"glGenTextures", (function *)passing_GenTextures},
        {"glGetProgramiv", (function *)passing_GetProgramiv},
        {"glLinkProgram", (function *)passing_LinkProgram},
        {"glUseProgram", (function *)passing_UseProgram},
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i].name, name) == 0) {
            union { /* ISO C has no cast from function to object pointers */
                function *function;
                void *object;
            } proc = {own[i].instead};
            return proc.object;
        }
    return get_proc_address(name);
}

bool has_losing_context(void) {
    EGLContext made = make_caller_context(CALLER_ES3);
    if (made)
        destroy_caller_context(made);
    return made;
}

static tsr_device_desc open_context(void) {
    lost = false;
    context = make_caller_context(CALLER_ES3);
    return (tsr_device_desc){.gles.platform = TSR_PLATFORM_CURRENT, .gles.get_proc_address = find};
}

static void close_context(void) {
    destroy_caller_context(context);
}

const losing_caller losing_context = {open_context, lose, close_context};
