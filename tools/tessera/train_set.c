/* The samples of `tessera train`. */
#include "tool.h"
#include "train.h"
#include "base/cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t most_kept = 1u << 30; /* bytes of samples that are kept in memory */

/* ---- reading --------------------------------------------------------------------------------- */

/* A file may leave out axis 0, the batch. */
static bool is_sample(const tsr_shape *wanted, const tsr_shape *given) {
    tsr_shape shorter = {.rank = wanted->rank - 1};
    memcpy(shorter.dim, wanted->dim + 1, (size_t)shorter.rank * sizeof *shorter.dim);
    return shape_equal(wanted, given) || shape_equal(&shorter, given);
}

static tsr_status check_sample(const train_set *s, const train_side *side, const char *path,
                               const tensor *t) {
    const char *what =
        side < s->sides + s->input_count ? "a sample of input" : "a target of output";
    if (!is_sample(&side->info.shape, &t->shape))
        return fail(TSR_ERROR_SHAPE, "%s: is %s, but %s '%s' is %s", path,
                    shape_label(&t->shape).text, what, side->info.name,
                    shape_label(&side->info.shape).text);
    size_t at = s->o->job.allow_nan ? t->count : tensor_find_non_finite(t);
    return at == t->count
               ? TSR_OK
               : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: holds %s at %s; --allow-nan accepts it",
                      path, isnan(t->values[at]) ? "NaN" : "infinity",
                      position_label(&t->shape, at).text);
}

static tsr_status read_side(const train_set *s, const train_side *side, const char *path, int part,
                            float *elements) {
    tensor t;
    TRY(train_load(side, path, part, &t));
    tsr_status status = check_sample(s, side, path, &t);
    if (status == TSR_OK)
        memcpy(elements, t.values, t.count * sizeof *elements);
    tensor_free(&t);
    return status;
}

static tsr_status read_sample(const train_set *s, const train_sample *sample, float *elements) {
    for (int k = 0; k < s->side_count; k++) {
        const train_side *side = &s->sides[k];
        bool classes = s->form == TRAIN_CLASSES && k >= s->input_count;
        for (size_t i = 0; classes && i < side->count; i++)
            elements[side->before + i] = i == (size_t)sample->class;
        if (!classes)
            TRY(read_side(s, side, sample->paths[s->form == TRAIN_FOLDERS ? k : 0],
                          s->form == TRAIN_HALVES ? 1 + k : 0, elements + side->before));
    }
    return TSR_OK;
}

/* Those of a sample, until the next call. */
static tsr_status find_elements(const train_set *s, const train_sample *sample,
                                const float **elements) {
    *elements = sample->elements ? sample->elements : s->scratch;
    return sample->elements ? TSR_OK : read_sample(s, sample, s->scratch);
}

static void add_checksum(train_set *s, size_t bytes) {
    const uint64_t sums[] = {s->checksum, tsr_cache_checksum(s->scratch, bytes)};
    s->checksum = tsr_cache_checksum(sums, sizeof sums);
}

/* Each file is read before training begins, so that a bad one is told now. */
static tsr_status read_all(train_set *s) {
    size_t bytes = s->sample_count * sizeof *s->scratch;
    uint64_t kept = 0;
    s->scratch = malloc(bytes);
    if (!s->scratch)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for a sample");
    for (int i = 0; i < s->files.count; i++) {
        train_sample *sample = &s->files.samples[i];
        progress("reading %d of %d: %s", i + 1, s->files.count, sample->paths[0]);
        TRY(read_sample(s, sample, s->scratch));
        add_checksum(s, bytes);
        for (int k = 0; k < s->side_count; k++)
            s->sides[k].image.silent = true; /* one note is enough */
        kept += bytes;
        sample->elements = kept <= most_kept ? malloc(bytes) : NULL;
        if (sample->elements)
            memcpy(sample->elements, s->scratch, bytes);
    }
    progress_clear();
    return TSR_OK;
}

/* ---- the batch ---------------------------------------------------------------------------------
 */

