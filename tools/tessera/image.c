#define _POSIX_C_SOURCE 200809L
#include "image.h"
#include "tool.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#include <stb/stb_image.h>
#include <stb/stb_image_resize.h>
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

enum { ORDER_RGB, ORDER_BGR, ORDER_GRAY };
enum { LAYOUT_AUTO, LAYOUT_NCHW, LAYOUT_NHWC };
enum { FIT_SCALE, FIT_CROP, FIT_REFUSE };
enum { JPEG_QUALITY = 95 };

static const char *const orders[] = {"rgb", "bgr", "gray", NULL};
static const char *const layouts[] = {"auto", "nchw", "nhwc", NULL};
static const char *const fits[] = {"scale", "crop", "refuse", NULL};

/* 16-bit pixels, top row first. */
typedef struct picture {
    uint16_t *pixels;
    int width, height, channels;
} picture;

void image_add_options(option_set *set, image_options *o) {
    const option items[] = {
        {"range", 0, "LO:HI", "images: value range of pixels 0..255, for inputs and outputs (0:1)",
         OPTION_TEXT, &o->range_text, 0, NULL},
        {"out-range", 0, "LO:HI", "images: value range of pixels 0..255 for outputs (--range)",
         OPTION_TEXT, &o->out_range_text, 0, NULL},
        {"mean", 0, "M[,M..]", "images: per-channel mean, subtracted after --range", OPTION_TEXT,
         &o->mean_text, 0, NULL},
        {"scale", 0, "S[,S..]", "images: per-channel factor, applied after --mean", OPTION_TEXT,
         &o->scale_text, 0, NULL},
        {"threshold", 0, "T", "images: binarize; pixels above T (0 to 1) become white", OPTION_TEXT,
         &o->threshold_text, 0, NULL},
        {"channels", 0, "ORDER",
         "images: rgb, bgr or gray (rgb; gray if the model has one channel)", OPTION_CHOICE,
         &o->channel_order, 0, orders},
        {"layout", 0, "LAYOUT", "images: nchw, nhwc or auto (by the axis of 1, 3 or 4 channels)",
         OPTION_CHOICE, &o->layout, 0, layouts},
        {"max-megapixels", 0, "N", "images: refuse those of more millions of pixels (32)",
         OPTION_INT, &o->most_megapixels, 1, NULL},
        {"fit", 0, "HOW", "images of another size: scale, crop (centre) or refuse (scale)",
         OPTION_CHOICE, &o->fit, 0, fits},
    };
    OPTIONS_ADD(set, items);
}

/* ---- options --------------------------------------------------------------------------------- */

static tsr_status parse_range(const char *name, const char *text, double range[2]) {
    char *end;
    range[0] = strtod(text, &end);
    bool good = end != text && *end == ':';
    const char *second = end + 1;
    if (good) {
        range[1] = strtod(second, &end);
        good = end != second && !*end && isfinite(range[0]) && isfinite(range[1]) &&
               range[0] != range[1];
    }
    return good ? TSR_OK
                : fail(TSR_ERROR_INVALID_ARGUMENT, "--%s expects LO:HI, as in -1:1, not '%s'", name,
                       text);
}

static tsr_status parse_per_channel(const char *name, char *text, double values[4], int *count) {
    text_list list;
    bool good = text_split(text, &list) && (list.count == 1 || list.count == 3 || list.count == 4);
    for (int i = 0; good && i < list.count; i++) {
        char *end;
        values[i] = strtod(list.items[i], &end);
        good = end != list.items[i] && !*end && isfinite(values[i]);
    }
    *count = list.count;
    return good ? TSR_OK
                : fail(TSR_ERROR_INVALID_ARGUMENT,
                       "--%s expects 1, 3 or 4 numbers separated by commas", name);
}

tsr_status image_options_parse(image_options *o) {
    TRY(parse_range("range", o->range_text ? o->range_text : "0:1", o->range));
    memcpy(o->out_range, o->range, sizeof o->out_range);
    if (o->out_range_text)
        TRY(parse_range("out-range", o->out_range_text, o->out_range));
    if (o->threshold_text) {
        char *end;
        o->threshold = strtod(o->threshold_text, &end);
        if (end == o->threshold_text || *end || !(o->threshold >= 0 && o->threshold <= 1))
            return fail(TSR_ERROR_INVALID_ARGUMENT,
                        "--threshold expects a number from 0 to 1, not '%s'", o->threshold_text);
    }
    if (o->mean_text)
        TRY(parse_per_channel("mean", o->mean_text, o->mean, &o->mean_count));
    if (o->scale_text)
        TRY(parse_per_channel("scale", o->scale_text, o->scale, &o->scale_count));
    return TSR_OK;
}

