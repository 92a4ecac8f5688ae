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

static tsr_status sample_loss(const train_set *s, tsr_loss loss, const float *y, const float *t,
                              double *mean) {
    const tsr_shape *shape = &s->target.info.shape;
    size_t count = (size_t)tsr_shape_count(shape), classes = (size_t)shape->dim[1],
           places = count / classes;
    double sum = 0;
    if (loss == TSR_LOSS_SSIM)
        return train_ssim_loss(shape, y, t, train_set_range(s), mean)
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

static tsr_status run_all(const train_set *s, tsr_session *session, const char *scored,
                          tsr_loss loss, float *inputs, float *targets, float *scores,
                          train_score *sum) {
    size_t batch = (size_t)s->batch, count = s->target.count;
    for (int at = 0; at < s->held; at += s->batch) {
        TRY(train_set_held(s, at, inputs, targets));
        TRY_LIBRARY(
            tsr_session_set_input(session, s->input.info.name, inputs, batch * s->input.count));
        TRY_LIBRARY(tsr_session_run(session));
        TRY_LIBRARY(tsr_session_get_output(session, scored, scores, batch * count));
        for (int i = 0; i < s->batch && at + i < s->held; i++) {
            const float *y = scores + (size_t)i * count, *t = targets + (size_t)i * count;
            double mean;
            TRY(sample_loss(s, loss, y, t, &mean));
            sum->loss += mean;
            sum->top1 += best_class(y, count) == best_class(t, count);
        }
    }
    return TSR_OK;
}

tsr_status train_measure(const train_set *s, const job *j, tsr_device *device,
                         const tsr_model *model, const char *scored, tsr_loss loss, float *inputs,
                         float *targets, train_score *score) {
    job trained = *j; /* the same but for the weights */
    tsr_session_desc extra = {.extra_outputs = &scored,
                              .extra_output_count = strcmp(scored, s->target.info.name) != 0};
    tsr_session *session;
    float *scores = malloc((size_t)s->batch * s->target.count * sizeof *scores);
    if (!scores)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for outputs");
    trained.model = (tsr_model *)model;
    *score = (train_score){0, 0};
    tsr_status status = job_session(&trained, device, &extra, &session);
    if (status == TSR_OK) {
        status = run_all(s, session, scored, loss, inputs, targets, scores, score);
        tsr_session_destroy(session);
    }
    free(scores);
    score->loss /= s->held;
    score->top1 = s->form == TRAIN_CLASSES ? score->top1 / s->held : -1;
    return status;
}
