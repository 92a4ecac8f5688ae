/* The network on a worker thread, for a backend that does not use the window's context: pictures go
 * through host memory. */
#ifndef CAMERA_REMOTE_H
#define CAMERA_REMOTE_H

#include "model.h"
#include "ranges.h"
#include "worker.h"

typedef struct settings {
    const char *backend; /* "gles" or "webgpu" */
    tsr_precision precision;
} settings;

typedef struct remote remote;

/* Starts making a session. The model must exist until workers_wait(). NULL when out of memory. */
remote *remote_create(const picture_model *model, const settings *wanted);
/* With which it goes: after worker_release() and the run in progress. */
worker *remote_worker(const remote *r);

/* Unless it is busy: RGBA8, the input that remote_start() is going to read, and in state
 * WORKER_DONE, until worker_rest(), the output. */
unsigned char *remote_pixels(const remote *r);
void remote_start(remote *r, range in, range out);
/* In state WORKER_FAILED. */
const char *remote_error(const remote *r);

#endif
