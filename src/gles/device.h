/* A device of OpenGL ES 3.0. */
#ifndef TSR_GLES_DEVICE_H
#define TSR_GLES_DEVICE_H

#include "backend/backend.h"
#include "gles/bindings.h"
#include "gles/context.h"
#include "gles/gl.h"
#include "gles/program.h"
#include "gles/state.h"
#include "gpu/weights.h"
#include "plan/layout.h"

struct tsr_backend_device {
    GladGLES2Context gl; /* this context's entry points */
    tsr_context *context;
    bool caller_restores_state; /* of an adopted one; else it is saved and restored around calls */
    GLuint vertex_array;
    tsr_layout_limits limits;
    int max_loop_iterations; /* of a fragment's loops; 0: no limit */
    int block_texels;        /* see tsr_plan_options */
    bool clears_tiles;       /* passes clear what they overwrite: src/gles/family.h */
    bool knows_rounding;     /* profile.truncates_halves is measured */
    bool sample;             /* how texels are read: glsl/prelude.glsl */
    bool is_llvmpipe;        /* Mesa's software rasteriser: src/gles/variant.h */
    tsr_device_profile profile;
    tsr_device_info info;
    tsr_programs programs;
    tsr_weight_store weights;
    bool lost;
    unsigned errors;    /* GL errors that were found, of any session */
    tsr_gl_state saved; /* between begin and end, as these: */
    tsr_bindings bindings;
};

/* Scope of GL calls: makes the device's context current, or saves the caller's state, if the
 * caller's context is current.
 * TSR_ERROR_DEVICE_LOST once the driver has reset the context, and at every later call: after that
 * a device makes no GL calls, not even to delete objects (the names may be another context's by
 * then). */
tsr_status tsr_gles_begin(tsr_backend_device *device);
/* Returns status; TSR_ERROR_DEVICE_LOST for a failure of any other kind in a context that is lost.
 */
tsr_status tsr_gles_end(tsr_backend_device *device, tsr_status status);

/* Was the context lost? Between begin and end. */
tsr_status tsr_gles_check_lost(tsr_backend_device *device);
/* Turns a pending GL error into a status; what: the step, for the message. Where glGetError() would
 * wait, tsr_gles_check_done() is left to find it. */
tsr_status tsr_gles_check_error(tsr_backend_device *device, const char *what);
/* The same once all commands are done. */
tsr_status tsr_gles_check_done(tsr_backend_device *device, const char *what);

/* What glGetString gives, "" for nothing. */
const char *tsr_gles_string(GLenum name);
/* Reads the context's limits; fails if it lacks what every session needs. */
tsr_status tsr_gles_find_limits(tsr_backend_device *device, const tsr_device_desc *desc);

/* Sets profile.truncates_halves, by a draw of one texel when it is called first. */
tsr_status tsr_gles_find_rounding(tsr_backend_device *device);

tsr_status tsr_gles_device_create(const tsr_device_desc *desc, tsr_backend_device **device);
void tsr_gles_device_destroy(tsr_backend_device *device);
bool tsr_gles_is_lost(tsr_backend_device *device);
void tsr_gles_device_info(const tsr_backend_device *device, tsr_device_info *info);
tsr_status tsr_gles_measure(tsr_backend_device *device, tsr_device_peaks *peaks);
void tsr_gles_list_devices(tsr_device_fn fn, void *user);

#endif
