#include "yuv.h"

#include <string.h>

/* Chroma samples are for 1 << shift pixels; between them if centred, else on the first. */
static const struct chroma_info {
    const char *name;
    int shift_x, shift_y;
    bool centred_x, centred_y;
} chromas[YUV_CHROMA_COUNT] = {
    [YUV_420JPEG] = {"420jpeg", 1, 1, true, true},
    [YUV_420MPEG2] = {"420mpeg2", 1, 1, false, true},
    [YUV_420PALDV] = {"420paldv", 1, 1, false, false},
    [YUV_422] = {"422", 1, 0, false, false},
    [YUV_444] = {"444", 0, 0, false, false},
    [YUV_MONO] = {"mono", 0, 0, false, false},
};

bool yuv_find(const char *name, yuv_chroma *chroma) {
    for (int i = 0; i < YUV_CHROMA_COUNT; i++)
        if (strcmp(chromas[i].name, name) == 0) {
            *chroma = (yuv_chroma)i;
            return true;
        }
    *chroma = YUV_420JPEG;
    return strcmp(name, "420") == 0;
}

const char *yuv_name(yuv_chroma chroma) {
    return chromas[chroma].name;
}

static size_t shifted(int size, int shift) {
    return (size_t)(size + (1 << shift) - 1) >> shift;
}

size_t yuv_bytes(yuv_format format, int width, int height) {
    const struct chroma_info *c = &chromas[format.chroma];
    size_t luma = (size_t)width * (size_t)height;
    return format.chroma == YUV_MONO
               ? luma
               : luma + 2 * shifted(width, c->shift_x) * shifted(height, c->shift_y);
}

yuv_components yuv_of(double r, double g, double b) {
    double y = 0.299 * r + 0.587 * g + 0.114 * b;
    return (yuv_components){y, (b - y) / 1.772, (r - y) / 1.402};
}

void yuv_mix(yuv_components c, double rgb[3]) {
    rgb[0] = c.y + 1.402 * c.cr;
    rgb[1] = c.y - 0.344136 * c.cb - 0.714136 * c.cr;
    rgb[2] = c.y + 1.772 * c.cb;
}

static unsigned char to_byte(double value) {
    return !(value > 0) ? 0 : value >= 255 ? 255 : (unsigned char)(value + 0.5);
}

/* ---- to RGB ---------------------------------------------------------------------------------- */

/* The two samples that pixel `at` is between, and the share of the second. */
typedef struct between {
    size_t first, second;
    double share;
} between;

static between place(size_t at, int shift, bool centred, size_t count) {
    if (!shift)
        return (between){at, at, 0};
    size_t half = at / 2;
    bool odd = at % 2;
    between made = {half, half + odd, odd ? 0.5 : 0};
    if (centred)
        made = odd ? (between){half, half + 1, 0.25} : (between){half ? half - 1 : 0, half, 0.75};
    made.second = made.second < count ? made.second : count - 1;
    return made;
}

static double sample(const unsigned char *plane, size_t width, between y, between x) {
    const unsigned char *above = plane + y.first * width, *below = plane + y.second * width;
    double upper = above[x.first] + x.share * (above[x.second] - above[x.first]),
           lower = below[x.first] + x.share * (below[x.second] - below[x.first]);
    return upper + y.share * (lower - upper);
}

static void make_pixel(yuv_format format, double y, double cb, double cr, unsigned char *rgb) {
    double luma = format.full_range ? y : (y - 16) * 255 / 219,
           scale = format.full_range ? 1 : 255.0 / 224;
    double mixed[3];
    yuv_mix((yuv_components){luma, (cb - 128) * scale, (cr - 128) * scale}, mixed);
    for (int i = 0; i < 3; i++)
        rgb[i] = to_byte(mixed[i]);
}

void yuv_to_rgb(yuv_format format, int width, int height, const unsigned char *planes,
                unsigned char *rgb) {
    const struct chroma_info *c = &chromas[format.chroma];
    size_t columns = shifted(width, c->shift_x), rows = shifted(height, c->shift_y);
    const unsigned char *cb = planes + (size_t)width * (size_t)height, *cr = cb + columns * rows;
    for (size_t y = 0; y < (size_t)height; y++) {
        between row = place(y, c->shift_y, c->centred_y, rows);
        for (size_t x = 0; x < (size_t)width; x++, rgb += 3) {
            double luma = planes[y * (size_t)width + x];
            between column = place(x, c->shift_x, c->centred_x, columns);
            if (format.chroma == YUV_MONO)
                make_pixel(format, luma, 128, 128, rgb);
            else
                make_pixel(format, luma, sample(cb, columns, row, column),
                           sample(cr, columns, row, column), rgb);
        }
    }
}

/* ---- from RGB -------------------------------------------------------------------------------- */

static yuv_components components_of(const unsigned char *rgb) {
    return yuv_of(rgb[0], rgb[1], rgb[2]);
}

/* Pixels that chroma sample `at` is the mean of, with their weights; those beyond the edge are the
 * edge's. */
static int cover(size_t at, int shift, bool centred, size_t count, size_t pixels[3],
                 double weights[3]) {
    static const double pair[] = {0.5, 0.5, 0}, triple[] = {0.25, 0.5, 0.25};
    size_t first = at << shift;
    int taps = !shift ? 1 : centred ? 2 : 3;
    for (int i = 0; i < taps; i++) {
        size_t pixel = first + (size_t)i;
        if (taps == 3)
            pixel = pixel ? pixel - 1 : 0;
        pixels[i] = pixel < count ? pixel : count - 1;
        weights[i] = taps == 1 ? 1 : taps == 2 ? pair[i] : triple[i];
    }
    return taps;
}

static void make_chroma(yuv_format format, int width, int height, const unsigned char *rgb,
                        unsigned char *cb) {
    const struct chroma_info *c = &chromas[format.chroma];
    size_t columns = shifted(width, c->shift_x), rows = shifted(height, c->shift_y);
    unsigned char *cr = cb + columns * rows;
    double scale = format.full_range ? 1 : 224.0 / 255;
    for (size_t i = 0; i < columns * rows; i++) {
        size_t ys[3], xs[3];
        double wy[3], wx[3], sum_cb = 0, sum_cr = 0;
        int ny = cover(i / columns, c->shift_y, c->centred_y, (size_t)height, ys, wy),
            nx = cover(i % columns, c->shift_x, c->centred_x, (size_t)width, xs, wx);
        for (int k = 0; k < ny * nx; k++) {
            yuv_components one = components_of(rgb + 3 * (ys[k / nx] * (size_t)width + xs[k % nx]));
            sum_cb += wy[k / nx] * wx[k % nx] * one.cb;
            sum_cr += wy[k / nx] * wx[k % nx] * one.cr;
        }
        cb[i] = to_byte(128 + sum_cb * scale);
        cr[i] = to_byte(128 + sum_cr * scale);
    }
}

void yuv_from_rgb(yuv_format format, int width, int height, const unsigned char *rgb,
                  unsigned char *planes) {
    size_t count = (size_t)width * (size_t)height;
    for (size_t i = 0; i < count; i++) {
        double y = components_of(rgb + 3 * i).y;
        planes[i] = to_byte(format.full_range ? y : 16 + y * 219 / 255);
    }
    if (format.chroma != YUV_MONO)
        make_chroma(format, width, height, rgb, planes + count);
}
