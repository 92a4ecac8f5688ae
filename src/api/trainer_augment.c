/* Changes of pictures at random, on the device: where each is seen, and its colours. */
#include "api/trainer.h"

#include <limits.h>
#include <math.h>

#include "base/error.h"

/* Weights of red, green and blue in grey: ITU-R BT.601. */
static const float luma[] = {0.299f, 0.587f, 0.114f};

static bool moves(const tsr_trainer_desc *d) {
    return d->flip || d->crop;
}

static bool recolors(const tsr_trainer_desc *d) {
    return d->brightness != 0 || d->contrast != 0 || d->saturation != 0;
}

/* ---- what is a picture ----------------------------------------------------------------------- */

/* Of four axes: as [N, C, H, W]. */
static tsr_shape picture_shape(const tsr_training *t, int value) {
    const tsr_shape *shape = &t->graph->values[value].shape;
    const int64_t *dim = shape->dim;
    if (!t->desc->channels_last || shape->rank != 4)
        return *shape;
    return (tsr_shape){4, {dim[0], dim[3], dim[1], dim[2]}};
}

static bool is_picture(const tsr_training *t, int value) {
    const tsr_shape shape = picture_shape(t, value);
    return shape.rank == 4 && shape.dim[2] * shape.dim[3] > 1;
}

/* The input whose pixels `crop` counts; TSR_NONE: there is no picture. */
static int first_picture(const tsr_training *t) {
    for (int i = 0; i < t->input_count; i++)
        if (is_picture(t, t->graph->inputs[i]))
            return t->graph->inputs[i];
    return TSR_NONE;
}

static tsr_status check_size(const tsr_training *t, int value) {
    int first = first_picture(t);
    const tsr_value *picture = &t->graph->values[value], *other = &t->graph->values[first];
    const tsr_shape of_first = picture_shape(t, first), of = picture_shape(t, value);
    int64_t times = of.dim[2] / of_first.dim[2];
    bool fits = times > 0 && of.dim[2] == times * of_first.dim[2] &&
                of.dim[3] == times * of_first.dim[3],
         alike = of.dim[0] == of_first.dim[0];
    if (alike && (fits || !t->desc->crop))
        return TSR_OK;
    return tsr_fail(TSR_ERROR_SHAPE, "%s '%s' of shape %s has %s '%s' of shape %s",
                    alike ? "crop:" : "augmentation:", picture->name,
                    tsr_shape_text(&picture->shape),
                    alike ? "no multiple of the pixels of" : "not as many samples as", other->name,
                    tsr_shape_text(&other->shape));
}

static tsr_status check_colors(const tsr_training *t, int value, const tsr_color_range *range) {
    const tsr_value *picture = &t->graph->values[value];
    int64_t channels = picture_shape(t, value).dim[1];
    if (channels != 1 && channels != 3)
        return tsr_fail(TSR_ERROR_SHAPE,
                        "brightness, contrast and saturation are of 1 or 3 channels, not of '%s' "
                        "of shape %s",
                        picture->name, tsr_shape_text(&picture->shape));
    for (int c = 0; c < channels; c++) {
        float span = range->white[c] - range->black[c];
        if (!isfinite(span) || span == 0)
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                            "black and white of channel %d of '%s' are the same, or no finite "
                            "numbers",
                            c, picture->name);
    }
    return TSR_OK;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* An input of the step with some numbers for each sample, made on first use. */
static int number(tsr_training *t, tsr_builder *b, tsr_augmentation_number which, int64_t samples) {
    static const char *const names[] = {"factor", "offset", "own", "grey", "lift"};
    int *value = &t->augmentation[which];
    if (*value == TSR_NONE)
        *value = tsr_training_add_input(
            t, "augmentation", names[which],
            &(tsr_shape){4, {samples, 1, 1, which <= TSR_AUGMENT_OFFSET ? 2 : 1}});
    return *value == TSR_NONE ? tsr_build_fail(b, TSR_ERROR_OUT_OF_MEMORY) : *value;
}

