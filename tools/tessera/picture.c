#define _POSIX_C_SOURCE 200809L
#include "picture.h"
#include "exif.h"
#include "tensor.h"
#include "tool.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define STBI_NO_STDIO
#include <stb/stb_image.h>
#include <stb/stb_image_resize.h>
#ifdef TESSERA_WEBP
#include <webp/decode.h>
#endif

enum { DEFAULT_MEGAPIXELS = 32, MAX_SIDE = 32768 };

bool picture_is_file(const char *path) {
    static const char *const extensions[] = {".png", ".jpg", ".jpeg", ".gif", ".bmp",
                                             ".ppm", ".pgm", ".tga",  ".webp"};
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (file_is(path, extensions[i]))
            return true;
    return false;
}

tsr_status picture_create(const char *name, int width, int height, int channels, picture *made) {
    size_t count = (size_t)width * (size_t)height, each = (size_t)channels * sizeof *made->pixels;
    *made = (picture){NULL, width, height, channels};
    if (count <= SIZE_MAX / each)
        made->pixels = calloc(count ? count : 1, each);
    return made->pixels ? TSR_OK
                        : fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory for %d x %d pixels",
                               name, width, height);
}

void picture_free(picture *image) {
    free(image->pixels);
    *image = (picture){0};
}

static uint16_t *pixel_at(const picture *image, int x, int y) {
    return image->pixels + ((size_t)y * (size_t)image->width + (size_t)x) * (size_t)image->channels;
}

/* ---- 8-bit pixels ---------------------------------------------------------------------------- */

/* Grey with the weights of stb_image. */
static void spread_pixel(const unsigned char *rgb, int channels, uint16_t *pixel) {
    if (channels == 1)
        pixel[0] = (uint16_t)(((rgb[0] * 77 + rgb[1] * 150 + rgb[2] * 29) >> 8) * 257);
    for (int c = 0; c < 3 && channels > 1; c++)
        pixel[c] = (uint16_t)(rgb[c] * 257);
    if (channels == 4)
        pixel[3] = UINT16_MAX;
}

tsr_status picture_from_rgb(const unsigned char *rgb, int width, int height, int channels,
                            const char *name, picture *made) {
    TRY(picture_create(name, width, height, channels, made));
    size_t count = (size_t)width * (size_t)height;
    for (size_t i = 0; i < count; i++)
        spread_pixel(rgb + 3 * i, channels, made->pixels + i * (size_t)channels);
    return TSR_OK;
}

/* ---- formats --------------------------------------------------------------------------------- */

static tsr_status fail_format(const char *path, const char *why) {
    return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: cannot be read as an image: %s", path, why);
}

/* Of few bytes there may be very many pixels. */
tsr_status picture_check(const char *path, int width, int height, int most) {
    most = most ? most : DEFAULT_MEGAPIXELS;
    if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE)
        return fail_format(path, "its size is not 1 x 1 to 32768 x 32768");
    if ((int64_t)width * height <= (int64_t)most * 1000000)
        return TSR_OK;
    return fail(TSR_ERROR_INVALID_ARGUMENT,
                "%s: %d x %d pixels are more than %d million (--max-megapixels lifts the limit)",
                path, width, height, most);
}

/* Composites colours with alpha over white, in place. */
static void blend_over_white(picture *image) {
    size_t count = (size_t)image->width * (size_t)image->height;
    uint16_t *pixels = image->pixels;
    const uint16_t *from = pixels;
    for (size_t i = 0; i < count; i++, from++) {
        uint64_t alpha = from[image->channels];
        for (int c = 0; c < image->channels; c++)
            *pixels++ = (uint16_t)((*from++ * alpha + 65535 * (65535 - alpha) + 32767) / 65535);
    }
}

static tsr_status measure_stb(const char *path, const unsigned char *bytes, size_t size,
                              picture *made) {
    int stored;
    if (size > INT_MAX)
        return fail_format(path, "too large");
    return stbi_info_from_memory(bytes, (int)size, &made->width, &made->height, &stored)
               ? TSR_OK
               : fail_format(path, stbi_failure_reason());
}

static tsr_status read_stb(const char *path, const unsigned char *bytes, size_t size,
                           picture *made) {
    int stored, channels = made->channels, wanted = channels == 4 ? 4 : channels + 1;
    made->pixels =
        stbi_load_16_from_memory(bytes, (int)size, &made->width, &made->height, &stored, wanted);
    if (!made->pixels)
        return fail_format(path, stbi_failure_reason());
    if (wanted > channels)
        blend_over_white(made);
    return TSR_OK;
}

static bool is_webp(const unsigned char *bytes, size_t size) {
    return size >= 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0;
}

#ifdef TESSERA_WEBP
static void spread_rgba(const unsigned char *rgba, int channels, uint16_t *pixel) {
    unsigned char rgb[3];
    for (int c = 0; c < 3; c++)
        rgb[c] = channels == 4
                     ? rgba[c]
                     : (unsigned char)((rgba[c] * rgba[3] + 255 * (255 - rgba[3]) + 127) / 255);
    spread_pixel(rgb, channels, pixel);
    if (channels == 4)
        pixel[3] = (uint16_t)(rgba[3] * 257);
}

