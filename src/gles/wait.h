/* What waits for the GPU, or reads what it wrote: a platform's own (src/gles/native). In the scope
 * of tsr_gles_begin(). */
#ifndef TSR_GLES_WAIT_H
#define TSR_GLES_WAIT_H

#include "gles/gl.h"
#include "tessera.h"

#include <stdbool.h>

/* Until all commands are done. */
void tsr_gles_wait_all(void);

typedef enum tsr_gles_wait {
    TSR_GLES_DONE,
    TSR_GLES_PENDING,
    TSR_GLES_WAIT_FAILED, /* a GL error tells why */
} tsr_gles_wait;

/* block: wait for the fence; else PENDING while it is not signalled. */
tsr_gles_wait tsr_gles_wait_fence(GLsync fence, bool block);

/* Gives fn the first bytes of a pixel-pack buffer, once the GPU has written them; its status. */
typedef tsr_status tsr_gles_read_fn(void *user, const void *data);
tsr_status tsr_gles_read_buffer(GLuint buffer, size_t bytes, tsr_gles_read_fn *fn, void *user);

#endif
