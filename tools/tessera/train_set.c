/* The samples of `tessera train`. */
#include "tool.h"
#include "train.h"
#include "base/cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t most_kept = 1u << 30; /* bytes of samples that are kept in memory */

/* ---- reading --------------------------------------------------------------------------------- */

/* part: 0: the whole file; 1, 2: the left and the right half of a picture. */
static tsr_status load(const train_side *side, const char *path, int part, tensor *made) {
    image_side place;
    TRY(file_check_regular(path));
    if (!picture_is_file(path))
        return part ? fail(TSR_ERROR_INVALID_ARGUMENT, "%s: is no picture, which has halves", path)
                    : tensor_load(path, made);
    if (side->info.shape.rank != 4)
        return fail(TSR_ERROR_SHAPE, "%s: '%s' %s is no batch of pictures; give .npy files", path,
                    side->info.name, info_label(&side->info).text);
    TRY(part ? image_load_half(path, part == 2, &side->info, &side->image, made, &place)
             : image_load(path, &side->info, &side->image, made, &place));
    image_side_free(&place);
    return TSR_OK;
}

/* A file may leave out axis 0, the batch. */
static bool is_sample(const tsr_shape *wanted, const tsr_shape *given) {
    tsr_shape shorter = {.rank = wanted->rank - 1};
    memcpy(shorter.dim, wanted->dim + 1, (size_t)shorter.rank * sizeof *shorter.dim);
    return shape_equal(wanted, given) || shape_equal(&shorter, given);
}

static tsr_status check_sample(const train_set *s, const train_side *side, const char *path,
                               const tensor *t) {
    const char *what = side == &s->input ? "a sample of input" : "a target of output";
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
    TRY(load(side, path, part, &t));
    tsr_status status = check_sample(s, side, path, &t);
    if (status == TSR_OK)
        memcpy(elements, t.values, t.count * sizeof *elements);
    tensor_free(&t);
    return status;
}

static tsr_status read_sample(const train_set *s, const train_sample *sample, float *elements) {
    bool halves = s->form == TRAIN_HALVES;
    float *target = elements + s->input.count;
    TRY(read_side(s, &s->input, sample->input, halves ? 1 : 0, elements));
    if (s->form != TRAIN_CLASSES)
        return read_side(s, &s->target, halves ? sample->input : sample->target, halves ? 2 : 0,
                         target);
    for (size_t i = 0; i < s->target.count; i++)
        target[i] = i == (size_t)sample->class;
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
    size_t bytes = (s->input.count + s->target.count) * sizeof *s->scratch;
    uint64_t kept = 0;
    s->scratch = malloc(bytes);
    if (!s->scratch)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for a sample");
    for (int i = 0; i < s->files.count; i++) {
        train_sample *sample = &s->files.samples[i];
        progress("reading %d of %d: %s", i + 1, s->files.count, sample->input);
        TRY(read_sample(s, sample, s->scratch));
        add_checksum(s, bytes);
        s->input.image.silent = s->target.image.silent = true; /* one note is enough */
        kept += bytes;
        sample->elements = kept <= most_kept ? malloc(bytes) : NULL;
        if (sample->elements)
            memcpy(sample->elements, s->scratch, bytes);
    }
    progress_clear();
    return TSR_OK;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static tsr_status check_input(const job *j) {
    if (j->input_count != 1)
        return fail(TSR_ERROR_UNSUPPORTED,
                    "%s: has %d inputs: training is of networks that have one", j->path,
                    j->input_count);
    const tsr_tensor_info *info = &j->inputs[0].info;
    return info->shape.rank >= 2
               ? TSR_OK
               : fail(TSR_ERROR_UNSUPPORTED,
                      "input '%s' is %s: training needs a batch, and more axes after it",
                      info->name, info_label(info).text);
}

static tsr_status choose_batch(train_set *s, const job *j) {
    enum { USUAL_BATCH = 16 };
    int64_t fixed = j->inputs[0].info.shape.dim[0];
    int count = train_set_count(s), asked = s->o->batch;
    if (fixed >= 0 && asked && asked != fixed)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--batch %d: input '%s' is %s: its batch is fixed",
                    asked, j->inputs[0].info.name, info_label(&j->inputs[0].info).text);
    int64_t batch = fixed >= 0 ? fixed : asked ? asked : count < USUAL_BATCH ? count : USUAL_BATCH;
    if (batch < 1 || batch > count)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "a batch of %lld, but there are %d samples to train with", (long long)batch,
                    count);
    s->batch = (int)batch;
    return TSR_OK;
}

static bool is_open(const tsr_shape *shape) {
    return tsr_shape_count(shape) < 0;
}

/* Sizes that are still open are those of the first file. */
static tsr_status shape_input(train_set *s, job *j) {
    tsr_shape *shape = &s->input.info.shape;
    tensor first;
    s->input.info = j->inputs[0].info;
    s->input.image = j->inputs[0].image;
    shape->dim[0] = 1;
    if (is_open(shape)) {
        TRY(load(&s->input, s->files.samples[0].input, s->form == TRAIN_HALVES, &first));
        int without = shape->rank - first.shape.rank; /* axes */
        for (int i = 1; i < shape->rank && (without == 0 || without == 1); i++)
            shape->dim[i] = shape->dim[i] < 0 ? first.shape.dim[i - without] : shape->dim[i];
        tensor_free(&first);
    }
    if (is_open(shape) || tsr_shape_count(shape) == 0)
        return fail(TSR_ERROR_SHAPE, "%s: input '%s' is %s, of which it has not all sizes",
                    s->files.samples[0].input, s->input.info.name,
                    info_label(&j->inputs[0].info).text);
    s->input.count = (size_t)tsr_shape_count(shape);
    j->inputs[0].info.shape = *shape;
    j->inputs[0].info.shape.dim[0] = s->batch;
    j->inputs[0].shaped = true;
    return TSR_OK;
}

