/* Inputs from the caller's textures. */
#include "gles/runner.h"

#include "base/error.h"
#include "gles/state.h"

#include <string.h>

/* The session has checked that the value is an input. */
static int input_index(const tsr_graph *graph, int value) {
    int i = 0;
    while (graph->inputs[i] != value)
        i++;
    return i;
}

/* Compiles the program when the input comes from a texture for the first time; its parameters
 * depend on the texture and are set each time. */
static tsr_status prepare(tsr_runner *r, const tsr_pass *pass, tsr_gles_pass *p) {
    if (p->program) {
        tsr_params_free(&p->params);
        return tsr_params_make(r->base.plan, pass, &p->params);
    }
    TSR_TRY(tsr_gles_start_program(r, pass, p));
    tsr_status status = tsr_program_finish(p->program, pass->kernel->stem, false);
    if (status != TSR_OK) {
        tsr_program_release(&r->device->programs, p->program);
        p->program = NULL;
    }
    return status;
}

/* With a separate sampler object: without mipmaps the texture may be incomplete. */
static tsr_status draw(tsr_runner *r, const tsr_pass *pass, tsr_gles_pass *p) {
    TSR_TRY(prepare(r, pass, p));
    GLuint sampler = 0;
    glGenSamplers(1, &sampler);
    glSamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glSamplerParameteri(sampler, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glBindSampler(TSR_TABLE_UNIT, sampler);
    tsr_gles_draw_pass(r, pass, p);
    glBindSampler(TSR_TABLE_UNIT, 0);
    glDeleteSamplers(1, &sampler);
    return tsr_gles_check_error(r->device, "copying an input from a texture");
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
    tsr_arg copy[sizeof args / sizeof(tsr_arg)];
    memcpy(copy, &args, sizeof args);
    tsr_pass pass = {.kind = TSR_PASS_DRAW,
                     .node = TSR_NONE,
                     .kernel = &tsr_kernel_texture,
                     .args = copy,
                     .output = r->base.plan->value_tensor[value],
                     .table = {.width = texture->texture_width, .height = texture->texture_height}};
    if (pass.output == TSR_NONE)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "a tensor of no elements or of more than 4 axes comes from "
                        "no texture");
    TSR_TRY(check_texture(tsr_plan_layout(r->base.plan, pass.output), texture));
    tsr_gles_pass *p = &r->inputs[input_index(r->base.graph, value)];
    TSR_TRY(tsr_gles_begin(r->device));
    p->table = texture->id;
    tsr_status status = glIsTexture(texture->id)
                            ? draw(r, &pass, p)
                            : tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "the context has no texture %u",
                                       (unsigned)texture->id);
    tsr_gles_end(r->device);
    return status;
}
