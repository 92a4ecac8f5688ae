#include "tiling.h"
#include "tool.h"

#include "api/picture.h"
#include "base/allocator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = TSR_PICTURE_AXES, BLENDED = 16, LARGEST_MULTIPLE = 64, DEFAULT_BUDGET = 1 << 30 };

typedef struct tile_axis { /* pixels of the input, along rows or columns */
    int64_t picture;       /* size */
    int64_t padded;        /* with what continues its border, so that the model takes it */
    int64_t tile, count;
    int64_t advance; /* from a tile to the next; the last one ends with the picture */
} tile_axis;

typedef struct tile_output {
    tsr_shape tile, result;
    tsr_field field[AXES];
    float *weight[AXES]; /* of each tile's elements, by tile and place in it: 1 in all */
    tensor whole;        /* result of a picture */
} tile_output;

typedef struct tiling {
    tsr_shape picture;
    int axes[AXES];
    tile_axis axis[AXES];
    int output_count;
    tile_output *outputs;
    float *pixels; /* of one tile */
} tiling;

/* ---- what the model makes of a size --------------------------------------------------------- */

typedef struct study {
    job *job;
    job_input *input;
    image_view view;
    int axes[AXES];
} study;

static bool begin_study(study *s, job *j, job_input *input) {
    image_view view;
    const tsr_shape *shape = &input->info.shape;
    if (input->fixed || !image_view_of(shape, &input->image, &view))
        return false;
    int last = shape->rank - 1 - (shape->rank > 2 && view.channels_last);
    *s = (study){j, input, view, {last - 1, last}};
    return true;
}

static tsr_status look(const study *s, const int64_t size[AXES], tsr_picture_report *report) {
    job_input before = *s->input;
    tsr_session_desc desc = {.override_shapes = true};
    tsr_shape *shape = &s->input->info.shape;
    for (int a = 0; a < AXES; a++)
        shape->dim[s->axes[a]] = size[a];
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] < 0)
            shape->dim[i] = i == 0 && shape->rank == 4 ? 1 : s->view.channels;
    s->input->shaped = true;
    tsr_status status = job_describe_shapes(s->job, &desc);
    if (status == TSR_OK) {
        status = tsr_model_picture(s->job->model, &desc, before.info.name, s->axes, report);
        if (status != TSR_OK)
            fail_library(status);
    }
    job_free_shapes(&desc);
    *s->input = before;
    return status;
}

static void end_look(tsr_picture_report *report) {
    tsr_free(report->outputs);
    report->outputs = NULL;
}

/* Is the model fully convolutional, from a picture to pictures? */
static bool makes_pictures(const study *s, const tsr_picture_report *report) {
    bool all = report->is_local;
    for (int i = 0; i < report->output_count && all; i++) {
        image_view view;
        const tsr_picture_output *output = &report->outputs[i];
        const tsr_field *field = output->map.axis;
        all = output->map.depends && field[1].axis == field[0].axis + 1 &&
              image_view_of(&output->shape, &s->input->image, &view);
    }
    return all;
}

/* Can its pictures be computed in parts? */
static bool can_divide(const study *s, const tsr_picture_report *report) {
    return makes_pictures(s, report) && !report->normalizes;
}

/* The size that the model fixes; false if it leaves it open. */
static bool find_declared(const study *s, int64_t size[AXES]) {
    tsr_tensor_info info;
    bool fixed = tsr_model_input(s->job->model, (int)(s->input - s->job->inputs), &info) == TSR_OK;
    for (int a = 0; a < AXES && fixed; a++)
        fixed = info.shape.rank > s->axes[a] && (size[a] = info.shape.dim[s->axes[a]]) > 0;
    return fixed;
}

static bool has_declared_size(const study *s) {
    int64_t declared[AXES];
    const int64_t *dim = s->input->info.shape.dim;
    return find_declared(s, declared) && declared[0] == dim[s->axes[0]] &&
           declared[1] == dim[s->axes[1]];
}

/* *possible: the model takes a picture of this size, and then *report is to be ended. */
static tsr_status try_size(const study *s, const int64_t size[AXES], tsr_picture_report *report,
                           bool *possible) {
    tsr_status status = look(s, size, report);
    *possible = status == TSR_OK;
    return status == TSR_ERROR_OUT_OF_MEMORY ? status : TSR_OK;
}

