/* How the device stores floats in 16 bits: OpenGL ES leaves the rounding open. Some drivers
 * truncate, llvmpipe among them. Errors of one sign add up from layer to layer, so passes round to
 * nearest themselves there. */
#include "gles/device.h"
#include "gles/tensor.h"
#include "gles/wait.h"

#include "base/allocator.h"
#include "base/error.h"

#include <string.h>

/* 1 + 3/4 of the distance to the next 16-bit float: of the fragment's position, so that no compiler
 * rounds it. */
static const char text[] = "#version 300 es\n"
                           "layout(location = 0) out highp vec4 color;\n"
                           "void main() {\n"
                           "    highp float x = 1.0 + (gl_FragCoord.x + 1.0) / 2048.0;\n"
                           "    color = vec4(x, x, x, x);\n"
                           "}\n";

static const tsr_storage storage = {
    .texture_w = 1, .texture_h = 1, .planes = 1, .format = TSR_TEXEL_F16};
static const tsr_layout layout = {.planes = 1, .texture_w = 1, .texture_h = 1};

static tsr_status is_truncated(void *user, const void *texel) {
    float value;
    memcpy(&value, texel, sizeof value);
    *(bool *)user = value == 1;
    return TSR_OK;
}

static tsr_status draw_and_read(tsr_backend_device *d, const tsr_program *program) {
    tsr_target target = {0};
    tsr_status status = tsr_target_create(&storage, &target);
    if (status == TSR_OK) {
        glUseProgram(program->id);
        glViewport(0, 0, 1, 1);
        glDrawArrays(GL_TRIANGLES, 0, 3);
        GLuint buffer = tsr_buffer_create(&layout);
        tsr_target_read(&d->bindings, &target, &layout, buffer, 0);
        status = tsr_gles_read_buffer(buffer, 4 * sizeof(float), is_truncated,
                                      &d->profile.truncates_halves);
        glDeleteBuffers(1, &buffer);
    }
    tsr_target_destroy(&target);
    return status;
}

/* The program stays until the device is gone: drivers' logs name programs by their numbers. */
static tsr_status measure(tsr_backend_device *d) {
    char *copy = tsr_malloc(sizeof text);
    if (!copy)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to measure how the device rounds");
    memcpy(copy, text, sizeof text);
    tsr_program *program = NULL;
    TSR_TRY(tsr_program_acquire_text(&d->programs, copy, &program));
    tsr_status status = tsr_program_finish(program, "rounding", false);
    if (status == TSR_OK)
        status = draw_and_read(d, program);
    if (status == TSR_OK)
        status = tsr_gles_check_error(d, "measuring how the device rounds");
    d->knows_rounding = status == TSR_OK;
    return status;
}

tsr_status tsr_gles_find_rounding(tsr_backend_device *d) {
    if (d->knows_rounding)
        return TSR_OK;
    TSR_TRY(tsr_gles_begin(d));
    tsr_status status = measure(d);
    return tsr_gles_end(d, status);
}
