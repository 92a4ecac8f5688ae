/* Runs the network on the canvas, a few passes per frame, on any backend. */
#ifndef PIX2PIX_NETWORK_H
#define PIX2PIX_NETWORK_H

#include "canvas.h"
#include "remote.h"

enum { MOST_MODELS = 8 };

/* A file of the command line. */
typedef struct model_file {
    const char *path;
    tsr_model *model;
    input_info input;
} model_file;

/* A tensor on the GPU. id 0: none. */
typedef struct tensor_view {
    tsr_texture texture;
    int channels;
} tensor_view;

/* A session of a model, ready or being made. */
typedef struct instance {
    bool exists;
    settings settings;
    input_info input;
    const tsr_model *model;
    runner runner;  /* on gles; session NULL elsewhere */
    remote *remote; /* elsewhere; NULL on gles */
} instance;

typedef struct network {
    model_file files[MOST_MODELS];
    int file_count, file; /* the one in use */
    tsr_model *model;     /* that sessions are made of: the file's, or one that learned since */
    float low, high;      /* values of pixels 0 and 255 for the model */
    tsr_device *device;   /* of the window's context; NULL before gles is used */
    settings wanted;      /* those of the session that is being made, or of the one that runs */
    instance now;         /* runs */
    instance next;        /* is being made, and takes its place when it can run */
    bool refused;         /* making the session that was asked for last, or a run of it, failed */
    bool running;         /* a run is in progress */
    unsigned version;     /* of the canvas in the latest started run */
    bool fresh;           /* that run is complete */
    int runs;             /* that were started */
    double started, ms;   /* of the latest run: start on GLFW's clock, in seconds, and duration */
    GLuint uploads[2];    /* the worker's picture and layer as textures */
    tensor_view picture, layer;
    int layer_count;
    layer_info *layers; /* of the latest run */
} network;

/* Loads the models and checks that they are usable, and read pictures of one size; network_use
 * makes a session of the first. */
bool network_open(network *n, const char *const *paths, int count, float low, float high);
void network_close(network *n);
/* Of pictures that the models read. */
const input_info *network_input(const network *n);

/* Begins to make a session with these settings: meanwhile the one there is goes on, as it does if
 * this fails, which may be reported later. */
bool network_use(network *n, const settings *wanted);
/* The same of a model that has learned, which exists until network_close(), or until a session of
 * another one is in use and workers_ended(). */
bool network_take(network *n, tsr_model *model);
/* The same of another file, or of the model that learned from it. */
bool network_choose(network *n, int file, tsr_model *model);
/* Whether a session is being made. */
bool network_is_preparing(const network *n);
/* Whether there is no session, nor will be one. */
bool network_has_failed(const network *n);
/* Whether all that is to be done is done on threads. */
bool network_is_remote(const network *n);
/* Before the window's context goes away, lost or not: destroys the sessions, and what is in them.
 * network_use() then goes on. */
void network_leave(network *n);

/* Works on the run, and on the session that is being made, for about this many milliseconds. True
 * when a run is complete: picture and layer are new. */
bool network_step(network *n, const canvas *c, double ms);
/* Whether the picture shows the current canvas, by the session that was asked for last; a blank
 * one, which needs no run, has a white picture. */
bool network_is_current(const network *n, const canvas *c);

/* Works on the lesson for about this many milliseconds, if the picture is current. In a new session
 * it begins again. */
void network_learn(network *n, const canvas *c, const lesson *lesson, double ms);
/* NULL while a thread works. */
learner *network_learner(network *n);
/* The canvas as the model's input, to be freed; NULL on failure. */
float *network_read_canvas(const network *n, const canvas *c);

#endif
