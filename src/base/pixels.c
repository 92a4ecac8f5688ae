/* Pictures to tensors and back, in double precision: the reference of the kernels
 * tensor_from_pixels and pixels_from_tensor. */
#include "base/elements.h"

#include <math.h>

bool tsr_picture_shape_of(const tsr_shape *shape, bool channels_last, tsr_picture_shape *p) {
    const int64_t *d = shape->dim;
    int rank = shape->rank;
    *p = (tsr_picture_shape){1, 0, 0, 1};
    if (rank < 2 || rank > 4)
        return false;
    if (rank == 4)
        p->images = *d++;
    if (rank == 2)
        *p = (tsr_picture_shape){1, d[0], d[1], 1};
    else if (channels_last)
        *p = (tsr_picture_shape){p->images, d[0], d[1], d[2]};
    else
        *p = (tsr_picture_shape){p->images, d[1], d[2], d[0]};
    return p->channels == 1 || p->channels == 3 || p->channels == 4;
}

int tsr_pixel_bytes(tsr_pixel_format format) {
    return format == TSR_PIXELS_GRAY8 ? 1 : format >= TSR_PIXELS_RGB8 ? 3 : 4;
}

bool tsr_pixels_swap(const tsr_pixels *p, int64_t channels, bool to_tensor) {
    bool format_swaps = p->format == TSR_PIXELS_BGRA8 || p->format == TSR_PIXELS_BGR8;
    bool tensor_swaps = p->bgr && channels != 1;
    if (p->format == TSR_PIXELS_GRAY8)
        return !to_tensor && tensor_swaps; /* for its luma */
    return channels == 1 && !to_tensor ? false : format_swaps != tensor_swaps;
}

/* ---- resampling ------------------------------------------------------------------------------ */

/* Sample `at` of `to` is a sum of samples first to last of `from`: see glsl/resample.glsl. */
typedef struct taps {
    int64_t at, from, to, first, last;
    tsr_pixel_filter filter;
} taps;

static int64_t floor_divide(int64_t a, int64_t b) {
    return a < 0 ? -((b - 1 - a) / b) : a / b;
}

static taps taps_of(tsr_pixel_filter filter, int64_t at, int64_t from, int64_t to) {
    taps t = {.at = at, .from = from, .to = to, .filter = filter};
    if (filter == TSR_FILTER_AREA && from <= to)
        t.filter = TSR_FILTER_LINEAR;
    if (t.filter == TSR_FILTER_NEAREST) {
        t.first = t.last = (2 * at + 1) * from / (2 * to);
    } else if (t.filter == TSR_FILTER_AREA) {
        t.first = at * from / to;
        t.last = ((at + 1) * from - 1) / to;
    } else {
        t.first = floor_divide((2 * at + 1) * from - to, 2 * to);
        t.last = from == to ? t.first : t.first + 1;
    }
    return t;
}

static double weight_of(const taps *t, int64_t i) {
    if (t->filter == TSR_FILTER_NEAREST)
        return 1;
    if (t->filter == TSR_FILTER_AREA) {
        double begin = (double)t->at * (double)t->from / (double)t->to,
               end = (double)(t->at + 1) * (double)t->from / (double)t->to;
        return (fmin((double)(i + 1), end) - fmax((double)i, begin)) / (end - begin);
    }
    double position = ((double)t->at + 0.5) * (double)t->from / (double)t->to - 0.5;
    return 1 - fabs(position - (double)i);
}

static int64_t clamped(int64_t i, int64_t size) {
    return i < 0 ? 0 : i < size ? i : size - 1;
}

typedef struct color {
    double channel[4];
} color;

typedef color read_fn(const void *picture, int64_t y, int64_t x);

/* Pixel (y, x) of the picture at another size. */
static color resample(const void *picture, read_fn *read, taps rows, taps columns) {
    color sum = {{0}};
    for (int64_t y = rows.first; y <= rows.last; y++)
        for (int64_t x = columns.first; x <= columns.last; x++) {
            color v = read(picture, clamped(y, rows.from), clamped(x, columns.from));
            double weight = weight_of(&rows, y) * weight_of(&columns, x);
            for (int i = 0; i < 4; i++)
                sum.channel[i] += weight * v.channel[i];
        }
    return sum;
}

static double luma(const color *c) {
    return 0.299 * c->channel[0] + 0.587 * c->channel[1] + 0.114 * c->channel[2];
}

