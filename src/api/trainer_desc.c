/* Descriptions of trainers: what they may say. */
#include "api/trainer.h"

#include <math.h>

#include "api/bind.h"
#include "api/sized.h"
#include "base/error.h"

/* range: what it has to be, in words. */
static tsr_status check_number(float number, bool good, const char *name, const char *range) {
    return isfinite(number) && good
               ? TSR_OK
               : tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s has to be %s", name, range);
}

static tsr_status check_positive(float number, const char *name) {
    return check_number(number, number > 0, name, "above 0");
}

static tsr_status check_not_negative(float number, const char *name) {
    return check_number(number, number >= 0, name, "0 or more");
}

/* What an average or a momentum keeps. */
static tsr_status check_kept(float number, const char *name) {
    return check_number(number, number >= 0 && number < 1, name, "at least 0 and below 1");
}

static tsr_status check_term(const tsr_loss_term *term) {
    if ((unsigned)term->loss > TSR_LOSS_SSIM)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "there is no loss %d", (int)term->loss);
    if (term->loss != TSR_LOSS_SSIM && term->range != 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "range is for TSR_LOSS_SSIM");
    TSR_TRY(check_not_negative(term->range, "range of a loss"));
    return check_positive(term->weight, "weight of a loss");
}

static tsr_status check_discriminator(const tsr_trainer_desc *d) {
    if (d->discriminator) {
        if ((unsigned)d->adversarial > TSR_ADVERSARIAL_LEAST_SQUARES)
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "there is no adversarial loss %d",
                            (int)d->adversarial);
        return check_positive(d->adversarial_weight, "adversarial_weight");
    }
    if (!d->adversarial && d->adversarial_weight == 0 && !d->spectral_norm)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                    "adversarial, adversarial_weight and spectral_norm are for a discriminator");
}

static tsr_status check_schedule(const tsr_trainer_desc *d) {
    if ((unsigned)d->update > TSR_UPDATE_SGD || (unsigned)d->schedule > TSR_SCHEDULE_COSINE)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "there is no update %d or schedule %d",
                        (int)d->update, (int)d->schedule);
    bool counts = d->steps >= 0 && d->warmup_steps >= 0 && d->hold_steps >= 0;
    if (!counts || (d->schedule && d->steps - d->warmup_steps <= d->hold_steps))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "%lld steps, %lld of them to warm up, %lld of one rate: a schedule needs "
                        "more of them",
                        (long long)d->steps, (long long)d->warmup_steps, (long long)d->hold_steps);
    return d->hold_steps && !d->schedule
               ? tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "hold_steps is for a schedule that falls")
               : TSR_OK;
}

tsr_status tsr_trainer_check_desc(const tsr_trainer_desc *d) {
    TSR_TRY(check_positive(d->learning_rate, "learning_rate"));
    TSR_TRY(check_kept(d->beta1, "beta1"));
    TSR_TRY(check_kept(d->beta2, "beta2"));
    TSR_TRY(check_positive(d->epsilon, "epsilon"));
    TSR_TRY(check_kept(d->momentum, "momentum"));
    TSR_TRY(check_not_negative(d->weight_decay, "weight_decay"));
    TSR_TRY(check_not_negative(d->clip_norm, "clip_norm"));
    TSR_TRY(check_kept(d->average_decay, "average_decay"));
    for (int i = 0; i < d->loss_count; i++)
        TSR_TRY(check_term(&d->losses[i]));
    TSR_TRY(check_discriminator(d));
    TSR_TRY(check_schedule(d));
    const tsr_desc_list lists[] = {{"freeze", d->freeze_count, d->freeze},
                                   {"dims", d->dim_count, d->dims},
                                   {"shapes", d->shape_count, d->shapes}};
    return tsr_check_lists("tsr_trainer_desc", lists, sizeof lists / sizeof *lists);
}

static void fill_defaults(tsr_trainer_desc *d) {
    if (d->discriminator && d->adversarial_weight == 0)
        d->adversarial_weight = 1;
    d->learning_rate = d->learning_rate != 0 ? d->learning_rate : 1e-3f;
    d->beta1 = d->beta1 != 0 ? d->beta1 : 0.9f;
    d->beta2 = d->beta2 != 0 ? d->beta2 : 0.999f;
    d->epsilon = d->epsilon != 0 ? d->epsilon : 1e-8f;
}

static tsr_status check_unused(const tsr_trainer_desc *d) {
    bool sgd = d->update == TSR_UPDATE_SGD;
    const char *text = NULL;
    if (sgd && (d->beta1 != 0 || d->beta2 != 0 || d->epsilon != 0))
        text = "beta1, beta2 and epsilon are for TSR_UPDATE_ADAM and TSR_UPDATE_ADAMW";
    else if (!sgd && (d->momentum != 0 || d->nesterov))
        text = "momentum and nesterov are for TSR_UPDATE_SGD";
    else if (d->nesterov && d->momentum == 0)
        text = "nesterov needs a momentum";
    else if (d->steps && d->schedule == TSR_SCHEDULE_CONSTANT)
        text = "steps are for a schedule that is not constant";
    return text ? tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s", text) : TSR_OK;
}

/* A loss of one term becomes a list, too. */
static tsr_status take_losses(tsr_trainer_desc *d, size_t loss_size) {
    const tsr_loss_term one = {.output = d->output, .loss = d->loss, .range = d->range};
    const tsr_desc_list list = {"losses", d->loss_count, d->losses};
    bool listed = d->loss_count != 0;
    void *taken;
    TSR_TRY(tsr_check_lists("tsr_trainer_desc", &list, 1));
    if (listed && (d->output || d->loss || d->range != 0))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "output, loss and range are for a loss of one term, without losses");
    d->loss_count = listed ? d->loss_count : 1;
    TSR_TRY(tsr_take_structs("tsr_loss_term", listed ? d->losses : &one,
                             listed ? loss_size : sizeof one, d->loss_count, sizeof one, &taken));
    tsr_loss_term *terms = taken;
    for (int i = 0; i < d->loss_count; i++) {
        terms[i].weight = terms[i].weight != 0 ? terms[i].weight : 1;
        if (terms[i].loss == TSR_LOSS_SSIM && terms[i].range == 0)
            terms[i].range = 1;
    }
    d->losses = terms;
    return TSR_OK;
}

tsr_status tsr_trainer_take_desc(const tsr_trainer_desc *desc, size_t size, size_t loss_size,
                                 tsr_trainer_desc *taken) {
    TSR_TRY(tsr_take_struct("tsr_trainer_desc", desc, size, taken, sizeof *taken));
    TSR_TRY(check_unused(taken));
    fill_defaults(taken);
    TSR_TRY(tsr_trainer_take_augmentation(taken));
    return take_losses(taken, loss_size);
}