static tsr_status measure_webp(const char *path, const unsigned char *bytes, size_t size,
                               picture *made) {
    return WebPGetInfo(bytes, size, &made->width, &made->height)
               ? TSR_OK
               : fail_format(path, "bad WebP header");
}

static tsr_status read_webp(const char *path, const unsigned char *bytes, size_t size,
                            picture *made) {
    int width, height, channels = made->channels;
    unsigned char *rgba = WebPDecodeRGBA(bytes, size, &width, &height);
    if (!rgba)
        return fail_format(path, "bad WebP data, or an animation");
    tsr_status status = picture_create(path, width, height, channels, made);
    size_t count = status == TSR_OK ? (size_t)width * (size_t)height : 0;
    for (size_t i = 0; i < count; i++)
        spread_rgba(rgba + 4 * i, channels, made->pixels + i * (size_t)channels);
    WebPFree(rgba);
    return status;
}
#else
static tsr_status measure_webp(const char *path, const unsigned char *bytes, size_t size,
                               picture *made) {
    (void)bytes, (void)size, (void)made;
    return fail(TSR_ERROR_UNSUPPORTED,
                "%s: WebP is not read by this build: install libwebp-dev and build again, or "
                "convert the file to PNG",
                path);
}
#define read_webp measure_webp
#endif

/* ---- orientation ----------------------------------------------------------------------------- */

/* Where pixel (x, y) of the upright picture, w x h, is in the stored one. */
static void stored_place(int orientation, int w, int h, int *x, int *y) {
    bool flips_x = (1 << orientation) & (1 << 2 | 1 << 3 | 1 << 6 | 1 << 7),
         flips_y = (1 << orientation) & (1 << 3 | 1 << 4 | 1 << 7 | 1 << 8);
    int column = flips_x ? w - 1 - *x : *x, row = flips_y ? h - 1 - *y : *y;
    *x = orientation < 5 ? column : row; /* of 5 to 8 rows are columns */
    *y = orientation < 5 ? row : column;
}

static tsr_status turn_upright(const char *path, int orientation, picture *image) {
    if (orientation == 1)
        return TSR_OK;
    bool swaps = orientation >= 5;
    int width = swaps ? image->height : image->width, height = swaps ? image->width : image->height;
    picture made;
    TRY(picture_create(path, width, height, image->channels, &made));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int column = x, row = y;
            stored_place(orientation, width, height, &column, &row);
            memcpy(pixel_at(&made, x, y), pixel_at(image, column, row),
                   (size_t)made.channels * sizeof *made.pixels);
        }
    picture_free(image);
    *image = made;
    return TSR_OK;
}

static tsr_status measure(const char *path, const unsigned char *bytes, size_t size, int most,
                          picture *made) {
    TRY(is_webp(bytes, size) ? measure_webp(path, bytes, size, made)
                             : measure_stb(path, bytes, size, made));
    return picture_check(path, made->width, made->height, most);
}

tsr_status picture_size(const char *path, int most_megapixels, int *width, int *height) {
    unsigned char *bytes;
    size_t size;
    picture stored = {0};
    TRY(file_read(path, &bytes, &size));
    tsr_status status = measure(path, bytes, size, most_megapixels, &stored);
    bool swaps = exif_orientation(bytes, size) >= 5;
    free(bytes);
    *width = swaps ? stored.height : stored.width;
    *height = swaps ? stored.width : stored.height;
    return status;
}

tsr_status picture_read(const char *path, int channels, int most_megapixels, picture *made) {
    unsigned char *bytes;
    size_t size;
    *made = (picture){.channels = channels};
    TRY(file_read(path, &bytes, &size));
    tsr_status status = measure(path, bytes, size, most_megapixels, made);
    if (status == TSR_OK)
        status = is_webp(bytes, size) ? read_webp(path, bytes, size, made)
                                      : read_stb(path, bytes, size, made);
    if (status == TSR_OK)
        status = turn_upright(path, exif_orientation(bytes, size), made);
    free(bytes);
    if (status != TSR_OK)
        picture_free(made);
    return status;
}

/* ---- scaling --------------------------------------------------------------------------------- */

/* The filter blurs even if the size stays the same. */
bool picture_scale(const picture *from, int x, int y, int w, int h, picture *to) {
    const uint16_t *corner = pixel_at(from, x, y);
    size_t row = (size_t)from->width * (size_t)from->channels;
    if (w == to->width && h == to->height) {
        size_t line = (size_t)w * (size_t)from->channels;
        for (size_t i = 0; i < (size_t)h; i++)
            memcpy(to->pixels + i * line, corner + i * row, line * sizeof *to->pixels);
        return true;
    }
    return stbir_resize_uint16_generic(corner, w, h, (int)(row * sizeof *corner), to->pixels,
                                       to->width, to->height, 0, from->channels,
                                       STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP,
                                       STBIR_FILTER_DEFAULT, STBIR_COLORSPACE_LINEAR, NULL);
}
