/* What a context offers: limits, and which floats it renders to. */
#include "gles/device.h"

#include "algorithm/algorithm.h"
#include "base/error.h"
#include "gles/family.h"
#include "gles/tensor.h"

#include <string.h>

static int get_integer(GLenum name) {
    GLint value = 0;
    glGetIntegerv(name, &value);
    return value;
}

const char *tsr_gles_string(GLenum name) {
    const char *text = (const char *)glGetString(name);
    return text ? text : "";
}

/* cap: 0: none. */
static int capped(int value, int cap) {
    return cap > 0 && cap < value ? cap : value;
}

/* Texels of a uniform block, at most 64 KiB: more is not faster. 0 if offsets cannot be multiples
 * of the size, or the smallest block is too large. */
static int block_texels(const tsr_device_info *info) {
    enum { MOST = 4096, TEXEL_BYTES = 16 };
    int aligned = get_integer(GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT), texels = TSR_BLOCK_ALIGNED;
    while (texels * 2 <= MOST && texels * 2 * TEXEL_BYTES <= info->max_uniform_block_bytes)
        texels *= 2;
    bool suits = aligned > 0 && TSR_BLOCK_ALIGNED * TEXEL_BYTES % aligned == 0 &&
                 texels * TEXEL_BYTES <= info->max_uniform_block_bytes;
    return suits ? texels : 0;
}

/* How many multiply-adds are worth a draw of their own: see tsr_block_rows(). On an H200 a
 * convolution is up to 2.7 times faster if all fragments of a draw read the same row of a uniform
 * block, and 2^18 multiply-adds take 0.3 microseconds. In a page the calls of one draw take several
 * microseconds. */
static int draw_products(void) {
    return tsr_context_is_remote() ? TSR_JOINED_PRODUCTS : 1 << 18;
}

static void read_info(tsr_backend_device *d, const tsr_device_desc *desc) {
    tsr_device_info *info = &d->info;
    info->backend = "gles";
    info->name = tsr_context_renderer(d->context);
    info->version = tsr_gles_string(GL_VERSION);
    GLint viewport[2] = {0, 0}; /* limits render targets, too */
    glGetIntegerv(GL_MAX_VIEWPORT_DIMS, viewport);
    int size = capped(capped(get_integer(GL_MAX_TEXTURE_SIZE), viewport[0]), viewport[1]);
    info->max_texture_size = capped(size, desc->gles.max_texture_size);
    info->max_array_layers = get_integer(GL_MAX_ARRAY_TEXTURE_LAYERS);
    int buffers = capped(get_integer(GL_MAX_DRAW_BUFFERS), get_integer(GL_MAX_COLOR_ATTACHMENTS));
    info->max_draw_buffers = capped(buffers, desc->gles.max_draw_buffers);
    info->max_uniform_block_bytes =
        capped(get_integer(GL_MAX_UNIFORM_BLOCK_SIZE), desc->gles.max_uniform_block_bytes);
    /* llvmpipe silently stops all loops of a fragment after this many iterations in total. Its
     * timers do not count parallel threads: they report half or a quarter of the wall time. */
    bool llvmpipe = strstr(info->name, "llvmpipe");
    d->max_loop_iterations = llvmpipe ? 65535 : 0;
    d->is_llvmpipe = llvmpipe;
    info->is_cpu = llvmpipe || strstr(info->name, "softpipe") || strstr(info->name, "SwiftShader");
    const tsr_gpu_family *family = tsr_gpu_family_of(info->name);
    d->profile = tsr_device_profile_make(TSR_GLSL, desc->kernels, info->is_cpu, family->fragments);
    d->profile.features = TSR_NEEDS_UNIFORM_BLOCK;
    d->profile.bins = llvmpipe;
    d->profile.recompiles = llvmpipe;
    d->profile.draw_products = draw_products();
    d->sample = d->profile.software;
    /* The kernels for small GPUs are tried on others with all that goes with them. */
    bool small = d->profile.fixed && d->profile.fragments.registers;
    d->clears_tiles = small || family->clears_tiles;
    d->block_texels = block_texels(info);
    info->has_timer = tsr_gl->EXT_disjoint_timer_query && !llvmpipe;
    info->has_float_blend = tsr_gl->EXT_float_blend;
    info->has_robust_reset = tsr_context_tells_loss(d->context);
    /* Mali stores tiles of 16x16 texels whole, and textures in blocks of as many. */
    enum { BLOCK = 16 };
    d->limits = (tsr_layout_limits){.max_texture_size = info->max_texture_size,
                                    .max_planes = 1,
                                    .shaded = d->profile.fragments.registers ? BLOCK : 0};
    /* A sum for each plane, and what conv_direct_taps keeps beside them. */
    int most = capped(info->max_draw_buffers, d->profile.fragments.registers - TSR_TAP_TEXELS);
    while (d->limits.max_planes * 2 <= most && d->limits.max_planes < TSR_MAX_PLANES)
        d->limits.max_planes *= 2;
}

/* Is a framebuffer of the format complete? Extensions may be there in name only: OpenGL ES 3.2 of a
 * driver whose EXT_color_buffer_float was taken away. */
static bool renders_to(GLenum format) {
    tsr_target target = {.texture = tsr_texture_plain(format, 1, 1)};
    bool complete = tsr_framebuffer_plain(&target) == TSR_OK;
    tsr_target_destroy(&target);
    return complete;
}

static void find_targets(tsr_backend_device *d, const tsr_device_desc *desc) {
    int major = get_integer(GL_MAJOR_VERSION), minor = get_integer(GL_MINOR_VERSION);
    bool allowed = !desc->gles.no_float_targets,
         halves = allowed && tsr_gl->EXT_color_buffer_half_float,
         floats =
             allowed && (tsr_gl->EXT_color_buffer_float || major > 3 || (major == 3 && minor >= 2));
    if (floats && renders_to(GL_RGBA32F))
        return;
    d->info.has_float_blend = false;
    if ((floats || halves) && renders_to(GL_RGBA16F))
        d->info.half_only = d->limits.half_only = true;
    else /* without an extension OpenGL ES 3.0 renders to integers */
        d->info.bits_only = d->limits.bits_only = true;
}

tsr_status tsr_gles_find_limits(tsr_backend_device *d, const tsr_device_desc *desc) {
    read_info(d, desc);
    find_targets(d, desc);
    if (get_integer(GL_MAX_TEXTURE_IMAGE_UNITS) < TSR_GL_UNITS)
        return tsr_fail(TSR_ERROR_NO_DEVICE, "%s offers %d texture units, %d are needed",
                        d->info.name, get_integer(GL_MAX_TEXTURE_IMAGE_UNITS), TSR_GL_UNITS);
    return TSR_OK;
}
