/* What a model wants and means, which its file does not say: docs/description.md. It stands in
 * MODEL.json beside MODEL.onnx, in a file of --description, or in the model's metadata. */
#ifndef TESSERA_DESCRIPTION_H
#define TESSERA_DESCRIPTION_H

#include "decode.h"
#include "image.h"
#include "json.h"
#include "labels.h"

typedef enum model_task {
    TASK_UNKNOWN,
    TASK_CLASSIFICATION,
    TASK_DETECTION,
    TASK_SEGMENTATION,
    TASK_KEYPOINTS,
    TASK_IMAGE, /* pictures to pictures */
    TASK_OTHER,
} model_task;

extern const char *const task_names[]; /* by model_task, then NULL */

/* An input or an output. */
typedef struct described_tensor {
    bool has_range, has_channels, has_layout, has_fit;
    int size[2]; /* of pictures: width and height; 0: not described */
    image_options image;
} described_tensor;

typedef struct description {
    char *from; /* the file, for messages (malloc); NULL: there is no description */
    cJSON *root;
    model_task task;
    int input_count, output_count;
    described_tensor *inputs, *outputs; /* as many as the model's */
    labels labels;
    decoding decode;
} description;

/* file: of --description, or NULL; "none": there is none. The result is empty where there is none.
 */
tsr_status description_open(const char *model_path, const char *file, const tsr_model *model,
                            description *made);
void description_free(description *d);

/* Refuses to write over the model's description. file: of --description, or NULL. */
tsr_status description_check_output(const char *model_path, const char *file, const char *path);

/* Refuses labels that are not as many as the classes of a detector's scores. */
tsr_status description_check_labels(const labels *l, const decoding *decode,
                                    const tsr_model *model);

/* Fills what the command line left open. d: NULL: nothing is described. */
void description_fill(const described_tensor *d, bool is_output, image_options *options);

/* The task and the decoding that the shapes and names of inputs and outputs suggest. */
void description_guess(const tsr_model *model, model_task *task, decoding *made);

#endif
