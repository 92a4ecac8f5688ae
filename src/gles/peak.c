/* The device's own multiply-add rate in fragments: what shares of peak are shares of. */
#include "gles/device.h"
#include "gles/tensor.h"

#include "base/clock.h"
#include "base/error.h"
#include "glsl_kernels.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 512, FRAGMENT_FLOPS = 64 * 8 * 3 * 4 * 2, SAMPLES = 7 };

static double timed_draws(int count) {
    double start = tsr_clock_ms();
    for (int i = 0; i < count; i++)
        glDrawArrays(GL_TRIANGLES, 0, 3);
    glFinish();
    return tsr_clock_ms() - start;
}

/* GFLOP/s: the best of several samples of at least 30 ms, after one that compiles and warms up. */
static double measure(void) {
    timed_draws(1);
    double once = timed_draws(1), best = 0;
    int count = once > 30 ? 1 : (int)(30 / (once + 0.1)) + 1;
    for (int i = 0; i < SAMPLES; i++) {
        double rate = (double)count * SIDE * SIDE * FRAGMENT_FLOPS / timed_draws(count) * 1e-6;
        best = rate > best ? rate : best;
    }
    return best;
}

static tsr_status draw_peak(tsr_backend_device *device, double *gflops) {
    const tsr_storage storage = {.texture_w = SIDE, .texture_h = SIDE, .planes = 1};
    tsr_target target = {0};
    tsr_program *program = NULL;
    char *text = malloc(strlen(tsr_glsl_peak) + 1);
    if (!text)
        return tsr_fail(TSR_OUT_OF_MEMORY, "no memory to measure the peak");
    strcpy(text, tsr_glsl_peak);
    TSR_TRY(tsr_program_acquire(&device->programs, text, &program));
    tsr_status status = tsr_program_finish(program, "peak");
    if (status == TSR_OK)
        status = tsr_target_create(&storage, &target);
    if (status == TSR_OK) {
        glUseProgram(program->id);
        glUniform2f(glGetUniformLocation(program->id, "line"), 0.5f, 1);
        glViewport(0, 0, SIDE, SIDE);
        *gflops = measure();
        status = tsr_gles_check_error(device, "measuring the peak");
    }
    tsr_target_destroy(&target);
    tsr_program_release(&device->programs, program);
    return status;
}

tsr_status tsr_gles_measure_peak(tsr_backend_device *device, double *gflops) {
    TSR_TRY(tsr_gles_enter(device));
    tsr_status status = draw_peak(device, gflops);
    tsr_gles_leave(device);
    return status;
}
