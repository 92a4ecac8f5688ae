#include "plan/layout.h"

#include "base/divide.h"
#include "base/error.h"

#include <limits.h>
#include <math.h>
#include <string.h>

int tsr_layout_axis(int rank, int channel_axis, int axis) {
    if (axis <= channel_axis)
        return axis < channel_axis ? TSR_AXIS_N : TSR_AXIS_C;
    return axis == rank - 1 ? TSR_AXIS_W : TSR_AXIS_H;
}

int tsr_layout_channel_axis(int rank) {
    return rank > 1 ? 1 : 0;
}

tsr_shape tsr_layout_fold(const tsr_shape *shape, int channel_axis) {
    tsr_shape folded = {4, {1, 1, 1, 1}};
    for (int i = 0; i < shape->rank; i++)
        folded.dim[tsr_layout_axis(shape->rank, channel_axis, i)] *= shape->dim[i];
    return folded;
}

void tsr_layout_strides(const tsr_layout *l, int64_t strides[4]) {
    strides[TSR_AXIS_W] = 1;
    strides[TSR_AXIS_H] = l->w;
    strides[TSR_AXIS_C] = (int64_t)l->h * l->w;
    strides[TSR_AXIS_N] = l->c * strides[TSR_AXIS_C];
}

/* The most planes with which padding columns are at most half as many as the columns. */
static int choose_planes(int w, int pixel_stride, int most) {
    int planes = 1;
    for (int p = 2; p <= most; p *= 2)
        if (tsr_divide_up(w, p * pixel_stride) * p * pixel_stride * 2 <= (int64_t)w * 3)
            planes = p;
    return planes;
}

/* Drivers shade at least 2x2 (GPUs) to 4x4 (llvmpipe) texels at a time, GPUs with tile memory store
 * 16x16 or more. Preferred are grids with the fewest shaded texels, then, where the device tells no
 * size of squares, with bins for many threads of llvmpipe, then close to a square. */
enum { SHADED = 4, ENOUGH_THREADS = 16 };

static int64_t shading_cost(const tsr_layout *l) {
    int side = l->shaded ? l->shaded : SHADED;
    return tsr_divide_up(l->texture_w, side) * tsr_divide_up(l->texture_h, side);
}

static int64_t grid_cost(const tsr_layout *l) {
    int64_t width = l->texture_w, height = l->texture_h;
    int64_t threads = tsr_divide_up(width, TSR_BIN) * tsr_divide_up(height, TSR_BIN);
    int64_t missing = !l->shaded && threads < ENOUGH_THREADS ? ENOUGH_THREADS - threads : 0;
    return (shading_cost(l) << 28) + (missing << 20) + (width > height ? width : height);
}

bool tsr_layout_regrid(tsr_layout *l, int columns_log2, int max_size) {
    int64_t count = (int64_t)l->n * l->tiles, width = (int64_t)l->tile_w << columns_log2,
            height = tsr_divide_up(count, (int64_t)1 << columns_log2) * l->h;
    if (width > max_size || height + TSR_ZERO_ROWS > max_size)
        return false;
    l->columns_log2 = columns_log2;
    l->texture_w = (int)width;
    l->texture_h = (int)height;
    return true;
}

int64_t tsr_layout_shading_cost(const tsr_layout *l) {
    return shading_cost(l);
}

int64_t tsr_layout_max_shading_cost(const tsr_layout *l) {
    return tsr_layout_shading_cost(l) * 9 / 8;
}

int tsr_layout_slice_columns(int64_t tile, int64_t count, int64_t all, int most) {
    int64_t end = tile + count < all ? tile + count : 0; /* the last row may be incomplete */
    while (count > 1 && ((tile | end) & ((1 << most) - 1)))
        most--;
    return most;
}