/* The size of an input that fixes it; NULL: none does. */
static tsr_status find_fixed_batch(const job *j, const tsr_tensor_info **fixed) {
    *fixed = NULL;
    for (int i = 0; i < j->input_count; i++) {
        const tsr_tensor_info *info = &j->inputs[i].info;
        if (info->shape.dim[0] < 0)
            continue;
        if (*fixed && (*fixed)->shape.dim[0] != info->shape.dim[0])
            return fail(TSR_ERROR_UNSUPPORTED,
                        "inputs '%s' and '%s' are %s and %s: training needs one batch for both",
                        (*fixed)->name, info->name, info_label(*fixed).text, info_label(info).text);
        *fixed = info;
    }
    return TSR_OK;
}

static tsr_status choose_batch(train_set *s, const job *j) {
    enum { USUAL_BATCH = 16 };
    const tsr_tensor_info *fixed;
    int count = train_set_count(s), asked = s->o->batch;
    TRY(find_fixed_batch(j, &fixed));
    if (fixed && asked && asked != fixed->shape.dim[0])
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--batch %d: input '%s' is %s: its batch is fixed",
                    asked, fixed->name, info_label(fixed).text);
    int64_t batch = fixed   ? fixed->shape.dim[0]
                    : asked ? asked
                            : (count < USUAL_BATCH ? count : USUAL_BATCH);
    if (batch < 1 || batch > count)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "a batch of %lld, but there are %d samples to train with", (long long)batch,
                    count);
    s->batch = (int)batch;
    return TSR_OK;
}

/* ---- augmentation ---------------------------------------------------------------------------- */

static bool is_picture(const train_side *side) {
    image_view view;
    return side->info.shape.rank == 4 && image_view_of(&side->info.shape, &side->image, &view);
}

/* NULL: there is none. */
static const train_side *find_picture(const train_side *sides, int count) {
    for (int k = 0; k < count; k++)
        if (is_picture(&sides[k]))
            return &sides[k];
    return NULL;
}

static bool is_channels_last(const train_side *side) {
    image_view view;
    return side && image_view_of(&side->info.shape, &side->image, &view) && view.channels_last;
}

static double of_channel(const double *numbers, int count, int channel, double without) {
    return count ? numbers[count == 1 ? 0 : channel] : without;
}

static tsr_color_range color_range(const image_options *image) {
    tsr_color_range made;
    for (int c = 0; c < 3; c++) {
        double mean = of_channel(image->mean, image->mean_count, c, 0),
               scale = of_channel(image->scale, image->scale_count, c, 1);
        made.black[c] = (float)((image->range[0] - mean) * scale);
        made.white[c] = (float)((image->range[1] - mean) * scale);
    }
    return made;
}

/* Pictures that change change alike: each has the layout of the first input's, and the colours of
 * the first input's or the first target's. */
static tsr_status check_pictures(const train_side *sides, int count, bool recolored,
                                 const tsr_trainer_desc *desc, const tsr_color_range *colors) {
    for (int k = 0; k < count; k++) {
        const train_side *side = &sides[k];
        if (!is_picture(side) || !(desc->flip || desc->crop || recolored))
            continue;
        const tsr_color_range own = color_range(&side->image);
        bool alike = is_channels_last(side) == desc->channels_last;
        if (!alike || (recolored && memcmp(&own, colors, sizeof own) != 0))
            return fail(TSR_ERROR_UNSUPPORTED,
                        "--flip, --crop and --color: '%s' %s has %s than other pictures",
                        side->info.name, info_label(&side->info).text,
                        alike ? "another range, mean or scale" : "another order of axes");
    }
    return TSR_OK;
}

tsr_status train_set_augment(const train_set *s, tsr_trainer_desc *desc) {
    const train_options *o = s->o;
    const train_side *targets = s->sides + s->input_count;
    const int target_count = s->side_count - s->input_count;
    const train_side *input = find_picture(s->sides, s->input_count),
                     *target = find_picture(targets, target_count);
    desc->flip = o->flip;
    desc->crop = o->crop;
    desc->brightness = desc->contrast = desc->saturation = (float)o->color;
    desc->recolor_targets = o->color_targets;
    desc->channels_last = is_channels_last(input);
    if (input && o->color > 0)
        desc->input_colors = color_range(&input->image);
    if (target && o->color_targets)
        desc->target_colors = color_range(&target->image);
    TRY(check_pictures(s->sides, s->input_count, o->color > 0, desc, &desc->input_colors));
    return check_pictures(targets, target_count, o->color_targets, desc, &desc->target_colors);
}

