/* Outputs drawn into the caller's textures and framebuffers. */
#include "gles/runner.h"

#include "base/error.h"

/* A framebuffer for the caller's texture, to be deleted, or the caller's own. */
static tsr_status open_target(const tsr_draw_target *wanted, tsr_target *target) {
    *target = (tsr_target){.texture = wanted->texture,
                           .framebuffer = wanted->texture ? 0 : wanted->framebuffer};
    if (wanted->texture && !glIsTexture(wanted->texture))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "the context has no texture %u",
                        (unsigned)wanted->texture);
    if (wanted->texture)
        return tsr_framebuffer_plain(target);
    if (wanted->framebuffer && !glIsFramebuffer(wanted->framebuffer))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "the context has no framebuffer %u",
                        (unsigned)wanted->framebuffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, wanted->framebuffer);
    GLenum status = glCheckFramebufferStatus(GL_DRAW_FRAMEBUFFER);
    return status == GL_FRAMEBUFFER_COMPLETE
               ? TSR_OK
               : tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                          "framebuffer %u is not complete (status 0x%04x)",
                          (unsigned)wanted->framebuffer, (unsigned)status);
}

static tsr_status draw(tsr_runner *r, int output, tsr_transfer *wanted, const tsr_draw_target *to) {
    tsr_target target;
    tsr_gles_transfer *t = &r->drawn[output];
    tsr_status status = open_target(to, &target);
    r->base.plan->tensors[TSR_STAGING_TENSOR].layout = wanted->staging;
    if (status == TSR_OK)
        status = tsr_gles_transfer_prepare(r, t, wanted);
    if (status == TSR_OK) {
        r->staging = &target;
        status = tsr_gles_transfer_draw(r, t);
        glFlush(); /* another context that shares the texture may wait for it */
    }
    if (status == TSR_OK)
        status = tsr_gles_check_error(r->device, "drawing an output");
    r->staging = NULL;
    if (to->texture)
        glDeleteFramebuffers(1, &target.framebuffer);
    return status;
}

tsr_status tsr_gles_draw_output(tsr_runner *r, int value, const tsr_pixels *pixels,
                                const tsr_draw_target *to) {
    int output = tsr_gpu_find_output(&r->base, value);
    if (output == TSR_NONE || r->base.outputs[output].tensor == TSR_NONE)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "no pass writes it");
    if (r->run != r->latest)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "only the latest run's outputs can be drawn");
    tsr_transfer wanted;
    const tsr_drawing drawn = {.x = to->x, .y = to->y, .flip = to->flip};
    tsr_transfer_draw(r->base.plan, value, pixels, &drawn, &wanted);
    TSR_TRY(tsr_gles_begin(r->device));
    tsr_status status = draw(r, output, &wanted, to);
    return tsr_gles_end(r->device, status);
}
