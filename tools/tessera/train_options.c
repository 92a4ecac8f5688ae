/* What the command line of `tessera train` says. */
#define _POSIX_C_SOURCE 200809L
#include "output.h"
#include "tool.h"
#include "train.h"

#include <string.h>
#include <unistd.h>

train_form train_form_of(const train_options *o) {
    return o->targets.count ? TRAIN_FOLDERS : o->side_by_side ? TRAIN_HALVES : TRAIN_CLASSES;
}

int train_every(const train_options *o) {
    return o->every ? o->every : 100;
}

static tsr_status check_data(const train_options *o) {
    if (!o->data.count)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "no files to train with: give --data FOLDER");
    if (o->targets.count && o->side_by_side)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "--side-by-side has targets in the files of --data, --targets has others");
    if (!(o->validation < 1))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--validation is a share of all samples, below 1");
    if (!(o->color <= 1) || (o->color_targets && o->color <= 0))
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    o->color_targets ? "--color-targets needs --color, which is 0 to 1"
                                     : "--color is a part, 0 to 1");
    return o->every && o->validation <= 0
               ? fail(TSR_ERROR_INVALID_ARGUMENT, "--every is for --validation")
               : TSR_OK;
}

/* The library takes these numbers, where they are 0, as their defaults. */
static tsr_status check_above_0(const train_options *o) {
    const char *name = (float)o->rate == 0                 ? "rate"
                       : (float)o->beta1 == 0              ? "beta1"
                       : (float)o->adversarial_weight == 0 ? "adversarial-weight"
                                                           : NULL;
    return name ? fail(TSR_ERROR_INVALID_ARGUMENT, "--%s has to be above 0", name) : TSR_OK;
}

static tsr_status check_update(const train_options *o) {
    if (o->update != TSR_UPDATE_SGD && (o->momentum > 0 || o->nesterov))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--%s is for --optimizer sgd",
                    o->nesterov ? "nesterov" : "momentum");
    if (o->nesterov && !((float)o->momentum > 0))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--nesterov needs --momentum");
    if (o->update == TSR_UPDATE_SGD && o->beta1 >= 0)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--beta1 is for --optimizer adam and adamw");
    if (o->hold && o->schedule == TSR_SCHEDULE_CONSTANT)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--hold is for --schedule linear and cosine");
    return o->hold < o->steps - o->warmup
               ? TSR_OK
               : fail(TSR_ERROR_INVALID_ARGUMENT, "--warmup %d%s: there are only %d steps",
                      o->warmup, o->hold ? " and --hold" : "", o->steps);
}

static tsr_status check_discriminator(const train_options *o) {
    bool given = o->discriminator_output || o->spectral_norm || o->adversarial >= 0 ||
                 o->adversarial_weight >= 0;
    return given && !o->discriminator
               ? fail(TSR_ERROR_INVALID_ARGUMENT,
                      "--adversarial, --adversarial-weight, --spectral-norm and "
                      "--discriminator-output are for --discriminator")
               : TSR_OK;
}

enum { OUTPUTS = 5 };

/* NULL: not written. */
static void list_outputs(const train_options *o, const char *paths[OUTPUTS]) {
    const char *const all[] = {o->output, o->log, o->svg, o->discriminator_output, o->state};
    memcpy(paths, all, sizeof all);
}

static tsr_status check_outputs(const train_options *o, const char *model) {
    const char *paths[OUTPUTS];
    list_outputs(o, paths);
    if (!o->output)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "no file to write: give -o OUT.onnx");
    for (int i = 0; i < OUTPUTS; i++) {
        if (!paths[i])
            continue;
        if (output_is_same(model, paths[i]) ||
            (o->discriminator && output_is_same(o->discriminator, paths[i])))
            return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: is the model itself; name another file",
                        paths[i]);
        TRY(description_check_output(model, o->job.description, paths[i]));
        TRY(output_check(paths[i]));
        for (int k = 0; k < i; k++)
            if (paths[k] && output_is_same_place(paths[k], paths[i]))
                return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: named for two files", paths[i]);
    }
    return TSR_OK;
}

tsr_status train_check_options(const train_options *o, const char *model) {
    TRY(check_outputs(o, model));
    TRY(check_data(o));
    TRY(check_discriminator(o));
    TRY(check_above_0(o));
    return check_update(o);
}

