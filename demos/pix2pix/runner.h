/* A device with a session of the model, and the lesson in progress: on gles in the window's
 * context, on the other backends on a worker thread. Failures are stored in `error`, so that any
 * thread can use it. */
#ifndef PIX2PIX_RUNNER_H
#define PIX2PIX_RUNNER_H

#include "learn.h"

enum { NAME_SIZE = 256 };

typedef struct settings {
    const char *backend; /* "gles", "webgpu" or "cpu" */
    tsr_precision precision;
    bool timed;            /* time each layer */
    char layer[NAME_SIZE]; /* the tensor shown as a mosaic; "": none */
} settings;

/* Input of the model and size of the canvas: one picture of 3 channels. */
typedef struct input_info {
    char name[NAME_SIZE];
    int width, height;
} input_info;

typedef struct layer_info {
    char output[NAME_SIZE]; /* its output tensor */
    char op[48];
    tsr_shape shape;
    double ms; /* negative: not measured */
} layer_info;

typedef struct runner {
    tsr_device *device;
    tsr_session *session;
    tsr_tensor_info picture, layer; /* layer.name NULL: no layer is shown */
    int layer_count;
    layer_info *layers;
    learner learner;
    char error[768];
} runner;

/* Reads the model's input, or stores in error why the demo cannot use the model. */
bool find_input(const tsr_model *model, const char *path, input_info *input, char *error,
                size_t error_size);

/* On the device that it has, or a new one. The session of gles is complete when
 * tsr_session_prepare() says so. get_proc_address: of the window's context, for gles. tunes: a new
 * device finds its fastest kernels, for which the call takes longer. On failure only the device, if
 * it could be made, and the error are set. */
bool runner_open(runner *r, const tsr_model *model, const input_info *input, const settings *wanted,
                 void *(*get_proc_address)(const char *name), bool tunes);
/* After its device was lost, not in the window's context: continues on a new one. */
bool runner_recover(runner *r, const settings *wanted);
/* Its device stays. */
void runner_close_session(runner *r);
void runner_close(runner *r);
/* Works on the lesson: see learner_work(). */
void runner_learn(runner *r, const tsr_model *model, const input_info *input, const lesson *lesson,
                  double ms);
/* Sets error to Tessera's latest message; returns false. */
bool runner_fail(runner *r);
/* The time of each layer in the latest run. */
void runner_read_times(runner *r);

#endif