const char *const *image_choices(image_choice which) {
    return which == IMAGE_ORDERS ? orders : which == IMAGE_LAYOUTS ? layouts : fits;
}

bool image_is_scaled(const image_options *options) {
    return options->fit == FIT_SCALE;
}

bool image_is_file(const char *path) {
    return file_is(path, ".png") || file_is(path, ".jpg") || file_is(path, ".jpeg");
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static bool is_channel_count(int64_t size) {
    return size == 1 || size == 3 || size == 4;
}

static bool choose_layout(int64_t first, int64_t last, int layout) {
    if (layout != LAYOUT_AUTO)
        return layout == LAYOUT_NHWC;
    return !is_channel_count(first) && is_channel_count(last);
}

bool image_view_of(const tsr_shape *shape, const image_options *options, image_view *view) {
    const int64_t *dim = shape->dim;
    if (shape->rank == 4 && (dim[0] == 1 || dim[0] == -1))
        dim++;
    else if (shape->rank == 2) {
        *view = (image_view){false, 1, dim[0], dim[1]};
        return true;
    } else if (shape->rank != 3)
        return false;
    bool last = choose_layout(dim[0], dim[2], options->layout);
    *view = last ? (image_view){true, dim[2], dim[0], dim[1]}
                 : (image_view){false, dim[0], dim[1], dim[2]};
    if (view->channels == -1)
        view->channels = 3;
    return is_channel_count(view->channels);
}

static void shape_of_view(const image_view *view, tsr_shape *shape) {
    int64_t *dim = shape->dim;
    if (shape->rank == 4)
        *dim++ = 1;
    if (shape->rank == 2) {
        dim[0] = view->height;
        dim[1] = view->width;
        return;
    }
    dim[0] = view->channels_last ? view->height : view->channels;
    dim[1] = view->channels_last ? view->width : view->height;
    dim[2] = view->channels_last ? view->channels : view->width;
}

/* Distance between neighbours along x, y and channels, in elements. */
typedef struct steps {
    size_t x, y, channel;
} steps;

static steps steps_of_view(const image_view *view) {
    size_t width = (size_t)view->width, height = (size_t)view->height,
           channels = (size_t)view->channels;
    return view->channels_last ? (steps){channels, width * channels, 1}
                               : (steps){1, width, width * height};
}

label image_describe(const tsr_tensor_info *input) {
    image_view view;
    label made = {""};
    const image_options defaults = {0};
    if (!image_view_of(&input->shape, &defaults, &view)) {
        snprintf(made.text, sizeof made.text, "not readable from one image; give .npy or .pb");
        return made;
    }
    static const char *const colours[] = {"", "grey", "", "RGB", "RGBA"};
    char size[64] = "the image's own size";
    if (view.width > 0 && view.height > 0)
        snprintf(size, sizeof size, "scaled to %lld x %lld", (long long)view.width,
                 (long long)view.height);
    snprintf(made.text, sizeof made.text, "%s, %s, %s, 0..255 becomes %s", colours[view.channels],
             view.channels_last ? "channels last" : "channels first", size,
             dtype_is_integer(input->dtype) ? "0..255" : "0..1");
    return made;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Composites colours with alpha over white, in place. */
static void blend_over_white(uint16_t *pixels, size_t count, int channels) {
    const uint16_t *from = pixels;
    for (size_t i = 0; i < count; i++, from++) {
        uint64_t alpha = from[channels];
        for (int c = 0; c < channels; c++)
            *pixels++ = (uint16_t)((*from++ * alpha + 65535 * (65535 - alpha) + 32767) / 65535);
    }
}

/* Of few bytes there may be very many pixels. */
static tsr_status check_pixels(const char *path, const unsigned char *bytes, size_t size,
                               int most) {
    int width, height, stored;
    most = most ? most : 32;
    if (size > INT_MAX || !stbi_info_from_memory(bytes, (int)size, &width, &height, &stored))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: cannot be read as an image: %s", path,
                    size <= INT_MAX ? stbi_failure_reason() : "too large");
    if ((int64_t)width * height > (int64_t)most * 1000000)
        return fail(
            TSR_ERROR_INVALID_ARGUMENT,
            "%s: %d x %d pixels are more than %d million (--max-megapixels lifts the limit)", path,
            width, height, most);
    return TSR_OK;
}

static tsr_status decode(const char *path, int channels, const image_options *options,
                         picture *made) {
    unsigned char *bytes;
    size_t size;
    TRY(file_read(path, &bytes, &size));
    int stored;
    bool alpha_wanted = channels == 4;
    *made = (picture){.channels = channels};
    tsr_status status = check_pixels(path, bytes, size, options->most_megapixels);
    if (status == TSR_OK)
        made->pixels = stbi_load_16_from_memory(bytes, (int)size, &made->width, &made->height,
                                                &stored, alpha_wanted ? 4 : channels + 1);
    free(bytes);
    TRY(status);
    if (!made->pixels)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: cannot be read as an image: %s", path,
                    stbi_failure_reason());
    if (!alpha_wanted)
        blend_over_white(made->pixels, (size_t)made->width * (size_t)made->height, channels);
    return TSR_OK;
}

