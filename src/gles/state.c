#include "gles/state.h"

static const GLenum caps[TSR_GL_CAPS] = {
    GL_BLEND,
    GL_CULL_FACE,
    GL_DEPTH_TEST,
    GL_DITHER,
    GL_POLYGON_OFFSET_FILL,
    GL_RASTERIZER_DISCARD,
    GL_SAMPLE_ALPHA_TO_COVERAGE,
    GL_SCISSOR_TEST,
    GL_STENCIL_TEST,
};

static const GLenum pixel_store[TSR_GL_PIXEL_STORES] = {
    GL_PACK_ROW_LENGTH,     GL_PACK_SKIP_ROWS,     GL_PACK_SKIP_PIXELS,   GL_PACK_ALIGNMENT,
    GL_UNPACK_ROW_LENGTH,   GL_UNPACK_SKIP_ROWS,   GL_UNPACK_SKIP_PIXELS, GL_UNPACK_ALIGNMENT,
    GL_UNPACK_IMAGE_HEIGHT, GL_UNPACK_SKIP_IMAGES,
};

void tsr_gl_state_defaults(void) {
    for (int i = 0; i < TSR_GL_CAPS; i++)
        glDisable(caps[i]);
    for (int i = 0; i < TSR_GL_PIXEL_STORES; i++)
        glPixelStorei(
            pixel_store[i],
            pixel_store[i] == GL_PACK_ALIGNMENT || pixel_store[i] == GL_UNPACK_ALIGNMENT ? 4 : 0);
    for (GLuint i = 0; i < TSR_GL_UNITS; i++)
        glBindSampler(i, 0);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

static void save_draw_buffers(tsr_gl_state *s) {
    GLint count = 0;
    if (tsr_gl->OES_draw_buffers_indexed)
        glGetIntegerv(GL_MAX_DRAW_BUFFERS, &count);
    s->draw_buffer_count = count < TSR_GL_DRAW_BUFFERS ? count : TSR_GL_DRAW_BUFFERS;
    for (GLuint i = 0; i < (GLuint)s->draw_buffer_count; i++) {
        s->buffer_blend[i] = glIsEnablediOES(GL_BLEND, i);
        glGetIntegeri_v(GL_COLOR_WRITEMASK, i, s->buffer_mask[i]);
    }
}

static void restore_draw_buffers(const tsr_gl_state *s) {
    for (GLuint i = 0; i < (GLuint)s->draw_buffer_count; i++) {
        const GLint *mask = s->buffer_mask[i];
        s->buffer_blend[i] ? glEnableiOES(GL_BLEND, i) : glDisableiOES(GL_BLEND, i);
        glColorMaskiOES(i, mask[0] != 0, mask[1] != 0, mask[2] != 0, mask[3] != 0);
    }
}

static bool pause_feedback(void) {
    GLboolean active = GL_FALSE, paused = GL_FALSE;
    glGetBooleanv(GL_TRANSFORM_FEEDBACK_ACTIVE, &active);
    glGetBooleanv(GL_TRANSFORM_FEEDBACK_PAUSED, &paused);
    if (active && !paused)
        glPauseTransformFeedback();
    return active && !paused;
}

void tsr_gl_state_save(tsr_gl_state *s) {
    s->feedback = pause_feedback();
    glGetIntegerv(GL_CURRENT_PROGRAM, &s->program);
    glGetIntegerv(GL_VERTEX_ARRAY_BINDING, &s->vertex_array);
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &s->draw_framebuffer);
    glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &s->read_framebuffer);
    glGetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &s->pack_buffer);
    glGetIntegerv(GL_PIXEL_UNPACK_BUFFER_BINDING, &s->unpack_buffer);
    glGetIntegerv(GL_UNIFORM_BUFFER_BINDING, &s->uniform_buffer);
    glGetIntegeri_v(GL_UNIFORM_BUFFER_BINDING, 0, &s->block_buffer);
    glGetInteger64i_v(GL_UNIFORM_BUFFER_START, 0, &s->block_begin);
    glGetInteger64i_v(GL_UNIFORM_BUFFER_SIZE, 0, &s->block_size);
    glGetIntegerv(GL_ACTIVE_TEXTURE, &s->active_texture);
    glGetIntegerv(GL_VIEWPORT, s->viewport);
    glGetIntegerv(GL_SCISSOR_BOX, s->scissor);
    glGetBooleanv(GL_COLOR_WRITEMASK, s->color_mask);
    for (int i = 0; i < TSR_GL_CAPS; i++)
        s->enabled[i] = glIsEnabled(caps[i]);
    for (int i = 0; i < TSR_GL_PIXEL_STORES; i++)
        glGetIntegerv(pixel_store[i], &s->pixel_store[i]);
    for (int i = 0; i < TSR_GL_UNITS; i++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)i);
        glGetIntegerv(GL_TEXTURE_BINDING_2D, &s->texture_2d[i]);
        glGetIntegerv(GL_TEXTURE_BINDING_2D_ARRAY, &s->texture_array[i]);
        glGetIntegerv(GL_SAMPLER_BINDING, &s->sampler[i]);
    }
    save_draw_buffers(s);
    tsr_gl_state_defaults();
}

static void restore_blocks(const tsr_gl_state *s) {
    if (s->block_size)
        glBindBufferRange(GL_UNIFORM_BUFFER, 0, (GLuint)s->block_buffer, (GLintptr)s->block_begin,
                          (GLsizeiptr)s->block_size);
    else /* as a whole, or none */
        glBindBufferBase(GL_UNIFORM_BUFFER, 0, (GLuint)s->block_buffer);
    glBindBuffer(GL_UNIFORM_BUFFER, (GLuint)s->uniform_buffer);
}

void tsr_gl_state_restore(const tsr_gl_state *s) {
    for (GLuint i = 0; i < TSR_GL_UNITS; i++) {
        glActiveTexture(GL_TEXTURE0 + i);
        glBindTexture(GL_TEXTURE_2D, (GLuint)s->texture_2d[i]);
        glBindTexture(GL_TEXTURE_2D_ARRAY, (GLuint)s->texture_array[i]);
        glBindSampler(i, (GLuint)s->sampler[i]);
    }
    for (int i = 0; i < TSR_GL_PIXEL_STORES; i++)
        glPixelStorei(pixel_store[i], s->pixel_store[i]);
    for (int i = 0; i < TSR_GL_CAPS; i++)
        s->enabled[i] ? glEnable(caps[i]) : glDisable(caps[i]);
    glColorMask(s->color_mask[0], s->color_mask[1], s->color_mask[2], s->color_mask[3]);
    restore_draw_buffers(s);
    glViewport(s->viewport[0], s->viewport[1], s->viewport[2], s->viewport[3]);
    glScissor(s->scissor[0], s->scissor[1], s->scissor[2], s->scissor[3]);
    glActiveTexture((GLenum)s->active_texture);
    restore_blocks(s);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, (GLuint)s->unpack_buffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, (GLuint)s->pack_buffer);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)s->read_framebuffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)s->draw_framebuffer);
    glBindVertexArray((GLuint)s->vertex_array);
    glUseProgram((GLuint)s->program);
    if (s->feedback)
        glResumeTransformFeedback();
}
