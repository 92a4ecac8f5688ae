#include "canvas.h"
#include "tool.h"

#include <math.h>

const image_options canvas_image = {.range = {0, 1}, .out_range = {0, 1}};

colour canvas_colour(int index) {
    /* hues a golden angle apart, as evenly spread as any number of them can be */
    double hue = fmod(0.36 + index * 0.61803398875, 1) * 6;
    colour made;
    for (int c = 0; c < 3; c++) {
        double distance = fabs(fmod(hue - 2 * c + 9, 6) - 3); /* 0: all of this channel */
        made.rgb[c] = (float)fmin(fmax(2 - distance, 0), 1);
    }
    return made;
}

/* ---- the picture ----------------------------------------------------------------------------- */

static bool find_view(const job_input *input, image_view *view) {
    return !input->fixed && input->info.shape.rank > 2 &&
           image_view_of(&input->info.shape, &input->image, view);
}

bool canvas_shows(const job_input *input) {
    image_view view;
    return find_view(input, &view);
}

const job_input *canvas_find(const job *j) {
    for (int i = 0; i < j->input_count; i++)
        if (j->inputs[i].given && canvas_shows(&j->inputs[i]))
            return &j->inputs[i];
    return NULL;
}

/* The value of a channel of the input, as it was before --mean, --scale and --range. */
static float undo(const job_input *input, float value, int channel) {
    const image_options *o = &input->image;
    double mean = o->mean_count ? o->mean[o->mean_count == 1 ? 0 : channel] : 0;
    double scale = o->scale_count ? o->scale[o->scale_count == 1 ? 0 : channel] : 1;
    bool raw = input->tensor.integers && !o->range_text;
    double low = raw ? 0 : o->range[0], high = raw ? 255 : o->range[1];
    double share = ((double)value / scale + mean - low) / (high - low);
    return share > 0 ? (float)fmin(share, 1) : 0; /* NaN: black */
}

static tsr_status copy_input(const job_input *input, const image_view *view, canvas *c) {
    const tsr_shape shape = {4, {1, 3, view->height, view->width}};
    TRY(tensor_create(TSR_DTYPE_F32, &shape, &c->picture));
    size_t pixels = (size_t)(view->height * view->width), channels = (size_t)view->channels;
    bool bgr = input->image.channel_order == 1;
    for (size_t at = 0; at < pixels; at++)
        for (int i = 0; i < 3; i++) {
            int channel = channels == 1 ? 0 : bgr ? 2 - i : i;
            size_t from = view->channels_last ? at * channels + (size_t)channel
                                              : (size_t)channel * pixels + at;
            c->picture.values[(size_t)i * pixels + at] =
                undo(input, input->tensor.values[from], channel);
        }
    return TSR_OK;
}

/* The whole file in its own size. */
static tsr_status load_original(const job_input *input, canvas *c) {
    const tsr_tensor_info open = {
        .name = input->info.name, .dtype = TSR_DTYPE_F32, .shape = {4, {1, 3, -1, -1}}};
    const image_options plain = {.range = {0, 1}, .most_megapixels = input->image.most_megapixels};
    image_side side;
    tsr_status status = image_load(input->path, &open, &plain, &c->picture, &side);
    image_side_free(&side);
    return status;
}

tsr_status canvas_open(const job_input *input, canvas *made) {
    image_view view;
    *made = (canvas){0};
    if (!find_view(input, &view) || view.width < 1 || view.height < 1)
        return fail(TSR_ERROR_SHAPE, "--draw: input '%s' %s is an empty picture, or none",
                    input->info.name, info_label(&input->info).text);
    made->input_width = (int)view.width;
    made->input_height = (int)view.height;
    made->channels_last = view.channels_last;
    bool scaled = input->path && picture_is_file(input->path) && image_is_scaled(&input->image);
    TRY(scaled ? load_original(input, made) : copy_input(input, &view, made));
    made->height = (int)made->picture.shape.dim[2];
    made->width = (int)made->picture.shape.dim[3];
    return TSR_OK;
}

void canvas_close(canvas *c) {
    tensor_free(&c->picture);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void blend(canvas *c, int x, int y, colour with, float share) {
    if (x < 0 || y < 0 || x >= c->width || y >= c->height)
        return;
    size_t plane = (size_t)c->width * (size_t)c->height,
           at = (size_t)y * (size_t)c->width + (size_t)x;
    for (size_t i = 0; i < 3; i++) {
        float *value = &c->picture.values[i * plane + at];
        *value += share * (with.rgb[i] - *value);
    }
}

void canvas_tint(canvas *c, int x, int y, colour with) {
    blend(c, x, y, with, 0.5f);
}

static int pixel_within(double at, int size) {
    return (int)fmin(fmax(at, 0), size);
}

/* In pixels of the canvas; those beyond its rim, however far, are left out. */
static void fill(canvas *c, double x0, double y0, double x1, double y1, colour with) {
    int left = pixel_within(x0, c->width), top = pixel_within(y0, c->height);
    int right = pixel_within(x1, c->width), bottom = pixel_within(y1, c->height);
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++)
            blend(c, x, y, with, 1);
}

static double line_width(const canvas *c) {
    return fmax(2, floor(fmax(c->width, c->height) / 250.0));
}

void canvas_box(canvas *c, double x0, double y0, double x1, double y1, colour with) {
    double sx = (double)c->width / c->input_width, sy = (double)c->height / c->input_height;
    double left = floor(x0 * sx), right = ceil(x1 * sx), top = floor(y0 * sy),
           bottom = ceil(y1 * sy), line = line_width(c);
    fill(c, left, top, right, top + line, with);
    fill(c, left, bottom - line, right, bottom, with);
    fill(c, left, top, left + line, bottom, with);
    fill(c, right - line, top, right, bottom, with);
}

void canvas_point(canvas *c, double x, double y, colour with) {
    double radius = 1.5 * line_width(c);
    if (!isfinite(x) || !isfinite(y))
        return;
    x *= (double)c->width / c->input_width;
    y *= (double)c->height / c->input_height;
    fill(c, x - radius, y - radius, x + radius, y + radius, with);
}
