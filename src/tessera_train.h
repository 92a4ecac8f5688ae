/* Training: a model's weights are changed so that a loss becomes smaller. A step runs the network,
 * its gradients and the update of every weight as passes of one graph; weights and the optimizer's
 * state stay on the device, and only the loss is read back, if it is asked for.
 *
 *     tsr_trainer *trainer; float loss;
 *     tsr_trainer_create(device, model, &(tsr_trainer_desc){.loss = TSR_LOSS_CROSS_ENTROPY,
 *         .dims = &batch, .dim_count = 1}, &trainer);
 *     for (int i = 0; i < 100; i++)
 *         tsr_trainer_step(trainer, &signals, 1, &classes, 1, &loss); // tsr_array
 *     tsr_trainer_model(trainer, &trained);
 *
 * Trained are the float32 constants that Conv, ConvTranspose, DeformConv, Gemm, MatMul, LSTM, GRU,
 * RNN, PRelu and the normalizations read as weights, and vectors that are added to a MatMul's
 * result: directly, behind Reshape, Transpose and the like, in branches and loops, and those that a
 * file has in 16 bits with a Cast. Other constants, such as tables that Gather takes from, stay as
 * they are. BatchNormalization is in training mode: it normalizes by the batch, and its running
 * mean and variance follow with its momentum. Dropout drops, by random numbers of the seed.
 *
 * Everything is float32. The same steps with the same seed on the same device give the same
 * weights; devices differ by rounding. The rules of tessera.h hold here, too: zeroed descriptions
 * ask for defaults, structs may grow at their ends, a device and all that was made on it belong to
 * one thread at a time. */
#ifndef TESSERA_TRAIN_H
#define TESSERA_TRAIN_H

#include "tessera.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_trainer tsr_trainer;

/* Of an output y and its target t, which has its shape: the mean over all elements. */
typedef enum tsr_loss {
    TSR_LOSS_MSE, /* (y - t)^2 */
    TSR_LOSS_L1,  /* |y - t| */
    /* (y - t)^2 / 2 where |y - t| < 1, else |y - t| - 1/2 (Girshick 2015, "Fast R-CNN") */
    TSR_LOSS_SMOOTH_L1,
    /* -sum(t * log(softmax(y))) along axis 1, the mean over all others: y are logits, t
     * probabilities, such as 1 for the class and 0 for others. Of an output that a Softmax over
     * axis 1 computes, its input is taken. */
    TSR_LOSS_CROSS_ENTROPY,
    /* -t * log(sigmoid(y)) - (1 - t) * log(1 - sigmoid(y)): y are logits. Of an output that a
     * Sigmoid computes, its input is taken. */
    TSR_LOSS_BINARY_CROSS_ENTROPY,
    /* 1 - SSIM (Wang et al. 2004, "Image quality assessment: from error visibility to structural
     * similarity"), of outputs [N, C, H, W] of at least 11 x 11 pixels: the mean over images,
     * channels and all windows of 11 x 11 that lie inside, weighted by a Gaussian of sigma 1.5,
     * with K1 = 0.01, K2 = 0.03 and L = range. */
    TSR_LOSS_SSIM,
} tsr_loss;

/* With g: the gradient, l: the learning rate, t: the step, from 1. */
typedef enum tsr_update {
    /* Kingma, Ba 2015, "Adam": m = beta1 * m + (1 - beta1) * g, v = beta2 * v + (1 - beta2) * g^2,
     * w -= l * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon) */
    TSR_UPDATE_ADAM,
    /* Loshchilov, Hutter 2019: the same, and w -= l * weight_decay * w, which is no part of g */
    TSR_UPDATE_ADAMW,
    /* m = momentum * m + g, w -= l * m; with nesterov w -= l * (g + momentum * m) */
    TSR_UPDATE_SGD,
} tsr_update;

/* The learning rate of step t of `steps`, from 0. */
typedef enum tsr_schedule {
    TSR_SCHEDULE_CONSTANT,
    TSR_SCHEDULE_LINEAR, /* falls to 0 */
    TSR_SCHEDULE_COSINE, /* falls to 0 along half a wave */
} tsr_schedule;

/* With a discriminator D of logits, the mean over all of them, of a target t and an output y
 * (inputs of the model that D has, too, are left out here). D learns by the first line, the model
 * by the second. */
