/* What the command line of `tessera train` says. */
#include "output.h"
#include "tool.h"
#include "train.h"

#include <string.h>

train_form train_form_of(const train_options *o) {
    return o->targets ? TRAIN_FOLDERS : o->side_by_side ? TRAIN_HALVES : TRAIN_CLASSES;
}

int train_every(const train_options *o) {
    return o->every ? o->every : 100;
}

static tsr_status check_data(const train_options *o) {
    if (!o->data)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "no files to train with: give --data FOLDER");
    if (o->targets && o->side_by_side)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "--side-by-side has targets in the files of --data, --targets has others");
    if (!(o->validation < 1))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--validation is a share of all samples, below 1");
    return o->every && o->validation <= 0
               ? fail(TSR_ERROR_INVALID_ARGUMENT, "--every is for --validation")
               : TSR_OK;
}

/* The library takes a rate of 0 as its default. */
static tsr_status check_update(const train_options *o) {
    if (!((float)o->rate > 0))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--rate has to be above 0");
    if (o->update != TSR_UPDATE_SGD && (o->momentum > 0 || o->nesterov))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--%s is for --optimizer sgd",
                    o->nesterov ? "nesterov" : "momentum");
    if (o->nesterov && !((float)o->momentum > 0))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--nesterov needs --momentum");
    return o->warmup < o->steps ? TSR_OK
                                : fail(TSR_ERROR_INVALID_ARGUMENT,
                                       "--warmup %d: there are only %d steps", o->warmup, o->steps);
}

static tsr_status check_outputs(const train_options *o, const char *model) {
    const char *const paths[] = {o->output, o->log, o->svg};
    if (!o->output)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "no file to write: give -o OUT.onnx");
    for (int i = 0; i < 3; i++) {
        if (!paths[i])
            continue;
        if (output_is_same(model, paths[i]))
            return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: is the model itself; name another file",
                        paths[i]);
        TRY(description_check_output(model, o->job.description, paths[i]));
        TRY(output_check(paths[i]));
        for (int k = 0; k < i; k++)
            if (paths[k] && strcmp(paths[k], paths[i]) == 0)
                return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: named for two files", paths[i]);
    }
    return TSR_OK;
}

tsr_status train_check_options(const train_options *o, const char *model) {
    TRY(check_outputs(o, model));
    TRY(check_data(o));
    return check_update(o);
}

static void add_files(option_set *set, train_options *o) {
    const option items[] = {
        {"data", 0, "FOLDER", "inputs: files, or a folder of them for each class", OPTION_TEXT,
         &o->data, 0, NULL},
        {"targets", 0, "FOLDER", "targets: files that have the names of --data's", OPTION_TEXT,
         &o->targets, 0, NULL},
        {"side-by-side", 0, NULL, "pictures of --data: the left half is input, the right target",
         OPTION_FLAG, &o->side_by_side, 0, NULL},
        {"output", 'o', "FILE", "the ONNX file to write", OPTION_TEXT, &o->output, 0, NULL},
        {"validation", 0, "SHARE", "hold out this share of all samples, and tell their loss (0)",
         OPTION_NUMBER, &o->validation, 0, NULL},
        {"every", 0, "N", "steps between losses of what is held out (100)", OPTION_INT, &o->every,
         1, NULL},
        {"flip", 0, NULL, "mirror pictures, half of them: input and target alike", OPTION_FLAG,
         &o->flip, 0, NULL},
        {"crop", 0, "N", "move pictures by up to N pixels: input and target alike", OPTION_INT,
         &o->crop, 1, NULL},
        {"log", 0, "FILE", "write losses as CSV, a line for each step", OPTION_TEXT, &o->log, 0,
         NULL},
        {"svg", 0, "FILE", "write a chart of the losses", OPTION_TEXT, &o->svg, 0, NULL},
        {"checkpoint", 0, "N", "write -o, --log and --svg every N steps, too", OPTION_INT,
         &o->checkpoint, 1, NULL},
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
        {"steps", 'n', "N", "number of steps (1000)", OPTION_INT, &o->steps, 1, NULL},
        {"batch", 0, "N", "samples of a step, if the model leaves that open (16, or all)",
         OPTION_INT, &o->batch, 1, NULL},
        {"loss", 0, "LOSS",
         "mse, l1, smooth-l1, cross-entropy, binary-cross-entropy or ssim (classes: cross-entropy; "
         "else l1)",
         OPTION_CHOICE, &o->loss, 0, losses},
        {"optimizer", 0, "NAME", "adam, adamw or sgd (adam)", OPTION_CHOICE, &o->update, 0,
         updates},
        {"rate", 0, "R", "learning rate (0.001)", OPTION_NUMBER, &o->rate, 0, NULL},
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
        {"freeze", 0, "PATTERN", "weights that stay, by name, with * and ?; repeatable",
         OPTION_LIST, &o->freeze, 0, NULL},
        {"seed", 0, "N", "of the order, of what is held out, of --flip, --crop and Dropout (0)",
         OPTION_INT, &o->job.seed, 0, NULL},
        {"dim", 0, "NAME=N", "size of a symbolic dimension; repeatable", OPTION_LIST, &o->job.dims,
         0, NULL},
        {"shape", 0, "NAME=N,N..", "shape of the input, where the model has open sizes",
         OPTION_LIST, &o->job.shapes, 0, NULL},
        {"max-memory", 0, "MIB", "refuse models and steps that need more (the machine's memory)",
         OPTION_INT, &o->job.most_memory, 1, NULL},
        {"tune", 0, "MS", "time budget for autotuning, in ms (0)", OPTION_INT, &o->job.tune_ms, 1,
         NULL},
    };
    OPTIONS_ADD(set, items);
}

void train_add_options(option_set *set, train_options *o) {
    *o = (train_options){.steps = 1000, .loss = -1, .rate = 1e-3};
    add_files(set, o);
    add_update(set, o);
    job_add_file_options(set, &o->job);
    job_add_backend_option(set, &o->job);
    job_add_gpu_options(set, &o->job);
}
