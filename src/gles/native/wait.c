#include "gles/wait.h"

#include "base/error.h"

void tsr_gles_wait_all(void) {
    glFinish();
}

tsr_gles_wait tsr_gles_wait_fence(GLsync fence, bool block) {
    const GLuint64 nanoseconds = block ? 1000000000 : 0;
    GLenum result = glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, nanoseconds);
    while (result == GL_TIMEOUT_EXPIRED && block)
        result = glClientWaitSync(fence, 0, nanoseconds);
    return result == GL_TIMEOUT_EXPIRED ? TSR_GLES_PENDING
           : result == GL_WAIT_FAILED   ? TSR_GLES_WAIT_FAILED
                                        : TSR_GLES_DONE;
}

tsr_status tsr_gles_read_buffer(GLuint buffer, size_t bytes, tsr_gles_read_fn *fn, void *user) {
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
    const void *data =
        glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, (GLsizeiptr)bytes, GL_MAP_READ_BIT);
    tsr_status status =
        data ? fn(user, data)
             : tsr_fail(TSR_ERROR_DEVICE, "the driver cannot map a pixel-pack buffer");
    if (data)
        glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    return status;
}
