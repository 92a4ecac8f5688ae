/* What names and shapes of inputs and outputs tell of a model: the networks that detect faces have
 * outputs of few forms. */
#include "description.h"

#include <string.h>

static bool ends_with_stride(const char *name, const char *stem, int stride) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%s_%d", stem, stride);
    return strcmp(name, wanted) == 0;
}

/* The output of this name, or -1. */
static int find_head(const tsr_model *model, const char *stem, int stride) {
    tsr_tensor_info info;
    for (int i = 0; i < tsr_model_output_count(model); i++)
        if (tsr_model_output(model, i, &info) == TSR_OK &&
            ends_with_stride(info.name, stem, stride))
            return i;
    return -1;
}

/* cls_8, obj_8, bbox_8, kps_8 and those of strides 16 and 32. */
static bool guess_yunet(const tsr_model *model, decoding *made) {
    static const int strides[] = {8, 16, 32};
    decoding d = decode_defaults(DECODE_YUNET);
    for (int i = 0; i < 3; i++) {
        d.scores[i] = find_head(model, "cls", strides[i]);
        d.objectness[i] = find_head(model, "obj", strides[i]);
        d.boxes[i] = find_head(model, "bbox", strides[i]);
        d.landmarks[i] = find_head(model, "kps", strides[i]);
        if (d.scores[i] < 0 || d.objectness[i] < 0 || d.boxes[i] < 0 || d.landmarks[i] < 0)
            return false;
        d.strides[i] = strides[i];
    }
    d.score_count = d.objectness_count = d.box_count = d.landmark_count = d.stride_count = 3;
    *made = d;
    return true;
}

/* Two outputs [1, N, 4 or more] and [1, N, classes]. */
static bool guess_rows(const tsr_model *model, decoding *made) {
    tsr_tensor_info info[2];
    if (tsr_model_output_count(model) != 2)
        return false;
    for (int i = 0; i < 2; i++)
        if (tsr_model_output(model, i, &info[i]) != TSR_OK || info[i].shape.rank != 3)
            return false;
    int64_t rows = info[0].shape.dim[1], columns[2] = {info[0].shape.dim[2], info[1].shape.dim[2]};
    if (rows < 2 || rows != info[1].shape.dim[1])
        return false;
    int boxes = strstr(info[1].name, "box") || (columns[1] >= 4 && columns[0] < 4) ? 1 : 0;
    bool is_blaze = rows == 896 && columns[boxes] == 16 && columns[1 - boxes] == 1;
    if (!is_blaze && columns[boxes] != 4)
        return false;
    decoding d = decode_defaults(is_blaze ? DECODE_BLAZEFACE : DECODE_SSD);
    d.boxes[0] = boxes;
    d.scores[0] = 1 - boxes;
    d.box_count = d.score_count = 1;
    if (is_blaze) {
        d.strides[0] = 8;
        d.strides[1] = 16;
        d.per_cell[0] = 2;
        d.per_cell[1] = 6;
        d.stride_count = d.per_cell_count = 2;
    } else if (columns[1 - boxes] > 1) {
        d.background = 0;
    }
    *made = d;
    return true;
}

/* Channels of a map with height and width, 0 of other tensors. */
static int64_t map_channels(const tsr_tensor_info *info, image_view *view) {
    const image_options defaults = {0};
    if (info->shape.rank != 4)
        return 0;
    if (image_view_of(&info->shape, &defaults, view))
        return view->width == 1 || view->height == 1 ? 0 : view->channels;
    bool one = info->shape.dim[2] == 1 && info->shape.dim[3] == 1;
    *view = (image_view){
        .channels = info->shape.dim[1], .height = info->shape.dim[2], .width = info->shape.dim[3]};
    return one ? 0 : info->shape.dim[1];
}

static model_task guess_map(const tsr_model *model, decoding *made) {
    tsr_tensor_info input, output;
    image_view in, out;
    if (tsr_model_input_count(model) < 1 || tsr_model_output_count(model) < 1 ||
        tsr_model_input(model, 0, &input) != TSR_OK ||
        tsr_model_output(model, 0, &output) != TSR_OK)
        return TASK_UNKNOWN;
    if (vector_class_count(&output.shape))
        return TASK_CLASSIFICATION;
    int64_t from = map_channels(&input, &in), to = map_channels(&output, &out);
    if (from < 1 || to < 1)
        return TASK_UNKNOWN;
    if (to == from)
        return TASK_IMAGE;
    if (from < 3 || (to != 1 && to < 5) || (to == 1 && in.width != out.width))
        return TASK_UNKNOWN;
    *made = decode_defaults(DECODE_MASK);
    made->scores[0] = 0;
    made->score_count = 1;
    return TASK_SEGMENTATION;
}

void description_guess(const tsr_model *model, model_task *task, decoding *made) {
    *made = (decoding){0};
    if (guess_yunet(model, made) || guess_rows(model, made))
        *task = TASK_DETECTION;
    else
        *task = guess_map(model, made);
}
