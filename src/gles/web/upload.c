/* A page maps no buffers: what is written to memory is copied to one. */
#include "gles/upload.h"

#include "base/allocator.h"
#include "base/error.h"

tsr_status tsr_gles_upload_map(tsr_gles_upload *u, size_t bytes, bool read, void **mapped) {
    (void)read;
    if (!u->buffer)
        glGenBuffers(1, &u->buffer);
    if (u->bytes < bytes) {
        tsr_free(u->memory);
        u->memory = tsr_malloc(bytes);
        u->bytes = u->memory ? bytes : 0;
    }
    u->mapped = bytes;
    *mapped = u->memory;
    return u->memory
               ? TSR_OK
               : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes to upload", bytes);
}

tsr_status tsr_gles_upload_unmap(const tsr_gles_upload *u) {
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, u->buffer);
    glBufferData(GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)u->mapped, u->memory, GL_STREAM_DRAW);
    return TSR_OK;
}

void tsr_gles_upload_unbind(void) {
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

void tsr_gles_upload_destroy(tsr_gles_upload *u) {
    glDeleteBuffers(1, &u->buffer);
    tsr_free(u->memory);
    *u = (tsr_gles_upload){0};
}