static color swapped(color c, bool swap) {
    return swap ? (color){{c.channel[2], c.channel[1], c.channel[0], c.channel[3]}} : c;
}

/* ---- both ways ------------------------------------------------------------------------------- */

static unsigned char *pixel_at(const tsr_pixels *p, int64_t y, int64_t x) {
    return (unsigned char *)p->data + y * p->stride + x * tsr_pixel_bytes(p->format);
}

static color read_pixel(const void *picture, int64_t y, int64_t x) {
    const tsr_pixels *p = picture;
    const unsigned char *at = pixel_at(p, y, x);
    int bytes = tsr_pixel_bytes(p->format);
    color c = {{at[0], at[0], at[0], 255}};
    for (int i = 0; i < bytes && bytes > 1; i++)
        c.channel[i] = at[i];
    return c;
}

typedef struct picture {
    const float *floats;
    tsr_picture_shape shape;
    int image;
    bool channels_last;
} picture;

static size_t index_of(const picture *p, int64_t y, int64_t x, int64_t channel) {
    const tsr_picture_shape *s = &p->shape;
    int64_t i = p->channels_last
                    ? ((p->image * s->height + y) * s->width + x) * s->channels + channel
                    : ((p->image * s->channels + channel) * s->height + y) * s->width + x;
    return (size_t)i;
}

static color read_element(const void *pixels, int64_t y, int64_t x) {
    const picture *p = pixels;
    color c = {{0}};
    for (int i = 0; i < p->shape.channels; i++)
        c.channel[i] = (double)p->floats[index_of(p, y, x, i)];
    return c;
}

void tsr_pixels_to_floats(const tsr_pixels *from, const tsr_shape *shape, float *floats) {
    picture to = {.image = from->image, .channels_last = from->channels_last};
    tsr_picture_shape_of(shape, from->channels_last, &to.shape);
    bool swap = tsr_pixels_swap(from, to.shape.channels, true);
    for (int64_t y = 0; y < to.shape.height; y++) {
        taps rows = taps_of(from->filter, y, from->height, to.shape.height);
        for (int64_t x = 0; x < to.shape.width; x++) {
            taps columns = taps_of(from->filter, x, from->width, to.shape.width);
            color c = swapped(resample(from, read_pixel, rows, columns), swap);
            if (to.shape.channels == 1)
                c.channel[0] = luma(&c);
            for (int i = 0; i < to.shape.channels; i++)
                floats[index_of(&to, y, x, i)] =
                    (float)((c.channel[i] - (double)from->mean[i]) * (double)from->scale[i]);
        }
    }
}

static unsigned char byte_of(double value) {
    return value >= 255 ? 255 : value > 0 ? (unsigned char)(value + 0.5) : 0;
}

static void write_pixel(const tsr_pixels *to, const color *c, int64_t y, int64_t x) {
    unsigned char *at = pixel_at(to, y, x);
    int bytes = tsr_pixel_bytes(to->format);
    if (bytes == 1)
        at[0] = byte_of(luma(c));
    for (int i = 0; i < bytes && bytes > 1; i++)
        at[i] = byte_of(c->channel[i]);
}

static color denormalized(const tsr_pixels *p, color c, int64_t channels) {
    for (int i = 0; i < 4; i++)
        c.channel[i] = c.channel[i] / (double)p->scale[i] + (double)p->mean[i];
    if (channels == 1)
        c.channel[1] = c.channel[2] = c.channel[0];
    if (channels < 4)
        c.channel[3] = 255;
    return c;
}

void tsr_pixels_from_floats(const float *floats, const tsr_shape *shape, const tsr_pixels *to) {
    picture from = {.floats = floats, .image = to->image, .channels_last = to->channels_last};
    tsr_picture_shape_of(shape, to->channels_last, &from.shape);
    bool swap = tsr_pixels_swap(to, from.shape.channels, false);
    for (int64_t y = 0; y < to->height; y++) {
        taps rows = taps_of(to->filter, y, from.shape.height, to->height);
        for (int64_t x = 0; x < to->width; x++) {
            taps columns = taps_of(to->filter, x, from.shape.width, to->width);
            color c = resample(&from, read_element, rows, columns);
            c = swapped(denormalized(to, c, from.shape.channels), swap);
            write_pixel(to, &c, y, x);
        }
    }
}