tsr_status train_check_samples(const train_options *o, const train_files *files) {
    const char *paths[OUTPUTS];
    list_outputs(o, paths);
    for (int i = 0; i < OUTPUTS; i++) {
        if (!paths[i] || access(paths[i], F_OK) != 0)
            continue;
        for (int s = 0; s < files->count; s++)
            for (int k = 0; k < files->path_count; k++)
                if (output_is_same(paths[i], files->samples[s].paths[k]))
                    return fail(TSR_ERROR_INVALID_ARGUMENT,
                                "%s: is a sample; it would be written over", paths[i]);
    }
    return TSR_OK;
}

static void add_files(option_set *set, train_options *o) {
    const option items[] = {
        {"data", 0, "[NAME=]FOLDER",
         "files of an input, or a folder of them for each class; repeatable", OPTION_LIST, &o->data,
         0, NULL},
        {"targets", 0, "[NAME=]FOLDER",
         "targets of an output: files that have the names of --data's; repeatable", OPTION_LIST,
         &o->targets, 0, NULL},
        {"side-by-side", 0, NULL, "pictures of --data: the left half is input, the right target",
         OPTION_FLAG, &o->side_by_side, 0, NULL},
        {"output", 'o', "FILE", "the ONNX file to write", OPTION_TEXT, &o->output, 0, NULL},
        {"validation", 0, "SHARE", "hold out this share of all samples, to measure their loss (0)",
         OPTION_NUMBER, &o->validation, 0, NULL},
        {"every", 0, "N", "steps between losses of what is held out (100)", OPTION_INT, &o->every,
         1, NULL},
    };
    OPTIONS_ADD(set, items);
}

static void add_size(option_set *set, train_options *o) {
    const option items[] = {
        {"steps", 'n', "N", "number of steps; with --resume those before count, too (1000)",
         OPTION_INT, &o->steps, 1, NULL},
        {"batch", 0, "N", "samples of a step, if the model leaves that open (16, or all)",
         OPTION_INT, &o->batch, 1, NULL},
    };
    OPTIONS_ADD(set, items);
}

static void add_update(option_set *set, train_options *o) {
    /* As tsr_loss, tsr_update, tsr_schedule. */
    static const char *const losses[] = {
        "mse", "l1", "smooth-l1", "cross-entropy", "binary-cross-entropy", "ssim", NULL};
    static const char *const updates[] = {"adam", "adamw", "sgd", NULL};
    static const char *const schedules[] = {"constant", "linear", "cosine", NULL};
    const option items[] = {
        {"loss", 0, "LOSS",
         "mse, l1, smooth-l1, cross-entropy, binary-cross-entropy, ssim (l1; classes: "
         "cross-entropy)",
         OPTION_CHOICE, &o->loss, 0, losses},
        {"target-weight", 0, "NAME=W", "what the loss of an output counts (1); repeatable",
         OPTION_LIST, &o->target_weights, 0, NULL},
        {"optimizer", 0, "NAME", "adam, adamw or sgd (adam)", OPTION_CHOICE, &o->update, 0,
         updates},
        {"rate", 0, "R", "learning rate (0.001)", OPTION_NUMBER, &o->rate, 0, NULL},
        {"beta1", 0, "B", "of adam and adamw: what gradients' means keep (0.9)", OPTION_NUMBER,
         &o->beta1, 0, NULL},
        {"momentum", 0, "M", "of sgd (0)", OPTION_NUMBER, &o->momentum, 0, NULL},
        {"nesterov", 0, NULL, "of sgd: Nesterov's momentum", OPTION_FLAG, &o->nesterov, 0, NULL},
        {"weight-decay", 0, "D", "of weights of two axes or more (0)", OPTION_NUMBER,
         &o->weight_decay, 0, NULL},
        {"clip", 0, "NORM", "most that all gradients' norm may be (any)", OPTION_NUMBER, &o->clip,
         0, NULL},
        {"schedule", 0, "NAME",
         "the rate stays, or falls to 0: constant, linear or cosine "
         "(constant)",
         OPTION_CHOICE, &o->schedule, 0, schedules},
        {"warmup", 0, "N", "steps in which the rate rises from 0 (0)", OPTION_INT, &o->warmup, 0,
         NULL},
        {"hold", 0, "N", "steps before the rate of a schedule falls (0)", OPTION_INT, &o->hold, 1,
         NULL},
        {"average", 0, "A", "write moving averages of weights, of this decay (0: the last ones)",
         OPTION_NUMBER, &o->average, 0, NULL},
        {"freeze", 0, "PATTERN", "weights that stay, by name, with * and ?; repeatable",
         OPTION_LIST, &o->freeze, 0, NULL},
        {"seed", 0, "N", "of all that is random: order, what is held out, changes, Dropout (0)",
         OPTION_INT, &o->job.seed, 0, NULL},
    };
    OPTIONS_ADD(set, items);
}

