/* The boxes of detection heads. Rows of an output are cells from the top left on, row by row, with
 * the anchors of a cell side by side, one stride after the other. */
#include "decode.h"
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FOUND = 1000 }; /* the best before overlapping ones are left out */

typedef struct rows {
    const float *at;  /* NULL: there is no such output */
    const char *name; /* of the output */
    size_t count;
    int columns;
} rows;

typedef struct head {
    const decoding *d;
    rows boxes, scores, objectness, landmarks;
    double width, height, stride;
    int columns, per_cell; /* cells of a row, anchors of a cell */
    const double *sizes;   /* of priors, or NULL */
} head;

static const float *row_of(const rows *r, size_t row) {
    return r->at + row * (size_t)r->columns;
}

/* ---- scores ---------------------------------------------------------------------------------- */

static double softmax_of(const float *row, int columns, int class) {
    double most = row[0], sum = 0;
    for (int c = 1; c < columns; c++)
        most = fmax(most, row[c]);
    for (int c = 0; c < columns; c++)
        sum += exp(row[c] - most);
    return exp(row[class] - most) / sum;
}

double decode_activated(const decoding *d, double score) {
    return d->activation == 1 ? 1 / (1 + exp(-score)) : score;
}

bool decode_is_better(float score, float than) {
    return score > than || (isnan(than) && !isnan(score));
}

/* The best class of the first `columns` that is not the background. */
static void find_class(const decoding *d, const float *row, int columns, detection *found) {
    int best = -1;
    for (int c = 0; c < columns; c++)
        if (c != d->background && (best < 0 || decode_is_better(row[c], row[best])))
            best = c;
    found->class = best;
    found->score = best < 0             ? 0
                   : d->activation == 2 ? softmax_of(row, columns, best)
                                        : decode_activated(d, row[best]);
}

/* ---- decoders of a row ----------------------------------------------------------------------- */

static void set_box(detection *found, double cx, double cy, double w, double h) {
    found->x0 = cx - w / 2;
    found->y0 = cy - h / 2;
    found->x1 = cx + w / 2;
    found->y1 = cy + h / 2;
}

static void cell_of(const head *h, size_t row, double *x, double *y) {
    size_t cell = row / (size_t)h->per_cell;
    *x = (double)(cell % (size_t)h->columns);
    *y = (double)(cell / (size_t)h->columns);
}

/* Boxes as offsets from priors: Liu et al., SSD: Single Shot MultiBox Detector, 2016; priors and
 * variances as in Linzaer's Ultra-Light-Fast-Generic-Face-Detector-1MB, vision/utils/box_utils.py.
 */
static void decode_prior(const head *h, size_t row, detection *found) {
    const float *box = row_of(&h->boxes, row);
    const double *v = h->d->variances;
    double x, y, size = h->sizes[row % (size_t)h->per_cell];
    cell_of(h, row, &x, &y);
    set_box(found, (x + 0.5) * h->stride + box[0] * v[0] * size,
            (y + 0.5) * h->stride + box[1] * v[0] * size, size * exp(box[2] * v[1]),
            size * exp(box[3] * v[1]));
}

static void decode_ssd(const head *h, size_t row, detection *found) {
    const float *box = row_of(&h->boxes, row);
    find_class(h->d, row_of(&h->scores, row), h->scores.columns, found);
    if (h->sizes) {
        decode_prior(h, row, found);
        return;
    }
    double sx = h->d->pixels ? 1 : h->width, sy = h->d->pixels ? 1 : h->height;
    if (h->d->center)
        set_box(found, box[0] * sx, box[1] * sy, box[2] * sx, box[3] * sy);
    else
        set_box(found, (box[0] + box[2]) / 2 * sx, (box[1] + box[3]) / 2 * sy,
                (box[2] - box[0]) * sx, (box[3] - box[1]) * sy);
}

static double clamped(double x) {
    return fmin(fmax(x, 0), 1);
}