tsr_status tiling_open_size(job *j, job_input *input, int width, int height) {
    study s;
    tsr_picture_report report;
    int64_t declared[AXES];
    const int64_t wanted[] = {height, width};
    if (!j->options->own_sizes || !image_keeps_size(&input->image) || input->sized ||
        !begin_study(&s, j, input) || !find_declared(&s, declared) ||
        (declared[0] == wanted[0] && declared[1] == wanted[1]))
        return TSR_OK;
    bool open, normalizes = false;
    TRY(try_size(&s, declared, &report, &open));
    if (open) {
        open = makes_pictures(&s, &report);
        normalizes = report.normalizes;
        end_look(&report);
    }
    if (open && (normalizes || !j->options->tiles)) {
        TRY(try_size(&s, wanted, &report, &open));
        if (open)
            end_look(&report);
    }
    if (open && normalizes)
        note("a picture of %d x %d keeps its size, though the model declares %lld x %lld (--fit "
             "scale does not)",
             width, height, (long long)declared[1], (long long)declared[0]);
    for (int a = 0; a < AXES && open; a++)
        input->info.shape.dim[s.axes[a]] = -1;
    j->resized = j->resized || open;
    return TSR_OK;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static int64_t round_up(int64_t value, int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

static int64_t floor_divide(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

/* Elements of the result of more pixels, given that of some. */
static int64_t grow(int64_t length, int64_t pixels, const tsr_field *field) {
    return length + floor_divide(pixels * field->unit, field->step);
}

/* The elements of a tile's result that are as in the whole picture's: first to last. */
static void clean_part(const tile_axis *axis, const tsr_field *field, int64_t k, int64_t length,
                       int64_t *first, int64_t *last) {
    *first = k == 0 ? 0 : floor_divide(-field->low + field->step - 1, field->step);
    *last = k == axis->count - 1
                ? length - 1
                : floor_divide((axis->tile - 1) * field->unit - field->high, field->step);
    *first = *first < 0 ? 0 : *first;
    *last = *last >= length ? length - 1 : *last;
}

/* How far tiles can be apart, in pixels: what is clean between two others. Negative: not at all.
 * size: that of the report. */
static int64_t clean_pixels(const tsr_picture_report *report, int a, int64_t size, int64_t tile) {
    int64_t least = tile;
    for (int i = 0; i < report->output_count; i++) {
        const tsr_field *f = &report->outputs[i].map.axis[a];
        const tile_axis middle = {.tile = tile, .count = 3};
        int64_t length = grow(report->outputs[i].shape.dim[f->axis], tile - size, f), first, last;
        clean_part(&middle, f, 1, length, &first, &last);
        int64_t clean = floor_divide((last - first + 1) * f->step, f->unit);
        least = clean < least ? clean : least;
    }
    return least;
}

/* The size closest to the wanted one that has the padded picture's grids and a clean part. size:
 * that of the report. */
static void place_tiles(const tsr_picture_report *report, int a, int64_t size, int64_t wanted,
                        tile_axis *axis) {
    int64_t alignment = report->alignment[a], rest = (wanted - axis->padded) % alignment;
    axis->tile = wanted - (rest < 0 ? rest + alignment : rest);
    while (axis->tile < axis->padded && clean_pixels(report, a, size, axis->tile) < alignment)
        axis->tile += alignment;
    if (axis->tile >= axis->padded) {
        axis->tile = axis->padded;
        axis->count = 1;
        return;
    }
    int64_t clean = clean_pixels(report, a, size, axis->tile), most = clean / alignment * alignment,
            blended = (clean - BLENDED) / alignment * alignment;
    axis->advance = blended >= alignment && blended >= most / 2 ? blended : most;
    axis->count = (axis->padded - axis->tile + axis->advance - 1) / axis->advance + 1;
}

static int64_t tile_start(const tile_axis *axis, int64_t k) {
    return k == axis->count - 1 ? axis->padded - axis->tile : k * axis->advance;
}

/* The picture as it is, else, without --shape, extended to a multiple of 2, 4, ...; false if the
 * model takes none. */
static bool find_size(const study *s, tiling *t, tsr_picture_report *report) {
    int64_t largest = s->input->sized ? 1 : LARGEST_MULTIPLE;
    for (int64_t multiple = 1; multiple <= largest; multiple *= 2) {
        int64_t size[AXES];
        for (int a = 0; a < AXES; a++)
            size[a] = t->axis[a].padded = round_up(t->axis[a].picture, multiple);
        if (look(s, size, report) != TSR_OK)
            continue;
        if (multiple == 1 || can_divide(s, report))
            return true;
        end_look(report);
    }
    return false;
}

/* Tiles of the size that the model fixes: report is of it then. */
static bool use_declared_size(const study *s, tiling *t, tsr_picture_report *report) {
    int64_t size[AXES];
    if (!find_declared(s, size) || look(s, size, report) != TSR_OK)
        return false;
    bool good = can_divide(s, report);
    for (int a = 0; a < AXES && good; a++) {
        tile_axis *axis = &t->axis[a];
        int64_t more = axis->picture > size[a] ? axis->picture - size[a] : 0;
        axis->padded = size[a] + round_up(more, report->alignment[a]);
        place_tiles(report, a, size[a], size[a], axis);
        good = axis->tile == size[a];
    }
    if (!good)
        end_look(report);
    return good;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static bool same_fields(const tsr_picture_report *tile, const tsr_picture_report *whole,
                        const tiling *t) {
    bool same = tsr_cache_key_equal(&tile->numbers, &whole->numbers);
    for (int i = 0; i < whole->output_count; i++)
        for (int a = 0; a < AXES; a++) {
            const tsr_field *f = &whole->outputs[i].map.axis[a];
            int64_t more =
                whole->outputs[i].shape.dim[f->axis] - tile->outputs[i].shape.dim[f->axis];
            same = same && memcmp(f, &tile->outputs[i].map.axis[a], sizeof *f) == 0 &&
                   more * f->step == (t->axis[a].padded - t->axis[a].tile) * f->unit;
        }
    return same;
}

static tsr_status refuse(const study *s, const char *why) {
    return fail(TSR_ERROR_UNSUPPORTED, "%s: cannot be run in tiles: %s", s->job->path, why);
}

static const char *why_whole(const study *s, const tsr_picture_report *report) {
    return can_divide(s, report) ? NULL
           : report->why[0]      ? report->why
                                 : "its outputs are no pictures";
}

/* Side of tiles that need the budget, by the bytes of the whole picture. */
static int64_t affordable_side(const tiling *t, uint64_t live_bytes, uint64_t budget) {
    double area = (double)t->axis[0].padded * (double)t->axis[1].padded;
    return (int64_t)sqrt(area * (double)budget / (double)live_bytes) + 1;
}

/* Of a picture that the model would take whole; its report becomes that of a tile. */
static tsr_status divide(const study *s, tiling *t, tsr_picture_report *report) {
    const job_options *o = s->job->options;
    /* Half of what the session may have: plans need more than is alive at one time. */
    uint64_t budget = o->most_memory ? (uint64_t)o->most_memory << 19 : DEFAULT_BUDGET;
    if (!o->tile && report->live_bytes <= budget)
        return TSR_OK;
    const char *why = why_whole(s, report);
    if (why)
        return o->tile ? refuse(s, why) : TSR_OK;
    int64_t side = o->tile ? o->tile : affordable_side(t, report->live_bytes, budget), size[AXES];
    for (int a = 0; a < AXES; a++) {
        place_tiles(report, a, t->axis[a].padded, side, &t->axis[a]);
        size[a] = t->axis[a].tile;
    }
    tsr_picture_report tile;
    TRY(look(s, size, &tile));
    bool same = makes_pictures(s, &tile) && same_fields(&tile, report, t);
    end_look(report);
    *report = tile;
    return same ? TSR_OK : refuse(s, "its layers depend on the picture's size");
}

static void weigh_tile(const tile_axis *axis, const tsr_field *field, int64_t k, int64_t length,
                       float *weight) {
    int64_t first, last;
    clean_part(axis, field, k, length, &first, &last);
    for (int64_t i = first; i <= last; i++) {
        int64_t left = k == 0 ? BLENDED : i - first + 1,
                right = k == axis->count - 1 ? BLENDED : last - i + 1;
        int64_t distance = left < right ? left : right;
        weight[i] = (float)(distance < BLENDED ? distance : BLENDED);
    }
}

/* Weights of all tiles at an element sum up to 1; false where an element is in no tile. */
static bool normalize(const tile_axis *axis, const tsr_field *field, int64_t length, float *weights,
                      float *sum) {
    int64_t all = grow(length, axis->padded - axis->tile, field);
    for (int64_t k = 0; k < axis->count; k++) {
        int64_t start = grow(0, tile_start(axis, k), field);
        weigh_tile(axis, field, k, length, weights + k * length);
        for (int64_t i = 0; i < length; i++)
            sum[start + i] += weights[k * length + i];
    }
    for (int64_t k = 0; k < axis->count; k++)
        for (int64_t i = 0; i < length; i++)
            if (weights[k * length + i] > 0)
                weights[k * length + i] /= sum[grow(0, tile_start(axis, k), field) + i];
    for (int64_t i = 0; i < all; i++)
        if (!(sum[i] > 0))
            return false;
    return true;
}

static tsr_status weigh(const tile_axis *axis, const tsr_field *field, int64_t length,
                        float **made) {
    int64_t all = grow(length, axis->padded - axis->tile, field);
    float *weights = *made = calloc((size_t)(axis->count * length) + 1, sizeof *weights),
          *sum = calloc((size_t)all + 1, sizeof *sum);
    if (!weights || !sum) {
        free(sum);
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the weights of tiles");
    }
    bool complete = normalize(axis, field, length, weights, sum);
    free(sum);
    return complete ? TSR_OK
                    : fail(TSR_ERROR_UNSUPPORTED, "tiles do not cover the result of a picture");
}

static tsr_status make_output(const tiling *t, const tsr_picture_output *from, tile_output *made) {
    made->tile = made->result = from->shape;
    for (int a = 0; a < AXES; a++) {
        const tile_axis *axis = &t->axis[a];
        const tsr_field *field = &from->map.axis[a];
        int64_t length = from->shape.dim[field->axis];
        made->field[a] = *field;
        made->result.dim[field->axis] = grow(length, axis->padded - axis->tile, field) -
                                        grow(0, axis->padded - axis->picture, field);
        if (made->result.dim[field->axis] < 1)
            return fail(TSR_ERROR_SHAPE, "a picture of %lld pixels is too small for the model",
                        (long long)axis->picture);
        TRY(weigh(axis, field, length, &made->weight[a]));
    }
    return TSR_OK;
}

static tsr_status make_outputs(tiling *t, const tsr_picture_report *report) {
    const tsr_shape shape = tiling_tile_shape(t);
    t->pixels = malloc((size_t)tsr_shape_count(&shape) * sizeof *t->pixels);
    t->outputs = calloc((size_t)report->output_count + 1, sizeof *t->outputs);
    if (!t->outputs || !t->pixels)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for tiles");
    t->output_count = report->output_count;
    for (int i = 0; i < t->output_count; i++)
        TRY(make_output(t, &report->outputs[i], &t->outputs[i]));
    return TSR_OK;
}

static bool is_trivial(const tiling *t) {
    bool trivial = true;
    for (int a = 0; a < AXES; a++)
        trivial = trivial && t->axis[a].tile == t->axis[a].picture;
    return trivial;
}

static void tell(const tiling *t, const char *name) {
    const tile_axis *y = &t->axis[0], *x = &t->axis[1];
    if (tiling_count(t) > 1)
        note("%s: %lld x %lld in %lld x %lld tiles of %lld x %lld", name, (long long)x->picture,
             (long long)y->picture, (long long)x->count, (long long)y->count, (long long)x->tile,
             (long long)y->tile);
    else
        note("%s: %lld x %lld is extended to %lld x %lld for the model, and the result cut", name,
             (long long)x->picture, (long long)y->picture, (long long)x->tile, (long long)y->tile);
}

/* Sizes of pictures and tiles; report is of a tile. *possible: the model takes one. */
static tsr_status choose(const study *s, tiling *t, tsr_picture_report *report, bool *possible) {
    *possible = find_size(s, t, report);
    if (!*possible) {
        *possible = !s->input->sized && use_declared_size(s, t, report);
        return TSR_OK;
    }
    for (int a = 0; a < AXES; a++) {
        t->axis[a].tile = t->axis[a].padded;
        t->axis[a].count = 1;
    }
    return divide(s, t, report);
}

tsr_status tiling_choose(job *j, job_input *input, const char *name) {
    study s;
    tsr_picture_report report = {0};
    bool possible;
    if (!j->options->tiles || j->tiling)
        return TSR_OK;
    if (!begin_study(&s, j, input))
        return j->options->tile && j->input_count == 1
                   ? fail(TSR_ERROR_INVALID_ARGUMENT, "--tile: input '%s' %s is no picture",
                          input->info.name, info_label(&input->info).text)
                   : TSR_OK;
    if (has_declared_size(&s) && !j->options->tile)
        return TSR_OK;
    tiling *t = calloc(1, sizeof *t);
    if (!t)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for tiles");
    t->picture = input->info.shape;
    for (int a = 0; a < AXES; a++) {
        t->axes[a] = s.axes[a];
        t->axis[a].picture = t->picture.dim[s.axes[a]];
    }
    tsr_status status = choose(&s, t, &report, &possible);
    bool used = status == TSR_OK && possible && !is_trivial(t);
    if (used)
        status = make_outputs(t, &report);
    end_look(&report);
    if (!used || status != TSR_OK) {
        tiling_free(t);
        return status;
    }
    tell(t, name);
    j->tiling = t;
    input->tiled = j->resized = true;
    return TSR_OK;
}

void tiling_free(tiling *t) {
    if (!t)
        return;
    for (int i = 0; i < t->output_count; i++) {
        for (int a = 0; a < AXES; a++)
            free(t->outputs[i].weight[a]);
        tensor_free(&t->outputs[i].whole);
    }
    free(t->outputs);
    free(t->pixels);
    free(t);
}

/* ---- pixels ---------------------------------------------------------------------------------- */

int tiling_count(const tiling *t) {
    return (int)(t->axis[0].count * t->axis[1].count);
}

tsr_shape tiling_tile_shape(const tiling *t) {
    tsr_shape shape = t->picture;
    for (int a = 0; a < AXES; a++)
        shape.dim[t->axes[a]] = t->axis[a].tile;
    return shape;
}

tsr_shape tiling_result_shape(const tiling *t, int output) {
    return t->outputs[output].result;
}

/* Elements as [outer, rows, columns, inner]. */
static void fold(const tsr_shape *shape, int rows, int64_t size[4]) {
    for (int i = 0; i < 4; i++)
        size[i] = 1;
    for (int i = 0; i < shape->rank; i++)
        size[i < rows ? 0 : i == rows ? 1 : i == rows + 1 ? 2 : 3] *= shape->dim[i];
}

static int64_t inside(int64_t at, int64_t size) {
    return at < size ? at : size - 1;
}

const float *tiling_cut(tiling *t, int k, const float *picture) {
    int64_t from[4], to[4], y0 = tile_start(&t->axis[0], k / t->axis[1].count),
                            x0 = tile_start(&t->axis[1], k % t->axis[1].count);
    const tsr_shape shape = tiling_tile_shape(t);
    float *tile = t->pixels;
    fold(&t->picture, t->axes[0], from);
    fold(&shape, t->axes[0], to);
    for (int64_t n = 0; n < to[0]; n++)
        for (int64_t y = 0; y < to[1]; y++) {
            const float *row =
                picture + (n * from[1] + inside(y0 + y, from[1])) * from[2] * from[3];
            for (int64_t x = 0; x < to[2]; x++, tile += to[3])
                memcpy(tile, row + inside(x0 + x, from[2]) * from[3], (size_t)to[3] * sizeof *tile);
        }
    return t->pixels;
}

tsr_status tiling_make_results(tiling *t) {
    for (int i = 0; i < t->output_count; i++) {
        tensor_free(&t->outputs[i].whole);
        TRY(tensor_create(TSR_DTYPE_F32, &t->outputs[i].result, &t->outputs[i].whole));
    }
    return TSR_OK;
}

tensor *tiling_result(tiling *t, int output) {
    return &t->outputs[output].whole;
}

void tiling_paste(const tiling *t, int output, int k, const float *tile, float *result) {
    const tile_output *o = &t->outputs[output];
    int64_t from[4], to[4], row = k / t->axis[1].count, column = k % t->axis[1].count;
    fold(&o->tile, o->field[0].axis, from);
    fold(&o->result, o->field[0].axis, to);
    int64_t y0 = grow(0, tile_start(&t->axis[0], row), &o->field[0]),
            x0 = grow(0, tile_start(&t->axis[1], column), &o->field[1]);
    const float *wy = o->weight[0] + row * from[1], *wx = o->weight[1] + column * from[2];
    for (int64_t n = 0; n < from[0]; n++)
        for (int64_t y = 0; y < from[1] && y0 + y < to[1]; y++)
            for (int64_t x = 0; x < from[2] && x0 + x < to[2]; x++) {
                const float *in = tile + ((n * from[1] + y) * from[2] + x) * from[3];
                float *out = result + ((n * to[1] + y0 + y) * to[2] + x0 + x) * to[3];
                float weight = wy[y] * wx[x];
                for (int64_t i = 0; i < from[3] && weight > 0; i++)
                    out[i] += weight * in[i];
            }
}