/* The largest centred crop with the aspect ratio of width x height. */
static void crop(const picture *from, int width, int height, int *x, int *y, int *w, int *h) {
    *w = from->width;
    *h = from->height;
    if ((int64_t)from->width * height > (int64_t)from->height * width)
        *w = (int)((int64_t)from->height * width / height);
    else
        *h = (int)((int64_t)from->width * height / width);
    *w = *w ? *w : 1;
    *h = *h ? *h : 1;
    *x = (from->width - *w) / 2;
    *y = (from->height - *h) / 2;
}

/* row: row stride in elements. The filter blurs even if the size stays the same. */
static bool resample(const uint16_t *from, size_t row, int w, int h, uint16_t *to, int width,
                     int height, int channels) {
    if (w == width && h == height) {
        size_t line = (size_t)width * (size_t)channels;
        for (size_t y = 0; y < (size_t)h; y++)
            memcpy(to + y * line, from + y * row, line * sizeof *to);
        return true;
    }
    return stbir_resize_uint16_generic(from, w, h, (int)(row * sizeof *from), to, width, height, 0,
                                       channels, STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP,
                                       STBIR_FILTER_DEFAULT, STBIR_COLORSPACE_LINEAR, NULL);
}

static tsr_status resize(picture *image, const char *path, int width, int height, int fit) {
    if (image->width == width && image->height == height)
        return TSR_OK;
    if (fit == FIT_REFUSE)
        return fail(TSR_ERROR_SHAPE,
                    "%s: is %d x %d, but the model needs %d x %d (--fit scale resizes)", path,
                    image->width, image->height, width, height);
    int x = 0, y = 0, w = image->width, h = image->height;
    if (fit == FIT_CROP)
        crop(image, width, height, &x, &y, &w, &h);
    size_t row = (size_t)image->width * (size_t)image->channels;
    const uint16_t *corner = image->pixels + (size_t)y * row + (size_t)x * (size_t)image->channels;
    size_t count = (size_t)width * (size_t)height * (size_t)image->channels;
    uint16_t *pixels = malloc(count * sizeof *pixels);
    if (!pixels || !resample(corner, row, w, h, pixels, width, height, image->channels)) {
        free(pixels);
        return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory to scale it", path);
    }
    stbi_image_free(image->pixels);
    image->pixels = pixels;
    image->width = width;
    image->height = height;
    return TSR_OK;
}

/* Channel of the picture that goes to channel c of the tensor. */
static int source_channel(const picture *image, int c, int order) {
    if (image->channels == 1)
        return 0;
    return order == ORDER_BGR && c < 3 ? 2 - c : c;
}

static double pixel_value(uint16_t pixel, double lo, double span, const image_options *o) {
    double share = pixel / 65535.0;
    if (o->threshold_text)
        share = share > o->threshold;
    return lo + share * span;
}

