/* What draws bind: GL is called only where that differs from what is bound. In a page a call takes
 * microseconds. */
#ifndef TSR_GLES_BINDINGS_H
#define TSR_GLES_BINDINGS_H

#include "gles/program.h"
#include "gles/state.h"
#include "gpu/params.h"

typedef struct tsr_bindings {
    int unit, framebuffer;                  /* TSR_NONE: not known */
    GLuint program, textures[TSR_GL_UNITS]; /* 0: not known */
    GLint viewport[4];
} tsr_bindings;

/* To be called before the next draw wherever something else binds: the caller of the library, or
 * what makes, uploads, reads or clears textures. */
void tsr_bindings_forget(tsr_bindings *bindings);
/* And sets its parameters, unless these are the ones that it has. */
void tsr_bind_program(tsr_bindings *bindings, tsr_program *program, const tsr_params *params);
/* Of one draw of a pass, to the bound program. */
void tsr_bind_draw_args(tsr_program *program, const int args[TSR_MAX_DRAW_ARGS]);
/* A 2D texture to TSR_TABLE_UNIT, an array to any other. */
void tsr_bind_texture(tsr_bindings *bindings, int unit, GLuint texture);
/* To draw to and to read from. */
void tsr_bind_framebuffer(tsr_bindings *bindings, GLuint framebuffer);
void tsr_bind_viewport(tsr_bindings *bindings, GLint x, GLint y, GLint width, GLint height);

#endif