static void add_changes(option_set *set, train_options *o) {
    const option items[] = {
        {"flip", 0, NULL, "mirror pictures, half of them: input and target alike", OPTION_FLAG,
         &o->flip, 0, NULL},
        {"crop", 0, "N", "move pictures by up to N pixels: input and target alike", OPTION_INT,
         &o->crop, 1, NULL},
        {"color", 0, "PART", "change brightness, contrast and saturation by up to this part (0)",
         OPTION_NUMBER, &o->color, 0, NULL},
        {"color-targets", 0, NULL, "with --color: targets change alike", OPTION_FLAG,
         &o->color_targets, 0, NULL},
    };
    OPTIONS_ADD(set, items);
}

static void add_adversarial(option_set *set, train_options *o) {
    /* As tsr_adversarial. */
    static const char *const kinds[] = {"cross-entropy", "hinge", "least-squares", NULL};
    const option items[] = {
        {"adversarial", 0, "LOSS",
         "that of the discriminator: cross-entropy, hinge or least-squares (cross-entropy)",
         OPTION_CHOICE, &o->adversarial, 0, kinds},
        {"adversarial-weight", 0, "W", "what it counts beside --loss (1)", OPTION_NUMBER,
         &o->adversarial_weight, 0, NULL},
        {"spectral-norm", 0, NULL, "divide the discriminator's weights by their spectral norms",
         OPTION_FLAG, &o->spectral_norm, 0, NULL},
    };
    OPTIONS_ADD(set, items);
}

void train_add_learning_options(option_set *set, train_options *o) {
    add_update(set, o);
    add_changes(set, o);
    add_adversarial(set, o);
}

static void add_discriminator(option_set *set, train_options *o) {
    const option items[] = {
        {"discriminator", 0, "FILE", "a network that learns to tell outputs from targets",
         OPTION_TEXT, &o->discriminator, 0, NULL},
        {"discriminator-output", 0, "FILE", "write the discriminator, too", OPTION_TEXT,
         &o->discriminator_output, 0, NULL},
    };
    OPTIONS_ADD(set, items);
}

static void add_records(option_set *set, train_options *o) {
    const option items[] = {
        {"log", 0, "FILE", "write losses as CSV, a line for each step", OPTION_TEXT, &o->log, 0,
         NULL},
        {"svg", 0, "FILE", "write a chart of the losses", OPTION_TEXT, &o->svg, 0, NULL},
        {"checkpoint", 0, "N", "write all files every N steps, too", OPTION_INT, &o->checkpoint, 1,
         NULL},
        {"state", 0, "FILE", "write how far training is, for --resume", OPTION_TEXT, &o->state, 0,
         NULL},
        {"resume", 0, "FILE", "go on from a file of --state, which is written again", OPTION_TEXT,
         &o->resume, 0, NULL},
    };
    OPTIONS_ADD(set, items);
}

static void add_machine(option_set *set, train_options *o) {
    const option items[] = {
        {"dim", 0, "NAME=N", "size of a symbolic dimension; repeatable", OPTION_LIST, &o->job.dims,
         0, NULL},
        {"shape", 0, "NAME=N,N..", "shape of the input, where the model has open sizes",
         OPTION_LIST, &o->job.shapes, 0, NULL},
        {"max-memory", 0, "MIB", "refuse models and steps that need more (the machine's memory)",
         OPTION_INT, &o->job.most_memory, 1, NULL},
        {"recompute", 0, NULL, "less memory, about a third more time", OPTION_FLAG, &o->recompute,
         0, NULL},
        {"tune", 0, "MS", "time budget for autotuning, in ms (0)", OPTION_INT, &o->job.tune_ms, 1,
         NULL},
    };
    OPTIONS_ADD(set, items);
}

void train_add_options(option_set *set, train_options *o) {
    *o = (train_options){.steps = 1000,
                         .loss = -1,
                         .adversarial = -1,
                         .rate = 1e-3,
                         .beta1 = -1,
                         .adversarial_weight = -1};
    add_files(set, o);
    add_size(set, o);
    add_update(set, o);
    add_changes(set, o);
    add_discriminator(set, o);
    add_adversarial(set, o);
    add_records(set, o);
    add_machine(set, o);
    job_add_file_options(set, &o->job);
    job_add_backend_option(set, &o->job);
    job_add_gpu_options(set, &o->job);
}
