/* Part of tessera.h, which includes it and has the rules: models as ONNX files. */
#ifndef TESSERA_WRITE_H
#define TESSERA_WRITE_H

#include "tessera.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the weights of Conv, ConvTranspose, MatMul, Gemm and tables of Gather are stored, if they are
 * constants of 256 elements or more. Biases and all else stay as they are. */
typedef enum tsr_written_format {
    TSR_WRITTEN_AS_THEY_ARE,
    TSR_WRITTEN_FP16, /* and Cast to float32 */
    TSR_WRITTEN_INT8, /* -127 to 127 with a scale for each output channel, and DequantizeLinear */
    /* -8 to 7 with a scale for each block of what an output sums up, and DequantizeLinear of opset
     * 21; of convolutions as a matrix, and Reshape. The last block may be shorter. */
    TSR_WRITTEN_INT4,
    /* TSR_WRITTEN_INT8, of weights of any size, and activations of uint8: QuantizeLinear and
     * DequantizeLinear around what Conv, ConvTranspose, MatMul and Gemm read, and what lies between
     * them; biases of int32. Needs samples. Of models in float32. */
    TSR_WRITTEN_QDQ,
} tsr_written_format;

/* Which numbers of a tensor its 256 levels reach over; others become the nearest of these. Zero is
 * always a level. */
typedef enum tsr_calibration {
    TSR_CALIBRATION_MINMAX,     /* all that occur */
    TSR_CALIBRATION_PERCENTILE, /* without the outermost ones, half of them at each end */
    TSR_CALIBRATION_ENTROPY,    /* those that lose least by Kullback-Leibler divergence */
} tsr_calibration;

/* Fills in the inputs of a run, which are the model's, in its order, with their names: data stays
 * valid until the next call. All samples have the same shapes; inputs that have to be constant are
 * those of sample 0. A failure becomes that of the call. */
typedef tsr_status (*tsr_sample_fn)(void *user, int sample, tsr_fixed_input *inputs);

/* What became of the weights of a layer. Valid during the call only. */
typedef struct tsr_written_layer {
    const char *node, *op, *weights; /* names; weights "": it multiplies two activations */
    tsr_shape shape;                 /* of weights */
    tsr_written_format format;       /* TSR_WRITTEN_AS_THEY_ARE: they stay */
    const char *reason;              /* why they do; NULL */
    /* Of weights, scales and zero points in the file, as floats and as they are written; 0 of
     * layers that read the same weights as one before. */
    uint64_t bytes_before, bytes_after;
    /* Roots of sums of squares of differences, relative to the root of the sum of squares: of the
     * weights, and of the layer's output where only its own weights, and what it reads, are packed.
     * Also of a layer that stays because of its error; negative: not measured. */
    double weight_error, output_error;
} tsr_written_layer;
typedef void (*tsr_written_layer_fn)(void *user, const tsr_written_layer *layer);

typedef struct tsr_write_desc {
    int opset; /* of the file: 13 to 27; 0: the model's, but at least 13 and what the file needs */
    /* Sizes that the model leaves open, as in tsr_session_desc; what stays open is so in the file.
     */
    const tsr_dim_binding *dims;
    int dim_count;
    const tsr_input_shape *shapes;
    int shape_count;
    int64_t batch; /* the first size of each input that leaves it open; 0: it stays */
    tsr_written_format weights;
    int block;               /* of TSR_WRITTEN_INT4: 32, 64 or 128 weights; 0: 32 */
    bool zero_points;        /* uint8 or uint4 with a zero point beside each scale */
    const char *const *keep; /* names of nodes whose weights stay as they are */
    int keep_count;
    /* One for each input: each layer is computed on the cpu with the inputs that it has then, with
     * its weights and with the packed ones. 0: nothing is measured. */
    const tsr_fixed_input *inputs;
    int input_count;
    double tolerance; /* layers with a larger output_error stay as they are; 0: all are packed */
    tsr_written_layer_fn layer; /* called for each layer, before the file is written; or NULL */
    void *layer_user;
    tsr_progress progress; /* of measuring */
    /* Of TSR_WRITTEN_QDQ, instead of inputs: the model runs on the cpu with each sample, in order,
     * for the ranges, and once more, with each layer beside it, for the errors. */
    tsr_sample_fn sample;
    void *sample_user;
    int sample_count;
    const char *const *sample_names; /* for messages; NULL: they have numbers */
    tsr_calibration calibration;
    double percentile; /* 50 to 100; 0: 99.99 */
    bool no_measure;   /* samples give ranges only */
    /* Constants are folded and dead nodes removed, no more: a BatchNormalization stays one, so that
     * the model can be trained again. */
    bool keep_nodes;
} tsr_write_desc;

/* Writes a model as standard ONNX, for this library and others. Nodes of constants are folded, dead
 * ones removed, calls of the model's functions replaced by their nodes. If the shapes of all inputs
 * are known, what is computed from shapes is folded, too, and passes of the optimizer run that
 * leave operators of ONNX. Names of inputs and outputs stay, others may change.
 *
 * `write` is called many times, on this thread; what it has taken before a failure is no model.
 * TSR_ERROR_INVALID_ARGUMENT where weights are to be packed of a model that has quantised ones,
 * `keep` has a name that no node has, or an activation that a sample makes is not finite.
 * TSR_ERROR_UNSUPPORTED, with the node's name, where the model has a custom operator, or what that
 * opset of ONNX cannot express, and where the file would have 2 GiB or more. TSR_ERROR_IO if
 * `write` returns false. */
TSR_API tsr_status tsr_model_write_sized(const tsr_model *model, const tsr_write_desc *desc,
                                         size_t size, tsr_write_fn write, void *user);
/* desc: NULL is fine. */
static inline tsr_status tsr_model_write(const tsr_model *model, const tsr_write_desc *desc,
                                         tsr_write_fn write, void *user) {
    return tsr_model_write_sized(model, desc, sizeof *desc, write, user);
}

#ifdef __cplusplus
}
#endif
#endif
