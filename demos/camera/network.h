/* A network from pictures to pictures, a few passes per frame. */
#ifndef CAMERA_NETWORK_H
#define CAMERA_NETWORK_H

#include "gl.h"
#include "ranges.h"

typedef struct settings {
    const char *backend; /* "gles" or "webgpu" */
    tsr_precision precision;
} settings;

/* Sizes of the network's pictures. */
typedef struct picture_sizes {
    int in_width, in_height, out_width, out_height;
} picture_sizes;

typedef struct network {
    const char *path;
    tsr_model *model;
    const char *input, *output; /* names */
    picture_sizes sizes;
    range in, out;
    settings now;
    tsr_device *device;
    tsr_session *session; /* NULL: making it or a run failed */
    bool running;
    double started, ms;    /* of the latest run: its start in seconds, its duration */
    unsigned char *pixels; /* webgpu's way to and from the window's context */
} network;

/* Loads and checks the model. It gets pictures of this size if it takes them, or a little smaller
 * ones; else those that it declares. False after a complaint. */
bool network_open(network *n, const char *path, int width, int height);
void network_close(network *n);

/* Makes a session, of gles in the current context. False after a complaint. */
bool network_use(network *n, const settings *wanted);
/* Works on the session for about this many milliseconds: true once it can run. */
bool network_prepare(network *n, double ms);
/* Starts a run of an RGBA8 picture of the input's size. now: in seconds. False after a complaint:
 * there is no session any more. */
bool network_begin(network *n, const gl_target *input, double now);
/* Works on the run for about this many milliseconds. True when it is complete: its picture is in
 * `result`, an RGBA8 target of the output's size. */
bool network_step(network *n, double ms, const gl_target *result);

#endif