static bool choose_grid(tsr_layout *l, int max_size) {
    int64_t best = INT64_MAX;
    tsr_layout candidate = *l;
    for (int log2 = 0; (int64_t)l->tile_w << log2 <= max_size; log2++) {
        if (!tsr_layout_regrid(&candidate, log2, max_size))
            continue;
        int64_t cost = grid_cost(&candidate);
        if (cost >= best)
            continue;
        best = cost;
        *l = candidate;
    }
    return best != INT64_MAX;
}

/* Its texels fit in memory: only where sizes have 32 bits some do not. */
static bool is_addressable(const tsr_layout *l) {
    uint64_t texels = (uint64_t)l->texture_w * (uint64_t)l->texture_h * (uint64_t)l->planes;
    return texels <= PTRDIFF_MAX / (4 * sizeof(float));
}

static bool choose_wrap(tsr_layout *l, int64_t count, int max_size) {
    int64_t texels = count * l->h * l->tile_w;
    if (texels > INT_MAX)
        return false;
    int log2 = 0;
    while (1 << (log2 + 1) <= max_size && ((int64_t)1 << 2 * log2) < texels)
        log2++;
    int64_t width = (int64_t)1 << log2, height = tsr_divide_up(texels, width);
    l->linear = true;
    l->columns_log2 = log2;
    l->texture_w = (int)width;
    l->texture_h = (int)height;
    return height + TSR_ZERO_ROWS <= max_size;
}

static tsr_status fill_buffer(tsr_layout *l, int64_t tile_count, const tsr_shape *shape,
                              uint64_t max_bytes) {
    int64_t texels = tile_count * l->h * l->w;
    l->linear = l->buffer = true;
    l->texture_w = (int)texels;
    l->texture_h = 1;
    if (texels > INT_MAX || tsr_layout_bytes(l) > max_bytes)
        return tsr_fail(TSR_ERROR_LIMIT,
                        "a tensor of shape %s needs a buffer of %lld bytes, the device binds at "
                        "most %llu",
                        tsr_shape_text(shape), (long long)texels * tsr_texel_bytes(l->format),
                        (unsigned long long)max_bytes);
    return TSR_OK;
}

static tsr_status fill_texture(tsr_layout *l, int64_t tile_count, const tsr_shape *shape,
                               int max_size) {
    if (choose_grid(l, max_size) || choose_wrap(l, tile_count, max_size))
        return TSR_OK;
    return tsr_fail(
        TSR_ERROR_LIMIT,
        "a tensor of shape %s needs %lld texels in each of %d planes, a texture holds %d x %d",
        tsr_shape_text(shape), (long long)(tile_count * l->h * l->tile_w), l->planes, max_size,
        max_size - TSR_ZERO_ROWS);
}

int tsr_texel_bytes(tsr_texel_format format) {
    static const int bytes[] = {[TSR_TEXEL_F32] = 16,
                                [TSR_TEXEL_F16] = 8,
                                [TSR_TEXEL_U8] = 4,
                                [TSR_TEXEL_I8] = 4,
                                [TSR_TEXEL_BITS] = 16};
    return bytes[format];
}

bool tsr_texel_holds_integers(tsr_texel_format format) {
    return format == TSR_TEXEL_U8 || format == TSR_TEXEL_I8;
}

bool tsr_texel_holds_number(tsr_texel_format format, float number) {
    const int least = format == TSR_TEXEL_U8 ? 0 : -128;
    return rintf(number) == number && number >= least && number <= least + 255;
}

tsr_texel_format tsr_layout_format(tsr_texel_format wanted, const tsr_layout_limits *limits) {
    if (tsr_texel_holds_integers(wanted))
        return wanted;
    return limits->bits_only ? TSR_TEXEL_BITS : limits->half_only ? TSR_TEXEL_F16 : wanted;
}