/* As the cpu backend plans it, before anything is made on the device that trains. */
static tsr_status find_output_shape(const job *j, tsr_shape *shape) {
    tsr_device *device;
    tsr_session *session;
    tsr_tensor_info info;
    TRY(job_device(&(job_options){0}, "cpu", &device));
    tsr_status status = job_session(j, device, &(tsr_session_desc){0}, &session);
    if (status == TSR_OK) {
        status = tsr_session_output(session, 0, &info);
        if (status == TSR_OK)
            *shape = info.shape;
        else
            fail_library(status);
        tsr_session_destroy(session);
    }
    tsr_device_destroy(device);
    return status;
}

static tsr_status check_classes(const train_set *s, const job *j) {
    const tsr_tensor_info *info = &s->target.info;
    size_t classes = class_count(&info->shape), folders = (size_t)s->files.folders;
    if (!classes)
        return fail(TSR_ERROR_SHAPE,
                    "folders of classes, but output '%s' is %s, no vector of classes; "
                    "--side-by-side and --targets are for others",
                    info->name, shape_label(&info->shape).text);
    if (j->description.labels.count ? (size_t)j->description.labels.count == classes
                                    : folders == classes)
        return TSR_OK;
    return fail(
        TSR_ERROR_SHAPE, "%s: has %zu folders of classes, but output '%s' has %zu classes%s",
        s->o->data, folders, info->name, classes,
        folders < classes ? "; labels in the model's description name those that lack one" : "");
}

static tsr_status shape_target(train_set *s, const job *j) {
    train_side *target = &s->target;
    tsr_shape shape;
    TRY(find_output_shape(j, &shape));
    TRY_LIBRARY(tsr_model_output(j->model, 0, &target->info));
    target->info.shape = shape;
    if (shape.rank < 2 || shape.dim[0] != s->batch || tsr_shape_count(&shape) < 1)
        return fail(TSR_ERROR_UNSUPPORTED,
                    "output '%s' is %s: training needs the batch, %d, and more axes after it",
                    target->info.name, shape_label(&shape).text, s->batch);
    target->info.shape.dim[0] = 1;
    target->count = (size_t)tsr_shape_count(&target->info.shape);
    target->image = j->output_images[0];
    memcpy(target->image.range, target->image.out_range, sizeof target->image.range);
    target->image.mean_count = target->image.scale_count = 0;
    target->image.threshold_text = NULL;
    target->image.fit = s->input.image.fit;
    return s->form == TRAIN_CLASSES ? check_classes(s, j) : TSR_OK;
}

/* ---- augmentation ---------------------------------------------------------------------------- */

static bool is_channels_last(const train_side *side) {
    image_view view;
    return image_view_of(&side->info.shape, &side->image, &view) && view.channels_last;
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

void train_set_augment(const train_set *s, tsr_trainer_desc *desc) {
    const train_options *o = s->o;
    desc->flip = o->flip;
    desc->crop = o->crop;
    desc->brightness = desc->contrast = desc->saturation = (float)o->color;
    desc->recolor_targets = o->color_targets;
    desc->channels_last = is_channels_last(&s->input);
    if (o->color > 0) {
        desc->input_colors = color_range(&s->input.image);
        desc->target_colors = color_range(&s->target.image);
    }
}

/* ---- batches --------------------------------------------------------------------------------- */

double train_set_range(const train_set *s) {
    return fabs(s->target.image.range[1] - s->target.image.range[0]);
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

tsr_status train_set_draw(train_set *s, float *inputs, float *targets) {
    for (int i = 0; i < s->batch; i++, inputs += s->input.count, targets += s->target.count) {
        const float *elements;
        TRY(find_elements(s, &s->files.samples[draw_sample(s)], &elements));
        memcpy(inputs, elements, s->input.count * sizeof *inputs);
        memcpy(targets, elements + s->input.count, s->target.count * sizeof *targets);
    }
    return TSR_OK;
}

void train_set_skip(train_set *s, int steps) {
    for (int64_t i = 0; i < (int64_t)steps * s->batch; i++)
        draw_sample(s);
}

tsr_status train_set_held(const train_set *s, int at, float *inputs, float *targets) {
    for (int i = 0; i < s->batch; i++, inputs += s->input.count, targets += s->target.count) {
        int index = at + i < s->held ? at + i : s->held - 1;
        const float *elements;
        TRY(find_elements(s, &s->files.samples[s->order[train_set_count(s) + index]], &elements));
        memcpy(inputs, elements, s->input.count * sizeof *inputs);
        memcpy(targets, elements + s->input.count, s->target.count * sizeof *targets);
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

static tsr_status open_set(train_set *s, job *j) {
    TRY(check_input(j));
    TRY(train_find_files(s->o, j, &s->files));
    TRY(hold_out(s));
    TRY(choose_batch(s, j));
    TRY(shape_input(s, j));
    TRY(shape_target(s, j));
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
    free(s->order);
    free(s->scratch);
    *s = (train_set){0};
}
