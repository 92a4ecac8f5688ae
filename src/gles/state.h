/* The GL state that Tessera touches, saved and restored when it works in the caller's context. */
#ifndef TSR_GLES_STATE_H
#define TSR_GLES_STATE_H

#include "gles/gl.h"
#include "plan/plan.h"

/* Texture units: source i of a pass has unit i. */
enum {
    TSR_TABLE_UNIT = TSR_MAX_SOURCES,
    TSR_HIGH_UNIT, /* upper planes of source 0, if it is stored in two textures */
    TSR_GL_UNITS
};

enum { TSR_GL_CAPS = 9, TSR_GL_PIXEL_STORES = 10, TSR_GL_DRAW_BUFFERS = 16 };

typedef struct tsr_gl_state {
    GLint program, vertex_array, draw_framebuffer, read_framebuffer, pack_buffer, unpack_buffer,
        active_texture, uniform_buffer, block_buffer;
    GLint64 block_begin, block_size; /* of the indexed binding that draws use */
    GLint viewport[4], scissor[4];
    GLint texture_2d[TSR_GL_UNITS], texture_array[TSR_GL_UNITS], sampler[TSR_GL_UNITS];
    GLint pixel_store[TSR_GL_PIXEL_STORES];
    GLboolean color_mask[4], enabled[TSR_GL_CAPS];
    /* by draw buffer, where a context has these each: GL_OES_draw_buffers_indexed */
    int draw_buffer_count;
    GLint buffer_mask[TSR_GL_DRAW_BUFFERS][4];
    GLboolean buffer_blend[TSR_GL_DRAW_BUFFERS];
    bool feedback; /* the caller's active transform feedback was paused: programs cannot change
                      while it is active */
} tsr_gl_state;

/* Saves the state and sets what Tessera's draws and transfers rely on. */
void tsr_gl_state_save(tsr_gl_state *state);
void tsr_gl_state_restore(const tsr_gl_state *state);
/* Sets what draws and transfers rely on, in a new context. */
void tsr_gl_state_defaults(void);

#endif
