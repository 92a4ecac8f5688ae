/* Losses of samples that are held out. */
#include "tool.h"
#include "train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- losses ---------------------------------------------------------------------------------- */

/* Those of tessera_train.h, of one element. */
static double element_loss(tsr_loss loss, double y, double t) {
    double distance = fabs(y - t), clipped = distance < 1 ? distance : 1;
    switch (loss) {
    case TSR_LOSS_MSE:
        return distance * distance;
    case TSR_LOSS_L1:
        return distance;
    case TSR_LOSS_SMOOTH_L1:
        return clipped * (distance - clipped / 2);
    default: /* of binary cross-entropy */
        return fmax(y, 0) - y * t + log1p(exp(-fabs(y)));
    }
}

/* step: between classes. */
static double cross_entropy(const float *y, const float *t, size_t classes, size_t step) {
    double most = -INFINITY, sum = 0, loss = 0;
    for (size_t c = 0; c < classes; c++)
        most = fmax(most, y[c * step]);
    for (size_t c = 0; c < classes; c++)
        sum += exp(y[c * step] - most);
    for (size_t c = 0; c < classes; c++)
        loss -= t[c * step] * (y[c * step] - most - log(sum));
    return loss;
}

static tsr_status sample_loss(const train_side *target, tsr_loss loss, const float *y,
                              const float *t, double *mean) {
    const tsr_shape *shape = &target->info.shape;
    size_t count = (size_t)tsr_shape_count(shape), classes = (size_t)shape->dim[1],
           places = count / classes;
    double sum = 0;
    if (loss == TSR_LOSS_SSIM)
        return train_ssim_loss(shape, y, t, train_side_range(target), mean)
                   ? TSR_OK
                   : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for SSIM");
    bool by_place = loss == TSR_LOSS_CROSS_ENTROPY;
    for (size_t i = 0; i < (by_place ? places : count); i++)
        sum += by_place ? cross_entropy(y + i, t + i, classes, places)
                        : element_loss(loss, y[i], t[i]);
    *mean = sum / (double)(by_place ? places : count);
    return TSR_OK;
}

static size_t best_class(const float *scores, size_t count) {
    size_t best = 0;
    for (size_t c = 1; c < count; c++)
        best = scores[c] > scores[best] ? c : best;
    return best;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Samples of a batch, of which `at` were measured before. */
static tsr_status add_target(const train_set *s, int side, tsr_loss loss, int at,
                             const float *scores, const float *elements, train_score *sum) {
    const train_side *target = &s->sides[side];
    const float *targets = elements + train_set_place(s, side);
    for (int i = 0; i < s->batch && at + i < s->held; i++) {
        const float *y = scores + (size_t)i * target->count,
                    *t = targets + (size_t)i * target->count;
        double mean;
        TRY(sample_loss(target, loss, y, t, &mean));
        sum->loss += (double)target->weight * mean;
        sum->top1 += best_class(y, target->count) == best_class(t, target->count);
    }
    return TSR_OK;
}

/* scores: room for any target's. */
static tsr_status run_all(const train_set *s, tsr_session *session, const char *const *scored,
                          tsr_loss loss, float *elements, float *scores, train_score *sum) {
    size_t batch = (size_t)s->batch;
    for (int at = 0; at < s->held; at += s->batch) {
        TRY(train_set_held(s, at, elements));
        for (int k = 0; k < s->input_count; k++)
            TRY_LIBRARY(tsr_session_set_input(session, s->sides[k].info.name,
                                              elements + train_set_place(s, k),
                                              batch * s->sides[k].count));
        TRY_LIBRARY(tsr_session_run(session));
        for (int k = s->input_count; k < s->side_count; k++) {
            TRY_LIBRARY(tsr_session_get_output(session, scored[k - s->input_count], scores,
                                               batch * s->sides[k].count));
            TRY(add_target(s, k, loss, at, scores, elements, sum));
        }
    }
    return TSR_OK;
}

/* What losses are computed of, by target, then those that are no outputs. */
static int list_scored(const train_set *s, const tsr_trainer *trainer, const char **scored) {
    int count = s->side_count - s->input_count, extra = 0;
    for (int i = 0; i < count; i++) {
        scored[i] = tsr_trainer_scored(trainer, i);
        if (strcmp(scored[i], s->sides[s->input_count + i].info.name) != 0)
            scored[count + extra++] = scored[i];
    }
    return extra;
}

static tsr_status measure(const train_set *s, const job *trained, tsr_device *device,
                          const tsr_trainer *trainer, tsr_loss loss, float *elements, float *scores,
                          const char **scored, train_score *score) {
    tsr_session_desc extra = {.extra_outputs = scored + (s->side_count - s->input_count),
                              .extra_output_count = list_scored(s, trainer, scored)};
    tsr_session *session;
    TRY(job_session(trained, device, &extra, &session));
    tsr_status status = run_all(s, session, scored, loss, elements, scores, score);
    tsr_session_destroy(session);
    return status;
}

tsr_status train_measure(const train_set *s, const job *j, tsr_device *device,
                         const tsr_model *model, const tsr_trainer *trainer, tsr_loss loss,
                         float *elements, train_score *score) {
    job trained = *j; /* the same but for the weights */
    float *scores = malloc((size_t)s->batch * s->sample_count * sizeof *scores);
    const char **scored = calloc(2 * (size_t)s->side_count, sizeof *scored);
    trained.model = (tsr_model *)model;
    *score = (train_score){0, 0};
    tsr_status status =
        scores && scored
            ? measure(s, &trained, device, trainer, loss, elements, scores, scored, score)
            : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for outputs");
    free(scores);
    free(scored);
    score->loss /= s->held;
    score->top1 = s->form == TRAIN_CLASSES ? score->top1 / s->held : -1;
    return status;
}
