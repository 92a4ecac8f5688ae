#include "gles/tensor.h"

#include "base/error.h"
#include "gles/context.h"
#include "gpu/texels.h"

#include <math.h>

/* How texels are stored, and in what form they are uploaded and read back: floats as floats, 8-bit
 * integers in 8 bits and in 32. */
typedef struct texel_form {
    const char *name;
    GLenum internal, format, upload, read;
} texel_form;

static const texel_form forms[] = {
    [TSR_TEXEL_F32] = {"RGBA32F", GL_RGBA32F, GL_RGBA, GL_FLOAT, GL_FLOAT},
    [TSR_TEXEL_F16] = {"RGBA16F", GL_RGBA16F, GL_RGBA, GL_FLOAT, GL_FLOAT},
    [TSR_TEXEL_U8] = {"RGBA8UI", GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, GL_UNSIGNED_INT},
    [TSR_TEXEL_I8] = {"RGBA8I", GL_RGBA8I, GL_RGBA_INTEGER, GL_BYTE, GL_INT},
    [TSR_TEXEL_BITS] = {"RGBA32UI", GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT,
                        GL_UNSIGNED_INT}};

GLenum tsr_texel_internal_format(tsr_texel_format format) {
    return forms[format].internal;
}

static GLuint create_texture(GLenum kind) {
    GLuint texture = 0;
    glGenTextures(1, &texture);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(kind, texture);
    /* Float textures are not filterable: incomplete with any other filter. */
    glTexParameteri(kind, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(kind, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(kind, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(kind, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return texture;
}

/* The storage's planes as render targets from `first` on. */
static void attach(const tsr_storage *s, GLuint texture, int first) {
    for (int i = 0; i < s->planes; i++) {
        GLenum at = GL_COLOR_ATTACHMENT0 + (GLenum)(first + i);
        if (s->plain)
            glFramebufferTexture2D(GL_FRAMEBUFFER, at, GL_TEXTURE_2D, texture, 0);
        else
            glFramebufferTextureLayer(GL_FRAMEBUFFER, at, texture, 0, i);
    }
}

static GLuint create_framebuffer(void) {
    GLuint framebuffer = 0;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    return framebuffer;
}

static tsr_status check_framebuffer(int planes, tsr_texel_format format) {
    GLenum buffers[TSR_MAX_PLANES];
    for (int i = 0; i < planes; i++)
        buffers[i] = GL_COLOR_ATTACHMENT0 + (GLenum)i;
    glDrawBuffers(planes, buffers);
    GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
    if (status != GL_FRAMEBUFFER_COMPLETE)
        return tsr_fail(TSR_ERROR_DEVICE,
                        "the driver does not render to %d planes of %s (framebuffer status 0x%04x)",
                        planes, forms[format].name, (unsigned)status);
    return TSR_OK;
}

void tsr_planes_clear(int planes, tsr_texel_format format, bool poison) {
    const GLuint nan = 0x7fc00000, byte = 0x5a,
                 unsigned_value = format == TSR_TEXEL_BITS ? nan : byte;
    const GLuint u = poison ? unsigned_value : 0, unsigned_color[4] = {u, u, u, u};
    const GLint i = poison ? (GLint)byte : 0, signed_color[4] = {i, i, i, i};
    const float f = poison ? NAN : 0, color[4] = {f, f, f, f};
    for (int plane = 0; plane < planes; plane++)
        if (format == TSR_TEXEL_I8)
            glClearBufferiv(GL_COLOR, plane, signed_color);
        else if (format == TSR_TEXEL_U8 || format == TSR_TEXEL_BITS)
            glClearBufferuiv(GL_COLOR, plane, unsigned_color);
        else
            glClearBufferfv(GL_COLOR, plane, color);
}

/* Sets a rectangle of every plane to zero or to poison. */
static void fill(const tsr_target *target, int planes, tsr_texel_format format, int x, int y, int w,
                 int h, bool poison) {
    glBindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
    glEnable(GL_SCISSOR_TEST);
    glScissor(x, y, w, h);
    tsr_planes_clear(planes, format, poison);
    glDisable(GL_SCISSOR_TEST);
}

tsr_status tsr_target_create(const tsr_storage *s, tsr_target *target) {
    GLenum format = forms[s->format].internal;
    target->texture = create_texture(s->plain ? GL_TEXTURE_2D : GL_TEXTURE_2D_ARRAY);
    if (s->plain)
        glTexStorage2D(GL_TEXTURE_2D, 1, format, s->texture_w, s->texture_h);
    else
        glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, format, s->texture_w, s->texture_h + TSR_ZERO_ROWS,
                       s->planes);
    GLenum error = tsr_context_is_remote() ? GL_NO_ERROR : glGetError();
    if (error != GL_NO_ERROR)
        return tsr_fail(error == GL_OUT_OF_MEMORY ? TSR_ERROR_OUT_OF_MEMORY : TSR_ERROR_DEVICE,
                        "the driver has no texture of %d x %d x %d texels (GL error 0x%04x)",
                        s->texture_w, s->texture_h, s->planes, (unsigned)error);
    target->framebuffer = create_framebuffer();
    attach(s, target->texture, 0);
    TSR_TRY(check_framebuffer(s->planes, s->format));
    fill(target, s->planes, s->format, 0, 0, s->texture_w, s->texture_h + TSR_ZERO_ROWS, false);
    return TSR_OK;
}

tsr_status tsr_framebuffer_of_two(const tsr_storage *low, GLuint low_texture,
                                  const tsr_storage *high, GLuint high_texture,
                                  GLuint *framebuffer) {
    *framebuffer = create_framebuffer();
    attach(low, low_texture, 0);
    attach(high, high_texture, low->planes);
    return check_framebuffer(low->planes + high->planes, low->format);
}

void tsr_planes_attach(const GLuint *textures, int count, int first, int planes) {
    GLenum buffers[TSR_MAX_PLANES];
    for (int i = 0; i < count * planes; i++) {
        buffers[i] = GL_COLOR_ATTACHMENT0 + (GLenum)i;
        glFramebufferTextureLayer(GL_FRAMEBUFFER, buffers[i], textures[i / planes], 0,
                                  first + i % planes);
    }
    glDrawBuffers(count * planes, buffers);
}

void tsr_target_destroy(tsr_target *target) {
    glDeleteFramebuffers(1, &target->framebuffer);
    glDeleteTextures(1, &target->texture);
    *target = (tsr_target){0};
}

void tsr_target_poison(const tsr_target *target, const tsr_layout *l) {
    fill(target, l->planes, l->format, l->texture_x, l->texture_y, l->texture_w, l->texture_h,
         true);
}

GLuint tsr_texture_constant(const tsr_layout *l, const float *texels) {
    GLuint texture = create_texture(GL_TEXTURE_2D_ARRAY);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_RGBA32F, l->texture_w, l->texture_h + TSR_ZERO_ROWS,
                   l->planes);
    glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, l->texture_w, l->texture_h, l->planes, GL_RGBA,
                    GL_FLOAT, texels);
    return texture;
}

GLuint tsr_texture_plain(GLenum format, int width, int height) {
    GLuint texture = create_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, format, width, height);
    return texture;
}

