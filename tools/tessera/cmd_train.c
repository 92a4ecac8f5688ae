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
#include <string.h>

/* What steps have made; of what is not written there is nothing. */
typedef struct weights {
    tsr_model *model, *discriminator;
    converted_file state;
    int at; /* after which step */
} weights;

typedef struct training {
    train_options *o;
    job *j;
    tsr_loss loss;
    train_set set;
    train_history history;
    tsr_device *device;
    tsr_trainer *trainer;
    float *elements;    /* of a batch */
    tsr_array *arrays;  /* of it, by side */
    float *term_losses; /* room for tsr_trainer_losses() */
    /* Weights are known to be good once they have given a finite loss, which is that of the step
     * after them: `taken` ones wait for it. Only good ones are written. */
    weights taken, good;
    tsr_model *discriminator; /* as it was at first; NULL: none */
    char *settings;           /* of --state and --resume; NULL: there are none */
    int before;               /* steps of the runs that this one goes on from */
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

static tsr_status write_model(const tsr_model *model, const char *path) {
    converted_file file;
    const tsr_write_desc desc = {.keep_nodes = true};
    tsr_status status = converted_write(model, &desc, &file);
    if (status == TSR_OK)
        status = converted_save(&file, path);
    free(file.bytes);
    return status;
}

static tsr_status save(const training *t) {
    TRY(write_model(t->good.model, t->o->output));
    if (t->good.discriminator)
        TRY(write_model(t->good.discriminator, t->o->discriminator_output));
    if (t->o->log)
        TRY(train_write_log(&t->history, t->o->log));
    if (t->o->svg)
        TRY(train_write_svg(&t->history, t->o->output, t->o->svg));
    return t->o->state ? converted_save(&t->good.state, t->o->state) : TSR_OK;
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
    double rate = (done - t->before) * 1e3 / fmax(now_ms() - t->start_ms, 1e-3),
           seconds = fmin(left / rate, 1e9);
    const float *parts = t->history.parts ? t->history.parts + (done - 1) * TRAIN_PARTS : NULL;
    char known[128] = "";
    if (parts)
        snprintf(known, sizeof known, " (%.4g, adversarial %.4g; discriminator %.4g)",
                 (double)parts[0], (double)parts[1], (double)parts[2]);
    if (held)
        snprintf(known + strlen(known), sizeof known - strlen(known), ", held out %.4g",
                 held->score.loss);
    progress("step %d of %d: loss %.4g%s, %.1f steps/s, %d:%02d left", done, t->o->steps, t->smooth,
             known, rate, (int)(seconds / 60), (int)fmod(seconds, 60));
}

static tsr_status measure(training *t) {
    tsr_model *model;
    train_held *held = &t->history.held[t->history.held_count];
    TRY_LIBRARY(tsr_trainer_model(t->trainer, &model));
    held->step = t->history.count;
    tsr_status status = train_measure(&t->set, t->j, t->device, model, t->trainer, t->loss,
                                      t->elements, &held->score);
    tsr_model_free(model);
    t->history.held_count += status == TSR_OK;
    return status;
}

static void free_weights(weights *w) {
    tsr_model_free(w->model);
    tsr_model_free(w->discriminator);
    free(w->state.bytes);
    *w = (weights){.model = NULL};
}

static tsr_status take(training *t) {
    free_weights(&t->taken);
    t->taken.at = t->history.count;
    if (t->o->discriminator_output)
        TRY_LIBRARY(tsr_trainer_discriminator(t->trainer, &t->taken.discriminator));
    if (t->o->state)
        TRY(train_state_make(t->settings, &t->history, t->trainer, &t->taken.state));
    TRY_LIBRARY(tsr_trainer_model(t->trainer, &t->taken.model));
    return TSR_OK;
}

static void accept(training *t) {
    if (!t->taken.model)
        return;
    free_weights(&t->good);
    t->good = t->taken;
    t->taken = (weights){.model = NULL};
}

/* lost: the loss was not finite. */
static tsr_status step(training *t, float *loss, bool *lost) {
    const train_set *set = &t->set;
    int inputs = set->input_count;
    *loss = 0;
    TRY(train_set_draw(&t->set, t->elements));
    tsr_status status = tsr_trainer_step(t->trainer, t->arrays, inputs, t->arrays + inputs,
                                         set->side_count - inputs, loss);
    *lost = !isfinite(*loss);
    TRY_LIBRARY(status);
    accept(t);
    return TSR_OK;
}

static void smooth(training *t, int steps) {
    int over = steps < 20 ? steps : 20;
    t->smooth += ((double)t->history.losses[steps - 1] - t->smooth) / over;
}

/* The losses of targets, weighted, are one part. */
static tsr_status keep_parts(training *t, float *parts) {
    const train_set *s = &t->set;
    int targets = s->side_count - s->input_count;
    TRY_LIBRARY(tsr_trainer_losses(t->trainer, t->term_losses, targets + 2));
    parts[0] = 0;
    for (int i = 0; i < targets; i++)
        parts[0] += s->sides[s->input_count + i].weight * t->term_losses[i];
    parts[1] = t->term_losses[targets];
    parts[2] = t->term_losses[targets + 1];
    return TSR_OK;
}

static tsr_status keep_loss(training *t, float loss) {
    train_history *h = &t->history;
    if (h->parts)
        TRY(keep_parts(t, h->parts + h->count * TRAIN_PARTS));
    h->losses[h->count++] = loss;
    smooth(t, h->count);
    return TSR_OK;
}

/* The step after the last one is for its loss alone. */
static tsr_status run_steps(training *t, bool *lost) {
    const train_options *o = t->o;
    int every = train_every(o), takes = o->checkpoint ? o->checkpoint : 100;
    float loss;
    if (t->set.held && !t->history.held_count)
        TRY(measure(t));
    t->start_ms = now_ms();
    TRY(take(t));
    for (bool last = false; !last;) {
        bool due = o->checkpoint && t->taken.model && t->taken.at;
        TRY(step(t, &loss, lost));
        if (due)
            TRY(save(t));
        TRY(keep_loss(t, loss));
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
        printf(", held out %.6g to %.6g", h->held[0].score.loss, held->score.loss);
    if (held && held->score.top1 >= 0)
        printf(", top-1 %.1f to %.1f %%", 100 * h->held[0].score.top1, 100 * held->score.top1);
    putchar('\n');
}

/* What was learned before a failure is written, too. */
static int run(training *t) {
    bool lost = false;
    signals_catch(stop);
    tsr_status status = run_steps(t, &lost);
    int code = command_exit(status);
    tsr_status saved = t->good.model ? save(t) : TSR_OK;
    signals_release();
    progress_clear();
    if (saved != TSR_OK)
        return command_exit(saved);
    if (status == TSR_OK)
        print_result(t);
    else if (t->good.model)
        note("%s: has the weights from after step %d", t->o->output, t->good.at);
    return lost ? EXIT_MISMATCH : stopped ? 128 + stopped : code;
}

/* ---- preparing --------------------------------------------------------------------------------
 */

/* Steps of before leave losses and a place in the order of samples; the trainer takes the rest. */
static tsr_status resume(training *t, train_state *state) {
    TRY(train_state_read(state, t->o, t->settings, &t->history));
    t->before = t->history.count;
    train_set_skip(&t->set, t->before);
    for (int i = 1; i <= t->before; i++)
        smooth(t, i);
    return TSR_OK;
}

static tsr_status make_trainer(training *t, const train_state *state) {
    const train_options *o = t->o;
    TRY(job_device(&o->job, NULL, &t->device));
    TRY(train_make_trainer(&t->set, t->j, t->loss, t->device, t->discriminator, &t->trainer));
    if (o->resume)
        TRY_LIBRARY(tsr_trainer_load(t->trainer, state->trainer, state->trainer_size));
    return TSR_OK;
}

static tsr_status make_arrays(training *t) {
    const train_set *s = &t->set;
    const size_t batch = (size_t)s->batch;
    t->elements = malloc(batch * s->sample_count * sizeof *t->elements);
    t->arrays = calloc((size_t)s->side_count, sizeof *t->arrays);
    t->term_losses = calloc((size_t)s->side_count + 2, sizeof *t->term_losses);
    if (!t->elements || !t->arrays || !t->term_losses)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for a batch");
    for (int k = 0; k < s->side_count; k++)
        t->arrays[k] = (tsr_array){.data = t->elements + train_set_place(s, k),
                                   .count = batch * s->sides[k].count};
    return TSR_OK;
}

static tsr_status prepare(training *t) {
    train_options *o = t->o;
    train_state state = {0};
    TRY(train_set_open(&t->set, o, t->j));
    t->loss = o->loss >= 0                   ? (tsr_loss)o->loss
              : t->set.form == TRAIN_CLASSES ? TSR_LOSS_CROSS_ENTROPY
                                             : TSR_LOSS_L1;
    TRY(make_arrays(t));
    if (o->discriminator)
        TRY_LIBRARY(tsr_model_load(o->discriminator, NULL, &t->discriminator));
    TRY(train_history_create(&t->history, o));
    if (o->state)
        TRY(train_settings_make(o, &t->set, t->j->model, t->discriminator, &t->settings));
    if (o->resume)
        TRY(resume(t, &state));
    tsr_status status = make_trainer(t, &state);
    train_state_free(&state);
    return status;
}

static int train(train_options *o, job *j) {
    training t = {.o = o, .j = j};
    tsr_status status = prepare(&t);
    int code = status == TSR_OK ? run(&t) : command_exit(status);
    free_weights(&t.taken);
    free_weights(&t.good);
    tsr_trainer_destroy(t.trainer);
    tsr_model_free(t.discriminator);
    tsr_device_destroy(t.device);
    free(t.settings);
    train_history_free(&t.history);
    train_set_close(&t.set);
    free(t.elements);
    free(t.arrays);
    free(t.term_losses);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

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
            "Networks of several inputs or targets have a folder for each: --data NAME=FOLDER,\n"
            "--targets NAME=FOLDER.\n"
            "Classes are numbered as their names are sorted, or as the labels of the model's "
            "description\nare. Pictures become numbers as 'tessera run' makes them, targets as it "
            "would write them:\n--range, --fit and so on, or the description. docs/training.md has "
            "an example.\n\n"
            "The same command writes the same file on the same device. At the first SIGINT or "
            "SIGTERM\nfiles are written as they are, and the exit code is 130 or 143. A loss that "
            "is not finite\nends training: the latest weights that are known to give a finite one "
            "are written, and the\nexit code is 1. After '--state FILE', the same command with "
            "'--resume FILE' goes on.\n",
        .min_arguments = 1,
        .max_arguments = 1};
    train_add_options(&set, &o);
    int arguments, code;
    if (!options_parse(&set, argc, argv, &arguments, &code))
        return code;
    job j;
    o.state = o.state ? o.state : o.resume;
    tsr_status status = train_check_options(&o, argv[1]);
    if (status == TSR_OK)
        status = job_open(&j, &o.job, argv[1], JOB_MISSING_OPEN);
    if (status != TSR_OK)
        return command_exit(status);
    code = train(&o, &j);
    job_close(&j);
    return code;
}