/* Wu, Peng, Yu: YuNet: A Tiny Millisecond-level Face Detector, 2023; the formulas of OpenCV's
 * modules/objdetect/src/face_detect.cpp. */
static void decode_yunet(const head *h, size_t row, detection *found) {
    const float *box = row_of(&h->boxes, row);
    double x, y;
    cell_of(h, row, &x, &y);
    find_class(h->d, row_of(&h->scores, row), h->scores.columns, found);
    found->score = sqrt(clamped(found->score) * clamped(row_of(&h->objectness, row)[0]));
    set_box(found, (x + box[0]) * h->stride, (y + box[1]) * h->stride, exp(box[2]) * h->stride,
            exp(box[3]) * h->stride);
    const float *points = h->landmarks.at ? row_of(&h->landmarks, row) : NULL;
    found->point_count = points ? h->landmarks.columns / 2 : 0;
    for (int i = 0; i < found->point_count; i++) {
        found->points[i][0] = (x + points[2 * i]) * h->stride;
        found->points[i][1] = (y + points[2 * i + 1]) * h->stride;
    }
}

/* Bazarevsky et al., BlazeFace, 2019: offsets in pixels from a cell's centre, anchors of one size:
 * MediaPipe's ssd_anchors_calculator.cc and tensors_to_detections_calculator.cc. */
static void decode_blazeface(const head *h, size_t row, detection *found) {
    const float *box = row_of(&h->boxes, row);
    double x, y;
    cell_of(h, row, &x, &y);
    x = (x + 0.5) * h->stride;
    y = (y + 0.5) * h->stride;
    find_class(h->d, row_of(&h->scores, row), h->scores.columns, found);
    set_box(found, x + box[0], y + box[1], box[2], box[3]);
    found->point_count = (h->boxes.columns - 4) / 2;
    for (int i = 0; i < found->point_count; i++) {
        found->points[i][0] = x + box[4 + 2 * i];
        found->points[i][1] = y + box[5 + 2 * i];
    }
}

/* The mean of a distribution over 0, 1, .. bins - 1. */
static double expected_bin(const float *logits, int bins) {
    double mean = 0;
    for (int i = 1; i < bins; i++)
        mean += i * softmax_of(logits, bins, i);
    return mean;
}

/* Li et al., Generalized Focal Loss, 2020, as in RangiLyu's nanodet, demo_ncnn/nanodet.cpp:
 * distances from a cell to the four sides, each a distribution. */
static void decode_nanodet(const head *h, size_t row, detection *found) {
    int bins = h->d->bins, classes = h->scores.columns;
    const float *scores = row_of(&h->scores, row), *sides;
    if (h->boxes.at) {
        sides = row_of(&h->boxes, row);
    } else {
        classes -= 4 * bins;
        sides = scores + classes;
    }
    double x, y, side[4];
    cell_of(h, row, &x, &y);
    find_class(h->d, scores, classes, found);
    for (int i = 0; i < 4; i++)
        side[i] = expected_bin(sides + i * bins, bins) * h->stride;
    x = (x + h->d->offset) * h->stride;
    y = (y + h->d->offset) * h->stride;
    *found = (detection){.x0 = fmax(x - side[0], 0),
                         .y0 = fmax(y - side[1], 0),
                         .x1 = fmin(x + side[2], h->width),
                         .y1 = fmin(y + side[3], h->height),
                         .score = found->score,
                         .class = found->class};
}

/* ---- heads ----------------------------------------------------------------------------------- */

static void (*const decoders[])(const head *h, size_t row, detection *found) = {
    [DECODE_SSD] = decode_ssd,
    [DECODE_YUNET] = decode_yunet,
    [DECODE_BLAZEFACE] = decode_blazeface,
    [DECODE_NANODET] = decode_nanodet,
};

/* Rows of one stride: all of the output of its own, or some of the only one from row `first` on.
 * count 0: as many as there are. */
