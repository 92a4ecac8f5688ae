#define _POSIX_C_SOURCE 200809L
#include "image.h"
#include "luma.h"
#include "tool.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

enum { ORDER_RGB, ORDER_BGR, ORDER_GRAY };
enum { LAYOUT_AUTO, LAYOUT_NCHW, LAYOUT_NHWC };
enum { FIT_AUTO, FIT_SCALE, FIT_CROP, FIT_PAD, FIT_REFUSE };
enum { JPEG_QUALITY = 95 };

static const char *const orders[] = {"rgb", "bgr", "gray", NULL};
static const char *const layouts[] = {"auto", "nchw", "nhwc", NULL};
static const char *const fits[] = {"auto", "scale", "crop", "pad", "refuse", NULL};

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
        {"fit", 0, "HOW",
         "images of another size: scale, crop (centre), pad (letterbox), refuse, or auto: as they "
         "are where the network allows it, else scale (auto)",
         OPTION_CHOICE, &o->fit, 0, fits},
        {"luma", 0, NULL,
         "images: the model has Y alone; Cb and Cr are scaled beside it, the output is RGB",
         OPTION_FLAG, &o->luma, 0, NULL},
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

bool image_keeps_size(const image_options *options) {
    return options->fit == FIT_AUTO;
}

void image_side_free(image_side *side) {
    picture_free(&side->chroma);
    *side = (image_side){0};
}

const char *const *image_choices(image_choice which) {
    return which == IMAGE_ORDERS ? orders : which == IMAGE_LAYOUTS ? layouts : fits;
}

bool image_is_scaled(const image_options *options) {
    return options->fit == FIT_AUTO || options->fit == FIT_SCALE;
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
        snprintf(size, sizeof size, "%lld x %lld", (long long)view.width, (long long)view.height);
    snprintf(made.text, sizeof made.text, "%s, %s, %s, 0..255 becomes %s", colours[view.channels],
             view.channels_last ? "channels last" : "channels first", size,
             dtype_is_integer(input->dtype) ? "0..255" : "0..1");
    return made;
}

/* ---- reading --------------------------------------------------------------------------------- */

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

/* The largest rectangle with the picture's aspect ratio in width x height, centred. */
static void letterbox(const picture *from, int width, int height, image_side *side) {
    const picture frame = {NULL, width, height, 0};
    crop(&frame, from->width, from->height, &side->x, &side->y, &side->width, &side->height);
}

/* Says so on stderr, since results differ. */
static void note_change(const char *path, const picture *from, int width, int height, int fit) {
    bool keeps = (int64_t)from->width * height == (int64_t)from->height * width;
    const char *how = fit == FIT_CROP  ? "cropped and scaled"
                      : fit == FIT_PAD ? "letterboxed"
                                       : "scaled";
    note("%s: %d x %d is %s to %d x %d%s", path, from->width, from->height, how, width, height,
         keeps || fit == FIT_PAD ? ""
         : fit == FIT_CROP       ? ", parts of it are cut off"
                                 : ", its aspect changes (--fit pad or crop keeps it)");
}

/* As the options fit it; side: where it is then. */
static tsr_status resize(picture *image, const char *path, int width, int height,
                         const image_options *o, image_side *side) {
    *side = (image_side){.width = width, .height = height, .in_width = width, .in_height = height};
    if (image->width == width && image->height == height)
        return TSR_OK;
    if (o->fit == FIT_REFUSE)
        return fail(TSR_ERROR_SHAPE,
                    "%s: is %d x %d, but the model needs %d x %d (--fit scale resizes)", path,
                    image->width, image->height, width, height);
    if (!o->silent)
        note_change(path, image, width, height, o->fit);
    int x = 0, y = 0, w = image->width, h = image->height;
    if (o->fit == FIT_CROP)
        crop(image, width, height, &x, &y, &w, &h);
    if (o->fit == FIT_PAD)
        letterbox(image, width, height, side);
    picture part, made;
    TRY(picture_create(path, side->width, side->height, image->channels, &part));
    tsr_status status = picture_scale(image, x, y, w, h, &part)
                            ? picture_create(path, width, height, image->channels, &made)
                            : fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory", path);
    if (status == TSR_OK) {
        size_t line = (size_t)part.width * (size_t)part.channels;
        for (int row = 0; row < part.height; row++)
            memcpy(made.pixels + ((size_t)(side->y + row) * (size_t)width + (size_t)side->x) *
                                     (size_t)part.channels,
                   part.pixels + (size_t)row * line, line * sizeof *part.pixels);
        picture_free(image);
        *image = made;
    }
    picture_free(&part);
    return status;
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

static tsr_status check_luma(const char *path, const image_view *view, const image_options *o) {
    if (!o->luma || view->channels == 1)
        return TSR_OK;
    return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: --luma is for models of one channel, not of %lld",
                path, (long long)view->channels);
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
    TRY(check_luma(path, view, o));
    return check_channels(path, view, o);
}

