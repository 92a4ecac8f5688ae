/* A device with a session of the model on it: on gles in the window's own context, on the other
 * backends for a thread that works beside it. Says in `error` what went wrong, so that any thread
 * can. */
#ifndef PIX2PIX_RUNNER_H
#define PIX2PIX_RUNNER_H

#include <tessera.h>

enum { NAME_SIZE = 256 };

typedef struct settings {
    const char *backend; /* "gles", "webgpu" or "cpu" */
    tsr_precision precision;
    bool timed;            /* measure each layer */
    char layer[NAME_SIZE]; /* the tensor to show as a mosaic; "" for none */
} settings;

/* What the model must be, and what the canvas is: one picture of 3 channels. */
typedef struct input_info {
    char name[NAME_SIZE];
    int width, height;
} input_info;

typedef struct layer_info {
    char output[NAME_SIZE]; /* the tensor that it writes */
    char op[48];
    tsr_shape shape;
    double ms; /* negative: not measured */
} layer_info;

typedef struct runner {
    tsr_device *device;
    tsr_session *session;
    tsr_tensor_info picture, layer; /* layer.name NULL: none is shown */
    int layer_count;
    layer_info *layers;
    char error[768];
} runner;

/* Reads what the model's input is, or says in error why the demo cannot draw for it. */
bool find_input(const tsr_model *model, const char *path, input_info *input, char *error,
                size_t error_size);

/* get_proc_address: of the window's context, for gles. On failure nothing is left but the error. */
bool runner_open(runner *r, const tsr_model *model, const input_info *input, const settings *wanted,
                 void *(*get_proc_address)(const char *name));
void runner_close(runner *r);
/* Takes Tessera's latest message as the error; returns false. */
bool runner_fail(runner *r);
/* What each layer of the latest run took. */
void runner_read_times(runner *r);

#endif
