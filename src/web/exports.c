/* What the page's JavaScript (tessera.mjs) calls: flat functions over tessera.h, for a device, a
 * model and a session at a time. Pointers and sizes are numbers there; strings end with a NUL and
 * belong to the object that gave them. A function that fails returns NULL or a status that is not
 * 0, and tsr_web_error() says why. */
#include "tessera.h"

#include <limits.h>

#define EXPORT(name) __attribute__((export_name(#name))) name
#define IMPORT(name) __attribute__((import_module("tessera"), import_name(#name)))

/* Receives a line of the log. */
IMPORT(log) void tsr_web_on_log(int level, const char *message);

static void on_log(void *user, tsr_log_level level, const char *message) {
    (void)user;
    tsr_web_on_log((int)level, message);
}

/* Sends the log to the page, or (0) stops that. */
void EXPORT(tsr_web_log)(int on) {
    tsr_set_log(on ? on_log : NULL, NULL);
}

/* The message of the latest call that failed; "" if none did. */
const char *EXPORT(tsr_web_error)(void) {
    return tsr_last_error();
}

/* The library's version. */
const char *EXPORT(tsr_web_version)(void) {
    return tsr_version();
}

/* ---- devices --------------------------------------------------------------------------------- */

/* A device of a backend: "cpu" or "gles". */
tsr_device *EXPORT(tsr_web_device)(const char *backend) {
    tsr_device *device = NULL;
    tsr_device_create(&(tsr_device_desc){.backend = backend}, &device);
    return device;
}

/* Destroys a device; its session may still exist. */
void EXPORT(tsr_web_device_free)(tsr_device *device) {
    tsr_device_destroy(device);
}

/* ---- models ---------------------------------------------------------------------------------- */

/* A model from the bytes of an ONNX file, which may be freed afterwards; its name is for messages.
 */
tsr_model *EXPORT(tsr_web_model)(const void *bytes, size_t size, const char *name) {
    tsr_model *model = NULL;
    tsr_model_load_memory(bytes, size, &(tsr_model_desc){.name = name}, &model);
    return model;
}

/* Frees a model; its session may still exist. */
void EXPORT(tsr_web_model_free)(tsr_model *model) {
    tsr_model_free(model);
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* A session; `count` symbolic dimensions of the model get sizes. */
tsr_session *EXPORT(tsr_web_session)(tsr_device *device, const tsr_model *model,
                                     const tsr_dim_binding *dims, int count) {
    tsr_session *session = NULL;
    tsr_session_create(device, model, &(tsr_session_desc){.dims = dims, .dim_count = count},
                       &session);
    return session;
}

/* Destroys a session. */
void EXPORT(tsr_web_session_free)(tsr_session *session) {
    tsr_session_destroy(session);
}

/* Number of inputs. */
int EXPORT(tsr_web_input_count)(const tsr_session *session) {
    return tsr_session_input_count(session);
}

/* Number of outputs. */
int EXPORT(tsr_web_output_count)(const tsr_session *session) {
    return tsr_session_output_count(session);
}

static tsr_tensor_info info_of(const tsr_session *session, int output, int i) {
    tsr_tensor_info info = {.name = NULL};
    if (output)
        tsr_session_output(session, i, &info);
    else
        tsr_session_input(session, i, &info);
    return info;
}

/* Name of input i or, if `output` is not 0, of output i; NULL past the last, as in what follows. */
const char *EXPORT(tsr_web_name)(const tsr_session *session, int output, int i) {
    return info_of(session, output, i).name;
}

/* Type of its elements: "float32". */
const char *EXPORT(tsr_web_dtype)(const tsr_session *session, int output, int i) {
    const tsr_tensor_info info = info_of(session, output, i);
    return info.name ? tsr_dtype_name(info.dtype) : NULL;
}

/* Number of its dimensions. */
int EXPORT(tsr_web_rank)(const tsr_session *session, int output, int i) {
    return info_of(session, output, i).shape.rank;
}

/* Dimension `axis` of it; a session's tensor has less than 2^31 elements. */
int EXPORT(tsr_web_dim)(const tsr_session *session, int output, int i, int axis) {
    const tsr_shape shape = info_of(session, output, i).shape;
    return axis >= 0 && axis < shape.rank && shape.dim[axis] <= INT_MAX ? (int)shape.dim[axis] : -1;
}

/* Sets an input: `count` floats, copied; integers as floats, too. */
tsr_status EXPORT(tsr_web_set_input)(tsr_session *session, const char *name, const float *data,
                                     size_t count) {
    return tsr_session_set_input(session, name, data, count);
}

/* Runs once, and waits until it is complete. */
tsr_status EXPORT(tsr_web_run)(tsr_session *session) {
    return tsr_session_run(session);
}

/* Copies an output of the latest run: `count` floats. */
tsr_status EXPORT(tsr_web_get_output)(tsr_session *session, const char *name, float *data,
                                      size_t count) {
    return tsr_session_get_output(session, name, data, count);
}