/* x and y of each pixel, from -1 to 1 as GridSample has them. */
static int build_grid(tsr_builder *b, int64_t height, int64_t width) {
    float *grid = tsr_build_elements(b, height * width * 2, sizeof *grid);
    for (int64_t i = 0; grid && i < height * width; i++) {
        grid[2 * i] = (float)((double)(2 * (i % width) + 1) / (double)width - 1);
        grid[2 * i + 1] = (float)((double)(2 * (i / width) + 1) / (double)height - 1);
    }
    return grid ? tsr_build_floats(b, &(tsr_shape){4, {1, height, width, 2}}, grid) : TSR_NONE;
}

/* What is outside is as the nearest pixel inside. */
static int build_moved(tsr_training *t, tsr_builder *b, int value, const tsr_shape *shape) {
    const tsr_attr attrs[] = {
        {.name = "mode", .kind = TSR_ATTR_STRING, .s = "nearest"},
        {.name = "padding_mode", .kind = TSR_ATTR_STRING, .s = "border"},
    };
    int grid = build_grid(b, shape->dim[2], shape->dim[3]);
    grid = TSR_BUILD(b, TSR_OP_Mul, grid, number(t, b, TSR_AUGMENT_FACTOR, shape->dim[0]));
    grid = TSR_BUILD(b, TSR_OP_Add, grid, number(t, b, TSR_AUGMENT_OFFSET, shape->dim[0]));
    return tsr_build_with(b, TSR_OP_GridSample, 2, (int[]){value, grid}, 2, attrs);
}

/* A number for each channel. */
static int build_channels(tsr_builder *b, int64_t channels, const float *numbers) {
    return tsr_build_floats(b, &(tsr_shape){4, {1, channels, 1, 1}}, numbers);
}

/* With p = (x - black) / (white - black): p becomes own * p + grey * luma(p) + lift, limited to
 * 0..1. */
static int build_recolored(tsr_training *t, tsr_builder *b, int x, const tsr_color_range *range,
                           const tsr_shape *shape) {
    int64_t channels = shape->dim[1], samples = shape->dim[0];
    float span[3], part[3];
    for (int c = 0; c < channels; c++) {
        span[c] = range->white[c] - range->black[c];
        part[c] = channels == 1 ? 1 : luma[c];
    }
    int black = build_channels(b, channels, range->black),
        width = build_channels(b, channels, span),
        axis = tsr_build_ints(b, 1, (const int64_t[]){1});
    int p = TSR_BUILD(b, TSR_OP_Div, TSR_BUILD(b, TSR_OP_Sub, x, black), width);
    int grey = TSR_BUILD(b, TSR_OP_ReduceSum,
                         TSR_BUILD(b, TSR_OP_Mul, p, build_channels(b, channels, part)), axis);
    grey = TSR_BUILD(b, TSR_OP_Add,
                     TSR_BUILD(b, TSR_OP_Mul, grey, number(t, b, TSR_AUGMENT_GREY, samples)),
                     number(t, b, TSR_AUGMENT_LIFT, samples));
    p = TSR_BUILD(b, TSR_OP_Add,
                  TSR_BUILD(b, TSR_OP_Mul, p, number(t, b, TSR_AUGMENT_OWN, samples)), grey);
    p = TSR_BUILD(b, TSR_OP_Min, TSR_BUILD(b, TSR_OP_Max, p, tsr_build_number(b, 0)),
                  tsr_build_number(b, 1));
    return TSR_BUILD(b, TSR_OP_Add, TSR_BUILD(b, TSR_OP_Mul, p, width), black);
}

static int build_transposed(tsr_builder *b, int value, const int64_t *perm) {
    const tsr_attr order = tsr_build_ints_attr(b, "perm", 4, perm);
    return tsr_build_with(b, TSR_OP_Transpose, 1, &value, 1, &order);
}

