/* The parts of `tessera train`. */
#ifndef TESSERA_TRAIN_TOOL_H
#define TESSERA_TRAIN_TOOL_H

#include "converted.h"
#include "job.h"
#include "base/random.h"
#include "tessera_train.h"

/* Where inputs and targets are. */
typedef enum train_form {
    TRAIN_FOLDERS, /* a folder for each input and target, files of the same name */
    TRAIN_HALVES,  /* pictures: left half and right half */
    TRAIN_CLASSES, /* a folder of each class */
} train_form;

typedef struct train_options {
    job_options job;                         /* its seed, too */
    text_list data, targets, target_weights; /* [NAME=]FOLDER, NAME=W */
    char *output, *log, *svg, *discriminator, *discriminator_output;
    char *state, *resume; /* files: to write, to go on from */
    bool side_by_side, nesterov, flip, color_targets, spectral_norm, recompute;
    int steps, warmup, hold, batch, every, checkpoint, crop; /* but for steps: 0: not given */
    int loss;             /* a tsr_loss; negative: by the targets */
    int update, schedule; /* a tsr_update, a tsr_schedule */
    int adversarial;      /* a tsr_adversarial; negative: not given */
    double rate, momentum, weight_decay, clip, validation, color, average;
    double beta1, adversarial_weight; /* negative: not given */
    text_list freeze;
} train_options;

/* train_options.c */
void train_add_options(option_set *set, train_options *o);
/* Those of them that change what is learned, but for --steps and --batch: no option has a text. */
void train_add_learning_options(option_set *set, train_options *o);
tsr_status train_check_options(const train_options *o, const char *model);
train_form train_form_of(const train_options *o);
int train_every(const train_options *o); /* steps between losses of what is held out */

/* ---- train_files.c --------------------------------------------------------------------------- */

typedef struct train_sample {
    char **paths; /* by folder (malloc) */
    int class;
    float *elements; /* of all sides (malloc); NULL: read when they are needed */
} train_sample;

typedef struct train_files {
    train_sample *samples; /* by name; of classes, class by class */
    int count, room;
    int path_count; /* of a sample */
    int classes;    /* folders of them */
} train_files;

/* folders: one for each side with TRAIN_FOLDERS, else one. Folders of classes have the names of
 * labels or, without labels, any. */
tsr_status train_find_files(train_form form, job *j, const char *const *folders, int folder_count,
                            train_files *made);
void train_free_files(train_files *files);
/* No output is one of them. */
tsr_status train_check_samples(const train_options *o, const train_files *files);

/* ---- train_set.c ----------------------------------------------------------------------------- */

/* Input or target of a sample. Axis 0 of its shape, the batch, is 1. */
typedef struct train_side {
    tsr_tensor_info info;
    image_options image;
    size_t count;       /* of elements */
    size_t before;      /* elements of a sample that are those of sides before it */
    const char *folder; /* NULL: it has none of its own */
    int index;          /* of the model's inputs or outputs */
    float weight;       /* of a target's loss */
} train_side;

typedef struct train_set {
    const train_options *o;
    train_form form;
    train_files files;
    train_side *sides; /* inputs, then targets */
    int input_count, side_count;
    size_t sample_count; /* elements of a sample */
    int batch;
    int *order; /* samples as they are drawn; the last `held` are held out */
    int held, next;
    uint64_t checksum; /* of all samples */
    float *scratch;    /* of a sample */
    tsr_random random;
} train_set;

/* Finds all files and reads them; gives the job's inputs their shapes, with the batch. */
tsr_status train_set_open(train_set *made, const train_options *o, job *j);
void train_set_close(train_set *s);

/* The largest value of a target's pixels minus the smallest. */
double train_side_range(const train_side *target);
/* Samples that are not held out. */
int train_set_count(const train_set *s);
/* What the options say of changes of pictures, and what colours these samples have. */
tsr_status train_set_augment(const train_set *s, tsr_trainer_desc *desc);
/* The next batch, in an order that changes after each round. Side by side: elements of side k are
 * those from train_set_place(s, k) on. */
