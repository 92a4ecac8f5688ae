#include "gles/upload.h"

#include "base/error.h"

/* Memory that is read is asked for as such: drivers have it in the processor's cache. */
tsr_status tsr_gles_upload_map(tsr_gles_upload *u, size_t bytes, bool read, void **mapped) {
    GLbitfield access = GL_MAP_WRITE_BIT | (read ? GL_MAP_READ_BIT : GL_MAP_INVALIDATE_BUFFER_BIT);
    if (!u->buffer)
        glGenBuffers(1, &u->buffer);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, u->buffer);
    if (u->bytes < bytes) {
        u->bytes = bytes;
        glBufferData(GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)bytes, NULL,
                     read ? GL_STREAM_READ : GL_STREAM_DRAW);
    }
    *mapped = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, (GLsizeiptr)bytes, access);
    tsr_gles_upload_unbind();
    if (*mapped)
        return TSR_OK;
    u->bytes = 0;
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY,
                    "the driver cannot map a pixel-unpack buffer of %zu bytes", bytes);
}

tsr_status tsr_gles_upload_unmap(const tsr_gles_upload *u) {
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, u->buffer);
    return glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER)
               ? TSR_OK
               : tsr_fail(TSR_ERROR_DEVICE, "the driver lost what was written to a mapped buffer");
}

void tsr_gles_upload_unbind(void) {
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

void tsr_gles_upload_destroy(tsr_gles_upload *u) {
    glDeleteBuffers(1, &u->buffer);
    *u = (tsr_gles_upload){0};
}
