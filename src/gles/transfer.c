/* Inputs and outputs in a caller's memory, through a staging texture and a pass. */
#include "gles/transfer.h"

#include "base/error.h"
#include "gles/runner.h"
#include "gles/wait.h"

#include <string.h>

/* ---- programs -------------------------------------------------------------------------------- */

/* The program of this form: one of the latest, or a new one in place of the oldest. */
static tsr_status find_program(tsr_runner *r, tsr_gles_transfer *t, const tsr_transfer *wanted,
                               tsr_program **program) {
    tsr_gles_pass made = {0};
    for (int i = 0; i < TSR_TRANSFER_FORMS; i++)
        if (t->forms[i].program && tsr_transfer_same_program(&t->forms[i].what, wanted)) {
            *program = t->forms[i].program;
            return TSR_OK;
        }
    tsr_gles_form *form = &t->forms[t->next_form];
    tsr_status status = tsr_gles_start_program(r, &wanted->pass, &made);
    tsr_params_free(&made.params);
    TSR_TRY(status);
    if (form->program)
        tsr_program_release(&r->device->programs, form->program);
    form->what = *wanted;
    form->program = *program = made.program;
    t->next_form = (t->next_form + 1) % TSR_TRANSFER_FORMS;
    return TSR_OK;
}

tsr_status tsr_gles_transfer_prepare(tsr_runner *r, tsr_gles_transfer *t, tsr_transfer *wanted) {
    wanted->pass.args = wanted->args;
    t->ready = false;
    TSR_TRY(find_program(r, t, wanted, &t->built.program));
    t->what = *wanted;
    t->what.pass.args = t->what.args;
    tsr_params_free(&t->built.params);
    TSR_TRY(tsr_params_make(r->base.plan, &t->what.pass, &t->built.params));
    t->ready = true;
    return TSR_OK;
}

tsr_status tsr_gles_transfer_draw(tsr_runner *r, tsr_gles_transfer *t) {
    TSR_TRY(tsr_program_finish(t->built.program, t->what.pass.kernel->stem, false));
    tsr_bindings_forget(&r->device->bindings);
    tsr_gles_log_pass(r, &t->what.pass, t->built.program);
    tsr_gles_draw_pass(r, &t->what.pass, &t->built);
    return TSR_OK;
}

/* ---- staging textures ------------------------------------------------------------------------ */

static GLenum format_of(const tsr_gles_transfer *t) {
    if (t->type == TSR_STAGING_BYTES)
        return GL_RGBA8;
    return tsr_texel_internal_format(t->format);
}

static GLenum type_of(tsr_staging_type type) {
    return type == TSR_STAGING_FLOATS   ? GL_FLOAT
           : type == TSR_STAGING_HALVES ? GL_HALF_FLOAT
                                        : GL_UNSIGNED_BYTE;
}

static GLenum read_type(const tsr_gles_transfer *t) {
    return t->format == TSR_TEXEL_BITS ? GL_UNSIGNED_INT : type_of(t->type);
}

static size_t texel_bytes(tsr_staging_type type) {
    return type == TSR_STAGING_FLOATS ? 16 : type == TSR_STAGING_HALVES ? 8 : 4;
}

static bool fits(const tsr_gles_transfer *t, const tsr_transfer *wanted) {
    return t->target.texture && t->type == wanted->type && t->format == wanted->staging.format &&
           t->width == wanted->staging.texture_w && t->height == wanted->staging.texture_h &&
           t->planes == wanted->staging.planes;
}

static size_t texels(const tsr_gles_transfer *t) {
    return (size_t)t->width * (size_t)t->height;
}

/* In memory. */
static size_t plane_bytes(const tsr_gles_transfer *t) {
    return texels(t) * texel_bytes(t->type);
}

static size_t readback_bytes(const tsr_gles_transfer *t) {
    return plane_bytes(t) * (size_t)t->planes;
}

static size_t texture_bytes(const tsr_gles_transfer *t) {
    return texels(t) * texel_bytes(t->format == TSR_TEXEL_F16 ? TSR_STAGING_HALVES : t->type) *
           (size_t)t->planes;
}

/* Of several planes for outputs only; those of one get a framebuffer when they are first needed. */
static tsr_status make_texture(tsr_gles_transfer *t) {
    const tsr_storage storage = {
        .texture_w = t->width, .texture_h = t->height, .planes = t->planes, .format = t->format};
    if (t->planes > 1)
        return tsr_target_create(&storage, &t->target);
    t->target.texture = tsr_texture_plain(format_of(t), t->width, t->height);
    return TSR_OK;
}

static void drop_staging(tsr_runner *r, tsr_gles_transfer *t) {
    r->base.allocated_bytes -= texture_bytes(t);
    tsr_target_destroy(&t->target);
    t->width = t->height = t->planes = 0;
}

/* A new texture where the one that there is has another size or type. */
static tsr_status make_staging(tsr_runner *r, tsr_gles_transfer *t, const tsr_transfer *wanted) {
    if (fits(t, wanted))
        return TSR_OK;
    drop_staging(r, t);
    t->ready = false;
    t->type = wanted->type;
    t->format = wanted->staging.format;
    t->width = wanted->staging.texture_w;
    t->height = wanted->staging.texture_h;
    t->planes = wanted->staging.planes;
    r->base.allocated_bytes += texture_bytes(t);
    tsr_status status = make_texture(t);
    if (status == TSR_OK)
        status = tsr_gles_check_error(r->device, "making a staging texture");
    if (status != TSR_OK)
        drop_staging(r, t);
    return status;
}

/* Copies the caller's bytes to a pixel-unpack buffer that the device is not reading, which is left
 * bound. */