static int build_augmented(tsr_training *t, tsr_builder *b, int value,
                           const tsr_color_range *range) {
    static const int64_t first[] = {0, 3, 1, 2}, last[] = {0, 2, 3, 1};
    const tsr_trainer_desc *d = t->desc;
    const tsr_shape shape = picture_shape(t, value);
    bool recolored = range && recolors(d);
    if (!is_picture(t, value) || (!moves(d) && !recolored))
        return value;
    tsr_build_fail(b, check_size(t, value));
    if (recolored)
        tsr_build_fail(b, check_colors(t, value, range));
    if (b->status != TSR_OK)
        return TSR_NONE;
    if (d->channels_last)
        value = build_transposed(b, value, first);
    if (moves(d))
        value = build_moved(t, b, value, &shape);
    if (recolored)
        value = build_recolored(t, b, value, range, &shape);
    return d->channels_last ? build_transposed(b, value, last) : value;
}

/* Nodes of the model read the changed pictures. */
static tsr_status append_model(tsr_training *t, tsr_node_list *list) {
    tsr_graph *graph = t->graph;
    for (int n = 0; n < graph->node_count; n++) {
        const tsr_node *node = &graph->nodes[n];
        for (int i = 0; i < node->input_count; i++)
            for (int k = 0; k < t->input_count; k++)
                if (node->inputs[i] == graph->inputs[k])
                    node->inputs[i] = t->seen[k];
        TSR_TRY(tsr_append_copy(list, node));
    }
    return TSR_OK;
}

tsr_status tsr_training_augment_inputs(tsr_training *t) {
    tsr_graph *graph = t->graph;
    int first = first_picture(t);
    const tsr_node made = {
        .name = "augmentation", .op = TSR_OP_Identity, .input_count = 1, .inputs = &first};
    tsr_node_list list = {.graph = graph, .may_make = INT_MAX, .bytes = &t->bytes};
    tsr_builder b = {.graph = graph, .node = &made, .list = &list};
    t->seen = TSR_NEW(graph->arena, t->input_count + 1, int);
    if (!t->seen)
        return tsr_out_of_memory(graph);
    for (int i = 0; i < t->input_count; i++)
        t->seen[i] = graph->inputs[i];
    if (!moves(t->desc) && !recolors(t->desc))
        return TSR_OK;
    if (first == TSR_NONE)
        return tsr_fail(TSR_ERROR_SHAPE,
                        "no input is a picture, [N, C, H, W]: augmentation needs one");
    for (int i = 0; i < t->input_count; i++)
        t->seen[i] = build_augmented(t, &b, graph->inputs[i], &t->desc->input_colors);
    TSR_TRY(b.status);
    TSR_TRY(append_model(t, &list));
    tsr_use_node_list(&list, 0);
    return TSR_OK;
}

void tsr_training_augment_targets(tsr_training *t, tsr_builder *b) {
    const tsr_color_range *range = t->desc->recolor_targets ? &t->desc->target_colors : NULL;
    for (int i = 0; i < t->term_count; i++)
        t->terms[i].target = build_augmented(t, b, t->terms[i].given, range);
}

/* ---- numbers of a step ----------------------------------------------------------------------- */

/* From 1 - by to 1 + by. */
static double near_one(tsr_random *random, float by) {
    return 1 + (2 * tsr_random_uniform(random) - 1) * (double)by;
}

/* A whole number of pixels from -most to most, in GridSample's coordinates: `pixels` of them are 2
 * units. */
static float offset(tsr_random *random, int64_t most, int64_t pixels) {
    double places = 2 * (double)most + 1;
    double by = floor(tsr_random_uniform(random) * places) - (double)most;
    return (float)(2 * by / (double)pixels);
}

typedef struct sample_numbers {
    float factor[2], offset[2], own, grey, lift;
} sample_numbers;

/* Contrast is about the grey of 0.5. All numbers are drawn, so that one member changes nothing of
 * another. */
