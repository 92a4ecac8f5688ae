/* Textures, framebuffers and transfers. Texels to upload are in the caller's memory, or at NULL in
 * the bound pixel-unpack buffer. */
#ifndef TSR_GLES_TENSOR_H
#define TSR_GLES_TENSOR_H

#include "gles/bindings.h"
#include "gles/gl.h"
#include "plan/plan.h"

/* A storage of the plan: a texture with a framebuffer that renders to all its planes at once. For a
 * tensor in two storages: the first one's texture, and a framebuffer for both. */
typedef struct tsr_target {
    GLuint texture, framebuffer;
} tsr_target;

/* Fails if the driver cannot render to it. */
tsr_status tsr_target_create(const tsr_storage *storage, tsr_target *target);
void tsr_target_destroy(tsr_target *target);
/* A framebuffer that renders to all planes of two storages at once, for tensors with half of their
 * planes in each. */
tsr_status tsr_framebuffer_of_two(const tsr_storage *low, GLuint low_texture,
                                  const tsr_storage *high, GLuint high_texture,
                                  GLuint *framebuffer);
/* Makes the bound framebuffer render to `planes` planes, from `first` on, of each of several
 * textures of this format. */
void tsr_planes_attach(const GLuint *textures, int count, int first, int planes);
/* The internal format of textures that store it. */
GLenum tsr_texel_internal_format(tsr_texel_format format);
/* That of tables. */
GLenum tsr_table_internal_format(tsr_table_format format);
/* Clears the bound framebuffer's planes: to zero, or to NaN or what else stands out. */
void tsr_planes_clear(int planes, tsr_texel_format format, bool poison);
/* Fills every texel of a tensor with that. */
void tsr_target_poison(const tsr_target *target, const tsr_layout *layout);

/* A 2D-array texture of a constant tensor in 32 bits, its texels as tsr_layout_pack() makes them.
 */
GLuint tsr_texture_constant(const tsr_layout *layout, const float *texels);
/* A 2D texture of an internal format of four channels. */
GLuint tsr_texture_plain(GLenum format, int width, int height);
/* Adds a framebuffer that renders to the target's 2D texture. */
tsr_status tsr_framebuffer_plain(tsr_target *target);
/* A 2D texture of width * height RGBA texels; and fills it from the bound pixel-unpack buffer. */
GLuint tsr_texture_table(int width, int height, tsr_table_format format);
void tsr_table_upload(GLuint texture, const tsr_table *table);
/* A buffer for uniform blocks, and filling it from the bound pixel-unpack buffer. */
GLuint tsr_buffer_blocks(size_t bytes, GLenum usage);
void tsr_blocks_copy(GLuint buffer, size_t bytes);
/* Writes all planes of a tensor; may overwrite the texels, if it has integers. */
void tsr_target_upload(const tsr_target *target, const tsr_layout *layout, float *texels);
/* A pixel-pack buffer for all planes, left bound. */
GLuint tsr_buffer_create(const tsr_layout *layout);
/* Starts copying all planes to a pixel-pack buffer, from byte `at` on, as floats or as integers of
 * 32 bits; leaves the target's framebuffer bound. */
void tsr_target_read(tsr_bindings *bindings, const tsr_target *target, const tsr_layout *layout,
                     GLuint buffer, int64_t at);

#endif