tsr_status tsr_layout_make(const tsr_shape *shape, const tsr_layout_limits *limits,
                           tsr_layout_hint hint, tsr_layout *layout) {
    int64_t count = tsr_shape_count(shape);
    if (count <= 0)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "a tensor of shape %s has no elements",
                        tsr_shape_text(shape));
    if (count > INT_MAX / 4)
        return tsr_fail(TSR_ERROR_LIMIT,
                        "a tensor of shape %s has %lld elements, a GPU tensor at most %d",
                        tsr_shape_text(shape), (long long)count, INT_MAX / 4);
    const tsr_shape folded = tsr_layout_fold(shape, tsr_layout_channel_axis(shape->rank));
    const int64_t *size = folded.dim;
    tsr_layout l = {.n = (int)size[0],
                    .c = (int)size[1],
                    .h = (int)size[2],
                    .w = (int)size[3],
                    .pixel_stride = 1,
                    .format = tsr_layout_format(hint.format, limits)};
    l.tiles = (int)tsr_divide_up(l.c, 4);
    l.shaded = limits->shaded;
    int most = hint.planes && hint.planes < limits->max_planes ? hint.planes : limits->max_planes;
    int pixel_stride = hint.pixel_stride ? hint.pixel_stride : 1;
    l.planes = choose_planes(l.w, pixel_stride, most);
    if (l.planes > 1)
        l.pixel_stride = pixel_stride;
    l.tile_w = (int)tsr_divide_up(l.w, l.planes * l.pixel_stride) * l.pixel_stride;
    int64_t tile_count = (int64_t)l.n * l.tiles;
    TSR_TRY(limits->max_buffer_bytes
                ? fill_buffer(&l, tile_count, shape, limits->max_buffer_bytes)
                : fill_texture(&l, tile_count, shape, limits->max_texture_size));
    if (!is_addressable(&l))
        return tsr_fail(TSR_ERROR_LIMIT, "a tensor of shape %s is too large for this machine",
                        tsr_shape_text(shape));
    *layout = l;
    return TSR_OK;
}

bool tsr_layout_staging_fits(uint64_t texels, int texel_bytes, const tsr_layout_limits *limits) {
    tsr_layout l = {.h = 1, .planes = 1, .tile_w = (int)texels};
    if (texels > INT_MAX / 4)
        return false;
    return limits->max_buffer_bytes
               ? texels * (uint64_t)texel_bytes <= limits->max_buffer_bytes
               : choose_wrap(&l, 1, limits->max_texture_size) && is_addressable(&l);
}

tsr_status tsr_layout_make_staging(int64_t texels, int texel_bytes, const tsr_layout_limits *limits,
                                   tsr_layout *l) {
    *l = (tsr_layout){.n = 1,
                      .c = 4,
                      .h = 1,
                      .w = (int)texels,
                      .tiles = 1,
                      .planes = 1,
                      .pixel_stride = 1,
                      .tile_w = (int)texels,
                      .format = texel_bytes == 8 ? TSR_TEXEL_F16 : TSR_TEXEL_F32,
                      .bytes = texel_bytes == 4};
    if (!tsr_layout_staging_fits((uint64_t)texels, texel_bytes, limits))
        return tsr_fail(TSR_ERROR_LIMIT,
                        "a transfer of %lld texels of %d bytes exceeds the device's limits",
                        (long long)texels, texel_bytes);
    if (!limits->max_buffer_bytes) {
        choose_wrap(l, 1, limits->max_texture_size);
        return TSR_OK;
    }
    l->linear = l->buffer = true;
    l->texture_w = (int)texels;
    l->texture_h = 1;
    return TSR_OK;
}

bool tsr_layout_make_rows(const tsr_layout *tensor, const tsr_layout_limits *limits,
                          tsr_layout *l) {
    *l = (tsr_layout){.n = tensor->n,
                      .c = 4 * tensor->tiles,
                      .h = tensor->h,
                      .w = tensor->w,
                      .tiles = tensor->tiles,
                      .planes = 4,
                      .pixel_stride = 1,
                      .tile_w = tensor->w / 4,
                      .format = tsr_layout_format(TSR_TEXEL_F32, limits)};
    return choose_wrap(l, (int64_t)l->n * l->tiles, limits->max_texture_size) && is_addressable(l);
}