static tsr_status take_rows(const named_tensor *outputs, const int *list, int list_count, int index,
                            size_t first, size_t count, rows *made) {
    if (!list_count)
        return TSR_OK;
    const named_tensor *output = &outputs[list[list_count == 1 ? 0 : index]];
    const tensor *t = &output->tensor;
    int rank = t->shape.rank;
    int64_t columns = rank > 1 ? t->shape.dim[rank - 1] : 0;
    size_t all = columns > 0 ? t->count / (size_t)columns : 0, start = list_count == 1 ? first : 0;
    bool good = columns > 0 && columns < 1 << 20 && all >= start && all - start >= count;
    if (!good || (list_count > 1 && all != count))
        return fail(TSR_ERROR_SHAPE,
                    "decode: output '%s' %s has not the %zu rows of stride number %d", output->name,
                    shape_label(&t->shape).text, count, index + 1);
    *made = (rows){t->values + start * (size_t)columns, output->name, count ? count : all,
                   (int)columns};
    return TSR_OK;
}

/* Boxes that are final have no cells which would tell how many rows are of one picture. */
static tsr_status check_single(const named_tensor *output) {
    const tensor *t = &output->tensor;
    int64_t pictures = t->shape.rank > 2 ? t->shape.dim[0] : 1;
    bool several = pictures > 1 && t->count > (size_t)(pictures * t->shape.dim[t->shape.rank - 1]);
    return several ? fail(TSR_ERROR_SHAPE,
                          "decode: output '%s' %s is of %lld pictures; only those of one are drawn",
                          output->name, shape_label(&t->shape).text, (long long)pictures)
                   : TSR_OK;
}

static tsr_status take_head(const decoding *d, const named_tensor *outputs, int index, size_t first,
                            head *h) {
    size_t count = 0;
    if (!d->stride_count) {
        TRY(check_single(&outputs[d->scores[0]]));
        TRY(check_single(&outputs[d->boxes[0]]));
    } else {
        h->stride = d->strides[index];
        h->columns = (int)ceil(h->width / h->stride);
        h->per_cell = d->size_count       ? d->size_counts[index]
                      : d->per_cell_count ? d->per_cell[index]
                                          : 1;
        h->sizes = d->size_count ? d->sizes[index] : NULL;
        count = (size_t)h->columns * (size_t)ceil(h->height / h->stride) * (size_t)h->per_cell;
    }
    TRY(take_rows(outputs, d->scores, d->score_count, index, first, count, &h->scores));
    count = h->scores.count;
    TRY(take_rows(outputs, d->boxes, d->box_count, index, first, count, &h->boxes));
    TRY(take_rows(outputs, d->objectness, d->objectness_count, index, first, count,
                  &h->objectness));
    return take_rows(outputs, d->landmarks, d->landmark_count, index, first, count, &h->landmarks);
}

static const char *name_of(const rows *r) {
    return r->name ? r->name : "none";
}

/* Columns that the decoder of the type reads. */
static tsr_status check_columns(const head *h) {
    const decoding *d = h->d;
    bool good = !h->boxes.at || h->boxes.columns >= 4;
    if (d->type == DECODE_NANODET)
        good = d->bins > 0 && d->bins < 1000 &&
               (h->boxes.at ? h->boxes.columns == 4 * d->bins : h->scores.columns > 4 * d->bins);
    if (d->type == DECODE_BLAZEFACE)
        good = good && h->boxes.columns <= 4 + 2 * MOST_POINTS;
    good = good && h->landmarks.columns <= 2 * MOST_POINTS;
    return good ? TSR_OK
                : fail(TSR_ERROR_SHAPE,
                       "decode: type '%s' cannot be: boxes (%s) have %d columns, scores (%s) %d, "
                       "landmarks (%s) %d",
                       decode_names[d->type], name_of(&h->boxes), h->boxes.columns,
                       name_of(&h->scores), h->scores.columns, name_of(&h->landmarks),
                       h->landmarks.columns);
}

