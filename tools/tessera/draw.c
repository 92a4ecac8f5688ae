#include "draw.h"
#include "output.h"
#include "text.h"
#include "tool.h"

#include <math.h>
#include <stdlib.h>

const char *const draw_kinds[] = {"none", "boxes", "mask", "keypoints", "classes", NULL};

typedef struct drawing {
    const job *j;
    const draw_options *o;
    canvas canvas;
    const named_tensor *outputs; /* all of the model's */
    FILE *told;
} drawing;

/* ---- preparation ----------------------------------------------------------------------------- */

static bool suits(int kind, const decoding *d) {
    if (kind == DRAW_MASK || kind == DRAW_CLASSES)
        return d->type == DECODE_MASK;
    if (kind == DRAW_KEYPOINTS)
        return d->type == DECODE_HEATMAPS || d->type == DECODE_BLAZEFACE ||
               (d->type == DECODE_YUNET && d->landmark_count);
    return d->type >= DECODE_SSD && d->type <= DECODE_NANODET;
}

tsr_status draw_check_path(const char *path) {
    return !path || image_is_file(path)
               ? TSR_OK
               : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: a drawing is .png or .jpg", path);
}

tsr_status draw_prepare(const job *j, const job_input *input, draw_options *o) {
    model_task task;
    if (!input)
        return fail(TSR_ERROR_SHAPE, "%s: --draw: no input is a single picture", j->path);
    o->decode = j->description.decode;
    if (!suits(o->kind, &o->decode)) {
        description_guess(j->model, &task, &o->decode);
        if (!suits(o->kind, &o->decode))
            return fail(TSR_ERROR_INVALID_ARGUMENT,
                        "%s: --draw %s: no description tells how its outputs are decoded so "
                        "(docs/description.md)",
                        j->path, draw_kinds[o->kind]);
        note("decode: %s, guessed from names and shapes; 'tessera describe' writes it down",
             decode_names[o->decode.type]);
    }
    if (o->score >= 0)
        o->decode.threshold = o->score;
    return description_check_labels(o->labels, &o->decode, j->model);
}

/* ---- boxes and points ------------------------------------------------------------------------ */

static void tell(const drawing *d, int index, const detection *found) {
    const canvas *c = &d->canvas;
    double sx = (double)c->width / c->input_width, sy = (double)c->height / c->input_height;
    const char *name = labels_name(d->o->labels, (size_t)found->class);
    fprintf(d->told, "box %-3d %.3f  x %.0f to %.0f, y %.0f to %.0f", index, found->score,
            found->x0 * sx, found->x1 * sx, found->y0 * sy, found->y1 * sy);
    if (name)
        fprintf(d->told, "  %s", name_label(name).text);
    else
        fprintf(d->told, "  class %d", found->class);
    for (int i = 0; i < found->point_count && d->o->kind == DRAW_KEYPOINTS; i++)
        fprintf(d->told, "%s %.0f,%.0f", i ? "" : "  points", found->points[i][0] * sx,
                found->points[i][1] * sy);
    fputc('\n', d->told);
}

static tsr_status draw_detections(drawing *d) {
    canvas *c = &d->canvas;
    detections found;
    TRY(decode_detections(&d->o->decode, d->outputs, c->input_width, c->input_height, &found));
    for (int i = 0; i < found.count; i++)
        tell(d, i, &found.items[i]);
    for (int i = found.count - 1; i >= 0; i--) { /* the best is drawn over others */
        const detection *one = &found.items[i];
        const colour with = canvas_colour(i);
        if (d->o->kind == DRAW_BOXES)
            canvas_box(c, one->x0, one->y0, one->x1, one->y1, with);
        for (int p = 0; p < one->point_count && d->o->kind == DRAW_KEYPOINTS; p++)
            canvas_point(c, one->points[p][0], one->points[p][1], with);
    }
    fprintf(d->told, "%d box%s of a score above %.3g\n", found.count, found.count == 1 ? "" : "es",
            d->o->decode.threshold);
    detections_free(&found);
    return TSR_OK;
}

/* ---- maps ------------------------------------------------------------------------------------ */

typedef struct map {
    tsr_tensor_info output;
    const float *values;
    size_t width, height, channels;
    bool channels_last;
} map;

static float map_at(const map *m, size_t channel, size_t y, size_t x) {
    return m->values[m->channels_last ? (y * m->width + x) * m->channels + channel
                                      : (channel * m->height + y) * m->width + x];
}

/* The layout that was told, else the one in which the map has the input's aspect, else its layout.
 */
static bool is_channels_last(const drawing *d, int index, const int64_t *dim) {
    const canvas *c = &d->canvas;
    int layout = d->j->output_images[index].layout;
    bool first = dim[2] * c->input_width == dim[3] * c->input_height;
    bool last = dim[1] * c->input_width == dim[2] * c->input_height;
    if (layout)
        return layout == 2;
    return first == last ? c->channels_last : last;
}

