/* A trainer: trainer_desc.c checks what is asked for, trainer.c makes it, trainer_step.c runs
 * steps, trainer_diagnose.c tells where they fail, trainer_state.c saves and loads what they
 * change, trainer_graph.c makes their graph from a model's, trainer_augment.c changes pictures,
 * trainer_parameters.c finds what is trained, trainer_join.c joins it, trainer_widen.c makes
 * float32 of it, trainer_loss.c, trainer_ssim.c and trainer_update.c append losses and updates,
 * trainer_discriminator.c and trainer_spectral.c what a discriminator needs. */
#ifndef TSR_API_TRAINER_H
#define TSR_API_TRAINER_H

#include "api/device_tensor.h"
#include "base/random.h"
#include "passes/build.h"
#include "tessera_train.h"

enum { TSR_STATISTIC_BATCHES = 2 }; /* of a discriminator's: targets and outputs */

/* What steps change: parameters, statistics of BatchNormalization, the optimizer's. */
typedef struct tsr_training_state {
    int before, after;    /* values of the step's graph: what it is, and what it becomes */
    int tensor;           /* that it is a part of; TSR_NONE: not known yet */
    int64_t begin;        /* of its elements there */
    int constant;         /* the value of the model's graph that it was; TSR_NONE: it begins as 0 */
    const float *initial; /* its elements; NULL: zeros */
    /* Of a statistic of BatchNormalization: values of the step's batches, in the order in which it
     * becomes part * batch + (1 - part) * before. */
    float part;
    int batch_count, batches[TSR_STATISTIC_BATCHES];
} tsr_training_state;

/* A tensor of one state or several: values of the step's graph, an input and what it becomes. */
typedef struct tsr_training_tensor {
    int before, after;
} tsr_training_tensor;

/* Numbers that change from step to step, as inputs of one element. */
typedef enum tsr_training_number {
    TSR_STEP_SIZE,
    TSR_VARIANCE_FACTOR, /* Adam: 1 / sqrt(1 - beta2^t) */
    TSR_WEIGHT_FACTOR,   /* AdamW: 1 - learning rate * decay */
    TSR_AVERAGE_PART,    /* what a step counts in averages of weights */
    TSR_TRAINING_NUMBERS,
} tsr_training_number;

/* Of a Dropout: an input of zeros and 1 / (1 - ratio). */
typedef struct tsr_training_mask {
    int value;
    float ratio;
} tsr_training_mask;

/* Inputs of the step that change pictures: for each sample x and y, or one number. */
typedef enum tsr_augmentation_number {
    TSR_AUGMENT_FACTOR, /* of x and y, where a pixel is taken from */
    TSR_AUGMENT_OFFSET,
    TSR_AUGMENT_OWN,  /* what a channel adds to itself, */
    TSR_AUGMENT_GREY, /* luma to each channel, */
    TSR_AUGMENT_LIFT, /* and a constant */
    TSR_AUGMENTATION_NUMBERS,
} tsr_augmentation_number;

/* A term of the loss. */
typedef struct tsr_training_term {
    tsr_loss loss;
    float weight, range;
    int output;
    int given, target; /* an input, and what became of it by augmentation */
    int scored;        /* what it is computed of: the output, or its logits */
} tsr_training_term;

/* The states of a network: parameters, then statistics and, of spectral norms, vectors; and their
 * tensors: parameters', then others'. */
typedef struct tsr_training_group {
    int first, parameter_count, count;
    int first_tensor, parameter_tensors, tensor_count;
} tsr_training_group;

/* A weight of the discriminator as a matrix, divided by its largest singular value. */
typedef struct tsr_spectral_norm {
    int parameter, left; /* states; left: an estimate of that value's left vector */
    int64_t rows, columns;
    int right;      /* value: the other vector, which is no part of gradients */
    int normalized; /* value: the weight */
} tsr_spectral_norm;

/* The graph of a step. Its inputs: the model's, targets, states, numbers, masks; its outputs:
 * the loss, and states afterwards. */
