#include "gles/bindings.h"

#include <string.h>

void tsr_bindings_forget(tsr_bindings *b) {
    *b = (tsr_bindings){.unit = TSR_NONE, .framebuffer = TSR_NONE};
}

void tsr_bind_program(tsr_bindings *b, tsr_program *p, const tsr_params *params) {
    if (b->program != p->id)
        glUseProgram(p->id);
    b->program = p->id;
    const size_t bytes = (size_t)params->int_count * sizeof *params->ints;
    if (memcmp(p->params_set, params->ints, bytes))
        glUniform4iv(p->params, params->int_count / 4, params->ints);
    memcpy(p->params_set, params->ints, bytes);
}

void tsr_bind_draw_args(tsr_program *p, const int args[TSR_MAX_DRAW_ARGS]) {
    if (memcmp(p->draw_set, args, sizeof p->draw_set))
        glUniform4iv(p->draw, 1, args);
    memcpy(p->draw_set, args, sizeof p->draw_set);
}

void tsr_bind_texture(tsr_bindings *b, int unit, GLuint texture) {
    if (b->textures[unit] == texture)
        return;
    if (b->unit != unit)
        glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
    glBindTexture(unit == TSR_TABLE_UNIT ? GL_TEXTURE_2D : GL_TEXTURE_2D_ARRAY, texture);
    b->unit = unit;
    b->textures[unit] = texture;
}

void tsr_bind_framebuffer(tsr_bindings *b, GLuint framebuffer) {
    if (b->framebuffer != (int)framebuffer)
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    b->framebuffer = (int)framebuffer;
}

void tsr_bind_viewport(tsr_bindings *b, GLint x, GLint y, GLint width, GLint height) {
    const GLint viewport[4] = {x, y, width, height};
    if (memcmp(b->viewport, viewport, sizeof viewport))
        glViewport(x, y, width, height);
    memcpy(b->viewport, viewport, sizeof viewport);
}