/* ---- batches --------------------------------------------------------------------------------- */

double train_side_range(const train_side *target) {
    return fabs(target->image.range[1] - target->image.range[0]);
}

int train_set_count(const train_set *s) {
    return s->files.count - s->held;
}

static void shuffle(train_set *s, int count) {
    for (int i = count - 1; i > 0; i--) {
        int other = (int)(tsr_random_uniform(&s->random) * (i + 1)), index = s->order[i];
        s->order[i] = s->order[other];
        s->order[other] = index;
    }
    s->next = 0;
}

static int draw_sample(train_set *s) {
    if (s->next == train_set_count(s))
        shuffle(s, train_set_count(s));
    return s->order[s->next++];
}

size_t train_set_place(const train_set *s, int side) {
    return (size_t)s->batch * s->sides[side].before;
}

/* The i-th of a batch. */
static tsr_status put_sample(const train_set *s, int sample, int i, float *elements) {
    const float *from;
    TRY(find_elements(s, &s->files.samples[sample], &from));
    for (int k = 0; k < s->side_count; k++) {
        const train_side *side = &s->sides[k];
        memcpy(elements + train_set_place(s, k) + (size_t)i * side->count, from + side->before,
               side->count * sizeof *elements);
    }
    return TSR_OK;
}

tsr_status train_set_draw(train_set *s, float *elements) {
    for (int i = 0; i < s->batch; i++)
        TRY(put_sample(s, draw_sample(s), i, elements));
    return TSR_OK;
}

void train_set_skip(train_set *s, int steps) {
    for (int64_t i = 0; i < (int64_t)steps * s->batch; i++)
        draw_sample(s);
}

tsr_status train_set_held(const train_set *s, int at, float *elements) {
    for (int i = 0; i < s->batch; i++) {
        int index = at + i < s->held ? at + i : s->held - 1;
        TRY(put_sample(s, s->order[train_set_count(s) + index], i, elements));
    }
    return TSR_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static tsr_status hold_out(train_set *s) {
    double share = s->o->validation;
    s->order = malloc((size_t)s->files.count * sizeof *s->order);
    if (!s->order)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    for (int i = 0; i < s->files.count; i++)
        s->order[i] = i;
    shuffle(s, s->files.count);
    int held = (int)(share * s->files.count + 0.5);
    s->held = share > 0 && held < 1 ? 1 : held;
    return s->held < s->files.count
               ? TSR_OK
               : fail(TSR_ERROR_INVALID_ARGUMENT,
                      "--validation: that leaves none of %d samples to train with", s->files.count);
}

static tsr_status find_files(train_set *s, job *j) {
    int count = s->form == TRAIN_FOLDERS ? s->side_count : 1;
    const char **folders = malloc((size_t)count * sizeof *folders);
    if (!folders)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    for (int k = 0; k < count; k++)
        folders[k] = s->sides[k].folder;
    tsr_status status = train_find_files(s->form, j, folders, count, &s->files);
    free(folders);
    return status;
}

static tsr_status open_set(train_set *s, job *j) {
    TRY(train_find_sides(s, j));
    TRY(find_files(s, j));
    TRY(train_check_samples(s->o, &s->files));
    TRY(hold_out(s));
    TRY(choose_batch(s, j));
    TRY(train_shape_sides(s, j));
    return read_all(s);
}

tsr_status train_set_open(train_set *made, const train_options *o, job *j) {
    *made = (train_set){.o = o, .form = train_form_of(o)};
    tsr_random_seed(&made->random, (uint32_t)o->job.seed);
    tsr_status status = open_set(made, j);
    progress_clear();
    if (status != TSR_OK)
        train_set_close(made);
    return status;
}

void train_set_close(train_set *s) {
    train_free_files(&s->files);
    free(s->sides);
    free(s->order);
    free(s->scratch);
    *s = (train_set){0};
}