static int picture_channels(const image_view *view, const image_options *o) {
    return o->luma ? 3 : o->channel_order == ORDER_GRAY ? 1 : (int)view->channels;
}

static tsr_status place(picture *image, const char *path, const image_view *view,
                        const image_options *options, image_side *side) {
    TRY(resize(image, path, (int)view->width, (int)view->height, options, side));
    return options->luma ? luma_split(image, path, &side->chroma) : TSR_OK;
}

/* Frees the picture's pixels. */
static tsr_status make_tensor(picture *image, const char *path, image_view view,
                              const tsr_tensor_info *input, const image_options *options,
                              tensor *made, image_side *side) {
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
        status = place(image, path, &view, options, side);
    if (status == TSR_OK)
        fill(image, &view, options, made);
    else
        tensor_free(made);
    picture_free(image);
    return status;
}

typedef enum picture_part { WHOLE, LEFT_HALF, RIGHT_HALF } picture_part;

static tsr_status cut_half(const char *path, picture_part part, picture *image) {
    picture half;
    int width = image->width / 2;
    if (image->width % 2)
        return fail(TSR_ERROR_SHAPE, "%s: is %d pixels wide, which has no halves", path,
                    image->width);
    TRY(picture_create(path, width, image->height, image->channels, &half));
    picture_scale(image, part == RIGHT_HALF ? width : 0, 0, width, image->height, &half);
    picture_free(image);
    *image = half;
    return TSR_OK;
}

static tsr_status load_part(const char *path, picture_part part, const tsr_tensor_info *input,
                            const image_options *options, tensor *made, image_side *side) {
    image_view view;
    picture image;
    *made = (tensor){0};
    *side = (image_side){0};
    TRY(view_input(path, input, options, &view));
    TRY(picture_read(path, picture_channels(&view, options), options->most_megapixels, &image));
    tsr_status status = part == WHOLE ? TSR_OK : cut_half(path, part, &image);
    if (status == TSR_OK)
        return make_tensor(&image, path, view, input, options, made, side);
    picture_free(&image);
    return status;
}

tsr_status image_load(const char *path, const tsr_tensor_info *input, const image_options *options,
                      tensor *made, image_side *side) {
    return load_part(path, WHOLE, input, options, made, side);
}

tsr_status image_load_half(const char *path, bool right, const tsr_tensor_info *input,
                           const image_options *options, tensor *made, image_side *side) {
    return load_part(path, right ? RIGHT_HALF : LEFT_HALF, input, options, made, side);
}