tsr_status tsr_framebuffer_plain(tsr_target *target) {
    const GLenum buffer = GL_COLOR_ATTACHMENT0;
    target->framebuffer = create_framebuffer();
    glFramebufferTexture2D(GL_FRAMEBUFFER, buffer, GL_TEXTURE_2D, target->texture, 0);
    glDrawBuffers(1, &buffer);
    GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
    return status == GL_FRAMEBUFFER_COMPLETE
               ? TSR_OK
               : tsr_fail(TSR_ERROR_DEVICE,
                          "the driver does not render to texture %u (framebuffer status 0x%04x)",
                          (unsigned)target->texture, (unsigned)status);
}

static const struct {
    GLenum internal, format, type;
} table_formats[] = {[TSR_TABLE_F32] = {GL_RGBA32F, GL_RGBA, GL_FLOAT},
                     [TSR_TABLE_F16] = {GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT},
                     [TSR_TABLE_I8] = {GL_RGBA8I, GL_RGBA_INTEGER, GL_BYTE},
                     [TSR_TABLE_I8_OF_4] = {GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT},
                     [TSR_TABLE_I4_OF_4] = {GL_RGBA16UI, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT}};

GLenum tsr_table_internal_format(tsr_table_format format) {
    return table_formats[format].internal;
}

GLuint tsr_texture_table(int width, int height, tsr_table_format format) {
    return tsr_texture_plain(table_formats[format].internal, tsr_table_columns(width, format),
                             height);
}

void tsr_table_upload(GLuint texture, const tsr_table *table) {
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, tsr_table_columns(table->width, table->format),
                    table->height, table_formats[table->format].format,
                    table_formats[table->format].type, NULL);
}

GLuint tsr_buffer_blocks(size_t bytes, GLenum usage) {
    GLuint buffer = 0;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_UNIFORM_BUFFER, buffer);
    glBufferData(GL_UNIFORM_BUFFER, (GLsizeiptr)bytes, NULL, usage);
    return buffer;
}

void tsr_blocks_copy(GLuint buffer, size_t bytes) {
    glBindBuffer(GL_UNIFORM_BUFFER, buffer);
    glCopyBufferSubData(GL_PIXEL_UNPACK_BUFFER, GL_UNIFORM_BUFFER, 0, 0, (GLsizeiptr)bytes);
}

void tsr_target_upload(const tsr_target *target, const tsr_layout *l, float *texels) {
    const texel_form *form = &forms[l->format];
    if (tsr_texel_holds_integers(l->format))
        tsr_texels_narrow(l->format, texels, tsr_layout_floats(l));
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D_ARRAY, target->texture);
    glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, l->texture_x, l->texture_y, 0, l->texture_w,
                    l->texture_h, l->planes, form->format, form->upload, texels);
}

GLuint tsr_buffer_create(const tsr_layout *l) {
    GLuint buffer = 0;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
    glBufferData(GL_PIXEL_PACK_BUFFER, (GLsizeiptr)(tsr_layout_floats(l) * sizeof(float)), NULL,
                 GL_STREAM_READ);
    return buffer;
}

/* glReadPixels() of llvmpipe (Mesa 22.3) does not always wait for draws to a texture that earlier
 * draws sampled, unless it is the one to draw to: lp_setup_is_resource_referenced() stops at the
 * first scene that uses it, be it for reading alone. */
void tsr_target_read(tsr_bindings *b, const tsr_target *target, const tsr_layout *l, GLuint buffer,
                     int64_t at) {
    size_t plane_bytes = tsr_layout_floats(l) / (size_t)l->planes * sizeof(float);
    tsr_bind_framebuffer(b, target->framebuffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
    for (int i = 0; i < l->planes; i++) {
        glReadBuffer(GL_COLOR_ATTACHMENT0 + (GLenum)i);
        glReadPixels(l->texture_x, l->texture_y, l->texture_w, l->texture_h,
                     forms[l->format].format, forms[l->format].read,
                     (void *)((size_t)at + i * plane_bytes));
    }
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}
