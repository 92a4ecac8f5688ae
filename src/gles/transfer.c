/* Inputs and outputs in a caller's memory, through a staging texture and a pass. */
#include "gles/transfer.h"

#include "base/error.h"
#include "gles/runner.h"

#include <string.h>

/* ---- programs -------------------------------------------------------------------------------- */

tsr_status tsr_gles_transfer_prepare(tsr_runner *r, tsr_gles_transfer *t,
                                     const tsr_transfer *wanted) {
    bool same = t->built.program && tsr_transfer_same_program(&t->what, wanted);
    if (!same && t->built.program) {
        tsr_program_release(&r->device->programs, t->built.program);
        t->built.program = NULL;
    }
    t->what = *wanted;
    t->what.pass.args = t->what.args;
    if (same) {
        tsr_params_free(&t->built.params);
        return tsr_params_make(r->base.plan, &t->what.pass, &t->built.params);
    }
    TSR_TRY(tsr_gles_start_program(r, &t->what.pass, &t->built));
    tsr_status status = tsr_program_finish(t->built.program, t->what.pass.kernel->stem);
    if (status != TSR_OK) {
        tsr_program_release(&r->device->programs, t->built.program);
        t->built.program = NULL;
    }
    return status;
}

/* ---- staging textures ------------------------------------------------------------------------ */

static GLenum format_of(tsr_staging_type type) {
    return type == TSR_STAGING_FLOATS   ? GL_RGBA32F
           : type == TSR_STAGING_HALVES ? GL_RGBA16F
                                        : GL_RGBA8;
}

static GLenum type_of(tsr_staging_type type) {
    return type == TSR_STAGING_FLOATS   ? GL_FLOAT
           : type == TSR_STAGING_HALVES ? GL_HALF_FLOAT
                                        : GL_UNSIGNED_BYTE;
}

static size_t texel_bytes(tsr_staging_type type) {
    return type == TSR_STAGING_FLOATS ? 16 : type == TSR_STAGING_HALVES ? 8 : 4;
}

static bool fits(const tsr_gles_transfer *t, const tsr_transfer *wanted) {
    return t->target.texture && t->type == wanted->type && t->width == wanted->staging.texture_w &&
           t->height == wanted->staging.texture_h && t->planes == wanted->staging.planes;
}

static size_t plane_bytes(const tsr_gles_transfer *t) {
    return (size_t)t->width * (size_t)t->height * texel_bytes(t->type);
}

static size_t staging_bytes(const tsr_gles_transfer *t) {
    return plane_bytes(t) * (size_t)t->planes;
}

/* Of several planes for outputs only; those of one get a framebuffer when they are first needed. */
static tsr_status make_texture(tsr_gles_transfer *t) {
    const tsr_storage storage = {
        .texture_w = t->width, .texture_h = t->height, .planes = t->planes};
    if (t->planes > 1)
        return tsr_target_create(&storage, &t->target);
    t->target.texture = tsr_texture_plain(format_of(t->type), t->width, t->height);
    return TSR_OK;
}

/* A new texture where the one that there is has another size or type. */
static tsr_status make_staging(tsr_runner *r, tsr_gles_transfer *t, const tsr_transfer *wanted) {
    if (fits(t, wanted))
        return TSR_OK;
    r->base.allocated_bytes -= staging_bytes(t);
    tsr_target_destroy(&t->target);
    t->type = wanted->type;
    t->width = wanted->staging.texture_w;
    t->height = wanted->staging.texture_h;
    t->planes = wanted->staging.planes;
    TSR_TRY(make_texture(t));
    r->base.allocated_bytes += staging_bytes(t);
    return tsr_gles_check_error(r->device, "making a staging texture");
}

/* A rectangle of one or more whole rows, or of a part of one. */
static void upload_part(const tsr_gles_transfer *t, size_t texel, size_t width, size_t height,
                        const void *bytes) {
    glTexSubImage2D(GL_TEXTURE_2D, 0, (GLint)(texel % (size_t)t->width),
                    (GLint)(texel / (size_t)t->width), (GLsizei)width, (GLsizei)height, GL_RGBA,
                    type_of(t->type), bytes);
}

/* Whole rows, the rest of the last one, and an incomplete texel: nothing beyond the caller's bytes
 * is read. */