bool tsr_layout_same(const tsr_layout *a, const tsr_layout *b) {
    return a->n == b->n && a->c == b->c && a->h == b->h && a->w == b->w && a->planes == b->planes &&
           a->pixel_stride == b->pixel_stride && a->linear == b->linear &&
           a->first_tiles == b->first_tiles && a->first_stride == b->first_stride &&
           a->columns_log2 == b->columns_log2 && a->format == b->format && a->scale == b->scale &&
           a->zero_point == b->zero_point;
}

uint64_t tsr_layout_bytes(const tsr_layout *l) {
    uint64_t rows = (uint64_t)l->texture_h + (l->buffer ? 0 : TSR_ZERO_ROWS);
    uint64_t texel_bytes = l->bytes ? 4 : (uint64_t)tsr_texel_bytes(l->format);
    return (uint64_t)l->texture_w * rows * (uint64_t)l->planes * texel_bytes;
}

size_t tsr_layout_floats(const tsr_layout *l) {
    return (size_t)l->texture_w * (size_t)l->texture_h * (size_t)l->planes * 4;
}

/* Index, in texels of all planes, of tile k at row y, column x. */
static size_t texel_index(const tsr_layout *l, size_t k, size_t y, size_t x) {
    size_t plane_size = (size_t)l->texture_w * (size_t)l->texture_h;
    size_t planes = (size_t)l->planes, pixel_stride = (size_t)l->pixel_stride;
    size_t tile_w = (size_t)l->tile_w, h = (size_t)l->h;
    size_t plane = x / pixel_stride % planes,
           column = x % pixel_stride * (tile_w / pixel_stride) + x / (pixel_stride * planes);
    if (l->linear)
        return plane * plane_size + (k * h + y) * tile_w + column;
    size_t grid_x = k & (((size_t)1 << l->columns_log2) - 1), grid_y = k >> l->columns_log2;
    return plane * plane_size + (grid_y * h + y) * (size_t)l->texture_w + grid_x * tile_w + column;
}

typedef void texel_fn(float *texel, float *elements, size_t stride, int channels);

/* Visits every pixel's texel with its first element and how many channels it holds. */
static void each_texel(const tsr_layout *l, float *texels, float *elements, texel_fn *fn) {
    int64_t stride[4];
    tsr_layout_strides(l, stride);
    for (int k = 0; k < l->n * l->tiles; k++) {
        int n = k / l->tiles, c = k % l->tiles * 4, channels = l->c - c < 4 ? l->c - c : 4;
        float *tile = elements + n * stride[TSR_AXIS_N] + c * stride[TSR_AXIS_C];
        for (int y = 0; y < l->h; y++)
            for (int x = 0; x < l->w; x++)
                fn(texels + texel_index(l, (size_t)k, (size_t)y, (size_t)x) * 4,
                   tile + y * stride[TSR_AXIS_H] + x * stride[TSR_AXIS_W],
                   (size_t)stride[TSR_AXIS_C], channels);
    }
}

static void pack_texel(float *texel, float *elements, size_t stride, int channels) {
    for (int i = 0; i < 4; i++)
        texel[i] = i < channels ? elements[(size_t)i * stride] : 0;
}

static void unpack_texel(float *texel, float *elements, size_t stride, int channels) {
    for (int i = 0; i < channels; i++)
        elements[(size_t)i * stride] = texel[i];
}

void tsr_layout_pack(const tsr_layout *l, const float *elements, float padding, float *texels) {
    size_t floats = tsr_layout_floats(l);
    for (size_t i = 0; i < floats; i++)
        texels[i] = padding;
    each_texel(l, texels, (float *)elements, pack_texel);
}

void tsr_layout_unpack(const tsr_layout *l, const float *texels, float *elements) {
    each_texel(l, (float *)texels, elements, unpack_texel);
}