typedef struct tsr_training {
    const tsr_trainer_desc *desc; /* defaults are filled in; not after it was made */
    tsr_graph *graph;
    double bytes;    /* left for constants */
    int input_count; /* of the model, which are the first of the graph's */
    int *seen;       /* by these: what became of them by augmentation */
    int term_count;
    tsr_training_term *terms;
    int adversarial, discriminator_loss; /* TSR_NONE without a discriminator */
    int loss;                            /* what the model learns by: the sum of all its losses */
    int losses;  /* it or, if it has several parts, it and all that tsr_trainer_losses() has */
    int checked; /* the losses' magnitudes and the gradients' sums of squares: finite if all of them
                  * are
                  */
    tsr_training_group model, discriminator;
    int average; /* the first of the averages of the model's tensors; TSR_NONE: there are none */
    int spectral_count;
    tsr_spectral_norm *spectral;
    int state_count, tensor_count, state_room;
    tsr_training_state *states;
    tsr_training_tensor *tensors;      /* there is room for as many as states */
    int numbers[TSR_TRAINING_NUMBERS]; /* TSR_NONE: the update has none */
    int mask_count;
    tsr_training_mask *masks;
    int augmentation[TSR_AUGMENTATION_NUMBERS]; /* TSR_NONE: there is none */
} tsr_training;

/* Of a step in parts. */
typedef enum tsr_step_part {
    TSR_STEP_NONE,
    TSR_STEP_BEGUN, /* its arrays are set */
    TSR_STEP_RUNS,
} tsr_step_part;

struct tsr_trainer {
    tsr_device *device; /* retained */
    tsr_model *model;   /* retained: the graph borrows names and constants */
    tsr_graph *graph;
    tsr_graph *plain;               /* the same before it was optimized */
    tsr_model *discriminator;       /* retained; NULL: none */
    tsr_graph *discriminator_graph; /* prepared: the graph borrows from it, too */
    tsr_trainer_desc desc;          /* its pointers are of the caller: not after it was made */
    tsr_training training;
    tsr_autotune_result tuning;
    tsr_progress_meter progress; /* of making the trainer */
    tsr_runner *runner;
    /* By input of the graph; by tensor of states, what it becomes: both are exchanged after a step.
     */
    tsr_tensor_storage *inputs, *next, losses, checked;
    int *input_of;         /* by value: which input of the graph it is, if it is one */
    int *late, late_count; /* inputs set after submit_before(): targets, the update's numbers */
    float *mask;           /* elements of the largest of all masks */
    float *sample_numbers; /* of augmentation; NULL: there is none */
    float *read;           /* elements of `losses` */
    bool has_losses;       /* of the last step that was completed, or refused */
    int made_tensors;      /* of states */
    bool compiles;         /* the runner is prepared in steps, and is not complete */
    tsr_status prepared;   /* TSR_NOT_READY in between; a failure is final */
    tsr_step_part part;
    int64_t steps;
};

/* The description with defaults filled in, its losses as a list of copies that is to be freed. */
tsr_status tsr_trainer_take_desc(const tsr_trainer_desc *desc, size_t size, size_t loss_size,
                                 tsr_trainer_desc *taken);
/* Of one that was taken. */
tsr_status tsr_trainer_check_desc(const tsr_trainer_desc *desc);

/* trainer_augment.c: of a description, which gets its defaults; of a step's graph, before the nodes
 * that read inputs; of its targets; of a trainer, and what changes from step to step.
 */
tsr_status tsr_trainer_take_augmentation(tsr_trainer_desc *desc);
tsr_status tsr_training_augment_inputs(tsr_training *training);
void tsr_training_augment_targets(tsr_training *training, tsr_builder *b);
tsr_status tsr_trainer_make_sample_numbers(tsr_trainer *t);
tsr_status tsr_trainer_write_augmentation(const tsr_trainer *t, tsr_random *random);
/* Tensors of states, then programs, for about ms milliseconds; TSR_NOT_READY while work remains. */
tsr_status tsr_trainer_prepare(tsr_trainer *trainer, double ms);
/* Fails before it is prepared. */
tsr_status tsr_trainer_check_ready(const tsr_trainer *trainer);

/* A step that runs leaves no losses. */
void tsr_trainer_cancel_step(tsr_trainer *t);

/* Elements of a tensor of the trainer's. Getting them waits for the steps before. */
tsr_status tsr_trainer_set(const tsr_trainer *t, const tsr_tensor_storage *tensor,
                           const float *elements);
tsr_status tsr_trainer_get(const tsr_trainer *t, const tsr_tensor_storage *tensor, float *elements);
/* The same after its runner was submitted. */
tsr_status tsr_trainer_get_submitted(const tsr_trainer *t, const tsr_tensor_storage *tensor,
                                     float *elements);
/* Of a tensor of states, as it is now. */
const tsr_tensor_storage *tsr_trainer_tensor(const tsr_trainer *t, int tensor);
/* Sets it to the elements of the states that tensor `like` has, by state; NULL: as they begin. What
 * has no elements is as the tensor was made: 0. */
tsr_status tsr_trainer_set_states(const tsr_trainer *t, int tensor, int like,
                                  const float *const *elements);

