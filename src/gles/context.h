/* A device's GL context. The platform makes it: src/gles/native by EGL. */
#ifndef TSR_GLES_CONTEXT_H
#define TSR_GLES_CONTEXT_H

#include "gles/gl.h"
#include "tessera.h"

#include <stdbool.h>

typedef struct tsr_context tsr_context;

/* Makes a context, or adopts the one that is current (TSR_PLATFORM_CURRENT), loads its functions
 * into *gl and makes these the thread's (tsr_gl). It is entered then: call tsr_context_leave().
 * TSR_ERROR_NO_DEVICE. */
tsr_status tsr_context_create(const tsr_device_desc *desc, GladGLES2Context *gl,
                              tsr_context **context);
/* An adopted one stays the caller's. */
void tsr_context_destroy(tsr_context *context);

/* Makes it current until tsr_context_leave() restores what was current before. An adopted one has
 * to be current already: TSR_ERROR_DEVICE. TSR_ERROR_DEVICE_LOST if the platform tells so. */
tsr_status tsr_context_enter(tsr_context *context);
void tsr_context_leave(tsr_context *context);

bool tsr_context_is_adopted(const tsr_context *context);
/* Fails unless an adopted context is still the current one. */
tsr_status tsr_context_check_current(const tsr_context *context);

/* Was it lost? While it is entered. */
bool tsr_context_is_lost(const tsr_context *context);
/* Can the driver tell that it was? */
bool tsr_context_tells_loss(const tsr_context *context);

/* Do calls go to another process? Each takes microseconds then, and glGetError() waits until all
 * commands are done. */
bool tsr_context_is_remote(void);

/* The GPU's name, as src/gles/family.c reads it; lives as long as the context. */
const char *tsr_context_renderer(const tsr_context *context);

/* Devices that tsr_device_desc.gpu chooses from; 0 if the platform lists none. */
int tsr_context_count_devices(void);

#endif
