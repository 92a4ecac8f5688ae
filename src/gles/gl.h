/* GL's entry points. Each device has a table of its own: contexts may come from different drivers,
 * and threads work on different devices at once. */
#ifndef TSR_GLES_GL_H
#define TSR_GLES_GL_H

#include <glad/gles2.h>

/* The table of the device that this thread is inside of: what glClear and the others call. */
extern _Thread_local const GladGLES2Context *tsr_gl;

#include "gl_calls.h"

#endif
