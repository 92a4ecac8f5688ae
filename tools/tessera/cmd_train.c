/* tessera train: weights of a model, changed by samples. */
#define _POSIX_C_SOURCE 200809L
#include "converted.h"
#include "output.h"
#include "tool.h"
#include "train.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct training {
    const train_options *o;
    job *j;
    tsr_loss loss;
    train_set set;
    train_history history;
    tsr_device *device;
    tsr_trainer *trainer;
    float *inputs, *targets; /* of a batch */
    /* Weights are known to be good once they have given a finite loss, which is that of the step
     * after them: `taken` ones wait for it. Only good ones are written. */
    tsr_model *taken, *good;
    int taken_at, good_at; /* after which step */
    double start_ms, told_ms;
    double smooth; /* the loss, averaged over about 20 steps */
} training;

/* ---- signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t stopped; /* the signal's number */

/* The step is finished, and what was learned written; a second signal does not wait for that. */
static void stop(int number) {
    if (stopped)
        output_abandon(number);
    stopped = number;
}

/* ---- files ----------------------------------------------------------------------------------- */

static tsr_status write_model(const training *t, const tsr_model *model) {
    converted_file file;
    const tsr_write_desc desc = {.keep_nodes = true};
    tsr_status status = converted_write(model, &desc, &file);
    if (status == TSR_OK)
        status = converted_save(&file, t->o->output);
    free(file.bytes);
    return status;
}