typedef enum tsr_adversarial {
    /* -(log(sigmoid(D(t))) + log(1 - sigmoid(D(y)))) / 2, -log(sigmoid(D(y))): Goodfellow et al.
     * 2014, D's halved as by Isola et al. 2017, "Image-to-image translation with conditional
     * adversarial networks". Of a D that ends in a Sigmoid, its input is taken. */
    TSR_ADVERSARIAL_CROSS_ENTROPY,
    /* max(0, 1 - D(t)) + max(0, 1 + D(y)), -D(y): Lim, Ye 2017, "Geometric GAN" */
    TSR_ADVERSARIAL_HINGE,
    /* ((D(t) - 1)^2 + D(y)^2) / 2, (D(y) - 1)^2 / 2: Mao et al. 2017, "Least squares GAN" */
    TSR_ADVERSARIAL_LEAST_SQUARES,
} tsr_adversarial;

/* The loss is the sum of weight * loss of all terms. Several may be of one output. */
typedef struct tsr_loss_term {
    const char *output; /* NULL: the model's first */
    tsr_loss loss;
    float weight; /* above 0; 0: 1 */
    float range;  /* of SSIM: the largest value of a pixel minus the smallest; 0: 1 */
} tsr_loss_term;

/* Values of black and white by channel, of as many as pictures have; all 0: 0 and 1. */
typedef struct tsr_color_range {
    float black[3], white[3];
} tsr_color_range;

/* What the chosen update, schedule or loss does not use has to be 0. */
typedef struct tsr_trainer_desc {
    /* A loss of one term: as in tsr_loss_term. */
    const char *output;
    tsr_loss loss;
    float range;
    tsr_update update;
    float learning_rate; /* 0: 0.001 */
    float beta1, beta2;  /* of Adam; 0: 0.9, 0.999 */
    float epsilon;       /* of Adam; 0: 1e-8 */
    float momentum;      /* of SGD */
    bool nesterov;       /* of SGD, with a momentum */
    float weight_decay;  /* of weights of two axes or more: times w is added to g */
    float clip_norm;     /* the root of all gradients' sum of squares is at most this; 0: any */
    tsr_schedule schedule;
    int64_t steps;             /* after which a schedule that falls has ended */
    int64_t warmup_steps;      /* the rate rises from 0 before; of `steps`, if there are any */
    int64_t hold_steps;        /* then it stays before it falls; of `steps` */
    const char *const *freeze; /* names of weights that stay, with * and ? */
    int freeze_count;
    uint32_t seed; /* of Dropout and of augmentation */
    /* Augmentation: pictures, which are the inputs and targets [N, C, H, W] of more than one pixel,
     * are changed at random on the device, each sample of each step in another way, all its
     * pictures alike: all have as many samples. */
    bool channels_last; /* pictures are [N, H, W, C] */
    bool flip;          /* half of all samples are mirrored, left to right */
    int64_t crop;       /* most pixels by which samples are shifted along each axis; the border is
                         * repeated. Pixels are those of the first picture; the others have the
                         * same size, or a multiple of it. */
    /* Parts by which brightness, contrast (about the middle) and saturation (about the luma of
     * ITU-R BT.601) change at most, 0 to 1: by a factor from 1 - part to 1 + part. What leaves the
     * range is limited to it. Of 1 or 3 channels. */
    float brightness, contrast, saturation;
    bool recolor_targets; /* colours of targets change, too */
    tsr_color_range input_colors, target_colors;
    const tsr_loss_term *losses; /* instead of output, loss and range */
    int loss_count;
    /* Sizes that the model leaves open, as in tsr_session_desc: a batch of one size. */
    const tsr_dim_binding *dims;
    int dim_count;
    const tsr_input_shape *shapes;
    int shape_count;
    /* Most bytes that a step may need: weights, states of the optimizer and statistics, all twice,
     * inputs, targets, and what nodes compute, as planned. More is refused with both numbers,
     * before anything is allocated on the device. 0: max_bytes of the model's description. */
    uint64_t max_bytes;
    int tune_ms; /* as in tsr_session_desc, as is */
    bool time_passes;
    tsr_progress progress;
    /* Less memory, about a third more time: of the tensors that gradients read only those between
     * some layers are kept, and the others are computed again (Chen et al. 2016, "Training Deep
     * Nets with Sublinear Memory Cost"), unless that saves nothing. Results are the same. */
    bool recompute;
    /* What tsr_trainer_model() gives out are moving averages of weights and statistics: step t,
     * from 1, makes them a * average + (1 - a) * w, with a = min(average_decay, (1 + t) / (10 +
     * t)). Below 1; 0: they are those of the last step. */
    float average_decay;
    /* A network that learns to tell targets from outputs, while the model learns to deceive it: its
     * inputs are those of the model in their order, and then a picture, or the picture alone; its
     * first output logits of any shape. The picture is the output of the loss's first term, or the
     * target of that. NULL: none, and the members below are 0, too.
     *
     * In a step the discriminator is updated first, by the same rule and rate as the model, then
     * the model, which meets the updated one; clip_norm is of the gradients of each. All its
     * weights are trained, and its BatchNormalizations are in training mode, as the model's: each
     * of its batches is of targets or of outputs alone, and statistics follow both. */
    const tsr_model *discriminator;
    tsr_adversarial adversarial;
    float adversarial_weight; /* of its loss, beside the terms; 0: 1 */
    /* Miyato et al. 2018, "Spectral normalization": the discriminator's weights of Conv, Gemm and
     * MatMul, as matrices of their first axis by all others, are divided by their largest singular
     * value. One power iteration estimates it before the discriminator's update, another before the
     * model's. */
    bool spectral_norm;
    /* tsr_trainer_create() only plans; tsr_trainer_advance() does the rest. */
    bool prepare_in_steps;
} tsr_trainer_desc;

