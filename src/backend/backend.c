#include "backend/backend.h"

#include <string.h>

extern const tsr_backend tsr_gles_backend, tsr_webgpu_backend, tsr_cpu_backend;

const tsr_backend *const tsr_backends[] = {
#ifdef TSR_GLES
    &tsr_gles_backend,
#endif
#ifdef TSR_WEBGPU
    &tsr_webgpu_backend,
#endif
    &tsr_cpu_backend,
    NULL,
};

const tsr_backend *tsr_backend_find(const char *name) {
    for (int i = 0; tsr_backends[i]; i++)
        if (strcmp(tsr_backends[i]->name, name) == 0)
            return tsr_backends[i];
    return NULL;
}