static tsr_status add(detections *found, const detection *one) {
    if (found->count == found->room) {
        int room = found->room ? found->room * 2 : 64;
        detection *items = realloc(found->items, (size_t)room * sizeof *items);
        if (!items)
            return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for boxes");
        found->items = items;
        found->room = room;
    }
    found->items[found->count++] = *one;
    return TSR_OK;
}

static tsr_status decode_head(const head *h, detections *found) {
    TRY(check_columns(h));
    for (size_t row = 0; row < h->scores.count; row++) {
        detection one = {0};
        decoders[h->d->type](h, row, &one);
        bool is_box = isfinite(one.x0) && isfinite(one.y0) && isfinite(one.x1) &&
                      isfinite(one.y1) && one.x1 > one.x0 && one.y1 > one.y0;
        if (one.class >= 0 && one.score > h->d->threshold && is_box)
            TRY(add(found, &one));
    }
    return TSR_OK;
}

/* ---- suppression of overlapping boxes -------------------------------------------------------- */

static int compare_scores(const void *a, const void *b) {
    double x = ((const detection *)a)->score, y = ((const detection *)b)->score;
    return (x < y) - (x > y);
}

static double overlap(const detection *a, const detection *b) {
    double w = fmin(a->x1, b->x1) - fmax(a->x0, b->x0);
    double h = fmin(a->y1, b->y1) - fmax(a->y0, b->y0);
    double both = w > 0 && h > 0 ? w * h : 0;
    return both / ((a->x1 - a->x0) * (a->y1 - a->y0) + (b->x1 - b->x0) * (b->y1 - b->y0) - both);
}

static void suppress(detections *found, double nms) {
    int kept = 0;
    if (found->count)
        qsort(found->items, (size_t)found->count, sizeof *found->items, compare_scores);
    for (int i = 0; i < found->count && i < MOST_FOUND; i++) {
        const detection one = found->items[i];
        bool hidden = false;
        for (int k = 0; k < kept && !hidden; k++)
            hidden = found->items[k].class == one.class && overlap(&found->items[k], &one) > nms;
        if (!hidden)
            found->items[kept++] = one;
    }
    found->count = kept;
}

/* An output that all strides share has as many rows as they have cells. */
static tsr_status check_all_read(const named_tensor *outputs, const int *list, int count,
                                 size_t rows) {
    const tensor *t = &outputs[list[0]].tensor;
    size_t all = count == 1 ? t->count / (size_t)t->shape.dim[t->shape.rank - 1] : rows;
    return all == rows
               ? TSR_OK
               : fail(TSR_ERROR_SHAPE, "decode: output '%s' %s has other rows than %zu cells",
                      outputs[list[0]].name, shape_label(&t->shape).text, rows);
}

static tsr_status check_rows(const decoding *d, const named_tensor *outputs, size_t rows) {
    TRY(check_all_read(outputs, d->scores, d->score_count, rows));
    TRY(check_all_read(outputs, d->boxes, d->box_count, rows));
    TRY(check_all_read(outputs, d->objectness, d->objectness_count, rows));
    return check_all_read(outputs, d->landmarks, d->landmark_count, rows);
}

tsr_status decode_detections(const decoding *d, const named_tensor *outputs, int width, int height,
                             detections *made) {
    int heads = d->stride_count ? d->stride_count : 1;
    size_t first = 0;
    tsr_status status = TSR_OK;
    *made = (detections){0};
    for (int i = 0; i < heads && status == TSR_OK; i++) {
        head h = {.d = d, .width = width, .height = height, .per_cell = 1};
        status = take_head(d, outputs, i, first, &h);
        if (status == TSR_OK)
            status = decode_head(&h, made);
        first += h.scores.count;
    }
    if (status == TSR_OK)
        status = check_rows(d, outputs, first);
    if (status == TSR_OK)
        suppress(made, d->nms);
    else
        detections_free(made);
    return status;
}

void detections_free(detections *found) {
    free(found->items);
    *found = (detections){0};
}