/* After a step that failed, before another begins: ": node 'c' (Conv of 'x') is the first that
 * computes NaN", or that an input holds it. Empty where the CPU finds all finite, or has not enough
 * memory. */
void tsr_trainer_diagnose(const tsr_trainer *t, char *text, size_t size);

/* graph: a clone of a model's, which becomes a step's; discriminator: another's, which is prepared,
 * or NULL. */
tsr_status tsr_training_make(tsr_graph *graph, tsr_graph *discriminator,
                             const tsr_trainer_desc *desc, tsr_training *training);

/* float32? */
tsr_status tsr_training_check_inputs(const tsr_graph *graph);
/* Dropouts of a prepared graph drop. */
tsr_status tsr_training_apply_dropout(tsr_training *training);
/* Appends what `part` builds to the graph; the builder's constants are float32. */
typedef void tsr_training_part(tsr_training *training, tsr_builder *b, void *context);
tsr_status tsr_training_append(tsr_training *training, const char *name, tsr_training_part *part,
                               void *context);
/* Appends gradients of a loss and the updates of a group's parameters. held: as in
 * tsr_gradient_request. */
tsr_status tsr_training_add_updates(tsr_training *training, const tsr_training_group *group,
                                    int loss, int held_count, const int *held);

/* Inputs of the graph. TSR_NONE with a message. */
int tsr_training_add_input(tsr_training *training, const char *base, const char *suffix,
                           const tsr_shape *shape);
/* NULL with a message. The pointer is valid until the next one is added. */
tsr_training_state *tsr_training_add_state(tsr_training *training);
/* One that is a tensor of its own, an input that is named after a value; its index. TSR_NONE with a
 * message. */
int tsr_training_add_own_state(tsr_training *training, int of, const char *suffix,
                               const tsr_shape *shape);
/* What such a state becomes. */
void tsr_training_set_after(tsr_training *training, int state, int after);

/* trainer_join.c: gives the states of a group, which are inputs, their tensors; those that have one
 * together become parts of it. */
tsr_status tsr_training_join(tsr_training *training, tsr_training_group *group);
/* What the parts of a tensor become, by what it becomes. */
void tsr_training_build_parts(tsr_training *training, tsr_builder *b, int tensor);

/* Constants of 16 bits that a Cast makes float32, as files have weights, directly or behind views,
 * become float32 ones, which can be trained. Values keep their numbers. */
tsr_status tsr_training_widen(tsr_graph *graph);

/* Makes the constants that are to be trained inputs, and BatchNormalization what it is in training:
 * the states of the group `model`. */
tsr_status tsr_training_find_parameters(tsr_training *training);

/* Where a Softmax or Sigmoid computes the output, what it reads, which may have another shape if
 * that is a Sigmoid; the output itself where there is neither. */
tsr_status tsr_training_find_logits(const tsr_graph *graph, int output, tsr_op function,
                                    int *logits);
/* The sum of all elements, times a number. */
int tsr_training_build_sum(tsr_builder *b, int value, float factor);
/* |value| */
int tsr_training_magnitude(tsr_builder *b, int value);
enum { TSR_SSIM_WINDOW = 11 };
/* 1 - SSIM, by image, channel and window. */
int tsr_training_build_ssim(tsr_builder *b, const tsr_training_term *term);
/* Appends the loss, which the adversarial one is a part of. */
void tsr_training_build_loss(tsr_training *training, tsr_builder *b);
/* Appends the update of each parameter of a group by its gradient. */
void tsr_training_build_updates(tsr_training *training, tsr_builder *b,
                                const tsr_training_group *group, int loss, const int *gradients);
/* Appends averages of the model's states. */
void tsr_training_build_averages(tsr_training *training, tsr_builder *b);

/* Appends a step of the discriminator, and the adversarial loss by what it has become. */
tsr_status tsr_training_add_discriminator(tsr_training *training, tsr_graph *discriminator);

/* Finds the weights that are normalized among the discriminator's parameters, of which state
 * `first + i` is value `parameters[i]` of its graph; adds states. */
tsr_status tsr_training_find_spectral(tsr_training *training, const tsr_graph *discriminator,
                                      const tsr_training_state *own);
/* Appends an iteration and the normalized weight of each, of what states have become so far. */
void tsr_training_build_spectral(tsr_training *training, tsr_builder *b);
/* An iteration: the largest singular value of a matrix is estimated, of which left[rows] becomes
 * the left vector; right: room for `columns` elements. */
double tsr_spectral_iterate(const float *matrix, int64_t rows, int64_t columns, double *left,
                            double *right);

#endif
