/* Inputs from the caller's textures. */
#include "gles/runner.h"

#include "base/error.h"
#include "gles/state.h"

#include <string.h>

/* With a separate sampler object: without mipmaps the texture may be incomplete. */
static tsr_status draw(tsr_runner *r, tsr_gles_transfer *t, tsr_transfer *wanted) {
    TSR_TRY(tsr_gles_transfer_prepare(r, t, wanted));
    GLuint sampler = 0;
    glGenSamplers(1, &sampler);
    glSamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glSamplerParameteri(sampler, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glBindSampler(TSR_TABLE_UNIT, sampler);
    tsr_status status = tsr_gles_transfer_draw(r, t);
    glBindSampler(TSR_TABLE_UNIT, 0);
    glDeleteSamplers(1, &sampler);
    return status == TSR_OK ? tsr_gles_check_error(r->device, "copying an input from a texture")
                            : status;
}

/* The texture has a texel for every one of the tensor's. */
static tsr_status check_texture(const tsr_layout *l, const tsr_texture *t) {
    int64_t tiles = (int64_t)l->n * l->tiles, columns = t->columns > 0 ? t->columns : 1;
    int64_t rows = (tiles + columns - 1) / columns;
    if (t->width == l->w && t->height == l->h && t->tiles == l->tiles && t->columns > 0 &&
        t->texture_width >= (columns < tiles ? columns : tiles) * l->w &&
        t->texture_height >= rows * l->h)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_SHAPE,
                    "a texture of %d x %d texels, its tiles %d x %d, %d per image and %d side by "
                    "side, does not hold %d images of %d channels of %d x %d",
                    t->texture_width, t->texture_height, t->width, t->height, t->tiles, t->columns,
                    l->n, l->c, l->w, l->h);
}

tsr_status tsr_gles_set_input_texture(tsr_runner *r, int value, const tsr_texture *texture,
                                      float factor, float summand) {
    const struct tsr_args_texture args = {.columns = TSR_INT(texture->columns),
                                          .factor = TSR_FLOAT(factor),
                                          .summand = TSR_FLOAT(summand)};
    tsr_transfer wanted = {
        .pass = {.kind = TSR_PASS_DRAW,
                 .node = TSR_NONE,
                 .kernel = &tsr_kernel_texture,
                 .output = r->base.plan->value_tensor[value],
                 .table = {.width = texture->texture_width, .height = texture->texture_height}}};
    memcpy(wanted.args, &args, sizeof args);
    if (wanted.pass.output == TSR_NONE)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "a tensor of no elements or of more than 4 axes comes from "
                        "no texture");
    TSR_TRY(check_texture(tsr_plan_layout(r->base.plan, wanted.pass.output), texture));
    tsr_gles_transfer *t = &r->inputs[tsr_gpu_find_input(&r->base, value)];
    TSR_TRY(tsr_gles_begin(r->device));
    t->built.table = texture->id;
    tsr_status status = glIsTexture(texture->id)
                            ? draw(r, t, &wanted)
                            : tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "the context has no texture %u",
                                       (unsigned)texture->id);
    return tsr_gles_end(r->device, status);
}
