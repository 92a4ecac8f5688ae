/* The parts of `tessera convert`. */
#ifndef TESSERA_CONVERT_H
#define TESSERA_CONVERT_H

#include "calibration.h"
#include "converted.h"

typedef enum convert_quantize { CONVERT_QUANTIZE_NONE, CONVERT_QUANTIZE_STATIC } convert_quantize;

typedef struct convert_options {
    job_options job;
    char *output, *json, *folder; /* folder: of files to calibrate with */
    char *chunk, *index;          /* index: malloc, what --chunk makes of the output */
    size_t step;                  /* bytes of a chunk; 0: one file */
    int opset, block, weights;    /* weights: a tsr_written_format */
    int quantize, method;         /* a convert_quantize, a tsr_calibration */
    bool zero_points, no_measure;
    double tolerance, percentile;
    text_list keep;
} convert_options;

/* A layer as the library tells it, with texts of its own. */
typedef struct convert_layer {
    char *node, *weights, *reason; /* reason: NULL, or why it stays */
    const char *op;
    tsr_written_layer told;
} convert_layer;

typedef struct convert_output {
    char *name;
    double error, largest; /* root of squares, and the largest difference, both relative */
    double lost, sum;      /* squares */
    size_t rows, same_top; /* of a classifier: of each row the best class; else rows is 0 */
} convert_output;

/* What was written, and how far its outputs are off. */
typedef struct convert_report {
    const char *from, *to;
    const convert_options *options;
    int samples; /* files that it was calibrated with */
    int opset, nodes, nodes_before;
    uint64_t bytes, bytes_before;
    size_t chunks; /* 0: one file */
    convert_layer *layers;
    int layer_count, layer_room;
    bool out_of_memory; /* some layers are lacking */
    convert_output *outputs;
    int output_count; /* 0: not measured */
} convert_report;

/* convert_report.c: for tsr_write_desc.layer. */
void convert_add_layer(void *report, const tsr_written_layer *layer);
void convert_report_free(convert_report *report);
void convert_print(const convert_report *report);
tsr_status convert_write_json(const convert_report *report, const char *path);

/* convert_measure.c: runs both models on the cpu, with each of the samples or, NULL, with the job's
 * inputs. */
tsr_status convert_measure(const job *j, const tsr_model *made, calibration *samples,
                           convert_report *report);

/* convert_options.c */
void convert_add_options(option_set *set, convert_options *o);
tsr_status convert_check_options(convert_options *o, const char *model);

#endif
