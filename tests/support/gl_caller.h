/* The test as a program with GL of its own: contexts, a picture of the whole GL state, and what
 * Tessera asks for through get_proc_address. Independent of the library's own entry points. */
#ifndef TESTS_SUPPORT_GL_CALLER_H
#define TESTS_SUPPORT_GL_CALLER_H

#include "tessera.h"

#include <glad/egl.h>
#include <glad/gles2.h>

/* ---- contexts ---- */

typedef enum caller_api { CALLER_ES3, CALLER_ES2, CALLER_DESKTOP } caller_api;

extern GladGLES2Context gl; /* of the context that make_caller_context() made last */

/* A context on the surfaceless platform or the first GPU, current on this thread; NULL if there is
 * none. For CALLER_DESKTOP and CALLER_ES2 gl is not filled in. */
EGLContext make_caller_context(caller_api api);
void destroy_caller_context(EGLContext context);
EGLContext current_context(void);
/* NULL: none. */
void make_context_current(EGLContext context);
void *get_proc_address(const char *name);

/* ---- state ---- */

/* Sets everything that a GL 3.0 ES program can set to unusual values, from objects of its own. */
void set_unusual_state(bool with_feedback);
/* Remembers the state and the pixels that the caller's framebuffer holds. */
void remember_state(void);
/* Fails the test naming what differs from what was remembered. */
void expect_remembered_state(const char *after);

/* ---- what Tessera gets ---- */

/* For tsr_device_desc.get_proc_address: the entry points that follow are replaced by ones that
 * count or lie; the others are the driver's. */
void *watched_proc_address(const char *name);
/* GL objects made and not deleted through it, of all kinds. */
int live_objects(void);
/* Without programs, which the device keeps. */
int live_objects_of_sessions(void);
/* Counts from 0 again: a lost context took the others along. */
void forget_live_objects(void);
/* glReadPixels and glMapBufferRange calls through it so far. */
int readback_calls(void);
/* glGet*() and glIsEnabled() calls through it so far that ask for GL state. */
int state_queries(void);
/* While held, fences do not pass for those who only look: only for those who wait. */
void hold_fences(bool hold);
/* glFinish() and waits for fences so far. */
int blocking_calls(void);
/* What glGetGraphicsReset*() returns from now on, and how many objects were deleted since. */
void set_reset_status(GLenum status);
int objects_deleted_after_reset(void);
/* Gives the renderer another name: Tessera trusts no GPU timers of llvmpipe's. */
void rename_renderer(bool rename);
/* The largest float format that the driver seems to render to: 32 bits: whatever it does; 16: it is
 * an OpenGL ES 3.0 with GL_EXT_color_buffer_half_float alone, and framebuffers of 32-bit floats are
 * incomplete; 0: it has no such extension. */
void limit_float_targets(int bits);
/* glTexStorage*() fails with GL_OUT_OF_MEMORY from the n-th call on; -1: never. */
void fail_textures_from(int call);
/* glCheckFramebufferStatus() says so from the n-th call on; -1: never. */
void fail_framebuffers_from(int call);
/* No program links from the n-th on; -1: all do. */
void fail_links_from(int call);

#endif
