/* Runs the network on the canvas, a few passes per frame, on any backend. */
#ifndef PIX2PIX_NETWORK_H
#define PIX2PIX_NETWORK_H

#include "canvas.h"
#include "worker.h"

/* A tensor on the GPU. id 0: none. */
typedef struct tensor_view {
    tsr_texture texture;
    int channels;
} tensor_view;

typedef struct network {
    tsr_model *loaded; /* of the file */
    tsr_model *model;  /* that sessions are made of: this one, or one that learned since */
    input_info input;
    float low, high; /* values of pixels 0 and 255 for the model */
    settings now;
    runner runner;      /* on gles; session NULL elsewhere */
    worker *worker;     /* elsewhere; NULL on gles */
    bool failed;        /* no session: creating it or a run failed */
    bool running;       /* a run is in progress */
    unsigned version;   /* of the canvas in the latest started run */
    bool fresh;         /* that run is complete */
    int runs;           /* that were started */
    double started, ms; /* of the latest run: start on GLFW's clock, in seconds, and duration */
    GLuint uploads[2];  /* the worker's picture and layer as textures */
    tensor_view picture, layer;
    int layer_count;
    layer_info *layers; /* of the latest run */
} network;

/* Loads the model and checks that it is usable; network_use makes the session. */
bool network_open(network *n, const char *path, float low, float high);
void network_close(network *n);

/* Makes a new session; false on failure, which may be reported later. */
bool network_use(network *n, const settings *wanted);
/* Before the window's context goes away, lost or not: destroys the session, and what is in it.
 * network_use() then goes on. */
void network_leave(network *n);

/* Works on the run for about this many milliseconds. True when it is complete: picture and layer
 * are new. */
bool network_step(network *n, const canvas *c, double ms);
/* Whether the picture shows the current canvas; a blank one, which needs no run, has a white
 * picture. */
bool network_is_current(const network *n, const canvas *c);

/* Works on the lesson for about this many milliseconds, if the picture shows the current canvas. In
 * a new session it begins again. */
void network_learn(network *n, const canvas *c, const lesson *lesson, double ms);
/* NULL while a thread works. */
learner *network_learner(network *n);
/* Makes a new session of a model that has learned, which exists until network_close(), or until
 * workers_wait() after another took its place. */
bool network_take(network *n, tsr_model *model);
/* The canvas as the model's input, to be freed; NULL on failure. */
float *network_read_canvas(const network *n, const canvas *c);

#endif
