/* GL's entry points, a separate table for each device: contexts may come from different drivers,
 * and threads may use different devices at once. */
#ifndef TSR_GLES_GL_H
#define TSR_GLES_GL_H

#include <glad/gles2.h>

/* The table of the device whose scope this thread is in, used by glClear and the others. */
extern _Thread_local const GladGLES2Context *tsr_gl;

#include "gl_calls.h"

#endif