static sample_numbers draw(tsr_random *random, const tsr_trainer_desc *d, const tsr_shape *shape) {
    double brightness, contrast, saturation;
    sample_numbers s = {.factor = {1, 1}};
    bool mirrored = tsr_random_uniform(random) < 0.5;
    s.factor[0] = d->flip && mirrored ? -1 : 1;
    s.offset[0] = offset(random, d->crop, shape->dim[3]);
    s.offset[1] = offset(random, d->crop, shape->dim[2]);
    brightness = near_one(random, d->brightness);
    contrast = near_one(random, d->contrast) * brightness;
    saturation = near_one(random, d->saturation);
    s.own = (float)(contrast * saturation);
    s.grey = (float)(contrast * (1 - saturation));
    s.lift = (float)((brightness - contrast) / 2);
    return s;
}

static void put(float *numbers[TSR_AUGMENTATION_NUMBERS], int64_t i, const sample_numbers *s) {
    for (int axis = 0; axis < 2; axis++) {
        numbers[TSR_AUGMENT_FACTOR][2 * i + axis] = s->factor[axis];
        numbers[TSR_AUGMENT_OFFSET][2 * i + axis] = s->offset[axis];
    }
    numbers[TSR_AUGMENT_OWN][i] = s->own;
    numbers[TSR_AUGMENT_GREY][i] = s->grey;
    numbers[TSR_AUGMENT_LIFT][i] = s->lift;
}

tsr_status tsr_trainer_write_augmentation(const tsr_trainer *t, tsr_random *random) {
    const tsr_training *training = &t->training;
    float *numbers[TSR_AUGMENTATION_NUMBERS];
    int first = first_picture(training);
    if (!t->sample_numbers)
        return TSR_OK;
    const tsr_shape shape = picture_shape(training, first);
    int64_t samples = shape.dim[0];
    for (int n = 0; n < TSR_AUGMENTATION_NUMBERS; n++)
        numbers[n] = t->sample_numbers + 2 * samples * n;
    for (int64_t i = 0; i < samples; i++) {
        const sample_numbers of_sample = draw(random, &t->desc, &shape);
        put(numbers, i, &of_sample);
    }
    for (int n = 0; n < TSR_AUGMENTATION_NUMBERS; n++) {
        int value = training->augmentation[n];
        if (value != TSR_NONE)
            TSR_TRY(tsr_trainer_set(t, &t->inputs[t->input_of[value]], numbers[n]));
    }
    return TSR_OK;
}

tsr_status tsr_trainer_make_sample_numbers(tsr_trainer *t) {
    const tsr_trainer_desc *d = &t->desc;
    if (!moves(d) && !recolors(d))
        return TSR_OK;
    int64_t samples = picture_shape(&t->training, first_picture(&t->training)).dim[0];
    t->sample_numbers = TSR_NEW(t->graph->arena, 2 * samples * TSR_AUGMENTATION_NUMBERS, float);
    return t->sample_numbers ? TSR_OK
                             : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a trainer");
}

/* ---- the description ------------------------------------------------------------------------- */

static tsr_status check_amount(float amount, const char *name) {
    return amount >= 0 && amount <= 1
               ? TSR_OK
               : tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s is not in 0..1", name);
}

static void fill_range(tsr_color_range *range) {
    bool empty = true;
    for (int c = 0; c < 3; c++)
        empty = empty && range->black[c] == 0 && range->white[c] == 0;
    for (int c = 0; c < 3 && empty; c++)
        range->white[c] = 1;
}

tsr_status tsr_trainer_take_augmentation(tsr_trainer_desc *d) {
    TSR_TRY(check_amount(d->brightness, "brightness"));
    TSR_TRY(check_amount(d->contrast, "contrast"));
    TSR_TRY(check_amount(d->saturation, "saturation"));
    if (d->crop < 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "crop is negative");
    if (d->recolor_targets && !recolors(d))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "recolor_targets needs "
                                                    "brightness, contrast or saturation");
    fill_range(&d->input_colors);
    fill_range(&d->target_colors);
    return TSR_OK;
}
