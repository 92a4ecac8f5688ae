/* The network behind the canvas: follows it, a slice of passes a frame, on any backend. */
#ifndef PIX2PIX_NETWORK_H
#define PIX2PIX_NETWORK_H

#include "canvas.h"
#include "worker.h"

/* A tensor on the GPU. id 0: there is none. */
typedef struct tensor_view {
    tsr_texture texture;
    int channels;
} tensor_view;

typedef struct network {
    tsr_model *model;
    input_info input;
    float low, high; /* what 0 and 255 of a picture are for the model */
    settings now;
    runner runner;      /* on gles; session NULL elsewhere */
    worker *worker;     /* elsewhere; NULL on gles */
    bool failed;        /* there is no session: its making or a run failed */
    bool running;       /* a run was begun and has not ended */
    unsigned version;   /* of the canvas in the latest run that was begun */
    bool fresh;         /* that run has ended */
    double started, ms; /* of the latest run: when, on GLFW's clock in seconds, and how long */
    GLuint uploads[2];  /* the worker's picture and layer as textures */
    tensor_view picture, layer;
    int layer_count;
    layer_info *layers; /* of the latest run */
} network;

/* Loads the model and says whether it can be drawn for; settings are made by network_use. */
bool network_open(network *n, const char *path, float low, float high);
void network_close(network *n);

/* Makes a session anew; false after a complaint. On webgpu and cpu the complaint may come later. */
bool network_use(network *n, const settings *wanted);

/* A slice of at most about so many milliseconds. True when a run has ended: picture and layer are
 * new. */
bool network_step(network *n, const canvas *c, double ms);
/* Shows the picture what is on the canvas? */
bool network_is_current(const network *n, const canvas *c);

#endif
