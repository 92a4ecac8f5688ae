/* How a network's heads are decoded: read from JSON, written as JSON. */
#include "decode.h"
#include "tool.h"

#include <math.h>
#include <string.h>

const char *const decode_names[] = {"none",    "ssd",      "yunet", "blazeface",
                                    "nanodet", "heatmaps", "mask",  NULL};
static const char *const activations[] = {"none", "sigmoid", "softmax", NULL};
static const char *const formats[] = {"corners", "center", NULL};
static const char *const units[] = {"relative", "pixels", NULL};

decoding decode_defaults(decode_type type) {
    decoding d = {.type = (int)type, .background = -1, .threshold = 0.5, .nms = 0.45};
    switch (type) {
    case DECODE_YUNET:
        d.threshold = 0.6;
        d.nms = 0.3;
        break;
    case DECODE_BLAZEFACE:
        d.nms = 0.3;
        d.activation = 1;
        break;
    case DECODE_NANODET:
        d.threshold = 0.4;
        d.nms = 0.5;
        d.bins = 8;
        break;
    case DECODE_SSD: /* Liu et al. 2016, as in the authors' code */
        d.variances[0] = 0.1;
        d.variances[1] = 0.2;
        break;
    default:
        break;
    }
    return d;
}

/* "sizes": a list for each stride. */
static tsr_status read_sizes(const char *file, const cJSON *sizes, decoding *d) {
    for (const cJSON *list = cJSON_IsArray(sizes) ? sizes->child : NULL; list; list = list->next) {
        if (d->size_count == MOST_HEADS)
            return fields_fail(file, "decode", "sizes", "has more than 8 lists");
        int count = 0;
        for (const cJSON *size = list->child; size; size = size->next) {
            if (count == MOST_SIZES || !cJSON_IsNumber(size) || !(size->valuedouble > 0) ||
                !isfinite(size->valuedouble))
                return fields_fail(file, "decode", "sizes", "is not lists of 1 to 8 pixels");
            d->sizes[d->size_count][count++] = size->valuedouble;
        }
        if (!count)
            return fields_fail(file, "decode", "sizes", "is not lists of 1 to 8 pixels");
        d->size_counts[d->size_count++] = count;
    }
    return d->size_count && d->size_count == d->stride_count
               ? TSR_OK
               : fields_fail(file, "decode", "sizes", "is not a list for each of the strides");
}

static bool is_one_or(int count, int wanted) {
    return count == 1 || count == wanted;
}

/* What each type needs besides. */
static tsr_status check(const char *file, const decoding *d) {
    bool ssd = d->type == DECODE_SSD, heads = d->type == DECODE_YUNET ||
                                              d->type == DECODE_BLAZEFACE ||
                                              d->type == DECODE_NANODET;
    for (int i = 0; i < d->stride_count; i++)
        if (!(d->strides[i] >= 1 && d->strides[i] <= 4096))
            return fields_fail(file, "decode", "strides", "are not from 1 to 4096");
    for (int i = 0; i < d->per_cell_count; i++)
        if (d->per_cell[i] < 1 || d->per_cell[i] > 1000)
            return fields_fail(file, "decode", "per_cell", "are not from 1 to 1000");
    if ((ssd || heads) && !d->score_count)
        return fields_fail(file, "decode", "scores", "is missing");
    if ((ssd || heads) && d->type != DECODE_NANODET && !d->box_count)
        return fields_fail(file, "decode", "boxes", "is missing");
    if ((heads || d->size_count) && !d->stride_count)
        return fields_fail(file, "decode", "strides", "is missing");
    if (d->type == DECODE_YUNET && !d->objectness_count)
        return fields_fail(file, "decode", "objectness", "is missing");
    if ((d->per_cell_count || d->type == DECODE_BLAZEFACE) && d->per_cell_count != d->stride_count)
        return fields_fail(file, "decode", "per_cell", "is not a number for each of the strides");
    static const char *const keys[] = {"scores", "boxes", "objectness", "landmarks"};
    const int counts[] = {d->score_count, d->box_count, d->objectness_count, d->landmark_count};
    for (int i = 0; i < 4 && (ssd || heads); i++)
        if (counts[i] && !is_one_or(counts[i], heads ? d->stride_count : 1))
            return fields_fail(file, "decode", keys[i],
                               "are neither one output nor one for each of the strides");
    if (d->type >= DECODE_HEATMAPS && d->score_count > 1)
        return fields_fail(file, "decode", "scores", "is not one output");
    if (d->type == DECODE_HEATMAPS && d->activation == 2)
        return fields_fail(file, "decode", "activation", "of heatmaps is none or sigmoid");
    return TSR_OK;
}