static void fill(const picture *image, const image_view *view, const image_options *o, tensor *t) {
    steps step = steps_of_view(view);
    bool raw = t->integers && !o->range_text; /* integer tensors have 0..255 by default */
    double lo = raw ? 0 : o->range[0], span = raw ? 255 : o->range[1] - o->range[0];
    for (int c = 0; c < (int)view->channels; c++) {
        const uint16_t *pixel = image->pixels + source_channel(image, c, o->channel_order);
        double mean = o->mean_count ? o->mean[o->mean_count == 1 ? 0 : c] : 0;
        double scale = o->scale_count ? o->scale[o->scale_count == 1 ? 0 : c] : 1;
        for (size_t y = 0; y < (size_t)view->height; y++)
            for (size_t x = 0; x < (size_t)view->width; x++, pixel += image->channels) {
                size_t at = y * step.y + x * step.x + (size_t)c * step.channel;
                double value = (pixel_value(*pixel, lo, span, o) - mean) * scale;
                t->values[at] = (float)value;
                if (t->integers)
                    t->integers[at] = (int64_t)floor(value + 0.5);
            }
    }
}

static tsr_status check_channels(const char *path, const image_view *view, const image_options *o) {
    int channels = (int)view->channels;
    if ((o->mean_count > 1 && o->mean_count != channels) ||
        (o->scale_count > 1 && o->scale_count != channels))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--mean or --scale: the model has %d channels",
                    channels);
    if (o->channel_order == ORDER_BGR && channels == 1)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: --channels bgr, but the model has one channel",
                    path);
    return TSR_OK;
}

/* The picture geometry of this input. */
static tsr_status view_input(const char *path, const tsr_tensor_info *input, const image_options *o,
                             image_view *view) {
    if (!image_view_of(&input->shape, o, view))
        return fail(
            TSR_ERROR_SHAPE,
            "%s: input '%s' %s is not a picture of 1, 3 or 4 channels; give a .npy file, or "
            "--layout or --shape",
            path, input->name, info_label(input).text);
    return check_channels(path, view, o);
}

static int picture_channels(const image_view *view, const image_options *o) {
    return o->channel_order == ORDER_GRAY ? 1 : (int)view->channels;
}

/* Frees the picture's pixels. */
static tsr_status make_tensor(picture *image, const char *path, image_view view,
                              const tsr_tensor_info *input, const image_options *options,
                              tensor *made) {
    view.width = view.width < 0 ? image->width : view.width;
    view.height = view.height < 0 ? image->height : view.height;
    tsr_shape shape = input->shape;
    shape_of_view(&view, &shape);
    tsr_status status = TSR_OK;
    if (view.width < 1 || view.height < 1 || view.width > INT_MAX || view.height > INT_MAX)
        status = fail(TSR_ERROR_SHAPE, "%s: input '%s' %s has no size for a picture", path,
                      input->name, info_label(input).text);
    if (status == TSR_OK)
        status = tensor_create(dtype_is_integer(input->dtype) ? input->dtype : TSR_DTYPE_F32,
                               &shape, made);
    if (status == TSR_OK)
        status = resize(image, path, (int)view.width, (int)view.height, options->fit);
    if (status == TSR_OK)
        fill(image, &view, options, made);
    else
        tensor_free(made);
    stbi_image_free(image->pixels);
    return status;
}

tsr_status image_load(const char *path, const tsr_tensor_info *input, const image_options *options,
                      tensor *made) {
    image_view view;
    picture image;
    *made = (tensor){0};
    TRY(view_input(path, input, options, &view));
    TRY(decode(path, picture_channels(&view, options), options, &image));
    return make_tensor(&image, path, view, input, options, made);
}

/* Grey with the weights of stb_image. */
static void spread_pixel(const unsigned char *rgb, int channels, uint16_t *pixel) {
    if (channels == 1)
        pixel[0] = (uint16_t)(((rgb[0] * 77 + rgb[1] * 150 + rgb[2] * 29) >> 8) * 257);
    for (int c = 0; c < 3 && channels > 1; c++)
        pixel[c] = (uint16_t)(rgb[c] * 257);
    if (channels == 4)
        pixel[3] = UINT16_MAX;
}