static tsr_status save(const training *t) {
    TRY(write_model(t, t->good));
    if (t->o->log)
        TRY(train_write_log(&t->history, t->o->log));
    return t->o->svg ? train_write_svg(&t->history, t->o->output, t->o->svg) : TSR_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const train_held *last_held(const training *t) {
    const train_history *h = &t->history;
    return h->held_count ? &h->held[h->held_count - 1] : NULL;
}

/* At most 20 times a second. */
static void tell(training *t) {
    if (now_ms() - t->told_ms < 50)
        return;
    t->told_ms = now_ms();
    const train_held *held = last_held(t);
    int done = t->history.count, left = t->o->steps - done;
    double rate = done * 1e3 / fmax(now_ms() - t->start_ms, 1e-3), seconds = fmin(left / rate, 1e9);
    char known[64] = "";
    if (held)
        snprintf(known, sizeof known, ", held out %.4g", held->score.loss);
    progress("step %d of %d: loss %.4g%s, %.1f steps/s, %d:%02d left", done, t->o->steps, t->smooth,
             known, rate, (int)(seconds / 60), (int)fmod(seconds, 60));
}

static tsr_status measure(training *t) {
    tsr_model *model;
    train_held *held = &t->history.held[t->history.held_count];
    TRY_LIBRARY(tsr_trainer_model(t->trainer, &model));
    held->step = t->history.count;
    tsr_status status =
        train_measure(&t->set, t->j, t->device, model, tsr_trainer_scored(t->trainer, 0), t->loss,
                      t->inputs, t->targets, &held->score);
    tsr_model_free(model);
    t->history.held_count += status == TSR_OK;
    return status;
}

static tsr_status take(training *t) {
    tsr_model_free(t->taken);
    t->taken = NULL;
    t->taken_at = t->history.count;
    TRY_LIBRARY(tsr_trainer_model(t->trainer, &t->taken));
    return TSR_OK;
}

static void accept(training *t) {
    if (!t->taken)
        return;
    tsr_model_free(t->good);
    t->good = t->taken;
    t->good_at = t->taken_at;
    t->taken = NULL;
}

/* lost: the loss was not finite. */
static tsr_status step(training *t, float *loss, bool *lost) {
    const train_set *set = &t->set;
    size_t batch = (size_t)set->batch;
    const tsr_array inputs = {.data = t->inputs, .count = batch * set->input.count},
                    targets = {.data = t->targets, .count = batch * set->target.count};
    *loss = 0;
    TRY(train_set_draw(&t->set, t->inputs, t->targets));
    tsr_status status = tsr_trainer_step(t->trainer, &inputs, 1, &targets, 1, loss);
    *lost = !isfinite(*loss);
    TRY_LIBRARY(status);
    accept(t);
    return TSR_OK;
}

static void keep_loss(training *t, float loss) {
    train_history *h = &t->history;
    h->losses[h->count++] = loss;
    int over = h->count < 20 ? h->count : 20;
    t->smooth += ((double)loss - t->smooth) / over;
}

/* The step after the last one is for its loss alone. */
static tsr_status run_steps(training *t, bool *lost) {
    const train_options *o = t->o;
    int every = train_every(o), takes = o->checkpoint ? o->checkpoint : 100;
    float loss;
    t->start_ms = now_ms();
    TRY(take(t));
    for (bool last = false; !last;) {
        bool due = o->checkpoint && t->taken && t->taken_at;
        TRY(step(t, &loss, lost));
        if (due)
            TRY(save(t));
        keep_loss(t, loss);
        int done = t->history.count;
        last = done == o->steps || stopped;
        if (t->set.held && (last || done % every == 0))
            TRY(measure(t));
        if (last || done % takes == 0)
            TRY(take(t));
        tell(t);
    }
    return step(t, &loss, lost);
}

static void print_result(const training *t) {
    const train_history *h = &t->history;
    const train_held *held = last_held(t);
    char path[1024];
    printf("%s: %d steps, loss %.6g to %.6g", tsr_escape(t->o->output, path, sizeof path), h->count,
           (double)h->losses[0], (double)h->losses[h->count - 1]);
    if (held)
        printf(", held out %.6g", held->score.loss);
    if (held && held->score.top1 >= 0)
        printf(", top-1 %.1f %%", 100 * held->score.top1);
    putchar('\n');
}

/* What was learned before a failure is written, too. */
static int run(training *t) {
    bool lost = false;
    signals_catch(stop);
    tsr_status status = run_steps(t, &lost);
    int code = command_exit(status);
    tsr_status saved = t->good ? save(t) : TSR_OK;
    signals_release();
    progress_clear();
    if (saved != TSR_OK)
        return command_exit(saved);
    if (status == TSR_OK)
        print_result(t);
    else if (t->good)
        note("%s: has the weights from after step %d", t->o->output, t->good_at);
    return lost ? EXIT_MISMATCH : stopped ? 128 + stopped : code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static tsr_status make_trainer(training *t) {
    const train_options *o = t->o;
    tsr_session_desc shapes = {0};
    tsr_status status = job_describe_shapes(t->j, &shapes);
    bool has_range = t->loss == TSR_LOSS_SSIM;
    tsr_trainer_desc desc = {.loss = t->loss,
                             .range = has_range ? (float)train_set_range(&t->set) : 0,
                             .update = (tsr_update)o->update,
                             .learning_rate = (float)o->rate,
                             .momentum = (float)o->momentum,
                             .nesterov = o->nesterov,
                             .weight_decay = (float)o->weight_decay,
                             .clip_norm = (float)o->clip,
                             .schedule = (tsr_schedule)o->schedule,
                             .steps = o->schedule == TSR_SCHEDULE_CONSTANT ? 0 : o->steps,
                             .warmup_steps = o->warmup,
                             .freeze = (const char *const *)o->freeze.items,
                             .freeze_count = o->freeze.count,
                             .seed = (uint32_t)o->job.seed,
                             .dims = shapes.dims,
                             .dim_count = shapes.dim_count,
                             .shapes = shapes.shapes,
                             .shape_count = shapes.shape_count,
                             .tune_ms = o->job.tune_ms,
                             .progress = {progress_of_call, (void *)t->j->path}};
    if (status == TSR_OK) {
        status = tsr_trainer_create(t->device, t->j->model, &desc, &t->trainer);
        progress_clear();
        if (status != TSR_OK)
            fail_library(status);
    }
    job_free_shapes(&shapes);
    return status;
}

static tsr_status prepare(training *t) {
    const train_options *o = t->o;
    TRY(train_set_open(&t->set, o, t->j));
    size_t batch = (size_t)t->set.batch;
    t->loss = o->loss >= 0                   ? (tsr_loss)o->loss
              : t->set.form == TRAIN_CLASSES ? TSR_LOSS_CROSS_ENTROPY
                                             : TSR_LOSS_L1;
    t->inputs = malloc(batch * t->set.input.count * sizeof *t->inputs);
    t->targets = malloc(batch * t->set.target.count * sizeof *t->targets);
    if (!t->inputs || !t->targets)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for a batch");
    TRY(train_history_create(&t->history, o));
    TRY(job_device(&o->job, NULL, &t->device));
    return make_trainer(t);
}

static int train(const train_options *o, job *j) {
    training t = {.o = o, .j = j};
    int code = command_exit(prepare(&t));
    if (t.trainer)
        code = run(&t);
    tsr_model_free(t.taken);
    tsr_model_free(t.good);
    tsr_trainer_destroy(t.trainer);
    tsr_device_destroy(t.device);
    train_history_free(&t.history);
    train_set_close(&t.set);
    free(t.inputs);
    free(t.targets);
    return code;
}

int cmd_train(int argc, char **argv) {
    train_options o;
    option_set set = {
        .usage =
            "tessera train MODEL --data FOLDER [--targets FOLDER | --side-by-side] -o OUT.onnx",
        .notes =
            "Samples are pictures, .npy or .pb files:\n"
            "  --data FOLDER                     FOLDER/CLASS/*: the output is a vector of "
            "classes\n"
            "  --data FOLDER --side-by-side      pictures with the input left, the target right\n"
            "  --data INPUTS --targets TARGETS   two folders, files of the same name\n"
            "Classes are numbered as their names are sorted, or as the labels of the model's "
            "description\nare. Pictures become numbers as 'tessera run' makes them, targets as it "
            "would write them:\n--range, --fit and so on, or the description. docs/training.md has "
            "an example.\n\n"
            "The same command writes the same file on the same device. At the first SIGINT or "
            "SIGTERM the\nmodel is written as it is, and the exit code is 130 or 143. A loss that "
            "is not finite ends\ntraining: the latest weights that are known to give a finite one "
            "are written, and the exit\ncode is 1.\n",
        .min_arguments = 1,
        .max_arguments = 1};
    train_add_options(&set, &o);
    int arguments, code;
    if (!options_parse(&set, argc, argv, &arguments, &code))
        return code;
    job j;
    tsr_status status = train_check_options(&o, argv[1]);
    if (status == TSR_OK)
        status = job_open(&j, &o.job, argv[1], JOB_MISSING_OPEN);
    if (status != TSR_OK)
        return command_exit(status);
    code = train(&o, &j);
    job_close(&j);
    return code;
}