tsr_status image_from_rgb(const unsigned char *rgb, int width, int height, const char *name,
                          const tsr_tensor_info *input, const image_options *options, tensor *made,
                          image_side *side) {
    image_view view;
    picture image;
    *made = (tensor){0};
    *side = (image_side){0};
    TRY(view_input(name, input, options, &view));
    TRY(picture_from_rgb(rgb, width, height, picture_channels(&view, options), name, &image));
    return make_tensor(&image, name, view, input, options, made, side);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The part of a picture that corresponds to a part of the input, as a share of its size. */
static int64_t corresponding(int64_t at, int64_t in, int64_t out) {
    return (at * out + in / 2) / in;
}

/* Removes the bars of a letterbox. */
static tsr_status cut_bars(const image_side *side, const image_view *view, tensor *t) {
    image_view cut = *view;
    int64_t left = corresponding(side->x, side->in_width, view->width),
            top = corresponding(side->y, side->in_height, view->height);
    cut.width = corresponding(side->x + side->width, side->in_width, view->width) - left;
    cut.height = corresponding(side->y + side->height, side->in_height, view->height) - top;
    tsr_shape shape = t->shape;
    tensor made;
    shape_of_view(&cut, &shape);
    TRY(tensor_create(TSR_DTYPE_F32, &shape, &made));
    steps from = steps_of_view(view), to = steps_of_view(&cut);
    for (size_t c = 0; c < (size_t)view->channels; c++)
        for (size_t y = 0; y < (size_t)cut.height; y++)
            for (size_t x = 0; x < (size_t)cut.width; x++)
                made.values[c * to.channel + y * to.y + x * to.x] =
                    t->values[c * from.channel + (y + (size_t)top) * from.y +
                              (x + (size_t)left) * from.x];
    tensor_free(t);
    *t = made;
    return TSR_OK;
}

static tsr_status add_chroma(const image_side *side, const image_options *o, const image_view *view,
                             tensor *t) {
    image_view colours = {view->channels_last, 3, view->height, view->width};
    tsr_shape shape = t->shape;
    tensor made;
    if (shape.rank == 2)
        shape.rank = 3;
    shape_of_view(&colours, &shape);
    TRY(tensor_create(TSR_DTYPE_F32, &shape, &made));
    steps step = steps_of_view(&colours);
    const luma_target target = {made.values, (int)view->width, (int)view->height, step.x,
                                step.y,      step.channel,     o->out_range[0],   o->out_range[1]};
    tsr_status status =
        luma_join(t->values, &side->chroma, side->x, side->y, side->width, side->height, &target);
    if (status != TSR_OK) {
        tensor_free(&made);
        return status;
    }
    tensor_free(t);
    *t = made;
    return TSR_OK;
}

static bool is_boxed(const image_side *side) {
    return side->width != side->in_width || side->height != side->in_height;
}

static tsr_status change(const image_side *side, const image_options *options, tensor *t) {
    image_view view;
    image_view_of(&t->shape, options, &view);
    bool scaled_alike = view.width * side->in_height == view.height * side->in_width;
    if (is_boxed(side) && scaled_alike)
        TRY(cut_bars(side, &view, t));
    image_view_of(&t->shape, options, &view);
    return side->chroma.pixels && view.channels == 1 ? add_chroma(side, options, &view, t) : TSR_OK;
}

tsr_status image_finish(const image_side *side, const image_options *options, const tensor *result,
                        tensor *changed, const tensor **finished) {
    image_view view;
    *finished = result;
    *changed = (tensor){0};
    if ((!is_boxed(side) && !side->chroma.pixels) || !image_view_of(&result->shape, options, &view))
        return TSR_OK;
    *finished = changed;
    TRY(tensor_create(TSR_DTYPE_F32, &result->shape, changed));
    memcpy(changed->values, result->values, result->count * sizeof *result->values);
    return change(side, options, changed);
}

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
                        unsigned char **rgb, image_view *view) {
    unsigned char *pixels;
    TRY(make_pixels(t, name, options, view, &pixels));
    size_t bytes = (size_t)view->width * (size_t)view->height * 3;
    *rgb = view->channels == 3 ? pixels : view->channels == 1 ? malloc(bytes) : NULL;
    for (size_t i = 0; i < bytes && view->channels == 1 && *rgb; i++)
        (*rgb)[i] = pixels[i / 3];
    if (*rgb != pixels)
        free(pixels);
    if (view->channels == 4)
        return fail(TSR_ERROR_SHAPE, "%s: frames of films have no alpha, which a tensor %s has",
                    name, shape_label(&t->shape).text);
    return *rgb ? TSR_OK : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the picture");
}

bool image_write_png(FILE *file, const unsigned char *rgb, int width, int height) {
    sink to = {file, false};
    return stbi_write_png_to_func(write_bytes, &to, width, height, 3, rgb, width * 3) && !to.failed;
}
