/* A trainer: trainer_desc.c checks what is asked for, trainer.c makes it, trainer_step.c runs
 * steps, trainer_diagnose.c tells where they fail, trainer_state.c saves and loads what they
 * change, trainer_graph.c makes their graph from a model's, trainer_parameters.c finds what is
 * trained, trainer_widen.c makes float32 of it, trainer_loss.c, trainer_ssim.c and trainer_update.c
 * append losses and updates. */
#ifndef TSR_API_TRAINER_H
#define TSR_API_TRAINER_H

#include "api/device_tensor.h"
#include "passes/build.h"
#include "tessera_train.h"

/* A tensor that steps change: parameters, statistics of BatchNormalization, the optimizer's. */
typedef struct tsr_training_state {
    int before, after;    /* values of the step's graph: an input, and what it becomes */
    int constant;         /* the value of the model's graph that it was; TSR_NONE: it begins as 0 */
    const float *initial; /* its elements; NULL: zeros */
} tsr_training_state;

/* Numbers that change from step to step, as inputs of one element. */
typedef enum tsr_training_number {
    TSR_STEP_SIZE,
    TSR_VARIANCE_FACTOR, /* Adam: 1 / sqrt(1 - beta2^t) */
    TSR_WEIGHT_FACTOR,   /* AdamW: 1 - learning rate * decay */
    TSR_TRAINING_NUMBERS,
} tsr_training_number;

/* Of a Dropout: an input of zeros and 1 / (1 - ratio). */
typedef struct tsr_training_mask {
    int value;
    float ratio;
} tsr_training_mask;

/* A term of the loss. */
typedef struct tsr_training_term {
    tsr_loss loss;
    float weight, range;
    int output, target;
    int scored; /* what it is computed of: the output, or its logits */
} tsr_training_term;

/* The graph of a step. Its inputs: the model's, targets, states, numbers, masks; its outputs:
 * the loss, and states afterwards. */
typedef struct tsr_training {
    const tsr_trainer_desc *desc; /* defaults are filled in; not after it was made */
    tsr_graph *graph;
    int input_count; /* of the model, which are the first of the graph's */
    int term_count;
    tsr_training_term *terms;
    int loss;    /* their sum */
    int checked; /* the loss's magnitude and the gradients' sum of squares: finite if all of them
                  * are
                  */
    int parameter_count; /* of states, the first ones */
    int state_count, state_room;
    tsr_training_state *states;
    int numbers[TSR_TRAINING_NUMBERS]; /* TSR_NONE: the update has none */
    int mask_count;
    tsr_training_mask *masks;
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
    tsr_graph *plain;      /* the same before it was optimized */
    tsr_trainer_desc desc; /* its pointers are of the caller: not after it was made */
    tsr_training training;
    tsr_autotune_result tuning;
    tsr_progress_meter progress; /* of making the trainer */
    tsr_runner *runner;
    /* By input of the graph; by state, what it becomes: both are exchanged after a step. */
    tsr_tensor_storage *inputs, *next, loss, checked;
    int *state_input;    /* by state: which input of the graph it is */
    float *mask;         /* elements of the largest of all masks */
    int made_states;     /* of them, those that have their tensors */
    bool compiles;       /* the runner is prepared in steps, and is not complete */
    tsr_status prepared; /* TSR_NOT_READY in between; a failure is final */
    tsr_step_part part;
    int64_t steps;
};

/* The description with defaults filled in, its losses as a list of copies that is to be freed. */
tsr_status tsr_trainer_take_desc(const tsr_trainer_desc *desc, size_t size, size_t loss_size,
                                 tsr_trainer_desc *taken);
/* Of one that was taken. */
tsr_status tsr_trainer_check_desc(const tsr_trainer_desc *desc);

/* Tensors of states, then programs, for about ms milliseconds; TSR_NOT_READY while work remains. */
tsr_status tsr_trainer_prepare(tsr_trainer *trainer, double ms);
/* Fails before it is prepared. */
tsr_status tsr_trainer_check_ready(const tsr_trainer *trainer);

/* Which input of the graph a value is. */
int tsr_trainer_find_input(const tsr_trainer *t, int value);
/* Elements of a tensor of the trainer's. Getting them waits for the steps before. */
tsr_status tsr_trainer_set(const tsr_trainer *t, const tsr_tensor_storage *tensor,
                           const float *elements);
tsr_status tsr_trainer_get(const tsr_trainer *t, const tsr_tensor_storage *tensor, float *elements);

/* After a step that failed, before another begins: ": node 'c' (Conv of 'x') is the first that
 * computes NaN", or that an input holds it. Empty where the CPU finds all finite, or has not enough
 * memory. */
void tsr_trainer_diagnose(const tsr_trainer *t, char *text, size_t size);

/* graph: a clone of a model's, which becomes a step's. */
tsr_status tsr_training_make(tsr_graph *graph, const tsr_trainer_desc *desc,
                             tsr_training *training);

/* Inputs of the graph. TSR_NONE with a message. */
int tsr_training_add_input(tsr_training *training, const char *base, const char *suffix,
                           const tsr_shape *shape);
/* NULL with a message. The pointer is valid until the next one is added. */
tsr_training_state *tsr_training_add_state(tsr_training *training);

/* Constants of 16 bits that a Cast makes float32, as files have weights, directly or behind views,
 * become float32 ones, which can be trained. Values keep their numbers. */
tsr_status tsr_training_widen(tsr_graph *graph);

/* Makes the constants that are to be trained inputs, and BatchNormalization what it is in training.
 */
tsr_status tsr_training_find_parameters(tsr_training *training);

/* |value| */
int tsr_training_magnitude(tsr_builder *b, int value);
enum { TSR_SSIM_WINDOW = 11 };
/* 1 - SSIM, by image, channel and window. */
int tsr_training_build_ssim(tsr_builder *b, const tsr_training_term *term);
/* Appends the loss. */
void tsr_training_build_loss(tsr_training *training, tsr_builder *b);
/* Appends the update of each parameter by its gradient. */
void tsr_training_build_updates(tsr_training *training, tsr_builder *b, const int *gradients);

#endif