static tsr_status find_map(const drawing *d, map *m) {
    const decoding *decode = &d->o->decode;
    int index = decode->score_count ? decode->scores[0] : 0;
    const tensor *t = &d->outputs[index].tensor;
    const int64_t *dim = t->shape.dim;
    if (t->shape.rank != 4 || dim[0] != 1 || !t->count)
        return fail(TSR_ERROR_SHAPE, "--draw %s: output '%s' %s is no map of one picture",
                    draw_kinds[d->o->kind], d->outputs[index].name, shape_label(&t->shape).text);
    bool last = is_channels_last(d, index, dim);
    *m = (map){{.name = d->outputs[index].name, .shape = t->shape},
               t->values,
               (size_t)dim[last ? 2 : 3],
               (size_t)dim[last ? 1 : 2],
               (size_t)dim[last ? 3 : 1],
               last};
    return TSR_OK;
}

/* The class of a pixel: the largest channel's, or of one channel 0 above the threshold; -1: none.
 */
static int class_at(const map *m, const decoding *decode, size_t y, size_t x) {
    int best = 0;
    if (m->channels == 1)
        return decode_activated(decode, map_at(m, 0, y, x)) > decode->threshold ? 0 : -1;
    for (size_t c = 1; c < m->channels; c++)
        if (decode_is_better(map_at(m, c, y, x), map_at(m, (size_t)best, y, x)))
            best = (int)c;
    return best == decode->background ? -1 : best;
}

static void tell_classes(const drawing *d, const map *m, const size_t *pixels) {
    for (size_t class = 0; class < m->channels; class ++) {
        const char *name = labels_name(d->o->labels, class);
        if (!pixels[class])
            continue;
        fprintf(d->told, "class %-4zu %5.1f %% of the picture%s%s\n", class,
                100.0 * (double)pixels[class] / ((double)d->canvas.width * d->canvas.height),
                name ? "  " : "", name ? name_label(name).text : "");
    }
}

static tsr_status draw_map(drawing *d) {
    canvas *c = &d->canvas;
    map m;
    TRY(find_map(d, &m));
    if (d->o->labels->count && (size_t)d->o->labels->count != m.channels)
        return labels_fail(d->o->labels, &m.output);
    size_t *pixels = calloc(m.channels, sizeof *pixels);
    if (!pixels)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for %zu classes", m.channels);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            int class = class_at(&m, &d->o->decode, (size_t)y * m.height / (size_t)c->height,
                                 (size_t)x * m.width / (size_t)c->width);
            if (class < 0)
                continue;
            pixels[class]++;
            canvas_tint(c, x, y, canvas_colour(class));
        }
    tell_classes(d, &m, pixels);
    free(pixels);
    return TSR_OK;
}

/* A point for each channel: where it is largest. */
static tsr_status draw_heatmaps(drawing *d) {
    canvas *c = &d->canvas;
    map m;
    TRY(find_map(d, &m));
    for (size_t k = 0; k < m.channels; k++) {
        size_t best = 0, count = m.width * m.height;
        for (size_t at = 1; at < count; at++)
            if (decode_is_better(map_at(&m, k, at / m.width, at % m.width),
                                 map_at(&m, k, best / m.width, best % m.width)))
                best = at;
        double score =
            decode_activated(&d->o->decode, map_at(&m, k, best / m.width, best % m.width));
        double x = ((double)(best % m.width) + 0.5) * c->input_width / (double)m.width;
        double y = ((double)(best / m.width) + 0.5) * c->input_height / (double)m.height;
        if (!(score > d->o->decode.threshold))
            continue;
        fprintf(d->told, "point %-3zu %.3f  %.0f,%.0f\n", k, score, x * c->width / c->input_width,
                y * c->height / c->input_height);
        canvas_point(c, x, y, canvas_colour((int)k));
    }
    return TSR_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static tsr_status draw(drawing *d) {
    return d->o->decode.type == DECODE_MASK       ? draw_map(d)
           : d->o->decode.type == DECODE_HEATMAPS ? draw_heatmaps(d)
                                                  : draw_detections(d);
}

tsr_status draw_picture(const job *j, const draw_options *o, const job_input *input,
                        const named_tensor *outputs, FILE *told, canvas *made) {
    drawing d = {.j = j, .o = o, .outputs = outputs, .told = told};
    tsr_status status = canvas_open(input, &d.canvas);
    if (status == TSR_OK)
        status = draw(&d);
    *made = d.canvas;
    return status == TSR_OK
               ? TSR_OK
               : fail(status, "%s: %s", input->path ? input->path : j->path, failure());
}
