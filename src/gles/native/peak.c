/* Measures the device's peak rates of fragment passes and transfers, for reports of shares of peak.
 */
#include "gles/device.h"
#include "gles/tensor.h"
#include "gles/wait.h"

#include "base/allocator.h"
#include "base/clock.h"
#include "base/error.h"
#include "kernel/kernel.h"

#include <string.h>

/* SIDE: of what is copied and transferred, 16 MiB; DRAW_SIDE: of draws that compute and fetch. */
enum { SIDE = 1024, DRAW_SIDE = 512, SAMPLES = 9, SAMPLE_MS = 20, MOST_MS = 400 };
enum { FRAGMENT_FLOPS = 64 * 8 * 3 * 4 * 2, FRAGMENT_FETCHES = 8 * 8 };

typedef struct bench {
    tsr_backend_device *device;
    tsr_layout layout; /* one tile in one plane */
    tsr_target from, to;
    GLuint buffer; /* of readbacks */
    float *texels; /* uploaded from here, read back to here */
} bench;

/* ---- what is timed --------------------------------------------------------------------------- */

/* Flushed, since llvmpipe drops draws that a later one covers before they have begun. */
static void draw(bench *b) {
    (void)b;
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glFlush();
}

static void upload(bench *b) {
    tsr_target_upload(&b->from, &b->layout, b->texels);
}

static tsr_status keep(void *user, const void *data) {
    bench *b = user;
    memcpy(b->texels, data, tsr_layout_floats(&b->layout) * sizeof(float));
    return TSR_OK;
}

static void read_back(bench *b) {
    tsr_target_read(&b->device->bindings, &b->from, &b->layout, b->buffer, 0);
    /* A failure is a pending GL error, too, which tsr_gles_check_error finds. */
    tsr_gles_read_buffer(b->buffer, tsr_layout_floats(&b->layout) * sizeof(float), keep, b);
}

typedef void work_fn(bench *b);

static double timed(bench *b, work_fn *work, int count) {
    double start = tsr_clock_ms();
    for (int i = 0; i < count; i++)
        work(b);
    tsr_gles_wait_all();
    return tsr_clock_ms() - start;
}

/* Giga-operations per second of work that does `amount` operations: the best of several samples
 * after a warm-up; fewer samples on a slow device. */
static double best_rate(bench *b, work_fn *work, double amount) {
    timed(b, work, 1);
    double once = timed(b, work, 1), best = 0, sum = 0;
    int count = once > SAMPLE_MS ? 1 : (int)(SAMPLE_MS / (once + 0.1)) + 1;
    for (int i = 0; i < SAMPLES && sum < MOST_MS; i++) {
        double ms = timed(b, work, count), rate = count * amount / ms * 1e-6;
        best = rate > best ? rate : best;
        sum += ms;
    }
    return best;
}

/* ---- programs -------------------------------------------------------------------------------- */

static void set_uniforms(const bench *b, GLuint program) {
    glUseProgram(program);
    glUniform2f(glGetUniformLocation(program, "line"), 0.5f, 1);
    glUniform2f(glGetUniformLocation(program, "texel_size"), 1.0f / SIDE,
                1.0f / (SIDE + TSR_ZERO_ROWS));
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D_ARRAY, b->from.texture);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, b->to.framebuffer);
}

/* Giga-operations per second of a whole program with `amount` operations per fragment. */
static tsr_status measure_draws(bench *b, const char *text, int side, double amount, double *rate) {
    tsr_program *program = NULL;
    char *copy = tsr_malloc(strlen(text) + 1);
    if (!copy)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to measure the device");
    strcpy(copy, text);
    TSR_TRY(tsr_program_acquire_text(&b->device->programs, copy, &program));
    tsr_status status = tsr_program_finish(program, "peak", false);
    if (status == TSR_OK) {
        set_uniforms(b, program->id);
        glViewport(0, 0, side, side);
        *rate = best_rate(b, draw, (double)side * side * amount);
    }
    tsr_program_release(&b->device->programs, program);
    return status;
}

/* ---- measuring ------------------------------------------------------------------------------ */

static tsr_status create(bench *b) {
    const tsr_shape shape = {4, {1, 4, SIDE, SIDE}};
    const tsr_layout_limits limits = {.max_texture_size = SIDE + TSR_ZERO_ROWS, .max_planes = 1};
    TSR_TRY(tsr_layout_make(&shape, &limits, (tsr_layout_hint){0}, &b->layout));
    const tsr_storage storage = {.texture_w = SIDE,
                                 .texture_h = SIDE,
                                 .planes = 1,
                                 .format =
                                     b->device->limits.half_only ? TSR_TEXEL_F16 : TSR_TEXEL_F32};
    size_t floats = tsr_layout_floats(&b->layout);
    b->texels = tsr_malloc(floats * sizeof *b->texels);
    if (!b->texels)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to measure the device");
    for (size_t i = 0; i < floats; i++)
        b->texels[i] = (float)(i % 251);
    TSR_TRY(tsr_target_create(&storage, &b->from));
    TSR_TRY(tsr_target_create(&storage, &b->to));
    b->buffer = tsr_buffer_create(&b->layout);
    return tsr_gles_check_error(b->device, "measuring the device");
}

static tsr_status measure(bench *b, tsr_device_peaks *peaks) {
    TSR_TRY(create(b));
    double bytes = (double)tsr_layout_floats(&b->layout) * sizeof(float);
    peaks->upload_gbs = best_rate(b, upload, bytes);
    peaks->readback_gbs = best_rate(b, read_back, bytes);
    TSR_TRY(measure_draws(b, tsr_glsl_file("peak"), DRAW_SIDE, FRAGMENT_FLOPS, &peaks->gflops));
    TSR_TRY(measure_draws(b, tsr_glsl_file("peak_fetch"), DRAW_SIDE, FRAGMENT_FETCHES,
                          &peaks->gfetches));
    size_t texel = b->device->limits.half_only ? 8 : 16;
    TSR_TRY(
        measure_draws(b, tsr_glsl_file("peak_copy"), SIDE, 2 * (double)texel, &peaks->copy_gbs));
    return tsr_gles_check_error(b->device, "measuring the device");
}

tsr_status tsr_gles_measure(tsr_backend_device *device, tsr_device_peaks *peaks) {
    bench b = {.device = device};
    if (device->limits.bits_only)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "%s renders to no floats, which is what is measured",
                        device->info.name);
    TSR_TRY(tsr_gles_begin(device));
    tsr_status status = measure(&b, peaks);
    tsr_target_destroy(&b.from);
    tsr_target_destroy(&b.to);
    glDeleteBuffers(1, &b.buffer);
    tsr_free(b.texels);
    return tsr_gles_end(device, status);
}