tsr_status image_from_rgb(const unsigned char *rgb, int width, int height, const char *name,
                          const tsr_tensor_info *input, const image_options *options,
                          tensor *made) {
    image_view view;
    *made = (tensor){0};
    TRY(view_input(name, input, options, &view));
    picture image = {NULL, width, height, picture_channels(&view, options)};
    size_t count = (size_t)width * (size_t)height, channels = (size_t)image.channels;
    if (count <= SIZE_MAX / sizeof *image.pixels / channels)
        image.pixels = malloc(count * channels * sizeof *image.pixels);
    if (!image.pixels)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory", name);
    for (size_t i = 0; i < count; i++)
        spread_pixel(rgb + 3 * i, image.channels, image.pixels + i * channels);
    return make_tensor(&image, name, view, input, options, made);
}

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct sink {
    FILE *file;
    bool failed;
} sink;

static void write_bytes(void *user, void *data, int size) {
    sink *to = user;
    if (fwrite(data, 1, (size_t)size, to->file) != (size_t)size)
        to->failed = true;
}

static unsigned char pixel_of(float value, const double range[2]) {
    double share = ((double)value - range[0]) / (range[1] - range[0]);
    if (!(share > 0)) /* NaN becomes black */
        return 0;
    return share >= 1 ? 255 : (unsigned char)(share * 255 + 0.5);
}

/* 8-bit pixels (malloc). */
static unsigned char *encode_pixels(const tensor *t, const image_view *view,
                                    const image_options *o) {
    steps step = steps_of_view(view);
    unsigned char *pixels = malloc(t->count ? t->count : 1);
    for (int c = 0; pixels && c < (int)view->channels; c++) {
        bool swap = o->channel_order == ORDER_BGR && view->channels >= 3 && c < 3;
        unsigned char *pixel = pixels + (swap ? 2 - c : c);
        for (size_t y = 0; y < (size_t)view->height; y++)
            for (size_t x = 0; x < (size_t)view->width; x++, pixel += view->channels)
                *pixel = pixel_of(t->values[y * step.y + x * step.x + (size_t)c * step.channel],
                                  o->out_range);
    }
    return pixels;
}

/* 8-bit pixels of a tensor that is a picture (malloc). */
static tsr_status make_pixels(const tensor *t, const char *path, const image_options *options,
                              image_view *view, unsigned char **pixels) {
    if (!image_view_of(&t->shape, options, view) || view->width < 1 || view->height < 1 ||
        view->width > INT_MAX / 4 || view->height > INT_MAX / 4)
        return fail(TSR_ERROR_SHAPE,
                    "%s: a tensor %s is not a picture of 1, 3 or 4 channels; write .npy", path,
                    shape_label(&t->shape).text);
    *pixels = encode_pixels(t, view, options);
    return *pixels ? TSR_OK : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the picture");
}

tsr_status image_write(FILE *file, const char *path, const tensor *t,
                       const image_options *options) {
    image_view view;
    unsigned char *pixels;
    TRY(make_pixels(t, path, options, &view, &pixels));
    sink to = {file, false};
    int width = (int)view.width, height = (int)view.height, channels = (int)view.channels;
    int encoded = file_is(path, ".png") ? stbi_write_png_to_func(write_bytes, &to, width, height,
                                                                 channels, pixels, width * channels)
                                        : stbi_write_jpg_to_func(write_bytes, &to, width, height,
                                                                 channels, pixels, JPEG_QUALITY);
    free(pixels);
    return encoded && !to.failed ? TSR_OK : fail(TSR_ERROR_IO, "%s: cannot be written", path);
}

tsr_status image_to_rgb(const tensor *t, const char *name, const image_options *options,
                        unsigned char **rgb, size_t *size) {
    image_view view;
    unsigned char *pixels;
    TRY(make_pixels(t, name, options, &view, &pixels));
    size_t count = (size_t)view.width * (size_t)view.height;
    *size = count * 3;
    *rgb = view.channels == 3 ? pixels : view.channels == 1 ? malloc(*size) : NULL;
    for (size_t i = 0; i < *size && view.channels == 1 && *rgb; i++)
        (*rgb)[i] = pixels[i / 3];
    if (*rgb != pixels)
        free(pixels);
    if (view.channels == 4)
        return fail(TSR_ERROR_SHAPE, "%s: rgb24 frames have no alpha, which a tensor %s has", name,
                    shape_label(&t->shape).text);
    return *rgb ? TSR_OK : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the picture");
}

bool image_write_png(FILE *file, const unsigned char *rgb, int width, int height) {
    sink to = {file, false};
    return stbi_write_png_to_func(write_bytes, &to, width, height, 3, rgb, width * 3) && !to.failed;
}
