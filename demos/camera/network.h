/* Runs the network on pictures, a few passes per frame or on a thread. */
#ifndef CAMERA_NETWORK_H
#define CAMERA_NETWORK_H

#include "gl.h"
#include "remote.h"

/* A session, ready or being made. */
typedef struct instance {
    bool exists;
    settings settings;
    tsr_session *session; /* on gles, in the window's context; else NULL */
    remote *remote;       /* elsewhere; NULL on gles */
} instance;

typedef struct network {
    picture_model model;
    range in, out;
    settings wanted;    /* those of the session that is being made, or of the one that runs */
    tsr_device *device; /* of the window's context; NULL before gles is used */
    instance now;       /* runs */
    instance next;      /* is being made, and takes its place when it can run */
    bool running;
    double asked;       /* when `next` was, on GLFW's clock, in seconds */
    double started, ms; /* of the latest run: its start on that clock, its duration */
} network;

/* Destroys the sessions, in the context that is current, and frees the model. */
void network_close(network *n);

/* Asks for a session: meanwhile the one that is there goes on, as it does if this one cannot be
 * made. */
void network_use(network *n, const settings *wanted);
/* Works for about this many milliseconds on the session that was asked for, of gles in the current
 * context. When it can run, it takes the other's place between two runs. False: that has taken a
 * frame's time. */
bool network_prepare(network *n, double ms);
/* Whether a session is being made. */
bool network_is_preparing(const network *n);
/* Whether there is no session, nor will be one. */
bool network_has_failed(const network *n);

/* Starts a run of an RGBA8 picture of the input's size. False after a complaint: there is no
 * session any more. */
bool network_begin(network *n, const gl_target *input);
/* Works on the run for about this many milliseconds. True when it is complete: its picture is in
 * `result`, an RGBA8 target of the output's size. */
bool network_step(network *n, double ms, const gl_target *result);

#endif
