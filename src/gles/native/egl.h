/* Contexts made through EGL. Functions that load entry points, which are the whole process's, are
 * called by one thread at a time. */
#ifndef TSR_GLES_NATIVE_EGL_H
#define TSR_GLES_NATIVE_EGL_H

#include "tessera.h"

#include <glad/egl.h>

typedef struct tsr_egl {
    EGLDisplay display;
    EGLContext context;
    EGLSurface surface; /* EGL_NO_SURFACE where contexts need none */
} tsr_egl;

tsr_status tsr_egl_load(void);
tsr_status tsr_egl_create(const tsr_device_desc *desc, tsr_egl *egl);
/* A context on a display that is open. */
tsr_status tsr_egl_create_on(EGLDisplay display, tsr_egl *egl);
void tsr_egl_destroy(tsr_egl *egl);
/* Devices of EGL_EXT_platform_device; 0 if there is no such platform. */
int tsr_egl_device_count(void);

#endif
