/* A model from pictures to pictures. */
#ifndef CAMERA_MODEL_H
#define CAMERA_MODEL_H

#include <stdbool.h>
#include <tessera.h>

/* Sizes of the network's pictures. */
typedef struct picture_sizes {
    int in_width, in_height, out_width, out_height;
} picture_sizes;

typedef struct picture_model {
    const char *path;
    tsr_model *onnx;
    const char *input, *output; /* names */
    picture_sizes sizes;
} picture_model;

/* Loads and checks the model. It gets pictures of this size if it takes them, or a little smaller
 * ones; else those that it declares. False after a complaint. */
bool model_open(picture_model *m, const char *path, int width, int height);
void model_close(picture_model *m);
/* As tsr_session_create(), for pictures of these sizes. */
tsr_status model_session(const picture_model *m, tsr_device *device, tsr_session_desc desc,
                         tsr_session **session);

#endif
