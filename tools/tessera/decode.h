/* From a network's outputs to boxes and points on its input picture. */
#ifndef TESSERA_DECODE_H
#define TESSERA_DECODE_H

#include "fields.h"
#include "tensor.h"

enum { MOST_HEADS = 8, MOST_SIZES = 8, MOST_POINTS = 32 };

typedef enum decode_type {
    DECODE_NONE,
    DECODE_SSD,
    DECODE_YUNET,
    DECODE_BLAZEFACE,
    DECODE_NANODET,
    DECODE_HEATMAPS,
    DECODE_MASK,
} decode_type;

/* Lists of outputs are indexes of the model's, one for each stride where there are strides. */
typedef struct decoding {
    int type; /* a decode_type */
    int boxes[MOST_HEADS], scores[MOST_HEADS], objectness[MOST_HEADS], landmarks[MOST_HEADS];
    int box_count, score_count, objectness_count, landmark_count;
    double strides[MOST_HEADS]; /* pixels of the input from cell to cell */
    int stride_count;
    int per_cell[MOST_HEADS]; /* anchors */
    int per_cell_count;
    double sizes[MOST_HEADS][MOST_SIZES]; /* of priors, in pixels; size_count 0: boxes are final */
    int size_counts[MOST_HEADS], size_count;
    double variances[2];
    int bins;            /* of a side's distribution */
    double offset;       /* of a cell's centre, in cells */
    int background;      /* the class that is none; -1: there is no such class */
    int activation;      /* of scores: 0: none, 1: sigmoid, 2: softmax */
    bool center, pixels; /* format and units of final boxes; else corners, 0..1 */
    double threshold, nms;
} decoding;

extern const char *const decode_names[]; /* by decode_type, then NULL */

/* Defaults of the type. */
decoding decode_defaults(decode_type type);
/* outputs: the model's names. */
tsr_status decode_read(const char *file, const cJSON *object, int count, const char *const *outputs,
                       decoding *made);
/* A new object that decode_read() reads. */
cJSON *decode_json(const decoding *d, const char *const *outputs);

typedef struct detection {
    double x0, y0, x1, y1; /* pixels of the network's input */
    double score;
    int class, point_count;
    double points[MOST_POINTS][2];
} detection;

/* A score after the activation, if that is none or sigmoid. */
double decode_activated(const decoding *d, double score);
/* NaN is the worst score of all. */
bool decode_is_better(float score, float than);

typedef struct detections {
    int count, room;
    detection *items; /* malloc; the best first */
} detections;

/* outputs: all of the model's, of which those that the decoding names have elements. width and
 * height: of the network's input. Boxes that overlap a better one of the same class by more than
 * nms are left out. */
tsr_status decode_detections(const decoding *d, const named_tensor *outputs, int width, int height,
                             detections *made);
void detections_free(detections *found);

#endif
