/* A page does not block on a fence, which is signalled between its tasks only, and maps no buffer:
 * it waits by reading a pixel. */
#include "gles/wait.h"

#include "base/allocator.h"
#include "base/error.h"

#define IMPORT(name) __attribute__((import_module("gl"), import_name(#name)))

/* Until all commands are done. */
IMPORT(finish) void web_finish(void);
/* 0: the fence is not signalled yet; -1: the context was lost. */
IMPORT(testSync) int web_test_sync(GLsync sync);
/* From the buffer that is bound to GL_PIXEL_PACK_BUFFER. */
IMPORT(getBufferSubData) void web_get_buffer_sub_data(void *data, size_t bytes);

void tsr_gles_wait_all(void) {
    web_finish();
}

tsr_gles_wait tsr_gles_wait_fence(GLsync fence, bool block) {
    if (block)
        web_finish();
    int done = block ? 1 : web_test_sync(fence);
    return done > 0 ? TSR_GLES_DONE : done == 0 ? TSR_GLES_PENDING : TSR_GLES_WAIT_FAILED;
}

tsr_status tsr_gles_read_buffer(GLuint buffer, size_t bytes, tsr_gles_read_fn *fn, void *user) {
    void *data = tsr_malloc(bytes);
    if (!data)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes that are read", bytes);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
    web_get_buffer_sub_data(data, bytes);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    tsr_status status = fn(user, data);
    tsr_free(data);
    return status;
}