/* Holds references on device and models; what desc points to is copied. Fails as
 * tsr_session_create() does, and where nothing is to be trained, a weight does not change the loss,
 * or a node on the way from a weight to the loss has no gradient: the message names it. */
TSR_API tsr_status tsr_trainer_create_sized(tsr_device *device, const tsr_model *model,
                                            const tsr_trainer_desc *desc, size_t size,
                                            size_t loss_size, tsr_trainer **trainer);
/* desc: NULL is fine. */
static inline tsr_status tsr_trainer_create(tsr_device *device, const tsr_model *model,
                                            const tsr_trainer_desc *desc, tsr_trainer **trainer) {
    return tsr_trainer_create_sized(device, model, desc, sizeof *desc, sizeof *desc->losses,
                                    trainer);
}
/* NULL is fine. */
TSR_API void tsr_trainer_destroy(tsr_trainer *trainer);

/* inputs: by input of the model; targets: by term of the loss; both copied before the call returns.
 * Counts and types are checked before anything is done. loss: before this step; NULL: nothing is
 * read, and the call does not wait.
 *
 * A loss, or a gradient, that is infinite or NaN fails with TSR_ERROR_INVALID_ARGUMENT, which names
 * the step, and the first node of network, loss, gradients and updates whose result is not finite,
 * as the cpu backend computes it; weights and statistics are those from before it. In steps whose
 * loss is not read such gradients count as 0. */
TSR_API tsr_status tsr_trainer_step_sized(tsr_trainer *trainer, const tsr_array *inputs,
                                          int input_count, const tsr_array *targets,
                                          int target_count, size_t size, float *loss);
static inline tsr_status tsr_trainer_step(tsr_trainer *trainer, const tsr_array *inputs,
                                          int input_count, const tsr_array *targets,
                                          int target_count, float *loss) {
    return tsr_trainer_step_sized(trainer, inputs, input_count, targets, target_count,
                                  sizeof *inputs, loss);
}

/* Losses of the last step, before its weights changed: of each term, without its weight, and, with
 * a discriminator, the model's adversarial loss, without its weight, and the discriminator's. Waits
 * for the step; fails where there was none, between a step's parts and where it was cancelled.
 * count: tsr_trainer_loss_count(). */
TSR_API int tsr_trainer_loss_count(const tsr_trainer *trainer);
TSR_API tsr_status tsr_trainer_losses(tsr_trainer *trainer, float *losses, int count);

/* A step in parts, for a program that renders frames in between. Takes what a step takes, as
 * tsr_trainer_step() does, and begins one; one that is in progress is cancelled. */
TSR_API tsr_status tsr_trainer_begin_sized(tsr_trainer *trainer, const tsr_array *inputs,
                                           int input_count, const tsr_array *targets,
                                           int target_count, size_t size);
static inline tsr_status tsr_trainer_begin(tsr_trainer *trainer, const tsr_array *inputs,
                                           int input_count, const tsr_array *targets,
                                           int target_count) {
    return tsr_trainer_begin_sized(trainer, inputs, input_count, targets, target_count,
                                   sizeof *inputs);
}
/* Works on the step that has begun for about `ms` milliseconds; TSR_NOT_READY while work remains,
 * TSR_OK once it is complete, which is what tsr_trainer_step() would have done. Of a trainer that
 * was made with prepare_in_steps it first makes tensors and programs, and a failure in that is
 * final. On gles it waits for the GPU and executes a few passes, at least one; webgpu's first call
 * submits them and the others poll; cpu does everything in one. loss: as of tsr_trainer_step(),
 * written with TSR_OK alone; NULL: it is not read.
 *
 * A failure ends the step. Between its parts tsr_trainer_step() and tsr_trainer_load() cancel it;
 * all else sees the weights from before it. Before a trainer is prepared steps at once, and what
 * reads or loads weights, fail with TSR_ERROR_INVALID_ARGUMENT. */
