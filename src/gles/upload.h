/* Memory that textures and buffers are filled from: a pixel-unpack buffer, mapped (the platform's
 * own: src/gles/native). The device copies it, so the caller's thread waits for no transfer. */
#ifndef TSR_GLES_UPLOAD_H
#define TSR_GLES_UPLOAD_H

#include "gles/gl.h"
#include "tessera.h"

#include <stdbool.h>

/* Zero-initialised. */
typedef struct tsr_gles_upload {
    GLuint buffer;
    size_t bytes;
    void *memory;  /* where buffers cannot be mapped: what is copied to it, */
    size_t mapped; /* and its bytes */
} tsr_gles_upload;

/* At least `bytes` of it, of undefined content; read: what is written there is read again. */
tsr_status tsr_gles_upload_map(tsr_gles_upload *upload, size_t bytes, bool read, void **mapped);
/* Ends that, and leaves the buffer bound: data pointers are offsets in it until
 * tsr_gles_upload_unbind(). */
tsr_status tsr_gles_upload_unmap(const tsr_gles_upload *upload);
void tsr_gles_upload_unbind(void);
void tsr_gles_upload_destroy(tsr_gles_upload *upload);

#endif