static void upload(const tsr_gles_transfer *t, const void *data, size_t size) {
    const char *bytes = data;
    size_t unit = texel_bytes(t->type), texels = size / unit, width = (size_t)t->width;
    size_t rows = texels / width, rest = texels % width;
    char last[16] = {0};
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, t->target.texture);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1); /* of addresses: rows have no gaps */
    if (rows)
        upload_part(t, 0, width, rows, bytes);
    if (rest)
        upload_part(t, rows * width, rest, 1, bytes + rows * width * unit);
    if (size % unit) {
        memcpy(last, bytes + texels * unit, size % unit);
        upload_part(t, texels, 1, 1, last);
    }
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
}

/* ---- transfers ------------------------------------------------------------------------------- */

tsr_status tsr_gles_transfer_in(tsr_runner *r, int value, const tsr_elements *from) {
    tsr_transfer wanted;
    tsr_gles_transfer *t = &r->inputs[tsr_gpu_find_input(&r->base, value)];
    TSR_TRY(tsr_transfer_in(r->base.plan, value, from, &wanted));
    TSR_TRY(make_staging(r, t, &wanted));
    TSR_TRY(tsr_gles_transfer_prepare(r, t, &wanted));
    const void *data = from->is_pixels ? from->pixels.data : from->array.data;
    if (!data) /* only prepared, when the session is made */
        return TSR_OK;
    upload(t, data, tsr_transfer_bytes(from));
    t->built.table = t->target.texture;
    tsr_gles_draw_pass(r, &t->what.pass, &t->built);
    return tsr_gles_check_error(r->device, "setting an input");
}

tsr_status tsr_gles_transfer_prepare_out(tsr_runner *r, int output, const tsr_elements *to) {
    tsr_transfer wanted;
    tsr_gles_transfer *t = &r->outputs[output];
    TSR_TRY(tsr_transfer_out(r->base.plan, r->base.outputs[output].value, to, &wanted));
    TSR_TRY(make_staging(r, t, &wanted));
    if (!t->target.framebuffer)
        TSR_TRY(tsr_framebuffer_plain(&t->target));
    r->base.plan->tensors[TSR_STAGING_TENSOR].layout = wanted.staging;
    return tsr_gles_transfer_prepare(r, t, &wanted);
}

void tsr_gles_transfer_out(tsr_runner *r, int output, tsr_gles_readback *to) {
    tsr_gles_transfer *t = &r->outputs[output];
    r->base.plan->tensors[TSR_STAGING_TENSOR].layout = t->what.staging;
    r->staging = &t->target;
    tsr_gles_draw_pass(r, &t->what.pass, &t->built);
    if (!to->buffer)
        glGenBuffers(1, &to->buffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, to->buffer);
    if (to->bytes != staging_bytes(t)) {
        r->base.allocated_bytes += staging_bytes(t) - to->bytes;
        to->bytes = staging_bytes(t);
        glBufferData(GL_PIXEL_PACK_BUFFER, (GLsizeiptr)to->bytes, NULL, GL_STREAM_READ);
    }
    glBindFramebuffer(GL_READ_FRAMEBUFFER, t->target.framebuffer);
    for (int i = 0; i < t->planes; i++) {
        glReadBuffer(GL_COLOR_ATTACHMENT0 + (GLenum)i);
        glReadPixels(0, 0, t->width, t->height, GL_RGBA, type_of(t->type),
                     (void *)((size_t)i * plane_bytes(t)));
    }
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    to->what = t->what;
    to->filled = true;
}

tsr_status tsr_gles_readback_copy(const tsr_runner *r, int value, const tsr_gles_readback *from,
                                  const tsr_elements *to) {
    glBindBuffer(GL_PIXEL_PACK_BUFFER, from->buffer);
    const void *dense =
        glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, (GLsizeiptr)from->bytes, GL_MAP_READ_BIT);
    tsr_status status = TSR_OK;
    if (!dense)
        status = tsr_fail(TSR_ERROR_DEVICE, "the driver cannot map a pixel-pack buffer");
    else
        status = tsr_transfer_read(&from->what, &r->base.graph->values[value], dense, to);
    if (dense)
        glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    return status;
}

void tsr_gles_transfer_destroy(tsr_runner *r, tsr_gles_transfer *t) {
    if (t->built.program)
        tsr_program_release(&r->device->programs, t->built.program);
    tsr_target_destroy(&t->target);
}