TSR_API tsr_status tsr_trainer_advance(tsr_trainer *trainer, double ms, float *loss);

/* The elements of a parameter (tsr_trainer_parameter()) as they are now: `count` of them, in its
 * shape and order. Waits for them, and reads the tensor that they are a part of as a whole: to read
 * all, tsr_trainer_model() is faster. tsr_session_set_weights() of a session of the model takes
 * those of Conv, ConvTranspose, Gemm and MatMul by the parameter's name; tsr_trainer_model() has
 * all. */
TSR_API tsr_status tsr_trainer_get_parameter(tsr_trainer *trainer, int index, float *elements,
                                             size_t count);

/* A new model with the weights of now; waits for them. */
TSR_API tsr_status tsr_trainer_model(tsr_trainer *trainer, tsr_model **model);
/* The discriminator the same way, never averaged. With spectral_norm its weights are the normalized
 * ones: it gives the logits that training sees. */
TSR_API tsr_status tsr_trainer_discriminator(tsr_trainer *trainer, tsr_model **model);

/* Weights, statistics, the optimizer's state and the number of steps, as bytes: with them another
 * trainer of the same model and description goes on as this one would. `write` is called many
 * times. */
TSR_API tsr_status tsr_trainer_save(tsr_trainer *trainer, tsr_write_fn write, void *user);
/* Nothing is changed if the bytes do not fit the trainer, which the message tells. */
TSR_API tsr_status tsr_trainer_load(tsr_trainer *trainer, const void *bytes, size_t count);

/* Terms of the loss, each of which has a target. */
TSR_API int tsr_trainer_target_count(const tsr_trainer *trainer);
/* The name of the tensor that a term is computed of: its output, or the logits that its Softmax or
 * Sigmoid reads; NULL if there is no such term. With it, as one of a session's extra_outputs, a
 * held-out loss can be computed. */
TSR_API const char *tsr_trainer_scored(const tsr_trainer *trainer, int index);

/* Shapes of what a step takes. */
TSR_API tsr_status tsr_trainer_input_sized(const tsr_trainer *trainer, int index,
                                           tsr_tensor_info *info, size_t size);
static inline tsr_status tsr_trainer_input(const tsr_trainer *trainer, int index,
                                           tsr_tensor_info *info) {
    return tsr_trainer_input_sized(trainer, index, info, sizeof *info);
}
TSR_API tsr_status tsr_trainer_target_sized(const tsr_trainer *trainer, int index,
                                            tsr_tensor_info *info, size_t size);
static inline tsr_status tsr_trainer_target(const tsr_trainer *trainer, int index,
                                            tsr_tensor_info *info) {
    return tsr_trainer_target_sized(trainer, index, info, sizeof *info);
}

/* Weights of the model that are trained: names and shapes. */
TSR_API int tsr_trainer_parameter_count(const tsr_trainer *trainer);
TSR_API tsr_status tsr_trainer_parameter_sized(const tsr_trainer *trainer, int index,
                                               tsr_tensor_info *info, size_t size);
static inline tsr_status tsr_trainer_parameter(const tsr_trainer *trainer, int index,
                                               tsr_tensor_info *info) {
    return tsr_trainer_parameter_sized(trainer, index, info, sizeof *info);
}
/* What a step is made of, as of a session: its nodes are those of the network, of gradients and of
 * updates. */
TSR_API tsr_status tsr_trainer_report_sized(const tsr_trainer *trainer, tsr_report *report,
                                            size_t size);
static inline tsr_status tsr_trainer_report(const tsr_trainer *trainer, tsr_report *report) {
    return tsr_trainer_report_sized(trainer, report, sizeof *report);
}
TSR_API tsr_status tsr_trainer_node_report_sized(const tsr_trainer *trainer, int index,
                                                 tsr_node_report *report, size_t size);
static inline tsr_status tsr_trainer_node_report(const tsr_trainer *trainer, int index,
                                                 tsr_node_report *report) {
    return tsr_trainer_node_report_sized(trainer, index, report, sizeof *report);
}
/* Steps so far. */
TSR_API int64_t tsr_trainer_steps(const tsr_trainer *trainer);

#ifdef __cplusplus
}
#endif
#endif