tsr_status decode_read(const char *file, const cJSON *object, int count, const char *const *outputs,
                       decoding *made) {
    const cJSON *type =
        cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, "type") : NULL;
    decode_type known = DECODE_NONE;
    for (int i = 0; cJSON_IsString(type) && decode_names[i]; i++)
        if (strcmp(decode_names[i], type->valuestring) == 0)
            known = (decode_type)i;
    decoding d = decode_defaults(known);
    const cJSON *sizes = NULL;
    int background = -1, background_count = 0, center = 0, pixels = 0;
    const field fields[] = {
        {.key = "type", FIELD_CHOICE, &d.type, .names = decode_names},
        {"boxes", FIELD_NAMES, d.boxes, 1, MOST_HEADS, &d.box_count, outputs, count},
        {"scores", FIELD_NAMES, d.scores, 1, MOST_HEADS, &d.score_count, outputs, count},
        {"objectness", FIELD_NAMES, d.objectness, 1, MOST_HEADS, &d.objectness_count, outputs,
         count},
        {"landmarks", FIELD_NAMES, d.landmarks, 1, MOST_HEADS, &d.landmark_count, outputs, count},
        {"strides", FIELD_NUMBERS, d.strides, 1, MOST_HEADS, &d.stride_count, NULL, 0},
        {"per_cell", FIELD_INTS, d.per_cell, 1, MOST_HEADS, &d.per_cell_count, NULL, 0},
        {.key = "sizes", FIELD_ANY, &sizes},
        {"variances", FIELD_NUMBERS, d.variances, 2, 2, NULL, NULL, 0},
        {.key = "bins", FIELD_INTS, &d.bins},
        {.key = "offset", FIELD_NUMBERS, &d.offset},
        {"background", FIELD_INTS, &background, 1, 1, &background_count, NULL, 0},
        {.key = "activation", FIELD_CHOICE, &d.activation, .names = activations},
        {.key = "format", FIELD_CHOICE, &center, .names = formats},
        {.key = "units", FIELD_CHOICE, &pixels, .names = units},
        {.key = "threshold", FIELD_NUMBERS, &d.threshold},
        {.key = "nms", FIELD_NUMBERS, &d.nms},
    };
    TRY(FIELDS_READ(file, "decode", object, fields));
    if (!type)
        return fields_fail(file, "decode", "type", "is missing");
    d.background = background_count ? background : -1;
    d.center = center;
    d.pixels = pixels;
    if (sizes)
        TRY(read_sizes(file, sizes, &d));
    TRY(check(file, &d));
    *made = d;
    return TSR_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void add_outputs(cJSON *object, const char *key, const int *list, int count,
                        const char *const *outputs) {
    cJSON *array = count > 1 ? cJSON_AddArrayToObject(object, key) : NULL;
    for (int i = 0; i < count && array; i++)
        cJSON_AddItemToArray(array, cJSON_CreateString(outputs[list[i]]));
    if (count == 1)
        cJSON_AddStringToObject(object, key, outputs[list[0]]);
}

static void add_numbers(cJSON *object, const char *key, const double *numbers, int count) {
    if (count)
        cJSON_AddItemToObject(object, key, cJSON_CreateDoubleArray(numbers, count));
}

cJSON *decode_json(const decoding *d, const char *const *outputs) {
    cJSON *object = cJSON_CreateObject();
    const decoding defaults = decode_defaults((decode_type)d->type);
    cJSON_AddStringToObject(object, "type", decode_names[d->type]);
    add_outputs(object, "boxes", d->boxes, d->box_count, outputs);
    add_outputs(object, "scores", d->scores, d->score_count, outputs);
    add_outputs(object, "objectness", d->objectness, d->objectness_count, outputs);
    add_outputs(object, "landmarks", d->landmarks, d->landmark_count, outputs);
    add_numbers(object, "strides", d->strides, d->stride_count);
    if (d->per_cell_count)
        cJSON_AddItemToObject(object, "per_cell",
                              cJSON_CreateIntArray(d->per_cell, d->per_cell_count));
    cJSON *sizes = d->size_count ? cJSON_AddArrayToObject(object, "sizes") : NULL;
    for (int i = 0; i < d->size_count; i++)
        cJSON_AddItemToArray(sizes, cJSON_CreateDoubleArray(d->sizes[i], d->size_counts[i]));
    if (d->size_count)
        add_numbers(object, "variances", d->variances, 2);
    if (d->bins)
        cJSON_AddNumberToObject(object, "bins", d->bins);
    if (d->offset != defaults.offset)
        cJSON_AddNumberToObject(object, "offset", d->offset);
    if (d->background >= 0)
        cJSON_AddNumberToObject(object, "background", d->background);
    if (d->activation != defaults.activation)
        cJSON_AddStringToObject(object, "activation", activations[d->activation]);
    if (d->center)
        cJSON_AddStringToObject(object, "format", formats[1]);
    if (d->pixels)
        cJSON_AddStringToObject(object, "units", units[1]);
    if (d->type != DECODE_HEATMAPS && d->type != DECODE_MASK)
        cJSON_AddNumberToObject(object, "nms", d->nms);
    cJSON_AddNumberToObject(object, "threshold", d->threshold);
    return object;
}