tsr_status train_set_draw(train_set *s, float *elements);
size_t train_set_place(const train_set *s, int side);
/* Skips the batches of the next `steps` steps. */
void train_set_skip(train_set *s, int steps);
/* Those held out from the at-th on, as they are; what lacks is filled with the last one. */
tsr_status train_set_held(const train_set *s, int at, float *elements);

/* ---- train_sides.c --------------------------------------------------------------------------- */

/* Reads a file for a side. part: 0: the whole file; 1, 2: the left and the right half of a picture.
 */
tsr_status train_load(const train_side *side, const char *path, int part, tensor *made);
/* Inputs and targets, with folders and weights, but without shapes. */
tsr_status train_find_sides(train_set *s, const job *j);
/* Their shapes and counts, once files and the batch are known. */
tsr_status train_shape_sides(train_set *s, job *j);

/* ---- train_trainer.c ------------------------------------------------------------------------- */

/* discriminator: NULL: none. */
tsr_status train_make_trainer(const train_set *s, const job *j, tsr_loss loss, tsr_device *device,
                              const tsr_model *discriminator, tsr_trainer **made);

/* ---- train_measure.c ------------------------------------------------------------------------- */

typedef struct train_score {
    double loss, top1; /* top1: share of samples; negative: they have no classes */
} train_score;

/* Held-out samples, by a session of the model. trainer: tells the tensors that losses are computed
 * of. elements: room for a batch. */
tsr_status train_measure(const train_set *s, const job *j, tsr_device *device,
                         const tsr_model *model, const tsr_trainer *trainer, tsr_loss loss,
                         float *elements, train_score *score);

/* ---- train_ssim.c ---------------------------------------------------------------------------- */

/* 1 - SSIM of two samples [1, C, H, W], as TSR_LOSS_SSIM. False: there is not enough memory. */
bool train_ssim_loss(const tsr_shape *shape, const float *y, const float *t, double range,
                     double *loss);

/* ---- train_history.c ------------------------------------------------------------------------- */

typedef struct train_held {
    int step; /* 0: before training */
    train_score score;
} train_held;

/* With a discriminator: the model's loss of targets, its adversarial loss, the discriminator's. */
enum { TRAIN_PARTS = 3 };

typedef struct train_history {
    float *losses; /* by step */
    float *parts;  /* TRAIN_PARTS by step; NULL: there is no discriminator */
    int count, held_count;
    train_held *held;
} train_history;

tsr_status train_history_create(train_history *made, const train_options *o);
void train_history_free(train_history *h);
tsr_status train_write_log(const train_history *h, const char *path);
tsr_status train_write_svg(const train_history *h, const char *title, const char *path);

/* ---- train_settings.c ------------------------------------------------------------------------ */

/* What two runs have to have in common if one is to go on from the other, in lines (free() it,
 * after a failure, too). discriminator: NULL: none. */
tsr_status train_settings_make(train_options *o, const train_set *s, const tsr_model *model,
                               const tsr_model *discriminator, char **made);
/* Refuses those of the file with this path if they differ, but for some options, which it notes. */
tsr_status train_settings_compare(const char *path, const char *before, const char *now);

/* ---- train_state.c --------------------------------------------------------------------------- */

/* The file with which a run goes on from here, in memory (free(made->bytes), after a failure, too).
 */
tsr_status train_state_make(const char *settings, const train_history *h, tsr_trainer *trainer,
                            converted_file *made);

typedef struct train_state {
    unsigned char *bytes; /* of the file */
    size_t size;
    const unsigned char *trainer; /* for tsr_trainer_load() */
    size_t trainer_size;
} train_state;

/* Checks the file of --resume against this run's settings; fills the history, which is empty. */
tsr_status train_state_read(train_state *made, const train_options *o, const char *settings,
                            train_history *h);
void train_state_free(train_state *s);

#endif