static tsr_status fill_upload(tsr_runner *r, tsr_gles_transfer *t, const void *data, size_t bytes,
                              size_t padded) {
    tsr_gles_upload *u = &t->uploads[t->next_upload];
    void *mapped;
    t->next_upload = 1 - t->next_upload;
    r->base.allocated_bytes -= u->bytes;
    tsr_status status = tsr_gles_upload_map(u, padded, false, &mapped);
    r->base.allocated_bytes += u->bytes;
    TSR_TRY(status);
    memcpy(mapped, data, bytes);
    return tsr_gles_upload_unmap(u);
}

/* A rectangle of texels, from the bound buffer. */
static void upload_part(const tsr_gles_transfer *t, size_t row, size_t width, size_t height) {
    size_t at = row * (size_t)t->width * texel_bytes(t->type);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, (GLint)row, (GLsizei)width, (GLsizei)height, GL_RGBA,
                    type_of(t->type), (void *)at);
}

/* Whole rows of texels, and the rest. */
static tsr_status upload(tsr_runner *r, tsr_gles_transfer *t, const void *data, size_t bytes) {
    size_t unit = texel_bytes(t->type), texels = (bytes + unit - 1) / unit;
    size_t rows = texels / (size_t)t->width, rest = texels % (size_t)t->width;
    tsr_status status = fill_upload(r, t, data, bytes, texels * unit);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, t->target.texture);
    if (status == TSR_OK && rows)
        upload_part(t, 0, (size_t)t->width, rows);
    if (status == TSR_OK && rest)
        upload_part(t, rows, rest, 1);
    tsr_gles_upload_unbind();
    return status;
}

/* ---- transfers ------------------------------------------------------------------------------- */

tsr_status tsr_gles_transfer_in(tsr_runner *r, int value, const tsr_elements *from) {
    tsr_transfer wanted;
    tsr_gles_transfer *t = &r->inputs[tsr_gpu_find_input(&r->base, value)];
    TSR_TRY(tsr_transfer_in(r->base.plan, value, from, &wanted));
    TSR_TRY(make_staging(r, t, &wanted));
    TSR_TRY(tsr_gles_transfer_prepare(r, t, &wanted));
    const void *data = from->is_pixels ? from->pixels.data : from->array.data;
    t->built.table = t->target.texture;
    if (!data) /* only prepared, when the session is made */
        return TSR_OK;
    TSR_TRY(upload(r, t, data, tsr_transfer_bytes(from)));
    TSR_TRY(tsr_gles_transfer_draw(r, t));
    return tsr_gles_check_error(r->device, "setting an input");
}

tsr_status tsr_gles_transfer_prepare_out(tsr_runner *r, int output, const tsr_elements *to) {
    tsr_transfer wanted;
    tsr_gles_transfer *t = &r->outputs[output];
    TSR_TRY(tsr_transfer_out(r->base.plan, r->base.outputs[output].value, to, &wanted));
    TSR_TRY(make_staging(r, t, &wanted));
    if (!t->target.framebuffer && tsr_framebuffer_plain(&t->target) != TSR_OK) {
        drop_staging(r, t);
        t->ready = false;
        return TSR_ERROR_DEVICE;
    }
    t->built.clears = r->device->clears_tiles; /* nothing else is in a staging texture */
    r->base.plan->tensors[TSR_STAGING_TENSOR].layout = wanted.staging;
    return tsr_gles_transfer_prepare(r, t, &wanted);
}

tsr_status tsr_gles_transfer_out(tsr_runner *r, int output, tsr_gles_readback *to) {
    tsr_gles_transfer *t = &r->outputs[output];
    r->base.plan->tensors[TSR_STAGING_TENSOR].layout = t->what.staging;
    r->staging = &t->target;
    TSR_TRY(tsr_gles_transfer_draw(r, t));
    if (!to->buffer)
        glGenBuffers(1, &to->buffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, to->buffer);
    if (to->bytes != readback_bytes(t)) {
        r->base.allocated_bytes += readback_bytes(t) - to->bytes;
        to->bytes = readback_bytes(t);
        glBufferData(GL_PIXEL_PACK_BUFFER, (GLsizeiptr)to->bytes, NULL, GL_STREAM_READ);
    }
    for (int i = 0; i < t->planes; i++) { /* of the framebuffer that was drawn to */
        glReadBuffer(GL_COLOR_ATTACHMENT0 + (GLenum)i);
        glReadPixels(0, 0, t->width, t->height,
                     t->format == TSR_TEXEL_BITS ? GL_RGBA_INTEGER : GL_RGBA, read_type(t),
                     (void *)((size_t)i * plane_bytes(t)));
    }
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    to->what = t->what;
    to->filled = true;
    return TSR_OK;
}

typedef struct copying {
    const tsr_transfer *from;
    const tsr_value *value;
    const tsr_elements *to;
} copying;

static tsr_status copy(void *user, const void *dense) {
    const copying *c = user;
    return tsr_transfer_read(c->from, c->value, dense, c->to);
}

tsr_status tsr_gles_readback_copy(const tsr_runner *r, int value, const tsr_gles_readback *from,
                                  const tsr_elements *to) {
    copying c = {&from->what, &r->base.graph->values[value], to};
    return tsr_gles_read_buffer(from->buffer, from->bytes, copy, &c);
}

void tsr_gles_transfer_destroy(tsr_runner *r, tsr_gles_transfer *t) {
    for (int i = 0; i < TSR_TRANSFER_FORMS; i++)
        if (t->forms[i].program)
            tsr_program_release(&r->device->programs, t->forms[i].program);
    tsr_target_destroy(&t->target);
    for (int i = 0; i < 2; i++)
        tsr_gles_upload_destroy(&t->uploads[i]);
}
